//! Unique impulses in given modes: of least norm among all that follow the modes, inside their cones.
//!
//! Where contacts that slip are redundant, as the four corners of a sliding box are, the motion depends on how they
//! share the load. Rigid bodies do not determine it. Equal compliances do, and these are the impulses they lead to:
//! unique, and a continuous function of the state. (../../least_norm.rs)

use super::LoadSharing;
use super::equations::{ActiveRow, ModeEquations, RowKind};
use crate::factor::find_root;
use crate::least_norm::{ForceCone, least_norm};
use crate::problem::{Prepared, StepProblem};
use nalgebra::{DMatrix, DVector};

/// Pivots of at most this × the largest belong to redundant rows [-]. Sensible range 1e-11 to 1e-7: lower misses
/// redundant contacts by rounding, higher takes nearly redundant ones for redundant.
const REDUNDANT_MODE_PIVOT: f64 = 1e-9;

/// Largest residual of impulses of least norm, relative to what the rows ask for [-]. Above it no impulses in the cones
/// follow the modes: an event has been passed. Sensible range 1e-12 to 1e-8.
const FOLLOWED_RESIDUAL: f64 = 1e-10;

/// Largest residual of impulses of least norm that are in their cones, relative as above [-]. Sensible range 1e-14 to
/// 1e-11: they are taken without refinement.
const EVEN_RESIDUAL: f64 = 1e-13;

/// Largest number of rows of a group: its matrix is dense.
const MAX_GROUP_ROWS: usize = 400;

impl ModeEquations {
    /// Replaces the impulses of redundant rows by those of least norm, in the groups of bodies that `sharing` asks for.
    /// Where none exist, the impulses stay. Returns whether any changed.
    pub(super) fn take_least_norm(
        &mut self,
        step: &StepProblem,
        prepared: &Prepared,
        sharing: LoadSharing,
    ) -> bool {
        let slips = |row: &ActiveRow| matches!(row.kind, RowKind::Normal(_, f) if f != [0.0; 2]);
        let takes = |row: &ActiveRow| sharing == LoadSharing::Unique || slips(row);
        if sharing == LoadSharing::Nearest || !self.rows.iter().any(takes) {
            return false;
        }
        let mut changed = false;
        for group in self.groups(step, prepared) {
            if group.len() > 1
                && group.len() <= MAX_GROUP_ROWS
                && group.iter().any(|&k| takes(&self.rows[k]))
                && let Some(impulses) = self.group_least_norm(step, prepared, &group)
            {
                for (&k, impulse) in group.iter().zip(impulses) {
                    self.set_impulse(k, impulse);
                }
                changed = true;
            }
        }
        changed
    }

    /// Rows that share velocities, directly or by other rows: groups of their indices.
    fn groups(&self, step: &StepProblem, prepared: &Prepared) -> Vec<Vec<usize>> {
        let start = &prepared.layout.velocity;
        // the group that a velocity belongs to: a forest, each tree of which ends in its root
        let mut parent: Vec<usize> = (0..prepared.layout.velocities()).collect();
        let mut first = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let mut own = None;
            row.kind.for_each_held(step, |held, _| {
                held.row.for_each(start, |i, _| {
                    let block = start.partition_point(|&s| s <= i) - 1;
                    let i = find_root(&mut parent, start[block]);
                    let to = *own.get_or_insert(i);
                    let to = find_root(&mut parent, to);
                    parent[i] = to;
                });
            });
            first.push(own);
        }
        for pair in &step.pairs {
            let (a, b) = (find_root(&mut parent, start[pair.a]), find_root(&mut parent, start[pair.b]));
            parent[a] = b;
        }
        let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
        for (k, own) in first.into_iter().enumerate() {
            let Some(own) = own else { continue };
            let key = find_root(&mut parent, own);
            match groups.iter_mut().find(|g| g.0 == key) {
                Some(group) => group.1.push(k),
                None => groups.push((key, vec![k])),
            }
        }
        groups.into_iter().map(|g| g.1).collect()
    }

    /// Impulses of least norm of a group of rows; `None` if its impulses are unique, or none are in the cones.
    fn group_least_norm(&self, step: &StepProblem, prepared: &Prepared, group: &[usize]) -> Option<Vec<f64>> {
        let mobility = self.group_mobility(step, prepared, group);
        let impulses = DVector::from_iterator(group.len(), group.iter().map(|&k| self.impulse(k)));
        let asked = &mobility * &impulses;
        // an impulse of a slipping contact stands for its friction too
        let lengths: Vec<f64> = group.iter().map(|&k| self.rows[k].kind.length()).collect();
        let mut scaled = mobility;
        for (mut column, length) in scaled.column_iter_mut().zip(&lengths) {
            column /= *length;
        }
        let even = least_norm_without_cones(&scaled, &asked)?;
        let cones = self.cones(step, group);
        let unscaled = |z: &[f64]| z.iter().zip(&lengths).map(|(z, length)| z / length).collect();
        if are_in_cones(&cones, even.as_slice())
            && (&scaled * &even - &asked).amax() <= EVEN_RESIDUAL * asked.amax()
        {
            return Some(unscaled(even.as_slice()));
        }
        let found = least_norm(&scaled, &asked, &cones)?;
        (found.residual <= FOLLOWED_RESIDUAL).then(|| unscaled(&found.z))
    }

    /// R M̃⁻¹ G of a group of rows, with the compliances of joints.
    fn group_mobility(&self, step: &StepProblem, prepared: &Prepared, group: &[usize]) -> DMatrix<f64> {
        let start = &prepared.layout.velocity;
        let mut matrix = DMatrix::zeros(group.len(), group.len());
        let mut response = vec![0.0; prepared.layout.velocities()];
        for (c, &column) in group.iter().enumerate() {
            response.fill(0.0);
            self.rows[column].kind.for_each_acting(step, |acting, x| {
                acting.row.add_transposed(start, x, &mut response);
            });
            prepared.mass.solve(&mut response);
            for (r, &row) in group.iter().enumerate() {
                let mut speed = 0.0;
                self.rows[row]
                    .kind
                    .for_each_held(step, |held, y| speed += y * held.row.dot(start, &response));
                matrix[(r, c)] = speed;
            }
            if let RowKind::Joint(i) = self.rows[column].kind {
                matrix[(c, c)] += step.joints[i].compliance;
            }
        }
        matrix
    }

    /// Cones of the impulses of a group. The tangents of a contact follow its normal.
    fn cones(&self, step: &StepProblem, group: &[usize]) -> Vec<ForceCone> {
        let tangents_from = |k: usize, i: usize| {
            let own = |k: &&usize| matches!(self.rows[**k].kind, RowKind::Tangent(j, _) if j == i);
            group[k..].iter().take_while(own).count()
        };
        let mut cones = Vec::with_capacity(group.len());
        let mut k = 0;
        while let Some(&row) = group.get(k) {
            let cone = match self.rows[row].kind {
                RowKind::Joint(_) => ForceCone::Free,
                RowKind::Normal(i, _) => match tangents_from(k + 1, i) {
                    0 => ForceCone::NonNegative,
                    tangents => ForceCone::Friction { mu: step.contacts[i].mu, tangents },
                },
                RowKind::Tangent(i, _) => {
                    ForceCone::Ball { bound: step.contacts[i].kappa, tangents: tangents_from(k, i) }
                }
            };
            k += cone.len();
            cones.push(cone);
        }
        cones
    }

    /// Impulse along a row.
    fn impulse(&self, k: usize) -> f64 {
        match self.rows[k].kind {
            RowKind::Joint(i) => self.joints[i],
            RowKind::Normal(i, _) => self.contacts[i][0],
            RowKind::Tangent(i, [x, y]) => x * self.contacts[i][1] + y * self.contacts[i][2],
        }
    }

    /// Sets the impulse along a row.
    fn set_impulse(&mut self, k: usize, impulse: f64) {
        let change = impulse - self.impulse(k);
        self.rows[k].kind.add(change, &mut self.joints, &mut self.contacts);
    }
}

impl RowKind {
    /// Length of the force per unit of impulse: friction that follows the normal impulse included.
    fn length(self) -> f64 {
        match self {
            Self::Normal(_, [x, y]) => (1.0 + x * x + y * y).sqrt(),
            Self::Joint(_) | Self::Tangent(..) => 1.0,
        }
    }
}

/// Solution of least norm of E z = p; `None` if the rows of E are independent and the solution is unique. By QR with
/// pivoting of the transpose: Eᵀ P = Q R.
fn least_norm_without_cones(e: &DMatrix<f64>, p: &DVector<f64>) -> Option<DVector<f64>> {
    let mut transposed = e.transpose();
    let mut asked = p.transpose();
    for (mut column, p) in transposed.column_iter_mut().zip(asked.iter_mut()) {
        let length = column.norm();
        if length > 0.0 {
            column /= length;
            *p /= length;
        }
    }
    if transposed.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let n = transposed.ncols();
    let factor = transposed.col_piv_qr();
    let r = factor.r();
    let largest = r[(0, 0)].abs();
    let rank = (0..n).take_while(|&i| r[(i, i)].abs() > REDUNDANT_MODE_PIVOT * largest).count();
    if rank == n {
        return None;
    }
    factor.p().permute_columns(&mut asked);
    let mut along = asked.transpose().rows(0, rank).into_owned();
    if !r.view((0, 0), (rank, rank)).tr_solve_upper_triangular_mut(&mut along) {
        return None;
    }
    Some(factor.q().columns(0, rank) * along)
}

/// Whether forces are in their cones.
fn are_in_cones(cones: &[ForceCone], mut z: &[f64]) -> bool {
    cones.iter().all(|cone| {
        let (own, rest) = z.split_at(cone.len());
        z = rest;
        cone.contains(own)
    })
}
