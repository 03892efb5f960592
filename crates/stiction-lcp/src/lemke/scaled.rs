//! The problem Lemke's method pivots on: rows and columns equilibrated, the original data untouched.

// what is not inlined into the dispatch is compiled without the wide registers
#![allow(clippy::inline_always)]

use super::dictionary::Dictionary;
use super::kernels::{WIDTH, padded};
use crate::problem::Lcp;
use pulp::{Arch, Simd, WithSimd};

/// `M' = R M C`, `q' = R q / s` with positive diagonal R and C and s = max(−R q).
///
/// Contacts far apart have large positive entries of q. They are not what an answer is measured by, so they must not
/// make the residuals look small.
///
/// z = s C z' solves the original exactly when z' solves the scaled problem: signs and zeros are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Scaled {
    pub(super) row: Vec<f64>,
    pub(super) column: Vec<f64>,
    pub(super) q: Vec<f64>,
    /// s, one when q ≥ 0.
    pub(super) q_scale: f64,
    /// max|M'|, at most about one when scaled; one when M = 0.
    pub(super) m_scale: f64,
    /// The covering vector d of `w = q + M z + d z₀`.
    pub(super) cover: Vec<f64>,
    /// The cover of a first try, empty if it would be d = 1.
    bias: Vec<f64>,
    /// Work: largest entries of rows against scaled columns, and scales by the diagonal.
    largest: Vec<f64>,
    settled: Vec<f64>,
}

/// A row of M' may exceed one by this factor before it is divided by its largest entry [-].
///
/// For positive semidefinite M and for contact with friction, dividing by the diagonal leaves no entry above
/// one, so the factor only has to absorb rounding; it is passed by matrices whose diagonal says nothing.
const OVERFLOWING_ROW: f64 = 4.0;

/// z₀ covers rows that a variable without diagonal pushes up (the speeds of β, pushed by λ) this many times as
/// much as the others [-].
///
/// Friction is then slack until the normal impulses carry the bodies, and enters once: with 10 towers of 8 and
/// 16 boxes take 140 and 320 pivots instead of 230 and 530, the random mixture 17 instead of 20. From 4 to 20
/// the counts differ by a tenth; from 100 on the rows that are covered less meet the tolerances of the ties.
const SLACK_FRICTION: f64 = 10.0;

impl Scaled {
    /// Chooses the scales of a problem.
    pub(super) fn prepare(&mut self, lcp: &Lcp, scaling: bool) {
        let n = lcp.q.len();
        for scales in [&mut self.row, &mut self.column, &mut self.cover] {
            scales.clear();
            scales.resize(n, 1.0);
        }
        for work in [&mut self.largest, &mut self.settled] {
            work.clear();
            work.resize(n, 0.0);
        }
        self.m_scale = 1.0;
        if scaling {
            Arch::new().dispatch(Equilibrate { scaled: self, lcp });
        } else {
            // an unscaled problem may be small throughout, never too large: the growth of w = q + z₀ counts from one
            let largest = lcp.m.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            self.m_scale = if largest > 0.0 { largest.min(1.0) } else { 1.0 };
        }
        self.bias.clear();
        if scaling {
            self.bias_cover(lcp);
        }
        self.scale_q(lcp);
    }

    fn scale_q(&mut self, lcp: &Lcp) {
        self.q.clear();
        self.q.extend(lcp.q.iter().zip(&self.row).map(|(q, r)| q * r));
        let closing = self.q.iter().fold(0.0, |a: f64, q| a.max(-q));
        self.q_scale = if closing > 0.0 && closing.is_finite() { closing } else { 1.0 };
        for q in &mut self.q {
            *q /= self.q_scale;
        }
    }

    /// Scales by the diagonal where there is one, `r_i = c_i = 1/√|M_ii|`, as energy would have it.
    ///
    /// Rows and columns without diagonal (λ in friction: `μ c_n − Σβ`, and `E λ` in the rows of β) follow their
    /// neighbours: their largest entry against scaled columns (rows) becomes one. A change of the units of
    /// mass, length and time then multiplies all of R q by one number, which s takes away again.
    #[inline(always)]
    fn equilibrate(&mut self, lcp: &Lcp) {
        let (n, m) = (lcp.q.len(), lcp.m.as_slice());
        for (r, diagonal) in self.row.iter_mut().zip(m.iter().step_by(n + 1)) {
            *r = diagonal.abs();
        }
        for r in &mut self.row {
            let scale = usable(1.0 / r.sqrt());
            *r = if *r > 0.0 { scale } else { 0.0 };
        }
        self.column.copy_from_slice(&self.row);
        // rows that follow columns do not lead columns unless there are no others
        self.settled.copy_from_slice(&self.row);
        self.scale_rows_by_columns(m);
        self.scale_columns_by_rows(m);
        self.tame_rows();
    }

    /// Rows without diagonal, by the largest entry against columns with one, or against all if that is zero.
    #[inline(always)]
    fn scale_rows_by_columns(&mut self, m: &[f64]) {
        let n = self.row.len();
        self.largest.fill(0.0);
        for (column, &c) in m.chunks_exact(n).zip(&self.column) {
            if c > 0.0 {
                enlarge(&mut self.largest, column, c);
            }
        }
        let mut incomplete = false;
        for (r, &largest) in self.row.iter_mut().zip(&self.largest) {
            if *r == 0.0 && largest > 0.0 {
                *r = usable(1.0 / largest);
            }
            incomplete |= *r == 0.0;
        }
        if incomplete {
            for (i, r) in self.row.iter_mut().enumerate().filter(|(_, r)| **r == 0.0) {
                let largest = (0..n).fold(0.0, |a: f64, j| a.max(m[j * n + i].abs()));
                *r = if largest > 0.0 { usable(1.0 / largest) } else { 1.0 };
            }
        }
    }

    /// Columns without diagonal, by the largest entry against rows with one, or against all if that is zero.
    #[inline(always)]
    fn scale_columns_by_rows(&mut self, m: &[f64]) {
        let n = self.row.len();
        for j in 0..n {
            if self.column[j] > 0.0 {
                continue;
            }
            let column = &m[j * n..(j + 1) * n];
            let settled = largest_product(column, &self.settled);
            let largest = if settled > 0.0 { settled } else { largest_product(column, &self.row) };
            let scale = if largest > 0.0 { usable(1.0 / largest) } else { 1.0 };
            self.column[j] = scale;
            enlarge(&mut self.largest, column, scale);
        }
    }

    /// Divides rows whose entries tower above the diagonal by their largest entry.
    #[inline(always)]
    fn tame_rows(&mut self) {
        for (r, &largest) in self.row.iter_mut().zip(&self.largest) {
            if *r * largest > OVERFLOWING_ROW {
                *r = usable(1.0 / largest);
            }
        }
    }

    /// Writes M' where the dictionary wants it.
    pub(super) fn write(&self, lcp: &Lcp, d: &mut Dictionary) {
        let n = lcp.q.len();
        let (matrix, extent) = d.reserve(n);
        Arch::new().dispatch(Write { scaled: self, m: lcp.m.as_slice(), matrix, extent });
    }

    /// Whether [`Scaled::choose_cover`] has a choice.
    pub(super) fn is_biased(&self) -> bool {
        !self.bias.is_empty()
    }

    /// Covers z = 0: with d = 1, or biased, with more where friction acts.
    pub(super) fn choose_cover(&mut self, biased: bool) {
        if biased {
            self.cover.clone_from(&self.bias);
        } else {
            self.cover.fill(1.0);
        }
    }

    /// Finds the rows that variables without diagonal push up.
    fn bias_cover(&mut self, lcp: &Lcp) {
        let n = lcp.q.len();
        self.bias.clear();
        let m = lcp.m.as_slice();
        for j in 0..n {
            if m[j * n + j] != 0.0 {
                continue;
            }
            self.bias.resize(n, 1.0);
            for (bias, &entry) in self.bias.iter_mut().zip(&m[j * n..(j + 1) * n]) {
                *bias = if entry > 0.0 { SLACK_FRICTION } else { *bias };
            }
        }
    }

    /// w' = M' z' + q' (+ d z₀) from the original data.
    pub(super) fn w(&self, lcp: &Lcp, z: &[f64], z0: f64, w: &mut Vec<f64>) {
        let n = lcp.q.len();
        w.clear();
        w.resize(n, 0.0);
        for (j, &z) in z.iter().enumerate() {
            let z = z * self.column[j];
            if z != 0.0 {
                let column = &lcp.m.as_slice()[j * n..(j + 1) * n];
                for (w, m) in w.iter_mut().zip(column) {
                    *w += m * z;
                }
            }
        }
        for i in 0..n {
            w[i] = w[i] * self.row[i] + (self.q[i] + self.cover[i] * z0);
        }
    }
}

/// [`Scaled::write`] as one dispatch.
struct Write<'a> {
    scaled: &'a Scaled,
    m: &'a [f64],
    matrix: &'a mut [f64],
    extent: &'a mut [(usize, usize)],
}

impl WithSimd for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { scaled, m, matrix, extent } = self;
        let n = scaled.row.len();
        let columns =
            matrix.chunks_exact_mut(padded(n)).zip(extent).zip(m.chunks_exact(n)).zip(&scaled.column);
        for (((scaled_column, extent), column), &c) in columns {
            let (entries, padding) = scaled_column.split_at_mut(n);
            for ((entry, m), r) in entries.iter_mut().zip(column).zip(&scaled.row) {
                *entry = r * m * c;
            }
            padding.fill(0.0);
            *extent = filled(scaled_column);
        }
    }
}

/// Where a padded column is not zero, in whole lanes.
#[inline(always)]
fn filled(column: &[f64]) -> (usize, usize) {
    let (lanes, _) = column.as_chunks::<WIDTH>();
    let filled = |lane: &[f64; WIDTH]| {
        let mut sizes = [0.0; WIDTH / 2];
        for k in 0..WIDTH / 2 {
            sizes[k] = lane[k].abs() + lane[k + WIDTH / 2].abs();
        }
        // written so that a NaN counts
        !(sizes.iter().sum::<f64>() <= 0.0)
    };
    let first = lanes.iter().position(filled).unwrap_or(0);
    let end = lanes.iter().rposition(filled).map_or(first, |lane| lane + 1);
    (first * WIDTH, end * WIDTH)
}

/// [`Scaled::equilibrate`] as one dispatch.
struct Equilibrate<'a> {
    scaled: &'a mut Scaled,
    lcp: &'a Lcp,
}

impl WithSimd for Equilibrate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.scaled.equilibrate(self.lcp);
    }
}

/// Raises the largest entries of rows to those of a column times its scale.
#[inline(always)]
fn enlarge(largest: &mut [f64], column: &[f64], scale: f64) {
    for (largest, entry) in largest.iter_mut().zip(column) {
        // written as a comparison it would become a masked store, which is slow
        *largest = largest.max(entry.abs() * scale);
    }
}

#[inline(always)]
fn largest_product(entries: &[f64], scales: &[f64]) -> f64 {
    let mut largest = 0.0;
    for (entry, scale) in entries.iter().zip(scales) {
        let size = entry.abs() * scale;
        largest = if size > largest { size } else { largest };
    }
    largest
}

/// Scales beyond these overflow as soon as they are multiplied; such rows keep what scale they have.
fn usable(scale: f64) -> f64 {
    scale.clamp(1e-150, 1e150)
}
