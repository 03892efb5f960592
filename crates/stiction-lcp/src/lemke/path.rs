//! The path of almost complementary bases: from a complementary dictionary to the next one, or to a ray.

use super::kernels::Ratios;
use super::{Lemke, Workspace};
use crate::problem::Lcp;

/// Pivots between two comparisons of the dictionary with the original data. One costs as much as a pivot.
const DRIFT_CHECK: usize = 64;

/// The dictionary is built anew when its basic variables miss `w = q' + M' z' + d z₀` by more [-].
///
/// In units of q' (most negative entry one), times max(1, max z', the variable). Below 1e-13 rounding triggers it
/// on every check, above 1e-8 it no longer precedes the ties (1e-9) that drift would decide.
const DRIFT: f64 = 1e-10;

/// A basic variable that a fresh dictionary shows below minus this makes the path start again from there [-].
///
/// Ties within 1e-9 leave infeasibilities of that size behind, which the end of the run repairs; larger ones
/// are the work of rounding and would be carried along.
const INFEASIBLE: f64 = 1e-7;

/// An entry below this cannot be pivoted on when a dictionary is built at a given basis [-].
const SINGULAR: f64 = 1e-12;

/// How a path ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// z₀ has left: the dictionary is complementary.
    Complementary,
    /// Nothing blocks this variable.
    Ray(usize),
    /// The pivots are used up.
    Budget,
    /// The dictionary had drifted: a complementary one, not feasible, has taken its place.
    Drifted,
    /// The basis has become singular.
    Lost,
}

/// What a run has cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) pivots: usize,
    pub(super) refactorizations: usize,
}

impl Workspace {
    /// Follows the path from a complementary dictionary until z₀ has left again.
    ///
    /// The first pivot brings z₀ in; it counts, and so does the last, which takes z₀ out.
    pub(super) fn follow(&mut self, lcp: &Lcp, lemke: &Lemke, budget: usize, cost: &mut Cost) -> Outcome {
        let z0 = 2 * self.d.n;
        let smallest_pivot = lemke.pivot_tolerance * self.scaled.m_scale;
        self.d.look_at(z0, smallest_pivot);
        let Some(first) = self.most_negative(lemke.tie_tolerance) else {
            return Outcome::Complementary;
        };
        // a path that starts close to feasibility must not end before it begins
        let unit = (-self.d.rhs[first]).clamp(1e-5, 1.0);
        let mut since_built = cost.pivots;
        let mut row = first;
        let mut entering = z0;
        loop {
            if cost.pivots >= budget {
                return Outcome::Budget;
            }
            let next = self.complement(self.d.variable(row));
            self.d.exchange(row, entering, next, smallest_pivot);
            cost.pivots += 1;
            let Some(next) = next else {
                return Outcome::Complementary;
            };
            entering = next;
            if cost.pivots.is_multiple_of(DRIFT_CHECK) && self.has_drifted(lcp) {
                since_built = cost.pivots;
                if let Some(outcome) = self.rebuild(entering, smallest_pivot, cost) {
                    return outcome;
                }
            }
            row = match self.leaving_row(lemke.tie_tolerance, unit) {
                Some(row) => row,
                None if since_built == cost.pivots => return Outcome::Ray(entering),
                // rounding may have hidden the row that blocks: look again with fresh numbers
                None => {
                    since_built = cost.pivots;
                    if let Some(outcome) = self.rebuild(entering, smallest_pivot, cost) {
                        return outcome;
                    }
                    match self.leaving_row(lemke.tie_tolerance, unit) {
                        Some(row) => row,
                        None => return Outcome::Ray(entering),
                    }
                }
            };
        }
    }

    /// The other variable of a pair; none for z₀.
    fn complement(&self, variable: usize) -> Option<usize> {
        let n = self.d.n;
        match variable {
            w if w < n => Some(w + n),
            z if z < 2 * n => Some(z - n),
            _ => None,
        }
    }

    /// The row for z₀ to enter: that which needs it most, and the lexicographically least of those that tie.
    ///
    /// Repeated contacts have equal q up to rounding; picking the least to the last bit would leave the rows
    /// of the others lexicographically negative, and the path may then run in a circle.
    fn most_negative(&self, tie_tolerance: f64) -> Option<usize> {
        let d = &self.d;
        let need = |position: usize| d.rhs[position] / d.column[position];
        // unit vectors in the order of `origin`: the later the one, the smaller the row
        let rows = self.origin.iter().rev().filter_map(|&variable| d.position(variable));
        let rows = rows.filter(|&row| d.rhs[row] < 0.0 && d.column[row] > 0.0);
        let least = rows.clone().fold(0.0, |a: f64, row| a.min(need(row)));
        rows.into_iter().find(|&row| need(row) <= least * (1.0 - tie_tolerance))
    }

    /// The row that blocks the entering variable first, in the lexicographic order of [rhs, B⁻¹].
    ///
    /// B⁻¹ is relative to the basis the path started from. z₀ leaves whenever it ties.
    fn leaving_row(&mut self, tie_tolerance: f64, unit: f64) -> Option<usize> {
        let Ratios { least, largest } = self.d.found;
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
        // rounding may leave rows that cannot be told apart: the largest pivot is the safest
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

    /// Of the tied rows, keeps those least in the column of B⁻¹ that belongs to `variable`.
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
        !(0..n).all(|k| (self.w[k] - self.d.value(k)).abs() <= DRIFT * size.max(self.w[k].abs()))
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
    fn rebuild(&mut self, entering: usize, smallest_pivot: f64, cost: &mut Cost) -> Option<Outcome> {
        cost.refactorizations += 1;
        self.want_present();
        if !self.build() {
            return Some(Outcome::Lost);
        }
        if self.d.rhs.iter().any(|&value| value < -INFEASIBLE) {
            return Some(self.take_z0_out(entering));
        }
        self.d.look_at(entering, smallest_pivot);
        None
    }

    /// Makes the dictionary complementary, whatever its signs, by the better of the two ways.
    fn take_z0_out(&mut self, entering: usize) -> Outcome {
        let mut best: Option<(f64, usize)> = None;
        let Some(row) = self.d.position(2 * self.d.n) else {
            return Outcome::Lost;
        };
        for variable in [Some(entering), self.complement(entering)].into_iter().flatten() {
            if !self.d.is_basic(variable) {
                self.d.look_at(variable, 0.0);
                let size = self.d.column[row].abs();
                if size > best.map_or(SINGULAR, |(size, _)| size) {
                    best = Some((size, variable));
                }
            }
        }
        let Some((_, variable)) = best else {
            return Outcome::Lost;
        };
        self.d.look_at(variable, 0.0);
        self.d.exchange(row, variable, None, 0.0);
        Outcome::Drifted
    }

    /// Brings the wanted variables into a dictionary whose basis is w, in exchange for unwanted ones.
    ///
    /// Elimination with partial pivoting; `false` if the basis is singular.
    pub(super) fn enter_wanted(&mut self) -> bool {
        let n = self.d.n;
        for variable in n..=2 * n {
            if !self.wanted[variable] {
                continue;
            }
            self.d.look_at(variable, 0.0);
            let (mut row, mut size) = (None, SINGULAR);
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
