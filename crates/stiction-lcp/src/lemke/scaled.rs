//! ScaledLcp problem that Lemke's method pivots on: rows and columns equilibrated, the original data unchanged.

#![allow(
    clippy::inline_always,
    reason = "code outside of the dispatch is compiled without the wide registers"
)]

use super::dictionary::Dictionary;
use super::kernels::{WIDTH, padded};
use super::tolerances::{FRICTION_COVER, MAX_ROW_OVER_DIAGONAL, MAX_SCALE, MIN_SCALE};
use crate::problem::Lcp;
use pulp::{Arch, Simd, WithSimd};

/// ScaledLcp problem `M' = R M C`, `q' = R q / s` with positive diagonal R and C and s = max(−R q).
///
/// z = s C z' solves the original exactly if z' solves the scaled problem: signs and zeros are the same. s ignores
/// large positive entries of q, which belong to contacts far apart: they would make residuals look small.
#[derive(Debug, Clone, Default)]
pub(super) struct ScaledLcp {
    pub(super) row: Vec<f64>,
    pub(super) column: Vec<f64>,
    pub(super) q: Vec<f64>,
    /// s, one when q ≥ 0.
    pub(super) q_scale: f64,
    /// max|M'|, at most about one when scaled; one when M = 0.
    pub(super) m_scale: f64,
    /// Covering vector d of `w = q + M z + d z₀`: the column of the artificial variable.
    pub(super) cover: Vec<f64>,
    /// Covering vector of the first attempt, empty if it would be d = 1.
    bias: Vec<f64>,
    /// Buffer: largest entries of rows against scaled columns.
    largest: Vec<f64>,
    /// Buffer: scales by the diagonal.
    by_diagonal: Vec<f64>,
}

impl ScaledLcp {
    /// Chooses the scales of a problem.
    pub(super) fn prepare(&mut self, lcp: &Lcp, scaling: bool) {
        let n = lcp.q.len();
        for scales in [&mut self.row, &mut self.column, &mut self.cover] {
            scales.clear();
            scales.resize(n, 1.0);
        }
        for work in [&mut self.largest, &mut self.by_diagonal] {
            work.clear();
            work.resize(n, 0.0);
        }
        self.m_scale = 1.0;
        if scaling {
            Arch::new().dispatch(Equilibrate { scaled: self, lcp });
        } else {
            // an unscaled problem may be small throughout, never too large: w = q + z₀ grows from one
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

    /// Equilibrates by the diagonal where there is one, `r_i = c_i = 1/√|M_ii|`: units of energy.
    ///
    /// Rows and columns without diagonal (λ in friction: `μ c_n − Σβ`, and `E λ` in the rows of β) follow their
    /// neighbours: their largest entry against scaled columns (rows) becomes one. A change of the units of
    /// mass, length and time then multiplies all of R q by one number, which s cancels.
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
        // rows scaled by columns do not scale columns, unless there are no others
        self.by_diagonal.copy_from_slice(&self.row);
        self.scale_rows_by_columns(m);
        self.scale_columns_by_rows(m);
        self.limit_rows();
    }

    /// Scales rows without diagonal by the largest entry against columns with one, or against all if that is zero.
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

    /// Scales columns without diagonal by the largest entry against rows with one, or against all if that is zero.
    #[inline(always)]
    fn scale_columns_by_rows(&mut self, m: &[f64]) {
        let n = self.row.len();
        for j in 0..n {
            if self.column[j] > 0.0 {
                continue;
            }
            let column = &m[j * n..(j + 1) * n];
            let against = largest_product(column, &self.by_diagonal);
            let largest = if against > 0.0 { against } else { largest_product(column, &self.row) };
            let scale = if largest > 0.0 { usable(1.0 / largest) } else { 1.0 };
            self.column[j] = scale;
            enlarge(&mut self.largest, column, scale);
        }
    }

    /// Divides rows whose entries exceed the diagonal by far by their largest entry.
    #[inline(always)]
    fn limit_rows(&mut self) {
        for (r, &largest) in self.row.iter_mut().zip(&self.largest) {
            if *r * largest > MAX_ROW_OVER_DIAGONAL {
                *r = usable(1.0 / largest);
            }
        }
    }

    /// Writes M' into the dictionary.
    pub(super) fn write(&self, lcp: &Lcp, d: &mut Dictionary) {
        let n = lcp.q.len();
        let (matrix, extent) = d.reserve(n);
        Arch::new().dispatch(WriteMatrix { scaled: self, m: lcp.m.as_slice(), matrix, extent });
    }

    /// Whether [`ScaledLcp::choose_cover`] has a choice.
    pub(super) fn is_biased(&self) -> bool {
        !self.bias.is_empty()
    }

    /// Chooses d for a start at z = 0: ones, or biased, larger where friction acts.
    pub(super) fn choose_cover(&mut self, biased: bool) {
        if biased {
            self.cover.clone_from(&self.bias);
        } else {
            self.cover.fill(1.0);
        }
    }

    /// Finds the biased d: larger in rows that variables without diagonal push up.
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
                *bias = if entry > 0.0 { FRICTION_COVER } else { *bias };
            }
        }
    }

    /// Computes w' = M' z' + q' + d z₀ from the original data.
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

/// Dispatch of [`ScaledLcp::write`].
struct WriteMatrix<'a> {
    scaled: &'a ScaledLcp,
    m: &'a [f64],
    matrix: &'a mut [f64],
    extent: &'a mut [(usize, usize)],
}

impl WithSimd for WriteMatrix<'_> {
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

/// Range of a padded column that is not zero, in whole lanes.
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

/// Dispatch of [`ScaledLcp::equilibrate`].
struct Equilibrate<'a> {
    scaled: &'a mut ScaledLcp,
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

/// Largest product |entry| · scale.
#[inline(always)]
fn largest_product(entries: &[f64], scales: &[f64]) -> f64 {
    let mut largest = 0.0;
    for (entry, scale) in entries.iter().zip(scales) {
        let size = entry.abs() * scale;
        largest = if size > largest { size } else { largest };
    }
    largest
}

/// Scale factor clamped so that products do not overflow.
fn usable(scale: f64) -> f64 {
    scale.clamp(MIN_SCALE, MAX_SCALE)
}
