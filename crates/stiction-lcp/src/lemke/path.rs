//! The path of almost complementary bases: from a complementary dictionary to the next one, or to a ray.

use super::dictionary::Place;
use super::{Lemke, Workspace};
use crate::problem::Lcp;

/// Pivots between two comparisons of the dictionary with the original data. One costs as much as a pivot.
const DRIFT_CHECK: usize = 64;

/// The dictionary is built anew when its basic variables miss `w = q' + M' z' + d z₀` by more [-].
///
/// In units of q' (largest entry one), times max(1, max z'). Below 1e-13 rounding triggers it on every check,
/// above 1e-8 it no longer precedes the ties (1e-9) that drift would decide.
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
    /// Nothing blocks the variable of this column.
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
        let Some(first) = self.most_negative(lemke.tie_tolerance) else {
            return Outcome::Complementary;
        };
        let smallest_pivot = lemke.pivot_tolerance * self.scaled.m_scale;
        // a path that starts close to feasibility must not end before it begins
        let unit = (-self.d.rhs[first]).clamp(1e-5, 1.0);
        let z0 = 2 * self.d.n;
        let mut since_built = cost.pivots;
        let mut row = first;
        let mut entering = z0;
        self.look_at(z0, smallest_pivot);
        loop {
            if cost.pivots >= budget {
                return Outcome::Budget;
            }
            let leaving = self.d.basic[row];
            let next = self.complement(leaving);
            if let Place::Column(column) = self.d.place(entering) {
                self.d.exchange(row, column, next, smallest_pivot);
            }
            cost.pivots += 1;
            let Some(next) = next else {
                return Outcome::Complementary;
            };
            entering = next;
            if cost.pivots.is_multiple_of(DRIFT_CHECK) && self.has_drifted(lcp) {
                since_built = cost.pivots;
                if let Some(outcome) = self.rebuild(lcp, entering, smallest_pivot, cost) {
                    return outcome;
                }
            }
            row = match self.leaving_row(lemke.tie_tolerance, unit) {
                Some(row) => row,
                None if since_built == cost.pivots => return self.unblocked(entering),
                // rounding may have hidden the row that blocks: look again with fresh numbers
                None => {
                    since_built = cost.pivots;
                    if let Some(outcome) = self.rebuild(lcp, entering, smallest_pivot, cost) {
                        return outcome;
                    }
                    match self.leaving_row(lemke.tie_tolerance, unit) {
                        Some(row) => row,
                        None => return self.unblocked(entering),
                    }
                }
            };
        }
    }

    fn unblocked(&self, entering: usize) -> Outcome {
        match self.d.place(entering) {
            Place::Column(column) => Outcome::Ray(column),
            Place::Row(_) => Outcome::Lost,
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

    pub(super) fn look_at(&mut self, variable: usize, smallest_pivot: f64) {
        if let Place::Column(column) = self.d.place(variable) {
            self.d.look_at(column, smallest_pivot);
        }
    }

    /// The row for z₀ to enter: the most negative, and the lexicographically least of those that tie.
    ///
    /// Repeated contacts have equal q up to rounding; picking the least to the last bit would leave the rows
    /// of the others lexicographically negative, and the path may then run in a circle.
    fn most_negative(&self, tie_tolerance: f64) -> Option<usize> {
        let rhs = &self.d.rhs[..self.d.n];
        let least = rhs.iter().fold(0.0, |a: f64, &b| a.min(b));
        let cutoff = least * (1.0 - tie_tolerance);
        // unit vectors in the order of `origin`: the later the one, the smaller the row
        let rows = self.origin.iter().rev().filter_map(|&variable| match self.d.place(variable) {
            Place::Row(row) => Some(row),
            Place::Column(_) => None,
        });
        rows.filter(|&row| rhs[row] < 0.0).find(|&row| rhs[row] <= cutoff)
    }

    /// The row that blocks the entering variable first, in the lexicographic order of [rhs, B⁻¹].
    ///
    /// B⁻¹ is relative to the basis the path started from. z₀ leaves whenever it ties.
    fn leaving_row(&mut self, tie_tolerance: f64, unit: f64) -> Option<usize> {
        let least = self.d.least_ratio;
        if least == f64::INFINITY {
            return None;
        }
        let largest = self.d.rhs.iter().fold(1.0, |a: f64, &b| if b > a { b } else { a });
        let cutoff = least + tie_tolerance * least.max(unit * largest);
        if let Place::Row(row) = self.d.place(2 * self.d.n)
            && self.d.ratio[row] <= cutoff
        {
            return Some(row);
        }
        self.ties.clear();
        for (i, &ratio) in self.d.ratio.iter().enumerate() {
            if ratio <= cutoff {
                self.ties.push(i);
            }
        }
        let mut k = 0;
        while self.ties.len() > 1 && k < self.origin.len() {
            self.keep_least(self.origin[k], tie_tolerance);
            k += 1;
        }
        // rounding may leave rows that cannot be told apart: the largest pivot is the safest
        let larger = |&&a: &&usize, &&b: &&usize| self.d.column[b].total_cmp(&self.d.column[a]);
        self.ties.iter().max_by(larger).copied()
    }

    /// Of the tied rows, keeps those least in the column of B⁻¹ that belongs to `variable`.
    fn keep_least(&mut self, variable: usize, tie_tolerance: f64) {
        let d = &self.d;
        match d.place(variable) {
            // a unit vector: the row of the one is the greatest
            Place::Row(row) => self.ties.retain(|&i| i != row),
            Place::Column(column) => {
                let value = |i: usize| d.entry(i, column) / d.column[i];
                let least = self.ties.iter().fold(f64::INFINITY, |least, &i| least.min(value(i)));
                let cutoff = least + tie_tolerance * least.abs().max(1.0);
                self.ties.retain(|&i| value(i) <= cutoff);
            }
        }
    }

    /// Whether the basic variables still satisfy the original equations.
    fn has_drifted(&mut self, lcp: &Lcp) -> bool {
        let n = self.d.n;
        let z0 = self.value(2 * n);
        self.take_z();
        self.scaled.w(lcp, &self.z, z0, &mut self.w);
        let size = self.z.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
        // written so that a NaN counts as drift
        !(0..n).all(|k| (self.w[k] - self.value(k)).abs() <= DRIFT * size)
    }

    fn value(&self, variable: usize) -> f64 {
        match self.d.place(variable) {
            Place::Row(row) => self.d.rhs[row],
            Place::Column(_) => 0.0,
        }
    }

    /// Reads z' off the dictionary.
    pub(super) fn take_z(&mut self) {
        let n = self.d.n;
        self.z.clear();
        self.z.resize(n, 0.0);
        for (&variable, &value) in self.d.basic.iter().zip(&self.d.rhs) {
            if (n..2 * n).contains(&variable) {
                self.z[variable - n] = value;
            }
        }
    }

    /// Builds the dictionary of the present almost complementary basis from the original data.
    fn rebuild(
        &mut self,
        lcp: &Lcp,
        entering: usize,
        smallest_pivot: f64,
        cost: &mut Cost,
    ) -> Option<Outcome> {
        cost.refactorizations += 1;
        self.wanted.clear();
        self.wanted.resize(2 * self.d.n + 1, false);
        for &variable in &self.d.basic {
            self.wanted[variable] = true;
        }
        self.scaled.write(lcp, &mut self.d);
        self.d.set_column(self.d.n, |i| self.scaled.cover[i]);
        if !self.enter_wanted() {
            return Some(Outcome::Lost);
        }
        if self.d.rhs.iter().any(|&value| value < -INFEASIBLE) {
            return Some(self.take_z0_out(entering));
        }
        self.look_at(entering, smallest_pivot);
        None
    }

    /// Makes the dictionary complementary, whatever its signs, by the better of the two ways.
    fn take_z0_out(&mut self, entering: usize) -> Outcome {
        let mut best: Option<(f64, usize)> = None;
        let Place::Row(row) = self.d.place(2 * self.d.n) else {
            return Outcome::Lost;
        };
        for variable in [Some(entering), self.complement(entering)].into_iter().flatten() {
            if let Place::Column(column) = self.d.place(variable) {
                let size = self.d.entry(row, column).abs();
                if size > best.map_or(SINGULAR, |(size, _)| size) {
                    best = Some((size, column));
                }
            }
        }
        let Some((_, column)) = best else {
            return Outcome::Lost;
        };
        self.d.look_at(column, 0.0);
        self.d.exchange(row, column, None, 0.0);
        Outcome::Drifted
    }

    /// Brings the wanted variables into a dictionary whose basis is w, in exchange for unwanted ones.
    ///
    /// Gauss–Jordan elimination with partial pivoting; `false` if the basis is singular.
    pub(super) fn enter_wanted(&mut self) -> bool {
        let n = self.d.n;
        for variable in n..=2 * n {
            let Place::Column(column) = self.d.place(variable) else { continue };
            if !self.wanted[variable] {
                continue;
            }
            self.d.look_at(column, 0.0);
            let (mut row, mut size) = (None, SINGULAR);
            for i in 0..n {
                let candidate = self.d.column[i].abs();
                if candidate > size && !self.wanted[self.d.basic[i]] {
                    (row, size) = (Some(i), candidate);
                }
            }
            let Some(row) = row else {
                return false;
            };
            self.d.exchange(row, column, None, 0.0);
        }
        true
    }
}
