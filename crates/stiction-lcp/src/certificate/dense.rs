//! Certificates of dense problems.

use super::{Candidate, JudgeBuffers, RowResiduals, larger};
use nalgebra::{DMatrix, DVector};

/// Diagonal entry below which it counts as round-off, relative to the largest entry of its column. Sensible range 1e-14
/// to 1e-10: below, cancellation would weigh an impulse; above, a soft row would be weighed by its neighbours.
const ROUND_OFF_DIAGONAL_RELATIVE: f64 = 1e-12;

/// Dense problem with the scale that its certificates share.
pub(crate) struct DenseJudge<'a> {
    m: &'a DMatrix<f64>,
    q: &'a DVector<f64>,
    free: &'a [bool],
    pub(super) buffers: JudgeBuffers,
    speed: f64,
}

impl<'a> DenseJudge<'a> {
    pub(super) fn new(
        m: &'a DMatrix<f64>,
        q: &'a DVector<f64>,
        free: &'a [bool],
        buffers: JudgeBuffers,
    ) -> Self {
        let speed = q.amax().max(f64::MIN_POSITIVE);
        Self { m, q, free, buffers, speed }
    }

    pub(super) fn certify(&self, z: &[f64], out: &mut Candidate) {
        out.begin(z, self.q.len(), self.speed);
        out.w.copy_from_slice(self.q.as_slice());
        // by columns, as the matrix is stored; most unknowns of a solution are zero
        for (column, &z) in self.m.as_slice().chunks_exact(self.q.len()).zip(&out.z) {
            if z != 0.0 {
                out.w.iter_mut().zip(column).for_each(|(w, m)| *w += m * z);
            }
        }
        let residual = &mut out.certificate;
        let mut rows = RowResiduals { speed: self.speed, ..RowResiduals::default() };
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

/// Weight of `z_j`, the `w` that one unit of it causes: `M_jj`, or the largest entry of its row and column if `M_jj` is
/// round-off of those.
fn weight(m: &DMatrix<f64>, j: usize) -> f64 {
    let diagonal = m[(j, j)].abs();
    let n = m.nrows();
    let column = largest(&m.as_slice()[j * n..][..n]);
    if diagonal > ROUND_OFF_DIAGONAL_RELATIVE * column {
        return diagonal;
    }
    let around = m.row(j).iter().fold(column, |a: f64, x| a.max(x.abs()));
    if around > 0.0 { around } else { 1.0 }
}

/// Largest absolute value, in eight lanes at a time.
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
