//! Two halves of a pivot: the exchange of two variables, and the column of the next entering one.

use super::{ABSENT, Dictionary};
use crate::lemke::kernels::{RowSource, add_multiple, combine, padded, ratios, subtract_product};
use crate::lemke::tolerances::MIN_SPARSE_COLUMN;
use pulp::{Simd, WithSimd};

/// Dispatch of [`Dictionary::set_entering`].
pub(super) struct SetEntering<'a> {
    pub(super) d: &'a mut Dictionary,
    pub(super) entering: usize,
    pub(super) smallest_pivot: f64,
}

impl WithSimd for SetEntering<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        set_entering(simd, self.d, self.entering, self.smallest_pivot);
    }
}

/// Column of the entering variable, and its ratio test.
#[inline(always)]
fn set_entering<S: Simd>(simd: S, d: &mut Dictionary, entering: usize, smallest_pivot: f64) {
    let (n, wide, stride) = (d.n, d.wide, d.stride);
    let size = padded(d.slots.len());
    let (matrix, inverse): (&[f64], &[f64]) = (&d.matrix, &d.inverse);
    let column = &mut d.column[..wide + size];
    let (above, below) = column.split_at_mut(wide);
    if let Some(z) = entering.checked_sub(n) {
        // z_S = −K⁻¹ A_Rz z
        let entries = &matrix[z * wide..(z + 1) * wide];
        let gathered = &mut d.row[..size];
        for (gathered, &row) in gathered.iter_mut().zip(&d.rows) {
            *gathered = -entries[row];
        }
        let terms = gathered[..d.rows.len()].iter().copied().enumerate();
        combine(simd, inverse, stride, &terms, &[], below);
        let terms = d.slots.iter().copied().zip(below.iter().copied());
        combine_extents(simd, matrix, &d.extent, &terms, &mut d.split, entries, above);
    } else {
        let start = d.row_of[entering] * stride;
        for (y, x) in below.iter_mut().zip(&inverse[start..]) {
            *y = *x;
        }
        let terms = d.slots.iter().copied().zip(below.iter().copied());
        combine_extents(simd, matrix, &d.extent, &terms, &mut d.split, &[], above);
    }
    // rows whose w is not basic say 0 = 0
    for (entry, open) in above.iter_mut().zip(&*d.open) {
        *entry *= open;
    }
    d.found = ratios(simd, &d.rhs[..wide + size], column, &mut d.ratio[..wide + size], smallest_pivot);
}

/// Computes `sum = start + Σ x_k column_k`; of long columns that are mostly zero, only the part that is not.
#[inline(always)]
fn combine_extents<S: Simd>(
    simd: S,
    matrix: &[f64],
    extent: &[(usize, usize)],
    terms: &(impl Iterator<Item = (usize, f64)> + Clone),
    split: &mut [(usize, f64)],
    start: &[f64],
    sum: &mut [f64],
) {
    let wide = sum.len();
    if wide < MIN_SPARSE_COLUMN {
        return combine(simd, matrix, wide, terms, start, sum);
    }
    // full columns to the front, others to the back, without an unpredictable branch
    let (mut front, mut back) = (0, split.len());
    for term in terms.clone() {
        let (first, end) = extent[term.0];
        let full = usize::from(2 * (end - first) > wide);
        split[front] = term;
        split[back - 1] = term;
        front += full;
        back -= 1 - full;
    }
    combine(simd, matrix, wide, &split[..front].iter().copied(), start, sum);
    for &(column, x) in &split[back..] {
        let (first, end) = extent[column];
        let start = column * wide;
        add_multiple(simd, x, &matrix[start + first..start + end], &mut sum[first..end]);
    }
}

/// Dispatch of [`Dictionary::exchange`].
pub(super) struct Exchange<'a> {
    pub(super) d: &'a mut Dictionary,
    pub(super) position: usize,
    pub(super) entering: usize,
    pub(super) next: Option<usize>,
    pub(super) smallest_pivot: f64,
}

impl WithSimd for Exchange<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { d, position, entering, next, smallest_pivot } = self;
        let over = 1.0 / d.column[position];
        let step = -d.rhs[position] * over;
        let used = d.positions();
        add_multiple(simd, step, &d.column[..used], &mut d.rhs[..used]);
        update_inverse(simd, d, position, entering, over);
        reassign(d, position, entering, step, over);
        if let Some(next) = next {
            set_entering(simd, d, next, smallest_pivot);
        }
    }
}

/// Updates K⁻¹ by −y fᵀ, y the entering column, f the leaving row of T over its entry in y.
///
/// If z enters for z, a column of K is replaced; if w enters for w, a row.
#[inline(always)]
fn update_inverse<S: Simd>(simd: S, d: &mut Dictionary, position: usize, entering: usize, over: f64) {
    let (wide, stride, count) = (d.wide, d.stride, d.slots.len());
    let size = padded(count);
    let y = &mut d.column[wide..wide + size];
    let inverse: &mut [f64] = &mut d.inverse;
    let source = if let Some(slot) = position.checked_sub(wide) {
        if entering >= d.n {
            y[slot] += 1.0;
        }
        RowSource::Row(slot)
    } else {
        let (matrix, row): (&[f64], _) = (&d.matrix, &mut d.row[..size]);
        for (entry, &column) in row.iter_mut().zip(&d.slots) {
            *entry = matrix[column * wide + position];
        }
        for entry in &mut row[count..] {
            *entry = 0.0;
        }
        RowSource::Combination(row, if entering < d.n { d.row_of[entering] } else { ABSENT })
    };
    subtract_product(simd, inverse, stride, source, over, y, &mut d.factors[..count]);
}

/// Updates which rows and columns of K⁻¹ belong to which variables: added, removed or replaced.
#[inline(always)]
fn reassign(d: &mut Dictionary, position: usize, entering: usize, step: f64, over: f64) {
    let (n, wide, stride, count) = (d.n, d.wide, d.stride, d.slots.len());
    match (entering.checked_sub(n), position.checked_sub(wide)) {
        (Some(z), Some(slot)) => {
            d.slot_of[d.slots[slot]] = ABSENT;
            d.slots[slot] = z;
            d.slot_of[z] = slot;
            d.rhs[position] = step;
        }
        (None, None) => {
            let r = d.row_of[entering];
            d.rows[r] = position;
            d.row_of[position] = r;
            d.row_of[entering] = ABSENT;
            (d.open[position], d.rhs[position]) = (0.0, 0.0);
            (d.open[entering], d.rhs[entering]) = (1.0, step);
        }
        (Some(z), None) => {
            for (r, factor) in d.factors[..count].iter().enumerate() {
                d.inverse[r * stride + count] = -factor;
            }
            let border = &mut d.inverse[count * stride..count * stride + count];
            for (entry, y) in border.iter_mut().zip(&d.column[wide..]) {
                *entry = y * over;
            }
            d.inverse[count * stride + count] = over;
            (d.slot_of[z], d.row_of[position]) = (count, count);
            d.slots.push(z);
            d.rows.push(position);
            (d.open[position], d.rhs[position]) = (0.0, 0.0);
            d.rhs[wide + count] = step;
        }
        (None, Some(slot)) => {
            let (r, last) = (d.row_of[entering], count - 1);
            d.inverse.copy_within(last * stride..last * stride + count, r * stride);
            d.inverse[last * stride..last * stride + count].fill(0.0);
            for column in d.inverse.chunks_exact_mut(stride).take(last) {
                column[slot] = column[last];
                column[last] = 0.0;
            }
            (d.slot_of[d.slots[slot]], d.row_of[entering]) = (ABSENT, ABSENT);
            d.slots.swap_remove(slot);
            d.rows.swap_remove(r);
            if slot < last {
                d.slot_of[d.slots[slot]] = slot;
            }
            if r < last {
                d.row_of[d.rows[r]] = r;
            }
            d.rhs[position] = d.rhs[wide + last];
            d.rhs[wide + last] = 0.0;
            (d.open[entering], d.rhs[entering]) = (1.0, step);
        }
    }
}
