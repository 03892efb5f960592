//! LU factorization with full pivoting, which reveals the rank and the null space: bases of the enumeration.

use super::triangular::{backward, eliminate_column};

/// `P A Q = L U`, row-major; rows of U below the rank are left out.
pub(crate) struct RankRevealingLu {
    n: usize,
    rank: usize,
    /// L below the diagonal, U on and above it, by rows.
    lu: Vec<f64>,
    row: Vec<usize>,
    column: Vec<usize>,
}

impl RankRevealingLu {
    /// Factors an n × n matrix; pivots of size at most `tolerance` count as zero.
    pub(crate) fn new(n: usize, entry: impl Fn(usize, usize) -> f64, tolerance: f64) -> Self {
        let lu = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let mut factor = Self { n, rank: 0, lu, row: (0..n).collect(), column: (0..n).collect() };
        while factor.rank < n {
            let (i, j, size) = factor.largest();
            // a NaN pivot is not refused here: it shows in the solution
            if size <= tolerance {
                break;
            }
            factor.eliminate(i, j);
        }
        factor
    }

    fn largest(&self) -> (usize, usize, f64) {
        let (n, k) = (self.n, self.rank);
        let mut best = (k, k, self.lu[k * n + k].abs());
        for i in k..n {
            for j in k..n {
                let size = self.lu[i * n + j].abs();
                if size > best.2 {
                    best = (i, j, size);
                }
            }
        }
        best
    }

    fn eliminate(&mut self, i: usize, j: usize) {
        let (n, k) = (self.n, self.rank);
        if i != k {
            (0..n).for_each(|c| self.lu.swap(i * n + c, k * n + c));
            self.row.swap(i, k);
        }
        if j != k {
            (0..n).for_each(|r| self.lu.swap(r * n + j, r * n + k));
            self.column.swap(j, k);
        }
        let (above, below) = self.lu.split_at_mut((k + 1) * n);
        eliminate_column(&above[k * n..], below, k);
        self.rank += 1;
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.rank == self.n
    }

    pub(crate) fn nullity(&self) -> usize {
        self.n - self.rank
    }

    /// `x ← A⁻¹ x` if A is regular, else a solution with zeros in the columns past the rank. Returns the largest entry
    /// of the residual, which no solution can make smaller.
    pub(crate) fn solve(&self, x: &mut [f64]) -> f64 {
        let n = self.n;
        let mut y: Vec<f64> = self.row.iter().map(|&i| x[i]).collect();
        for i in 0..n {
            let dot: f64 = (0..i.min(self.rank)).map(|k| self.lu[i * n + k] * y[k]).sum();
            y[i] -= dot;
        }
        let missed =
            y[self.rank..].iter().fold(0.0, |a: f64, y| if y.is_nan() { *y } else { a.max(y.abs()) });
        y[self.rank..].fill(0.0);
        backward(&self.lu, n, &mut y[..self.rank]);
        self.column.iter().zip(&y).for_each(|(&j, &y)| x[j] = y);
        missed
    }

    /// The `k`-th vector of a basis of the null space.
    pub(crate) fn null_vector(&self, k: usize) -> Vec<f64> {
        let (n, free) = (self.n, self.rank + k);
        let mut y = vec![0.0; n];
        (0..self.rank).for_each(|i| y[i] = -self.lu[i * n + free]);
        backward(&self.lu, n, &mut y[..self.rank]);
        y[free] = 1.0;
        let mut x = vec![0.0; n];
        self.column.iter().zip(&y).for_each(|(&j, &y)| x[j] = y);
        x
    }
}
