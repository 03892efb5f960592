//! One solve under way: the prepared problem, its judge and its tolerances. Methods receive it, ask it for certificates
//! and hand candidates to it; the dispatcher makes it.

use crate::certificate::{self, Candidate, Judge, Mobility};
use crate::problem::{FrictionLaw, Malformed, Prepared, Problem};
use crate::profile::{Phase, Profile};
use crate::solution::{Fallback, Solution, Work};
use std::sync::Arc;

/// Fraction of the tolerance within which zero impulses, or those of a warm start, are accepted as they are [-]. Bodies
/// at rest that keep their impulses creep by the residual in every step. Sensible range 1e-4 to 1: lower solves steps
/// that need no solving, higher lets the creep accumulate.
pub(crate) const AS_GIVEN_FRACTION: f64 = 1e-3;

/// Largest residuals of a solution.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerances {
    /// Residual of a solution.
    pub(crate) tolerance: f64,
    /// Residual of a solution that is accepted if the methods fail; it says so.
    pub(crate) loosest: f64,
}

/// Storage that all tasks share, reused from problem to problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskStorage {
    prepared: Arc<Prepared>,
    judge: certificate::JudgeBuffers,
    spare: Vec<Candidate>,
    pub(crate) profile: Profile,
}

/// One solve under way.
pub(crate) struct Task<'a, 'w> {
    problem: Problem<'a>,
    tolerances: Tolerances,
    law: FrictionLaw,
    judge: Judge<'a>,
    storage: &'w mut TaskStorage,
}

impl TaskStorage {
    /// Checks and prepares the problem, and works on it.
    pub(crate) fn with_task<'a, R>(
        &mut self,
        problem: Problem<'a>,
        tolerances: Tolerances,
        work: impl FnOnce(&mut Task<'a, '_>) -> R,
    ) -> Result<R, Malformed> {
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
        let mut task = Task { problem, tolerances, law, judge, storage: self };
        let result = work(&mut task);
        let storage = task.judge.into_buffers();
        self.judge = storage;
        self.profile.enter(caller);
        Ok(result)
    }

    /// Takes a candidate back for its storage.
    pub(crate) fn recycle(&mut self, candidate: Candidate) {
        self.spare.push(candidate);
    }
}

impl<'a> Task<'a, '_> {
    pub(crate) fn problem(&self) -> Problem<'a> {
        self.problem
    }

    /// Friction law of the problem.
    pub(crate) fn law(&self) -> FrictionLaw {
        self.law
    }

    /// Number of unknowns.
    pub(crate) fn size(&self) -> usize {
        match self.problem {
            Problem::Step(_) => self.storage.prepared.layout.impulses,
            other => other.size(),
        }
    }

    /// Layout and factored mass matrix of a step problem.
    pub(crate) fn prepared(&self) -> Arc<Prepared> {
        self.storage.prepared.clone()
    }

    pub(crate) fn profile(&mut self) -> &mut Profile {
        &mut self.storage.profile
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerances.tolerance
    }

    /// Speeds that one unit of impulse causes at each contact of a step.
    pub(crate) fn mobilities(&self) -> &[Mobility] {
        self.judge.mobilities()
    }

    /// Speed scale V₀ of the certificate [m/s].
    pub(crate) fn speed(&self) -> f64 {
        self.judge.speed()
    }

    /// Residual of zero impulses.
    pub(crate) fn free_residual(&self) -> f64 {
        self.judge.free()
    }

    /// Certificate of the unknowns `z`.
    pub(crate) fn certify(&mut self, z: &[f64]) -> Candidate {
        let old = self.storage.spare.pop().unwrap_or_default();
        let caller = self.storage.profile.enter(Phase::Certificate);
        let candidate = self.judge.certify(z, old);
        self.storage.profile.enter(caller);
        candidate
    }

    /// Takes a candidate back for its storage.
    pub(crate) fn recycle(&mut self, candidate: Candidate) {
        self.storage.recycle(candidate);
    }

    /// Keeps storage for one more candidate of the size of this one.
    pub(crate) fn keep_spare(&mut self, candidate: &Candidate) {
        if self.storage.spare.is_empty() {
            self.storage.spare.push(candidate.clone());
        }
    }

    /// Velocity of a step with the impulses `z`, computed as its certificate computes it.
    pub(crate) fn velocity(&mut self, z: &[f64], out: &mut Vec<f64>) {
        let caller = self.storage.profile.enter(Phase::Certificate);
        self.judge.velocity(z, out);
        self.storage.profile.enter(caller);
    }

    /// Candidate as a solution if it is within the tolerance, or the candidate back.
    #[allow(clippy::result_large_err, reason = "the candidate's storage comes back")]
    pub(crate) fn accept(&self, candidate: Candidate, work: Work) -> Result<Solution, Candidate> {
        Solution::accept(candidate, self.tolerances.tolerance, self.law, work, None)
    }

    /// Candidate as a solution if it is within the loosest tolerance, and says so.
    #[allow(clippy::result_large_err, reason = "the candidate's storage comes back")]
    pub(crate) fn accept_loosely(&self, candidate: Candidate, work: Work) -> Result<Solution, Candidate> {
        Solution::accept(candidate, self.tolerances.loosest, self.law, work, None)
            .map(|solution| solution.after(Fallback::Loose))
    }
}
