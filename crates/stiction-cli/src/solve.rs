//! `stiction solve`: one problem from a file, answered in words or as JSON.

use crate::mode::{ContactState, contact_states};
use crate::report::report;
use crate::{BadInput, Outcome, print};
use clap::ValueEnum;
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{
    Certificate, Chain, Enumerate, Farkas, FrictionLaw, LcpError, Lemke, Malformed, Method, Pointed,
    Solution, Solver, StepProblem, Work,
};

/// Solve a problem file and print the answer with its certificate.
///
/// The file is JSON: {"m": [[…]], "q": […]} for w = M z + q with 0 ≤ z ⊥ w ≥ 0, the same with "free": [rows]
/// for rows where w = 0 and z has any sign, or {"step": …} for one time step of rigid bodies.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The problem; "-" reads standard input
    file: PathBuf,
    /// The method
    #[arg(long, value_enum, default_value = "chain")]
    solver: Name,
    /// Largest residual of an answer that counts as solved, dimensionless
    #[arg(long, default_value = "1e-8", value_parser = tolerance)]
    tolerance: f64,
    /// Do not scale rows and columns before pivoting (lemke and convex)
    #[arg(long)]
    no_scaling: bool,
    /// Most rounds of the fixed point
    #[arg(long, default_value_t = 100, value_name = "N")]
    rounds: usize,
    /// Also say whether the friction cone of a step problem is pointed: whether impulses can cancel
    #[arg(long)]
    pointed: bool,
    /// Print one JSON object; z and w belong to the best iterate unless status is "solved", and numbers that
    /// are not finite are null
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// The structured methods, any size and friction circles; Lemke's method for what is small or they do not know
    Chain,
    /// Lemke's method
    Lemke,
    /// Every complementary basis, for small problems
    Enumerate,
    /// The convex relaxation of a step problem: another law, sliding contacts separate
    Convex,
    /// Convex relaxations repeated until Coulomb's law holds, without guarantee
    FixedPoint,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err("a tolerance is a positive number".into()),
    }
}

impl Arguments {
    fn solver(&self) -> Solver {
        let lemke = Lemke { scaling: !self.no_scaling, ..Lemke::default() };
        let method = match self.solver {
            Name::Chain => Method::Chain(Chain::default()),
            Name::Lemke => Method::Lemke(lemke),
            Name::Enumerate => Method::Enumerate(Enumerate::default()),
            Name::Convex => Method::Convex(lemke),
            Name::FixedPoint => Method::FixedPoint(self.rounds),
        };
        Solver { tolerance: self.tolerance, ..method.into() }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let solver = arguments.solver();
    let read = read(&arguments.file)
        .and_then(|text| ProblemFile::from_json(&text).map_err(|e| complaint(&arguments.file, &e)));
    let file = match read {
        Ok(file) => file,
        Err(error) => {
            if arguments.json {
                print(&json(&Answer::rejected(&error, &solver)))?;
            }
            return Err(error);
        }
    };
    let result = stiction_lcp::solve(&file.problem, &solver, None);
    if let Err(LcpError::Malformed(malformed)) = &result {
        let error = complaint(&arguments.file, malformed);
        if arguments.json {
            print(&json(&Answer::rejected(&error, &solver)))?;
        }
        return Err(error);
    }
    let pointed = match &file.problem {
        AnyProblem::Step(step) if arguments.pointed => Some(step.pointed()),
        _ => None,
    };
    let answer = Answer::new(&file.problem, &solver, &result, pointed.as_ref());
    let outcome = if result.is_ok() { Outcome::Solved } else { Outcome::NotSolved };
    if arguments.json {
        print(&json(&answer))?;
    } else {
        print(&report(&file, &answer))?;
    }
    Ok(outcome)
}

fn complaint(path: &Path, error: &Malformed) -> BadInput {
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
        BadInput(format!("{}: byte {place}: not UTF-8, so not JSON", name(path)))
    })
}

/// The answer as `--json` prints it.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) status: &'static str,
    pub(crate) message: String,
    pub(crate) solver: &'static str,
    pub(crate) tolerance: f64,
    /// The law that was solved; none for a dense problem.
    pub(crate) law: Option<FrictionLaw>,
    pub(crate) z: Option<&'a [f64]>,
    pub(crate) w: Option<&'a [f64]>,
    pub(crate) velocity: Option<&'a [f64]>,
    /// Impulse and speed of each row of a problem in local form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r: Option<Vec<f64>>,
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
}

/// Whether the friction cone is pointed, as `--json` prints it.
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
        // contacts in local form are a step's without its bodies
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
        }
    }
}

/// Contact modes, for a solved step problem only: the modes of an iterate that is no solution mean nothing.
fn states(step: &StepProblem, result: &Result<Solution, LcpError>) -> Option<Vec<ContactState>> {
    result.as_ref().ok().map(|solution| contact_states(step, solution))
}

fn pointed_answer(pointed: &Result<Pointed, LcpError>) -> PointedAnswer<'_> {
    let (answer, message, velocity, impulses) = match pointed {
        Ok(Pointed::Yes { velocity }) => {
            let message = "pointed: a velocity opens every cone, so impulses cannot cancel";
            ("yes", message.into(), Some(velocity.as_slice()), None)
        }
        Ok(Pointed::No { impulses }) => {
            let message = "not pointed: impulses can cancel, and with penetration there may be no solution";
            ("no", message.into(), None, Some(impulses.as_slice()))
        }
        Ok(Pointed::Unknown) => {
            ("unknown", "too close to the boundary of an elliptic cone to tell".into(), None, None)
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
