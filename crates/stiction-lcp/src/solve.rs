//! Dispatcher: warm start and zero first, then the method that was asked for, then the certificate.

mod dense_fallbacks;
mod dispatch;
mod pivoting;

use crate::certificate::Candidate;
use crate::chain::Chain;
use crate::condense;
use crate::enumerate::Enumerate;
use crate::lemke::{self, Lemke};
use crate::local;
use crate::mode::ContactMode;
use crate::newton::{LoadSharing, ModeNewton};
use crate::problem::{LocalProblem, Problem, StepProblem};
use crate::profile::Profile;
use crate::solution::{LcpError, Solution, WarmStart};
use crate::structured::{Determined, StructuredWorkspace};
use crate::task::{TaskStorage, Tolerances};
use dispatch::Dispatch;
use serde::{Deserialize, Serialize};

/// Method and tolerance of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// Method to use.
    pub method: Method,
    /// Largest residual of a solution, relative to the problem's scales ([`crate::Certificate::worst`]). Default 1e-8.
    /// Sensible range 1e-12 to 1e-6: below, rounding makes true solutions fail; above, resting bodies creep by this
    /// fraction of ‖g‖h in every step.
    pub tolerance: f64,
    /// Largest residual of a solution that is accepted if the structured methods do not reach the tolerance. The solution
    /// says so ([`Fallback::Loose`](crate::Fallback::Loose)). Default 0: none is accepted.
    #[serde(default)]
    pub loosest: f64,
}

/// Method of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a box would take Copy from every scheme")]
pub enum Method {
    /// Structured methods in the space of velocities, island by island: any size, circular friction. Lemke's method for
    /// features they do not support: friction polygons in space, rows over many bodies, dense problems.
    Chain(Chain),
    /// Lemke's method on the dense problem.
    Lemke(Lemke),
    /// All complementary bases of the dense problem, up to [`Enumerate::MAX_COMPLEMENTARY`] unknowns.
    Enumerate(Enumerate),
    /// Convex relaxation of a step problem (Γ = 0), by Lemke's method: another problem with another solution, certified
    /// against the convex law and marked so. AH04 (2.13)
    Convex(Lemke),
    /// Convex relaxations with Γ ← μλ until Coulomb's law holds: no guarantee of convergence, at most this many rounds.
    FixedPoint(usize),
}

impl Default for Solver {
    fn default() -> Self {
        Method::Chain(Chain::default()).into()
    }
}

impl From<Method> for Solver {
    fn from(method: Method) -> Self {
        Self { method, tolerance: 1e-8, loosest: 0.0 }
    }
}

impl Method {
    /// Name of the method in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Chain(_) => "chain",
            Self::Lemke(_) => "lemke",
            Self::Enumerate(_) => "enumerate",
            Self::Convex(_) => "convex",
            Self::FixedPoint(_) => "fixed-point",
        }
    }

    pub(crate) fn unsupported(&self, feature: impl Into<String>) -> LcpError {
        LcpError::Unsupported { solver: self.name(), feature: feature.into() }
    }
}

/// Solves `problem` and certifies the solution.
///
/// The warm start and zero are tried first and accepted if their certificate passes. Otherwise the method runs. Its
/// candidate passes the same certificate, or it is returned as an error with its residuals.
pub fn solve<'a>(
    problem: impl Into<Problem<'a>>,
    solver: &Solver,
    warm_start: Option<&WarmStart>,
) -> Result<Solution, LcpError> {
    Workspace::default().solve(problem, solver, warm_start)
}

/// Speed up to which a contact is closed, and sticks, in the motion of a solution [m/s].
pub fn closed_speed(solution: &Solution) -> f64 {
    dispatch::closed_residual(solution) * solution.certificate().speed
}

/// Storage of solves. Problems of a size seen before are solved without allocation, provided that old solutions are handed
/// back with [`Workspace::recycle`].
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    task: TaskStorage,
    methods: MethodStorage,
}

/// Request for unique impulses.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unique<'a> {
    /// Weight of the impulses of each contact in the norm; 1 beyond the end. Moments are divided by a length so.
    pub weights: &'a [f64],
    /// Unique impulses of a similar step, from which the search starts; or empty.
    pub guess: &'a [f64],
    /// Whether the caller knows the unique impulses of a solution that holds the impulses of its warm start: then only
    /// [`Workspace::determined`] is found for it.
    pub is_known: bool,
}

/// Storage of each method.
#[derive(Debug, Clone, Default)]
struct MethodStorage {
    condense: condense::CondenseBuffers,
    lemke: lemke::LemkeWorkspace,
    newton: ModeNewton,
    structured: StructuredWorkspace,
    z: Vec<f64>,
    /// Unique impulses of the last solution, where they differ.
    unique: Option<Candidate>,
}

impl Workspace {
    /// [`solve()`] in this storage.
    pub fn solve<'a>(
        &mut self,
        problem: impl Into<Problem<'a>>,
        solver: &Solver,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        self.solve_with(problem.into(), solver, warm_start, None)
    }

    /// [`solve()`], and then the unique impulses of the solution's motion: those of least norm among all impulses that
    /// cause it. [`Workspace::unique`] and [`Workspace::determined`] show them. The convex relaxation and friction
    /// polygons in space have none.
    pub fn solve_unique(
        &mut self,
        step: &StepProblem,
        solver: &Solver,
        warm_start: Option<&WarmStart>,
        unique: &Unique,
    ) -> Result<Solution, LcpError> {
        self.solve_with(Problem::Step(step), solver, warm_start, Some(unique))
    }

    /// Unique impulses of the motion that the impulses `z` cause: [`Workspace::solve_unique`] without a solve. Returns
    /// `z` with its certificate. An error if `z` is no solution within `tolerance`.
    pub fn unique_from(
        &mut self,
        step: &StepProblem,
        tolerance: f64,
        z: &[f64],
        unique: &Unique,
    ) -> Result<Solution, LcpError> {
        let solver = Solver { tolerance, ..Solver::default() };
        self.with_dispatch(Problem::Step(step), &solver, |d| d.unique_from(z, unique))?
    }

    /// Unique impulses of the last step that were asked for, with their certificate; `None` where the impulses of the
    /// solution are the only ones, or where none were found.
    pub fn unique(&self) -> Option<&Candidate> {
        self.methods.unique.as_ref()
    }

    /// Whether the impulse of each contact and each joint row is the same for all impulses that cause the motion, after
    /// unique impulses were asked for. `false` means that it is not known to be.
    pub fn determined(&self) -> (&[bool], &[bool]) {
        let Determined { contacts, joints, .. } = self.methods.structured.determined();
        (contacts, joints)
    }

    fn solve_with(
        &mut self,
        problem: Problem,
        solver: &Solver,
        warm_start: Option<&WarmStart>,
        unique: Option<&Unique>,
    ) -> Result<Solution, LcpError> {
        match (solver.method, problem) {
            (_, Problem::Local(local)) => self.solve_local(local, solver, warm_start),
            (Method::Convex(lemke), Problem::Step(step)) => {
                let relaxed = step.relaxed(&[]);
                self.run(Problem::Step(&relaxed), solver, warm_start, unique, |d| d.lemke(&lemke, warm_start))
            }
            (Method::FixedPoint(rounds), Problem::Step(step)) => {
                self.run(problem, solver, warm_start, unique, |d| d.fixed_point(step, None, rounds))
            }
            (Method::Convex(_) | Method::FixedPoint(_), problem) => {
                problem.check()?;
                Err(solver.method.unsupported("a problem without bodies"))
            }
            (Method::Chain(chain), problem) => {
                self.run(problem, solver, warm_start, unique, |d| d.chain(&chain, warm_start))
            }
            (Method::Lemke(lemke), problem) => {
                self.run(problem, solver, warm_start, unique, |d| d.pivot(&lemke, warm_start))
            }
            // the solutions are asked for, not the cheapest one: no warm start
            (Method::Enumerate(enumerate), problem) => {
                self.with_dispatch(problem, solver, |d| d.enumerate(&enumerate))?
            }
        }
    }

    /// Solves a problem in local form by a sequence of steps.
    fn solve_local(
        &mut self,
        problem: &LocalProblem,
        solver: &Solver,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        problem.check()?;
        if let Method::Convex(_) = solver.method {
            return Err(solver.method.unsupported("a problem in local form"));
        }
        let Solver { method, tolerance, .. } = *solver;
        let swept = matches!(method, Method::Chain(_));
        local::solve(problem, (method.name(), swept), tolerance, warm_start, |step, tolerance, warm_start| {
            self.solve(step, &Solver { tolerance, ..*solver }, Some(warm_start))
        })
    }

    /// Impulses with which every contact of a step follows its prescribed mode and every joint holds, with their
    /// certificate. Nothing is claimed about signs and cones: the certificate shows them. If rows are redundant, the
    /// impulses of least change are taken.
    pub fn solve_in_modes(
        &mut self,
        step: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, LcpError> {
        self.in_modes(step, modes, LoadSharing::Nearest)
    }

    /// [`Workspace::solve_in_modes`] with unique impulses: redundant rows of bodies that slip take the impulses of least
    /// norm in their cones, wherever some are. How redundant contacts share a load decides the motion of a body that
    /// slips and turns.
    pub fn least_norm_in_modes(
        &mut self,
        step: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, LcpError> {
        self.in_modes(step, modes, LoadSharing::UniqueInSlip)
    }

    /// [`Workspace::least_norm_in_modes`] for redundant rows of all bodies, whether or not a contact slips: forces that
    /// are reported. The motion is the same.
    pub fn unique_in_modes(
        &mut self,
        step: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, LcpError> {
        self.in_modes(step, modes, LoadSharing::Unique)
    }

    fn in_modes(
        &mut self,
        step: &StepProblem,
        modes: &[ContactMode],
        sharing: LoadSharing,
    ) -> Result<Candidate, LcpError> {
        let solver = Solver::default();
        self.with_dispatch(Problem::Step(step), &solver, |d| d.solve_in_modes(step, modes, sharing))
    }

    /// Profile of the solves, once it is started.
    pub fn profile(&mut self) -> &mut Profile {
        &mut self.task.profile
    }

    /// Candidate of a solution, without the claim; the rest of its storage is taken back.
    pub fn candidate_of(&mut self, solution: Solution) -> Candidate {
        let (candidate, basis) = solution.into_parts();
        if let Some(basis) = basis {
            self.methods.lemke.recycle(basis);
        }
        candidate
    }

    /// Takes a candidate back for its storage.
    pub fn recycle_candidate(&mut self, candidate: Candidate) {
        self.task.recycle(candidate);
    }

    /// Takes a solution back for its storage, so that the next one needs no allocation.
    pub fn recycle(&mut self, solution: Solution) {
        let candidate = self.candidate_of(solution);
        self.task.recycle(candidate);
    }

    /// Checks the problem, tries warm start and zero, then `method`; then makes the impulses unique if asked to.
    fn run(
        &mut self,
        problem: Problem,
        solver: &Solver,
        warm_start: Option<&WarmStart>,
        unique: Option<&Unique>,
        method: impl FnOnce(&mut Dispatch) -> Result<Solution, LcpError>,
    ) -> Result<Solution, LcpError> {
        self.with_dispatch(problem, solver, |dispatch| {
            let solution = match dispatch.cheap(warm_start) {
                Some(solution) => solution,
                None => method(dispatch)?,
            };
            if let Some(unique) = unique {
                dispatch.find_unique(&solution, unique);
            }
            Ok(solution)
        })?
    }

    fn with_dispatch<R>(
        &mut self,
        problem: Problem,
        solver: &Solver,
        work: impl FnOnce(&mut Dispatch) -> R,
    ) -> Result<R, LcpError> {
        let Self { task: storage, methods } = self;
        let tolerances = Tolerances { tolerance: solver.tolerance, loosest: solver.loosest };
        let result =
            storage.with_task(problem, tolerances, |task| work(&mut Dispatch { task, solver, methods }))?;
        Ok(result)
    }
}
