//! Lemke's method with lexicographic degeneracy resolution on a dense LCP.
//!
//! A run follows the path of almost complementary bases of `w = q + M z + d z₀` on a scaled copy of the
//! problem. Whatever it ends in is compared with the original data before it is called a solution.

mod dictionary;
mod kernels;
mod path;
mod scaled;
mod settle;
#[cfg(test)]
mod tests;

use crate::factor::DenseLu;
use crate::problem::Lcp;
use dictionary::Dictionary;
use path::{Cost, Outcome};
use scaled::Scaled;
use serde::{Deserialize, Serialize};
use settle::{Best, TINY, TOLERABLE};

/// Settings of Lemke's method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lemke {
    /// Equilibrate first: `r_i = c_i = 1/√|M_ii|`, rows and columns without diagonal by their neighbours.
    /// Default `true`. The first path then covers rows of friction ten times as much as others, which saves
    /// pivots; should it not end in a solution, d = 1 follows. Without scaling d = 1 from the start, entries of M
    /// far from one meet the tolerances below, and the path depends on the units; q is divided by max(−q) either
    /// way.
    pub scaling: bool,
    /// Smallest pivot [-]: a row blocks the entering variable if its entry is below −`pivot_tolerance` times
    /// the largest entry of that column, taken as one if it is smaller (as max|M| if not even that is one and
    /// nothing was scaled). Default 1e-9, sensible 1e-11 to 1e-7. Smaller: pivots on rounding (redundant
    /// contacts leave 1e-10), wrong bases. Larger: rows that do block are passed over, and the run ends in
    /// false rays or negative variables.
    pub pivot_tolerance: f64,
    /// Two rows tie if their ratios differ by no more than `tie_tolerance` times the largest of the smaller
    /// ratio, the basic variables and one, q having been divided by its most negative entry [-]. Default 1e-9,
    /// sensible 1e-10 to 1e-8. Smaller: rounding breaks ties that z₀ should win, false rays on redundant
    /// contacts. Larger: rows that do not tie are mistaken for ties, and the end has to be repaired.
    pub tie_tolerance: f64,
    /// Most pivots of a run, all its paths together; by default 50 n + 1000. Contact takes 0.5 n to 2.5 n,
    /// Murty's examples 2ⁿ. Too few end good runs as `Budget`; too many only make hopeless ones longer.
    pub max_pivots: Option<usize>,
}

impl Default for Lemke {
    fn default() -> Self {
        Self { scaling: true, pivot_tolerance: 1e-9, tie_tolerance: 1e-9, max_pivots: None }
    }
}

/// Which of each complementary pair is basic: `true` for z.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis(pub Vec<bool>);

/// How a run of Lemke's method ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// z₀ has left the basis, and the original data agree.
    Solved,
    /// Nothing blocks the entering variable: the direction of z along the ray, largest entry one.
    Ray(Vec<f64>),
    /// The pivots are used up.
    Budget,
    /// Pivoting has ended where the original data do not confirm it, and repairs have not helped.
    Stalled,
}

/// What a run of Lemke's method found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) end: End,
    /// The solution, the base of the ray, or the best point seen.
    pub(crate) z: Vec<f64>,
    pub(crate) basis: Basis,
    /// Exchanges, from the one that brings z₀ in to the one that takes it out, both counted.
    pub(crate) pivots: usize,
    /// Dictionaries built anew from the original data because rounding had made them doubtful.
    pub(crate) refactorizations: usize,
    /// The start from the given basis led nowhere and the run began again from z = 0.
    pub(crate) restarted: bool,
    /// Times the run was tried again with other tolerances; again with d = 1 is not counted.
    pub(crate) retries: usize,
}

/// Storage of a run, to be kept between runs: problems of the same size then allocate only what they return.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    scaled: Scaled,
    d: Dictionary,
    lu: DenseLu,
    /// The basis the path started from, in lexicographic order.
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
    best: Best,
    spare_z: Vec<f64>,
    spare_bases: Vec<Vec<bool>>,
}

/// One way to run from z = 0.
struct Attempt {
    /// With the cover that takes contact problems fewer pivots, [`Scaled::choose_cover`].
    biased: bool,
    /// Factors on the tolerances.
    pivot: f64,
    tie: f64,
}

const fn attempt(biased: bool, pivot: f64, tie: f64) -> Attempt {
    Attempt { biased, pivot, tie }
}

/// Ways to run from z = 0, tried in turn while they stall.
///
/// Mass ratios beyond 1e3 leave entries of very different size in one dictionary, of which no one tolerance
/// tells rounding from data. An exhausted budget is not tried again. A ray under the biased cover is not
/// believed but followed by d = 1, whose ray is the one reported.
const ATTEMPTS: [Attempt; 5] = [
    attempt(true, 1.0, 1.0),
    attempt(false, 1.0, 1.0),
    attempt(false, 100.0, 10.0),
    attempt(false, 1000.0, 1.0),
    attempt(false, 10.0, 0.1),
];

/// Paths tried from one starting basis, the first included.
const PATHS: usize = 6;

impl Lemke {
    /// Solves the problem, which must be square, finite and not empty, starting from `warm` if given.
    pub(crate) fn run(&self, lcp: &Lcp, warm: Option<&Basis>) -> Run {
        self.run_in(lcp, warm, &mut Workspace::default())
    }

    /// [`Lemke::run`] in storage that is kept.
    pub(crate) fn run_in(&self, lcp: &Lcp, warm: Option<&Basis>, workspace: &mut Workspace) -> Run {
        let n = lcp.q.len();
        let mut cost = Cost::default();
        let mut restarted = false;
        let budget = self.max_pivots.unwrap_or(50 * n + 1000);
        workspace.scaled.prepare(lcp, self.scaling);
        workspace.scaled.write(lcp, &mut workspace.d);
        if let Some(Basis(basis)) = warm.filter(|basis| basis.0.len() == n) {
            if workspace.solves(lcp, basis) {
                return workspace.report(End::Solved, cost, false);
            }
            workspace.want(basis);
            // a start that needs more pivots than a run from z = 0 is no start
            let short = budget.min(2 * n + 50);
            if workspace.build() && self.follow_paths(lcp, workspace, false, short, &mut cost) == End::Solved
            {
                return workspace.report(End::Solved, cost, false);
            }
            restarted = true;
        }
        workspace.best.forget();
        let (mut end, mut retries) = (End::Stalled, 0);
        for (attempt, Attempt { biased, pivot, tie }) in ATTEMPTS.into_iter().enumerate() {
            if biased && !workspace.scaled.is_biased() {
                continue;
            }
            let (pivot_tolerance, tie_tolerance) = (pivot * self.pivot_tolerance, tie * self.tie_tolerance);
            let lemke = Self { pivot_tolerance, tie_tolerance, ..*self };
            workspace.scaled.choose_cover(biased);
            workspace.d.reset(&workspace.scaled.q);
            retries = attempt.saturating_sub(1);
            end = lemke.follow_paths(lcp, workspace, attempt == 1, budget, &mut cost);
            if end != End::Stalled {
                break;
            }
        }
        Run { retries, ..workspace.report(end, cost, restarted) }
    }

    /// Follows paths from the present complementary dictionary until one ends in a solution.
    ///
    /// `Ray` is only said of the first path, and only if `trust_rays`: a path that repairs another has a cover
    /// of its own, and with tolerances other than those asked for a ray means little.
    fn follow_paths(
        &self,
        lcp: &Lcp,
        workspace: &mut Workspace,
        trust_rays: bool,
        budget: usize,
        cost: &mut Cost,
    ) -> End {
        for path in 0..PATHS {
            workspace.cover(lcp, path == 0 && workspace.starts_at_w());
            match workspace.follow(lcp, self, budget, cost) {
                Outcome::Complementary if workspace.settle(lcp) <= TINY => return End::Solved,
                Outcome::Complementary => {
                    // rebuild where the path ended; what is negative there is repaired by another path
                    cost.refactorizations += 1;
                    workspace.want_present();
                    if !workspace.build() {
                        break;
                    }
                }
                Outcome::Ray(entering) => {
                    // z₀ may have reached zero without leaving
                    if workspace.settle(lcp) <= TINY {
                        return End::Solved;
                    }
                    if path == 0 && trust_rays {
                        return workspace.ray(entering);
                    }
                    break;
                }
                Outcome::Budget => {
                    workspace.settle(lcp);
                    return End::Budget;
                }
                Outcome::Drifted => {}
                Outcome::Lost => break,
            }
        }
        if workspace.best.residual <= TOLERABLE { End::Solved } else { End::Stalled }
    }
}

impl Workspace {
    fn starts_at_w(&self) -> bool {
        (0..self.d.n).all(|w| self.d.is_basic(w))
    }

    /// Asks for the complementary basis with these z.
    fn want(&mut self, basis: &[bool]) {
        self.wanted.clear();
        self.wanted.extend(basis.iter().map(|z| !z).chain(basis.iter().copied()).chain([false]));
    }

    /// Asks for the present basis.
    fn want_present(&mut self) {
        self.wanted.clear();
        self.wanted.extend((0..=2 * self.d.n).map(|variable| self.d.is_basic(variable)));
    }

    /// Builds the wanted dictionary from the scaled data; `false` if its basis is singular.
    fn build(&mut self) -> bool {
        self.d.reset(&self.scaled.q);
        self.enter_wanted()
    }

    /// Covers the present complementary dictionary.
    ///
    /// Where w is basic with the d that was chosen; elsewhere z₀ enters every row with coefficient one: in
    /// terms of the original, d = 1 on basic w minus M' times 1 on basic z.
    fn cover(&mut self, lcp: &Lcp, at_w: bool) {
        let n = self.d.n;
        // degenerate rows come last in contact problems (the friction bounds), so the order starts there
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

    /// The ray along which the entering variable grows, and its base.
    fn ray(&mut self, entering: usize) -> End {
        let n = self.d.n;
        self.take_z();
        self.best.z.clear();
        self.best.z.extend_from_slice(&self.z);
        self.best.basis.clear();
        self.best.basis.extend((n..2 * n).map(|z| self.d.is_basic(z)));
        self.d.look_at(entering, 0.0);
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
        End::Ray(direction)
    }

    /// The best point in the units of the original.
    fn report(&mut self, end: End, cost: Cost, restarted: bool) -> Run {
        let scale = self.scaled.q_scale;
        let (mut z, mut basis) =
            (std::mem::take(&mut self.spare_z), self.spare_bases.pop().unwrap_or_default());
        z.clear();
        z.extend(self.best.z.iter().zip(&self.scaled.column).map(|(z, c)| z.max(0.0) * c * scale));
        basis.clone_from(&self.best.basis);
        // nothing was considered: the path was lost before its end
        z.resize(self.scaled.q.len(), 0.0);
        basis.resize(self.scaled.q.len(), false);
        // a solution that no number can hold is none
        let end = if z.iter().all(|z| z.is_finite()) || end != End::Solved { end } else { End::Stalled };
        Run {
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

impl Workspace {
    /// Takes the z of a run back.
    pub(crate) fn recycle_z(&mut self, z: Vec<f64>) {
        self.spare_z = z;
    }

    /// Takes the basis of a run back.
    pub(crate) fn recycle(&mut self, basis: Basis) {
        self.spare_bases.push(basis.0);
    }
}
