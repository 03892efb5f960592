//! Step problem of one trapezoidal substep, assembled from the model, the state and the active set.
//! PAGT06 (6.10)–(6.12)

use super::constants::SPEED_SCALE_RELATIVE;
use super::context::{Configuration, StepContext, StepStart, set_bodies, speed_scale};
use super::rows::ConstraintRows;
use super::spin_axes::SpinAxes;
use crate::assemble::{self, Offsets, RowMap};
use crate::error::StepError;
use crate::jacobian::ForceJacobian;
use crate::report::SubstepRecord;
use crate::scheme::{Linearization, RowForm, SubstepAxes};
use crate::state::{ActiveConstraint, Memory, State};
use crate::system::{
    ConstraintId, ContactId, ContactRow, Forces, JointRow, RowKind, SearchCache, System, add_gyroscopic,
};
use nalgebra::Matrix6;
use stiction_lcp::problem::{Layout, MassFactor};
use stiction_lcp::{BodyPair, Candidate, ContactMode, Row, StepProblem, WarmStart};

/// Step problem of a substep, and the data it is assembled from. [`SubstepProblem::begin`] reads the start once;
/// [`SubstepProblem::assemble`] then makes the problem of any size from there.
#[derive(Debug, Clone, Default)]
pub(super) struct SubstepProblem {
    /// Mean of the velocities at both ends.
    mean_velocity: Vec<f64>,
    pub(super) problem: StepProblem,
    pub(super) layout: Layout,
    pub(super) places: RowMap,
    pub(super) modes: Vec<ContactMode>,
    /// Impulses of the last step.
    pub(super) warm_start: WarmStart,
    /// Rows at the start.
    pub(super) start: ConstraintRows,
    /// Rows at the midpoint.
    pub(super) middle: ConstraintRows,
    forces: [Forces; 2],
    mass: MassFactor,
    jacobian: ForceJacobian,
    /// Axes of trapezoidal substeps; those of implicit Euler substeps are the axes of the bodies.
    axes: SpinAxes,
    /// Configuration at the midpoint, q_m.
    q: Vec<f64>,
    /// Midpoint velocity v̂: q_m = q ⊕ (h/2) v̂.
    pub(super) midpoint_velocity: Vec<f64>,
    /// Start velocity w as rows see it, where all that hold agree on one.
    pub(super) start_velocity: Vec<f64>,
    /// All rows that hold take w instead of v, so that redundant ones agree.
    pub(super) consistent: bool,
    force: Vec<f64>,
    /// Definite Jacobian used since the start of the step, because the exact one left M̃ indefinite.
    pub(super) definite: bool,
    /// Definite Jacobian used since [`SubstepProblem::begin`].
    definite_here: bool,
}

impl SubstepProblem {
    /// Reads everything that does not depend on the size: rows, forces and their derivatives at the start.
    pub(super) fn begin<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        from: &StepStart,
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        let State { v, memory, .. } = from.state;
        let active = &from.active.constraints;
        self.start.read(context.system, Configuration::of(from.state), active, None, cache)?;
        self.start.align(active, |id| friction(memory, id));
        self.midpoint_velocity.clone_from(v);
        self.start_velocity.clone_from(v);
        self.consistent = false;
        self.definite_here = false;
        self.linearize(context, from.state)
    }

    /// Computes forces at a state and their derivatives.
    pub(super) fn linearize<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        state: &State,
    ) -> Result<(), StepError> {
        let State { t, q, v, .. } = state;
        context.system.forces(*t, q, v, &mut self.forces[0]);
        match context.settings.axes {
            SubstepAxes::Body => self.axes.clear(),
            SubstepAxes::WithoutSpin => self.axes.find(context.system, *t, (q, v), &self.forces[0].k),
        }
        self.forces[0].add_actuators(context.system, v);
        self.axes.add_gyroscopic(context.system, v, &mut self.forces[0].k);
        match context.settings.linearization {
            Linearization::Exact => {
                context.system.jacobian(*t, q, v, &mut self.jacobian);
                self.axes.linearize(v, &self.jacobian);
            }
            Linearization::Definite => self.take_definite(context, v),
        }
        check_finite(*t, &self.forces[0].k)
    }

    /// Stiffness ‖M⁻¹M̃ − I‖ of a substep of size `h` from the state of [`SubstepProblem::linearize`].
    pub(super) fn stiffness<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        state: &State,
        h: f64,
    ) -> f64 {
        let State { t, q, v, .. } = state;
        self.q.clone_from(q);
        self.factor_mass(context, *t, v, h, false);
        let StepProblem { bodies, pairs, .. } = &self.problem;
        let masses: Vec<_> = (0..bodies.len()).map(|i| context.system.mass_at(i, *t, q)).collect();
        let square = |a: usize, b: usize, block: &Matrix6<f64>| {
            let entry = |r, c| block[(r, c)].powi(2) / (masses[a][(r, r)] * masses[b][(c, c)]);
            let row = |r| (0..bodies[b].velocities).map(|c| entry(r, c)).sum::<f64>();
            (0..bodies[a].velocities).map(row).sum::<f64>()
        };
        let own = bodies.iter().zip(&masses).enumerate().map(|(i, (b, mass))| square(i, i, &(b.mass - mass)));
        let both = |pair: &BodyPair| square(pair.a, pair.b, &pair.ab) + square(pair.b, pair.a, &pair.ba);
        (own.sum::<f64>() + pairs.iter().map(both).sum::<f64>()).sqrt()
    }

    /// Assembles the problem of size `h` from the start of [`SubstepProblem::begin`]. With `implicit` it is the linearly
    /// implicit Euler step, with rows at the start. PAGT06 (3.5)
    pub(super) fn assemble<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        from: &StepStart,
        h: f64,
        implicit: bool,
        cache: &mut SearchCache,
    ) -> Result<(), StepError> {
        let State { t, q, v, memory } = from.state;
        let (system, active) = (context.system, &from.active.constraints);
        self.q.clone_from(q);
        let half = if implicit { 0.0 } else { 0.5 * h };
        if implicit {
            system.advance(&mut self.q, &self.midpoint_velocity, half);
        } else {
            self.axes.advance(system, &mut self.q, &self.midpoint_velocity, half);
        }
        let middle = Configuration { t: t + half, q: &self.q };
        self.middle.read(system, middle, active, Some(&self.start), cache)?;
        self.middle.align(active, |id| friction(memory, id));
        if !implicit {
            self.axes.turn_rows(system, &self.midpoint_velocity, half, &mut self.middle);
        }

        // b = M̃ v + (h/2)[k(t) + k(t + h) + h k_q v], or M̃ v + h (k(t + h) + h k_q v)
        system.forces(t + h, q, v, &mut self.forces[1]);
        self.forces[1].add_actuators(system, v);
        if implicit {
            add_gyroscopic(system, v, &mut self.forces[1].k);
        } else {
            self.axes.add_gyroscopic(system, v, &mut self.forces[1].k);
        }
        check_finite(t + h, &self.forces[1].k)?;
        let is_definite = self.factor_mass(context, t + half, v, h, implicit);
        let offsets = &self.layout.velocity;
        let weights = if implicit { [0.0, h, h * h] } else { [0.5 * h, 0.5 * h, 0.5 * h * h] };
        self.force.clear();
        self.force.resize(v.len(), 0.0);
        self.problem.multiply_mass(offsets, v, &mut self.force);
        let forces = self.forces[0].k.iter().zip(&self.forces[1].k);
        for (force, (now, then)) in self.force.iter_mut().zip(forces) {
            *force += weights[0] * now + weights[1] * then;
        }
        self.jacobian.position.multiply_add(offsets, weights[2], v, &mut self.force);
        if !(implicit || self.axes.is_empty()) {
            self.axes.jacobian.position.multiply_add(offsets, weights[2], v, &mut self.force);
        }
        for (body, &s) in self.problem.bodies.iter_mut().zip(offsets) {
            for i in 0..body.velocities {
                body.momentum[i] = self.force[s + i];
            }
        }
        self.problem.speed_scale = speed_scale(system, from.state, context.step);
        if is_definite {
            // a body at rest is measured by the speed its forces give it, as in the Euler schemes
            self.mass.solve(&mut self.force);
            let free = SPEED_SCALE_RELATIVE * system.surface_speed(t + half, &self.q, &self.force);
            self.problem.speed_scale = self.problem.speed_scale.max(free);
        }
        self.assemble_rows(context, from, h, implicit);
        Ok(())
    }

    /// Takes the definite part of the Jacobian, as a larger trial step from the same start did.
    pub(super) fn take_definite<S: System + ?Sized>(&mut self, context: &StepContext<S>, v: &[f64]) {
        context.system.definite_jacobian(&self.forces[0], v, &mut self.jacobian);
        self.axes.linearize_definite(context.system, v);
    }

    /// Assembles and factors M̃ = M − (h/2) k_v − (h²/4) k_q, or M − h k_v − h² k_q. Returns whether it is definite.
    fn factor_mass<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        t: f64,
        v: &[f64],
        h: f64,
        implicit: bool,
    ) -> bool {
        self.add_jacobian(context, t, h, implicit);
        let Self { problem, layout, mass, jacobian, .. } = self;
        problem.joints.clear();
        problem.contacts.clear();
        problem.lay_out(layout);
        let linear =
            jacobian.velocity.bodies.iter().chain(&jacobian.position.bodies).all(|b| b.amax() == 0.0);
        if mass.factor(problem, layout).is_ok() {
            return true;
        }
        if linear {
            return false;
        }
        (self.definite, self.definite_here) = (true, true);
        self.take_definite(context, v);
        self.add_jacobian(context, t, h, implicit);
        let Self { problem, layout, mass, .. } = self;
        mass.factor(problem, layout).is_ok()
    }

    /// Sets the bodies of the problem, with M − (h/2) k_v − (h²/4) k_q or M − h k_v − h² k_q.
    fn add_jacobian<S: System + ?Sized>(&mut self, context: &StepContext<S>, t: f64, h: f64, implicit: bool) {
        let Self { problem, jacobian, axes, q, .. } = self;
        let weights = if implicit { [-h, -h * h] } else { [-0.5 * h, -0.25 * h * h] };
        set_bodies(context.system, Configuration { t, q }, problem);
        let along_axes = (!(implicit || axes.is_empty())).then_some(&axes.jacobian);
        for part in [Some(&*jacobian), along_axes].into_iter().flatten() {
            part.velocity.add_to(weights[0], problem);
            part.position.add_to(weights[1], problem);
        }
    }

    /// End state of a substep from a start for which it was assembled last: q ⊕ (h/2)(v + v⁺), or q ⊕ h v⁺, where `v`
    /// is the velocity v⁺ of its answer.
    pub(super) fn advance<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        v: &[f64],
        h: f64,
        implicit: bool,
        end: &mut State,
    ) {
        end.t = state.t + h;
        end.q.clone_from(&state.q);
        end.v.clear();
        if implicit {
            system.advance(&mut end.q, v, h);
            end.v.extend_from_slice(v);
            return;
        }
        let Self { axes, mean_velocity, .. } = self;
        mean_velocity.clear();
        mean_velocity.extend(state.v.iter().zip(v).map(|(a, b)| 0.5 * (a + b)));
        axes.advance(system, &mut end.q, mean_velocity, h);
        end.v.extend_from_slice(v);
        axes.turn_velocity(system, mean_velocity, h, &mut end.v);
    }

    /// Assembles the rows of joints and active constraints, each in its form.
    fn assemble_rows<S: System + ?Sized>(
        &mut self,
        context: &StepContext<S>,
        from: &StepStart,
        h: f64,
        implicit: bool,
    ) {
        let forms = context.settings.rows;
        self.set_friction_offsets(forms.friction, from, implicit);
        let rule = OffsetRule {
            velocity: &self.layout.velocity,
            v: &from.state.v,
            midpoint_velocity: &self.midpoint_velocity,
            start_velocity: self.consistent.then_some(&self.start_velocity),
            implicit,
        };
        let (start, middle) = (&self.start, &self.middle);
        let joint_offset = |joint: &JointRow, form: RowForm, holds: bool| {
            let same = |s: &&JointRow| s.joint == joint.joint && s.kind == joint.kind;
            let k = middle.joints.iter().position(|j| std::ptr::eq(j, joint));
            let before = k.and_then(|k| start.joints.get(k)).filter(same).unwrap_or(joint);
            let held = rule.offset(form, holds, [&before.row, &joint.row], [before.drift, joint.drift]);
            (before.error, held)
        };
        let joint = |joint: &JointRow| {
            let (error, held) = joint_offset(joint, forms.joints, true);
            match joint.kind {
                // a force −Θ/compliance, in the mean of both ends
                RowKind::Rigid(compliance) if compliance > 0.0 => {
                    let (_, mean) = joint_offset(joint, RowForm::Mean, false);
                    if implicit { error / h + held } else { 4.0 * error / h + mean }
                }
                _ => held + context.settings.stabilization * error / context.step,
            }
        };
        let is_new = |id| from.active.new_contacts.iter().any(|c| c.constraint == id);
        let contact = |row: &ContactRow| {
            let before = start.contacts.iter().find(|c| c.id == row.id).unwrap_or(row);
            let form = if is_new(ConstraintId::Contact(row.id)) {
                forms.new_contacts
            } else {
                forms.persistent_contacts
            };
            rule.offset(form, true, [&before.normal, &row.normal], [before.drift, row.drift])
        };
        let limit = |row: &JointRow| joint_offset(row, forms.persistent_contacts, true).1;
        let offsets = Offsets { joint: &joint, contact: &contact, limit: &limit };
        assemble::rows(&mut self.problem, &mut self.places, h, &middle.joints, &middle.contacts, &offsets);
        if !implicit {
            // over the mean of both ends a compliant joint gives way by compliance · force · 4/h² per impulse
            self.problem.joints.iter_mut().for_each(|j| j.compliance *= 4.0);
        }
        self.problem.lay_out(&mut self.layout);
    }

    /// Sets the offsets of the tangent rows of contacts, and of drives, at the midpoint.
    fn set_friction_offsets(&mut self, form: RowForm, from: &StepStart, implicit: bool) {
        let Self { layout, start, middle, midpoint_velocity, start_velocity, consistent, .. } = self;
        let rule = OffsetRule {
            velocity: &layout.velocity,
            v: &from.state.v,
            midpoint_velocity,
            start_velocity: consistent.then_some(start_velocity),
            implicit,
        };
        let active = &from.active.constraints;
        let holds = active.iter().filter(|c| c.is_contact()).map(ActiveConstraint::sticks);
        for ((row, at_start), holds) in middle.contacts.iter_mut().zip(&start.contacts).zip(holds) {
            for (tangent, before) in row.tangents.iter_mut().zip(&at_start.tangents) {
                let rows = [&before.row, &tangent.row];
                tangent.offset = rule.offset(form, holds, rows, [before.offset, tangent.offset]);
            }
        }
        let joints = middle.joints.iter_mut().zip(&start.joints).zip(&middle.joint_indices);
        for ((joint, at_start), &row) in joints {
            let RowKind::Drive { speed, .. } = joint.kind else { continue };
            let id = ConstraintId::Joint(row);
            let holds = *consistent && active.iter().any(|c| c.constraint == id && c.sticks());
            let rows = [&at_start.row, &joint.row];
            joint.drift = rule.offset(form, holds, rows, [at_start.drift, joint.drift]);
            let sums_both_ends = match form {
                RowForm::End => false,
                RowForm::Mean => true,
                RowForm::Curved => holds,
            };
            if sums_both_ends && !implicit {
                // the row sums the speeds at both ends, so the speed sought counts twice; the row subtracts it once
                joint.drift -= speed;
            }
        }
    }

    /// Record of the problem assembled last, of `active` constraints, and its answer.
    pub(super) fn record(
        &self,
        from: &StepStart,
        size: f64,
        implicit: bool,
        active: &[ActiveConstraint],
        candidate: &Candidate,
    ) -> SubstepRecord {
        let in_modes = from.active.modes_known;
        let slip = |(i, mode): (usize, &ContactMode)| Some((i, mode.slip_direction()?));
        let slips = || self.modes.iter().enumerate().filter_map(slip).collect();
        SubstepRecord::Substep {
            size,
            implicit,
            in_modes,
            definite: self.definite_here,
            active: active.to_vec(),
            new_contacts: from.active.new_contacts.clone(),
            midpoint_velocity: self.midpoint_velocity.clone(),
            start_velocity: self.start_velocity.clone(),
            slips: if in_modes { slips() } else { Vec::new() },
            impulses: candidate.z.clone(),
            v: candidate.velocity.clone(),
        }
    }
}

/// Rule that makes the offset of a row from its form.
struct OffsetRule<'a> {
    /// Index of each body's first velocity.
    velocity: &'a [usize],
    v: &'a [f64],
    midpoint_velocity: &'a [f64],
    /// Velocity w, where rows that hold agree on one.
    start_velocity: Option<&'a Vec<f64>>,
    implicit: bool,
}

impl OffsetRule<'_> {
    /// Offset added to N(q_m) v⁺, from the row and its drift at the start and at the midpoint. `holds` tells whether the
    /// row holds in its mode.
    fn offset(
        &self,
        form: RowForm,
        holds: bool,
        [before, row]: [&Row; 2],
        [drift, drift_middle]: [f64; 2],
    ) -> f64 {
        if self.implicit {
            return drift_middle;
        }
        match (form, self.start_velocity) {
            (RowForm::End, _) => drift_middle,
            (_, Some(w)) if holds => row.dot(self.velocity, w) + 2.0 * drift_middle,
            (RowForm::Mean, _) => row.dot(self.velocity, self.v) + 2.0 * drift_middle,
            (RowForm::Curved, _) => {
                let (v, u) = (self.velocity, self.midpoint_velocity);
                let curvature = row.dot(v, u) - before.dot(v, u);
                curvature + 2.0 * drift_middle - drift
            }
        }
    }
}

/// Direction of the friction of a contact in the last step.
fn friction(memory: &Memory, id: ContactId) -> Option<[f64; 3]> {
    let found = memory.contacts.binary_search_by_key(&id, |c| c.id).ok()?;
    Some(memory.contacts[found].friction)
}

/// Error if a force is not finite.
fn check_finite(t: f64, forces: &[f64]) -> Result<(), StepError> {
    match forces.iter().position(|k| !k.is_finite()) {
        Some(i) => Err(StepError::NotFinite { t, what: format!("the force on velocity {i}") }),
        None => Ok(()),
    }
}
