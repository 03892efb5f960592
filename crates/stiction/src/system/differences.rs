//! Force Jacobians by central differences, for models without formulas.

use super::System;
use crate::jacobian::{Blocks, ForceJacobian};
use nalgebra::Matrix6;
use std::collections::BTreeMap;

/// Adds the derivatives of a force k(q, v) along every velocity. Exact for polynomials of degree two; otherwise the error
/// is about ε^(2/3), 4e-11 of the change of the force over the scales of [`DifferenceSteps`].
pub(crate) fn add<S: System + ?Sized>(
    system: &S,
    t: f64,
    q: &[f64],
    v: &[f64],
    mut force: impl FnMut(&[f64], &[f64], &mut Vec<f64>),
    out: &mut ForceJacobian,
) {
    let starts = starts(system);
    let mut unit = vec![0.0; v.len()];
    let (mut moved, mut other_v) = (q.to_vec(), v.to_vec());
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    let (mut position, mut velocity) = (DifferenceColumns::default(), DifferenceColumns::default());
    for (body, ends) in starts.windows(2).enumerate() {
        for i in ends[0]..ends[1] {
            unit[i] = 1.0;
            let steps = DifferenceSteps::new(system, t, q, v[i], &unit, &mut moved);
            let mut at = |s: f64, k: &mut Vec<f64>| {
                moved.copy_from_slice(q);
                system.advance(&mut moved, &unit, s);
                force(&moved, v, k);
            };
            at(steps.position, &mut ahead);
            at(-steps.position, &mut behind);
            position.add(&starts, [body, i - ends[0]], [&ahead, &behind], 2.0 * steps.position);
            unit[i] = 0.0;

            let (more, less) = (v[i] + steps.velocity, v[i] - steps.velocity);
            other_v[i] = more;
            force(q, &other_v, &mut ahead);
            other_v[i] = less;
            force(q, &other_v, &mut behind);
            other_v[i] = v[i];
            velocity.add(&starts, [body, i - ends[0]], [&ahead, &behind], more - less);
        }
    }
    position.add_to(&mut out.position);
    velocity.add_to(&mut out.velocity);
}

/// Index of the first velocity of each body, and the number of velocities.
pub(crate) fn starts<S: System + ?Sized>(system: &S) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(system.bodies().iter().scan(0, |at, n| {
        *at += n;
        Some(*at)
    }));
    starts
}

/// Difference steps along one velocity.
///
/// For positions, a force that changes over a length L has a truncation error (s/L)² relative to its difference, and
/// coordinates as large as X a rounding error ε X/s. s = ∛(ε max(X, L) L²) balances them. L is the displacement at which
/// the farthest point of the body moves by the size of the smallest body; 1 for bodies without shapes. For velocities L is
/// the speed itself, but at least the speed of a fall from the height of the size, or without gravity that displacement
/// per second: the scale of a body near rest is not its speed.
struct DifferenceSteps {
    position: f64,
    velocity: f64,
}

impl DifferenceSteps {
    fn new<S: System + ?Sized>(
        system: &S,
        t: f64,
        q: &[f64],
        v: f64,
        unit: &[f64],
        moved: &mut [f64],
    ) -> Self {
        let reach = system.surface_speed(t, q, unit);
        let way = system.size() / reach;
        let length = if way.is_finite() && way > 0.0 { way } else { 1.0 };
        // coordinates that this velocity moves
        moved.copy_from_slice(q);
        system.advance(moved, unit, length);
        let coordinates = q.iter().zip(moved.iter()).filter(|(q, moved)| q != moved);
        let largest = coordinates.map(|(q, _)| q.abs()).fold(length, f64::max);
        let fall = (system.gravity() * system.size()).sqrt() / reach;
        let least = if fall.is_finite() && fall > 0.0 { fall } else { length };
        Self {
            position: (f64::EPSILON * largest * length * length).cbrt(),
            velocity: f64::EPSILON.cbrt() * v.abs().max(least),
        }
    }
}

/// Blocks, filled column by column. The key is the lower body, the higher body and whether the row is the higher, so that
/// the two blocks of a pair are adjacent.
#[derive(Default)]
struct DifferenceColumns(BTreeMap<(usize, usize, bool), Matrix6<f64>>);

impl DifferenceColumns {
    /// Adds the difference of one column over a width; most bodies do not depend on it.
    fn add(&mut self, starts: &[usize], [body, column]: [usize; 2], k: [&[f64]; 2], width: f64) {
        for (row, ends) in starts.windows(2).enumerate() {
            for i in ends[0]..ends[1] {
                let change = k[0][i] - k[1][i];
                if change != 0.0 {
                    let key = (row.min(body), row.max(body), row > body);
                    self.0.entry(key).or_insert_with(Matrix6::zeros)[(i - ends[0], column)] = change / width;
                }
            }
        }
    }

    fn add_to(&self, out: &mut Blocks) {
        for (&(low, high, below), block) in &self.0 {
            let (row, column) = if below { (high, low) } else { (low, high) };
            out.add(row, column, block);
        }
    }
}
