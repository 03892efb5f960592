//! Motion of a system with its active set: applies events to the state, changes modes, and records both.
//!
//! An event is an impact, a change of modes, or a lost feature pair. The step loops decide when it is applied.

use super::active_set::{ActiveSet, sticking};
use super::constants::{
    FEATURE_CHANGE_TIME_RELATIVE, FEATURE_CHANGE_TRAVEL_RELATIVE, FIRST_PROBE_RELATIVE, IMPACT_GAP_RELATIVE,
    LAST_PROBE_RELATIVE, MIN_SLIP_SPEED, NEXT_FEATURE_TRAVEL_RELATIVE, PROBE_GROWTH,
    SIMULTANEOUS_EVENT_VALUE,
};
use super::context::{StepContext, StepStart};
use super::event_finder::EventFinder;
use super::event_function::{EventFunction, gaps};
use super::impact::ImpactStart;
use super::integrator::{Dynamics, Integrator};
use super::nearby::rests_on_moments;
use super::recorder::{Recorder, RecorderMark};
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::{Event, EventKind, SubstepRecord};
use crate::scheme::euler::kinetic;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, RowKind, System};

/// Motion with its active set: where a step has come to.
pub(super) struct TrackedMotion<'a, S: System + ?Sized> {
    pub(super) dynamics: Dynamics<'a, S>,
    pub(super) state: State,
    pub(super) active: ActiveSet,
    pub(super) recorder: Recorder,
}

/// Mark of where a motion had come to.
pub(super) struct MotionMark {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    active: ActiveSet,
    recorder: RecorderMark,
}

impl<'a, S: System + ?Sized> TrackedMotion<'a, S> {
    /// Mark of where it has come to.
    pub(super) fn mark(&self) -> MotionMark {
        let State { t, q, v, .. } = &self.state;
        let (active, recorder) = (self.active.clone(), self.recorder.mark());
        MotionMark { t: *t, q: q.clone(), v: v.clone(), active, recorder }
    }

    /// Returns to a mark, after a step that failed.
    pub(super) fn return_to(&mut self, mark: MotionMark) {
        let State { t, q, v, .. } = &mut self.state;
        (*t, *q, *v) = (mark.t, mark.q, mark.v);
        self.active = mark.active;
        self.recorder.return_to(mark.recorder);
    }

    /// Event finder for trial steps of an integrator from here.
    pub(super) fn finder(&mut self, integrator: Integrator) -> EventFinder<'_, 'a, S> {
        let from = StepStart { state: &self.state, active: &self.active };
        EventFinder { dynamics: &mut self.dynamics, integrator, from }
    }

    /// Prepares trial steps of an integrator from here.
    pub(super) fn begin_steps(&mut self, integrator: Integrator) -> Result<(), StepError> {
        let from = StepStart { state: &self.state, active: &self.active };
        integrator.begin(&mut self.dynamics, &from)
    }

    /// Stiffness of the slip directions here [1/s]; infinite where a slip begins.
    pub(super) fn slip_stiffness(&mut self) -> Result<f64, StepError> {
        let (system, active) = (self.dynamics.context.system, &self.active.constraints);
        let SecondOrderWorkspace { solve, acceleration, .. } = &mut *self.dynamics.workspace;
        let candidate = acceleration.solve_in_modes(system, &self.state, active, solve)?;
        let stiffness = acceleration.slip_stiffness(active, &self.state.v, &candidate.z);
        solve.lcp.recycle_candidate(candidate);
        Ok(stiffness)
    }

    /// Finds the active set at the start of a run: drives, and constraints that touch and do not open.
    pub(super) fn find_active_set(&mut self) -> Result<(), StepError> {
        let mut joints = Vec::new();
        self.dynamics.context.system.joints(self.state.t, &self.state.q, &mut joints);
        let drives = joints.iter().enumerate().filter(|(_, j)| matches!(j.kind, RowKind::Drive { .. }));
        self.active.constraints =
            drives.map(|(row, _)| ActiveConstraint::sticking(ConstraintId::Joint(row))).collect();
        if !self.active.modes_known || self.rests_on_moments() {
            return Ok(());
        }
        let touching = self.touching();
        let Some(closed) = self.closed_without_impact(&touching) else { return self.strike_all(&touching) };
        let next = self.modes_from_slip(&closed);
        let free = sticking(&next);
        self.active.constraints.clone_from(&next);
        let events = self.recorder.events.len();
        self.select_modes(next, &free, &[])?;
        // the first modes are no events
        self.recorder.events.truncate(events);
        Ok(())
    }

    /// Whether a contact with torsional or rolling friction rests here.
    pub(super) fn rests_on_moments(&self) -> bool {
        let context = &self.dynamics.context;
        rests_on_moments(context.system, &self.state, context.restitution_speed())
    }

    /// Inactive constraints that touch here, with the speeds at which they open [m/s].
    pub(super) fn touching(&mut self) -> Vec<(ConstraintId, f64)> {
        let SecondOrderWorkspace { solve, nearby, .. } = &mut *self.dynamics.workspace;
        nearby.touching(self.dynamics.context.system, &self.state, &self.active, &mut solve.cache)
    }

    /// Touching constraints that do not open; `None` if one approaches fast enough for an impact.
    fn closed_without_impact(&self, touching: &[(ConstraintId, f64)]) -> Option<Vec<ConstraintId>> {
        let least = self.dynamics.context.restitution_speed();
        if touching.iter().any(|t| t.1 < -least) {
            return None;
        }
        Some(touching.iter().filter(|t| t.1 <= least).map(|t| t.0).collect())
    }

    /// Applies an impact at all touching constraints.
    pub(super) fn strike_all(&mut self, touching: &[(ConstraintId, f64)]) -> Result<(), StepError> {
        self.apply_impact(&touching.iter().map(|t| t.0).collect::<Vec<_>>())
    }

    /// Active constraints if `closed` become active, with modes from their slip here.
    fn modes_from_slip(&self, closed: &[ConstraintId]) -> Vec<ActiveConstraint> {
        let Dynamics { context, workspace } = &self.dynamics;
        workspace.nearby.modes_from_slip(context.system, &self.state.v, closed)
    }

    /// Gives the active constraints the modes of their slip here, after substeps without modes: the next step begins in
    /// known modes.
    pub(super) fn take_modes_from_slip(&mut self) {
        let Dynamics { context, workspace } = &mut self.dynamics;
        let SecondOrderWorkspace { solve, nearby, .. } = &mut **workspace;
        let active: Vec<ConstraintId> = self.active.constraints.iter().map(|c| c.constraint).collect();
        nearby.read(context.system, &self.state, f64::NEG_INFINITY, &active, &mut solve.cache);
        self.active.constraints = self.modes_from_slip(&active);
    }

    /// Applies an event that has been reached by steps of an integrator: an impact where gaps closed, else new modes.
    pub(super) fn apply_event(
        &mut self,
        functions: &[EventFunction],
        integrator: Integrator,
    ) -> Result<(), StepError> {
        self.recorder.event_count += 1;
        let mut passed: Vec<EventFunction> = Vec::new();
        let mut finder = self.finder(integrator);
        let StepStart { state, active } = finder.from;
        for &function in functions {
            if finder.least(&[function], state, &active.constraints)? <= SIMULTANEOUS_EVENT_VALUE {
                passed.push(function);
            }
        }
        let closed = gaps(&passed);
        if !self.active.modes_known {
            return self.apply_impact(&closed);
        }
        let slip_ends = |c: &ActiveConstraint| passed.contains(&EventFunction::SlipSpeed(c.constraint));
        // where roots are exact, slip that ends is zero here, or its rest would be an event of the next mode at once
        let is_exact = integrator.has_error_estimate();
        let stopped = |c: &ActiveConstraint| {
            if is_exact && slip_ends(c) { ActiveConstraint::sticking(c.constraint) } else { *c }
        };
        let stopped: Vec<ActiveConstraint> = self.active.constraints.iter().map(stopped).collect();
        self.project_here(&stopped)?;
        if !closed.is_empty() {
            return self.apply_impact(&closed);
        }
        let free = self.active.sticking_or(slip_ends);
        let candidates = self.active.constraints.clone();
        self.select_modes(candidates, &free, &passed)
    }

    /// Projects the state in given modes, and accounts for the energy.
    fn project_here(&mut self, modes: &[ActiveConstraint]) -> Result<(), StepError> {
        let system = self.dynamics.context.system;
        let before = energy(system, &self.state);
        self.project_in(modes)?;
        self.recorder.statistics.projected += energy(system, &self.state) - before;
        Ok(())
    }

    /// Projects the state at the end of a step: onto joints and, in known modes, active constraints. If a contact loses its
    /// feature pair by the projection, onto joints alone.
    pub(super) fn project_end(&mut self) -> Result<(), StepError> {
        let active = std::mem::take(&mut self.active.constraints);
        let start = (self.state.q.clone(), self.state.v.clone());
        let mut done = self.project_end_in(if self.active.modes_known { &active } else { &[] });
        if let Err(StepError::Lost { .. }) = done {
            (self.state.q, self.state.v) = start;
            done = self.project_end_in(&[]);
        }
        self.active.constraints = active;
        done
    }

    /// Projects positions whole, and velocities so far that no energy is gained; whole where contacts are active, whose
    /// forces would ring out of their cones.
    fn project_end_in(&mut self, modes: &[ActiveConstraint]) -> Result<(), StepError> {
        let system = self.dynamics.context.system;
        let before = energy(system, &self.state);
        let ringing = self.state.v.clone();
        self.dynamics.project(&mut self.state, modes)?;
        let projected = std::mem::replace(&mut self.state.v, ringing);
        let rings = !modes.iter().any(ActiveConstraint::is_contact);
        let kept = if rings { kept_ringing(system, &self.state, &projected, before) } else { 0.0 };
        mix(kept, &projected, &mut self.state.v);
        self.recorder.statistics.projected += energy(system, &self.state) - before;
        if self.dynamics.context.recording {
            let displacements = self.dynamics.workspace.projector.displacements.clone().unwrap_or_default();
            let active = modes.to_vec();
            self.recorder.record([SubstepRecord::StepEnd { active, displacements, projected, kept }]);
        }
        Ok(())
    }

    /// Projects the state onto joints and active constraints, and records it.
    pub(super) fn project_state(&mut self) -> Result<(), StepError> {
        let active = std::mem::take(&mut self.active.constraints);
        let done = self.project_in(&active);
        self.active.constraints = active;
        done
    }

    fn project_in(&mut self, modes: &[ActiveConstraint]) -> Result<(), StepError> {
        let mut records = Vec::new();
        self.dynamics.project_recorded(&mut self.state, modes, &mut records)?;
        self.recorder.record(records);
        Ok(())
    }

    /// Applies an impact at the closed constraints, with all active ones and all that touch.
    pub(super) fn apply_impact(&mut self, closed: &[ConstraintId]) -> Result<(), StepError> {
        if self.rests_on_moments() {
            // the next step, of first order, has the impact at its start
            let t = self.state.t;
            let event = |&constraint| Event { t, kind: EventKind::Impact, constraint };
            self.recorder.events.extend(closed.iter().map(event));
            return self.find_active_set();
        }
        let Dynamics { context, workspace } = &mut self.dynamics;
        let (system, least) = (context.system, context.restitution_speed());
        let mut participants: Vec<ConstraintId> =
            self.active.constraints.iter().map(|c| c.constraint).collect();
        participants.extend(closed);
        let SecondOrderWorkspace { solve, impact, .. } = &mut **workspace;
        let max_gap = IMPACT_GAP_RELATIVE * system.size();
        impact.rows.read(system, &self.state, max_gap, &participants, &mut solve.cache);
        let t = self.state.t;
        let (last_velocity, v) = (self.recorder.take_impact_at(t), self.state.v.clone());
        let start = ImpactStart { closed, last_velocity: last_velocity.as_deref() };
        let (report, ended) = impact.solve(context, &mut self.state, &start, solve)?;
        if context.recording {
            self.recorder.record([impact.record(closed, &participants, report.factor, &self.state.v)]);
        }
        let stays = |&(id, speed): &(ConstraintId, f64)| speed <= least || ended && closed.contains(&id);
        let staying: Vec<(ConstraintId, f64)> = impact.separations(&self.state.v).filter(stays).collect();
        let fastest = staying.iter().fold(0.0, |m: f64, s| m.max(s.1));
        let remaining: Vec<ConstraintId> = staying.into_iter().map(|(id, _)| id).collect();
        self.recorder.add_impact(report, closed, ended && last_velocity.is_some());
        self.recorder.last_impact = (!ended).then_some((t, v));
        let mut next = impact.rows.modes_from_slip(system, &self.state.v, &remaining);
        if self.active.modes_known {
            // contacts that would open slowly stay closed, which may turn the slip of others
            if fastest > MIN_SLIP_SPEED {
                self.project_here(&next)?;
                let impact = &self.dynamics.workspace.impact;
                next = impact.rows.modes_from_slip(system, &self.state.v, &remaining);
            }
            let free = sticking(&next);
            return self.select_modes(next, &free, &[]);
        }
        self.active.constraints = next;
        self.active.new_contacts.clear();
        Ok(())
    }

    /// Size of the step after which the next features of a lost pair are sought [s].
    pub(super) fn next_feature_time(&self) -> f64 {
        let (system, State { t, q, v, .. }) = (self.dynamics.context.system, &self.state);
        let speed = system.surface_speed(*t, q, v);
        let most = FEATURE_CHANGE_TIME_RELATIVE[1] * self.dynamics.context.step;
        (NEXT_FEATURE_TRAVEL_RELATIVE * system.size() / speed).min(most)
    }

    /// Whether other features of the pair of a lost contact touch here and are not active.
    pub(super) fn has_next_features(&mut self, lost: &ConstraintId) -> bool {
        let touching = self.touching();
        let follows = touching.iter().any(|(id, _)| id.follows(lost));
        self.dynamics.workspace.nearby.recycle(touching);
        follows
    }

    /// Removes a contact that has lost its feature pair here. Constraints that touch here and do not open become active.
    /// Returns whether other features of the pair are among them.
    pub(super) fn apply_feature_change(&mut self, lost: ConstraintId) -> Result<bool, StepError> {
        self.active.remove(lost);
        self.take_up_touching(Some(lost))
    }

    /// Makes constraints active that touch here and do not open, but a contact that was `lost`. Returns whether other
    /// features of its pair are among them.
    pub(super) fn take_up_touching(&mut self, lost: Option<ConstraintId>) -> Result<bool, StepError> {
        self.recorder.event_count += 1;
        let past = feature_change_time(&self.dynamics.context, &self.state);
        let State { t, q, v, .. } = &mut self.state;
        self.dynamics.context.system.advance(q, v, past);
        *t += past;
        self.recorder.record([SubstepRecord::FeatureChange { size: past }]);
        let mut touching = self.touching();
        touching.retain(|t| Some(t.0) != lost);
        let followed = touching.iter().any(|(id, _)| lost.is_some_and(|lost| id.follows(&lost)));
        let Some(closed) = self.closed_without_impact(&touching) else {
            return self.strike_all(&touching).map(|()| followed);
        };
        // constraints that were active keep their modes
        let mut next: Vec<ActiveConstraint> = self.active.constraints.clone();
        let added = self.modes_from_slip(&closed).into_iter();
        next.extend(added.filter(|c| closed.contains(&c.constraint)));
        next.sort_by_key(|c| c.constraint);
        let free = sticking(&next);
        self.select_modes(next, &free, &[])?;
        Ok(followed)
    }

    /// Selects the modes in which `candidates` stay active, where those of `free` may change, and records the changes.
    /// If nothing changes though the functions `passed` have a root here, the mode of the first is changed by force.
    fn select_modes(
        &mut self,
        candidates: Vec<ActiveConstraint>,
        free: &[ConstraintId],
        passed: &[EventFunction],
    ) -> Result<(), StepError> {
        if candidates.is_empty() {
            self.change_modes(Vec::new());
            return Ok(());
        }
        let mut later = FIRST_PROBE_RELATIVE;
        let mut next = loop {
            let Some(next) = self.probe_modes(&candidates, free, later * self.dynamics.context.step)? else {
                // Painlevé: no forces exist; a complementarity problem of impulses may have a solution
                self.stop_location();
                self.active.constraints = candidates;
                return Ok(());
            };
            if next != self.active.constraints || passed.is_empty() || later >= LAST_PROBE_RELATIVE {
                break next;
            }
            later *= PROBE_GROWTH;
        };
        if next == self.active.constraints && !passed.is_empty() {
            self.recorder.statistics.forced += 1;
            passed[0].force_mode(&mut next);
        }
        self.change_modes(next);
        Ok(())
    }

    /// Takes the modes at the end of a step. Slips that have not begun stick if they can `rest`, and else may begin later.
    pub(super) fn take_reached_modes(&mut self, mut reached: Vec<ActiveConstraint>, rest: bool) {
        if rest {
            return self.change_modes(reached);
        }
        for (now, before) in reached.iter_mut().zip(&self.active.constraints) {
            if now.mode != before.mode {
                *now = *before;
            }
        }
        self.active.constraints = reached;
    }

    /// Takes new modes and records the events.
    fn change_modes(&mut self, next: Vec<ActiveConstraint>) {
        self.recorder.events.extend(self.active.changes(&next, self.state.t));
        self.active.constraints = next;
    }

    /// Stops the location of events for the rest of the step: substeps become complementarity problems.
    pub(super) fn stop_location(&mut self) {
        self.recorder.statistics.cut = true;
        self.active.modes_known = false;
    }

    /// Next modes of `candidates`, seen from the state they reach a little `later` [s] in their present modes.
    fn probe_modes(
        &mut self,
        candidates: &[ActiveConstraint],
        free: &[ConstraintId],
        later: f64,
    ) -> Result<Option<Vec<ActiveConstraint>>, StepError> {
        let system = self.dynamics.context.system;
        let mut probe = self.state.clone();
        let SecondOrderWorkspace { solve, acceleration, .. } = &mut *self.dynamics.workspace;
        let candidate = acceleration.solve_in_modes(system, &probe, candidates, solve)?;
        if candidate.velocity.iter().all(|a| a.is_finite()) {
            probe.v.iter_mut().zip(&candidate.velocity).for_each(|(v, a)| *v += later * a);
        }
        solve.lcp.recycle_candidate(candidate);
        probe.t += later;
        system.advance(&mut probe.q, &self.state.v, later);
        match acceleration.next_modes(system, &probe, candidates, free, solve) {
            // the features of a contact end here: its modes are those of this instant
            Err(StepError::Lost { .. }) => {
                acceleration.next_modes(system, &self.state, candidates, free, solve)
            }
            modes => modes,
        }
    }
}

/// Sum of kinetic and potential energy [J].
pub(super) fn energy<S: System + ?Sized>(system: &S, state: &State) -> f64 {
    kinetic(system, state.t, &state.q, &state.v) + system.potential(state.t, &state.q)
}

/// `v ← projected + kept (v − projected)`.
pub(super) fn mix(kept: f64, projected: &[f64], v: &mut [f64]) {
    if kept == 0.0 {
        v.copy_from_slice(projected);
    } else if kept < 1.0 {
        v.iter_mut().zip(projected).for_each(|(v, p)| *v = p + kept * (*v - p));
    }
}

/// Largest part of the speeds along the rows that hold, by which the velocity of a state differs from the `projected` one,
/// with an energy of at most `before` [J].
///
/// Rows at the mean velocity reverse these speeds in every step, and the energy in them is real: taken away in every step,
/// a whipping chain would stop. They pay for the potential energy that the projection of the positions added.
fn kept_ringing<S: System + ?Sized>(system: &S, state: &State, projected: &[f64], before: f64) -> f64 {
    let energy_of = |v: &[f64]| kinetic(system, state.t, &state.q, v);
    let allowed = before - system.potential(state.t, &state.q);
    // kinetic energy a + b k + c k² with the part k
    let whole = energy_of(&state.v);
    if whole <= allowed {
        return 1.0;
    }
    let a = energy_of(projected);
    let ringing: Vec<f64> = state.v.iter().zip(projected).map(|(v, p)| v - p).collect();
    let c = energy_of(&ringing);
    let b = whole - a - c;
    if !(a < allowed && c > 0.0) {
        return 0.0;
    }
    let root = (b * b + 4.0 * c * (allowed - a)).sqrt();
    // the positive root, without cancellation
    let kept = if b > 0.0 { 2.0 * (allowed - a) / (b + root) } else { (root - b) / (2.0 * c) };
    kept.clamp(0.0, 1.0)
}

/// Time past the instant of a lost feature pair [s], at constant velocity: long enough that round-off does not undo it,
/// too short to be a motion.
pub(super) fn feature_change_time<S: System + ?Sized>(context: &StepContext<S>, state: &State) -> f64 {
    let system = context.system;
    let [least, most] = FEATURE_CHANGE_TIME_RELATIVE.map(|part| part * context.step);
    let speed = system.surface_speed(state.t, &state.q, &state.v);
    (FEATURE_CHANGE_TRAVEL_RELATIVE * system.size() / speed).max(least).min(most)
}
