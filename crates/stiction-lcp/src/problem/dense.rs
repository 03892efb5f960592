//! Dense complementarity problems: textbook systems, oracles, and condensed step problems.

use super::{Malformed, finite};
use nalgebra::{DMatrix, DVector};

/// Linear complementarity problem: find `z` with `0 ≤ z ⊥ w = M z + q ≥ 0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Lcp {
    /// Matrix M.
    pub m: DMatrix<f64>,
    /// Vector q.
    pub q: DVector<f64>,
}

/// Mixed linear complementarity problem: an [`Lcp`] with free rows, where `w = 0` and `z` has any sign.
#[derive(Debug, Clone, PartialEq)]
pub struct Mlcp {
    /// Matrix M.
    pub m: DMatrix<f64>,
    /// Vector q.
    pub q: DVector<f64>,
    /// Whether each row is free.
    pub free: Vec<bool>,
}

impl Lcp {
    /// Builds an LCP from the rows of M and q. Rows of unequal length are found by [`Lcp::check`].
    pub fn from_rows<R: AsRef<[f64]>>(m: &[R], q: &[f64]) -> Self {
        let columns = m.first().map_or(0, |row| row.as_ref().len());
        let entry = |i: usize, j: usize| m[i].as_ref().get(j).copied().unwrap_or(f64::NAN);
        Self { m: DMatrix::from_fn(m.len(), columns, entry), q: DVector::from_column_slice(q) }
    }

    /// Checks sizes and entries.
    pub fn check(&self) -> Result<(), Malformed> {
        check_dense(&self.m, &self.q)
    }
}

impl Mlcp {
    /// Checks sizes and entries.
    pub fn check(&self) -> Result<(), Malformed> {
        check_dense(&self.m, &self.q)?;
        if self.free.len() != self.q.len() {
            let what = format!("has {} entries, q has {}", self.free.len(), self.q.len());
            return Err(Malformed::at("free", what));
        }
        Ok(())
    }
}

fn check_dense(m: &DMatrix<f64>, q: &DVector<f64>) -> Result<(), Malformed> {
    let n = q.len();
    if n == 0 {
        return Err(Malformed::at("q", "the problem is empty"));
    }
    if m.shape() != (n, n) {
        return Err(Malformed::at("m", format!("is {} × {}, q has {n} entries", m.nrows(), m.ncols())));
    }
    if all_finite(q.as_slice()) && all_finite(m.as_slice()) {
        return Ok(());
    }
    for (i, &q) in q.iter().enumerate() {
        finite(q, || format!("q[{i}]"))?;
    }
    for (j, column) in m.column_iter().enumerate() {
        for (i, &m) in column.iter().enumerate() {
            finite(m, || format!("m[{i}][{j}]"))?;
        }
    }
    Ok(())
}

/// Whether all numbers are finite. Does not stop at the first that is not, so that the compiler vectorizes it.
fn all_finite(numbers: &[f64]) -> bool {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    !numbers.iter().fold(false, |bad, x| bad | (x.to_bits() & EXPONENT == EXPONENT))
}
