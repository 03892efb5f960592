//! Lemke's method for a dense LCP, with a lexicographic ratio test.
//!
//! A run follows the path of almost complementary bases of `w = q + M z + d z₀`, z₀ the artificial variable and d its
//! column (the covering vector), on a scaled copy of the problem. Its result is compared with the original data
//! before it is called a solution.

mod dictionary;
mod kernels;
mod path;
mod refine;
mod scaled;
#[cfg(test)]
mod tests;
mod tolerances;

use crate::factor::DenseLu;
use crate::problem::Lcp;
use dictionary::Dictionary;
use path::{PathEnd, PivotCounters};
use refine::BestPoint;
use scaled::ScaledLcp;
use serde::{Deserialize, Serialize};
use tolerances::{ACCEPTED_RESIDUAL, MAX_PATHS, SOLVED_RESIDUAL};

/// Settings of Lemke's method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lemke {
    /// Whether to equilibrate first: `r_i = c_i = 1/√|M_ii|`, rows and columns without diagonal by their
    /// neighbours. Default `true`. The first path then covers rows of friction ten times as much as others, which
    /// saves pivots; if it does not end in a solution, d = 1 follows. Without scaling, d = 1 from the start, entries
    /// of M far from one meet the tolerances below, and the path depends on the units. q is divided by max(−q) either
    /// way.
    pub scaling: bool,
    /// Pivot tolerance [-]: a row blocks the entering variable if its entry is below −`pivot_tolerance` times the
    /// largest entry of that column, taken as at least one (as at least max|M| if that is below one and nothing was
    /// scaled). Default 1e-9, sensible 1e-11 to 1e-7. Smaller: pivots on rounding (redundant contacts leave 1e-10),
    /// wrong bases. Larger: rows that do block are ignored, and the run ends in false rays or negative variables.
    pub pivot_tolerance: f64,
    /// Tie tolerance [-]: two rows of the ratio test tie if their ratios differ by no more than `tie_tolerance` times
    /// the largest of the smaller ratio, the basic variables and one, q having been divided by its most negative
    /// entry. Default 1e-9, sensible 1e-10 to 1e-8. Smaller: rounding breaks ties that z₀ should win, false rays on
    /// redundant contacts. Larger: rows that do not tie are mistaken for ties, and the end has to be repaired.
    pub tie_tolerance: f64,
    /// Limit on the pivots of a run, all its paths together; by default 50 n + 1000. Contact takes 0.5 n to 2.5 n,
    /// Murty's examples 2ⁿ. Too few end good runs as `Budget`; too many only prolong hopeless ones.
    pub max_pivots: Option<usize>,
}

impl Default for Lemke {
    fn default() -> Self {
        Self { scaling: true, pivot_tolerance: 1e-9, tie_tolerance: 1e-9, max_pivots: None }
    }
}

/// Complementary basis: for each pair (w, z), `true` if z is basic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis(pub Vec<bool>);

/// LemkeEnd of a run of Lemke's method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LemkeEnd {
    /// z₀ has left the basis, and the original data confirm the point.
    Solved,
    /// Secondary ray: no row blocks the entering variable. Direction of z along the ray, largest entry one.
    Ray(Vec<f64>),
    /// Pivot limit reached.
    Budget,
    /// Pivoting has ended at a point that the original data do not confirm, and repairs have not helped.
    Stalled,
}

/// Result of a run of Lemke's method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LemkeRun {
    pub(crate) end: LemkeEnd,
    /// Solution, base of the ray, or best point found.
    pub(crate) z: Vec<f64>,
    pub(crate) basis: Basis,
    /// Pivots, including the first, where z₀ enters, and the last, where it leaves.
    pub(crate) pivots: usize,
    /// Dictionaries rebuilt from the original data because of rounding.
    pub(crate) refactorizations: usize,
    /// Whether the warm start failed and the run was repeated from z = 0.
    pub(crate) restarted: bool,
    /// Number of repetitions with other tolerances; a repetition with d = 1 is not counted.
    pub(crate) retries: usize,
}

/// Buffers of a run, kept between runs: problems of the same size then allocate only what they return.
#[derive(Debug, Clone, Default)]
pub(crate) struct LemkeWorkspace {
    scaled: ScaledLcp,
    d: Dictionary,
    lu: DenseLu,
    /// Basis that the path started from, in lexicographic order.
    origin: Vec<usize>,
    ties: Vec<usize>,
    entries: Vec<f64>,
    wanted: Vec<bool>,
    z: Vec<f64>,
    w: Vec<f64>,
    support: Vec<usize>,
    correction: Vec<f64>,
    trial: Vec<f64>,
    /// Largest entry of the trial point, at least one.
    size: f64,
    best: BestPoint,
    spare_z: Vec<f64>,
    spare_bases: Vec<Vec<bool>>,
}

/// Attempt to solve from z = 0.
struct LemkeAttempt {
    /// Whether to use the cover that takes contact problems fewer pivots, [`ScaledLcp::choose_cover`].
    biased: bool,
    /// Factor on the pivot tolerance.
    pivot: f64,
    /// Factor on the tie tolerance.
    tie: f64,
}

const fn attempt(biased: bool, pivot: f64, tie: f64) -> LemkeAttempt {
    LemkeAttempt { biased, pivot, tie }
}

/// Attempts from z = 0, made in turn while they stall.
///
/// Mass ratios beyond 1e3 leave entries of very different size in one dictionary: no single tolerance separates
/// rounding from data. A run that reached its pivot limit is not repeated. A ray under the biased cover is not
/// trusted: d = 1 follows, and its ray is reported.
const ATTEMPTS: [LemkeAttempt; 5] = [
    attempt(true, 1.0, 1.0),
    attempt(false, 1.0, 1.0),
    attempt(false, 100.0, 10.0),
    attempt(false, 1000.0, 1.0),
    attempt(false, 10.0, 0.1),
];

impl Lemke {
    /// Solves the problem, which must be square, finite and not empty, starting from `warm` if given.
    pub(crate) fn run(&self, lcp: &Lcp, warm: Option<&Basis>) -> LemkeRun {
        self.run_in(lcp, warm, &mut LemkeWorkspace::default())
    }

    /// Solves as [`Lemke::run`], in buffers that are kept.
    pub(crate) fn run_in(&self, lcp: &Lcp, warm: Option<&Basis>, workspace: &mut LemkeWorkspace) -> LemkeRun {
        let n = lcp.q.len();
        let mut cost = PivotCounters::default();
        let mut restarted = false;
        let budget = self.max_pivots.unwrap_or(50 * n + 1000);
        workspace.scaled.prepare(lcp, self.scaling);
        workspace.scaled.write(lcp, &mut workspace.d);
        if let Some(Basis(basis)) = warm.filter(|basis| basis.0.len() == n) {
            if workspace.solves(lcp, basis) {
                return workspace.report(LemkeEnd::Solved, cost, false);
            }
            workspace.want(basis);
            // a warm start that needs more pivots than a run from z = 0 is given up
            let short = budget.min(2 * n + 50);
            if workspace.build()
                && self.follow_paths(lcp, workspace, false, short, &mut cost) == LemkeEnd::Solved
            {
                return workspace.report(LemkeEnd::Solved, cost, false);
            }
            restarted = true;
        }
        workspace.best.forget();
        let (mut end, mut retries) = (LemkeEnd::Stalled, 0);
        for (attempt, LemkeAttempt { biased, pivot, tie }) in ATTEMPTS.into_iter().enumerate() {
            if biased && !workspace.scaled.is_biased() {
                continue;
            }
            let (pivot_tolerance, tie_tolerance) = (pivot * self.pivot_tolerance, tie * self.tie_tolerance);
            let lemke = Self { pivot_tolerance, tie_tolerance, ..*self };
            workspace.scaled.choose_cover(biased);
            workspace.d.reset(&workspace.scaled.q);
            retries = attempt.saturating_sub(1);
            end = lemke.follow_paths(lcp, workspace, attempt == 1, budget, &mut cost);
            if end != LemkeEnd::Stalled {
                break;
            }
        }
        LemkeRun { retries, ..workspace.report(end, cost, restarted) }
    }

    /// Follows paths from the present complementary dictionary until one ends in a solution.
    ///
    /// `Ray` is reported for the first path only, and only if `trust_rays`: a path that repairs another has a cover of
    /// its own, and under tolerances other than the settings a ray proves little.
    fn follow_paths(
        &self,
        lcp: &Lcp,
        workspace: &mut LemkeWorkspace,
        trust_rays: bool,
        budget: usize,
        cost: &mut PivotCounters,
    ) -> LemkeEnd {
        for path in 0..MAX_PATHS {
            workspace.cover(lcp, path == 0 && workspace.starts_at_w());
            match workspace.follow(lcp, self, budget, cost) {
                PathEnd::Complementary if workspace.refine(lcp) <= SOLVED_RESIDUAL => {
                    return LemkeEnd::Solved;
                }
                PathEnd::Complementary => {
                    // rebuild where the path ended; another path repairs negative variables
                    cost.refactorizations += 1;
                    workspace.want_present();
                    if !workspace.build() {
                        break;
                    }
                }
                PathEnd::Ray(entering) => {
                    // z₀ may have reached zero without leaving
                    if workspace.refine(lcp) <= SOLVED_RESIDUAL {
                        return LemkeEnd::Solved;
                    }
                    if path == 0 && trust_rays {
                        return workspace.ray(entering);
                    }
                    break;
                }
                PathEnd::Budget => {
                    workspace.refine(lcp);
                    return LemkeEnd::Budget;
                }
                PathEnd::Drifted => {}
                PathEnd::Singular => break,
            }
        }
        if workspace.best.residual <= ACCEPTED_RESIDUAL { LemkeEnd::Solved } else { LemkeEnd::Stalled }
    }
}

impl LemkeWorkspace {
    /// Whether all w are basic.
    fn starts_at_w(&self) -> bool {
        (0..self.d.n).all(|w| self.d.is_basic(w))
    }

    /// Requests the complementary basis with these z.
    fn want(&mut self, basis: &[bool]) {
        self.wanted.clear();
        self.wanted.extend(basis.iter().map(|z| !z).chain(basis.iter().copied()).chain([false]));
    }

    /// Requests the present basis.
    fn want_present(&mut self) {
        self.wanted.clear();
        self.wanted.extend((0..=2 * self.d.n).map(|variable| self.d.is_basic(variable)));
    }

    /// Builds the requested dictionary from the scaled data; `false` if its basis is singular.
    fn build(&mut self) -> bool {
        self.d.reset(&self.scaled.q);
        self.enter_wanted()
    }

    /// Sets the column d of the artificial variable for the present complementary dictionary.
    ///
    /// If all w are basic, d is the one chosen. Otherwise z₀ enters every row with coefficient one: in terms of the
    /// original, d = 1 on basic w minus M' times 1 on basic z.
    fn cover(&mut self, lcp: &Lcp, at_w: bool) {
        let n = self.d.n;
        // degenerate rows come last in contact problems (the friction bounds): the lexicographic order starts there
        self.origin.clear();
        self.origin.extend((0..n).rev().map(|k| if self.d.is_basic(k) { k } else { n + k }));
        if !at_w {
            self.z.clear();
            self.z.extend((n..2 * n).map(|z| if self.d.is_basic(z) { 1.0 } else { 0.0 }));
            self.scaled.w(lcp, &self.z, 0.0, &mut self.w);
            for k in 0..n {
                self.scaled.cover[k] = 1.0 - self.z[k] - (self.w[k] - self.scaled.q[k]);
            }
        }
        self.d.set_cover(&self.scaled.cover);
    }

    /// Ray along which the entering variable grows, and its base.
    fn ray(&mut self, entering: usize) -> LemkeEnd {
        let n = self.d.n;
        self.take_z();
        self.best.z.clear();
        self.best.z.extend_from_slice(&self.z);
        self.best.basis.clear();
        self.best.basis.extend((n..2 * n).map(|z| self.d.is_basic(z)));
        self.d.set_entering(entering, 0.0);
        let mut direction = vec![0.0; n];
        for (z, x) in direction.iter_mut().enumerate() {
            if let Some(position) = self.d.position(n + z) {
                *x = self.d.column[position].max(0.0) * self.scaled.column[z];
            }
        }
        if (n..2 * n).contains(&entering) {
            direction[entering - n] = self.scaled.column[entering - n];
        }
        let largest = direction.iter().fold(0.0, |a: f64, &b| a.max(b));
        if largest > 0.0 && largest.is_finite() {
            for x in &mut direction {
                *x /= largest;
            }
        }
        LemkeEnd::Ray(direction)
    }

    /// BestPoint point in the units of the original.
    fn report(&mut self, end: LemkeEnd, cost: PivotCounters, restarted: bool) -> LemkeRun {
        let scale = self.scaled.q_scale;
        let (mut z, mut basis) =
            (std::mem::take(&mut self.spare_z), self.spare_bases.pop().unwrap_or_default());
        z.clear();
        z.extend(self.best.z.iter().zip(&self.scaled.column).map(|(z, c)| z.max(0.0) * c * scale));
        basis.clone_from(&self.best.basis);
        // no point was considered: the path ended in a singular basis
        z.resize(self.scaled.q.len(), 0.0);
        basis.resize(self.scaled.q.len(), false);
        // a solution that overflows is none
        let end =
            if z.iter().all(|z| z.is_finite()) || end != LemkeEnd::Solved { end } else { LemkeEnd::Stalled };
        LemkeRun {
            end,
            z,
            basis: Basis(basis),
            pivots: cost.pivots,
            refactorizations: cost.refactorizations,
            restarted,
            retries: 0,
        }
    }
}

impl LemkeWorkspace {
    /// Reuses the z of a run.
    pub(crate) fn recycle_z(&mut self, z: Vec<f64>) {
        self.spare_z = z;
    }

    /// Reuses the basis of a run.
    pub(crate) fn recycle(&mut self, basis: Basis) {
        self.spare_bases.push(basis.0);
    }
}
