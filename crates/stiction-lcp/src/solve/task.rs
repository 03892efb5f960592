//! One solve under way: candidates, each judged, from the cheapest on.

use super::{Method, Solver, Workspace};
use crate::certificate::{Candidate, Judge, Mobility};
use crate::chain::Chain;
use crate::condense::{Condensed, FreeRows};
use crate::convex;
use crate::enumerate::Enumerate;
use crate::lemke::{Basis, Lemke, LemkeEnd, LemkeRun};
use crate::newton;
use crate::problem::{Contact, FrictionLaw, FrictionSet, Lcp, Prepared, Problem, StepProblem};
use crate::profile::{Phase, Profile};
use crate::proof::Farkas;
use crate::solution::{Fallback, LcpError, Solution, Stage, WarmStart, Work};
use crate::structured;
use std::sync::Arc;

/// Residual up to which Newton's method goes on from an answer or a warm start: the same contacts bear, but for round-off.
/// Farther away it may end at another solution than the one the path of Lemke's method leads to.
const NEAR: f64 = 1e-6;

/// Rounds of the fixed point that may improve an answer: from nearby it takes one or two, and where friction makes
/// it wander more do not help.
const IMPROVEMENTS: usize = 10;

/// Part of the tolerance that no impulses, or those of a warm start, must hold to be taken as they are: bodies at rest that
/// keep their impulses creep by the residual for ever.
pub(crate) const IDLE: f64 = 1e-3;

/// Contacts up to which Lemke's method is asked where the structured methods fail, for an answer or a proof that there
/// is none: beyond, it takes seconds.
const ARBITER: usize = 100;

/// The same of joint rows, which are eliminated from a dense matrix first.
const ARBITER_JOINTS: usize = 600;

/// Joint rows up to which a dense elimination, which knows the redundant ones, is about as quick as a sparse one, alone
/// and beside contacts, limits and drives, where pivots are worth more: they are exact to round-off.
const PIVOTS_BELOW: [usize; 2] = [20, 40];

/// One solve under way.
pub(crate) struct Task<'a, 'w> {
    pub(super) problem: Problem<'a>,
    pub(super) solver: &'a Solver,
    pub(super) judge: Judge<'a>,
    pub(super) law: FrictionLaw,
    pub(super) workspace: &'w mut Workspace,
}

/// The dense form of a problem, and the way back.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation in every solve")]
enum Dense<'a> {
    Lcp(&'a Lcp),
    Free(FreeRows),
    Step(Condensed<'a>),
}

impl Dense<'_> {
    fn lcp(&self) -> &Lcp {
        match self {
            Self::Lcp(lcp) => lcp,
            Self::Free(free) => &free.lcp,
            Self::Step(condensed) => condensed.lcp(),
        }
    }

    fn unknowns(&mut self, z: &[f64], out: &mut Vec<f64>) {
        match self {
            Self::Lcp(_) => {
                out.clear();
                out.extend_from_slice(z);
            }
            Self::Free(free) => *out = free.unknowns(z),
            Self::Step(condensed) => condensed.impulses(z, out),
        }
    }

    fn redundant_joints(&self) -> Vec<usize> {
        match self {
            Self::Step(condensed) => condensed.redundant_joints().to_vec(),
            _ => Vec::new(),
        }
    }
}

impl<'a> Task<'a, '_> {
    /// The warm start or zero, if either passes; a warm start of a step that is all but a solution is taken closer.
    pub(super) fn cheap(&mut self, warm_start: Option<&WarmStart>) -> Option<Solution> {
        let tolerance = IDLE * self.solver.tolerance;
        let warm_start = warm_start.filter(|g| g.z.len() == self.size());
        let basis = || warm_start.and_then(|g| g.basis.clone());
        let judged = |task: &mut Self, stage: Stage, candidate: Candidate| {
            let work = Work { stage, ..Work::default() };
            let accepted = Solution::accept(candidate, tolerance, task.law, work, basis());
            accepted.map_err(|candidate| task.recycle(candidate)).ok()
        };
        let nothing = |task: &mut Self| {
            if task.law == FrictionLaw::Coulomb && task.judge.free() > tolerance {
                return None;
            }
            let zero = task.certify(&[]);
            judged(task, Stage::Zero, zero)
        };
        let Some(warm_start) = warm_start.filter(|g| g.z.iter().any(|z| *z != 0.0)) else {
            return nothing(self);
        };
        let candidate = self.certify(&warm_start.z);
        let worst = candidate.certificate.worst();
        if let Problem::Step(step) = self.problem
            && worst > newton::ROUND_OFF
            && worst <= NEAR
            && (!step.contacts.is_empty() || few_joints(step))
            && let Some(solution) = newton::polish(step, self, &warm_start.z, &Work::default())
        {
            self.recycle(candidate);
            return Some(solution);
        }
        judged(self, Stage::WarmStart, candidate).or_else(|| nothing(self))
    }

    /// Number of unknowns.
    fn size(&self) -> usize {
        match self.problem {
            Problem::Step(_) => self.workspace.prepared.layout.impulses,
            other => other.size(),
        }
    }

    pub(crate) fn prepared(&self) -> Arc<Prepared> {
        self.workspace.prepared.clone()
    }

    pub(crate) fn newton(&mut self) -> &mut newton::Storage {
        &mut self.workspace.newton
    }

    pub(crate) fn profile(&mut self) -> &mut Profile {
        &mut self.workspace.profile
    }

    pub(crate) fn structured(&mut self) -> &mut structured::Storage {
        &mut self.workspace.structured
    }

    /// What one unit of impulse causes at each contact of a step.
    pub(crate) fn mobilities(&self) -> &[Mobility] {
        self.judge.mobilities()
    }

    /// V₀ of the certificate [m/s].
    pub(crate) fn speed(&self) -> f64 {
        self.judge.speed()
    }

    pub(crate) fn recycle(&mut self, candidate: Candidate) {
        self.workspace.spare.push(candidate);
    }

    pub(crate) fn certify(&mut self, z: &[f64]) -> Candidate {
        let old = self.workspace.spare.pop().unwrap_or_default();
        let caller = self.workspace.profile.enter(Phase::Certificate);
        let candidate = self.judge.certify(z, old);
        self.workspace.profile.enter(caller);
        candidate
    }

    /// The velocity of a step with the impulses `z`, as its certificate will see it.
    pub(crate) fn velocity(&mut self, z: &[f64], out: &mut Vec<f64>) {
        let caller = self.workspace.profile.enter(Phase::Certificate);
        self.judge.velocity(z, out);
        self.workspace.profile.enter(caller);
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.solver.tolerance
    }

    #[allow(clippy::result_large_err, reason = "the candidate's storage comes back")]
    pub(crate) fn accept(&self, candidate: Candidate, work: Work) -> Result<Solution, Candidate> {
        Solution::accept(candidate, self.solver.tolerance, self.law, work, None)
    }

    /// The candidate as a solution that holds to the loosest tolerance, and says so.
    #[allow(clippy::result_large_err, reason = "the candidate's storage comes back")]
    pub(crate) fn accept_loosely(&self, candidate: Candidate, work: Work) -> Result<Solution, Candidate> {
        Solution::accept(candidate, self.solver.loosest, self.law, work, None)
            .map(|solution| solution.after(Fallback::Loose))
    }

    fn dense(&mut self) -> Result<Dense<'a>, LcpError> {
        let dense = match self.problem {
            Problem::Lcp(lcp) => Ok(Dense::Lcp(lcp)),
            Problem::Mlcp(mlcp) => Ok(Dense::Free(FreeRows::new(mlcp))),
            // solved as steps
            Problem::Local(_) => Err("a problem in local form"),
            Problem::Step(step) => {
                let storage = std::mem::take(&mut self.workspace.condense);
                match Condensed::in_buffers(step, self.workspace.prepared.clone(), storage) {
                    Ok(condensed) => Ok(Dense::Step(condensed)),
                    Err((feature, storage)) => {
                        self.workspace.condense = storage;
                        Err(feature)
                    }
                }
            }
        };
        dense.map_err(|feature| self.solver.method.unsupported(feature))
    }

    /// The structured methods where they know the problem; Lemke's method where they do not, where a small problem
    /// lets it be exact, and where they fail.
    pub(super) fn chain(
        &mut self,
        chain: &Chain,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        let lemke = Lemke::default();
        let Problem::Step(step) = self.problem else { return self.pivoted(&lemke, warm_start) };
        if structured::unknown_feature(step).is_some() {
            return self.pivoted(&lemke, warm_start);
        }
        let curved = |c: &Contact| !c.tangents.is_empty() && matches!(c.set, FrictionSet::Ellipse(_));
        let flat = !step.contacts.iter().any(curved);
        let mut pivoting = None;
        if flat && step.contacts.len() <= chain.pivots_below && few_joints(step) {
            match self.pivoted(&lemke, warm_start) {
                Err(error) if !matches!(error, LcpError::Ray { proof: Some(_), .. }) => {
                    pivoting = Some(error);
                }
                done => return done,
            }
        }
        let warm_start = warm_start.filter(|g| g.z.len() == self.size());
        let error = match structured::solve(step, self, chain, warm_start) {
            Ok(solution) => return Ok(solution),
            Err(error) => error,
        };
        if step.contacts.len() > ARBITER || step.joints.len() > ARBITER_JOINTS {
            return Err(error);
        }
        match (pivoting, error) {
            (None, _) if flat => self.pivoted(&lemke, None),
            (None, LcpError::Budget { best, .. }) if let Some(proof) = infeasible_step(step) => {
                Err(LcpError::Ray { ray: proof.y.clone(), proof: Some(proof), best })
            }
            (Some(error), _) | (None, error) => Err(error),
        }
    }

    /// Lemke's method, and what may improve its answer.
    pub(super) fn pivoted(
        &mut self,
        lemke: &Lemke,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        self.lemke(lemke, warm_start).or_else(|error| self.improved(lemke, error))
    }

    /// A solution where Lemke's method ended a little short of one, or the error as it was.
    ///
    /// Rows that all but tie may leave an answer that the certificate refuses, or end the path on a ray just before
    /// a solution. Then Newton's method may take the last bit of the way; the path with or without scaling, whichever it was not, is another path; and for a step the
    /// fixed point of convex relaxations, from the answer's slip speeds and from none, is another method.
    pub(super) fn improved(&mut self, lemke: &Lemke, error: LcpError) -> Result<Solution, LcpError> {
        let (LcpError::Uncertified { best, .. }
        | LcpError::Ray { proof: None, best, .. }
        | LcpError::Budget { best, .. }) = &error
        else {
            return Err(error);
        };
        if let Problem::Step(step) = self.problem
            && best.certificate.worst() <= NEAR
            && let Some(solution) = newton::polish(step, self, &best.z, &Work::default())
        {
            return Ok(solution.after(Fallback::Newton));
        }
        let other = Lemke { scaling: !lemke.scaling, ..*lemke };
        if let Ok(solution) = self.lemke(&other, None) {
            return Ok(solution.after(Fallback::OtherScaling));
        }
        let Problem::Step(step) = self.problem else { return Err(error) };
        if self.law != FrictionLaw::Coulomb {
            return Err(error);
        }
        convex::fixed_point(step, self, Some(&best.z), IMPROVEMENTS)
            .or_else(|_| convex::fixed_point(step, self, None, IMPROVEMENTS))
            .map(|solution| solution.after(Fallback::FixedPoint))
            .map_err(|_| error)
    }

    pub(super) fn lemke(
        &mut self,
        lemke: &Lemke,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        let mut dense = self.dense()?;
        let result = self.lemke_on(lemke, warm_start, &mut dense);
        if let Dense::Step(condensed) = dense {
            self.workspace.condense = condensed.into_buffers();
        }
        result
    }

    fn lemke_on(
        &mut self,
        lemke: &Lemke,
        warm_start: Option<&WarmStart>,
        dense: &mut Dense,
    ) -> Result<Solution, LcpError> {
        let n = dense.lcp().q.len();
        let stage =
            if matches!(self.solver.method, Method::Convex(_)) { Stage::Convex } else { Stage::Lemke };
        let mut work =
            Work { stage, dense_size: n, redundant_joints: dense.redundant_joints(), ..Work::default() };
        if n == 0 {
            // joints alone
            return self.judged(dense, &[], work, None);
        }
        let warm = warm_start.and_then(|g| g.basis.as_ref()).filter(|b| b.0.len() == n);
        let run = lemke.run_in(dense.lcp(), warm, &mut self.workspace.lemke);
        let LemkeRun { end, z, basis, pivots, refactorizations, restarted, retries } = run;
        (work.pivots, work.refactorizations) = (pivots, refactorizations);
        if restarted {
            work.fallbacks.push(Fallback::ColdStart);
        }
        if retries > 0 {
            work.fallbacks.push(Fallback::OtherTolerances);
        }
        let result = match end {
            LemkeEnd::Solved | LemkeEnd::Stalled => self.judged(dense, &z, work, Some(basis)),
            LemkeEnd::Ray(ray) => self.ray(dense, &z, &ray, work, basis),
            LemkeEnd::Budget => {
                // a path that goes in circles may have passed a solution
                let best = self.certify_dense(dense, &z);
                Solution::accept(best, self.solver.tolerance, self.law, work, Some(basis))
                    .map_err(|best| LcpError::Budget { spent: pivots, unit: "pivots", best: Box::new(best) })
            }
        };
        self.workspace.lemke.recycle_z(z);
        result
    }

    /// The certificate of an answer of the dense problem.
    fn certify_dense(&mut self, dense: &mut Dense, z: &[f64]) -> Candidate {
        let mut unknowns = std::mem::take(&mut self.workspace.z);
        dense.unknowns(z, &mut unknowns);
        let candidate = self.certify(&unknowns);
        self.workspace.z = unknowns;
        candidate
    }

    /// The certificate's verdict on an answer of the dense problem.
    fn judged(
        &mut self,
        dense: &mut Dense,
        z: &[f64],
        work: Work,
        basis: Option<Basis>,
    ) -> Result<Solution, LcpError> {
        let candidate = self.certify_dense(dense, z);
        self.accepted(dense, candidate, work, basis)
    }

    /// The candidate as a solution, or why it is none.
    fn accepted(
        &self,
        dense: &Dense,
        candidate: Candidate,
        work: Work,
        basis: Option<Basis>,
    ) -> Result<Solution, LcpError> {
        let tolerance = self.solver.tolerance;
        Solution::accept(candidate, tolerance, self.law, work, basis).map_err(|best| {
            let best = Box::new(best);
            // redundant joints that contradict each other are no fault of the solver
            match self.contradicting_joints(dense) {
                Some(proof) => LcpError::Ray { ray: proof.y.clone(), proof: Some(proof), best },
                None => LcpError::Uncertified { tolerance, best },
            }
        })
    }

    /// What a ray of the dense problem means; its base may be a solution all the same.
    fn ray(
        &mut self,
        dense: &mut Dense,
        z: &[f64],
        ray: &[f64],
        work: Work,
        basis: Basis,
    ) -> Result<Solution, LcpError> {
        let best = self.certify_dense(dense, z);
        let best = match Solution::accept(best, self.solver.tolerance, self.law, work, Some(basis)) {
            Ok(solution) => return Ok(solution),
            Err(best) => Box::new(best),
        };
        let proof = match (&*dense, self.problem) {
            (_, Problem::Step(step)) => self.contradicting_joints(dense).or_else(|| infeasible_step(step)),
            // the rows of a mixed problem combine as the ray says in its complementary part
            (Dense::Free(free), Problem::Mlcp(mlcp)) => Farkas::check(mlcp, &free.combination(mlcp, ray)),
            (_, problem) => Farkas::check(problem, ray),
        };
        let ray = match dense {
            Dense::Lcp(_) => ray.to_vec(),
            Dense::Free(free) => free.direction(ray),
            Dense::Step(condensed) => {
                let mut direction = Vec::new();
                condensed.direction(ray, &mut direction);
                direction
            }
        };
        Err(LcpError::Ray { ray, proof, best })
    }

    pub(super) fn enumerate(&mut self, enumerate: &Enumerate) -> Result<Solution, LcpError> {
        let mut dense = self.dense()?;
        let n = dense.lcp().q.len();
        let work = Work {
            stage: Stage::Enumerate,
            dense_size: n,
            redundant_joints: dense.redundant_joints(),
            ..Work::default()
        };
        if n == 0 {
            return self.judged(&mut dense, &[], work, None);
        }
        let found = match self.problem {
            Problem::Mlcp(mlcp) => enumerate.mixed(mlcp),
            _ => enumerate.all(dense.lcp()),
        };
        let found = found.map_err(|e| self.solver.method.unsupported(e.to_string()))?;
        if let Some(z) = found.points().next() {
            return match self.problem {
                Problem::Mlcp(_) => {
                    let candidate = self.certify(z);
                    self.accepted(&dense, candidate, work, None)
                }
                _ => self.judged(&mut dense, z, work, None),
            };
        }
        let best = Box::new(self.certify(&[]));
        if !found.complete() {
            return Err(LcpError::Budget { spent: enumerate.budget, unit: "subsets", best });
        }
        let proof = match self.problem {
            Problem::Step(step) => self.contradicting_joints(&dense).or_else(|| infeasible_step(step)),
            _ => None,
        };
        Err(LcpError::Exhausted { bases: found.bases, proof, best })
    }

    /// A combination of redundant joint rows whose offsets do not cancel.
    fn contradicting_joints(&self, dense: &Dense) -> Option<Farkas> {
        let (Dense::Step(condensed), Problem::Step(step)) = (dense, self.problem) else { return None };
        condensed.joint_dependencies().find_map(|mut y| {
            y.resize(step.layout().impulses, 0.0);
            let minus: Vec<f64> = y.iter().map(|y| -y).collect();
            Farkas::check(step, &y).or_else(|| Farkas::check(step, &minus))
        })
    }
}

/// Whether the joint rows are few enough to be eliminated from a dense matrix.
fn few_joints(step: &StepProblem) -> bool {
    step.joints.len() <= PIVOTS_BELOW[usize::from(!step.contacts.is_empty())]
}

/// A combination of normal and joint rows that no velocity satisfies, if there is one.
///
/// Without friction the dense matrix is positive semidefinite, and there Lemke's method ends in a solution or
/// in a ray that is a Farkas vector: the search is conclusive whatever friction does.
fn infeasible_step(step: &StepProblem) -> Option<Farkas> {
    let mut bare = step.clone();
    for contact in &mut bare.contacts {
        (contact.mu, contact.kappa) = (0.0, 0.0);
    }
    let mut condensed = Condensed::new(&bare).ok()?;
    if condensed.lcp().q.is_empty() {
        return None;
    }
    let LemkeEnd::Ray(ray) = Lemke::default().run(condensed.lcp(), None).end else { return None };
    let mut y = Vec::new();
    condensed.direction(&ray, &mut y);
    Farkas::check(step, &y)
}
