//! Iterative refinement of the point that a path ends in, against the original data, and its residual.

use super::LemkeWorkspace;
use super::tolerances::{REFINE_ABOVE, SOLVED_RESIDUAL};
use crate::problem::Lcp;

/// Point with the smallest residual so far.
#[derive(Debug, Clone, Default)]
pub(super) struct BestPoint {
    pub(super) residual: f64,
    pub(super) z: Vec<f64>,
    pub(super) basis: Vec<bool>,
}

impl BestPoint {
    /// Forgets the point; its residual is infinite.
    pub(super) fn forget(&mut self) {
        self.residual = f64::INFINITY;
        self.z.clear();
        self.basis.clear();
    }
}

impl LemkeWorkspace {
    /// Takes z from the dictionary, refines it if necessary and returns the relative natural residual.
    pub(super) fn refine(&mut self, lcp: &Lcp) -> f64 {
        let n = self.d.n;
        self.take_z();
        self.trial.clear();
        self.trial.extend_from_slice(&self.z);
        self.support.clear();
        self.support.extend((0..n).filter(|&k| self.d.is_basic(n + k)));
        let mut residual = self.consider(lcp);
        // the dictionary holds the inverse of its basis: refinement needs no factorization
        for _ in 0..2 {
            if residual * self.size <= REFINE_ABOVE {
                return residual;
            }
            self.refine_by_dictionary();
            residual = residual.min(self.consider(lcp));
        }
        if residual <= SOLVED_RESIDUAL {
            return residual;
        }
        self.solve_support(lcp).map_or(residual, |solved| solved.min(residual))
    }

    /// Whether the complementary basis with these z solves the problem.
    pub(super) fn solves(&mut self, lcp: &Lcp, basis: &[bool]) -> bool {
        self.best.forget();
        self.support.clear();
        self.support.extend((0..basis.len()).filter(|&k| basis[k]));
        self.solve_support(lcp).is_some_and(|residual| residual <= SOLVED_RESIDUAL)
    }

    /// Solves `w = 0` on the support by LU with two steps of refinement. Returns the least residual, none if singular.
    fn solve_support(&mut self, lcp: &Lcp) -> Option<f64> {
        let (n, support, scaled) = (lcp.q.len(), &self.support, &self.scaled);
        let m = lcp.m.as_slice();
        let entry = |i: usize, j: usize| {
            let (i, j) = (support[i], support[j]);
            scaled.row[i] * m[j * n + i] * scaled.column[j]
        };
        if !self.lu.factorize(support.len(), entry) {
            return None;
        }
        self.trial.clear();
        self.trial.resize(n, 0.0);
        self.scaled.w(lcp, &self.trial, 0.0, &mut self.w);
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            self.correction.clear();
            self.correction.extend(self.support.iter().map(|&k| self.w[k]));
            self.lu.solve(&mut self.correction);
            for (&k, correction) in self.support.iter().zip(&self.correction) {
                self.trial[k] -= correction;
            }
            least = least.min(self.consider(lcp));
            if least * self.size <= REFINE_ABOVE {
                break;
            }
        }
        Some(least)
    }

    /// Subtracts `(M'_BB)⁻¹ w_B` from `z_B` with the inverse of the dictionary.
    fn refine_by_dictionary(&mut self) {
        let (n, w, trial) = (self.d.n, &self.w, &mut self.trial);
        self.d.solve(
            |row| w[row],
            |z, change| {
                // on a ray z₀ is still basic, and not part of z
                if z < n {
                    trial[z] -= change;
                }
            },
        );
    }

    /// Relative natural residual of the trial point, which is kept if it is the best so far.
    fn consider(&mut self, lcp: &Lcp) -> f64 {
        self.scaled.w(lcp, &self.trial, 0.0, &mut self.w);
        let (mut worst, mut size, mut finite) = (0.0, 1.0, true);
        for (&z, &w) in self.trial.iter().zip(&self.w) {
            let natural = z.min(w).abs();
            finite &= z.is_finite() && w.is_finite();
            worst = if natural > worst { natural } else { worst };
            size = if z > size { z } else { size };
        }
        let residual = if finite { worst / size } else { f64::INFINITY };
        self.size = size;
        if residual < self.best.residual || self.best.residual == f64::INFINITY {
            self.best.residual = residual;
            self.best.z.clear();
            self.best.z.extend_from_slice(&self.trial);
            self.best.basis.clear();
            self.best.basis.resize(self.trial.len(), false);
            for &k in &self.support {
                self.best.basis[k] = true;
            }
        }
        residual
    }
}
