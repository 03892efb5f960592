//! The loops of a pivot, many numbers at a time.
//!
//! All of them run over whole registers: what they are given is padded with zeros to a multiple of
//! [`WIDTH`], which the registers of every processor divide.

// what is not inlined into the dispatch is compiled without the wide registers
#![allow(clippy::inline_always)]

use pulp::Simd;
use std::ops::{Deref, DerefMut};

/// Numbers per cache line. Buffers are padded to it.
pub(super) const WIDTH: usize = 8;

/// The next multiple of [`WIDTH`].
pub(super) fn padded(length: usize) -> usize {
    length.next_multiple_of(WIDTH)
}

/// Numbers that begin on a cache line: registers loaded across lines take twice as long.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    data: Vec<f64>,
    start: usize,
    length: usize,
}

impl Line {
    /// Makes room for `length` numbers; whatever they are if there was room before.
    pub(super) fn reserve(&mut self, length: usize) {
        if self.data.len() < length + WIDTH {
            self.data.clear();
            self.data.resize(length + WIDTH, 0.0);
            self.start = self.data.as_ptr().align_offset(WIDTH * size_of::<f64>()).min(WIDTH);
        }
        self.length = length;
    }

    /// Makes room for `length` times the same number.
    pub(super) fn refill(&mut self, length: usize, value: f64) {
        self.reserve(length);
        self.fill(value);
    }
}

impl Deref for Line {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.data[self.start..self.start + self.length]
    }
}

impl DerefMut for Line {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.data[self.start..self.start + self.length]
    }
}

/// `sum ← sign · (start + Σ x_k column_k) ∘ mask`, column k of `matrix` being the one at `columns[k]`.
///
/// The sums stay in registers while the columns pass: twelve of the sixteen that AVX2 has.
#[inline(always)]
pub(super) fn combine<S: Simd>(
    simd: S,
    matrix: &[f64],
    stride: usize,
    columns: impl Iterator<Item = (usize, f64)> + Clone,
    sum: &mut [f64],
) {
    let width = S::F64_LANES;
    let (matrix, _) = S::as_simd_f64s(matrix);
    let stride = stride / width;
    let (sums, _) = S::as_mut_simd_f64s(sum);
    let mut first = 0;
    let mut rest = sums;
    while rest.len() >= 12 {
        let (block, others) = rest.split_at_mut(12);
        combine_block::<S, 12>(simd, matrix, stride, first, columns.clone(), block);
        (first, rest) = (first + 12, others);
    }
    while rest.len() >= 4 {
        let (block, others) = rest.split_at_mut(4);
        combine_block::<S, 4>(simd, matrix, stride, first, columns.clone(), block);
        (first, rest) = (first + 4, others);
    }
    while !rest.is_empty() {
        let (block, others) = rest.split_at_mut(1);
        combine_block::<S, 1>(simd, matrix, stride, first, columns.clone(), block);
        (first, rest) = (first + 1, others);
    }
}

#[inline(always)]
fn combine_block<S: Simd, const B: usize>(
    simd: S,
    matrix: &[S::f64s],
    stride: usize,
    first: usize,
    columns: impl Iterator<Item = (usize, f64)>,
    block: &mut [S::f64s],
) {
    let mut sums = [simd.splat_f64s(0.0); B];
    sums.copy_from_slice(block);
    for (column, x) in columns {
        let at = column * stride + first;
        let x = simd.splat_f64s(x);
        let entries = &matrix[at..at + B];
        for k in 0..B {
            sums[k] = simd.mul_add_e_f64s(x, entries[k], sums[k]);
        }
    }
    block.copy_from_slice(&sums);
}

/// x · y
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let ((x, _), (y, _)) = (S::as_simd_f64s(x), S::as_simd_f64s(y));
    let mut sum = simd.splat_f64s(0.0);
    for (&x, &y) in x.iter().zip(y) {
        sum = simd.mul_add_e_f64s(x, y, sum);
    }
    simd.reduce_sum_f64s(sum)
}

/// `y ← y + a x`
#[inline(always)]
pub(super) fn add_multiple<S: Simd>(simd: S, a: f64, x: &[f64], y: &mut [f64]) {
    let ((x, _), (y, _)) = (S::as_simd_f64s(x), S::as_mut_simd_f64s(y));
    let a = simd.splat_f64s(a);
    for (y, &x) in y.iter_mut().zip(x) {
        *y = simd.mul_add_e_f64s(a, x, *y);
    }
}

/// What the ratio test has found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ratios {
    /// The smallest step at which a row blocks, infinite if none does.
    pub(super) least: f64,
    /// The largest basic variable, at least one.
    pub(super) largest: f64,
}

/// Where each row blocks: rhs / −entry for entries below −`smallest_pivot` max(1, largest entry).
///
/// A right-hand side that rounding has left below zero blocks at once.
#[inline(always)]
pub(super) fn ratios(rhs: &[f64], column: &[f64], ratio: &mut [f64], smallest_pivot: f64) -> Ratios {
    let mut least = [f64::INFINITY; WIDTH];
    let mut largest = [1.0; WIDTH];
    let mut greatest = [1.0; WIDTH];
    let (rhs, _) = rhs.as_chunks::<WIDTH>();
    let (column, _) = column.as_chunks::<WIDTH>();
    let (ratio, _) = ratio.as_chunks_mut::<WIDTH>();
    for (column, rhs) in column.iter().zip(rhs) {
        for k in 0..WIDTH {
            largest[k] = if column[k].abs() > largest[k] { column[k].abs() } else { largest[k] };
            greatest[k] = if rhs[k] > greatest[k] { rhs[k] } else { greatest[k] };
        }
    }
    let smallest_pivot = smallest_pivot * largest.iter().fold(1.0, |a, &b| if b > a { b } else { a });
    for ((rhs, column), ratio) in rhs.iter().zip(column).zip(ratio) {
        // on copies, which the compiler knows to be apart
        let (rhs, column, mut steps) = (*rhs, *column, [0.0; WIDTH]);
        for k in 0..WIDTH {
            let value = if rhs[k] > 0.0 { rhs[k] } else { 0.0 };
            let blocks = column[k] < -smallest_pivot;
            steps[k] = if blocks { value } else { f64::INFINITY } / if blocks { -column[k] } else { 1.0 };
        }
        for k in 0..WIDTH {
            least[k] = if steps[k] < least[k] { steps[k] } else { least[k] };
        }
        *ratio = steps;
    }
    Ratios {
        least: least.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a }),
        largest: greatest.iter().fold(1.0, |a, &b| if b > a { b } else { a }),
    }
}
