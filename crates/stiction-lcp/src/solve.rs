//! The dispatcher: cheap candidates first, then the solver, then the certificate.

mod task;

use crate::certificate::{self, Candidate, Judge};
use crate::chain::Chain;
use crate::condense;
use crate::convex;
use crate::enumerate::Enumerate;
use crate::lemke::{self, Lemke};
use crate::local;
use crate::newton::{self, ContactMode};
use crate::problem::{FrictionLaw, Malformed, Prepared, Problem, StepProblem};
use crate::profile::{Phase, Profile};
use crate::solution::{LcpError, Solution, WarmStart};
use crate::structured;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
pub(crate) use task::{IDLE, Task};

/// How to solve, and how good the answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// The method.
    pub method: Method,
    /// Largest residual of a certified answer ([`crate::Certificate::worst`]). Default 1e-8; from 1e-12 (near
    /// round-off of well-scaled problems: below it true solutions are refused) to 1e-6 (above it resting
    /// bodies creep by this fraction of ‖g‖h every step).
    pub tolerance: f64,
    /// Largest residual of an answer that is taken all the same where the structured methods do not reach the
    /// tolerance; the solution says so ([`Fallback::Loose`](crate::Fallback::Loose)). By default none is.
    #[serde(default)]
    pub loosest: f64,
}

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a box would take Copy from every scheme")]
pub enum Method {
    /// The structured methods in the space of velocities, island by island: any size, circular friction. Lemke's
    /// method for what they do not know: friction polygons in space, rows over many bodies, dense problems.
    Chain(Chain),
    /// Lemke's method on the dense problem.
    Lemke(Lemke),
    /// All complementary bases of the dense problem, up to [`Enumerate::MAX_COMPLEMENTARY`] unknowns.
    Enumerate(Enumerate),
    /// The convex relaxation of a step problem (Γ = 0), by Lemke's method: another problem with another
    /// answer, certified against the convex law and marked so. AH04 (2.13)
    Convex(Lemke),
    /// Convex relaxations with Γ ← μλ until the answer satisfies Coulomb's law: no guarantee, at most this
    /// many rounds.
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
    /// The name users give.
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

/// Solves `problem` and certifies the answer.
///
/// Zero and the warm start are tried first and taken if they pass; then the solver runs, and its answer passes the
/// same certificate or is returned as an error with its residuals.
pub fn solve<'a>(
    problem: impl Into<Problem<'a>>,
    solver: &Solver,
    warm_start: Option<&WarmStart>,
) -> Result<Solution, LcpError> {
    Workspace::default().solve(problem, solver, warm_start)
}

/// Storage of solves. Problems of a size seen before are solved without allocating, once the solutions no
/// longer needed are handed back with [`Workspace::recycle`].
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    prepared: Arc<Prepared>,
    judge: certificate::JudgeBuffers,
    condense: condense::CondenseBuffers,
    lemke: lemke::LemkeWorkspace,
    newton: newton::Storage,
    structured: structured::Storage,
    z: Vec<f64>,
    spare: Vec<Candidate>,
    profile: Profile,
}

impl Workspace {
    /// [`solve()`] in this storage.
    pub fn solve<'a>(
        &mut self,
        problem: impl Into<Problem<'a>>,
        solver: &Solver,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        let problem = problem.into();
        if let Problem::Local(problem) = problem {
            return local::solve(problem, self, solver, warm_start);
        }
        match (solver.method, problem) {
            (Method::Convex(lemke), Problem::Step(step)) => {
                let relaxed = step.relaxed(&[]);
                self.run(Problem::Step(&relaxed), solver, warm_start, |task| task.lemke(&lemke, warm_start))
            }
            (Method::FixedPoint(rounds), Problem::Step(step)) => {
                self.run(Problem::Step(step), solver, warm_start, |task| {
                    convex::fixed_point(step, task, None, rounds)
                })
            }
            (Method::Convex(_) | Method::FixedPoint(_), problem) => {
                problem.check()?;
                Err(solver.method.unsupported("a problem without bodies"))
            }
            (Method::Chain(chain), problem) => {
                self.run(problem, solver, warm_start, |task| task.chain(&chain, warm_start))
            }
            (Method::Lemke(lemke), problem) => {
                self.run(problem, solver, warm_start, |task| task.pivoted(&lemke, warm_start))
            }
            (Method::Enumerate(enumerate), problem) => {
                self.run(problem, solver, None, |task| task.enumerate(&enumerate))
            }
        }
    }

    /// The impulses with which every contact of a step does what its mode says and every joint holds, and their
    /// certificate: no claim that signs and cones allow them, the certificate tells. Where rows are redundant they
    /// are shared out by the least change.
    pub fn solve_in_modes(
        &mut self,
        step: &StepProblem,
        modes: &[ContactMode],
    ) -> Result<Candidate, LcpError> {
        let solver = Solver::default();
        Ok(self.with_task(Problem::Step(step), &solver, |task| newton::solve_in_modes(step, task, modes))?)
    }

    /// Where the time of solves goes, once it is started.
    pub fn profile(&mut self) -> &mut Profile {
        &mut self.profile
    }

    /// The answer of a solution with its residuals, without the claim; the rest is taken back.
    pub fn candidate_of(&mut self, solution: Solution) -> Candidate {
        let (candidate, basis) = solution.into_parts();
        if let Some(basis) = basis {
            self.lemke.recycle(basis);
        }
        candidate
    }

    /// Takes a candidate back.
    pub fn recycle_candidate(&mut self, candidate: Candidate) {
        self.spare.push(candidate);
    }

    /// Takes a solution back, so that the next one needs no new storage.
    pub fn recycle(&mut self, solution: Solution) {
        let candidate = self.candidate_of(solution);
        self.spare.push(candidate);
    }

    /// Checks the problem, tries what is cheap, then `solver`.
    fn run<'a>(
        &mut self,
        problem: Problem<'a>,
        solver: &'a Solver,
        warm_start: Option<&WarmStart>,
        method: impl FnOnce(&mut Task<'a, '_>) -> Result<Solution, LcpError>,
    ) -> Result<Solution, LcpError> {
        self.with_task(problem, solver, |task| {
            // enumeration is asked for the solutions, not for the cheapest one
            let cheap =
                if matches!(solver.method, Method::Enumerate(_)) { None } else { task.cheap(warm_start) };
            cheap.map_or_else(|| method(task), Ok)
        })?
    }

    /// Checks the problem, and works on it.
    fn with_task<'a, T>(
        &mut self,
        problem: Problem<'a>,
        solver: &'a Solver,
        work: impl FnOnce(&mut Task<'a, '_>) -> T,
    ) -> Result<T, Malformed> {
        let caller = self.profile.enter(Phase::Preparation);
        let law = if let Problem::Step(step) = problem {
            if let Some(prepared) = Arc::get_mut(&mut self.prepared) {
                prepared.prepare(step)?;
            } else {
                let mut prepared = Prepared::default();
                prepared.prepare(step)?;
                self.prepared = Arc::new(prepared);
            }
            step.law
        } else {
            problem.check()?;
            FrictionLaw::Coulomb
        };
        let judge = Judge::new(problem, self.prepared.clone(), std::mem::take(&mut self.judge));
        self.profile.enter(Phase::Methods);
        let mut task = Task { problem, solver, judge, law, workspace: self };
        let result = work(&mut task);
        let storage = task.judge.into_buffers();
        self.judge = storage;
        self.profile.enter(caller);
        Ok(result)
    }
}
