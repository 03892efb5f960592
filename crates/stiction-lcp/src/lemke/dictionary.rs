//! The dictionary of Lemke's method and its one operation, the exchange.
//!
//! Of the 2n + 1 variables w, z and z₀, n are basic and n + 1 are not; a dictionary writes the first in terms
//! of the second, `basic = rhs + T · nonbasic`. T is not stored. With R the rows whose w is not basic and S the
//! basic z (z₀ among them), `w = q + A z`, A = [M, d], says `z_S = K⁻¹ (w_R − q_R − …)`, K = A_RS: the inverse
//! of K is all there is to keep, one column of T at a time follows from it. In contact problems K has at most
//! one row per degree of freedom and friction bound, far fewer than n.

// what is not inlined into the dispatch is compiled without the wide registers
#![allow(clippy::inline_always)]

use super::kernels::{Line, Ratios, add_multiple, combine, dot, padded, ratios};
use pulp::{Arch, Simd, WithSimd};

/// In place of a position: the variable is elsewhere.
const ABSENT: usize = usize::MAX;

/// Variable k is the k-th w, n + k the k-th z and 2n is z₀.
///
/// A basic variable has a position: that of w_k is k, that of a z behind all of them at `wide` + its slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    pub(super) n: usize,
    /// n padded: entries per column of A, and the first position of a slot.
    wide: usize,
    /// A = [M', d] by columns.
    matrix: Line,
    /// K⁻¹ by columns, one for each of `rows`, `stride` apart; zeros wherever K is not.
    inverse: Line,
    stride: usize,
    /// R, in the order of the columns of K⁻¹, and where each w is in it.
    rows: Vec<usize>,
    row_of: Vec<usize>,
    /// S as columns of A, in the order of the rows of K⁻¹, and where each column is in it.
    slots: Vec<usize>,
    slot_of: Vec<usize>,
    /// One where w is basic, zero elsewhere.
    open: Line,
    /// By position: values of basic variables, the entering column, the step at which each blocks it.
    pub(super) rhs: Line,
    pub(super) column: Line,
    pub(super) ratio: Line,
    pub(super) found: Ratios,
    /// Work: a row of A_S, and that row times K⁻¹.
    row: Line,
    factors: Line,
    /// Work: the column of another variable, and the rows of A_S it is compared in.
    other: Line,
    gathered: Vec<f64>,
}

impl Dictionary {
    /// Makes room for n rows with w basic and says where A is to be written, by padded columns.
    pub(super) fn reserve(&mut self, n: usize) -> &mut [f64] {
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
        &mut self.matrix
    }

    /// Makes w basic, with the values q.
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

    /// The variable at a position, which must be that of a basic one.
    pub(super) fn variable(&self, position: usize) -> usize {
        if position < self.wide { position } else { self.n + self.slots[position - self.wide] }
    }

    /// The value of any variable.
    pub(super) fn value(&self, variable: usize) -> f64 {
        self.position(variable).map_or(0.0, |position| self.rhs[position])
    }

    /// Positions in use, padded.
    pub(super) fn positions(&self) -> usize {
        self.wide + padded(self.slots.len())
    }

    /// The basic z with their values, z₀ as the n-th.
    pub(super) fn basic_z(&self) -> impl Iterator<Item = (usize, f64)> {
        self.slots.iter().copied().zip(self.rhs[self.wide..].iter().copied())
    }

    /// Makes the column of `entering` the one to look at and finds where each basic variable blocks it.
    pub(super) fn look_at(&mut self, entering: usize, smallest_pivot: f64) {
        Arch::new().dispatch(Look { d: self, entering, smallest_pivot });
    }

    /// The entering variable, whose column was looked at, takes the place of the one at `position`.
    ///
    /// With `next`, the column of that variable is looked at afterwards.
    pub(super) fn exchange(
        &mut self,
        position: usize,
        entering: usize,
        next: Option<usize>,
        smallest_pivot: f64,
    ) {
        Arch::new().dispatch(Exchange { d: self, position, entering, next, smallest_pivot });
    }

    /// `x ← K⁻¹ x`, from the order of `rows` to that of the slots; both are given.
    pub(super) fn solve(&mut self, right: impl Fn(usize) -> f64, mut use_it: impl FnMut(usize, f64)) {
        let size = self.slots.len();
        for slot in 0..size {
            let columns = self.rows.iter().enumerate();
            let sum = columns.map(|(r, &row)| self.inverse[r * self.stride + slot] * right(row)).sum();
            use_it(self.slots[slot], sum);
        }
    }

    /// Gathers what [`Dictionary::entries`] needs of these positions.
    pub(super) fn gather(&mut self, positions: &[usize]) {
        self.gathered.clear();
        for &position in positions.iter().filter(|&&position| position < self.wide) {
            self.gathered.extend(self.slots.iter().map(|&column| self.matrix[column * self.wide + position]));
        }
    }

    /// Entries of a nonbasic variable's column at gathered positions, through `out` as (position, entry).
    pub(super) fn entries(&mut self, variable: usize, positions: &[usize], out: &mut Vec<f64>) {
        let (n, wide, size) = (self.n, self.wide, self.slots.len());
        let z = variable.checked_sub(n);
        let column: &[f64] = if let Some(z) = z {
            let entering = &self.matrix[z * wide..(z + 1) * wide];
            self.other[..size].fill(0.0);
            for (&row, column) in self.rows.iter().zip(self.inverse.chunks_exact(self.stride)) {
                for (sum, x) in self.other[..size].iter_mut().zip(column) {
                    *sum -= entering[row] * x;
                }
            }
            &self.other[..size]
        } else {
            let r = self.row_of[variable];
            &self.inverse[r * self.stride..r * self.stride + size]
        };
        out.clear();
        let mut gathered = self.gathered.chunks_exact(size.max(1));
        for &position in positions {
            let entry = if position < wide {
                let row = gathered.next().unwrap_or_default();
                let own = z.map_or(0.0, |z| self.matrix[z * wide + position]);
                own + row.iter().zip(column).map(|(a, x)| a * x).sum::<f64>()
            } else {
                column[position - wide]
            };
            out.push(entry);
        }
    }

    /// Forgets the gathered entries of positions that are not kept.
    pub(super) fn retain(&mut self, positions: &mut Vec<usize>, keep: impl Fn(usize, usize) -> bool) {
        let size = self.slots.len();
        let (mut kept, mut from, mut to) = (0, 0, 0);
        for k in 0..positions.len() {
            let position = positions[k];
            let keeps = keep(k, position);
            if position < self.wide && !self.gathered.is_empty() {
                if keeps {
                    self.gathered.copy_within(from..from + size, to);
                    to += size;
                }
                from += size;
            }
            if keeps {
                positions[kept] = position;
                kept += 1;
            }
        }
        positions.truncate(kept);
    }
}

/// [`Dictionary::look_at`] as one dispatch.
struct Look<'a> {
    d: &'a mut Dictionary,
    entering: usize,
    smallest_pivot: f64,
}

impl WithSimd for Look<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        look(simd, self.d, self.entering, self.smallest_pivot);
    }
}

#[inline(always)]
fn look<S: Simd>(simd: S, d: &mut Dictionary, entering: usize, smallest_pivot: f64) {
    let (n, wide) = (d.n, d.wide);
    let size = padded(d.slots.len());
    let (above, below) = d.column.split_at_mut(wide);
    let below = &mut below[..size];
    if let Some(z) = entering.checked_sub(n) {
        // z_S = −K⁻¹ A_Rz z
        let entries = &d.matrix[z * wide..(z + 1) * wide];
        below.fill(0.0);
        let columns = d.rows.iter().enumerate().map(|(r, &row)| (r, -entries[row]));
        combine(simd, &d.inverse, d.stride, columns, below);
        above.copy_from_slice(entries);
    } else {
        let r = d.row_of[entering];
        below.copy_from_slice(&d.inverse[r * d.stride..r * d.stride + size]);
        above.fill(0.0);
    }
    let columns = d.slots.iter().copied().zip(below.iter().copied());
    combine(simd, &d.matrix, wide, columns, above);
    // rows whose w is not basic say 0 = 0
    for (entry, open) in above.iter_mut().zip(&*d.open) {
        *entry *= open;
    }
    let used = wide + size;
    d.found = ratios(&d.rhs[..used], &d.column[..used], &mut d.ratio[..used], smallest_pivot);
}

/// [`Dictionary::exchange`] as one dispatch.
struct Exchange<'a> {
    d: &'a mut Dictionary,
    position: usize,
    entering: usize,
    next: Option<usize>,
    smallest_pivot: f64,
}

impl WithSimd for Exchange<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { d, position, entering, next, smallest_pivot } = self;
        let step = -d.rhs[position] / d.column[position];
        let used = d.positions();
        add_multiple(simd, step, &d.column[..used], &mut d.rhs[..used]);
        update_inverse(simd, d, position, entering);
        rename(d, position, entering, step);
        if let Some(next) = next {
            look(simd, d, next, smallest_pivot);
        }
    }
}

/// K⁻¹ − y fᵀ, f the row of T that leaves over its entry in y, the entering column.
///
/// A z that takes the place of another replaces a column of K, a w that takes that of another a row.
#[inline(always)]
fn update_inverse<S: Simd>(simd: S, d: &mut Dictionary, position: usize, entering: usize) {
    let (wide, stride, count) = (d.wide, d.stride, d.slots.len());
    let size = padded(count);
    let over = 1.0 / d.column[position];
    let y = &mut d.column[wide..wide + size];
    if let Some(slot) = position.checked_sub(wide) {
        for (r, factor) in d.factors[..count].iter_mut().enumerate() {
            *factor = d.inverse[r * stride + slot] * over;
        }
        if entering >= d.n {
            y[slot] += 1.0;
        }
    } else {
        d.row[..size].fill(0.0);
        for (entry, &column) in d.row.iter_mut().zip(&d.slots) {
            *entry = d.matrix[column * wide + position];
        }
        for (factor, column) in d.factors[..count].iter_mut().zip(d.inverse.chunks_exact(stride)) {
            *factor = dot(simd, &d.row[..size], &column[..size]) * over;
        }
        if entering < d.n {
            d.factors[d.row_of[entering]] -= over;
        }
    }
    for (&factor, column) in d.factors[..count].iter().zip(d.inverse.chunks_exact_mut(stride)) {
        if factor != 0.0 {
            add_multiple(simd, -factor, y, &mut column[..size]);
        }
    }
}

/// Gives the places of K⁻¹ their new owners: columns and rows come, go or change hands.
#[inline(always)]
fn rename(d: &mut Dictionary, position: usize, entering: usize, step: f64) {
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
            let over = 1.0 / d.column[position];
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
