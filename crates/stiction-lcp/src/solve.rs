//! The dispatcher: cheap candidates first, then the solver, then the certificate.

use crate::certificate::{Candidate, Judge};
use crate::condense::{Condensed, FreeRows};
use crate::convex;
use crate::enumerate::Enumerate;
use crate::lemke::{Basis, End, Lemke, Run};
use crate::problem::{FrictionLaw, Lcp, Problem, StepProblem};
use crate::proof::Farkas;
use crate::solution::{Fallback, Guess, LcpError, Solution, Stage, Work};
use serde::{Deserialize, Serialize};

/// How to solve, and how good the answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// The method.
    pub method: Method,
    /// Largest residual of a certified answer ([`crate::Certificate::worst`]). Default 1e-10; from 1e-12 (near
    /// round-off of well-scaled problems: below it true solutions are refused) to 1e-6 (above it resting
    /// bodies creep by this fraction of ‖g‖h every step).
    pub tolerance: f64,
}

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Lemke's method on the dense problem.
    Lemke(Lemke),
    /// All complementary bases of the dense problem, up to [`Enumerate::LIMIT`] unknowns.
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
        Method::Lemke(Lemke::default()).into()
    }
}

impl From<Method> for Solver {
    fn from(method: Method) -> Self {
        Self { method, tolerance: 1e-10 }
    }
}

impl Method {
    /// The name users give.
    pub fn name(&self) -> &'static str {
        match self {
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
/// Zero and the guess are tried first and taken if they pass; then the solver runs, and its answer passes the
/// same certificate or is returned as an error with its residuals.
pub fn solve<'a>(
    problem: impl Into<Problem<'a>>,
    solver: &Solver,
    guess: Option<&Guess>,
) -> Result<Solution, LcpError> {
    let problem = problem.into();
    problem.check()?;
    match (solver.method, problem) {
        (Method::Convex(lemke), Problem::Step(step)) => {
            let relaxed = step.relaxed(&[]);
            let mut task = Task::new(Problem::Step(&relaxed), solver)?;
            task.work.stage = Stage::Convex;
            task.cheap(guess).map_or_else(|| task.lemke(&lemke, guess), Ok)
        }
        (Method::FixedPoint(rounds), Problem::Step(step)) => {
            let task = Task::new(problem, solver)?;
            task.cheap(guess).map_or_else(|| convex::fixed_point(step, &task, rounds), Ok)
        }
        (Method::Convex(_) | Method::FixedPoint(_), _) => {
            Err(solver.method.unsupported("a problem without bodies"))
        }
        (Method::Lemke(lemke), _) => {
            let task = Task::new(problem, solver)?;
            task.cheap(guess).map_or_else(|| task.lemke(&lemke, guess), Ok)
        }
        (Method::Enumerate(enumerate), _) => Task::new(problem, solver)?.enumerate(&enumerate),
    }
}

/// One solve under way.
pub(crate) struct Task<'a> {
    problem: Problem<'a>,
    solver: &'a Solver,
    judge: Judge<'a>,
    law: FrictionLaw,
    work: Work,
}

/// The dense form of a problem, and the way back.
enum Dense<'a> {
    Lcp(&'a Lcp),
    Free(Box<FreeRows>),
    Step(Box<Condensed<'a>>),
}

impl Dense<'_> {
    fn lcp(&self) -> &Lcp {
        match self {
            Self::Lcp(lcp) => lcp,
            Self::Free(free) => &free.lcp,
            Self::Step(condensed) => condensed.lcp(),
        }
    }

    fn unknowns(&self, z: &[f64]) -> Vec<f64> {
        match self {
            Self::Lcp(_) => z.to_vec(),
            Self::Free(free) => free.unknowns(z),
            Self::Step(condensed) => condensed.impulses(z),
        }
    }
}

impl<'a> Task<'a> {
    fn new(problem: Problem<'a>, solver: &'a Solver) -> Result<Self, LcpError> {
        let law = match problem {
            Problem::Step(step) => step.law,
            _ => FrictionLaw::Coulomb,
        };
        let stage = match solver.method {
            Method::Lemke(_) => Stage::Lemke,
            Method::Enumerate(_) => Stage::Enumerate,
            Method::Convex(_) => Stage::Convex,
            Method::FixedPoint(_) => Stage::FixedPoint,
        };
        let work = Work { stage, ..Work::default() };
        Ok(Self { problem, solver, judge: Judge::new(problem)?, law, work })
    }

    /// Zero or the guess, if either passes.
    fn cheap(&self, guess: Option<&Guess>) -> Option<Solution> {
        let take = |z: &[f64], stage: Stage| {
            let work = Work { stage, ..Work::default() };
            let basis = guess.and_then(|g| g.basis.clone());
            let candidate = self.judge.certify(z);
            Solution::accept(candidate, self.solver.tolerance, self.law, work, basis).ok()
        };
        let guess_z = guess.filter(|g| g.z.len() == self.problem.size());
        take(&[], Stage::Zero).or_else(|| take(&guess_z?.z, Stage::Guess))
    }

    pub(crate) fn certify(&self, z: &[f64]) -> Candidate {
        self.judge.certify(z)
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.solver.tolerance
    }

    pub(crate) fn accept(&self, candidate: Candidate, work: Work) -> Result<Solution, Box<Candidate>> {
        Solution::accept(candidate, self.solver.tolerance, self.law, work, None)
    }

    fn dense(&self) -> Result<Dense<'a>, LcpError> {
        let dense = match self.problem {
            Problem::Lcp(lcp) => Ok(Dense::Lcp(lcp)),
            Problem::Mlcp(mlcp) => FreeRows::new(mlcp).map(|free| Dense::Free(Box::new(free))),
            Problem::Step(step) => Condensed::new(step).map(|condensed| Dense::Step(Box::new(condensed))),
        };
        dense.map_err(|feature| self.solver.method.unsupported(feature))
    }

    fn lemke(&self, lemke: &Lemke, guess: Option<&Guess>) -> Result<Solution, LcpError> {
        let dense = self.dense()?;
        let lcp = dense.lcp();
        let mut work = self.work.clone();
        work.dense_size = lcp.q.len();
        if let Dense::Step(condensed) = &dense {
            work.redundant_joints = condensed.redundant_joints().to_vec();
        }
        if lcp.q.is_empty() {
            // joints alone
            return self.judged(&dense, &[], work, None);
        }
        let warm = guess.and_then(|g| g.basis.as_ref()).filter(|b| b.0.len() == lcp.q.len());
        let Run { end, z, basis, pivots, refactorizations, restarted } = lemke.run(lcp, warm);
        (work.pivots, work.refactorizations) = (pivots, refactorizations);
        if restarted {
            work.fallbacks.push(Fallback::ColdStart);
        }
        match end {
            End::Solved | End::Stalled => self.judged(&dense, &z, work, Some(basis)),
            End::Ray(ray) => Err(self.ray(&dense, &z, &ray)),
            End::Budget => {
                let best = Box::new(self.judge.certify(&dense.unknowns(&z)));
                Err(LcpError::Budget { spent: pivots, unit: "pivots", best })
            }
        }
    }

    /// The certificate's verdict on an answer of the dense problem.
    fn judged(
        &self,
        dense: &Dense,
        z: &[f64],
        work: Work,
        basis: Option<Basis>,
    ) -> Result<Solution, LcpError> {
        let tolerance = self.solver.tolerance;
        let candidate = self.judge.certify(&dense.unknowns(z));
        Solution::accept(candidate, tolerance, self.law, work, basis).map_err(|best| {
            // redundant joints that contradict each other are no fault of the solver
            if let (Dense::Step(condensed), Problem::Step(step)) = (dense, self.problem)
                && let Some(proof) = contradicting_joints(condensed, step)
            {
                return LcpError::Ray { ray: proof.y.clone(), proof: Some(proof), best };
            }
            LcpError::Uncertified { tolerance, best }
        })
    }

    /// What a ray of the dense problem means.
    fn ray(&self, dense: &Dense, z: &[f64], ray: &[f64]) -> LcpError {
        let best = Box::new(self.judge.certify(&dense.unknowns(z)));
        let proof = match (dense, self.problem) {
            (Dense::Step(condensed), Problem::Step(step)) => {
                contradicting_joints(condensed, step).or_else(|| infeasible_step(step))
            }
            // the rows of a mixed problem combine as the ray says in its complementary part
            (Dense::Free(free), Problem::Mlcp(mlcp)) => Farkas::check(mlcp, &free.combination(mlcp, ray)),
            (_, problem) => Farkas::check(problem, ray),
        };
        let ray = match dense {
            Dense::Free(free) => free.direction(ray),
            Dense::Step(condensed) => condensed.direction(ray),
            Dense::Lcp(_) => ray.to_vec(),
        };
        LcpError::Ray { ray, proof, best }
    }

    fn enumerate(&self, enumerate: &Enumerate) -> Result<Solution, LcpError> {
        let dense = self.dense()?;
        let lcp = dense.lcp();
        let mut work = self.work.clone();
        work.dense_size = lcp.q.len();
        if lcp.q.is_empty() {
            return self.judged(&dense, &[], work, None);
        }
        let found = enumerate.all(lcp).map_err(|e| self.solver.method.unsupported(e.to_string()))?;
        if let Some(z) = found.isolated.first().or(found.representatives.first()) {
            return self.judged(&dense, z, work, None);
        }
        let best = Box::new(self.judge.certify(&[]));
        if !found.complete() {
            return Err(LcpError::Budget { spent: enumerate.budget, unit: "subsets", best });
        }
        let proof = match (&dense, self.problem) {
            (Dense::Step(condensed), Problem::Step(step)) => {
                contradicting_joints(condensed, step).or_else(|| infeasible_step(step))
            }
            _ => None,
        };
        Err(LcpError::Exhausted { bases: found.bases, proof, best })
    }
}

/// A combination of redundant joint rows whose offsets do not cancel.
fn contradicting_joints(condensed: &Condensed, step: &StepProblem) -> Option<Farkas> {
    condensed.joint_dependencies().find_map(|mut y| {
        y.resize(step.layout().impulses, 0.0);
        let minus: Vec<f64> = y.iter().map(|y| -y).collect();
        Farkas::check(step, &y).or_else(|| Farkas::check(step, &minus))
    })
}

/// A combination of normal and joint rows that no velocity satisfies, if there is one.
///
/// Without friction the dense matrix is positive semidefinite, and there Lemke's method ends in a solution or
/// in a ray that is a Farkas vector: the search is conclusive whatever friction does.
fn infeasible_step(step: &StepProblem) -> Option<Farkas> {
    let mut bare = step.clone();
    for contact in &mut bare.contacts {
        contact.mu = 0.0;
        contact.kappa = 0.0;
    }
    let condensed = Condensed::new(&bare).ok()?;
    let End::Ray(ray) = Lemke::default().run(condensed.lcp(), None).end else { return None };
    Farkas::check(step, &condensed.direction(&ray))
}
