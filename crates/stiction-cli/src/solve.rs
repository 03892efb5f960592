//! `stiction solve`: solves one complementarity problem from a file and prints the answer as text or JSON.

use crate::mode::{ContactState, contact_states};
use crate::report::report;
use crate::{BadInput, Outcome, print};
use clap::ValueEnum;
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use stiction_lcp::problem::{AnyProblem, LocalRepair, ProblemFile};
use stiction_lcp::{
    Certificate, Chain, Enumerate, Farkas, FrictionLaw, LcpError, Lemke, Malformed, Method, Pointed,
    Solution, Solver, StepProblem, Work,
};

/// Solve a problem file and print the answer with its certificate.
///
/// The file is JSON: {"m": [[…]], "q": […]} for w = M z + q with 0 ≤ z ⊥ w ≥ 0, the same with "free": [rows]
/// for rows where w = 0 and z has any sign, or {"step": …} for one time step of rigid bodies.
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SolveArguments {
    /// Problem file; "-" reads standard input
    file: PathBuf,
    /// Solution method
    #[arg(long, value_enum, default_value = "chain")]
    solver: SolverName,
    /// Largest dimensionless residual that counts as solved
    #[arg(long, default_value = "1e-8", value_parser = tolerance)]
    tolerance: f64,
    /// Do not scale rows and columns before pivoting (lemke and convex)
    #[arg(long)]
    no_scaling: bool,
    /// Iteration limit of the fixed point
    #[arg(long, default_value_t = 100, value_name = "N")]
    rounds: usize,
    /// Accept a matrix W of a problem in local form that is symmetric and positive semidefinite only to 1e-8, as published
    /// data are: it is made so, and the report says by how much
    #[arg(long)]
    symmetrize: bool,
    /// Check whether the friction cone of a step problem is pointed, so that impulses cannot cancel
    #[arg(long)]
    pointed: bool,
    /// Print one JSON object; z and w belong to the best iterate unless status is "solved", and numbers that
    /// are not finite are null
    #[arg(long)]
    json: bool,
}

/// Solution method by name.
#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// Structured methods, for any size and friction circles; Lemke's method for small and unstructured problems
    Chain,
    /// Lemke's method
    Lemke,
    /// Enumeration of all complementary bases, for small problems
    Enumerate,
    /// Convex relaxation of a step problem: a different friction law, in which sliding contacts separate
    Convex,
    /// Fixed point of convex relaxations, which satisfies Coulomb's law; may not converge
    FixedPoint,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err("must be a positive finite number, such as 1e-8".into()),
    }
}

impl SolveArguments {
    fn solver(&self) -> Solver {
        let lemke = Lemke { scaling: !self.no_scaling, ..Lemke::default() };
        let method = match self.solver {
            SolverName::Chain => Method::Chain(Chain::default()),
            SolverName::Lemke => Method::Lemke(lemke),
            SolverName::Enumerate => Method::Enumerate(Enumerate::default()),
            SolverName::Convex => Method::Convex(lemke),
            SolverName::FixedPoint => Method::FixedPoint(self.rounds),
        };
        Solver { tolerance: self.tolerance, ..method.into() }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &SolveArguments) -> Result<Outcome, BadInput> {
    let solver = arguments.solver();
    let parse = |text: String| {
        if arguments.symmetrize {
            ProblemFile::from_json_repaired(&text)
        } else {
            ProblemFile::from_json(&text).map(|file| (file, None))
        }
    };
    let read =
        read(&arguments.file).and_then(|text| parse(text).map_err(|e| bad_problem(&arguments.file, &e)));
    let (file, repair) = match read {
        Ok(read) => read,
        Err(error) => {
            if arguments.json {
                print(&json(&Answer::rejected(&error, &solver)))?;
            }
            return Err(error);
        }
    };
    let result = stiction_lcp::solve(&file.problem, &solver, None);
    if let Err(LcpError::Malformed(malformed)) = &result {
        let error = bad_problem(&arguments.file, malformed);
        if arguments.json {
            print(&json(&Answer::rejected(&error, &solver)))?;
        }
        return Err(error);
    }
    let pointed = match &file.problem {
        AnyProblem::Step(step) if arguments.pointed => Some(step.pointed()),
        _ => None,
    };
    let answer = Answer { repair, ..Answer::new(&file.problem, &solver, &result, pointed.as_ref()) };
    let outcome = if result.is_ok() { Outcome::Solved } else { Outcome::NotSolved };
    if arguments.json {
        print(&json(&answer))?;
    } else {
        print(&report(&file, &answer))?;
    }
    Ok(outcome)
}

fn bad_problem(path: &Path, error: &Malformed) -> BadInput {
    BadInput(format!("{}: {error}", name(path)))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

fn read(path: &Path) -> Result<String, BadInput> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| BadInput(format!("{}: {error}", name(path))))?;
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        BadInput(format!("{}: byte {place}: not UTF-8; a problem file is JSON in UTF-8", name(path)))
    })
}

/// Answer, as `--json` prints it.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) status: &'static str,
    pub(crate) message: String,
    pub(crate) solver: &'static str,
    pub(crate) tolerance: f64,
    /// Friction law that was solved; `None` for a dense problem.
    pub(crate) law: Option<FrictionLaw>,
    pub(crate) z: Option<&'a [f64]>,
    pub(crate) w: Option<&'a [f64]>,
    pub(crate) velocity: Option<&'a [f64]>,
    /// Impulse of each row of a problem in local form [N s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r: Option<Vec<f64>>,
    /// Speed of each row of a problem in local form [m/s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) u: Option<&'a [f64]>,
    pub(crate) certificate: Option<&'a Certificate>,
    /// Largest residual of the certificate.
    pub(crate) worst: Option<f64>,
    pub(crate) contacts: Option<Vec<ContactState>>,
    pub(crate) work: Option<&'a Work>,
    pub(crate) ray: Option<&'a [f64]>,
    pub(crate) proof: Option<&'a Farkas>,
    pub(crate) pointed: Option<PointedAnswer<'a>>,
    /// Change of W that `--symmetrize` made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repair: Option<LocalRepair>,
}

/// Answer to whether the friction cone is pointed, as `--json` prints it.
#[derive(Serialize)]
pub(crate) struct PointedAnswer<'a> {
    /// `yes`, `no`, `unknown` or `failed`.
    answer: &'static str,
    pub(crate) message: String,
    velocity: Option<&'a [f64]>,
    impulses: Option<&'a [f64]>,
}

impl<'a> Answer<'a> {
    fn rejected(error: &BadInput, solver: &Solver) -> Self {
        Self {
            status: "malformed",
            message: error.to_string(),
            solver: solver.method.name(),
            tolerance: solver.tolerance,
            law: None,
            z: None,
            w: None,
            velocity: None,
            r: None,
            u: None,
            certificate: None,
            worst: None,
            contacts: None,
            work: None,
            ray: None,
            proof: None,
            pointed: None,
            repair: None,
        }
    }

    fn new(
        problem: &AnyProblem,
        solver: &Solver,
        result: &'a Result<Solution, LcpError>,
        pointed: Option<&'a Result<Pointed, LcpError>>,
    ) -> Self {
        let (status, message) = match result {
            Ok(solution) => ("solved", verdict(solution)),
            Err(error) => (error.status(), error.to_string()),
        };
        let (ray, proof) = match result {
            Err(LcpError::Ray { ray, proof, .. }) => (Some(ray.as_slice()), proof.as_ref()),
            _ => (None, None),
        };
        let best = result.as_ref().err().and_then(LcpError::best);
        let solution = result.as_ref().ok();
        let certificate = solution.map(Solution::certificate).or(best.map(|b| &b.certificate));
        let local = if let AnyProblem::Local(local) = problem { Some(local) } else { None };
        // a problem in local form has the contacts of a step problem, and no bodies
        let of_local =
            local.map(|local| StepProblem { contacts: local.contacts(&local.q), ..StepProblem::default() });
        let step = match problem {
            AnyProblem::Step(step) => Some(step),
            _ => of_local.as_ref(),
        };
        let contacts = step.and_then(|step| states(step, result));
        let z = solution.map(Solution::z).or(best.map(|b| &*b.z));
        let velocity = solution.map(Solution::velocity).or(best.map(|b| &*b.velocity));
        Self {
            status,
            message,
            solver: solver.method.name(),
            tolerance: solver.tolerance,
            law: step.and(solution).map(Solution::law),
            z,
            w: solution.map(Solution::w).or(best.map(|b| &*b.w)),
            velocity: velocity.filter(|v| !v.is_empty() && local.is_none()),
            r: local.and_then(|local| z.map(|z| local.impulses(z).as_slice().to_vec())),
            u: velocity.filter(|_| local.is_some()),
            certificate,
            worst: certificate.map(Certificate::worst),
            contacts,
            work: solution.map(Solution::work),
            ray,
            proof,
            pointed: pointed.map(pointed_answer),
            repair: None,
        }
    }
}

/// Contact modes of a solved step problem; an iterate that is not a solution has no modes.
fn states(step: &StepProblem, result: &Result<Solution, LcpError>) -> Option<Vec<ContactState>> {
    result.as_ref().ok().map(|solution| contact_states(step, solution))
}

fn pointed_answer(pointed: &Result<Pointed, LcpError>) -> PointedAnswer<'_> {
    let (answer, message, velocity, impulses) = match pointed {
        Ok(Pointed::Yes { velocity }) => {
            let message = "pointed: some velocity opens every contact, so impulses cannot cancel";
            ("yes", message.into(), Some(velocity.as_slice()), None)
        }
        Ok(Pointed::No { impulses }) => {
            let message =
                "not pointed: impulses can cancel, so a problem with penetration may have no solution";
            ("no", message.into(), None, Some(impulses.as_slice()))
        }
        Ok(Pointed::Unknown) => {
            ("unknown", "undecided: too close to the boundary of an elliptic cone".into(), None, None)
        }
        Err(error) => ("failed", error.to_string(), None, None),
    };
    PointedAnswer { answer, message, velocity, impulses }
}

fn verdict(solution: &Solution) -> String {
    let (worst, tolerance) = (solution.certificate().worst(), solution.tolerance());
    format!("certified: largest residual {worst:.1e}, at most {tolerance:.1e} allowed")
}

fn json(answer: &Answer) -> String {
    serde_json::to_string(answer).map_or_else(|_| "{}\n".into(), |text| text + "\n")
}
