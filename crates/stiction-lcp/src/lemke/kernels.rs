//! Vectorized loops of a pivot. They run over whole registers: their input is padded with zeros to a multiple of
//! [`WIDTH`], which the registers of every processor divide.

#![allow(
    clippy::inline_always,
    reason = "code outside of the dispatch is compiled without the wide registers"
)]

use pulp::Simd;
use std::ops::{Deref, DerefMut};

/// Numbers per cache line. Buffers are padded to it.
pub(super) const WIDTH: usize = 8;

/// Next multiple of [`WIDTH`].
pub(super) fn padded(length: usize) -> usize {
    length.next_multiple_of(WIDTH)
}

/// Numbers aligned to a cache line: registers loaded across lines take twice as long.
#[derive(Debug, Clone, Default)]
pub(super) struct AlignedVec {
    data: Vec<f64>,
    start: usize,
    length: usize,
}

impl AlignedVec {
    /// Makes room for `length` numbers, of any value.
    pub(super) fn reserve(&mut self, length: usize) {
        if self.data.len() < length + WIDTH {
            // zeros from the system are not touched before they are used
            self.data = vec![0.0; length + WIDTH];
            self.start = self.data.as_ptr().align_offset(WIDTH * size_of::<f64>()).min(WIDTH);
        }
        self.length = length;
    }

    /// Makes room for `length` times one number.
    pub(super) fn refill(&mut self, length: usize, value: f64) {
        self.reserve(length);
        self.fill(value);
    }
}

impl Deref for AlignedVec {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.data[self.start..self.start + self.length]
    }
}

impl DerefMut for AlignedVec {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.data[self.start..self.start + self.length]
    }
}

/// Computes `sum = start + Σ x_k column_k` over terms (column, x) of `matrix`; an empty start is zero.
///
/// The sums stay in registers while the columns pass: twelve of the sixteen that AVX2 has.
#[inline(always)]
pub(super) fn combine<S: Simd>(
    simd: S,
    matrix: &[f64],
    stride: usize,
    terms: &(impl Iterator<Item = (usize, f64)> + Clone),
    start: &[f64],
    sum: &mut [f64],
) {
    let ((matrix, _), (start, _)) = (S::as_simd_f64s(matrix), S::as_simd_f64s(start));
    let stride = stride / S::F64_LANES;
    let (mut rest, _) = S::as_mut_simd_f64s(sum);
    let mut first = 0;
    while !rest.is_empty() {
        let length = [12, 6, 4, 2, 1].into_iter().find(|&length| length <= rest.len()).unwrap_or(1);
        let (block, others) = rest.split_at_mut(length);
        let terms = terms.clone();
        match length {
            12 => combine_block::<S, 12>(simd, matrix, stride, first, terms, start, block),
            6 => combine_block::<S, 6>(simd, matrix, stride, first, terms, start, block),
            4 => combine_block::<S, 4>(simd, matrix, stride, first, terms, start, block),
            2 => combine_block::<S, 2>(simd, matrix, stride, first, terms, start, block),
            _ => combine_block::<S, 1>(simd, matrix, stride, first, terms, start, block),
        }
        (first, rest) = (first + length, others);
    }
}

#[inline(always)]
fn combine_block<S: Simd, const B: usize>(
    simd: S,
    matrix: &[S::f64s],
    stride: usize,
    first: usize,
    terms: impl Iterator<Item = (usize, f64)>,
    start: &[S::f64s],
    block: &mut [S::f64s],
) {
    let mut sums = [simd.splat_f64s(0.0); B];
    if !start.is_empty() {
        sums.copy_from_slice(&start[first..first + B]);
    }
    for (column, x) in terms {
        let at = column * stride + first;
        let x = simd.splat_f64s(x);
        let entries = &matrix[at..at + B];
        for k in 0..B {
            sums[k] = simd.mul_add_e_f64s(x, entries[k], sums[k]);
        }
    }
    block.copy_from_slice(&sums);
}

/// Dot product x · y, in four independent sums.
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let ((x, _), (y, _)) = (S::as_simd_f64s(x), S::as_simd_f64s(y));
    let ((x, last_x), (y, last_y)) = (x.as_chunks::<4>(), y.as_chunks::<4>());
    let mut sums = [simd.splat_f64s(0.0); 4];
    for (x, y) in x.iter().zip(y) {
        for k in 0..4 {
            sums[k] = simd.mul_add_e_f64s(x[k], y[k], sums[k]);
        }
    }
    for (k, (&x, &y)) in last_x.iter().zip(last_y).enumerate() {
        sums[k & 3] = simd.mul_add_e_f64s(x, y, sums[k & 3]);
    }
    let [a, b, c, d] = sums;
    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d)))
}

/// Adds a multiple: `y += a x`.
#[inline(always)]
pub(super) fn add_multiple<S: Simd>(simd: S, a: f64, x: &[f64], y: &mut [f64]) {
    let ((x, _), (y, _)) = (S::as_simd_f64s(x), S::as_mut_simd_f64s(y));
    let a = simd.splat_f64s(a);
    for (y, &x) in y.iter_mut().zip(x) {
        *y = simd.mul_add_e_f64s(a, x, *y);
    }
}

/// Origin of the row f of [`subtract_product`].
#[derive(Clone, Copy)]
pub(super) enum RowSource<'a> {
    /// Row of the matrix.
    Row(usize),
    /// Combination of its rows, minus one at a column (if there is such).
    Combination(&'a [f64], usize),
}

/// Rank-one update `matrix −= y fᵀ`, column by column, f a row or combination of rows times `over`.
#[inline(always)]
pub(super) fn subtract_product<S: Simd>(
    simd: S,
    matrix: &mut [f64],
    stride: usize,
    source: RowSource,
    over: f64,
    y: &[f64],
    factors: &mut [f64],
) {
    for (r, (factor, column)) in factors.iter_mut().zip(matrix.chunks_exact_mut(stride)).enumerate() {
        let column = &mut column[..y.len()];
        *factor = match source {
            RowSource::Row(row) => column[row] * over,
            RowSource::Combination(row, less) => {
                dot(simd, row, column) * over - if r == less { over } else { 0.0 }
            }
        };
        if *factor != 0.0 {
            add_multiple(simd, -*factor, y, column);
        }
    }
}

/// Result of the ratio test.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RatioTest {
    /// Smallest step at which a row blocks, infinite if none does.
    pub(super) least: f64,
    /// Largest basic variable, at least one.
    pub(super) largest: f64,
}

/// Ratio test: step rhs / −entry at which each row blocks, for entries below −`smallest_pivot` max(1, largest entry).
///
/// A right-hand side that rounding has left below zero blocks at step 0.
#[inline(always)]
pub(super) fn ratios<S: Simd>(
    simd: S,
    rhs: &[f64],
    column: &[f64],
    ratio: &mut [f64],
    smallest_pivot: f64,
) -> RatioTest {
    let ((rhs, _), (column, _)) = (S::as_simd_f64s(rhs), S::as_simd_f64s(column));
    let (ratio, _) = S::as_mut_simd_f64s(ratio);
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    // max ignores its first operand if that is NaN
    let (mut largest, mut greatest) = (one, one);
    for (&entry, &value) in column.iter().zip(rhs) {
        largest = simd.max_f64s(simd.abs_f64s(entry), largest);
        greatest = simd.max_f64s(value, greatest);
    }
    let pivot = simd.splat_f64s(-smallest_pivot * simd.reduce_max_f64s(largest));
    let infinite = simd.splat_f64s(f64::INFINITY);
    let mut least = infinite;
    for ((&value, &entry), ratio) in rhs.iter().zip(column).zip(ratio) {
        let blocks = simd.less_than_f64s(entry, pivot);
        let step = simd.div_f64s(simd.max_f64s(value, zero), simd.neg_f64s(entry));
        *ratio = simd.select_f64s(blocks, step, infinite);
        least = simd.min_f64s(*ratio, least);
    }
    RatioTest { least: simd.reduce_min_f64s(least), largest: simd.reduce_max_f64s(greatest) }
}

/// Positions of ratios up to `cutoff`.
#[inline(always)]
pub(super) fn within<S: Simd>(simd: S, ratio: &[f64], cutoff: f64, positions: &mut Vec<usize>) {
    positions.clear();
    let bound = simd.splat_f64s(cutoff);
    for (lane, ratios) in ratio.chunks_exact(WIDTH).enumerate() {
        let (registers, _) = S::as_simd_f64s(ratios);
        let mut least = bound;
        for &register in registers {
            least = simd.min_f64s(least, register);
        }
        // nearly all lanes end here
        if simd.reduce_min_f64s(least) < cutoff || ratios.contains(&cutoff) {
            let own = (lane * WIDTH..).zip(ratios);
            positions.extend(own.filter(|(_, ratio)| **ratio <= cutoff).map(|(position, _)| position));
        }
    }
}
