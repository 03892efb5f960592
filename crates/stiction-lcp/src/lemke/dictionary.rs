//! The condensed dictionary of Lemke's method and its one operation, the Jordan exchange.
//!
//! Of the 2n + 1 variables w, z and z₀, n are basic and n + 1 are not; a dictionary writes the first in terms
//! of the second, `basic = rhs + T · nonbasic`. Only T is stored: the columns of basic variables are unit
//! vectors.

// what is not inlined into the dispatch is compiled without the wide registers
#![allow(clippy::inline_always)]

use pulp::{Arch, Simd, WithSimd};

/// Eight numbers on one cache line. Rows are whole lanes, so that no loop over a row has a tail.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Lane(pub(super) [f64; WIDTH]);

pub(super) const WIDTH: usize = 8;

/// Where a variable is: its row when basic, its column when not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Row(usize),
    Column(usize),
}

/// Exchanges that wait before the table is rewritten.
///
/// An exchange changes the table by a product of a column and a row. Four of them are added in one way through
/// the table, which then is arithmetic instead of memory traffic; the eight multipliers of two rows and what
/// they multiply just fit the registers of AVX2. Until then an entry is the one stored plus four products.
const PENDING: usize = 4;

/// `basic = rhs + T · nonbasic`. Variable k is the k-th w, n + k the k-th z and 2n is z₀.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    pub(super) n: usize,
    /// Lanes per row.
    stride: usize,
    /// T without the pending products.
    table: Vec<Lane>,
    /// Pending products: columns of n padded entries, rows of lanes (lane k of row t at k · PENDING + t).
    pending: usize,
    pending_columns: Vec<f64>,
    pending_rows: Vec<Lane>,
    /// Values of the basic variables, padded to whole lanes.
    pub(super) rhs: Vec<f64>,
    /// The variable of each row, and of each column.
    pub(super) basic: Vec<usize>,
    pub(super) nonbasic: Vec<usize>,
    place: Vec<Place>,
    /// The entering column, padded to whole lanes with zeros.
    pub(super) column: Vec<f64>,
    /// The step at which each row blocks the entering variable, and the smallest of them; infinite if none.
    pub(super) ratio: Vec<f64>,
    pub(super) least_ratio: f64,
}

impl Dictionary {
    /// Makes room for n rows, with w basic, z and z₀ not, and zeros everywhere.
    pub(super) fn reset(&mut self, n: usize) {
        self.n = n;
        self.stride = (n + 1).div_ceil(WIDTH);
        let padded = n.div_ceil(WIDTH) * WIDTH;
        refill(&mut self.table, n * self.stride, Lane::default());
        self.pending = 0;
        refill(&mut self.pending_columns, PENDING * padded, 0.0);
        refill(&mut self.pending_rows, PENDING * self.stride, Lane::default());
        refill(&mut self.rhs, padded, 0.0);
        refill(&mut self.column, padded, 0.0);
        refill(&mut self.ratio, padded, f64::INFINITY);
        self.basic.clear();
        self.basic.extend(0..n);
        self.nonbasic.clear();
        self.nonbasic.extend(n..=2 * n);
        self.place.clear();
        self.place.extend((0..n).map(Place::Row).chain((0..=n).map(Place::Column)));
    }

    pub(super) fn place(&self, variable: usize) -> Place {
        self.place[variable]
    }

    pub(super) fn entry(&self, row: usize, column: usize) -> f64 {
        let (lane, slot) = (column / WIDTH, column % WIDTH);
        let mut entry = self.table[row * self.stride + lane].0[slot];
        for t in 0..self.pending {
            let multiplier = self.pending_columns[t * self.column.len() + row];
            entry += multiplier * self.pending_rows[lane * PENDING + t].0[slot];
        }
        entry
    }

    /// Writes an entry of a dictionary without exchanges.
    pub(super) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.table[row * self.stride + column / WIDTH].0[column % WIDTH] = value;
    }

    /// Writes lane `lane` of row `row` of a dictionary without exchanges.
    pub(super) fn set_lane(&mut self, row: usize, lane: usize, values: [f64; WIDTH]) {
        self.table[row * self.stride + lane].0 = values;
    }

    /// Writes a whole column.
    pub(super) fn set_column(&mut self, column: usize, value: impl Fn(usize) -> f64) {
        let (lane, slot) = (column / WIDTH, column % WIDTH);
        for row in &mut self.pending_rows[lane * PENDING..(lane + 1) * PENDING] {
            row.0[slot] = 0.0;
        }
        for i in 0..self.n {
            self.set(i, column, value(i));
        }
    }

    /// Makes `column` the entering one and finds where each row blocks it.
    pub(super) fn look_at(&mut self, column: usize, smallest_pivot: f64) {
        for i in 0..self.n {
            self.column[i] = self.entry(i, column);
        }
        self.least_ratio = ratios(&self.rhs, &self.column, &mut self.ratio, smallest_pivot);
    }

    /// The entering variable, whose column was looked at, takes the place of the basic variable of `row`.
    ///
    /// With `next`, the column of that variable is looked at on the same way through the table.
    pub(super) fn exchange(&mut self, row: usize, column: usize, next: Option<usize>, smallest_pivot: f64) {
        let (leaving, entering) = (self.basic[row], self.nonbasic[column]);
        self.basic[row] = entering;
        self.nonbasic[column] = leaving;
        self.place[entering] = Place::Row(row);
        self.place[leaving] = Place::Column(column);
        // a basic or absent next variable leaves its own column to look at, which nobody reads
        let next = match next.map(|variable| self.place[variable]) {
            Some(Place::Column(next)) => next,
            _ => column,
        };
        self.least_ratio = Arch::new().dispatch(Exchange { d: self, row, column, next, smallest_pivot });
    }
}

fn refill<T: Clone>(buffer: &mut Vec<T>, length: usize, value: T) {
    buffer.clear();
    buffer.resize(length, value);
}

/// The exchange as one dispatch: pivot row, right-hand side, the next entering column and its ratios.
struct Exchange<'a> {
    d: &'a mut Dictionary,
    row: usize,
    column: usize,
    next: usize,
    smallest_pivot: f64,
}

impl WithSimd for Exchange<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { d, row, column, next, smallest_pivot } = self;
        if d.pending == PENDING {
            add_pending::<S>(d);
        }
        let inverse = 1.0 / d.column[row];
        turn_pivot_row::<S>(d, row, column, inverse);
        // x_i = rhs_i + T_is y_s + Σ T_ij y_j with y_s = rhs_s' + Σ T_sj' y_j
        let value = -d.rhs[row] * inverse;
        let padded = d.column.len();
        let multipliers = &mut d.pending_columns[d.pending * padded..(d.pending + 1) * padded];
        for ((multiplier, rhs), &entry) in multipliers.iter_mut().zip(&mut d.rhs).zip(&d.column) {
            *multiplier = entry;
            *rhs = fused::<S>(entry, value, *rhs);
        }
        multipliers[row] = 0.0;
        d.rhs[row] = value;
        d.pending += 1;
        pass_columns::<S>(d, row, column, next, inverse);
        ratios(&d.rhs, &d.column, &mut d.ratio, smallest_pivot)
    }
}

/// The pivot row, `y_s = (x_r − rhs_r − Σ T_rj y_j) / T_rs`, to be added to the others and stored as it is.
#[inline(always)]
fn turn_pivot_row<S: Simd>(d: &mut Dictionary, row: usize, column: usize, inverse: f64) {
    let padded = d.column.len();
    let mut multipliers = [0.0; PENDING];
    for t in 0..d.pending {
        std::mem::swap(&mut multipliers[t], &mut d.pending_columns[t * padded + row]);
    }
    let stored = &mut d.table[row * d.stride..(row + 1) * d.stride];
    for (lane, pending) in stored.iter_mut().zip(d.pending_rows.chunks_exact_mut(PENDING)) {
        let mut values = lane.0;
        for t in 0..d.pending {
            let addend = pending[t].0;
            for k in 0..WIDTH {
                values[k] = fused::<S>(multipliers[t], addend[k], values[k]);
            }
        }
        for value in &mut values {
            *value *= -inverse;
        }
        lane.0 = values;
        pending[d.pending].0 = values;
    }
    // the column of the entering variable is now that of the leaving one, and stored as it is
    let (lane, slot) = (column / WIDTH, column % WIDTH);
    stored[lane].0[slot] = inverse;
    for t in 0..=d.pending {
        d.pending_rows[lane * PENDING + t].0[slot] = 0.0;
    }
}

/// Stores the column of the leaving variable and reads the next entering one.
#[inline(always)]
fn pass_columns<S: Simd>(d: &mut Dictionary, row: usize, column: usize, next: usize, inverse: f64) {
    let padded = d.column.len();
    let (lane, slot) = (column / WIDTH, column % WIDTH);
    let (next_lane, next_slot) = (next / WIDTH, next % WIDTH);
    for (i, (lanes, entry)) in d.table.chunks_exact_mut(d.stride).zip(&mut d.column).enumerate() {
        if i != row {
            lanes[lane].0[slot] = *entry * inverse;
        }
        *entry = lanes[next_lane].0[next_slot];
    }
    for t in 0..d.pending {
        let factor = d.pending_rows[next_lane * PENDING + t].0[next_slot];
        let multipliers = &d.pending_columns[t * padded..(t + 1) * padded];
        for (entry, &multiplier) in d.column.iter_mut().zip(multipliers) {
            *entry = fused::<S>(multiplier, factor, *entry);
        }
    }
}

/// Adds the pending products to the table, two rows at a time. Rows they do not touch are skipped.
#[inline(always)]
fn add_pending<S: Simd>(d: &mut Dictionary) {
    let padded = d.column.len();
    let multipliers = |i: usize| std::array::from_fn(|t| d.pending_columns[t * padded + i]);
    for (pair, rows) in d.table.chunks_mut(2 * d.stride).enumerate() {
        let (first, second) = rows.split_at_mut(d.stride);
        let a: [f64; PENDING] = multipliers(2 * pair);
        let b: [f64; PENDING] = multipliers((2 * pair + 1).min(padded - 1));
        if second.is_empty() || b == [0.0; PENDING] {
            add_to_row::<S>(first, &d.pending_rows, a);
        } else if a == [0.0; PENDING] {
            add_to_row::<S>(second, &d.pending_rows, b);
        } else {
            add_to_rows::<S>(first, second, &d.pending_rows, a, b);
        }
    }
    d.pending = 0;
}

#[inline(always)]
fn add_to_row<S: Simd>(row: &mut [Lane], pending: &[Lane], a: [f64; PENDING]) {
    if a == [0.0; PENDING] {
        return;
    }
    let (pending, _) = pending.as_chunks::<PENDING>();
    for (x, products) in row.iter_mut().zip(pending) {
        let mut sum = x.0;
        for t in 0..PENDING {
            let y = products[t].0;
            for k in 0..WIDTH {
                sum[k] = fused::<S>(a[t], y[k], sum[k]);
            }
        }
        x.0 = sum;
    }
}

#[inline(always)]
fn add_to_rows<S: Simd>(
    first: &mut [Lane],
    second: &mut [Lane],
    pending: &[Lane],
    a: [f64; PENDING],
    b: [f64; PENDING],
) {
    let (pending, _) = pending.as_chunks::<PENDING>();
    for ((x, z), products) in first.iter_mut().zip(second).zip(pending) {
        let (mut sum, mut other) = (x.0, z.0);
        for t in 0..PENDING {
            let y = products[t].0;
            for k in 0..WIDTH {
                sum[k] = fused::<S>(a[t], y[k], sum[k]);
                other[k] = fused::<S>(b[t], y[k], other[k]);
            }
        }
        (x.0, z.0) = (sum, other);
    }
}

/// a b + c, in one rounding where the processor has it: emulated it would be slower than the whole method.
#[inline(always)]
fn fused<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// Where each row blocks: rhs / −entry for entries below −`smallest_pivot` max(1, largest entry). Returns the
/// smallest.
///
/// A right-hand side that rounding has left below zero blocks at once.
#[inline(always)]
fn ratios(rhs: &[f64], column: &[f64], ratio: &mut [f64], smallest_pivot: f64) -> f64 {
    let mut least = [f64::INFINITY; WIDTH];
    let mut largest = [1.0; WIDTH];
    let (rhs, _) = rhs.as_chunks::<WIDTH>();
    let (column, _) = column.as_chunks::<WIDTH>();
    let (ratio, _) = ratio.as_chunks_mut::<WIDTH>();
    for column in column {
        for k in 0..WIDTH {
            largest[k] = if column[k].abs() > largest[k] { column[k].abs() } else { largest[k] };
        }
    }
    let largest = largest.iter().fold(1.0, |a: f64, &b| a.max(b));
    let smallest_pivot = smallest_pivot * largest;
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
    least.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
}
