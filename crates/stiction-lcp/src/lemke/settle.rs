//! What a path has found, held against the original data and corrected by it.

use super::Workspace;
use crate::problem::Lcp;

/// The point with the smallest residual so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Best {
    pub(super) residual: f64,
    pub(super) z: Vec<f64>,
    pub(super) basis: Vec<bool>,
}

impl Best {
    pub(super) fn forget(&mut self) {
        self.residual = f64::INFINITY;
        self.z.clear();
        self.basis.clear();
    }
}

/// Points with max|min(z', w')| up to this, q' having a most negative entry of one, are not worth a correction [-].
///
/// Not relative to z': the certificate measures in units of q, and a body a thousand times heavier than what it
/// stands on has z' of 1e3. Smaller values correct rounding; larger ones fail certificates at such mass ratios.
const PLAIN: f64 = 1e-13;

/// Residuals, max|min(z', w')| / max(1, max z'), up to this end the run. Smaller values send well solved problems into repairs.
pub(super) const TINY: f64 = 1e-12;

/// Residuals up to this are still called a solution when repairs do not improve them; the certificate decides.
pub(super) const TOLERABLE: f64 = 1e-10;

impl Workspace {
    /// Takes z from the dictionary, corrects it if need be and returns the relative natural residual.
    pub(super) fn settle(&mut self, lcp: &Lcp) -> f64 {
        let n = self.d.n;
        self.take_z();
        self.trial.clear();
        self.trial.extend_from_slice(&self.z);
        self.support.clear();
        self.support.extend((0..n).filter(|&k| self.d.is_basic(n + k)));
        let mut residual = self.consider(lcp);
        // the dictionary holds the inverse of its basis: refining with it needs no factorization
        for _ in 0..2 {
            if residual * self.size <= PLAIN {
                return residual;
            }
            self.correct_by_dictionary();
            residual = residual.min(self.consider(lcp));
        }
        if residual <= TINY {
            return residual;
        }
        self.solve_support(lcp).map_or(residual, |solved| solved.min(residual))
    }

    /// Whether the complementary basis with these z solves the problem.
    pub(super) fn solves(&mut self, lcp: &Lcp, basis: &[bool]) -> bool {
        self.best.forget();
        self.support.clear();
        self.support.extend((0..basis.len()).filter(|&k| basis[k]));
        self.solve_support(lcp).is_some_and(|residual| residual <= TINY)
    }

    /// Solves `w = 0` on the support by LU with two steps of refinement; the least residual, none if singular.
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
            if least * self.size <= PLAIN {
                break;
            }
        }
        Some(least)
    }

    /// Subtracts `(M'_BB)⁻¹ w_B` from `z_B`, with the inverse at hand.
    fn correct_by_dictionary(&mut self) {
        let (n, w, trial) = (self.d.n, &self.w, &mut self.trial);
        self.d.solve(
            |row| w[row],
            |z, change| {
                // on a ray z₀ is still basic, and no part of z
                if z < n {
                    trial[z] -= change;
                }
            },
        );
    }

    /// The relative natural residual of the trial point, remembered if it is the least so far.
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
