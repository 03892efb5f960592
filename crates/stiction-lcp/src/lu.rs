//! LU factorization with partial pivoting of small dense matrices.

/// `P A = L U`, row-major, in place, in storage that is kept between uses.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lu {
    k: usize,
    a: Vec<f64>,
    swaps: Vec<usize>,
}

/// A pivot below this times the largest entry of A counts as zero [-].
///
/// Pivots of Lemke's method are above `pivot_tolerance` (1e-9), so a basis it has found passes; larger values
/// refuse such bases, smaller ones accept rounding as data.
const SINGULAR: f64 = 1e-13;

impl Lu {
    /// Factorizes the k × k matrix of these entries; `false` if it is singular.
    pub(crate) fn factorize(&mut self, k: usize, entry: impl Fn(usize, usize) -> f64) -> bool {
        self.k = k;
        self.a.clear();
        self.swaps.clear();
        for i in 0..k {
            self.a.extend((0..k).map(|j| entry(i, j)));
        }
        let smallest = SINGULAR * self.a.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        (0..k).all(|step| self.eliminate(step, smallest))
    }

    fn eliminate(&mut self, step: usize, smallest: f64) -> bool {
        let k = self.k;
        let (mut pivot, mut size) = (step, 0.0);
        for i in step..k {
            let candidate = self.a[i * k + step].abs();
            if candidate > size {
                (pivot, size) = (i, candidate);
            }
        }
        // written so that a NaN is refused as well
        if !(size > smallest && size.is_finite()) {
            return false;
        }
        self.swaps.push(pivot);
        let (above, below) = self.a.split_at_mut((step + 1) * k);
        let row = &mut above[step * k..];
        if pivot != step {
            let other = (pivot - step - 1) * k;
            row.swap_with_slice(&mut below[other..other + k]);
        }
        for other in below.chunks_exact_mut(k) {
            let factor = other[step] / row[step];
            other[step] = factor;
            if factor != 0.0 {
                for (x, y) in other[step + 1..].iter_mut().zip(&row[step + 1..]) {
                    *x -= factor * y;
                }
            }
        }
        true
    }

    /// Solves A x = b in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let k = self.k;
        for (step, &pivot) in self.swaps.iter().enumerate() {
            x.swap(step, pivot);
        }
        for i in 0..k {
            let known: f64 = self.a[i * k..i * k + i].iter().zip(&x[..i]).map(|(a, x)| a * x).sum();
            x[i] -= known;
        }
        for i in (0..k).rev() {
            let row = &self.a[i * k..(i + 1) * k];
            let known: f64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(a, x)| a * x).sum();
            x[i] = (x[i] - known) / row[i];
        }
    }
}
