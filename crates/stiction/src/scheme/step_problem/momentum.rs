//! Mass matrix M̃ and momentum b of the Euler family, from masses, forces and linearly implicit springs.

use super::StepInput;
use crate::system::{Forces, Spring, System};
use nalgebra::{Matrix6, Vector6};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Body, BodyPair, Row, StepProblem, Term};

/// Sets M̃ = M − h k̃_v − h² k̃_q and b = M v + h (k − k̃_v v), and clears all rows.
pub(super) fn set_momentum<S: System + ?Sized>(
    input: &StepInput<S>,
    forces: &Forces,
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
}

/// M̃ += (h δ + h² γ) ∇φ∇φᵀ, b += h δ ∇φ (∇φᵀv).
fn add_spring(problem: &mut StepProblem, starts: &[usize], v: &[f64], h: f64, spring: &Spring) {
    let weight = h * spring.damping + h * h * spring.stiffness;
    let Row::Bodies(terms) = &spring.row else { return };
    let speed = spring.row.dot(starts, v);
    let outer = |a: &Term, b: &Term| Matrix6::from_fn(|i, j| weight * a.j[i] * b.j[j]);
    for term in terms {
        let body = &mut problem.bodies[term.body];
        body.mass += outer(term, term);
        (0..body.velocities).for_each(|i| body.momentum[i] += h * spring.damping * speed * term.j[i]);
    }
    if let [a, b] = &terms[..] {
        problem.pairs.push(BodyPair { a: a.body, b: b.body, ab: outer(a, b), ba: outer(b, a) });
    }
}
