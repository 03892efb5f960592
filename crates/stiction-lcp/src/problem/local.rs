//! Friction-contact problem in local form: contacts alone, with the Delassus matrix that couples them.

use super::{
    Body, BodyPair, Contact, FrictionSet, Malformed, OffsetRow, Row, StepProblem, finite, not_negative,
};
use nalgebra::{DMatrix, DVector, Matrix6, SymmetricEigen};
use serde::Serialize;
use std::fmt;

/// Difference of W from its transpose that is accepted, relative to its largest entry: matrices written with a dozen
/// digits have it. Sensible range 1e-14 to 1e-6.
const MAX_ASYMMETRY_RELATIVE: f64 = 1e-10;

/// Negative eigenvalue of W that is accepted, relative to the mean of its diagonal: round-off of a singular matrix.
/// Sensible range 1e-14 to 1e-6.
const MAX_INDEFINITE_RELATIVE: f64 = 1e-10;

/// Asymmetry of W, relative to its largest entry, and negative eigenvalue, relative to the mean of its diagonal, that
/// [`LocalProblem::repaired`] mends: published problems have them. Sensible range 1e-10 to 1e-6.
const MAX_REPAIRED_RELATIVE: f64 = 1e-8;

/// Factor between two shifts of the diagonal that a repair tries.
const SHIFT_GROWTH: f64 = 10.0;

/// Largest number of rows of W: as a full matrix it takes 128 MB then, and a factorization a few seconds.
pub const MAX_LOCAL_ROWS: usize = 4000;

/// Largest number of directions of a friction polygon: beyond 64 it differs from the circle by less than 1 in 400.
pub const MAX_FACETS: usize = 64;

/// Number of rows up to which an error names the least eigenvalue of W: it takes some seconds there.
const MAX_EIGENVALUE_ROWS: usize = 500;

/// Iteration limit of the eigenvalues that an error names; a few iterations per row are needed.
const MAX_EIGENVALUE_ITERATIONS: usize = 10_000;

/// Columns of a block of a factorization, so that most of its work is products of matrices.
const CHOLESKY_BLOCK: usize = 64;

/// Contacts with Coulomb friction in their own coordinates:
///
/// ```text
///  u = W r + q,    0 ≤ u_n ⊥ r_n ≥ 0,    r_t in μ r_n times the friction set, of maximum dissipation against u_t
/// ```
///
/// with (normal, tangents) of each contact one after the other. The unknowns `z` are, for each contact, r_n and its
/// friction unknowns: r_t, or β per generator of a polygon.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalProblem {
    /// Rows of a contact: 3 in space, 2 in the plane.
    pub dim: usize,
    /// Delassus matrix W: the speed that one unit of impulse causes, symmetric and positive semidefinite
    /// [m/s per N s].
    pub w: DMatrix<f64>,
    /// Free speeds q: the speed of each row without impulses [m/s].
    pub q: DVector<f64>,
    /// Coulomb coefficient μ of each contact.
    pub mu: Vec<f64>,
    /// Directions of the friction polygon, even and at least four; `None` is the circle. Must be `None` in the plane.
    pub facets: Option<usize>,
}

impl LocalProblem {
    /// Checks sizes and entries, and that W is symmetric and positive semidefinite up to round-off.
    pub fn check(&self) -> Result<(), Malformed> {
        self.check_entries()?;
        let largest = self.w.amax();
        let n = self.q.len();
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (self.w[(i, j)], self.w[(j, i)]);
                if (a - b).abs() > MAX_ASYMMETRY_RELATIVE * largest {
                    let what = format!("is {a}, and w[{j}][{i}] is {b}: W must be symmetric");
                    return Err(Malformed::at(format!("w[{i}][{j}]"), what));
                }
            }
        }
        if is_definite(self.shifted_matrix(MAX_INDEFINITE_RELATIVE)) {
            return Ok(());
        }
        if n > MAX_EIGENVALUE_ROWS {
            return Err(Malformed::at("w", "must be positive semidefinite"));
        }
        let eigen =
            SymmetricEigen::try_new(self.w.map(|x| x / largest), f64::EPSILON, MAX_EIGENVALUE_ITERATIONS);
        let least = eigen.map_or(f64::NAN, |eigen| largest * eigen.eigenvalues.min());
        let what = format!("must be positive semidefinite; its least eigenvalue is {least:e}");
        Err(Malformed::at("w", what))
    }

    /// The problem with W made symmetric and positive semidefinite, where it is so only to about eight digits, and what
    /// that changed. A W that is farther from it is an error.
    pub fn repaired(mut self) -> Result<(Self, LocalRepair), Malformed> {
        self.check_entries()?;
        let (n, largest) = (self.q.len(), self.w.amax());
        let mut repair = LocalRepair::default();
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (self.w[(i, j)], self.w[(j, i)]);
                let mean = 0.5 * a + 0.5 * b;
                if (a - b).abs() > MAX_REPAIRED_RELATIVE * largest {
                    let what = format!(
                        "is {a}, and w[{j}][{i}] is {b}: W must be symmetric to {MAX_REPAIRED_RELATIVE:e} of its \
                         largest entry"
                    );
                    return Err(Malformed::at(format!("w[{i}][{j}]"), what));
                }
                repair.entries = repair.entries.max((a - mean).abs());
                (self.w[(i, j)], self.w[(j, i)]) = (mean, mean);
            }
        }
        let mut part = MAX_INDEFINITE_RELATIVE;
        // the check allows for round-off by a shift of its own
        while !is_definite(self.shifted_matrix(part)) {
            part *= SHIFT_GROWTH;
            if part > (1.0 + f64::EPSILON * SHIFT_GROWTH) * MAX_REPAIRED_RELATIVE {
                let what = format!(
                    "has a negative eigenvalue beyond {MAX_REPAIRED_RELATIVE:e} of the mean of its diagonal"
                );
                return Err(Malformed::at("w", what));
            }
        }
        if part > MAX_INDEFINITE_RELATIVE {
            repair.diagonal = self.shift(part);
            (0..n).for_each(|i| self.w[(i, i)] += repair.diagonal);
        }
        self.check()?;
        Ok((self, repair))
    }

    /// Checks sizes and entries, and the number of facets.
    fn check_entries(&self) -> Result<(), Malformed> {
        if !(2..=3).contains(&self.dim) {
            return Err(Malformed::at("dim", format!("{} is neither 2 nor 3", self.dim)));
        }
        if self.mu.is_empty() {
            return Err(Malformed::at("mu", "the problem is empty"));
        }
        check_rows(self.q.len())?;
        let n = self.dim * self.mu.len();
        let contacts = self.mu.len();
        if self.q.len() != n {
            let what = format!(
                "has {} entries, {contacts} contacts in {} dimensions have {n}",
                self.q.len(),
                self.dim
            );
            return Err(Malformed::at("q", what));
        }
        if self.w.shape() != (n, n) {
            let (rows, columns) = self.w.shape();
            return Err(Malformed::at("w", format!("is {rows} × {columns}, q has {n} entries")));
        }
        self.mu.iter().enumerate().try_for_each(|(i, mu)| not_negative(*mu, || format!("mu[{i}]")))?;
        self.q.iter().enumerate().try_for_each(|(i, q)| finite(*q, || format!("q[{i}]")))?;
        for i in 0..n {
            for j in 0..n {
                finite(self.w[(i, j)], || format!("w[{i}][{j}]"))?;
            }
        }
        match self.facets {
            Some(_) if self.dim == 2 => {
                Err(Malformed::at("facets", "in the plane friction has one direction"))
            }
            Some(n) if n < 4 || !n.is_multiple_of(2) => {
                Err(Malformed::at("facets", format!("{n} is not an even number of at least 4")))
            }
            Some(n) if n > MAX_FACETS => {
                Err(Malformed::at("facets", format!("{n} directions exceed the limit of {MAX_FACETS}")))
            }
            _ => Ok(()),
        }
    }

    /// Friction set of all contacts.
    pub fn set(&self) -> FrictionSet {
        let polygon = self.facets.and_then(FrictionSet::regular);
        if self.dim == 2 { FrictionSet::line() } else { polygon.unwrap_or_else(FrictionSet::circle) }
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.mu.len() * self.unknowns()
    }

    /// Number of unknowns of a contact.
    pub(crate) fn unknowns(&self) -> usize {
        1 + self.set().unknowns(self.dim - 1)
    }

    /// Contacts, each with a body of its own that has the contact's velocities; `offset` is q.
    pub fn contacts(&self, offset: &DVector<f64>) -> Vec<Contact> {
        let set = self.set();
        let contact = |(i, &mu): (usize, &f64)| {
            let row = |k: usize| {
                let mut j = [0.0; 3];
                j[k] = 1.0;
                OffsetRow { row: Row::one(i, &j[..self.dim]), offset: offset[i * self.dim + k] }
            };
            let tangents = (1..self.dim).map(row).collect();
            Contact { normal: Some(row(0)), tangents, set: set.clone(), mu, kappa: 0.0, bound_by: None }
        };
        self.mu.iter().enumerate().map(contact).collect()
    }

    /// Impulses r along each row from the unknowns `z`, cut or filled with zeros [N s].
    pub fn impulses(&self, z: &[f64]) -> DVector<f64> {
        let size = self.unknowns();
        let mut r = DVector::zeros(self.q.len());
        let Some(contact) = self.contacts(&self.q).into_iter().next() else { return r };
        for (i, own) in z.chunks(size).take(self.mu.len()).enumerate() {
            r[i * self.dim] = own[0];
            let p = contact.tangent_impulse(&own[1..]);
            (1..self.dim).for_each(|k| r[i * self.dim + k] = p[k - 1]);
        }
        r
    }

    /// Unknowns `z` of impulses r along each row, in the plane or with friction circles.
    pub(crate) fn unknowns_of(&self, r: &[f64]) -> Vec<f64> {
        let of_contact = |own: &[f64]| match *own {
            // one unknown for each direction of a line
            [normal, tangent] => vec![normal, tangent.max(0.0), (-tangent).max(0.0)],
            _ => own.to_vec(),
        };
        r.chunks(self.dim).flat_map(of_contact).collect()
    }

    /// Speeds u = W r + q [m/s].
    pub fn speeds(&self, r: &DVector<f64>) -> DVector<f64> {
        &self.w * r + &self.q
    }

    /// Largest entry of W, or 1 if that is zero: products of entries in its units do not overflow.
    fn unit(&self) -> f64 {
        let largest = self.w.amax();
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// Shift ε: `part` of the mean of W's diagonal, or of its unit where that is zero.
    pub(crate) fn shift(&self, part: f64) -> f64 {
        let unit = self.unit();
        let mean = self.w.diagonal().iter().map(|w| w / unit).sum::<f64>() / self.q.len() as f64;
        part * unit * if mean > 0.0 { mean } else { 1.0 }
    }

    /// W with this part of the mean of its diagonal added to the diagonal, in its unit.
    fn shifted_matrix(&self, part: f64) -> DMatrix<f64> {
        let unit = self.unit();
        let n = self.q.len();
        let mut w = DMatrix::from_fn(n, n, |i, j| 0.5 * (self.w[(i, j)] / unit + self.w[(j, i)] / unit));
        let shift = self.shift(part) / unit;
        (0..n).for_each(|i| w[(i, i)] += shift);
        w
    }

    /// Step problem of bodies that have the contacts' velocities, with M̃ = (W + ε)⁻¹, ε `part` of the mean of W's
    /// diagonal: its impulses r and speeds satisfy u = (W + ε) r + q. Contacts that W does not couple have no pair.
    pub(crate) fn step(&self, part: f64) -> Option<StepProblem> {
        let inverse = self.shifted_matrix(part).cholesky()?.inverse() / self.unit();
        let (d, n) = (self.dim, self.mu.len());
        let block = |i: usize, j: usize| {
            Matrix6::from_fn(|r, c| if r < d && c < d { inverse[(i * d + r, j * d + c)] } else { 0.0 })
        };
        let mut step = StepProblem { contacts: self.contacts(&self.q), ..StepProblem::default() };
        for i in 0..n {
            let mut body = Body::new(d, &[], &[0.0; 3][..d]);
            body.mass = block(i, i);
            step.bodies.push(body);
            for j in 0..i {
                let (ab, ba) = (block(j, i), block(i, j));
                if ab.iter().any(|x| *x != 0.0) {
                    step.pairs.push(BodyPair { a: j, b: i, ab, ba });
                }
            }
        }
        Some(step)
    }
}

/// Change of W that made it symmetric and positive semidefinite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LocalRepair {
    /// Largest change of an entry to the mean of it and its transpose [m/s per N s].
    pub entries: f64,
    /// Number added to every entry of the diagonal [m/s per N s].
    pub diagonal: f64,
}

impl fmt::Display for LocalRepair {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { entries, diagonal } = self;
        match (*entries > 0.0, *diagonal > 0.0) {
            (false, false) => f.write_str("W is unchanged"),
            (true, false) => write!(f, "W was made symmetric: entries changed by at most {entries:.1e}"),
            (false, true) => {
                write!(f, "W was made positive semidefinite: {diagonal:.1e} was added to its diagonal")
            }
            (true, true) => write!(
                f,
                "W was made symmetric and positive semidefinite: entries changed by at most {entries:.1e}, and \
                 {diagonal:.1e} was added to its diagonal"
            ),
        }
    }
}

/// Checks the number of rows, before a matrix is made of them.
pub(crate) fn check_rows(rows: usize) -> Result<(), Malformed> {
    if rows <= MAX_LOCAL_ROWS {
        return Ok(());
    }
    Err(Malformed::at("q", format!("has {rows} entries, more than the limit of {MAX_LOCAL_ROWS} rows")))
}

/// Whether a symmetric matrix is positive definite: a Cholesky factorization by blocks, of which only the lower half is
/// read.
fn is_definite(mut a: DMatrix<f64>) -> bool {
    let n = a.nrows();
    for k in (0..n).step_by(CHOLESKY_BLOCK) {
        let own = CHOLESKY_BLOCK.min(n - k);
        let Some(block) = a.view((k, k), (own, own)).clone_owned().cholesky() else { return false };
        let rest = n - k - own;
        let mut across = a.view((k + own, k), (rest, own)).transpose();
        if !block.l().solve_lower_triangular_mut(&mut across) {
            return false;
        }
        let below = across.transpose();
        for j in (0..rest).step_by(CHOLESKY_BLOCK) {
            let columns = CHOLESKY_BLOCK.min(rest - j);
            let at = k + own + j;
            a.view_mut((at, at), (rest - j, columns)).gemm(
                -1.0,
                &below.rows(j, rest - j),
                &across.columns(j, columns),
                1.0,
            );
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{CHOLESKY_BLOCK, is_definite};
    use nalgebra::DMatrix;

    #[test]
    fn a_matrix_of_several_blocks_is_definite_until_an_eigenvalue_is_negative() {
        let n = 2 * CHOLESKY_BLOCK + 7;
        // second differences: the least eigenvalue is 4 sin²(π / (2 (n + 1)))
        let least = 4.0 * (std::f64::consts::FRAC_PI_2 / (n + 1) as f64).sin().powi(2);
        let shifted = |shift: f64| {
            DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
                0 => 2.0 - shift,
                1 => -1.0,
                _ => 0.0,
            })
        };
        assert!(is_definite(shifted(least * (1.0 - 1e-6))));
        assert!(!is_definite(shifted(least * (1.0 + 1e-6))));
    }
}
