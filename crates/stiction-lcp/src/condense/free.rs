//! Free rows of a mixed problem turned into complementary ones, by elimination or by splitting.

use crate::problem::{Lcp, Mlcp};
use nalgebra::{DMatrix, DVector, Dyn, FullPivLU};

/// Mixed problem as an LCP, with the data that recovers its free unknowns.
pub(crate) struct FreeRows {
    free: Vec<usize>,
    bound: Vec<usize>,
    form: FreeRowForm,
    pub(crate) lcp: Lcp,
}

/// Treatment of the free rows.
enum FreeRowForm {
    /// Elimination z_f = −M_ff⁻¹ (M_fb z_b + q_f), if M_ff is regular.
    Eliminated {
        /// M_ff, factored.
        lu: FullPivLU<f64, Dyn, Dyn>,
        /// M_fb.
        coupling: DMatrix<f64>,
        /// q_f.
        offset: DVector<f64>,
    },
    /// Splitting z_f = z⁺ − z⁻ with the rows w_f ≥ 0 and −w_f ≥ 0, if M_ff is singular, as for multipliers of
    /// equations. The unknowns of the LCP are z_b, z⁺, z⁻. Copositivity is kept.
    Split,
}

impl FreeRows {
    /// Eliminates the free rows of a problem, or splits them.
    pub(crate) fn new(mlcp: &Mlcp) -> Self {
        let (free, bound): (Vec<usize>, Vec<usize>) = (0..mlcp.q.len()).partition(|&i| mlcp.free[i]);
        let part = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| mlcp.m[(rows[i], columns[j])])
        };
        let pick = |rows: &[usize]| DVector::from_iterator(rows.len(), rows.iter().map(|&i| mlcp.q[i]));
        let lu = part(&free, &free).full_piv_lu();
        let (coupling, offset) = (part(&free, &bound), pick(&free));
        if let (Some(x), Some(y)) = (lu.solve(&coupling), lu.solve(&offset)) {
            let back = part(&bound, &free);
            let lcp = Lcp { m: part(&bound, &bound) - &back * x, q: pick(&bound) - back * y };
            return Self { free, bound, form: FreeRowForm::Eliminated { lu, coupling, offset }, lcp };
        }
        let signs: Vec<(usize, f64)> = bound
            .iter()
            .map(|&i| (i, 1.0))
            .chain(free.iter().map(|&i| (i, 1.0)))
            .chain(free.iter().map(|&i| (i, -1.0)))
            .collect();
        let n = signs.len();
        let entry = |i: usize, j: usize| {
            let ((row, a), (column, b)) = (signs[i], signs[j]);
            a * b * mlcp.m[(row, column)]
        };
        let lcp = Lcp {
            m: DMatrix::from_fn(n, n, entry),
            q: DVector::from_fn(n, |i, _| signs[i].1 * mlcp.q[signs[i].0]),
        };
        Self { free, bound, form: FreeRowForm::Split, lcp }
    }

    /// All unknowns from the unknowns of the LCP.
    pub(crate) fn unknowns(&self, z: &[f64]) -> Vec<f64> {
        let free = match &self.form {
            FreeRowForm::Eliminated { lu, coupling, offset } => {
                // regular, because elimination succeeded
                lu.solve(&-(coupling * DVector::from_column_slice(z) + offset))
            }
            FreeRowForm::Split => Some(self.difference(z)),
        };
        self.merged(z, free.as_ref())
    }

    /// Direction of all unknowns when the unknowns of the LCP move along `ray`.
    pub(crate) fn direction(&self, ray: &[f64]) -> Vec<f64> {
        let free = match &self.form {
            FreeRowForm::Eliminated { lu, coupling, .. } => {
                lu.solve(&-(coupling * DVector::from_column_slice(ray)))
            }
            FreeRowForm::Split => Some(self.difference(ray)),
        };
        self.merged(ray, free.as_ref())
    }

    /// Combination of all rows from the combination `y` of the LCP's rows.
    pub(crate) fn combination(&self, mlcp: &Mlcp, y: &[f64]) -> Vec<f64> {
        let free = match &self.form {
            FreeRowForm::Eliminated { .. } => {
                // no free unknown enters: M_ffᵀ y_f = −M_bfᵀ y_b
                let n = self.free.len();
                let block = DMatrix::from_fn(n, n, |i, j| mlcp.m[(self.free[j], self.free[i])]);
                let right = DVector::from_fn(n, |i, _| {
                    -self.bound.iter().zip(y).map(|(&b, y)| mlcp.m[(b, self.free[i])] * y).sum::<f64>()
                });
                block.full_piv_lu().solve(&right)
            }
            FreeRowForm::Split => Some(self.difference(y)),
        };
        self.merged(y, free.as_ref())
    }

    /// Difference z⁺ − z⁻.
    fn difference(&self, z: &[f64]) -> DVector<f64> {
        let (b, f) = (self.bound.len(), self.free.len());
        DVector::from_fn(f, |i, _| z[b + i] - z[b + f + i])
    }

    /// Unknowns of bound and free rows in one list.
    fn merged(&self, bound: &[f64], free: Option<&DVector<f64>>) -> Vec<f64> {
        let mut all = vec![0.0; self.free.len() + self.bound.len()];
        self.bound.iter().zip(bound).for_each(|(&i, z)| all[i] = *z);
        self.free.iter().zip(free.into_iter().flatten()).for_each(|(&i, z)| all[i] = *z);
        all
    }
}
