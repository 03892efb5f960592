//! Load sharing of redundant contacts that stick: the greatest slack of their forces, however they share the load.
//!
//! Forces of redundant contacts are not unique, so one of them alone does not tell whether modes are right.

use super::acceleration::AccelerationProblem;
use super::constants::{
    CONE_CUT_RELATIVE, MAX_CONE_CUTS, MAX_SVD_ITERATIONS, NULL_SPACE_RELATIVE, SVD_TOLERANCE,
};
use super::max_min::MaxMinProgram;
use crate::state::ActiveConstraint;
use nalgebra::{DMatrix, DVector};
use stiction_lcp::Mode;

/// Contacts whose forces are not unique.
#[derive(Debug)]
pub(super) struct LoadSharing {
    /// Whether each active constraint shares forces.
    pub(super) members: Vec<bool>,
    /// Greatest value, over all forces with the same accelerations, of the least normal force and the least distance
    /// of friction to its bound [N].
    pub(super) slack: f64,
}

/// Friction bound c + g·y of a contact, with y the coordinates of the forces that change no acceleration.
struct FrictionBound {
    c: f64,
    g: DVector<f64>,
}

/// Unknown forces of a contact, by their indices among all.
struct ForceUnknowns {
    contact: usize,
    normal: Option<usize>,
    tangents: Vec<usize>,
}

impl AccelerationProblem {
    /// Load sharing of the active constraints, if any share forces, at the forces `z` in the modes of the last solve.
    pub(super) fn load_sharing(&self, active: &[ActiveConstraint], z: &[f64]) -> Option<LoadSharing> {
        let (columns, unknowns) = self.force_columns();
        let free = null_space(&columns)?;
        let moves = |i: usize| free.row(i).amax() > NULL_SPACE_RELATIVE * free.amax();
        let shares = |u: &ForceUnknowns| u.normal.iter().chain(&u.tangents).any(|&i| moves(i));
        let unknowns: Vec<ForceUnknowns> = unknowns.into_iter().filter(shares).collect();
        if unknowns.is_empty() {
            return None;
        }
        let is_member = |i: &Option<usize>| i.is_some_and(|i| unknowns.iter().any(|u| u.contact == i));
        let members = self.problem_indices(active).iter().map(is_member).collect();
        Some(LoadSharing { members, slack: self.greatest_slack(&unknowns, &free, z) })
    }

    /// Accelerations of unit forces, scaled by √M, and the unknown forces of each contact.
    fn force_columns(&self) -> (DMatrix<f64>, Vec<ForceUnknowns>) {
        let starts = &self.layout.velocity;
        let n = *starts.last().unwrap_or(&0);
        let mut columns: Vec<DVector<f64>> = Vec::new();
        let mut add = |parts: &[(&stiction_lcp::Row, f64)]| {
            let mut column = DVector::zeros(n);
            for (row, factor) in parts {
                row.for_each(starts, |k, x| column[k] += factor * x);
            }
            columns.push(column);
            columns.len() - 1
        };
        for joint in &self.problem.joints {
            add(&[(&joint.row.row, 1.0)]);
        }
        let mut unknowns = Vec::new();
        for (contact, (own, mode)) in self.problem.contacts.iter().zip(&self.modes).enumerate() {
            let normal = own.normal.as_ref().map(|n| &n.row);
            let (normal, tangents) = match mode.mode {
                Mode::Open => continue,
                Mode::Stick => {
                    let normal = normal.map(|row| add(&[(row, 1.0)]));
                    (normal, own.tangents.iter().map(|t| add(&[(&t.row, 1.0)])).collect())
                }
                Mode::Slip => {
                    let Some(row) = normal else { continue };
                    let mut parts = vec![(row, 1.0)];
                    parts.extend(own.tangents.iter().zip(mode.direction).map(|(t, d)| (&t.row, own.mu * d)));
                    (Some(add(&parts)), Vec::new())
                }
            };
            unknowns.push(ForceUnknowns { contact, normal, tangents });
        }
        let mut matrix = DMatrix::zeros(n, columns.len());
        let masses = self.problem.bodies.iter().flat_map(|b| (0..b.velocities).map(|i| b.mass[(i, i)]));
        let weights: Vec<f64> = masses.map(|m| 1.0 / m.sqrt()).collect();
        for (k, column) in columns.iter().enumerate() {
            for i in 0..n {
                matrix[(i, k)] = column[i] * weights[i];
            }
        }
        (matrix, unknowns)
    }

    /// Greatest slack: a linear program, with tangent cuts added where the friction cone is round.
    fn greatest_slack(&self, unknowns: &[ForceUnknowns], free: &DMatrix<f64>, z: &[f64]) -> f64 {
        let row = |i: usize| free.row(i).transpose();
        let none = || DVector::zeros(free.ncols());
        let mut program = MaxMinProgram::new(free.ncols());
        let mut round = Vec::new();
        for unknown in unknowns {
            let contact = &self.problem.contacts[unknown.contact];
            let own = &z[self.layout.contact[unknown.contact]..self.layout.contact[unknown.contact + 1]];
            let normal = (unknown.normal.map_or(0.0, |_| own[0]), unknown.normal.map_or_else(none, row));
            if unknown.tangents.is_empty() {
                program.add(normal.0, &normal.1);
                continue;
            }
            let p = contact.tangent_impulse(if unknown.normal.is_some() { &own[1..] } else { own });
            let bound = FrictionBound { c: contact.mu * normal.0 + contact.kappa, g: contact.mu * normal.1 };
            let tangents: Vec<(f64, DVector<f64>)> =
                unknown.tangents.iter().enumerate().map(|(j, &i)| (p[j], row(i))).collect();
            for tangent in &tangents {
                for sign in [-1.0, 1.0] {
                    program.add(bound.c + sign * tangent.0, &(&bound.g + sign * &tangent.1));
                }
            }
            if tangents.len() == 2 {
                round.push((bound, tangents));
            }
        }
        let mut found = program.solve();
        for _ in 0..MAX_CONE_CUTS {
            let Some((slack, z)) = &found else { return f64::INFINITY };
            let (slack, z) = (*slack, z.clone());
            let mut worst = slack;
            for (bound, tangents) in &round {
                let p = [0, 1].map(|j: usize| tangents[j].0 + tangents[j].1.dot(&z));
                let size = p[0].hypot(p[1]);
                let left = bound.c + bound.g.dot(&z) - size;
                if left < slack - CONE_CUT_RELATIVE * size {
                    worst = worst.min(left);
                    let d = p.map(|p| p / size);
                    let c = bound.c - d[0] * tangents[0].0 - d[1] * tangents[1].0;
                    let g = &bound.g - d[0] * &tangents[0].1 - d[1] * &tangents[1].1;
                    program.add(c, &g);
                }
            }
            if worst >= slack {
                return slack;
            }
            found = program.solve();
        }
        found.map_or(f64::INFINITY, |f| f.0)
    }
}

/// Forces that together cause no acceleration, as columns; `None` if there are none.
fn null_space(columns: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = columns.ncols();
    if n < 2 {
        return None;
    }
    // made square, so that the decomposition has all right singular vectors
    let mut square = DMatrix::zeros(n.max(columns.nrows()), n);
    square.rows_mut(0, columns.nrows()).copy_from(columns);
    // the decomposition panics on numbers that are not finite
    if square.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let norms: Vec<f64> = square.column_iter().map(|c| c.norm().max(f64::MIN_POSITIVE)).collect();
    for (mut column, norm) in square.column_iter_mut().zip(&norms) {
        column /= *norm;
    }
    let svd = square.try_svd(false, true, SVD_TOLERANCE, MAX_SVD_ITERATIONS)?;
    let v_t = svd.v_t?;
    let largest = svd.singular_values.amax();
    let free: Vec<usize> =
        (0..n).filter(|&i| svd.singular_values[i] <= NULL_SPACE_RELATIVE * largest).collect();
    if free.is_empty() {
        return None;
    }
    Some(DMatrix::from_fn(n, free.len(), |i, k| v_t[(free[k], i)] / norms[i]))
}
