//! The step problem of the Euler family: where rows are taken, which contacts are rows, and the offsets Δ and Υ. Nothing
//! here is solved, so a step that was made can be posed again and judged.

use super::{Active, Level, Scheme};
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::reduce::{Reducer, Reduction};
use crate::state::State;
use crate::system::{
    ContactId, ContactQuery, ContactRow, Forces, JointRow, Moments, MotionBound, PairId, RowKind,
    SearchCache, System, is_among,
};
use nalgebra::Matrix6;
use stiction_lcp::problem::Layout;
use stiction_lcp::{FrictionLaw, Phase, Profile, Row, StepProblem};

/// Part of the largest speed that the certificate measures small speeds by: at a tolerance of 1e-10 answers are
/// asked for to 1e-13 of it. Smaller refuses true solutions at the round-off of fast bodies; larger lets slow
/// bodies creep beside fast ones.
const ROUND_OFF: f64 = 1e-3;

/// Round-off of positions, as a part of the largest of them. Smaller refuses redundant joints at small steps;
/// larger lets bodies creep by this much of the positions every step.
const POSITIONS: f64 = 1e-15;

/// Part of the size that contacts are reduced by: a proof holds to 1e-10 of it, so that one that is dropped is run
/// into by no more than 1e-12 of the size, where additions and post-stabilization begin. Smaller refuses proofs by
/// the round-off of gaps; larger has post-stabilization mend what is round-off to the proof.
pub(crate) const GAPS: f64 = 1e-2;

/// Penetration below this part of the size is round-off of the positions.
pub(crate) const DEPTH: f64 = 1e-12;

/// A step problem and what it is made from, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pose {
    forces: Forces,
    pub(crate) problem: StepProblem,
    /// Where the velocities, impulses and rows of `problem` stand.
    pub(crate) layout: Layout,
    pub(crate) joints: Vec<JointRow>,
    pub(crate) contacts: Vec<ContactRow>,
    pub(crate) reducer: Reducer,
    pub(crate) places: Places,
    /// Those of the state, going on with the step.
    pub(crate) cache: SearchCache,
    /// How far apart two surfaces may be and still touch [m].
    pub(crate) reach: f64,
    /// Of the step, for schemes that look ahead.
    pub(crate) sweep: Option<MotionBound>,
    /// Pairs whose contacts had been missed.
    pub(crate) wanted: Vec<PairId>,
    /// Gaps of contacts at the end of the step [m], and room to find them.
    after: Vec<(ContactId, f64)>,
    room: Vec<ContactRow>,
    /// v_f = M⁻¹ b.
    free: Vec<f64>,
    pub(crate) expansion: Expansion,
    /// The configuration a velocity leads to.
    end: Vec<f64>,
    /// Pairs with contacts that may pass.
    passing: Vec<PairId>,
}

/// Where rows are taken and what v̂ they are expanded about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expansion {
    t: f64,
    q: Vec<f64>,
    pub(crate) v: Vec<f64>,
}

impl Expansion {
    /// q̂ = q ⊕ h v̂ at the end of the step.
    pub(crate) fn about<S: System + ?Sized>(&mut self, system: &S, state: &State, h: f64, v: &[f64]) {
        self.t = state.t + h;
        self.q.clone_from(&state.q);
        self.v.clear();
        self.v.extend_from_slice(v);
        system.advance(&mut self.q, v, h);
    }
}

impl Pose {
    /// M̃, b, the speeds that residuals and the search are measured by, and where rows are taken.
    pub(crate) fn begin<S: System + ?Sized>(
        &mut self,
        system: &S,
        scheme: &Scheme,
        state: &State,
        h: f64,
    ) -> Result<(), StepError> {
        system.forces(state.t, &state.q, &state.v, &mut self.forces);
        if let Some(i) = self.forces.k.iter().position(|k| !k.is_finite()) {
            return Err(StepError::NotFinite { t: state.t, what: format!("the force on velocity {i}") });
        }
        assemble::momentum(
            system,
            state,
            h,
            &self.forces,
            scheme.implicit_springs,
            scheme.implicit_gyroscopic,
            &mut self.problem,
            &mut self.layout,
        );
        self.problem.law = scheme.friction;
        self.free_velocity(state);
        let fastest = self.fastest(system, state);
        // without gravity bodies that move together close at nothing but the round-off of their speed; redundant
        // joints disagree by the round-off of positions over the step
        let positions = POSITIONS * largest(&state.q).max(system.size()) / (h * scheme.solver.tolerance);
        self.problem.speed_scale = (system.gravity() * h).max(ROUND_OFF * fastest).max(positions);
        self.reach = reach(system, scheme);
        self.sweep(scheme, state, h);
        self.wanted.clear();
        self.cache.clone_from(&state.memory.cache);
        let expansion = &mut self.expansion;
        if let Level::Position { .. } = scheme.level {
            expansion.about(system, state, h, &state.v);
        } else {
            expansion.t = state.t;
            expansion.q.clone_from(&state.q);
            expansion.v.clear();
        }
        Ok(())
    }

    /// Reads joints where rows are taken.
    pub(crate) fn read_joints<S: System + ?Sized>(&mut self, system: &S) {
        let Expansion { t, q, .. } = &self.expansion;
        system.joints(*t, q, &mut self.joints);
    }

    /// Reads contacts there, after the joints.
    pub(crate) fn read_contacts<S: System + ?Sized>(&mut self, system: &S, scheme: &Scheme, h: f64) {
        let Expansion { t, q, v } = &self.expansion;
        let near = ContactQuery {
            motion: self.sweep.as_ref(),
            wanted: &self.wanted,
            ..ContactQuery::within(self.reach)
        };
        system.contacts(*t, q, &near, &mut self.cache, &mut self.contacts);
        if v.is_empty() && self.sweep.is_some() {
            self.drop_passing(system, h);
        }
        let v = &self.expansion.v;
        if scheme.level == Level::Velocity && !looks_ahead(scheme) {
            // with Δ = 0 a limit that is not reached yet would stop the joint where it is
            let reach = self.reach;
            self.joints.retain(|j| j.kind != RowKind::Limit || j.error <= reach);
        }
        if v.is_empty() {
            return;
        }
        // into the axes of the velocities, so that impulses act where they point
        self.joints.iter_mut().for_each(|j| system.to_start_axes(v, h, &mut j.row));
        for contact in &mut self.contacts {
            system.to_start_axes(v, h, &mut contact.normal);
            let Moments { spin, rolls, .. } = &mut contact.moments;
            for row in contact.tangents.iter_mut().chain(spin.as_deref_mut()).chain(rolls) {
                system.to_start_axes(v, h, &mut row.row);
            }
        }
    }

    /// Drops contacts that are apart and would close only beyond the end of a face: a row knows the plane of its face
    /// and not where it ends, and a corner that slides off an edge would hit a floor that is not there. Features that
    /// no longer face each other where the bodies go are such; a pair that is run into all the same is wanted, and
    /// keeps its rows.
    fn drop_passing<S: System + ?Sized>(&mut self, system: &S, h: f64) {
        let Self {
            expansion,
            contacts,
            layout,
            free,
            reach,
            wanted,
            cache,
            after,
            room,
            end,
            passing,
            sweep,
            ..
        } = self;
        let Some(sweep) = sweep else { return };
        let start = &layout.velocity;
        let comes = |c: &ContactRow| {
            let closes = c.gap + h * (c.normal.dot(start, free) + c.drift) <= 0.0;
            c.gap > *reach && closes && !wanted.contains(&c.id.pair)
        };
        passing.clear();
        passing.extend(contacts.iter().filter(|c| comes(c)).map(|c| c.id.pair));
        if passing.is_empty() {
            return;
        }
        passing.sort_unstable();
        passing.dedup();
        end.clone_from(&expansion.q);
        system.advance(end, &sweep.v[0], h);
        let there = ContactQuery { wanted: passing, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.gaps(expansion.t + h, end, &there, cache, room, after);
        contacts.retain(|c| !comes(c) || is_among(c.id, after, |(id, _)| *id));
    }

    /// The rows of the step problem from what was read, without the contacts that `reduction` drops.
    pub(crate) fn assemble<S: System + ?Sized>(
        &mut self,
        system: &S,
        scheme: &Scheme,
        reduction: Reduction,
        state: &State,
        h: f64,
        profile: &mut Profile,
    ) {
        let Self { problem, layout, joints, contacts, reducer, places, free, expansion, .. } = self;
        let start = &layout.velocity;
        let slow = slow(state, h);
        // the error at the start of the step, linearized, over h, and prescribed motion
        let position = |error: f64, row: &Row, drift: f64, unilateral: bool| {
            let offset = error / h - row.dot(start, &expansion.v);
            let corrected = slow > h && (offset < drift || !unilateral);
            if corrected { (offset - drift) * (h / slow) + drift } else { offset }
        };
        let limit_speed = scheme.restitution_speed.unwrap_or(2.0 * system.gravity() * h);
        let gap_offset = |gap: f64, row: &Row, drift: f64| match scheme.level {
            Level::Velocity if looks_ahead(scheme) => gap.max(0.0) / h + drift,
            // steps of second order are made elsewhere
            Level::Velocity | Level::Trapezoidal(_) => drift,
            Level::Stabilized { gamma, everywhere } => {
                let gain = if gap < 0.0 || everywhere { gamma } else { 1.0 };
                gain * gap / (if gap < 0.0 { slow } else { h }) + drift
            }
            Level::Position { .. } => position(gap, row, drift, true),
            Level::Baumgarte { alpha } => {
                if gap < 0.0 {
                    alpha * gap + drift
                } else {
                    gap / h + drift
                }
            }
        };
        let contact = |c: &ContactRow| {
            let closing = c.normal.dot(start, &state.v) + c.drift;
            // the gap at the end of the free step; a gap taken at q̂ has gone along with v̂ and the prescribed motion
            let closes = || match scheme.level {
                Level::Position { .. } => {
                    c.gap + h * (c.normal.dot(start, free) - c.normal.dot(start, &expansion.v)) <= 0.0
                }
                _ => c.gap + h * (c.normal.dot(start, free) + c.drift) <= 0.0,
            };
            if c.restitution > 0.0 && closing < -limit_speed && closes() {
                return c.restitution * closing + c.drift;
            }
            gap_offset(c.gap, &c.normal, c.drift)
        };
        let joint = |j: &JointRow| match scheme.level {
            Level::Velocity | Level::Trapezoidal(_) => j.drift,
            Level::Stabilized { gamma, .. } => gamma * j.error / slow + j.drift,
            Level::Position { .. } => position(j.error, &j.row, j.drift, false),
            Level::Baumgarte { alpha } => alpha * j.error + j.drift,
        };
        let limit = |j: &JointRow| gap_offset(j.error, &j.row, j.drift);
        let offsets = Offsets { joint: &joint, contact: &contact, limit: &limit };
        // a polygon that is turned along the slip stands for the circle, so contacts are compared before they are
        // turned; but to the convex relaxation every facet is a constraint of its own
        profile.enter(Phase::Reduction);
        if scheme.friction == FrictionLaw::Convex {
            align(contacts, start, free);
        }
        reducer.reduce(reduction, contacts, GAPS * system.size() / h, &contact);
        if scheme.friction == FrictionLaw::Coulomb {
            align(contacts, start, free);
        }
        profile.enter(Phase::Assembly);
        assemble::rows(problem, places, h, joints, contacts, &offsets);
        problem.lay_out(layout);
    }

    /// Where a velocity leads: contacts that are closed there are left in `after`.
    pub(crate) fn look_at_end<S: System + ?Sized>(&mut self, system: &S, state: &State, h: f64, v: &[f64]) {
        let mut end = std::mem::take(&mut self.end);
        end.clone_from(&state.q);
        system.advance(&mut end, v, h);
        self.look_at(system, state.t + h, &end);
        self.end = end;
    }

    /// Adds the pairs of contacts that a velocity leads into and that are not among the rows; whether there are any.
    pub(crate) fn add_missed<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &State,
        h: f64,
        v: &[f64],
    ) -> bool {
        self.look_at_end(system, state, h, v);
        let known = self.wanted.len();
        let depth = DEPTH * system.size();
        for &(id, _) in self.after.iter().filter(|(_, gap)| *gap < -depth) {
            let listed = is_among(id, &self.contacts, |c| c.id) || self.reducer.has(id);
            if !listed && !self.wanted.contains(&id.pair) {
                self.wanted.push(id.pair);
            }
        }
        self.wanted.len() > known
    }

    /// I(q): the largest penetration or joint error. AH04 (4.45)
    pub(crate) fn infeasibility<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) -> f64 {
        self.look_at(system, t, q);
        self.violation(system, t, q)
    }

    /// Looks for closed contacts: as far as the next step or pass is going to look from there.
    pub(crate) fn look_at<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) {
        let near =
            ContactQuery { motion: self.sweep.as_ref(), open: 0.0, ..ContactQuery::within(self.reach) };
        system.gaps(t, q, &near, &mut self.cache, &mut self.room, &mut self.after);
    }

    /// I(q) where contacts have been looked for.
    pub(crate) fn violation<S: System + ?Sized>(&mut self, system: &S, t: f64, q: &[f64]) -> f64 {
        system.joints(t, q, &mut self.joints);
        let contacts = self.after.iter().map(|(_, gap)| -gap);
        self.joints.iter().filter_map(JointRow::violation).chain(contacts).fold(0.0, f64::max)
    }

    /// v_f = M⁻¹ b, by the diagonal blocks: what `reach` is measured by.
    fn free_velocity(&mut self, state: &State) {
        self.free.clear();
        for body in &self.problem.bodies {
            let n = body.velocities;
            // velocities the body does not have stand still
            let block = Matrix6::from_fn(|i, j| {
                if i < n && j < n { body.mass[(i, j)] } else { f64::from(u8::from(i == j)) }
            });
            let at = self.free.len();
            match block.lu().solve(&body.momentum) {
                Some(v) => self.free.extend(v.iter().take(n)),
                None => self.free.extend(&state.v[at..at + n]),
            }
        }
    }

    /// The largest speed of a surface, before the step and at the free velocity.
    fn fastest<S: System + ?Sized>(&self, system: &S, state: &State) -> f64 {
        let before = system.surface_speed(state.t, &state.q, &state.v);
        before.max(system.surface_speed(state.t, &state.q, &self.free))
    }

    /// How far surfaces go within the step, if the scheme looks ahead.
    fn sweep(&mut self, scheme: &Scheme, state: &State, h: f64) {
        if !looks_ahead(scheme) {
            self.sweep = None;
            return;
        }
        let MotionBound { t, h: size, v: [before, free] } = self.sweep.get_or_insert_default();
        (*t, *size) = (state.t, h);
        before.clone_from(&state.v);
        free.clone_from(&self.free);
    }
}

/// Whether contacts that are still apart are rows with Δ = Φ/h. A velocity-level scheme takes those that touch, but
/// post-stabilization leaves contacts open by the curvature of their gaps and velocities as they were: none would
/// touch at the start of a step, and a body would run into the same wall again and again, ever faster.
pub(crate) fn looks_ahead(scheme: &Scheme) -> bool {
    scheme.active == Active::Swept && (scheme.level != Level::Velocity || scheme.passes > 0)
}

/// How far apart two surfaces may be and still touch; those that look ahead add how far the surfaces go.
fn reach<S: System + ?Sized>(system: &S, scheme: &Scheme) -> f64 {
    match scheme.active {
        Active::Band(band) => band,
        // inside a wider band bodies would hover
        Active::Swept => 1e-9 * system.size(),
    }
}

/// The time over which errors of positions are corrected: h, but when h shrinks by more than 2 what is left of the
/// previous one. Φ/h would throw bodies out, now or in the next step; spread over the previous h they leave at no
/// more than twice the speed they would have had without the change.
fn slow(state: &State, h: f64) -> f64 {
    if state.memory.h > 2.0 * h { state.memory.h } else { h }
}

/// What is left of that time after the step [s].
pub(crate) fn slow_after(state: &State, h: f64) -> f64 {
    (slow(state, h) - h).max(h)
}

/// Turns the tangents of contacts that ask for it along the slip of the free velocity, so that a facet's edge
/// lies where the circle would be touched.
fn align(contacts: &mut [ContactRow], start: &[usize], free: &[f64]) {
    for contact in contacts.iter_mut().filter(|c| c.aligned && c.tangents.len() == 2) {
        let slip = |k: usize| contact.tangents[k].row.dot(start, free) + contact.tangents[k].offset;
        let (x, y) = (slip(0), slip(1));
        let length = x.hypot(y);
        if length > 0.0 {
            contact.turn(x / length, y / length);
        }
    }
}

pub(crate) fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |worst, a| worst.max(a.abs()))
}
