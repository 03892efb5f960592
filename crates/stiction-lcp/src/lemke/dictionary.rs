//! Dictionary of Lemke's method and its one operation, the exchange of a basic and a nonbasic variable.
//!
//! Of the 2n + 1 variables w, z and z₀, n are basic: `basic = rhs + T · nonbasic`. T is not stored. With R the rows
//! whose w is not basic, S the basic z (z₀ among them) and A = [M, d], `w = q + A z` gives
//! `z_S = K⁻¹ (w_R − q_R − …)`, K = A_RS. Only K⁻¹ is kept; one column of T at a time follows from it. In contact
//! problems K has at most one row per degree of freedom and friction bound, far fewer than n.

mod exchange;
mod ties;

use super::kernels::{AlignedVec, RatioTest, padded};
use exchange::{Exchange, SetEntering};
use pulp::Arch;

/// Index of a variable that is absent from a list.
const ABSENT: usize = usize::MAX;

/// Dictionary in revised form. Variable k is the k-th w, n + k the k-th z and 2n is z₀.
///
/// A basic variable has a position: k for w_k, `wide` plus its slot for a z.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    pub(super) n: usize,
    /// n padded: entries per column of A, and the first position of a slot.
    wide: usize,
    /// A = [M', d] by columns, and the part of each that is not zero, padded.
    matrix: AlignedVec,
    extent: Vec<(usize, usize)>,
    /// Buffer: terms of a sum of columns, one more than there can be.
    split: Vec<(usize, f64)>,
    /// K⁻¹ by columns, one for each of `rows`, `stride` apart; zeros wherever K is not.
    inverse: AlignedVec,
    stride: usize,
    /// R, in the order of the columns of K⁻¹, and the index of each w in it.
    rows: Vec<usize>,
    row_of: Vec<usize>,
    /// S as columns of A, in the order of the rows of K⁻¹, and the index of each column in it.
    slots: Vec<usize>,
    slot_of: Vec<usize>,
    /// One where w is basic, zero elsewhere.
    open: AlignedVec,
    /// By position: values of basic variables, the entering column, the step at which each blocks it.
    pub(super) rhs: AlignedVec,
    pub(super) column: AlignedVec,
    pub(super) ratio: AlignedVec,
    pub(super) found: RatioTest,
    /// Buffers: a row of A_S, and that row times K⁻¹.
    row: AlignedVec,
    factors: AlignedVec,
    /// Buffers: the column of another variable, and the rows of A_S it is compared in.
    other: AlignedVec,
    gathered: Vec<f64>,
}

impl Dictionary {
    /// Makes room for n rows; returns where to write A, by padded columns, and the extent of its nonzeros.
    pub(super) fn reserve(&mut self, n: usize) -> (&mut [f64], &mut [(usize, usize)]) {
        self.release();
        if n != self.n {
            self.n = n;
            self.wide = padded(n);
            self.stride = padded(n + 1);
            self.inverse.refill(self.stride * (n + 1), 0.0);
        }
        self.matrix.reserve(self.wide * (n + 1));
        let positions = self.wide + self.stride;
        for line in [&mut self.rhs, &mut self.column] {
            line.refill(positions, 0.0);
        }
        self.ratio.refill(positions, f64::INFINITY);
        for line in [&mut self.row, &mut self.factors, &mut self.other] {
            line.refill(self.stride, 0.0);
        }
        self.open.refill(self.wide, 0.0);
        self.row_of.clear();
        self.row_of.resize(n, ABSENT);
        self.slot_of.clear();
        self.slot_of.resize(n + 1, ABSENT);
        self.split.clear();
        self.split.resize(n + 2, (0, 0.0));
        self.extent.clear();
        self.extent.resize(n + 1, (0, self.wide));
        (&mut self.matrix, &mut self.extent)
    }

    /// Makes all w basic, with the values q.
    pub(super) fn reset(&mut self, q: &[f64]) {
        self.release();
        self.rhs.fill(0.0);
        self.rhs[..self.n].copy_from_slice(q);
        self.open[..self.n].fill(1.0);
        self.row_of.fill(ABSENT);
        self.slot_of.fill(ABSENT);
    }

    /// Leaves zeros in place of K⁻¹.
    fn release(&mut self) {
        for r in 0..self.rows.len() {
            let length = self.slots.len();
            self.inverse[r * self.stride..r * self.stride + length].fill(0.0);
        }
        self.rows.clear();
        self.slots.clear();
    }

    /// Writes d.
    pub(super) fn set_cover(&mut self, cover: &[f64]) {
        let start = self.n * self.wide;
        self.matrix[start..start + self.n].copy_from_slice(cover);
        self.matrix[start + self.n..start + self.wide].fill(0.0);
    }

    /// Where a basic variable is; none if it is not basic.
    pub(super) fn position(&self, variable: usize) -> Option<usize> {
        if variable < self.n {
            (self.row_of[variable] == ABSENT).then_some(variable)
        } else {
            let slot = self.slot_of[variable - self.n];
            (slot != ABSENT).then(|| self.wide + slot)
        }
    }

    pub(super) fn is_basic(&self, variable: usize) -> bool {
        self.position(variable).is_some()
    }

    /// Variable at the position of a basic one.
    pub(super) fn variable(&self, position: usize) -> usize {
        if position < self.wide { position } else { self.n + self.slots[position - self.wide] }
    }

    /// Value of any variable.
    pub(super) fn value(&self, variable: usize) -> f64 {
        self.position(variable).map_or(0.0, |position| self.rhs[position])
    }

    /// Positions in use, padded.
    pub(super) fn positions(&self) -> usize {
        self.wide + padded(self.slots.len())
    }

    /// Basic z with their values, z₀ as the n-th.
    pub(super) fn basic_z(&self) -> impl Iterator<Item = (usize, f64)> {
        self.slots.iter().copied().zip(self.rhs[self.wide..].iter().copied())
    }

    /// Computes the column of the entering variable and its ratio test.
    pub(super) fn set_entering(&mut self, entering: usize, smallest_pivot: f64) {
        Arch::new().dispatch(SetEntering { d: self, entering, smallest_pivot });
    }

    /// Exchanges the entering variable, whose column was computed, for the basic one at `position`.
    ///
    /// With `next`, computes the column of that variable afterwards.
    pub(super) fn exchange(
        &mut self,
        position: usize,
        entering: usize,
        next: Option<usize>,
        smallest_pivot: f64,
    ) {
        Arch::new().dispatch(Exchange { d: self, position, entering, next, smallest_pivot });
    }

    /// Computes `x = K⁻¹ right`, from the order of `rows` to that of the slots.
    pub(super) fn solve(&mut self, right: impl Fn(usize) -> f64, mut visit: impl FnMut(usize, f64)) {
        let size = self.slots.len();
        for slot in 0..size {
            let columns = self.rows.iter().enumerate();
            let sum = columns.map(|(r, &row)| self.inverse[r * self.stride + slot] * right(row)).sum();
            visit(self.slots[slot], sum);
        }
    }
}
