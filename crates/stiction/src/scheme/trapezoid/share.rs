//! Forces that are not unique: what several contacts that hold the same thing have left, however they share it.

use super::accelerate::Instant;
use super::program::Program;
use crate::assemble::Place;
use crate::state::ActiveConstraint;
use crate::system::ConstraintId;
use nalgebra::{DMatrix, DVector};
use stiction_lcp::Mode;

/// Combinations of forces that cause no acceleration to this part of what each causes alone change nothing.
const NOTHING: f64 = 1e-9;

/// Directions added to the friction of a contact in space at most.
const CUTS: usize = 20;

/// Contacts whose forces are not unique.
#[derive(Debug)]
pub(super) struct Shared {
    /// Of what bears, those that share.
    pub(super) members: Vec<bool>,
    /// The most that the least of their normal forces and of what their friction has left to its bound can be,
    /// over all forces with the same accelerations [N].
    pub(super) slack: f64,
}

/// The bound c + g·z of a friction, z the forces that change nothing.
struct Bound {
    c: f64,
    g: DVector<f64>,
}

/// The unknown forces of a contact: where they are among all of them.
struct Span {
    contact: usize,
    normal: Option<usize>,
    tangents: Vec<usize>,
}

impl Instant {
    /// Those of `bearing` that share forces, if any do, at the forces `z` in the modes of the last solve.
    pub(super) fn shared(&self, active: &[ActiveConstraint], z: &[f64]) -> Option<Shared> {
        let (columns, spans) = self.columns();
        let free = null_space(&columns)?;
        let moves = |i: usize| free.row(i).amax() > NOTHING * free.amax();
        let spans: Vec<Span> =
            spans.into_iter().filter(|s| s.normal.iter().chain(&s.tangents).any(|&i| moves(i))).collect();
        if spans.is_empty() {
            return None;
        }
        let mut next = 0;
        let mut members = Vec::new();
        for active in active {
            let i = match active.constraint {
                ConstraintId::Contact(_) => {
                    next += 1;
                    Some(self.places.first_contact + next - 1)
                }
                ConstraintId::Joint(row) => {
                    let k = self.frame.rows.iter().position(|&r| r == row);
                    k.and_then(|k| match self.places.joints[k] {
                        Place::Contact(i) => Some(i),
                        Place::Rigid(_) => None,
                    })
                }
            };
            members.push(i.is_some_and(|i| spans.iter().any(|s| s.contact == i)));
        }
        Some(Shared { members, slack: self.most(&spans, &free, z) })
    }

    /// What each unknown force does to the velocities, and whose it is.
    fn columns(&self) -> (DMatrix<f64>, Vec<Span>) {
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
        let mut spans = Vec::new();
        for (contact, (held, mode)) in self.problem.contacts.iter().zip(&self.modes).enumerate() {
            let normal = held.normal.as_ref().map(|n| &n.row);
            let (normal, tangents) = match mode.mode {
                Mode::Open => continue,
                Mode::Stick => {
                    let normal = normal.map(|row| add(&[(row, 1.0)]));
                    (normal, held.tangents.iter().map(|t| add(&[(&t.row, 1.0)])).collect())
                }
                Mode::Slip => {
                    let Some(row) = normal else { continue };
                    let mut parts = vec![(row, 1.0)];
                    parts
                        .extend(held.tangents.iter().zip(mode.direction).map(|(t, d)| (&t.row, held.mu * d)));
                    (Some(add(&parts)), Vec::new())
                }
            };
            spans.push(Span { contact, normal, tangents });
        }
        let mut matrix = DMatrix::zeros(n, columns.len());
        let masses = self.problem.bodies.iter().flat_map(|b| (0..b.velocities).map(|i| b.mass[(i, i)]));
        let weights: Vec<f64> = masses.map(|m| 1.0 / m.sqrt()).collect();
        for (k, column) in columns.iter().enumerate() {
            for i in 0..n {
                matrix[(i, k)] = column[i] * weights[i];
            }
        }
        (matrix, spans)
    }

    /// max over z of the least force left: a linear program, with directions added where friction is round.
    fn most(&self, spans: &[Span], free: &DMatrix<f64>, z: &[f64]) -> f64 {
        let row = |i: usize| free.row(i).transpose();
        let none = || DVector::zeros(free.ncols());
        let mut program = Program::new(free.ncols());
        let mut round = Vec::new();
        for span in spans {
            let contact = &self.problem.contacts[span.contact];
            let own = &z[self.layout.contact[span.contact]..self.layout.contact[span.contact + 1]];
            let normal = (span.normal.map_or(0.0, |_| own[0]), span.normal.map_or_else(none, row));
            if span.tangents.is_empty() {
                program.add(normal.0, &normal.1);
                continue;
            }
            let p = contact.tangent_impulse(if span.normal.is_some() { &own[1..] } else { own });
            let bound = Bound { c: contact.mu * normal.0 + contact.kappa, g: contact.mu * normal.1 };
            let tangents: Vec<(f64, DVector<f64>)> =
                span.tangents.iter().enumerate().map(|(j, &i)| (p[j], row(i))).collect();
            for tangent in &tangents {
                for sign in [-1.0, 1.0] {
                    program.add(bound.c + sign * tangent.0, &(&bound.g + sign * &tangent.1));
                }
            }
            if tangents.len() == 2 {
                round.push((bound, tangents));
            }
        }
        let mut found = program.greatest();
        for _ in 0..CUTS {
            let Some((slack, z)) = &found else { return f64::INFINITY };
            let (slack, z) = (*slack, z.clone());
            let mut worst = slack;
            for (bound, tangents) in &round {
                let p = [0, 1].map(|j: usize| tangents[j].0 + tangents[j].1.dot(&z));
                let size = p[0].hypot(p[1]);
                let left = bound.c + bound.g.dot(&z) - size;
                if left < slack - 1e-12 * size {
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
            found = program.greatest();
        }
        found.map_or(f64::INFINITY, |f| f.0)
    }
}

/// Turns of a singular value decomposition at most: a few for each of its columns are enough.
pub(super) const TURNS: usize = 10_000;

/// Forces that together do nothing, as columns; `None` if there are none.
fn null_space(columns: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = columns.ncols();
    if n < 2 {
        return None;
    }
    // square, so that all right singular vectors are there
    let mut square = DMatrix::zeros(n.max(columns.nrows()), n);
    square.rows_mut(0, columns.nrows()).copy_from(columns);
    // a decomposition of what is no number is none, and panics
    if square.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let norms: Vec<f64> = square.column_iter().map(|c| c.norm().max(f64::MIN_POSITIVE)).collect();
    for (mut column, norm) in square.column_iter_mut().zip(&norms) {
        column /= *norm;
    }
    let svd = square.try_svd(false, true, 5.0 * f64::EPSILON, TURNS)?;
    let turned = svd.v_t?;
    let largest = svd.singular_values.amax();
    let free: Vec<usize> = (0..n).filter(|&i| svd.singular_values[i] <= NOTHING * largest).collect();
    if free.is_empty() {
        return None;
    }
    Some(DMatrix::from_fn(n, free.len(), |i, k| turned[(free[k], i)] / norms[i]))
}
