//! Mass matrix M̃ and momentum b of a timed step: forces in the middle of the step, linearly implicit, and the free turning
//! of bodies in space. Springs, dampers and actuators that are stiff for the step have the elongation at q_m ⊕ h v⁺.

use super::momentum::add_actuators;
use super::{Expansion, StepActuators, StepInput, StepProblemBuilder};
use crate::jacobian::ForceJacobian;
use crate::scheme::tolerances::STIFF_SPRING;
use crate::system::{Actuator, Forces, FreeTurn, Spring, System};
use nalgebra::{Matrix6, Vector6};
use stiction_lcp::problem::{Layout, MassFactor};
use stiction_lcp::{Body, Row, StepProblem};

/// Masses and forces of a timed step.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimedMomentum {
    /// Mass blocks without forces.
    masses: Vec<Matrix6<f64>>,
    turns: Vec<Option<FreeTurn>>,
    jacobian: ForceJacobian,
    factor: MassFactor,
    /// Indices of the springs that are stiff for the step.
    stiff: Vec<usize>,
    force: Vec<f64>,
}

impl StepProblemBuilder {
    /// Sets M̃ = M − (h/2) k_v − (h²/4) k_q and b = M̃ v + h k(t + h/2, q_m, v) at q_m = q ⊕ (h/2) v, with the free turning
    /// in the place of the gyroscopic force, and the free velocity.
    pub(super) fn set_timed_motion<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let Self { expansion, forces, problem, layout, timed, free_velocity, actuators, .. } = self;
        let momentum = &mut timed.momentum;
        momentum.read_masses(input, expansion);
        momentum.set_free_motion(input, forces, problem);
        problem.joints.clear();
        problem.contacts.clear();
        problem.lay_out(layout);
        momentum.find_stiff(input, &layout.velocity, forces, actuators);
        let is_factored = momentum.assemble(input, expansion, (forces, actuators), problem, layout);
        if is_factored {
            // springs between bodies: the diagonal blocks alone do not give the free velocity
            free_velocity.clear();
            problem.bodies.iter().for_each(|b| free_velocity.extend(b.momentum.iter().take(b.velocities)));
            momentum.factor.solve(free_velocity);
        } else {
            self.solve_free_velocity(input.state);
        }
    }
}

impl TimedMomentum {
    /// Adds derivatives of forces and actuators to the free motion. Returns whether M̃ contains derivatives of forces and is factored.
    fn assemble<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        at: &Expansion,
        (forces, actuators): (&Forces, &StepActuators),
        problem: &mut StepProblem,
        layout: &Layout,
    ) -> bool {
        let StepInput { system, scheme, state, h } = *input;
        // the tension of a stiff spring changes within the step, and with it what its exact derivative adds across it
        for is_definite in [!self.stiff.is_empty(), true] {
            if is_definite {
                self.set_free_motion(input, forces, problem);
                system.definite_jacobian(forces, &state.v, &mut self.jacobian);
            } else {
                system.jacobian(at.t, &at.q, &state.v, &mut self.jacobian);
            }
            self.remove_turning(input, is_definite);
            self.remove_actuators(input, &layout.velocity, forces);
            self.add_stiff(system.bodies(), forces);
            let ForceJacobian { position, velocity } = &self.jacobian;
            let mut blocks = position.bodies.iter().chain(&velocity.bodies);
            let is_linear = scheme.implicit_springs && blocks.any(|b| b.amax() != 0.0);
            if is_linear {
                self.linearize(input, &layout.velocity, forces, problem);
            }
            add_actuators(problem, h, actuators);
            let is_damped = actuators.iter().any(|(law, side)| side == 0.0 && law.damping != 0.0);
            if !(is_linear || is_damped) {
                return false;
            }
            if self.factor.factor(problem, layout).is_ok() {
                return true;
            }
        }
        false
    }

    /// Reads the mass blocks and the free turning of all bodies.
    fn read_masses<S: System + ?Sized>(&mut self, input: &StepInput<S>, at: &Expansion) {
        let StepInput { system, scheme, state, h } = *input;
        self.masses.clear();
        self.turns.clear();
        let mut start = 0;
        for (i, &n) in system.bodies().iter().enumerate() {
            let turn = system.free_turn(i, &state.v[start..start + n], h);
            let free = turn.filter(|_| scheme.implicit_gyroscopic);
            self.masses.push(free.map_or_else(|| system.mass_at(i, at.t, &at.q), |turn| turn.mass));
            self.turns.push(turn);
            start += n;
        }
    }

    /// Sets the bodies of the problem as they move without derivatives of forces: b = M v_free + h k.
    fn set_free_motion<S: System + ?Sized>(
        &self,
        input: &StepInput<S>,
        forces: &Forces,
        problem: &mut StepProblem,
    ) {
        let StepInput { system, scheme, state, h } = *input;
        problem.bodies.clear();
        problem.pairs.clear();
        let mut start = 0;
        for (i, &n) in system.bodies().iter().enumerate() {
            let (own, k) = (&state.v[start..start + n], &forces.k[start..start + n]);
            let entry = |from: &[f64]| Vector6::from_fn(|r, _| from.get(r).copied().unwrap_or(0.0));
            let mut force = entry(k);
            let turn = self.turns[i].filter(|_| scheme.implicit_gyroscopic);
            if turn.is_none() {
                let mut gyroscopic = [0.0; 6];
                system.add_gyroscopic(i, own, &mut gyroscopic[..n]);
                force += entry(&gyroscopic);
            }
            let free = turn.map_or_else(|| entry(own), |turn| turn.velocity);
            let mass = self.masses[i];
            problem.bodies.push(Body { velocities: n, mass, momentum: mass * free + h * force });
            start += n;
        }
    }

    /// Finds the springs, dampers and actuators with (h² k + h c) / m > 4, for which the trapezoidal rule would ring, and
    /// the force of each actuator over the step.
    fn find_stiff<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        starts: &[usize],
        forces: &Forces,
        actuators: &mut StepActuators,
    ) {
        let StepInput { scheme, state, h, .. } = *input;
        let is_stiff = |own: &Self, row: &Row, stiffness: f64, damping: f64| {
            let weight = h * h * stiffness + h * damping;
            weight > 0.0 && weight * own.mobility(row) > STIFF_SPRING
        };
        self.stiff.clear();
        if scheme.implicit_springs {
            for (k, spring) in forces.springs.iter().enumerate() {
                if is_stiff(self, &spring.row, spring.stiffness, spring.damping) {
                    self.stiff.push(k);
                }
            }
        }
        actuators.laws.clear();
        for actuator in &forces.actuators {
            let stiff = is_stiff(self, &actuator.row, actuator.stiffness, actuator.damping);
            actuators.laws.push(actuator.over_step(h, actuator.row.dot(starts, &state.v), stiff));
        }
    }

    /// Mobility r M⁻¹ rᵀ of a row over bodies [1/kg].
    pub(super) fn mobility(&self, row: &Row) -> f64 {
        let Row::Bodies(terms) = row else { return 0.0 };
        let own = |term: &stiction_lcp::Term| {
            let j = Vector6::from(term.j);
            self.response(term.body, &j).dot(&j)
        };
        terms.iter().map(own).sum()
    }

    /// M⁻¹ p of a body.
    pub(super) fn response(&self, body: usize, p: &Vector6<f64>) -> Vector6<f64> {
        let mass = &self.masses[body];
        // unit diagonal for velocities that the body does not have
        let block = Matrix6::from_fn(|i, j| {
            let is_missing = i == j && mass[(i, i)] == 0.0;
            if is_missing { 1.0 } else { mass[(i, j)] }
        });
        block.lu().solve(p).unwrap_or_else(Vector6::zeros)
    }

    /// Removes the derivatives of gyroscopic forces, which free turning contains.
    fn remove_turning<S: System + ?Sized>(&mut self, input: &StepInput<S>, is_definite: bool) {
        let StepInput { system, state, .. } = *input;
        let mut start = 0;
        for (i, &n) in system.bodies().iter().enumerate() {
            if let Some(turn) = &self.turns[i] {
                let block = &mut self.jacobian.velocity.bodies[i];
                let definite = || system.gyroscopic(i, &state.v[start..start + n]).unwrap_or_default();
                *block -= if is_definite { definite() } else { turn.jacobian };
            }
            start += n;
        }
    }

    /// Removes the derivatives of actuators along their rows, which their forces over the step contain.
    fn remove_actuators<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        starts: &[usize],
        forces: &Forces,
    ) {
        let bodies = input.system.bodies();
        for Actuator { row, stiffness, damping, .. } in
            forces.actuators.iter().filter(|a| a.side(a.row.dot(starts, &input.state.v), 0.0) == 0.0)
        {
            self.jacobian.position.add_outer(bodies, *stiffness, [row, row]);
            self.jacobian.velocity.add_outer(bodies, *damping, [row, row]);
        }
    }

    /// Adds what stiff springs have beyond the trapezoidal rule: M̃ then has h δ + h² γ of them instead of (h/2) δ + (h²/4) γ.
    fn add_stiff(&mut self, bodies: &[usize], forces: &Forces) {
        for &k in &self.stiff {
            let Spring { row, stiffness, damping, .. } = &forces.springs[k];
            self.jacobian.position.add_outer(bodies, -3.0 * stiffness, [row, row]);
            self.jacobian.velocity.add_outer(bodies, -damping, [row, row]);
        }
    }

    /// Adds the derivatives of forces to M̃, and to b so that M̃ (v⁺ − v) = h k where all else is zero.
    fn linearize<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        starts: &[usize],
        forces: &Forces,
        problem: &mut StepProblem,
    ) {
        let StepInput { state, h, .. } = *input;
        let Self { jacobian, stiff, force, .. } = self;
        let weights = [-0.5 * h, -0.25 * h * h];
        jacobian.velocity.add_to(weights[0], problem);
        jacobian.position.add_to(weights[1], problem);
        force.clear();
        force.resize(state.v.len(), 0.0);
        jacobian.velocity.multiply_add(starts, weights[0], &state.v, force);
        jacobian.position.multiply_add(starts, weights[1], &state.v, force);
        for &k in &*stiff {
            // elongation at q_m ⊕ h v⁺: with the impulse in the middle, as all others, a spring at rest keeps its load, and
            // an oscillation shrinks by (1 + h² k/m)^−½ in each step
            let Spring { row, stiffness, drift, .. } = &forces.springs[k];
            let speed = row.dot(starts, &state.v) + drift;
            row.add_transposed(starts, -h * h * stiffness * speed, force);
        }
        for (body, &start) in problem.bodies.iter_mut().zip(starts) {
            (0..body.velocities).for_each(|i| body.momentum[i] += force[start + i]);
        }
    }
}
