//! Max-min program: max over z of min over j of c_j + g_j·z, for load sharing.
//!
//! Its dual min Σ c y over y ≥ 0, Σ g y = 0, Σ y = 1 is solved by the simplex method; −z are the prices of Σ g y = 0. An
//! added function is one more column, so the last basis is a warm start.

use super::constants::{
    ARTIFICIAL_COST, ARTIFICIAL_ZERO, BLAND_AFTER, INVERSE_MAX_AGE, MAX_SIMPLEX_PIVOTS, PIVOT_RELATIVE,
    REDUCED_COST_RELATIVE,
};
use nalgebra::{DMatrix, DVector};

/// Max-min program with its basis.
#[derive(Debug)]
pub(super) struct MaxMinProgram {
    /// Number of rows: the components of g and the sum.
    n: usize,
    /// Columns (g, 1), one after the other.
    columns: Vec<f64>,
    /// Costs c.
    costs: Vec<f64>,
    /// Column of each row; those from [`FIRST_ARTIFICIAL`] on are artificial unit columns.
    basis: Vec<usize>,
    inverse: DMatrix<f64>,
    /// Pivots since the inverse was computed.
    age: usize,
}

/// Reason why a program has no greatest minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoMaximum {
    /// The minimum is unbounded.
    Unbounded,
    /// The simplex method failed by round-off or by its limit of pivots.
    NotFound,
}

/// Index of the first artificial column, beyond all others.
const FIRST_ARTIFICIAL: usize = usize::MAX / 2;

impl MaxMinProgram {
    /// Program without functions, for z with `size` components.
    pub(super) fn new(size: usize) -> Self {
        let n = size + 1;
        let basis = (FIRST_ARTIFICIAL..FIRST_ARTIFICIAL + n).collect();
        Self { n, columns: Vec::new(), costs: Vec::new(), basis, inverse: DMatrix::identity(n, n), age: 0 }
    }

    /// Adds the function c + g·z.
    pub(super) fn add(&mut self, c: f64, g: &DVector<f64>) {
        self.costs.push(c);
        self.columns.extend(g.iter());
        self.columns.push(1.0);
    }

    /// Least of the functions at `z`.
    pub(super) fn value(&self, z: &DVector<f64>) -> f64 {
        let value = |(c, g): (&f64, &[f64])| c + z.iter().zip(g).map(|(z, g)| z * g).sum::<f64>();
        self.costs.iter().zip(self.columns.chunks_exact(self.n)).map(value).fold(f64::INFINITY, f64::min)
    }

    /// Greatest minimum and a z that attains it.
    pub(super) fn solve(&mut self) -> Result<(f64, DVector<f64>), NoMaximum> {
        let largest = self.costs.iter().fold(f64::MIN_POSITIVE, |m: f64, c| m.max(c.abs()));
        let cost =
            |j: usize, costs: &[f64]| if j < FIRST_ARTIFICIAL { costs[j] } else { ARTIFICIAL_COST * largest };
        for pivot in 0..MAX_SIMPLEX_PIVOTS {
            if self.age >= INVERSE_MAX_AGE {
                self.invert().ok_or(NoMaximum::NotFound)?;
            }
            let basic_costs =
                DVector::from_iterator(self.n, self.basis.iter().map(|&j| cost(j, &self.costs)));
            let prices = self.inverse.tr_mul(&basic_costs);
            let Some(enters) = self.entering(&prices, largest, pivot > BLAND_AFTER) else {
                // confirm with an inverse computed from the columns
                if self.age > 0 {
                    self.invert().ok_or(NoMaximum::NotFound)?;
                    continue;
                }
                let y = self.inverse.column(self.n - 1);
                let basic = || self.basis.iter().zip(&y);
                let artificial: f64 = basic().filter(|(j, _)| **j >= FIRST_ARTIFICIAL).map(|(_, y)| *y).sum();
                let slack =
                    basic().filter(|(j, _)| **j < FIRST_ARTIFICIAL).map(|(&j, y)| self.costs[j] * y).sum();
                if artificial >= ARTIFICIAL_ZERO {
                    return Err(NoMaximum::Unbounded);
                }
                return Ok((slack, -prices.rows(0, self.n - 1).into_owned()));
            };
            self.pivot(enters).ok_or(NoMaximum::NotFound)?;
        }
        Err(NoMaximum::NotFound)
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.n..][..self.n]
    }

    /// Column that enters: one with a positive gain.
    fn entering(&self, prices: &DVector<f64>, largest: f64, first: bool) -> Option<usize> {
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
            if gain > REDUCED_COST_RELATIVE * largest.max(dearest * size) && gain > best.0 {
                best = (gain, Some(j));
                if first {
                    break;
                }
            }
        }
        best.1
    }

    /// Pivots a column into the basis, for the first that it drives to zero.
    fn pivot(&mut self, enters: usize) -> Option<()> {
        let change = &self.inverse * DVector::from_column_slice(self.column(enters));
        let y = self.inverse.column(self.n - 1);
        let most = change.amax();
        let ratio = |i: usize| y[i].max(0.0) / change[i];
        let leaves = (0..self.n)
            .filter(|&i| change[i] > PIVOT_RELATIVE * most)
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

    /// Computes the inverse of the basis from its columns.
    fn invert(&mut self) -> Option<()> {
        let matrix = DMatrix::from_fn(self.n, self.n, |i, k| match self.basis[k] {
            j if j < FIRST_ARTIFICIAL => self.column(j)[i],
            unit => f64::from(u8::from(unit - FIRST_ARTIFICIAL == i)),
        });
        self.inverse = matrix.try_inverse()?;
        self.age = 0;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In-centre and in-radius of a triangle; then a side that cuts it off.
    #[test]
    fn finds_the_in_centre_of_a_triangle() {
        let mut program = MaxMinProgram::new(2);
        let diagonal = 0.5_f64.sqrt();
        program.add(0.0, &DVector::from_vec(vec![1.0, 0.0]));
        program.add(0.0, &DVector::from_vec(vec![0.0, 1.0]));
        assert_eq!(program.solve().unwrap_err(), NoMaximum::Unbounded, "a quadrant is unbounded");
        program.add(diagonal, &DVector::from_vec(vec![-diagonal, -diagonal]));
        let (radius, centre) = program.solve().unwrap();
        let expected = 1.0 / (2.0 + 2.0_f64.sqrt());
        assert!((radius - expected).abs() < 1e-14 && (centre.add_scalar(-expected)).amax() < 1e-14);
        program.add(0.2, &DVector::from_vec(vec![0.0, -1.0]));
        assert!((program.solve().unwrap().0 - 0.1).abs() < 1e-14);
    }
}
