//! Order of the methods in one solve: warm start and zero, structured methods or Lemke's method, and fallbacks if the
//! certificate refuses a candidate.

use super::{Method, MethodStorage, Solver, Unique, solve};
use crate::certificate::Candidate;
use crate::chain::Chain;
use crate::convex;
use crate::lemke::Lemke;
use crate::mode::ContactMode;
use crate::newton::{LoadSharing, ROUNDING_RESIDUAL};
use crate::problem::{Contact, FrictionLaw, FrictionSet, Problem, StepProblem};
use crate::profile::Phase;
use crate::solution::{Fallback, LcpError, Solution, Stage, WarmStart, Work};
use crate::structured::{self, SolvedStep};
use crate::task::{AS_GIVEN_FRACTION, Task};

// Constants of the dispatcher.

/// Residual up to which Newton's method is tried from a candidate or a warm start [-]: up to rounding, the active set is
/// then right. Sensible range 1e-8 to 1e-4. Higher: Newton's method may end at another solution than the one Lemke's path
/// leads to. Lower: candidates that need one step are solved again.
const POLISH_RESIDUAL: f64 = 1e-6;

/// Maximum rounds of the fixed point that improve a candidate: from nearby it takes one or two, and if friction makes the
/// iteration wander, more do not help.
const IMPROVEMENT_ROUNDS: usize = 10;

/// Number of contacts up to which Lemke's method decides if the structured methods fail, by a solution or a proof that
/// there is none. Beyond, it takes seconds.
const ARBITRATED_CONTACTS: usize = 100;

/// Number of joint rows up to which Lemke's method decides: they are eliminated from a dense matrix first.
const ARBITRATED_JOINTS: usize = 600;

/// Number of joint rows of a problem without contacts up to which they are eliminated densely. A dense factorization
/// reveals redundant rows, and is about as fast as a sparse one at this size.
const DENSE_JOINTS_ALONE: usize = 20;

/// Number of joint rows beside contacts, limits and drives up to which they are eliminated densely: there exact pivots
/// are worth more.
const DENSE_JOINTS_WITH_CONTACTS: usize = 40;

/// Speed up to which a contact counts as closed and sticking when impulses are made unique, in units of the residual of
/// the solution [-]. Sensible range 1 to 10: lower opens contacts by round-off, higher closes open ones.
const CLOSED_RESIDUALS: f64 = 2.0;

/// Speed up to which a contact is closed in a solution, relative to its speed scale.
pub(super) fn closed_residual(solution: &Solution) -> f64 {
    (AS_GIVEN_FRACTION * solution.tolerance()).max(CLOSED_RESIDUALS * solution.certificate().worst())
}

/// One solve: the task, the solver that was asked for, and the storage of all methods.
pub(super) struct Dispatch<'t, 'a, 'w> {
    pub(super) task: &'t mut Task<'a, 'w>,
    pub(super) solver: &'t Solver,
    pub(super) methods: &'t mut MethodStorage,
}

impl Dispatch<'_, '_, '_> {
    /// Warm start or zero, if either passes. A warm start of a step that is nearly a solution is improved by Newton's
    /// method.
    pub(super) fn cheap(&mut self, warm_start: Option<&WarmStart>) -> Option<Solution> {
        let warm_start = warm_start.filter(|w| w.z.len() == self.task.size());
        let Some(start) = warm_start.filter(|w| w.z.iter().any(|z| *z != 0.0)) else {
            return self.zero(warm_start);
        };
        let candidate = self.task.certify(&start.z);
        let worst = candidate.certificate.worst();
        if let Problem::Step(step) = self.task.problem()
            && worst > ROUNDING_RESIDUAL
            && worst <= POLISH_RESIDUAL
            && (!step.contacts.is_empty() || has_few_joints(step))
            && let Some(solution) = self.polish(step, &start.z)
        {
            self.task.recycle(candidate);
            return Some(solution);
        }
        self.accept_as_given(candidate, Stage::WarmStart, warm_start).or_else(|| self.zero(warm_start))
    }

    /// Zero impulses, if they pass.
    fn zero(&mut self, warm_start: Option<&WarmStart>) -> Option<Solution> {
        let tolerance = AS_GIVEN_FRACTION * self.task.tolerance();
        if self.task.law() == FrictionLaw::Coulomb && self.task.free_residual() > tolerance {
            return None;
        }
        let zero = self.task.certify(&[]);
        self.accept_as_given(zero, Stage::Zero, warm_start)
    }

    /// Accepts a candidate that no method has improved, far within the tolerance.
    fn accept_as_given(
        &mut self,
        candidate: Candidate,
        stage: Stage,
        warm_start: Option<&WarmStart>,
    ) -> Option<Solution> {
        let tolerance = AS_GIVEN_FRACTION * self.task.tolerance();
        let work = Work { stage, held: stage == Stage::WarmStart, ..Work::default() };
        let basis = warm_start.and_then(|w| w.basis.clone());
        let accepted = Solution::accept(candidate, tolerance, self.task.law(), work, basis);
        accepted.map_err(|candidate| self.task.recycle(candidate)).ok()
    }

    /// Newton's method from near a solution.
    fn polish(&mut self, step: &StepProblem, start: &[f64]) -> Option<Solution> {
        self.methods.newton.polish(step, self.task, start, &Work::default())
    }

    /// Finds the impulses of least norm that cause the motion of a solution, and which impulses are determined. The
    /// certificate decides: impulses that it refuses are not taken. A solution that holds the impulses of the last step
    /// needs none if the caller knows them.
    pub(super) fn find_unique(&mut self, solution: &Solution, unique: &Unique) {
        self.task.profile().hold(Phase::UniqueForces);
        self.choose_unique(solution, unique);
        self.task.profile().release();
    }

    fn choose_unique(&mut self, solution: &Solution, unique: &Unique) {
        if let Some(old) = self.methods.unique.take() {
            self.task.recycle(old);
        }
        let Problem::Step(step) = self.task.problem() else { return };
        if structured::unsupported_feature(step).is_some() {
            self.methods.structured.determine_nothing(step);
            return;
        }
        let residual = closed_residual(solution);
        let solved = SolvedStep {
            step,
            z: solution.z(),
            v: solution.velocity(),
            w: solution.w(),
            closed: residual * solution.certificate().speed,
            guess: unique.guess,
            weights: unique.weights,
        };
        if unique.is_known && solution.work().held {
            self.methods.structured.determine(&solved, self.task);
            return;
        }
        let Some(z) = self.methods.structured.unique(&solved, self.task) else { return };
        let candidate = self.task.certify(z);
        if candidate.certificate.worst() <= residual.min(solution.tolerance()) {
            // it stays beside the solution while the next step is solved
            self.task.keep_spare(&candidate);
            self.methods.unique = Some(candidate);
        } else {
            self.task.recycle(candidate);
        }
    }

    /// Finds the unique impulses of the motion that impulses `z` cause. Returns the certified impulses `z`.
    pub(super) fn unique_from(&mut self, z: &[f64], unique: &Unique) -> Result<Solution, LcpError> {
        let candidate = self.task.certify(z);
        let work = Work { stage: Stage::WarmStart, held: true, ..Work::default() };
        let tolerance = self.task.tolerance();
        let solution = self.task.accept(candidate, work);
        let solution = solution.map_err(|best| LcpError::Uncertified { tolerance, best: Box::new(best) })?;
        self.find_unique(&solution, unique);
        Ok(solution)
    }

    /// Newton's method in prescribed modes.
    pub(super) fn solve_in_modes(
        &mut self,
        step: &StepProblem,
        modes: &[ContactMode],
        sharing: LoadSharing,
    ) -> Candidate {
        self.methods.newton.solve_in_modes(step, self.task, modes, sharing)
    }

    /// Structured methods if they support the problem. Lemke's method if they do not, if the problem is small enough for
    /// exact pivots, and if they fail.
    pub(super) fn chain(
        &mut self,
        chain: &Chain,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        let lemke = Lemke::default();
        let Problem::Step(step) = self.task.problem() else { return self.pivot(&lemke, warm_start) };
        if structured::unsupported_feature(step).is_some() {
            return self.pivot(&lemke, warm_start);
        }
        let curved = |c: &Contact| !c.tangents.is_empty() && matches!(c.set, FrictionSet::Ellipse(_));
        let flat = !step.contacts.iter().any(curved);
        let mut pivoting = None;
        if flat && step.contacts.len() <= chain.pivots_below && has_few_joints(step) {
            match self.pivot(&lemke, warm_start) {
                Err(error) if !matches!(error, LcpError::Ray { proof: Some(_), .. }) => {
                    pivoting = Some(error);
                }
                done => return done,
            }
        }
        let warm_start = warm_start.filter(|w| w.z.len() == self.task.size());
        let error = match self.methods.structured.solve(step, self.task, chain, warm_start) {
            Ok(solution) => return Ok(solution),
            Err(error) => error,
        };
        if step.contacts.len() > ARBITRATED_CONTACTS || step.joints.len() > ARBITRATED_JOINTS {
            return Err(error);
        }
        match (pivoting, error) {
            (None, _) if flat => self.pivot(&lemke, None),
            (None, LcpError::Budget { best, .. }) if let Some(proof) = super::pivoting::infeasible(step) => {
                Err(LcpError::Ray { ray: proof.y.clone(), proof: Some(proof), best })
            }
            (Some(error), _) | (None, error) => Err(error),
        }
    }

    /// Lemke's method, with fallbacks that improve its candidate.
    pub(super) fn pivot(
        &mut self,
        lemke: &Lemke,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        self.lemke(lemke, warm_start).or_else(|error| self.improve(lemke, error))
    }

    /// Solution if Lemke's method ended just short of one, or its error.
    ///
    /// Nearly tied rows may leave a candidate that the certificate refuses, or end the path on a ray just before a
    /// solution. Newton's method may then take the last step. The path with the other scaling is another path. For a
    /// step, the fixed point of convex relaxations, from the candidate's slip speeds and from zero, is another method; for
    /// a dense problem there are others.
    fn improve(&mut self, lemke: &Lemke, error: LcpError) -> Result<Solution, LcpError> {
        let (LcpError::Uncertified { best, .. }
        | LcpError::Ray { proof: None, best, .. }
        | LcpError::Budget { best, .. }) = &error
        else {
            return Err(error);
        };
        if let Problem::Step(step) = self.task.problem()
            && best.certificate.worst() <= POLISH_RESIDUAL
            && let Some(solution) = self.polish(step, &best.z)
        {
            return Ok(solution.after(Fallback::Newton));
        }
        let other = Lemke { scaling: !lemke.scaling, ..*lemke };
        if let Ok(solution) = self.lemke(&other, None) {
            return Ok(solution.after(Fallback::OtherScaling));
        }
        let Problem::Step(step) = self.task.problem() else {
            return self.other_dense_methods(lemke, error);
        };
        if self.task.law() != FrictionLaw::Coulomb {
            return Err(error);
        }
        self.fixed_point(step, Some(&best.z), IMPROVEMENT_ROUNDS)
            .or_else(|_| self.fixed_point(step, None, IMPROVEMENT_ROUNDS))
            .map(|solution| solution.after(Fallback::FixedPoint))
            .map_err(|_| error)
    }

    /// Fixed point of convex relaxations, each solved by Lemke's method.
    pub(super) fn fixed_point(
        &mut self,
        step: &StepProblem,
        start: Option<&[f64]>,
        rounds: usize,
    ) -> Result<Solution, LcpError> {
        let solver = Solver { tolerance: self.task.tolerance(), ..Method::Lemke(Lemke::default()).into() };
        convex::fixed_point(step, self.task, start, rounds, |relaxed| solve(relaxed, &solver, None))
    }
}

/// `true` if the joint rows are few enough for a dense elimination.
fn has_few_joints(step: &StepProblem) -> bool {
    let most = if step.contacts.is_empty() { DENSE_JOINTS_ALONE } else { DENSE_JOINTS_WITH_CONTACTS };
    step.joints.len() <= most
}
