//! One step of the trapezoidal method as a step problem. PAGT06 (6.10)–(6.12)

use super::RESTITUTION_SPEED;
use super::frame::{Frame, contact};
use super::locate;
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::jacobian::ForceJacobian;
use crate::scheme::{Form, Linearization, Scheme, Trapezoidal};
use crate::state::{ActiveConstraint, Hold, Memory, State};
use crate::system::{
    ConstraintId, ContactId, ContactRow, Forces, JointRow, RowKind, SearchCache, System, add_gyroscopic,
};
use nalgebra::{Matrix6, Vector6};
use stiction_lcp::problem::{Layout, MassFactor};
use stiction_lcp::{
    Body, BodyPair, Candidate, Certificate, ContactMode, LcpError, Row, StepProblem, WarmStart,
};

/// Part of the fastest speed that small speeds are measured by. With a tolerance of 1e-10 answers are asked for to
/// 1e-13 of it: smaller refuses true answers at the round-off of fast bodies, larger lets slow ones creep beside them.
const ROUND_OFF: f64 = 1e-3;

/// Storage of steps, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    pub(super) problem: StepProblem,
    pub(super) layout: Layout,
    pub(super) places: Places,
    pub(super) lcp: stiction_lcp::Workspace,
    pub(super) modes: Vec<ContactMode>,
    /// The impulses of the last step.
    pub(super) warm_start: WarmStart,
    pub(super) cache: SearchCache,
    /// Rows at the start of the step, and in its middle.
    pub(super) start: Frame,
    pub(super) middle: Frame,
    forces: [Forces; 2],
    mass: MassFactor,
    jacobian: ForceJacobian,
    /// The state in the middle, and the velocity that leads there.
    q: Vec<f64>,
    pub(super) heading: Vec<f64>,
    /// The velocity that rows carry over from the start, where all that hold agree on one.
    pub(super) carried: Vec<f64>,
    pub(super) agreed: bool,
    force: Vec<f64>,
    /// The exact Jacobian was not definite, in this step and since the last start.
    pub(super) definite: bool,
    pub(super) definite_here: bool,
    pub(super) solves: usize,
}

/// What is fixed while a step is made and made again.
pub(super) struct Stage<'a, S: System + ?Sized> {
    pub(super) system: &'a S,
    pub(super) scheme: &'a Scheme,
    pub(super) settings: &'a Trapezoidal,
    /// The step asked for, of which this may be a part [s].
    pub(super) whole: f64,
}

impl<S: System + ?Sized> Stage<'_, S> {
    /// Speed at which contacts must come apart for restitution to act [m/s]. A bounce that rises by less than gaps
    /// are told apart by is none.
    pub(super) fn slowest(&self) -> f64 {
        let rise = locate::ROUND_OFF * self.system.size();
        let asked = self.scheme.restitution_speed.unwrap_or(RESTITUTION_SPEED);
        asked.max((2.0 * self.system.gravity() * rise).sqrt())
    }
}

/// Where a step starts.
pub(super) struct Origin<'a> {
    pub(super) state: &'a State,
    pub(super) active: &'a [ActiveConstraint],
    /// Normals of contacts that have just begun to bear hold in the form of fresh ones.
    pub(super) fresh: &'a [ActiveConstraint],
}

impl Flow {
    /// Everything of a step of size `h` that does not depend on it, at its start.
    pub(super) fn begin<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        origin: &Origin,
    ) -> Result<(), StepError> {
        let State { t, q, v, memory } = origin.state;
        self.start.read(stage.system, (*t, q), origin.active, None, &mut self.cache)?;
        self.start.align(origin.active, |id| friction(memory, id));
        self.heading.clone_from(v);
        self.carried.clone_from(v);
        self.agreed = false;
        self.definite_here = false;
        self.linearize(stage, origin.state)
    }

    /// Forces at a state, and how they depend on it.
    pub(super) fn linearize<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        state: &State,
    ) -> Result<(), StepError> {
        let State { t, q, v, .. } = state;
        stage.system.forces(*t, q, v, &mut self.forces[0]);
        add_gyroscopic(stage.system, v, &mut self.forces[0].k);
        match stage.settings.linearization {
            Linearization::Exact => stage.system.jacobian(*t, q, v, &mut self.jacobian),
            Linearization::Definite => {
                stage.system.definite_jacobian(&self.forces[0], v, &mut self.jacobian);
            }
        }
        if let Some(i) = self.forces[0].k.iter().position(|k| !k.is_finite()) {
            return Err(StepError::NotFinite { t: *t, what: format!("the force on velocity {i}") });
        }
        Ok(())
    }

    /// ‖M⁻¹M̃ − I‖ of a step of size `h` from the state where forces were linearized.
    pub(super) fn stiffness<S: System + ?Sized>(&mut self, stage: &Stage<S>, state: &State, h: f64) -> f64 {
        let State { t, q, v, .. } = state;
        self.q.clone_from(q);
        self.inertia(stage, *t, v, h, false);
        let StepProblem { bodies, pairs, .. } = &self.problem;
        let masses: Vec<_> = (0..bodies.len()).map(|i| stage.system.mass_at(i, *t, q)).collect();
        let square = |a: usize, b: usize, block: &Matrix6<f64>| {
            let entry = |r, c| block[(r, c)].powi(2) / (masses[a][(r, r)] * masses[b][(c, c)]);
            let row = |r| (0..bodies[b].velocities).map(|c| entry(r, c)).sum::<f64>();
            (0..bodies[a].velocities).map(row).sum::<f64>()
        };
        let own = bodies.iter().zip(&masses).enumerate().map(|(i, (b, mass))| square(i, i, &(b.mass - mass)));
        let both = |pair: &BodyPair| square(pair.a, pair.b, &pair.ab) + square(pair.b, pair.a, &pair.ba);
        (own.sum::<f64>() + pairs.iter().map(both).sum::<f64>()).sqrt()
    }

    /// The step problem of size `h` from where [`Flow::begin`] was. With `implicit` the linearly implicit Euler
    /// step with the same rows at its start. PAGT06 (3.5)
    pub(super) fn assemble<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        origin: &Origin,
        h: f64,
        implicit: bool,
    ) -> Result<(), StepError> {
        let State { t, q, v, memory } = origin.state;
        let system = stage.system;
        self.q.clone_from(q);
        let half = if implicit { 0.0 } else { 0.5 * h };
        system.advance(&mut self.q, &self.heading, half);
        let middle = (t + half, &self.q[..]);
        self.middle.read(system, middle, origin.active, Some(&self.start), &mut self.cache)?;
        self.middle.align(origin.active, |id| friction(memory, id));

        // b = M̃ v + (h/2)[k(t) + k(t + h) + h k_q v], or M̃ v + h (k(t + h) + h k_q v)
        system.forces(t + h, q, v, &mut self.forces[1]);
        add_gyroscopic(system, v, &mut self.forces[1].k);
        if let Some(i) = self.forces[1].k.iter().position(|k| !k.is_finite()) {
            return Err(StepError::NotFinite { t: t + h, what: format!("the force on velocity {i}") });
        }
        let definite = self.inertia(stage, t + half, v, h, implicit);
        let starts = &self.layout.velocity;
        let weights = if implicit { [0.0, h, h * h] } else { [0.5 * h, 0.5 * h, 0.5 * h * h] };
        self.force.clear();
        self.force.resize(v.len(), 0.0);
        self.problem.multiply_mass(starts, v, &mut self.force);
        for (force, (now, then)) in self.force.iter_mut().zip(self.forces[0].k.iter().zip(&self.forces[1].k))
        {
            *force += weights[0] * now + weights[1] * then;
        }
        self.jacobian.position.multiply_add(starts, weights[2], v, &mut self.force);
        for (body, &s) in self.problem.bodies.iter_mut().zip(starts) {
            for i in 0..body.velocities {
                body.momentum[i] = self.force[s + i];
            }
        }
        self.problem.speed_scale = speed_scale(system, origin.state, stage.whole);
        if definite {
            // a body at rest is measured by what its forces make of it, as in the Euler schemes
            self.mass.solve(&mut self.force);
            let free = ROUND_OFF * system.surface_speed(t + half, &self.q, &self.force);
            self.problem.speed_scale = self.problem.speed_scale.max(free);
        }
        self.rows(stage, origin, h, implicit);
        Ok(())
    }

    /// The definite part of the Jacobian takes its place, as it did where a larger step had been tried.
    pub(super) fn take_definite<S: System + ?Sized>(&mut self, stage: &Stage<S>, v: &[f64]) {
        stage.system.definite_jacobian(&self.forces[0], v, &mut self.jacobian);
    }

    /// M̃ = M − (h/2) k_v − (h²/4) k_q, or M − h k_v − h² k_q; whether it is definite and has been factored.
    fn inertia<S: System + ?Sized>(
        &mut self,
        stage: &Stage<S>,
        t: f64,
        v: &[f64],
        h: f64,
        implicit: bool,
    ) -> bool {
        let Self { problem, layout, mass, jacobian, forces, q, .. } = self;
        let weights = if implicit { [-h, -h * h] } else { [-0.5 * h, -0.25 * h * h] };
        bodies(stage.system, t, q, problem);
        jacobian.velocity.add_to(weights[0], problem);
        jacobian.position.add_to(weights[1], problem);
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
        stage.system.definite_jacobian(&forces[0], v, jacobian);
        bodies(stage.system, t, q, problem);
        jacobian.velocity.add_to(weights[0], problem);
        jacobian.position.add_to(weights[1], problem);
        mass.factor(problem, layout).is_ok()
    }

    /// The rows of joints and of what bears, each in its form.
    fn rows<S: System + ?Sized>(&mut self, stage: &Stage<S>, origin: &Origin, h: f64, implicit: bool) {
        let Self { problem, layout, places, start, middle, heading, carried, agreed, .. } = self;
        let v = &origin.state.v;
        let forms = stage.settings.rows;
        let velocity = &layout.velocity;
        // what a row adds to N(q_m) v⁺, from it and its drift at the start and in the middle, and whether it holds
        let offset = |form: Form, holds: bool, [before, row]: [&Row; 2], [drift, drift_middle]: [f64; 2]| {
            if implicit {
                return drift_middle;
            }
            match form {
                Form::End => drift_middle,
                _ if *agreed && holds => row.dot(velocity, carried) + 2.0 * drift_middle,
                Form::Mean => row.dot(velocity, v) + 2.0 * drift_middle,
                Form::Curved => {
                    let bent = row.dot(velocity, heading) - before.dot(velocity, heading);
                    bent + 2.0 * drift_middle - drift
                }
            }
        };
        let sticks = |b: &ActiveConstraint| b.hold == Hold::Stick;
        let holds = origin.active.iter().filter(|b| contact(b).is_some()).map(sticks);
        for ((row, at_start), holds) in middle.contacts.iter_mut().zip(&start.contacts).zip(holds) {
            for (tangent, before) in row.tangents.iter_mut().zip(&at_start.tangents) {
                let rows = [&before.row, &tangent.row];
                tangent.offset = offset(forms.friction, holds, rows, [before.offset, tangent.offset]);
            }
        }
        let drives = middle.joints.iter_mut().zip(&start.joints).zip(&middle.rows);
        for ((joint, at_start), &row) in drives {
            if let RowKind::Drive { speed, .. } = joint.kind {
                let place = ConstraintId::Joint(row);
                let holds = *agreed && origin.active.iter().any(|b| b.constraint == place && sticks(b));
                let rows = [&at_start.row, &joint.row];
                joint.drift = offset(forms.friction, holds, rows, [at_start.drift, joint.drift]);
                let sum = match forms.friction {
                    Form::End => false,
                    Form::Mean => true,
                    Form::Curved => holds,
                };
                if sum && !implicit {
                    // the row is of the speeds at both ends, and so is what is sought; once is taken off with the row
                    joint.drift -= speed;
                }
            }
        }
        let at_start = |joint: &JointRow, form: Form, holds: bool| {
            let same = |s: &&JointRow| s.joint == joint.joint && s.kind == joint.kind;
            let k = middle.joints.iter().position(|j| std::ptr::eq(j, joint));
            let before = k.and_then(|k| start.joints.get(k)).filter(same).unwrap_or(joint);
            let held = offset(form, holds, [&before.row, &joint.row], [before.drift, joint.drift]);
            (before.error, held)
        };
        let joint = |joint: &JointRow| {
            let (error, held) = at_start(joint, forms.joints, true);
            match joint.kind {
                // a force −Θ/compliance, in the mean of both ends
                RowKind::Rigid(compliance) if compliance > 0.0 => {
                    let (_, mean) = at_start(joint, Form::Mean, false);
                    if implicit { error / h + held } else { 4.0 * error / h + mean }
                }
                _ => held + stage.settings.stabilization * error / stage.whole,
            }
        };
        let lasting = |place| !origin.fresh.iter().any(|b| b.constraint == place);
        let form = |place| if lasting(place) { forms.lasting } else { forms.fresh };
        let contact = |row: &ContactRow| {
            let before = start.contacts.iter().find(|c| c.id == row.id).unwrap_or(row);
            let form = form(ConstraintId::Contact(row.id));
            offset(form, true, [&before.normal, &row.normal], [before.drift, row.drift])
        };
        let limit = |row: &JointRow| at_start(row, forms.lasting, true).1;
        let offsets = Offsets { joint: &joint, contact: &contact, limit: &limit };
        assemble::rows(problem, places, h, &middle.joints, &middle.contacts, &offsets);
        if !implicit {
            // over the mean of both ends a compliant joint gives way by compliance · force · 4/h² per impulse
            problem.joints.iter_mut().for_each(|j| j.compliance *= 4.0);
        }
        problem.lay_out(layout);
    }

    /// Solves the assembled problem in given modes.
    pub(super) fn solve_in_modes(
        &mut self,
        t: f64,
        active: &[ActiveConstraint],
    ) -> Result<Candidate, StepError> {
        self.middle.modes(active, &mut self.modes);
        self.solves += 1;
        self.lcp.solve_in_modes(&self.problem, &self.modes).map_err(|error| unsolved(t, error, &self.problem))
    }
}

/// q ⊕ (h/2)(v + v⁺), or q ⊕ h v⁺.
pub(super) fn advance<S: System + ?Sized>(
    system: &S,
    state: &State,
    v: &[f64],
    h: f64,
    implicit: bool,
    end: &mut State,
) {
    end.t = state.t + h;
    end.q.clone_from(&state.q);
    if implicit {
        system.advance(&mut end.q, v, h);
    } else {
        end.v.clear();
        end.v.extend(state.v.iter().zip(v).map(|(a, b)| 0.5 * (a + b)));
        system.advance(&mut end.q, &end.v, h);
    }
    end.v.clear();
    end.v.extend_from_slice(v);
}

/// What small speeds are measured by: what gravity gives in a step, and round-off of the fastest surface.
pub(super) fn speed_scale<S: System + ?Sized>(system: &S, state: &State, h: f64) -> f64 {
    let fastest = system.surface_speed(state.t, &state.q, &state.v);
    (system.gravity() * h).max(ROUND_OFF * fastest).max(f64::MIN_POSITIVE)
}

/// The bodies with their masses at (t, q) and no momentum.
pub(super) fn bodies<S: System + ?Sized>(system: &S, t: f64, q: &[f64], problem: &mut StepProblem) {
    problem.bodies.clear();
    problem.pairs.clear();
    for (i, &velocities) in system.bodies().iter().enumerate() {
        let mass = system.mass_at(i, t, q);
        problem.bodies.push(Body { velocities, mass, momentum: Vector6::zeros() });
    }
}

/// What an impulse of one along a row changes its speed by, bodies being on their own [m/s per N s].
pub(super) fn mobility(problem: &StepProblem, layout: &Layout, row: &Row) -> f64 {
    let mut w = 0.0;
    row.for_each(&layout.velocity, |k, x| {
        let body = layout.velocity.partition_point(|&s| s <= k) - 1;
        let own = k - layout.velocity[body];
        w += x * x / problem.bodies[body].mass[(own, own)];
    });
    w
}

/// The direction of the friction of a contact in the last step.
fn friction(memory: &Memory, id: ContactId) -> Option<[f64; 3]> {
    let found = memory.contacts.binary_search_by_key(&id, |c| c.id).ok()?;
    Some(memory.contacts[found].friction)
}

pub(super) fn unsolved(t: f64, error: LcpError, problem: &StepProblem) -> StepError {
    StepError::Unsolved { t, error: Box::new(error), problem: Box::new(problem.clone()) }
}

/// What is said of an answer in given modes whose certificate does not pass.
pub(super) fn uncertified(
    t: f64,
    tolerance: f64,
    (best, certificate): (Candidate, Certificate),
    problem: &StepProblem,
) -> StepError {
    let best = Box::new(Candidate { certificate, ..best });
    unsolved(t, LcpError::Uncertified { tolerance, best }, problem)
}
