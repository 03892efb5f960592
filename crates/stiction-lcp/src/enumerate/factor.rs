//! LU with full pivoting that reveals rank and null space.

/// P A Q = L U, with U's rows below the rank left out.
pub(super) struct Factor {
    n: usize,
    rank: usize,
    /// L below the diagonal, U on and above it, by rows.
    lu: Vec<f64>,
    row: Vec<usize>,
    column: Vec<usize>,
}

impl Factor {
    /// Factors an n × n matrix; pivots of size at most `tolerance` count as zero.
    pub(super) fn new(n: usize, entry: impl Fn(usize, usize) -> f64, tolerance: f64) -> Self {
        let lu = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let mut factor = Self { n, rank: 0, lu, row: (0..n).collect(), column: (0..n).collect() };
        while factor.rank < n {
            let (i, j, size) = factor.largest();
            // a pivot that is not a number goes on and is found in the solution
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
        let pivot = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            let l = row[k] / pivot[k];
            row[k] = l;
            if l != 0.0 {
                row[k + 1..].iter_mut().zip(&pivot[k + 1..]).for_each(|(x, p)| *x -= l * p);
            }
        }
        self.rank += 1;
    }

    pub(super) fn is_regular(&self) -> bool {
        self.rank == self.n
    }

    pub(super) fn nullity(&self) -> usize {
        self.n - self.rank
    }

    /// `x ← A⁻¹ x` where A is regular, else the solution with zeros in the columns past the rank. The number
    /// returned is the largest entry of x that no solution can match.
    pub(super) fn solve(&self, x: &mut [f64]) -> f64 {
        let n = self.n;
        let mut y: Vec<f64> = self.row.iter().map(|&i| x[i]).collect();
        for i in 0..n {
            let dot: f64 = (0..i.min(self.rank)).map(|k| self.lu[i * n + k] * y[k]).sum();
            y[i] -= dot;
        }
        let missed =
            y[self.rank..].iter().fold(0.0, |a: f64, y| if y.is_nan() { *y } else { a.max(y.abs()) });
        y[self.rank..].fill(0.0);
        self.back_substitute(&mut y);
        self.column.iter().zip(&y).for_each(|(&j, &y)| x[j] = y);
        missed
    }

    /// The `k`-th vector of a basis of the null space.
    pub(super) fn null_vector(&self, k: usize) -> Vec<f64> {
        let (n, free) = (self.n, self.rank + k);
        let mut y = vec![0.0; n];
        (0..self.rank).for_each(|i| y[i] = -self.lu[i * n + free]);
        self.back_substitute(&mut y);
        y[free] = 1.0;
        let mut x = vec![0.0; n];
        self.column.iter().zip(&y).for_each(|(&j, &y)| x[j] = y);
        x
    }

    fn back_substitute(&self, y: &mut [f64]) {
        for i in (0..self.rank).rev() {
            let row = &self.lu[i * self.n..(i + 1) * self.n];
            let dot: f64 = (i + 1..self.rank).map(|k| row[k] * y[k]).sum();
            y[i] = (y[i] - dot) / row[i];
        }
    }
}
