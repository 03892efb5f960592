//! LU factorization with partial pivoting of small dense matrices: bases of Lemke's method, Newton matrices over a few
//! hundred velocities, Schur complements of joints.

use super::triangular::{backward, eliminate_column, forward};

/// `P A = L U`, row-major, in place. Storage is reused between factorizations.
#[derive(Debug, Clone, Default)]
pub(crate) struct DenseLu {
    size: usize,
    entries: Vec<f64>,
    swaps: Vec<usize>,
}

/// Relative size of a pivot that counts as zero: `|pivot| ≤ SINGULAR_DENSE_PIVOT · max|A|` [-]. Sensible range 1e-15
/// to 1e-10. Pivots of Lemke's method are above its `pivot_tolerance` (1e-9), so a basis it has found passes. Larger
/// values refuse such bases; smaller values accept rounding errors as data.
const SINGULAR_DENSE_PIVOT: f64 = 1e-13;

impl DenseLu {
    /// Factorizes the `size` × `size` matrix of these entries; `false` if it is singular.
    pub(crate) fn factorize(&mut self, size: usize, entry: impl Fn(usize, usize) -> f64) -> bool {
        self.size = size;
        self.entries.clear();
        self.swaps.clear();
        for i in 0..size {
            self.entries.extend((0..size).map(|j| entry(i, j)));
        }
        let smallest = SINGULAR_DENSE_PIVOT * self.entries.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        (0..size).all(|step| self.eliminate(step, smallest))
    }

    fn eliminate(&mut self, step: usize, smallest: f64) -> bool {
        let n = self.size;
        let (mut pivot, mut largest) = (step, 0.0);
        for i in step..n {
            let candidate = self.entries[i * n + step].abs();
            if candidate > largest {
                (pivot, largest) = (i, candidate);
            }
        }
        // written so that a NaN is refused as well
        if !(largest > smallest && largest.is_finite()) {
            return false;
        }
        self.swaps.push(pivot);
        let (above, below) = self.entries.split_at_mut((step + 1) * n);
        let row = &mut above[step * n..];
        if pivot != step {
            let other = (pivot - step - 1) * n;
            row.swap_with_slice(&mut below[other..other + n]);
        }
        eliminate_column(row, below, step);
        true
    }

    /// Solves A x = b in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = self.size;
        for (step, &pivot) in self.swaps.iter().enumerate() {
            x.swap(step, pivot);
        }
        forward(&self.entries, n, &mut x[..n], true);
        backward(&self.entries, n, &mut x[..n]);
    }
}
