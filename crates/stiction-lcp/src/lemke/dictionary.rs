//! The condensed dictionary of Lemke's method and its one operation, the Jordan exchange.
//!
//! Of the 2n + 1 variables w, z and z₀, n are basic and n + 1 are not; a dictionary writes the first in terms
//! of the second, `basic = rhs + T · nonbasic`. Only T is stored: the columns of basic variables are unit
//! vectors.

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

/// `basic = rhs + T · nonbasic`. Variable k is w_k, n + k is z_k and 2n is z₀.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    pub(super) n: usize,
    /// Lanes per row.
    stride: usize,
    table: Vec<Lane>,
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
    pivot_row: Vec<Lane>,
    live: Vec<usize>,
}

impl Dictionary {
    /// Makes room for n rows, with w basic, z and z₀ not, and zeros everywhere.
    pub(super) fn reset(&mut self, n: usize) {
        self.n = n;
        self.stride = (n + 1).div_ceil(WIDTH);
        let padded = n.div_ceil(WIDTH) * WIDTH;
        refill(&mut self.table, n * self.stride, Lane::default());
        refill(&mut self.pivot_row, self.stride, Lane::default());
        refill(&mut self.rhs, padded, 0.0);
        refill(&mut self.column, padded, 0.0);
        refill(&mut self.ratio, padded, f64::INFINITY);
        self.live.reserve(self.stride);
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
        self.table[row * self.stride + column / WIDTH].0[column % WIDTH]
    }

    pub(super) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.table[row * self.stride + column / WIDTH].0[column % WIDTH] = value;
    }

    /// Writes lane `lane` of row `row`.
    pub(super) fn set_lane(&mut self, row: usize, lane: usize, values: [f64; WIDTH]) {
        self.table[row * self.stride + lane].0 = values;
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

/// The exchange as one dispatch: pivot row, all other rows, the next entering column and its ratios.
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
        let stride = d.stride;
        // y_s = (x_r − rhs_r − Σ T_rj y_j) / T_rs
        let inverse = 1.0 / d.column[row];
        d.live.clear();
        let pivot_row = &mut d.table[row * stride..(row + 1) * stride];
        pivot_row[column / WIDTH].0[column % WIDTH] = -1.0;
        for (k, (copy, lane)) in d.pivot_row.iter_mut().zip(pivot_row).enumerate() {
            let mut any = false;
            for (x, y) in copy.0.iter_mut().zip(&mut lane.0) {
                *y *= -inverse;
                *x = *y;
                any |= *y != 0.0;
            }
            if any {
                d.live.push(k);
            }
        }
        let value = -d.rhs[row] * inverse;
        d.rhs[row] = value;
        // x_i: T_is goes to zero, then a multiple of the pivot row is added
        let (column_lane, column_slot) = (column / WIDTH, column % WIDTH);
        let (next_lane, next_slot) = (next / WIDTH, next % WIDTH);
        let dense = 2 * d.live.len() > stride;
        let rows = d.table.chunks_exact_mut(stride).zip(d.column.iter_mut()).zip(d.rhs.iter_mut());
        for (i, ((lanes, entry), rhs)) in rows.enumerate() {
            let a = *entry;
            if a != 0.0 && i != row {
                lanes[column_lane].0[column_slot] = 0.0;
                *rhs = fused::<S>(a, value, *rhs);
                if dense {
                    for (x, y) in lanes.iter_mut().zip(&d.pivot_row) {
                        add_multiple::<S>(x, a, y);
                    }
                } else {
                    for &k in &d.live {
                        add_multiple::<S>(&mut lanes[k], a, &d.pivot_row[k]);
                    }
                }
            }
            *entry = lanes[next_lane].0[next_slot];
        }
        ratios(&d.rhs, &d.column, &mut d.ratio, smallest_pivot)
    }
}

#[inline(always)]
fn add_multiple<S: Simd>(x: &mut Lane, a: f64, y: &Lane) {
    let (mut sum, y) = (x.0, y.0);
    for k in 0..WIDTH {
        sum[k] = fused::<S>(a, y[k], sum[k]);
    }
    x.0 = sum;
}

/// a b + c, in one rounding where the processor has it: emulated it would be slower than the whole method.
#[inline(always)]
fn fused<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// Where each row blocks: rhs / −entry for entries below −`smallest_pivot`. Returns the smallest.
///
/// A right-hand side that rounding has left below zero blocks at once.
#[inline(always)]
fn ratios(rhs: &[f64], column: &[f64], ratio: &mut [f64], smallest_pivot: f64) -> f64 {
    let mut least = [f64::INFINITY; WIDTH];
    let (rhs, _) = rhs.as_chunks::<WIDTH>();
    let (column, _) = column.as_chunks::<WIDTH>();
    let (ratio, _) = ratio.as_chunks_mut::<WIDTH>();
    for ((rhs, column), ratio) in rhs.iter().zip(column).zip(ratio) {
        for k in 0..WIDTH {
            let value = if rhs[k] > 0.0 { rhs[k] } else { 0.0 };
            let step = value / -column[k];
            ratio[k] = if column[k] < -smallest_pivot { step } else { f64::INFINITY };
            least[k] = if ratio[k] < least[k] { ratio[k] } else { least[k] };
        }
    }
    least.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
}
