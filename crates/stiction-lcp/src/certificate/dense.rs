//! The judge of dense problems.

use super::{Candidate, Rows, Storage, larger};
use nalgebra::{DMatrix, DVector};

/// A dense problem with the scale its certificates share.
pub(crate) struct DenseJudge<'a> {
    m: &'a DMatrix<f64>,
    q: &'a DVector<f64>,
    free: &'a [bool],
    pub(super) storage: Storage,
    speed: f64,
}

impl<'a> DenseJudge<'a> {
    pub(super) fn new(m: &'a DMatrix<f64>, q: &'a DVector<f64>, free: &'a [bool], storage: Storage) -> Self {
        let speed = q.amax().max(f64::MIN_POSITIVE);
        Self { m, q, free, storage, speed }
    }

    pub(super) fn certify(&self, z: &[f64], out: &mut Candidate) {
        out.begin(z, self.q.len(), self.speed);
        out.w.copy_from_slice(self.q.as_slice());
        // column after column, as the matrix is stored; most unknowns of a solution are zero
        for (column, &z) in self.m.as_slice().chunks_exact(self.q.len()).zip(&out.z) {
            if z != 0.0 {
                out.w.iter_mut().zip(column).for_each(|(w, m)| *w += m * z);
            }
        }
        let residual = &mut out.certificate;
        let mut rows = Rows { speed: self.speed, ..Rows::default() };
        for (j, (&z, &w)) in out.z.iter().zip(&out.w).enumerate() {
            if self.free.get(j).copied().unwrap_or(false) {
                residual.joints = larger(residual.joints, w.abs() / self.speed);
            } else {
                // zero weighs nothing, and most unknowns of a solution are zero
                rows.pair(if z == 0.0 { 0.0 } else { weight(self.m, j) * z }, w);
            }
        }
        (residual.natural_map, residual.cone) = (rows.natural_map, rows.cone);
        residual.complementarity = rows.complementarity;
    }
}

/// How much `w` one unit of `z_j` is worth: `M_jj`, or the largest entry of its row and column where that is
/// only round-off of them.
fn weight(m: &DMatrix<f64>, j: usize) -> f64 {
    let diagonal = m[(j, j)].abs();
    let n = m.nrows();
    let column = largest(&m.as_slice()[j * n..][..n]);
    if diagonal > 1e-12 * column {
        return diagonal;
    }
    let around = m.row(j).iter().fold(column, |a: f64, x| a.max(x.abs()));
    if around > 0.0 { around } else { 1.0 }
}

/// The largest size of a number, in eight lanes at a time.
fn largest(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = numbers.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = if x.abs() > *lane { x.abs() } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(0.0, |a, x| if x.abs() > a { x.abs() } else { a })
}
