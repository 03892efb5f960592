//! Linear program: max o·y over all y with c_j + g_j·y ≥ 0 for all j, for a few unknowns y and many constraints.
//!
//! Its dual min Σ c x over x ≥ 0, Σ g x = −o is solved by the simplex method; −y are the prices of its rows. An added
//! constraint is one more column, so the last basis is a warm start. For intervals of impulses and the search of motions.

use nalgebra::{DMatrix, DVector};

/// Cost of an artificial column, in units of the largest cost. Default 1e6, range 1e3 to 1e9. Below: artificial columns
/// stay in the basis. Above: prices lose digits.
const ARTIFICIAL_COST: f64 = 1e6;

/// Artificial columns below this value count as zero. Default 1e-9, range 1e-12 to 1e-6. Below: bounded programs seem
/// unbounded. Above: the reverse.
const ARTIFICIAL_ZERO: f64 = 1e-9;

/// Pivot limit of the simplex method: a number, and per unknown.
const MAX_SIMPLEX_PIVOTS: [usize; 2] = [400, 40];

/// Pivots after which the least index enters (Bland's rule, which cannot cycle): a number, and per unknown. Until then
/// the greatest gain enters, which takes a third as many pivots.
const BLAND_AFTER: [usize; 2] = [60, 4];

/// Pivots after which the inverse of the basis is computed again. Default 20, range 5 to 100: time against round-off.
const INVERSE_MAX_AGE: usize = 20;

/// A column enters if its gain exceeds this × the size of the terms. Default 1e-14, range ε to 1e-12. Below: round-off
/// pivots. Above: the optimum is missed by that.
const REDUCED_COST_RELATIVE: f64 = 1e-14;

/// Gain from which a column enters in a tolerant program, relative as above, and difference of ratios up to which columns
/// tie there. Default 1e-11, range 1e-13 to 1e-9. Below: pivots among nearly parallel cuts cycle. Above: the optimum is
/// missed by that.
const TOLERANT_RELATIVE: f64 = 1e-11;

/// Entries of at most this × the largest of a column are no pivots. Default 1e-12, range 1e-14 to 1e-9. Below: a
/// singular basis. Above: the wrong column leaves.
const PIVOT_RELATIVE: f64 = 1e-12;

/// Index of the first artificial column, beyond all others.
const FIRST_ARTIFICIAL: usize = usize::MAX / 2;

/// Linear program with its basis.
#[derive(Debug)]
pub struct LinearProgram {
    /// Number of unknowns y.
    n: usize,
    /// −o, the right-hand side of the dual.
    rhs: DVector<f64>,
    /// Columns g, one after the other.
    columns: Vec<f64>,
    /// Costs c.
    costs: Vec<f64>,
    /// Column of each row; those from [`FIRST_ARTIFICIAL`] on are artificial unit columns with the signs of `rhs`.
    basis: Vec<usize>,
    inverse: DMatrix<f64>,
    /// Gains and ratios of round-off size are ignored.
    tolerant: bool,
    /// Pivots since the inverse was computed.
    age: usize,
}

/// Reason why a program has no optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOptimum {
    /// The objective is unbounded.
    Unbounded,
    /// No y satisfies the constraints, or the simplex method failed by round-off or by its limit of pivots.
    NotFound,
}

impl LinearProgram {
    /// Program without constraints that maximizes `objective`.
    pub fn new(objective: &DVector<f64>) -> Self {
        let n = objective.len();
        let (columns, costs, basis) = (Vec::new(), Vec::new(), Vec::new());
        let rhs = DVector::zeros(n);
        let inverse = DMatrix::zeros(n, n);
        let mut program = Self { n, rhs, columns, costs, basis, inverse, tolerant: false, age: 0 };
        program.set_objective(objective);
        program
    }

    /// Program with many nearly parallel constraints, as tangent cuts are: gains of round-off size are ignored, and of
    /// columns that tie the one with the largest pivot leaves.
    #[must_use]
    pub fn tolerant(self) -> Self {
        Self { tolerant: true, ..self }
    }

    /// Replaces the objective, and starts from no basis.
    pub fn set_objective(&mut self, objective: &DVector<f64>) {
        self.rhs = -objective;
        self.basis.clear();
        self.basis.extend(FIRST_ARTIFICIAL..FIRST_ARTIFICIAL + self.n);
        self.inverse = DMatrix::from_diagonal(&self.rhs.map(sign));
        self.age = 0;
    }

    /// Adds the constraint c + g·y ≥ 0.
    pub fn add<'a>(&mut self, c: f64, g: impl IntoIterator<Item = &'a f64>) {
        self.costs.push(c);
        self.columns.extend(g);
        debug_assert_eq!(self.columns.len(), self.n * self.costs.len());
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Whether there is no constraint.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Drops all constraints but the first `count`. An objective has to be set before the next solve.
    pub fn truncate(&mut self, count: usize) {
        self.costs.truncate(count);
        self.columns.truncate(count * self.n);
    }

    /// Least slack c + g·y of the constraints at `y`.
    pub fn least_slack(&self, y: &DVector<f64>) -> f64 {
        let slack = |(c, g): (&f64, &[f64])| c + y.iter().zip(g).map(|(y, g)| y * g).sum::<f64>();
        self.costs.iter().zip(self.columns.chunks_exact(self.n)).map(slack).fold(f64::INFINITY, f64::min)
    }

    /// Program for the directions in which this one is unbounded: max o·y over all y of at most unit size with g_j·y ≥ 0.
    #[must_use]
    pub fn recession(&self, objective: &DVector<f64>) -> Self {
        let mut program = Self { tolerant: self.tolerant, ..Self::new(objective) };
        program.columns.clone_from(&self.columns);
        program.costs.resize(self.costs.len(), 0.0);
        for i in 0..self.n {
            for side in [-1.0, 1.0] {
                let column = DVector::from_fn(self.n, |k, _| if k == i { side } else { 0.0 });
                program.add(1.0, &column);
            }
        }
        program
    }

    /// Greatest value of the objective, and a y that attains it.
    pub fn solve(&mut self) -> Result<(f64, DVector<f64>), NoOptimum> {
        let largest = self.costs.iter().fold(f64::MIN_POSITIVE, |m: f64, c| m.max(c.abs()));
        let cost =
            |j: usize, costs: &[f64]| if j < FIRST_ARTIFICIAL { costs[j] } else { ARTIFICIAL_COST * largest };
        let limit = |[fixed, each]: [usize; 2]| fixed.max(each * self.n);
        let (pivots, bland) = (limit(MAX_SIMPLEX_PIVOTS), limit(BLAND_AFTER));
        for pivot in 0..pivots {
            if self.age >= INVERSE_MAX_AGE {
                self.invert().ok_or(NoOptimum::NotFound)?;
            }
            let basic_costs =
                DVector::from_iterator(self.n, self.basis.iter().map(|&j| cost(j, &self.costs)));
            let prices = self.inverse.tr_mul(&basic_costs);
            let Some(enters) = self.entering(&prices, largest, pivot > bland) else {
                // confirm with an inverse computed from the columns
                if self.age > 0 {
                    self.invert().ok_or(NoOptimum::NotFound)?;
                    continue;
                }
                let x = &self.inverse * &self.rhs;
                let basic = || self.basis.iter().zip(&x);
                let artificial: f64 = basic().filter(|(j, _)| **j >= FIRST_ARTIFICIAL).map(|(_, x)| *x).sum();
                let value =
                    basic().filter(|(j, _)| **j < FIRST_ARTIFICIAL).map(|(&j, x)| self.costs[j] * x).sum();
                if artificial >= ARTIFICIAL_ZERO {
                    return Err(NoOptimum::Unbounded);
                }
                return Ok((value, -prices));
            };
            self.pivot(enters).ok_or(NoOptimum::NotFound)?;
        }
        Err(NoOptimum::NotFound)
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.n..][..self.n]
    }

    /// Column that enters: one with a positive gain.
    fn entering(&self, prices: &DVector<f64>, largest: f64, first: bool) -> Option<usize> {
        let dearest = prices.amax();
        let relative = if self.tolerant { TOLERANT_RELATIVE } else { REDUCED_COST_RELATIVE };
        let mut best = (0.0, None);
        for j in (0..self.costs.len()).filter(|j| !self.basis.contains(j)) {
            let column = self.column(j);
            let (mut worth, mut size) = (0.0, 0.0_f64);
            for (price, x) in prices.iter().zip(column) {
                worth += price * x;
                size = size.max(x.abs());
            }
            let gain = worth - self.costs[j];
            if gain > relative * largest.max(dearest * size) && gain > best.0 {
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
        let x = &self.inverse * &self.rhs;
        let most = change.amax();
        let ratio = |i: usize| x[i].max(0.0) / change[i];
        let pivots = || (0..self.n).filter(|&i| change[i] > PIVOT_RELATIVE * most);
        let least = pivots()
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(self.basis[a].cmp(&self.basis[b])))?;
        let ties = |i: &usize| ratio(*i) <= ratio(least) + TOLERANT_RELATIVE * self.rhs.amax();
        let stable = |&a: &usize, &b: &usize| change[a].total_cmp(&change[b]);
        let leaves = if self.tolerant { pivots().filter(ties).max_by(stable)? } else { least };
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
            unit if unit - FIRST_ARTIFICIAL == i => sign(self.rhs[i]),
            _ => 0.0,
        });
        self.inverse = matrix.try_inverse()?;
        self.age = 0;
        Some(())
    }
}

/// Sign of a number; 1 of zero.
fn sign(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In-centre and in-radius of a triangle, as the greatest least distance; then a side that cuts it off.
    #[test]
    fn finds_the_in_centre_of_a_triangle() {
        let mut program = LinearProgram::new(&DVector::from_vec(vec![0.0, 0.0, 1.0]));
        let diagonal = 0.5_f64.sqrt();
        program.add(0.0, &[1.0, 0.0, -1.0]);
        program.add(0.0, &[0.0, 1.0, -1.0]);
        assert_eq!(program.solve().unwrap_err(), NoOptimum::Unbounded, "a quadrant is unbounded");
        program.add(diagonal, &[-diagonal, -diagonal, -1.0]);
        let (radius, centre) = program.solve().unwrap();
        let expected = 1.0 / (2.0 + 2.0_f64.sqrt());
        assert!((radius - expected).abs() < 1e-14 && (centre.add_scalar(-expected)).amax() < 1e-14);
        program.add(0.2, &[0.0, -1.0, -1.0]);
        assert!((program.solve().unwrap().0 - 0.1).abs() < 1e-14);
    }

    /// Corners of a triangle in all directions, and a strip that is unbounded along itself.
    #[test]
    fn finds_corners_in_every_direction() {
        let mut program = LinearProgram::new(&DVector::zeros(2));
        // x ≥ −1, y ≥ −2, x + y ≤ 3
        program.add(1.0, &[1.0, 0.0]);
        program.add(2.0, &[0.0, 1.0]);
        program.add(3.0, &[-1.0, -1.0]);
        let corners = [[-1.0, -2.0], [5.0, -2.0], [-1.0, 4.0]];
        for k in 0..60 {
            let (sin, cos) = (f64::from(k) / 60.0 * std::f64::consts::TAU).sin_cos();
            program.set_objective(&DVector::from_vec(vec![cos, sin]));
            let expected = corners.map(|[x, y]| cos * x + sin * y).into_iter().fold(f64::MIN, f64::max);
            let (value, at) = program.solve().unwrap();
            assert!((value - expected).abs() < 1e-12, "{k}: {value} {expected}");
            assert!((cos * at[0] + sin * at[1] - expected).abs() < 1e-12);
        }
        let mut strip = LinearProgram::new(&DVector::from_vec(vec![0.0, 1.0]));
        strip.add(1.0, &[0.0, 1.0]);
        strip.add(1.0, &[0.0, -1.0]);
        assert!((strip.solve().unwrap().0 - 1.0).abs() < 1e-15);
        for along in [1.0, -1.0] {
            strip.set_objective(&DVector::from_vec(vec![along, 0.0]));
            let objective = DVector::from_vec(vec![along, 0.0]);
            assert_eq!(strip.solve().unwrap_err(), NoOptimum::Unbounded);
            let (_, ray) = strip.recession(&objective).solve().unwrap();
            assert_eq!(ray, objective);
        }
    }
}
