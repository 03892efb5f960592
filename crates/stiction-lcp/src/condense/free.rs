//! The free rows of a mixed problem eliminated.

use crate::problem::{Lcp, Mlcp};
use nalgebra::{DMatrix, DVector, Dyn, FullPivLU};

/// A mixed problem in its complementary unknowns alone, with what it takes to go back.
pub(crate) struct FreeRows {
    free: Vec<usize>,
    bound: Vec<usize>,
    /// M_ff, factored.
    lu: FullPivLU<f64, Dyn, Dyn>,
    /// M_fb.
    coupling: DMatrix<f64>,
    /// q_f.
    offset: DVector<f64>,
    pub(crate) lcp: Lcp,
}

impl FreeRows {
    /// Eliminates the free rows; the error is the feature this cannot do.
    pub(crate) fn new(mlcp: &Mlcp) -> Result<Self, &'static str> {
        let (free, bound): (Vec<usize>, Vec<usize>) = (0..mlcp.q.len()).partition(|&i| mlcp.free[i]);
        let part = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| mlcp.m[(rows[i], columns[j])])
        };
        let pick = |rows: &[usize]| DVector::from_iterator(rows.len(), rows.iter().map(|&i| mlcp.q[i]));
        let lu = part(&free, &free).full_piv_lu();
        let coupling = part(&free, &bound);
        let offset = pick(&free);
        let (Some(x), Some(y)) = (lu.solve(&coupling), lu.solve(&offset)) else {
            return Err("free rows whose own block is singular");
        };
        let back = part(&bound, &free);
        let lcp = Lcp { m: part(&bound, &bound) - &back * x, q: pick(&bound) - back * y };
        Ok(Self { free, bound, lu, coupling, offset, lcp })
    }

    /// All unknowns from the complementary ones.
    pub(crate) fn unknowns(&self, z: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.free.len() + self.bound.len()];
        self.bound.iter().zip(z).for_each(|(&i, z)| all[i] = *z);
        let right = -(&self.coupling * DVector::from_column_slice(z) + &self.offset);
        // the block was regular when the rows were eliminated
        if let Some(x) = self.lu.solve(&right) {
            self.free.iter().zip(x.iter()).for_each(|(&i, x)| all[i] = *x);
        }
        all
    }

    /// How all unknowns move when the complementary ones move along `ray`.
    pub(crate) fn direction(&self, ray: &[f64]) -> Vec<f64> {
        let still = self.unknowns(&vec![0.0; ray.len()]);
        self.unknowns(ray).iter().zip(&still).map(|(a, b)| a - b).collect()
    }

    /// The combination of all rows whose complementary part is `y` and that no free unknown enters.
    pub(crate) fn combination(&self, mlcp: &Mlcp, y: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.free.len() + self.bound.len()];
        self.bound.iter().zip(y).for_each(|(&i, y)| all[i] = *y);
        let n = self.free.len();
        let block = DMatrix::from_fn(n, n, |i, j| mlcp.m[(self.free[j], self.free[i])]);
        let right = DVector::from_fn(n, |i, _| {
            -self.bound.iter().zip(y).map(|(&b, y)| mlcp.m[(b, self.free[i])] * y).sum::<f64>()
        });
        if let Some(x) = block.full_piv_lu().solve(&right) {
            self.free.iter().zip(x.iter()).for_each(|(&i, x)| all[i] = *x);
        }
        all
    }
}
