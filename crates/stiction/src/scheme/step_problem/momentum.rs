//! Mass matrix M̃ and momentum b of the Euler family, from masses, forces and linearly implicit springs.

use super::{StepActuators, StepInput};
use crate::system::{Actuator, Forces, Spring, System};
use nalgebra::{Matrix6, Vector6};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Body, BodyPair, Row, StepProblem, Term};

/// Sets M̃ = M − h k̃_v − h² k̃_q and b = M v + h (k − k̃_v v), and clears all rows.
pub(super) fn set_momentum<S: System + ?Sized>(
    input: &StepInput<S>,
    forces: &Forces,
    actuators: &StepActuators,
    problem: &mut StepProblem,
    layout: &mut Layout,
) {
    let StepInput { system, scheme, state, h } = *input;
    problem.bodies.clear();
    problem.pairs.clear();
    let mut start = 0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let mass = system.mass(i);
        let v = &state.v[start..start + n];
        let mut body = Body { velocities: n, mass, momentum: Vector6::zeros() };
        for r in 0..n {
            body.momentum[r] = (0..n).map(|c| mass[(r, c)] * v[c]).sum::<f64>() + h * forces.k[start + r];
        }
        if let Some(spin) = system.gyroscopic(i, v) {
            if scheme.implicit_gyroscopic {
                // k̃_v = F, and F v is the gyroscopic force itself: it cancels in b
                body.mass -= h * spin;
            } else {
                for r in 0..n {
                    body.momentum[r] += h * (0..n).map(|c| spin[(r, c)] * v[c]).sum::<f64>();
                }
            }
        }
        problem.bodies.push(body);
        start += n;
    }
    problem.joints.clear();
    problem.contacts.clear();
    problem.lay_out(layout);
    if scheme.implicit_springs {
        forces.springs.iter().for_each(|s| add_spring(problem, &layout.velocity, &state.v, h, s));
    }
    add_actuators(problem, h, actuators);
}

/// Adds actuators to M̃ and b.
pub(super) fn add_actuators(problem: &mut StepProblem, h: f64, actuators: &StepActuators) {
    actuators.iter().for_each(|(law, side)| add_actuator(problem, h, law, side));
}

/// Actuator at the end of the step: M̃ += h δ JᵀJ and b += h f Jᵀ within its limit, with its force f at speed 0 and its
/// damping δ; on one side of it b alone, by the force there.
fn add_actuator(problem: &mut StepProblem, h: f64, actuator: &Actuator, side: f64) {
    let Row::Bodies(terms) = &actuator.row else { return };
    let force = if side == 0.0 { actuator.unlimited(0.0) } else { side * actuator.limit };
    for term in terms {
        let body = &mut problem.bodies[term.body];
        (0..body.velocities).for_each(|i| body.momentum[i] += h * force * term.j[i]);
    }
    if side == 0.0 {
        add_outer(problem, h * actuator.damping, terms);
    }
}

/// M̃ += weight JᵀJ.
fn add_outer(problem: &mut StepProblem, weight: f64, terms: &[Term]) {
    let outer = |a: &Term, b: &Term| Matrix6::from_fn(|i, j| weight * a.j[i] * b.j[j]);
    for term in terms {
        problem.bodies[term.body].mass += outer(term, term);
    }
    if let [a, b] = terms {
        problem.pairs.push(BodyPair { a: a.body, b: b.body, ab: outer(a, b), ba: outer(b, a) });
    }
}

/// M̃ += (h δ + h² γ) ∇φ∇φᵀ, b += h δ ∇φ (∇φᵀv).
fn add_spring(problem: &mut StepProblem, starts: &[usize], v: &[f64], h: f64, spring: &Spring) {
    let weight = h * spring.damping + h * h * spring.stiffness;
    let Row::Bodies(terms) = &spring.row else { return };
    let speed = spring.row.dot(starts, v);
    for term in terms {
        let body = &mut problem.bodies[term.body];
        (0..body.velocities).for_each(|i| body.momentum[i] += h * spring.damping * speed * term.j[i]);
    }
    add_outer(problem, weight, terms);
}
