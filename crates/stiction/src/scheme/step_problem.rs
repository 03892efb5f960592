//! Step-problem builder of the Euler family: from model, scheme and state to the complementarity problem of one step.
//! Chooses where rows are taken, which contacts are rows, and their offsets Δ and Υ. Nothing is solved here, so `verify`
//! builds the problem of a recorded step by the same code.

mod end_gaps;
pub(crate) mod ledger;
mod momentum;
mod names;
mod offsets;
pub(crate) mod timed;
mod timed_end;
mod timed_momentum;

pub(crate) use offsets::remaining_correction_time;

use super::tolerances::{POSITION_ROUND_OFF, REDUCTION_LENGTH, SPEED_FLOOR, TOUCHING_GAP};
use super::{Active, Level, Scheme};
use crate::assemble::{self, AssembledProblem, ImpliedContacts, Offsets, RowMap};
use crate::error::StepError;
use crate::reduce::{Reducer, Reduction};
use crate::state::{Memory, State};
use crate::system::{
    Actuator, ContactId, ContactQuery, ContactRow, Forces, JointRow, Moments, MotionBound, PairId, RowKind,
    SearchCache, System,
};
use nalgebra::Matrix6;
use offsets::RowOffsets;
use stiction_lcp::problem::Layout;
use stiction_lcp::{FrictionLaw, Phase, Profile, StepProblem};
use timed::TimedRows;

/// Inputs of one step.
#[derive(Debug)]
pub(crate) struct StepInput<'a, S: ?Sized> {
    /// Model.
    pub(crate) system: &'a S,
    /// Scheme.
    pub(crate) scheme: &'a Scheme,
    /// State at the start of the step.
    pub(crate) state: &'a State,
    /// Step size [s].
    pub(crate) h: f64,
}

/// Builder of step problems, with storage that is reused from step to step.
///
/// One step calls [`begin`](Self::begin), [`read_rows`](Self::read_rows), [`assemble`](Self::assemble) and, after the
/// solve, [`add_missed_pairs`](Self::add_missed_pairs); the last three again while contacts were missed.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepProblemBuilder {
    forces: Forces,
    actuators: StepActuators,
    pub(crate) problem: StepProblem,
    /// Indices of the velocities, impulses and rows of `problem`.
    pub(crate) layout: Layout,
    pub(crate) joints: Vec<JointRow>,
    /// Rows that a projection holds besides the joints; else empty.
    pub(crate) held_joints: Vec<JointRow>,
    pub(crate) contacts: Vec<ContactRow>,
    pub(crate) reducer: Reducer,
    /// Rows of the model in `problem`.
    pub(crate) rows: RowMap,
    /// Weights of the contacts of `problem` in the norm of unique impulses.
    pub(crate) weights: Vec<f64>,
    /// Storage of the reduced problem while contacts are restored.
    reduced: ReducedStorage,
    /// Search cache of the state, updated by every search of the step.
    pub(crate) cache: SearchCache,
    /// Maximum gap of a touching contact [m].
    pub(crate) max_gap: f64,
    /// Motion bound of the step, for schemes that look ahead.
    pub(crate) motion: Option<MotionBound>,
    /// Pairs whose contacts had been missed.
    pub(crate) wanted: Vec<PairId>,
    /// Closed contacts at the end of the step, with their gaps [m].
    end_gaps: Vec<(ContactId, f64)>,
    /// Storage of the search for gaps.
    gap_rows: Vec<ContactRow>,
    /// Free velocity v_f = M̃⁻¹ b, by the diagonal blocks.
    free_velocity: Vec<f64>,
    pub(crate) expansion: Expansion,
    /// Configuration at the end of the step.
    end: Vec<f64>,
    /// Pairs with contacts that may close beyond the end of a face.
    passing: Vec<PairId>,
    /// Rows at the start and times of a timed step.
    pub(crate) timed: TimedRows,
    /// Searches at the end of the step return open contacts too.
    seeks_open: bool,
    /// Contacts that hold their position at the end of a timed step.
    pub(crate) held: Vec<ContactId>,
    /// Contacts that the last displacement problem holds as if they were joints.
    pub(crate) held_rows: Vec<ContactRow>,
}

/// Actuators in a step.
#[derive(Debug, Clone, Default)]
struct StepActuators {
    /// Force of each as a function of the speed of its row at the end.
    laws: Vec<Actuator>,
    /// Side of its limit on which each is: 1, −1, or 0 within it.
    sides: Vec<f64>,
}

impl StepActuators {
    /// Actuators with their sides.
    fn iter(&self) -> impl Iterator<Item = (&Actuator, f64)> {
        self.laws.iter().zip(self.sides.iter().copied())
    }
}

/// Impulses and layout of a reduced problem.
#[derive(Debug, Clone, Default)]
struct ReducedStorage {
    z: Vec<f64>,
    /// First unknown of each contact.
    contact: Vec<usize>,
    /// Contacts with rolling friction, each with the index of its friction block.
    rolling: Vec<(usize, usize)>,
    /// Index of each contact among all contacts.
    places: Vec<usize>,
}

/// Expansion point (t̂, q̂, v̂) at which rows are taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expansion {
    t: f64,
    q: Vec<f64>,
    pub(crate) v: Vec<f64>,
}

impl Expansion {
    /// Moves the expansion point to q̂ = q ⊕ h v̂ at the end of the step.
    pub(crate) fn set_end<S: System + ?Sized>(&mut self, input: &StepInput<S>, v: &[f64]) {
        let StepInput { system, state, h, .. } = input;
        self.t = state.t + h;
        self.q.clone_from(&state.q);
        self.v.clear();
        self.v.extend_from_slice(v);
        system.advance(&mut self.q, v, *h);
    }

    /// Moves the expansion point to q ⊕ (h/2) v in the middle of the step.
    fn set_middle<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let StepInput { system, state, h, .. } = input;
        self.set_start(state);
        self.t += 0.5 * h;
        system.advance(&mut self.q, &state.v, 0.5 * h);
    }

    /// Moves the expansion point to the start of the step.
    fn set_start(&mut self, state: &State) {
        self.t = state.t;
        self.q.clone_from(&state.q);
        self.v.clear();
    }
}

impl StepProblemBuilder {
    /// Begins a step: M̃, b, the speed scale, the search distance and the expansion point.
    pub(crate) fn begin<S: System + ?Sized>(&mut self, input: &StepInput<S>) -> Result<(), StepError> {
        let StepInput { system, scheme, state, .. } = *input;
        self.timed.clear();
        if scheme.level == Level::Timed {
            self.expansion.set_middle(input);
        } else {
            self.expansion.set_start(state);
        }
        let Expansion { t, q, .. } = &self.expansion;
        system.forces(*t, q, &state.v, &mut self.forces);
        self.check_forces(system, *t)?;
        self.actuators.sides.clear();
        self.actuators.sides.resize(self.forces.actuators.len(), 0.0);
        self.set_motion(input);
        Ok(())
    }

    /// Sets M̃ and b with the actuators on their sides, and all that follows from them.
    fn set_motion<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let StepInput { system, scheme, state, h } = *input;
        if scheme.level == Level::Timed {
            self.set_timed_motion(input);
        } else {
            let Self { forces, actuators, problem, layout, .. } = self;
            actuators.laws.clear();
            actuators.laws.extend(forces.actuators.iter().map(|a| a.at_end(h)));
            momentum::set_momentum(input, forces, actuators, problem, layout);
            self.solve_free_velocity(state);
        }
        self.problem.law = scheme.friction;

        // speed scale: bodies that move together without gravity close at the round-off of their speed alone, and
        // redundant joints disagree by the round-off of positions over the step
        let before = system.surface_speed(state.t, &state.q, &state.v);
        let fastest = before.max(system.surface_speed(state.t, &state.q, &self.free_velocity));
        let positions = POSITION_ROUND_OFF * largest(&state.q[..system.position_count()]).max(system.size())
            / (h * scheme.solver.tolerance);
        self.problem.speed_scale = (system.gravity() * h).max(SPEED_FLOOR * fastest).max(positions);

        // search distance
        self.max_gap = match scheme.active {
            Active::Band(band) => band,
            Active::Swept => TOUCHING_GAP * system.size(),
        };
        if looks_ahead(scheme) {
            let MotionBound { t, h: size, v: [before, free] } = self.motion.get_or_insert_default();
            (*t, *size) = (state.t, h);
            before.clone_from(&state.v);
            free.clone_from(&self.free_velocity);
        } else {
            self.motion = None;
        }
        self.wanted.clear();
        self.held.clear();
        self.held_rows.clear();
        self.seeks_open = scheme.level == Level::Timed;
        if scheme.level != Level::Timed {
            self.cache.clone_from(&state.memory.cache);
        }
        if let Level::Position { .. } = scheme.level {
            self.expansion.set_end(input, &state.v);
        }
    }

    /// Puts actuators on the side of their limits where the velocity at the end of the step has them; the first one alone
    /// where `one` is set. Returns whether one changed: then the rows must be read again.
    pub(crate) fn set_actuator_sides<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        v: &[f64],
        one: bool,
    ) -> bool {
        let mut changed = false;
        let StepActuators { laws, sides } = &mut self.actuators;
        for (law, side) in laws.iter().zip(sides) {
            let now = law.side(law.row.dot(&self.layout.velocity, v), *side);
            if now != *side && !(one && changed) {
                (*side, changed) = (now, true);
            }
        }
        if changed {
            self.set_motion(input);
        }
        changed
    }

    /// Reads joint and contact rows at the expansion point.
    pub(crate) fn read_rows<S: System + ?Sized>(&mut self, input: &StepInput<S>, profile: &mut Profile) {
        let StepInput { system, scheme, h, .. } = *input;
        if scheme.level == Level::Timed {
            return self.read_timed_rows(input, profile);
        }
        let (t, q) = (self.expansion.t, std::mem::take(&mut self.expansion.q));
        let at_start = self.expansion.v.is_empty();
        profile.enter(Phase::Joints);
        system.joints(t, &q, &mut self.joints);
        profile.enter(Phase::Detection);
        self.search_rows(system, t, &q);
        if at_start && self.motion.is_some() {
            self.drop_passing(system, (t, &q), h);
        }
        self.expansion.q = q;
        if scheme.level == Level::Velocity && !looks_ahead(scheme) {
            // with Δ = 0 a limit that is not reached yet would stop the joint where it is
            let max_gap = self.max_gap;
            self.joints.retain(|j| j.kind != RowKind::Limit || j.error <= max_gap);
        }
        let v = &self.expansion.v;
        if v.is_empty() {
            return;
        }
        // velocities are measured along the axes at the start of the step, so rows are turned into these
        self.joints.iter_mut().for_each(|j| system.to_start_axes(v, h, &mut j.row));
        for contact in &mut self.contacts {
            system.to_start_axes(v, h, &mut contact.normal);
            let Moments { spin, rolls, .. } = &mut contact.moments;
            for row in contact.tangents.iter_mut().chain(spin.as_deref_mut()).chain(rolls) {
                system.to_start_axes(v, h, &mut row.row);
            }
        }
    }

    /// Searches for the contacts at (t, q) that may close within the step.
    fn search_rows<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) {
        let query = ContactQuery {
            motion: self.motion.as_ref(),
            wanted: &self.wanted,
            ..ContactQuery::within(self.max_gap)
        };
        system.contacts(t, q, &query, &mut self.cache, &mut self.contacts);
    }

    /// Error if a force at time `t` is not finite.
    fn check_forces<S: System + ?Sized>(&self, system: &S, t: f64) -> Result<(), StepError> {
        if let Some(i) = self.forces.k.iter().position(|k| !k.is_finite()) {
            return Err(StepError::NotFinite { t, what: format!("the force on velocity {i}") });
        }
        if let Some(actuator) = self.forces.actuators.iter().find(|a| !a.is_finite()) {
            let name = system.joint_name(actuator.joint).unwrap_or_default();
            let what = format!("the motor or spring of joint {} ({name})", actuator.joint);
            return Err(StepError::NotFinite { t, what });
        }
        Ok(())
    }

    /// Assembles the step problem from the rows that were read, without the contacts that `reduction` drops.
    pub(crate) fn assemble<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        reduction: Reduction,
        profile: &mut Profile,
    ) {
        let StepInput { system, scheme, h, .. } = *input;
        let Self { layout, contacts, reducer, free_velocity, expansion, .. } = self;
        let starts = &layout.velocity;
        let own = RowOffsets::new(input, starts, free_velocity, &expansion.v);
        let contact = |c: &ContactRow| own.contact(c);
        // contacts are compared before their tangents are aligned, because an aligned polygon stands for the circle;
        // to the convex relaxation every facet is a constraint of its own
        profile.enter(Phase::Reduction);
        if scheme.friction == FrictionLaw::Convex {
            align(contacts.iter_mut(), starts, free_velocity);
        }
        reducer.reduce(reduction, contacts, REDUCTION_LENGTH * system.size() / h, &contact);
        if scheme.friction == FrictionLaw::Coulomb {
            let implied = reducer.implied.iter_mut().map(|(_, row)| row);
            align(contacts.iter_mut().chain(implied), starts, free_velocity);
        }
        profile.enter(Phase::Assembly);
        self.assemble_rows(input);
    }

    /// Assembles the rows of all joints and of `contacts`.
    fn assemble_rows<S: System + ?Sized>(&mut self, input: &StepInput<S>) {
        let Self { problem, layout, joints, contacts, rows, free_velocity, expansion, weights, .. } = self;
        let own = RowOffsets::new(input, &layout.velocity, free_velocity, &expansion.v);
        let contact = |c: &ContactRow| own.contact(c);
        let (joint, limit) = (|j: &JointRow| own.joint(j), |j: &JointRow| own.limit(j));
        let offsets = Offsets { joint: &joint, contact: &contact, limit: &limit };
        assemble::rows(problem, rows, input.h, joints, contacts, &offsets);
        if input.scheme.level == Level::Timed {
            self.timed.soften(problem, rows);
        }
        rows.weights(contacts, input.system.size(), weights);
        problem.lay_out(layout);
    }

    /// Warm start of the assembled problem: the impulses that the solver found in the last step.
    pub(crate) fn warm_start(&self, memory: &Memory, z: &mut Vec<f64>) {
        let Memory { contacts, joints, solver, .. } = memory;
        let found = if solver.is_empty() { (contacts, joints) } else { (&solver.contacts, &solver.joints) };
        let proof = |i: usize| self.reducer.proof(i);
        let implied = ImpliedContacts { rows: &self.reducer.implied, proof: &proof };
        self.assembled().reduced_warm_start(&self.contacts, &implied, (found.0, found.1), z);
    }

    /// Assembles the problem again with the contacts that were dropped with a proof. `z` becomes its impulses: zero for
    /// these contacts.
    pub(crate) fn restore_implied<S: System + ?Sized>(&mut self, input: &StepInput<S>, z: &mut Vec<f64>) {
        let mut reduced = std::mem::take(&mut self.reduced);
        reduced.z.clone_from(z);
        reduced.contact.clone_from(&self.layout.contact);
        reduced.rolling.clone_from(&self.rows.rolling);
        reduced.places.clear();
        reduced.places.extend_from_slice(self.reducer.restore(&mut self.contacts));
        self.assemble_rows(input);
        let ReducedStorage { contact, rolling, places, .. } = &reduced;
        // joints, limits and drives keep their places
        let first = self.rows.first_contact;
        z.truncate(contact[first]);
        z.resize(self.layout.impulses, 0.0);
        let mut copy = |from: usize, to: usize| {
            let own = contact[from]..contact[from + 1];
            let start = self.layout.contact[to];
            z[start..start + own.len()].copy_from_slice(&reduced.z[own]);
        };
        for (k, &place) in places.iter().enumerate() {
            copy(first + k, first + place);
        }
        for &(k, from) in rolling {
            if let Some(to) = self.rows.rolling(places[k]) {
                copy(from, to);
            }
        }
        self.reduced = reduced;
    }

    /// Assembled problem with its layout and row map.
    pub(crate) fn assembled(&self) -> AssembledProblem<'_> {
        AssembledProblem { problem: &self.problem, layout: &self.layout, rows: &self.rows }
    }

    /// Solves M̃ v_f = b by the diagonal blocks; a body with a singular block keeps its velocity.
    fn solve_free_velocity(&mut self, state: &State) {
        self.free_velocity.clear();
        for body in &self.problem.bodies {
            let n = body.velocities;
            // unit diagonal for velocities that the body does not have
            let block = Matrix6::from_fn(|i, j| {
                if i < n && j < n { body.mass[(i, j)] } else { f64::from(u8::from(i == j)) }
            });
            let start = self.free_velocity.len();
            match block.lu().solve(&body.momentum) {
                Some(v) => self.free_velocity.extend(v.iter().take(n)),
                None => self.free_velocity.extend(&state.v[start..start + n]),
            }
        }
    }
}

/// `true` for schemes with rows Δ = Φ/h for contacts that are still open. A velocity-level scheme takes touching
/// contacts alone, unless post-stabilization follows. Post-stabilization leaves contacts open by the curvature of their
/// gaps and does not change velocities: no contact would touch at the start of the next step, and a body would run into
/// the same wall again and again, ever faster.
pub(crate) fn looks_ahead(scheme: &Scheme) -> bool {
    scheme.active == Active::Swept && (scheme.level != Level::Velocity || scheme.passes > 0)
}

/// Aligns the tangents of contacts that ask for it with the slip of the free velocity, so that a facet's edge lies
/// where the circle would be touched.
fn align<'a>(contacts: impl Iterator<Item = &'a mut ContactRow>, starts: &[usize], free_velocity: &[f64]) {
    for contact in contacts.filter(|c| c.aligned && c.tangents.len() == 2) {
        let slip = |k: usize| contact.tangents[k].row.dot(starts, free_velocity) + contact.tangents[k].offset;
        let (x, y) = (slip(0), slip(1));
        let length = x.hypot(y);
        if length > 0.0 {
            contact.turn(x / length, y / length);
        }
    }
}

/// Largest absolute value.
pub(crate) fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |worst, a| worst.max(a.abs()))
}

/// Largest absolute difference.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}
