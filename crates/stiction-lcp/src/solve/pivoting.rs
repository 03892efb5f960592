//! Dense pivoting methods in one solve: the problem in dense form, Lemke's method or enumeration on it, and the verdict
//! on their result with a proof of infeasibility if there is one.

use super::Method;
use super::dispatch::Dispatch;
use crate::certificate::{Candidate, certify};
use crate::condense::{Condensed, FreeRows};
use crate::enumerate::Enumerate;
use crate::lemke::{Basis, Lemke, LemkeEnd, LemkeRun};
use crate::problem::{Lcp, Problem, StepProblem};
use crate::proof::Farkas;
use crate::solution::{Fallback, LcpError, Solution, Stage, WarmStart, Work};

/// Dense form of a problem, with the map back to its unknowns.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation in every solve")]
enum DenseForm<'a> {
    Lcp(&'a Lcp),
    Free(FreeRows),
    Step(Condensed<'a>),
}

impl DenseForm<'_> {
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

impl<'a> Dispatch<'_, 'a, '_> {
    /// Dense form of the problem.
    fn dense(&mut self) -> Result<DenseForm<'a>, LcpError> {
        let dense = match self.task.problem() {
            Problem::Lcp(lcp) => Ok(DenseForm::Lcp(lcp)),
            Problem::Mlcp(mlcp) => Ok(DenseForm::Free(FreeRows::new(mlcp))),
            // solved as a sequence of steps
            Problem::Local(_) => Err("a problem in local form"),
            Problem::Step(step) => {
                let storage = std::mem::take(&mut self.methods.condense);
                match Condensed::in_buffers(step, self.task.prepared(), storage) {
                    Ok(condensed) => Ok(DenseForm::Step(condensed)),
                    Err((feature, storage)) => {
                        self.methods.condense = storage;
                        Err(feature)
                    }
                }
            }
        };
        dense.map_err(|feature| self.solver.method.unsupported(feature))
    }

    /// Lemke's method on the dense form.
    pub(super) fn lemke(
        &mut self,
        lemke: &Lemke,
        warm_start: Option<&WarmStart>,
    ) -> Result<Solution, LcpError> {
        let mut dense = self.dense()?;
        let result = self.lemke_on(lemke, warm_start, &mut dense);
        if let DenseForm::Step(condensed) = dense {
            self.methods.condense = condensed.into_buffers();
        }
        result
    }

    fn lemke_on(
        &mut self,
        lemke: &Lemke,
        warm_start: Option<&WarmStart>,
        dense: &mut DenseForm,
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
        let run = lemke.run_in(dense.lcp(), warm, &mut self.methods.lemke);
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
                // a cycling path may have passed a solution
                let best = self.certify_dense(dense, &z);
                Solution::accept(best, self.task.tolerance(), self.task.law(), work, Some(basis))
                    .map_err(|best| LcpError::Budget { spent: pivots, unit: "pivots", best: Box::new(best) })
            }
        };
        self.methods.lemke.recycle_z(z);
        result
    }

    /// Certificate of unknowns of the dense form.
    fn certify_dense(&mut self, dense: &mut DenseForm, z: &[f64]) -> Candidate {
        let mut unknowns = std::mem::take(&mut self.methods.z);
        dense.unknowns(z, &mut unknowns);
        let candidate = self.task.certify(&unknowns);
        self.methods.z = unknowns;
        candidate
    }

    /// Verdict of the certificate on unknowns of the dense form.
    fn judged(
        &mut self,
        dense: &mut DenseForm,
        z: &[f64],
        work: Work,
        basis: Option<Basis>,
    ) -> Result<Solution, LcpError> {
        let candidate = self.certify_dense(dense, z);
        self.accepted(dense, candidate, work, basis)
    }

    /// Candidate as a solution, or the reason why it is none.
    fn accepted(
        &self,
        dense: &DenseForm,
        candidate: Candidate,
        work: Work,
        basis: Option<Basis>,
    ) -> Result<Solution, LcpError> {
        let tolerance = self.task.tolerance();
        Solution::accept(candidate, tolerance, self.task.law(), work, basis).map_err(|best| {
            let best = Box::new(best);
            // contradicting redundant joints are no failure of the solver
            match self.contradicting_joints(dense) {
                Some(proof) => LcpError::Ray { ray: proof.y.clone(), proof: Some(proof), best },
                None => LcpError::Uncertified { tolerance, best },
            }
        })
    }

    /// Verdict on a ray of the dense form: its base may be a solution, else a proof of infeasibility is looked for.
    fn ray(
        &mut self,
        dense: &mut DenseForm,
        z: &[f64],
        ray: &[f64],
        work: Work,
        basis: Basis,
    ) -> Result<Solution, LcpError> {
        let best = self.certify_dense(dense, z);
        let best = match Solution::accept(best, self.task.tolerance(), self.task.law(), work, Some(basis)) {
            Ok(solution) => return Ok(solution),
            Err(best) => Box::new(best),
        };
        let proof = match (&*dense, self.task.problem()) {
            (_, Problem::Step(step)) => self.contradicting_joints(dense).or_else(|| infeasible(step)),
            // the complementary part of the ray is a combination of the rows of a mixed problem
            (DenseForm::Free(free), Problem::Mlcp(mlcp)) => Farkas::check(mlcp, &free.combination(mlcp, ray)),
            (_, problem) => Farkas::check(problem, ray),
        };
        let ray = match dense {
            DenseForm::Lcp(_) => ray.to_vec(),
            DenseForm::Free(free) => free.direction(ray),
            DenseForm::Step(condensed) => {
                let mut direction = Vec::new();
                condensed.direction(ray, &mut direction);
                direction
            }
        };
        Err(LcpError::Ray { ray, proof, best })
    }

    /// Enumeration of all complementary bases of the dense form.
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
        let found = match self.task.problem() {
            Problem::Mlcp(mlcp) => enumerate.mixed(mlcp),
            _ => enumerate.all(dense.lcp()),
        };
        let found = found.map_err(|e| self.solver.method.unsupported(e.to_string()))?;
        // near misses of rows whose scales differ are no solutions
        let tolerance = self.task.tolerance();
        let passes = |z: &&Vec<f64>| match self.task.problem() {
            Problem::Step(_) => true,
            problem => certify(problem, z).is_ok_and(|found| found.certificate.passes(tolerance)),
        };
        let solution = found.points().find(passes).or_else(|| found.points().next());
        if let Some(z) = solution {
            return match self.task.problem() {
                Problem::Mlcp(_) => {
                    let candidate = self.task.certify(z);
                    self.accepted(&dense, candidate, work, None)
                }
                _ => self.judged(&mut dense, z, work, None),
            };
        }
        let best = Box::new(self.task.certify(&[]));
        if !found.complete() {
            return Err(LcpError::Budget { spent: enumerate.budget, unit: "subsets", best });
        }
        let proof = match self.task.problem() {
            Problem::Step(step) => self.contradicting_joints(&dense).or_else(|| infeasible(step)),
            _ => None,
        };
        Err(LcpError::Exhausted { bases: found.bases, proof, best })
    }

    /// Combination of redundant joint rows whose offsets do not cancel.
    fn contradicting_joints(&self, dense: &DenseForm) -> Option<Farkas> {
        let (DenseForm::Step(condensed), Problem::Step(step)) = (dense, self.task.problem()) else {
            return None;
        };
        condensed.joint_dependencies().find_map(|mut y| {
            y.resize(step.layout().impulses, 0.0);
            let minus: Vec<f64> = y.iter().map(|y| -y).collect();
            Farkas::check(step, &y).or_else(|| Farkas::check(step, &minus))
        })
    }
}

/// Combination of normal and joint rows that no velocity satisfies, if there is one.
///
/// Without friction the dense matrix is positive semidefinite, and Lemke's method ends in a solution or in a ray that is a
/// Farkas vector. So the search is conclusive, whatever friction does.
pub(super) fn infeasible(step: &StepProblem) -> Option<Farkas> {
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
