//! Certificates of dense problems.
//!
//! Rows of a dense problem may have any units, so each is measured by its own terms. With s_i the largest of |q_i| and
//! all |M_ij z_j|, a complement is measured as w_i / s_i, and an unknown by the largest part |M_ij z_j| / s_i that it has
//! in any row. Both are the same after any positive scaling of rows and columns.

use super::{Candidate, JudgeBuffers, RowResiduals, larger};
use nalgebra::{DMatrix, DVector};

/// Dense problem.
pub(crate) struct DenseJudge<'a> {
    m: &'a DMatrix<f64>,
    q: &'a DVector<f64>,
    free: &'a [bool],
    pub(super) buffers: JudgeBuffers,
}

impl<'a> DenseJudge<'a> {
    pub(super) fn new(
        m: &'a DMatrix<f64>,
        q: &'a DVector<f64>,
        free: &'a [bool],
        buffers: JudgeBuffers,
    ) -> Self {
        Self { m, q, free, buffers }
    }

    pub(super) fn certify(&mut self, z: &[f64], out: &mut Candidate) {
        let mut scales = std::mem::take(&mut self.buffers.size);
        out.begin(z, self.q.len(), self.q.amax());
        self.complements(&out.z, &mut out.w, &mut scales);
        if out.z.iter().any(|z| *z != 0.0) && self.q.iter().any(|q| *q == 0.0) {
            self.spread(&mut scales);
        }
        let residual = &mut out.certificate;
        // speeds of pairs are measured already
        let mut rows = RowResiduals { speed: 1.0, ..RowResiduals::default() };
        for (j, (&z, &w)) in out.z.iter().zip(&out.w).enumerate() {
            // a row of zeros has no scale and needs none
            let w = if w == 0.0 { 0.0 } else { w / scales[j] };
            if self.free.get(j).copied().unwrap_or(false) {
                residual.joints = larger(residual.joints, w.abs());
            } else {
                rows.pair(if z == 0.0 { 0.0 } else { self.part(j, z, &scales) }, w);
            }
        }
        (residual.natural_map, residual.cone) = (rows.natural_map, rows.cone);
        residual.complementarity = rows.complementarity;
        self.buffers.size = scales;
    }

    /// w = M z + q, and the largest term of each row.
    fn complements(&self, z: &[f64], w: &mut [f64], scales: &mut Vec<f64>) {
        w.copy_from_slice(self.q.as_slice());
        scales.clear();
        scales.extend(self.q.iter().map(|q| q.abs()));
        // by columns, as the matrix is stored; most unknowns of a solution are zero
        for (column, &z) in self.m.as_slice().chunks_exact(self.q.len()).zip(z) {
            if z == 0.0 {
                continue;
            }
            for ((w, scale), m) in w.iter_mut().zip(&mut *scales).zip(column) {
                let term = m * z;
                *w += term;
                *scale = scale.max(term.abs());
            }
        }
    }

    /// Unknown `z_j` with its sign, measured by its largest part in a row. One that enters no row is measured as 1.
    fn part(&self, j: usize, z: f64, scales: &[f64]) -> f64 {
        let (mut largest, mut enters) = (0.0_f64, false);
        for (m, &scale) in self.m.column(j).iter().zip(scales) {
            if *m != 0.0 {
                enters = true;
                let part = (m * z).abs();
                largest = larger(largest, if part == 0.0 { 0.0 } else { part / scale });
            }
        }
        if enters { largest * z.signum() } else { z.signum() }
    }

    /// Raises the scales of rows without q, whose terms may all be round-off: they are also measured by the largest
    /// unknowns that no row with q would notice, and so on from row to row.
    fn spread(&self, scales: &mut [f64]) {
        let n = self.q.len();
        let (mut reached, mut measured): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| self.q[i] == 0.0);
        let mut columns: Vec<usize> = (0..n).collect();
        while !(measured.is_empty() || reached.is_empty()) {
            let mut found: Vec<(usize, f64)> = Vec::new();
            columns.retain(|&j| {
                let entries = measured.iter().map(|&i| (self.m[(i, j)].abs(), scales[i]));
                let allowed = entries.filter(|(m, _)| *m > 0.0).map(|(m, scale)| scale / m);
                let least = allowed.fold(f64::INFINITY, f64::min);
                if least.is_finite() {
                    found.push((j, least));
                }
                !least.is_finite()
            });
            measured.clear();
            reached.retain(|&i| {
                let implied = found.iter().map(|&(j, z)| self.m[(i, j)].abs() * z).fold(0.0, f64::max);
                if implied > 0.0 {
                    scales[i] = scales[i].max(implied);
                    measured.push(i);
                }
                implied == 0.0
            });
        }
    }
}
