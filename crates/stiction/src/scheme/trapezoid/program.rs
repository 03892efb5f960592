//! The greatest least of affine functions: max over z of min over j of c_j + g_j·z.
//!
//! The linear program min Σ c y over y ≥ 0, Σ g y = 0, Σ y = 1 by the simplex method; −z are the prices of Σ g y = 0. A
//! function that is added is one more column, so that the last basis is a start for the next one.

use nalgebra::{DMatrix, DVector};

/// What a column that is in no basis yet costs, in units of the largest that is: enough to drive it out.
const DEAR: f64 = 1e6;

/// Columns to start from that are left to less than this are none.
const NOTHING: f64 = 1e-9;

/// Exchanges at most, and those after which the least index goes first, which cannot cycle: until then it is the one
/// that gains most, which takes a third as many.
const EXCHANGES: usize = 400;
const CAREFUL: usize = 60;

/// Exchanges after which the inverse of the basis is formed anew.
const AGE: usize = 20;

/// The program, and where it stands.
#[derive(Debug)]
pub(super) struct Program {
    /// Number of rows: those of g and the sum.
    n: usize,
    /// (g, 1), one after the other, and c.
    columns: Vec<f64>,
    costs: Vec<f64>,
    /// The column of each row; those from [`START`] on are unit vectors to start from.
    basis: Vec<usize>,
    inverse: DMatrix<f64>,
    age: usize,
}

const START: usize = usize::MAX / 2;

impl Program {
    /// A program without functions, of z with so many components.
    pub(super) fn new(size: usize) -> Self {
        let n = size + 1;
        let basis = (START..START + n).collect();
        Self { n, columns: Vec::new(), costs: Vec::new(), basis, inverse: DMatrix::identity(n, n), age: 0 }
    }

    /// Adds the function c + g·z.
    pub(super) fn add(&mut self, c: f64, g: &DVector<f64>) {
        self.costs.push(c);
        self.columns.extend(g.iter());
        self.columns.push(1.0);
    }

    /// The greatest least and a z with it; `None` if there is no greatest one.
    pub(super) fn greatest(&mut self) -> Option<(f64, DVector<f64>)> {
        let largest = self.costs.iter().fold(f64::MIN_POSITIVE, |m: f64, c| m.max(c.abs()));
        let cost = |j: usize, costs: &[f64]| if j < START { costs[j] } else { DEAR * largest };
        for exchange in 0..EXCHANGES {
            if self.age >= AGE {
                self.renew()?;
            }
            let held = DVector::from_iterator(self.n, self.basis.iter().map(|&j| cost(j, &self.costs)));
            let prices = self.inverse.tr_mul(&held);
            let Some(enters) = self.entering(&prices, largest, exchange > CAREFUL) else {
                // once more with an inverse that has no past
                if self.age > 0 {
                    self.renew()?;
                    continue;
                }
                let y = self.inverse.column(self.n - 1);
                let parts = || self.basis.iter().zip(&y);
                let left: f64 = parts().filter(|(j, _)| **j >= START).map(|(_, y)| *y).sum();
                let slack = parts().filter(|(j, _)| **j < START).map(|(&j, y)| self.costs[j] * y).sum();
                return (left < NOTHING).then(|| (slack, -prices.rows(0, self.n - 1).into_owned()));
            };
            self.exchange(enters)?;
        }
        None
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.n..][..self.n]
    }

    /// A column that is worth more than it costs.
    fn entering(&self, prices: &DVector<f64>, largest: f64, careful: bool) -> Option<usize> {
        let dearest = prices.amax();
        let mut best = (0.0, None);
        for j in (0..self.costs.len()).filter(|j| !self.basis.contains(j)) {
            let column = self.column(j);
            let (mut worth, mut size) = (0.0, 0.0_f64);
            for (price, x) in prices.iter().zip(column) {
                worth += price * x;
                size = size.max(x.abs());
            }
            let gain = worth - self.costs[j];
            if gain > 1e-14 * largest.max(dearest * size) && gain > best.0 {
                best = (gain, Some(j));
                if careful {
                    break;
                }
            }
        }
        best.1
    }

    /// Takes a column into the basis for the first that it drives to zero.
    fn exchange(&mut self, enters: usize) -> Option<()> {
        let change = &self.inverse * DVector::from_column_slice(self.column(enters));
        let y = self.inverse.column(self.n - 1);
        let most = change.amax();
        let ratio = |i: usize| y[i].max(0.0) / change[i];
        let leaves = (0..self.n)
            .filter(|&i| change[i] > 1e-12 * most)
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(self.basis[a].cmp(&self.basis[b])))?;
        let scale = 1.0 / change[leaves];
        for c in 0..self.n {
            let pivot = scale * self.inverse[(leaves, c)];
            for i in 0..self.n {
                self.inverse[(i, c)] -= change[i] * pivot;
            }
            self.inverse[(leaves, c)] = pivot;
        }
        self.basis[leaves] = enters;
        self.age += 1;
        Some(())
    }

    /// The inverse of the basis from its columns.
    fn renew(&mut self) -> Option<()> {
        let matrix = DMatrix::from_fn(self.n, self.n, |i, k| match self.basis[k] {
            j if j < START => self.column(j)[i],
            unit => f64::from(u8::from(unit - START == i)),
        });
        self.inverse = matrix.try_inverse()?;
        self.age = 0;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle: the point of it that is farthest from all sides, and how far that is; then a side that cuts it off.
    #[test]
    fn the_centre_of_a_triangle() {
        let mut program = Program::new(2);
        let diagonal = 0.5_f64.sqrt();
        program.add(0.0, &DVector::from_vec(vec![1.0, 0.0]));
        program.add(0.0, &DVector::from_vec(vec![0.0, 1.0]));
        assert!(program.greatest().is_none(), "a quadrant goes on for ever");
        program.add(diagonal, &DVector::from_vec(vec![-diagonal, -diagonal]));
        let (radius, centre) = program.greatest().unwrap();
        let expected = 1.0 / (2.0 + 2.0_f64.sqrt());
        assert!((radius - expected).abs() < 1e-14 && (centre.add_scalar(-expected)).amax() < 1e-14);
        program.add(0.2, &DVector::from_vec(vec![0.0, -1.0]));
        assert!((program.greatest().unwrap().0 - 0.1).abs() < 1e-14);
    }
}
