//! Path of almost complementary bases, from a complementary dictionary to the next one or to a ray: entering
//! variable, ratio test, tie breaking and control of drift.

use super::kernels::RatioTest;
use super::tolerances::{
    DRIFT_CHECK_INTERVAL, DRIFT_RELATIVE, INFEASIBLE_BASIC, MIN_TIE_UNIT, SINGULAR_PIVOT,
};
use super::{Lemke, LemkeWorkspace};
use crate::problem::Lcp;

/// LemkeEnd of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PathEnd {
    /// z₀ has left: the dictionary is complementary.
    Complementary,
    /// Ray: no row blocks this variable.
    Ray(usize),
    /// Pivot limit reached.
    Budget,
    /// Dictionary had drifted; it was replaced by a complementary one that is not feasible.
    Drifted,
    /// Singular basis.
    Singular,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PivotCounters {
    pub(super) pivots: usize,
    pub(super) refactorizations: usize,
}

impl LemkeWorkspace {
    /// Follows the path from a complementary dictionary until z₀ has left again.
    ///
    /// The first pivot, where z₀ enters, and the last, where it leaves, are counted.
    pub(super) fn follow(
        &mut self,
        lcp: &Lcp,
        lemke: &Lemke,
        budget: usize,
        cost: &mut PivotCounters,
    ) -> PathEnd {
        let z0 = 2 * self.d.n;
        let smallest_pivot = lemke.pivot_tolerance * self.scaled.m_scale;
        self.d.set_entering(z0, smallest_pivot);
        let Some(first) = self.most_negative(lemke.tie_tolerance) else {
            return PathEnd::Complementary;
        };
        let unit = (-self.d.rhs[first]).clamp(MIN_TIE_UNIT, 1.0);
        let mut since_built = cost.pivots;
        let mut row = first;
        let mut entering = z0;
        loop {
            if cost.pivots >= budget {
                return PathEnd::Budget;
            }
            let next = self.complement(self.d.variable(row));
            self.d.exchange(row, entering, next, smallest_pivot);
            cost.pivots += 1;
            let Some(next) = next else {
                return PathEnd::Complementary;
            };
            entering = next;
            if cost.pivots.is_multiple_of(DRIFT_CHECK_INTERVAL) && self.has_drifted(lcp) {
                since_built = cost.pivots;
                if let Some(outcome) = self.rebuild(entering, smallest_pivot, cost) {
                    return outcome;
                }
            }
            row = match self.leaving_row(lemke.tie_tolerance, unit) {
                Some(row) => row,
                None if since_built == cost.pivots => return PathEnd::Ray(entering),
                // rounding may have hidden the blocking row: repeat the ratio test on a rebuilt dictionary
                None => {
                    since_built = cost.pivots;
                    if let Some(outcome) = self.rebuild(entering, smallest_pivot, cost) {
                        return outcome;
                    }
                    match self.leaving_row(lemke.tie_tolerance, unit) {
                        Some(row) => row,
                        None => return PathEnd::Ray(entering),
                    }
                }
            };
        }
    }

    /// Complement of a variable; none for z₀.
    fn complement(&self, variable: usize) -> Option<usize> {
        let n = self.d.n;
        match variable {
            w if w < n => Some(w + n),
            z if z < 2 * n => Some(z - n),
            _ => None,
        }
    }

    /// Row where z₀ enters: the most negative relative to d, and the lexicographically least of those that tie.
    ///
    /// Repeated contacts have equal q up to rounding. Choosing the least to the last bit would leave the rows of the
    /// others lexicographically negative, and the path may then cycle.
    fn most_negative(&self, tie_tolerance: f64) -> Option<usize> {
        let d = &self.d;
        let need = |position: usize| d.rhs[position] / d.column[position];
        // unit vectors in the order of `origin`: the later the one, the smaller the row
        let rows = self.origin.iter().rev().filter_map(|&variable| d.position(variable));
        let rows = rows.filter(|&row| d.rhs[row] < 0.0 && d.column[row] > 0.0);
        let least = rows.clone().fold(0.0, |a: f64, row| a.min(need(row)));
        rows.into_iter().find(|&row| need(row) <= least * (1.0 - tie_tolerance))
    }

    /// Lexicographic ratio test: the row that blocks the entering variable first, in the order of [rhs, B⁻¹].
    ///
    /// B⁻¹ is relative to the basis that the path started from. z₀ leaves whenever it ties.
    fn leaving_row(&mut self, tie_tolerance: f64, unit: f64) -> Option<usize> {
        let RatioTest { least, largest } = self.d.found;
        if least == f64::INFINITY {
            return None;
        }
        let cutoff = least + tie_tolerance * least.max(unit * largest);
        if let Some(row) = self.d.position(2 * self.d.n)
            && self.d.ratio[row] <= cutoff
        {
            return Some(row);
        }
        self.d.within(cutoff, &mut self.ties);
        if self.ties.len() > 1 {
            self.break_ties(tie_tolerance, cutoff);
        }
        if let [only] = self.ties[..] {
            return Some(only);
        }
        // rounding may leave indistinguishable rows: the largest pivot is the safest
        let larger = |&&a: &&usize, &&b: &&usize| self.d.column[b].total_cmp(&self.d.column[a]);
        self.ties.iter().max_by(larger).copied()
    }

    /// Keeps the lexicographically least of the tied rows, one column of B⁻¹ after the other.
    fn break_ties(&mut self, tie_tolerance: f64, cutoff: f64) {
        self.d.gather(&self.ties);
        for k in 0..self.origin.len() {
            let variable = self.origin[k];
            match self.d.position(variable) {
                // a unit vector: the row of the one is the greatest
                Some(row) if self.d.ratio[row] <= cutoff => {
                    self.d.retain(&mut self.ties, |_, position| position != row);
                }
                Some(_) => {}
                None => self.keep_least(variable, tie_tolerance),
            }
            if self.ties.len() <= 1 {
                break;
            }
        }
    }

    /// Keeps the tied rows that are least in the column of B⁻¹ that belongs to `variable`.
    fn keep_least(&mut self, variable: usize, tie_tolerance: f64) {
        self.d.entries(variable, &self.ties, &mut self.entries);
        for (entry, &row) in self.entries.iter_mut().zip(&self.ties) {
            *entry /= self.d.column[row];
        }
        let least = self.entries.iter().fold(f64::INFINITY, |least, &entry| least.min(entry));
        let cutoff = least + tie_tolerance * least.abs().max(1.0);
        let entries = &self.entries;
        self.d.retain(&mut self.ties, |k, _| entries[k] <= cutoff);
    }

    /// Whether the basic variables still satisfy the original equations.
    fn has_drifted(&mut self, lcp: &Lcp) -> bool {
        let n = self.d.n;
        let z0 = self.d.value(2 * n);
        self.take_z();
        self.scaled.w(lcp, &self.z, z0, &mut self.w);
        let size = self.z.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
        // written so that a NaN counts as drift
        !(0..n).all(|k| (self.w[k] - self.d.value(k)).abs() <= DRIFT_RELATIVE * size.max(self.w[k].abs()))
    }

    /// Reads z' off the dictionary.
    pub(super) fn take_z(&mut self) {
        let n = self.d.n;
        self.z.clear();
        self.z.resize(n, 0.0);
        for (z, value) in self.d.basic_z() {
            if z < n {
                self.z[z] = value;
            }
        }
    }

    /// Builds the dictionary of the present almost complementary basis from the scaled data.
    fn rebuild(&mut self, entering: usize, smallest_pivot: f64, cost: &mut PivotCounters) -> Option<PathEnd> {
        cost.refactorizations += 1;
        self.want_present();
        if !self.build() {
            return Some(PathEnd::Singular);
        }
        if self.d.rhs.iter().any(|&value| value < -INFEASIBLE_BASIC) {
            return Some(self.remove_z0(entering));
        }
        self.d.set_entering(entering, smallest_pivot);
        None
    }

    /// Makes the dictionary complementary, whatever its signs: z₀ leaves for the entering variable or its complement,
    /// whichever gives the larger pivot.
    fn remove_z0(&mut self, entering: usize) -> PathEnd {
        let mut best: Option<(f64, usize)> = None;
        let Some(row) = self.d.position(2 * self.d.n) else {
            return PathEnd::Singular;
        };
        for variable in [Some(entering), self.complement(entering)].into_iter().flatten() {
            if !self.d.is_basic(variable) {
                self.d.set_entering(variable, 0.0);
                let size = self.d.column[row].abs();
                if size > best.map_or(SINGULAR_PIVOT, |(size, _)| size) {
                    best = Some((size, variable));
                }
            }
        }
        let Some((_, variable)) = best else {
            return PathEnd::Singular;
        };
        self.d.set_entering(variable, 0.0);
        self.d.exchange(row, variable, None, 0.0);
        PathEnd::Drifted
    }

    /// Makes the requested variables basic, from a dictionary whose basis is w, by elimination with partial pivoting;
    /// `false` if the basis is singular.
    pub(super) fn enter_wanted(&mut self) -> bool {
        let n = self.d.n;
        for variable in n..=2 * n {
            if !self.wanted[variable] {
                continue;
            }
            self.d.set_entering(variable, 0.0);
            let (mut row, mut size) = (None, SINGULAR_PIVOT);
            for i in 0..n {
                let candidate = self.d.column[i].abs();
                if candidate > size && !self.wanted[i] {
                    (row, size) = (Some(i), candidate);
                }
            }
            let Some(row) = row else {
                return false;
            };
            self.d.exchange(row, variable, None, 0.0);
        }
        true
    }
}
