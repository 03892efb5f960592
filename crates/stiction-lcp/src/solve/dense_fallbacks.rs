//! Methods for a dense problem that Lemke's method leaves without a solution: its rows rescaled by their own terms, a
//! proximal term that vanishes, and all bases. The certificate of the problem itself decides.

use super::dispatch::Dispatch;
use crate::certificate::Candidate;
use crate::condense::FreeRows;
use crate::enumerate::Enumerate;
use crate::lemke::{Lemke, LemkeEnd};
use crate::problem::{Lcp, Mlcp, Problem};
use crate::proof::Farkas;
use crate::solution::{Fallback, LcpError, Solution, Stage, Work};
use nalgebra::{DMatrix, DVector};

/// Proximal term, relative to the largest entries of rows and columns [-]. Sensible range 1e-6 to 1e-2: larger takes more
/// rounds, smaller leaves singular matrices singular.
const PROXIMAL: f64 = 1e-3;

/// Maximum number of rounds of the proximal method.
const PROXIMAL_ROUNDS: usize = 40;

/// Largest problem that is given to the proximal method: each round costs as much as a solve.
const MAX_PROXIMAL_ROWS: usize = 300;

/// Dense problem whose rows are measured by their own terms, and its columns by their largest entries: D M E and D q.
struct RescaledMlcp {
    problem: Mlcp,
    /// D.
    row: Vec<f64>,
    /// E.
    column: Vec<f64>,
}

impl RescaledMlcp {
    /// Rescales a problem by the terms at `z`.
    fn new(m: &DMatrix<f64>, q: &DVector<f64>, free: &[bool], z: &[f64]) -> Option<Self> {
        let over = |largest: f64| if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let n = q.len();
        let term = |i: usize| (0..n).map(|j| (m[(i, j)] * z[j]).abs()).fold(q[i].abs(), f64::max);
        let by_matrix = |i: usize| m.row(i).iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        let row: Vec<f64> = (0..n)
            .map(|i| Some(term(i)).filter(|t| *t > 0.0).map_or_else(|| over(by_matrix(i)), over))
            .collect();
        let column: Vec<f64> =
            (0..n).map(|j| over((0..n).map(|i| m[(i, j)].abs() * row[i]).fold(0.0, f64::max))).collect();
        let problem = Mlcp {
            m: DMatrix::from_fn(n, n, |i, j| row[i] * m[(i, j)] * column[j]),
            q: DVector::from_fn(n, |i, _| row[i] * q[i]),
            free: free.to_vec(),
        };
        problem.check().is_ok().then_some(Self { problem, row, column })
    }

    /// Problem with a proximal term at the scaled point `z`.
    fn proximal(&self, z: &[f64]) -> Mlcp {
        let mut near = self.problem.clone();
        for (i, z) in z.iter().enumerate() {
            near.m[(i, i)] += PROXIMAL;
            near.q[i] -= PROXIMAL * z;
        }
        near
    }

    fn unscaled(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.column).map(|(z, e)| z * e).collect()
    }
}

/// End of Lemke's method on a mixed problem.
struct MixedEnd {
    z: Vec<f64>,
    pivots: usize,
    /// Combination of rows along the ray that it ended on.
    ray: Option<Vec<f64>>,
}

/// Lemke's method on a mixed problem that has complementary rows.
fn lemke_on(lemke: &Lemke, mlcp: &Mlcp) -> MixedEnd {
    if mlcp.free.contains(&true) {
        let rows = FreeRows::new(mlcp);
        let run = lemke.run(&rows.lcp, None);
        let ray = if let LemkeEnd::Ray(ray) = &run.end { Some(rows.combination(mlcp, ray)) } else { None };
        return MixedEnd { z: rows.unknowns(&run.z), pivots: run.pivots, ray };
    }
    let run = lemke.run(&Lcp { m: mlcp.m.clone(), q: mlcp.q.clone() }, None);
    let ray = if let LemkeEnd::Ray(ray) = run.end { Some(ray) } else { None };
    MixedEnd { z: run.z, pivots: run.pivots, ray }
}

impl Dispatch<'_, '_, '_> {
    /// Solution of a dense problem by another method than the one that ended in this error, or the error. A proof of
    /// infeasibility replaces an error without one.
    pub(super) fn other_dense_methods(
        &mut self,
        lemke: &Lemke,
        error: LcpError,
    ) -> Result<Solution, LcpError> {
        let (m, q, free) = match self.task.problem() {
            Problem::Lcp(Lcp { m, q }) => (m, q, vec![false; q.len()]),
            Problem::Mlcp(Mlcp { m, q, free }) => (m, q, free.clone()),
            Problem::Step(_) | Problem::Local(_) => return Err(error),
        };
        if !free.contains(&false) {
            return Err(error);
        }
        let zeros = vec![0.0; q.len()];
        let start = error.best().map_or(&zeros, |best| &best.z);
        let Some(rescaled) = RescaledMlcp::new(m, q, &free, start) else { return Err(error) };
        let plain = Lemke { scaling: false, ..*lemke };
        let MixedEnd { z, pivots, ray } = lemke_on(&plain, &rescaled.problem);
        let work = |pivots| Work { stage: Stage::Lemke, dense_size: q.len(), pivots, ..Work::default() };
        let best = match self.judged_unknowns(&rescaled.unscaled(&z), work(pivots)) {
            Ok(solution) => return Ok(solution.after(Fallback::OtherScaling)),
            Err(best) => best,
        };
        if let Some(ray) = ray {
            let y: Vec<f64> = ray.iter().zip(&rescaled.row).map(|(y, d)| y * d).collect();
            if let Some(proof) = Farkas::check(self.task.problem(), &y) {
                return Err(LcpError::Ray { ray: y, proof: Some(proof), best: Box::new(best) });
            }
        }
        if q.len() <= MAX_PROXIMAL_ROWS
            && let Some(solution) = self.proximal_point(&plain, &rescaled, work)
        {
            return Ok(solution.after(Fallback::Proximal));
        }
        self.by_enumeration(&free, &work(0))
            .map(|solution| solution.after(Fallback::Enumeration))
            .ok_or(error)
    }

    /// Unknowns as a solution, or as a candidate that is none.
    #[allow(clippy::result_large_err, reason = "the candidate becomes part of an error")]
    fn judged_unknowns(&mut self, z: &[f64], work: Work) -> Result<Solution, Candidate> {
        let candidate = self.task.certify(z);
        self.task.accept(candidate, work)
    }

    /// Proximal point method: problems with a term ε (z − z of the round before), until it has no effect. It converges
    /// where the matrix is positive semidefinite.
    fn proximal_point(
        &mut self,
        lemke: &Lemke,
        rescaled: &RescaledMlcp,
        work: impl Fn(usize) -> Work,
    ) -> Option<Solution> {
        let (mut z, mut pivots) = (vec![0.0; rescaled.row.len()], 0);
        for _ in 0..PROXIMAL_ROUNDS {
            let end = lemke_on(lemke, &rescaled.proximal(&z));
            pivots += end.pivots;
            if end.ray.is_some() || !end.z.iter().all(|z| z.is_finite()) {
                return None;
            }
            z = end.z;
            if let Ok(solution) = self.judged_unknowns(&rescaled.unscaled(&z), work(pivots)) {
                return Some(solution);
            }
        }
        None
    }

    /// Solution among all bases of a small problem.
    fn by_enumeration(&mut self, free: &[bool], work: &Work) -> Option<Solution> {
        let free_count = free.iter().filter(|free| **free).count();
        let complementary = free.len() - free_count;
        if complementary > Enumerate::MAX_COMPLEMENTARY || free_count > Enumerate::MAX_FREE {
            return None;
        }
        let enumerate = Enumerate::default();
        let found = match self.task.problem() {
            Problem::Lcp(lcp) => enumerate.all(lcp).ok()?,
            Problem::Mlcp(mlcp) => enumerate.mixed(mlcp).ok()?,
            Problem::Step(_) | Problem::Local(_) => return None,
        };
        found.points().find_map(|z| self.judged_unknowns(z, work.clone()).ok())
    }
}
