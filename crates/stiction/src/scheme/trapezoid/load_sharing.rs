//! Load sharing of redundant contacts that stick: the greatest slack of their forces, however they share the load.
//!
//! Forces of redundant contacts are not unique, so one of them alone does not tell whether modes are right.

use super::acceleration::AccelerationProblem;
use super::constants::{CONE_CUT_RELATIVE, MAX_CONE_CUTS, NULL_SPACE_RELATIVE};
use super::max_min::{MaxMinProgram, NoMaximum};
use crate::state::ActiveConstraint;
use crate::system::ConstraintId;
use nalgebra::{DMatrix, DVector};
use stiction_lcp::factor::find_root;
use stiction_lcp::{Mode, Row};

/// Constraints whose forces are not unique, in one group of bodies that constraints connect.
#[derive(Debug)]
pub(super) struct LoadSharing {
    /// First active constraint of the group. It names the event function.
    pub(super) first: ConstraintId,
    /// Least normal force and least distance of friction to its bound, where the forces share the load well. It is not
    /// negative if any forces with the same accelerations are in their cones [N].
    pub(super) slack: f64,
}

/// Friction bound c + g·y of a contact, with y the coordinates of the forces that change no acceleration.
struct FrictionBound {
    c: f64,
    g: DVector<f64>,
}

/// Unknown forces of a contact, by their indices among those of its group.
struct ForceUnknowns {
    contact: usize,
    normal: Option<usize>,
    tangents: Vec<usize>,
}

/// Unit force of an unknown: rows with factors.
type UnitForce<'a> = Vec<(&'a Row, f64)>;

/// Unknown forces on a group of bodies.
#[derive(Default)]
struct ForceGroup<'a> {
    forces: Vec<UnitForce<'a>>,
    contacts: Vec<ForceUnknowns>,
}

impl AccelerationProblem {
    /// Load sharing of the active constraints at the forces `z` in the modes of the last solve: one for each group with
    /// forces that are not unique. `shares` tells for each active constraint whether its forces are not.
    pub(super) fn load_sharing(
        &self,
        active: &[ActiveConstraint],
        z: &[f64],
        shares: &mut Vec<bool>,
    ) -> Vec<LoadSharing> {
        shares.clear();
        shares.resize(active.len(), false);
        let places = self.problem_indices(active);
        let mut constraints = vec![None; self.problem.contacts.len()];
        places.iter().enumerate().for_each(|(k, place)| {
            if let Some(i) = *place {
                constraints[i] = Some(k);
            }
        });
        let mut sharing = Vec::new();
        for group in self.force_groups() {
            let ForceGroup { forces, contacts } = group;
            let Some(free) = self.null_space(&forces) else { continue };
            let moves = |i: usize| free.row(i).amax() > NULL_SPACE_RELATIVE * free.amax();
            let moves = |u: &ForceUnknowns| u.normal.iter().chain(&u.tangents).any(|&i| moves(i));
            let (unknowns, unique): (Vec<ForceUnknowns>, Vec<ForceUnknowns>) =
                contacts.into_iter().partition(moves);
            let constraint = |u: &ForceUnknowns| constraints[u.contact];
            let first = unknowns.iter().chain(&unique).filter_map(constraint).min();
            let Some(first) = first.filter(|_| !unknowns.is_empty()) else { continue };
            unknowns.iter().filter_map(constraint).for_each(|k| shares[k] = true);
            let slack = self.greatest_slack(&unknowns, &free, z);
            sharing.push(LoadSharing { first: active[first].constraint, slack });
        }
        sharing
    }

    /// Unknown forces by groups of bodies that they connect.
    fn force_groups(&self) -> Vec<ForceGroup<'_>> {
        let starts = &self.layout.velocity;
        let mut parent: Vec<usize> = (0..self.problem.bodies.len()).collect();
        let mut connect = |rows: &[(&Row, f64)]| {
            let mut first = None;
            for (row, _) in rows {
                row.for_each(starts, |k, _| {
                    let body = find_root(&mut parent, starts.partition_point(|&s| s <= k) - 1);
                    let to = find_root(&mut parent, *first.get_or_insert(body));
                    parent[body] = to;
                });
            }
            first
        };
        let joints = self.problem.joints.iter().map(|joint| vec![(&joint.row.row, 1.0)]);
        let joints: Vec<_> = joints.map(|force| (connect(&force), vec![force], None)).collect();
        let contacts = self.problem.contacts.iter().zip(&self.modes).enumerate();
        let contacts = contacts.map(|(contact, (own, mode))| {
            let normal = own.normal.as_ref().map(|n| &n.row);
            let (mut forces, mut tangents) = (Vec::new(), 0);
            match (mode.mode, normal) {
                (Mode::Stick, _) => {
                    forces.extend(normal.map(|row| vec![(row, 1.0)]));
                    tangents = own.tangents.len();
                    forces.extend(own.tangents.iter().map(|t| vec![(&t.row, 1.0)]));
                }
                (Mode::Slip, Some(row)) => {
                    let friction = own.tangents.iter().zip(mode.direction);
                    let mut force = vec![(row, 1.0)];
                    force.extend(friction.map(|(t, d)| (&t.row, own.mu * d)));
                    forces.push(force);
                }
                _ => {}
            }
            let root = forces.iter().map(|force| connect(force)).fold(None, Option::or);
            (root, forces, Some((contact, normal.is_some(), tangents)))
        });
        let contacts: Vec<_> = contacts.collect();
        let mut groups: Vec<ForceGroup> = Vec::new();
        let mut group_of: Vec<Option<usize>> = vec![None; parent.len()];
        for (body, forces, contact) in joints.into_iter().chain(contacts) {
            let Some(body) = body else { continue };
            let group = *group_of[find_root(&mut parent, body)].get_or_insert_with(|| {
                groups.push(ForceGroup::default());
                groups.len() - 1
            });
            let ForceGroup { forces: all, contacts } = &mut groups[group];
            if let Some((contact, has_normal, tangents)) = contact {
                let normal = has_normal.then_some(all.len());
                let first = all.len() + usize::from(has_normal);
                let tangents = (first..first + tangents).collect();
                contacts.push(ForceUnknowns { contact, normal, tangents });
            }
            all.extend(forces);
        }
        groups
    }

    /// Forces of a group that together cause no acceleration, as columns; `None` if there are none.
    fn null_space(&self, forces: &[UnitForce]) -> Option<DMatrix<f64>> {
        let n = forces.len();
        if n < 2 {
            return None;
        }
        let starts = &self.layout.velocity;
        // the velocities that the forces act on
        let mut places: Vec<usize> = Vec::new();
        forces.iter().flatten().for_each(|(row, _)| row.for_each(starts, |k, _| places.push(k)));
        places.sort_unstable();
        places.dedup();
        let bodies = self.problem.bodies.iter();
        let weights: Vec<f64> =
            bodies.flat_map(|b| (0..b.velocities).map(|i| 1.0 / b.mass[(i, i)].sqrt())).collect();
        let mut columns = DMatrix::zeros(places.len(), n);
        for (force, mut column) in forces.iter().zip(columns.column_iter_mut()) {
            for (row, factor) in force {
                row.for_each(starts, |k, x| {
                    if let Ok(i) = places.binary_search(&k) {
                        column[i] += factor * x * weights[k];
                    }
                });
            }
        }
        null_space(columns)
    }

    /// Coordinates of the forces of least norm with the accelerations of `z`, cones aside.
    fn evenly_shared(&self, unknowns: &[ForceUnknowns], free: &DMatrix<f64>, z: &[f64]) -> DVector<f64> {
        let mut gram = DMatrix::zeros(free.ncols(), free.ncols());
        let mut gradient = DVector::zeros(free.ncols());
        for unknown in unknowns {
            let first = self.layout.contact[unknown.contact];
            let contact = &self.problem.contacts[unknown.contact];
            let normal = unknown.normal.map(|i| (i, z[first]));
            let p = contact.tangent_impulse(&z[first + usize::from(normal.is_some())..]);
            let tangents = unknown.tangents.iter().copied().zip(p);
            for (i, force) in normal.into_iter().chain(tangents) {
                let row = free.row(i).transpose();
                gram.ger(1.0, &row, &row, 1.0);
                gradient.axpy(-force, &row, 1.0);
            }
        }
        gram.cholesky().map_or_else(|| DVector::zeros(free.ncols()), |factor| factor.solve(&gradient))
    }

    /// Greatest slack, or a positive lower bound of it: a linear program, with tangent cuts added where the friction cone is round.
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
        // a lower bound that is positive tells as much
        let even = self.evenly_shared(unknowns, free, z);
        let rounded = |(bound, tangents): &(FrictionBound, Vec<(f64, DVector<f64>)>)| {
            let p = [0, 1].map(|j: usize| tangents[j].0 + tangents[j].1.dot(&even));
            bound.c + bound.g.dot(&even) - p[0].hypot(p[1])
        };
        let mut reached = round.iter().map(rounded).fold(program.value(&even), f64::min);
        if reached > 0.0 {
            return reached;
        }
        for _ in 0..MAX_CONE_CUTS {
            let (greatest, z) = match program.solve() {
                Ok(found) => found,
                Err(NoMaximum::Unbounded) => return f64::INFINITY,
                Err(NoMaximum::NotFound) => return reached,
            };
            let mut worst = greatest;
            for (bound, tangents) in &round {
                let p = [0, 1].map(|j: usize| tangents[j].0 + tangents[j].1.dot(&z));
                let size = p[0].hypot(p[1]);
                let left = bound.c + bound.g.dot(&z) - size;
                if left < greatest - CONE_CUT_RELATIVE * size {
                    worst = worst.min(left);
                    let d = p.map(|p| p / size);
                    let c = bound.c - d[0] * tangents[0].0 - d[1] * tangents[1].0;
                    let g = &bound.g - d[0] * &tangents[0].1 - d[1] * &tangents[1].1;
                    program.add(c, &g);
                }
            }
            if worst >= greatest {
                return greatest;
            }
            reached = reached.max(worst);
        }
        reached
    }
}

/// Orthonormal basis of the null space of a matrix, as columns; `None` if it is empty. By QR with pivoting: A P = Q [R₁ R₂], so that
/// P (−R₁⁻¹R₂, I) spans it.
fn null_space(mut matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = matrix.ncols();
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let norms: Vec<f64> = matrix.column_iter().map(|c| c.norm().max(f64::MIN_POSITIVE)).collect();
    for (mut column, norm) in matrix.column_iter_mut().zip(&norms) {
        column /= *norm;
    }
    let mut order = DMatrix::from_fn(1, n, |_, k| k);
    let qr = matrix.col_piv_qr();
    qr.p().permute_columns(&mut order);
    let r = qr.r();
    let largest = r.get((0, 0)).map_or(0.0, |x| x.abs());
    let pivots = (0..r.nrows()).take_while(|&i| r[(i, i)].abs() > NULL_SPACE_RELATIVE * largest);
    let rank = pivots.count();
    if rank == n {
        return None;
    }
    let mut dependent = r.view((0, rank), (rank, n - rank)).into_owned();
    if !r.view((0, 0), (rank, rank)).solve_upper_triangular_mut(&mut dependent) {
        return None;
    }
    let mut free = DMatrix::zeros(n, n - rank);
    for k in 0..n - rank {
        for i in 0..rank {
            free[(order[i], k)] = -dependent[(i, k)] / norms[order[i]];
        }
        free[(order[rank + k], k)] = 1.0 / norms[order[rank + k]];
    }
    // scaled alike in all directions, as the simplex method needs
    Some(free.qr().q())
}
