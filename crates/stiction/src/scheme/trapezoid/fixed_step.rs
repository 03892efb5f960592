//! One second-order step of a given size: substeps from event to event, and the report of the whole.
//!
//! Each pass of the loop in [`FixedStep::run`] makes one substep:
//! 1. Without known modes, add constraints that touch. 2. Choose the integrator and read the start.
//! 3. Try a substep over the rest of the step, truncated where an active contact loses its feature pair.
//! 4. Land at the first event within it, accept, and apply the event. 5. Otherwise apply the feature change.
//!
//! After too many events, or where modes cannot be followed, the rest of the step is of first order.

use super::constants::{
    REMAINING_TIME_RELATIVE, REPORTED_SLIP_RELATIVE, START_ERROR_RELATIVE, STIFFNESS_LIMIT,
};
use super::context::velocity_offsets;
use super::event_finder::{CheckedStep, LandedStep, TruncatedStep};
use super::integrator::{Dynamics, Integrator, TrialStep};
use super::motion::TrackedMotion;
use super::substep::SubstepProblem;
use super::workspace::SecondOrderWorkspace;
use crate::assemble::{self, AssembledProblem, RowSolution};
use crate::error::StepError;
use crate::report::{StepReport, StepWork};
use crate::scheme::euler::kinetic;
use crate::scheme::{EventLanding, EventLocation, StateProjection};
use crate::state::State;
use crate::system::{ConstraintId, ContactQuery, JointRow, RowKind, System};
use stiction_lcp::Candidate;

/// Step of a given size under way.
pub(super) struct FixedStep<'a, S: System + ?Sized> {
    pub(super) motion: TrackedMotion<'a, S>,
    /// Answer of the last substep, whose problem is still in the workspace.
    pub(super) last: Option<Candidate>,
    /// Report of the first-order rest of the step, if it has one.
    pub(super) first_order: Option<StepReport>,
    /// Lost contact whose pair is searched for its next features after one short substep.
    pub(super) lost: Option<ConstraintId>,
}

/// Outcome of a substep.
#[derive(PartialEq, Eq)]
enum Substep {
    /// Accepted up to its end, without an event.
    Whole,
    /// Ended at an event, was refused, or the rest of the step was made.
    Ended,
}

impl<S: System + ?Sized> FixedStep<'_, S> {
    /// Steps to time `end`.
    pub(super) fn run(&mut self, end: f64) -> Result<(), StepError> {
        if self.motion.state.memory.h == 0.0 {
            self.check_start()?;
        }
        if self.motion.state.memory.active.is_none() {
            self.motion.find_active_set()?;
        }
        let start = self.motion.state.t;
        while end - self.motion.state.t > REMAINING_TIME_RELATIVE * self.motion.dynamics.context.step {
            let mark = self.motion.active.modes_known.then(|| self.motion.mark());
            match (self.substep_to(end), mark) {
                // where modes cannot be followed the rest of the step is of first order
                (Err(cause @ (StepError::Lost { .. } | StepError::Unsolved { .. })), Some(mark)) => {
                    self.motion.return_to(mark);
                    if self.motion.state.t == start {
                        // a state with contacts that are not there is an error
                        self.motion.begin_steps(Integrator::Trapezoidal)?;
                    }
                    self.first_order_rest(end - self.motion.state.t).map_err(|_| cause)?;
                }
                (done, _) => done?,
            }
        }
        self.motion.state.t = end;
        if self.motion.recorder.statistics.cut && self.first_order.is_none() {
            self.motion.take_modes_from_slip();
        }
        // without modes the rest of the step may have been made by another scheme, which corrects positions itself
        let projects = self.motion.dynamics.context.settings.projection == StateProjection::Steps;
        if projects && self.first_order.is_none() { self.motion.project_end() } else { Ok(()) }
    }

    /// Makes a substep towards time `end`, up to its first event.
    fn substep_to(&mut self, end: f64) -> Result<(), StepError> {
        let left = end - self.motion.state.t;
        // 1. without known modes, add constraints that touch
        if !self.motion.active.modes_known {
            self.add_touching()?;
        }
        // 2. choose the integrator and read the start
        let integrator = self.begin_substep(left)?;
        // 3. to 5. make a substep up to its first event, and apply that
        if self.motion.active.modes_known {
            self.located_substep(left, integrator)
        } else {
            self.unlocated_substep(left, integrator)
        }
    }

    /// Error if joints do not hold at the start of a run: rows at the mean velocity keep position errors, and reverse
    /// speeds along rows in every step.
    fn check_start(&mut self) -> Result<(), StepError> {
        let TrackedMotion { dynamics: Dynamics { context, workspace }, state, .. } = &mut self.motion;
        let (system, State { t, q, v, .. }) = (context.system, state);
        let joints = &mut workspace.nearby.joints;
        system.joints(*t, q, joints);
        let offsets = velocity_offsets(system);
        let fastest = system.surface_speed(*t, q, v).max(system.prescribed_speed(*t));
        let speeds = START_ERROR_RELATIVE * fastest.max(system.gravity() * context.step);
        for joint in joints.iter().filter(|j| matches!(j.kind, RowKind::Rigid(c) if c <= 0.0)) {
            let speed = joint.row.dot(&offsets, v) + joint.drift;
            if joint.error.abs() > START_ERROR_RELATIVE * system.size() || speed.abs() > speeds {
                let (name, error) = (joint.name(system), joint.error);
                return Err(StepError::Apart { t: *t, joint: joint.joint, name, error, speed });
            }
        }
        Ok(())
    }

    /// Adds contacts and limits that touch to an active set without modes. Where impacts are located, constraints that
    /// approach fast have an impact first.
    fn add_touching(&mut self) -> Result<(), StepError> {
        let motion = &mut self.motion;
        motion.active.new_contacts.clear();
        let least = motion.dynamics.context.restitution_speed();
        let touching = motion.touching();
        let locates_impacts = motion.dynamics.context.settings.locate != EventLocation::Nothing;
        if locates_impacts && touching.iter().any(|&(_, speed)| speed < -least) {
            return motion.strike_all(&touching);
        }
        for &(constraint, speed) in &touching {
            // a constraint that opens at once stays inactive
            if !(speed > least && locates_impacts) {
                motion.active.add_new_contact(constraint);
            }
        }
        motion.dynamics.workspace.nearby.recycle(touching);
        motion.active.sort();
        Ok(())
    }

    /// Reads the start of a substep and chooses its integrator. All substeps after an impact are damped if forces are
    /// stiff, and the next step too: only jumps of the velocity make the trapezoidal method ring.
    fn begin_substep(&mut self, left: f64) -> Result<Integrator, StepError> {
        let motion = &mut self.motion;
        motion.begin_steps(Integrator::Trapezoidal)?;
        let after_impact = motion.state.memory.after_impact || !motion.recorder.impacts.is_empty();
        let Dynamics { context, workspace } = &mut motion.dynamics;
        let size = context.step.max(left);
        let is_stiff =
            after_impact && workspace.substep.stiffness(context, &motion.state, size) > STIFFNESS_LIMIT;
        Ok(if is_stiff { Integrator::ImplicitEuler } else { Integrator::Trapezoidal })
    }

    /// Substep in known modes, up to its first event or to where an active contact loses its feature pair.
    fn located_substep(&mut self, left: f64, integrator: Integrator) -> Result<(), StepError> {
        // 3. try a substep, truncated at a lost feature pair, or a short one after that
        let sought = self.lost.take();
        let whole = if sought.is_some() { left.min(self.motion.next_feature_time()) } else { left };
        let truncated = self.motion.finder(integrator).truncated_step(whole)?;
        let TruncatedStep { checked, size, lost, slack } = truncated;
        self.motion.recorder.note_slack(slack);
        // 4. land at the first event, accept, and apply the event
        let outcome = match checked {
            Some(checked) => self.land(checked, integrator)?,
            None => Substep::Whole,
        };
        // 5. apply the feature change
        match lost {
            Some(lost) if outcome == Substep::Whole && self.is_at_event_limit() => {
                self.motion.active.remove(lost);
                self.first_order_rest(left - size)
            }
            Some(lost) if outcome == Substep::Whole => {
                let followed = self.motion.apply_feature_change(lost)?;
                self.lost = Some(lost).filter(|_| !followed);
                Ok(())
            }
            None if outcome == Substep::Whole => {
                let next = sought.filter(|lost| self.motion.has_next_features(lost));
                next.map_or(Ok(()), |lost| self.motion.apply_feature_change(lost).map(|_| ()))
            }
            _ => Ok(()),
        }
    }

    /// Substep as a complementarity problem. If impacts are located it ends at the first.
    fn unlocated_substep(&mut self, left: f64, integrator: Integrator) -> Result<(), StepError> {
        let mut finder = self.motion.finder(integrator);
        let trial = finder.try_step(left)?;
        if finder.dynamics.context.settings.locate == EventLocation::Nothing {
            self.accept(trial, integrator);
            return Ok(());
        }
        let crossed = finder.closed_gaps(&trial.end);
        if self.motion.recorder.statistics.cut {
            if crossed.is_empty() {
                self.accept(trial, integrator);
                return Ok(());
            }
            self.motion.dynamics.recycle(trial.candidate);
            return self.first_order_rest(left);
        }
        self.land(CheckedStep { trial, crossed }, integrator).map(|_| ())
    }

    fn is_at_event_limit(&self) -> bool {
        self.motion.recorder.event_count >= self.motion.dynamics.context.settings.event_limit
    }

    /// Accepts a substep up to its first event, and applies that.
    fn land(&mut self, checked: CheckedStep, integrator: Integrator) -> Result<Substep, StepError> {
        let mut finder = self.motion.finder(integrator);
        let (trial, bracket) = finder.bracket_event(checked)?;
        let Some(bracket) = bracket else {
            return Ok(if self.accept(trial, integrator) { Substep::Whole } else { Substep::Ended });
        };
        if self.is_at_event_limit() {
            self.motion.dynamics.recycle(trial.candidate);
            return self.first_order_rest(trial.size).map(|()| Substep::Ended);
        }
        // the cubic is that of a trapezoidal substep, not of two Euler substeps
        let on_interpolant = self.motion.dynamics.context.settings.landing == EventLanding::Interpolant;
        let interpolated = on_interpolant && integrator == Integrator::Trapezoidal;
        let LandedStep { trial, event } =
            self.motion.finder(integrator).land(trial, bracket, interpolated)?;
        let accepted = trial.is_none_or(|trial| self.accept(trial, integrator));
        if let Some(functions) = event.filter(|_| accepted) {
            self.motion.apply_event(&functions, integrator)?;
        }
        Ok(Substep::Ended)
    }

    /// Accepts a substep. One whose equations do not hold to the tolerance is refused: then location stops, and the rest
    /// of the step is a complementarity problem, whose answer is certified or an error.
    fn accept(&mut self, trial: TrialStep, integrator: Integrator) -> bool {
        let TrialStep { end, candidate, active, certificate, records, .. } = trial;
        let motion = &mut self.motion;
        let modes_known = motion.active.modes_known;
        if modes_known && !certificate.passes(motion.dynamics.context.scheme.solver.tolerance) {
            let refused = &mut motion.recorder.statistics.refused;
            *refused = refused.max(certificate.worst());
            motion.stop_location();
            motion.dynamics.recycle(candidate);
            motion.dynamics.workspace.spare_states.push(end);
            return false;
        }
        motion.recorder.record(records);
        motion.recorder.statistics.damped |= integrator == Integrator::ImplicitEuler;
        let before = std::mem::replace(&mut motion.state, end);
        motion.dynamics.workspace.spare_states.push(before);
        if modes_known {
            motion.recorder.certify(certificate);
            motion.active.constraints = active;
            motion.active.new_contacts.clear();
        } else {
            let worst = &mut motion.recorder.certificate;
            if candidate.certificate.worst() >= worst.worst() {
                worst.copy_from(&candidate.certificate);
            }
            motion.active.keep_loaded(&motion.dynamics.workspace.substep, &candidate);
        }
        if let Some(old) = self.last.replace(candidate) {
            self.motion.dynamics.recycle(old);
        }
        true
    }

    /// Writes the report of a step of size `h`, and the memory of the state.
    pub(super) fn finish(&mut self, h: f64, report: &mut StepReport) {
        let mut reported = std::mem::take(report);
        self.report_last_substep(&mut reported);
        let TrackedMotion { dynamics: Dynamics { context, workspace }, state, active, recorder } =
            &mut self.motion;
        let system = context.system;
        let SecondOrderWorkspace { solve, substep, nearby, .. } = &mut **workspace;
        recorder.statistics.solves = solve.solves;
        recorder.statistics.definite = substep.definite;
        assemble::remember(&reported.contacts, &reported.joints, &mut state.memory);
        state.memory.h = h;
        state.memory.after_impact = !recorder.impacts.is_empty();
        state.memory.active.get_or_insert_default().clone_from(&active.constraints);
        reported.certificate.copy_from(&recorder.certificate);
        reported.stabilization = None;
        reported.dropped.clear();
        let mut work = StepWork { problems: solve.problems, converged: true, ..StepWork::default() };
        if let Some(first_order) = self.first_order.take() {
            // the next step finds the active set
            state.memory.active = None;
            work = StepWork { problems: work.problems + first_order.work.problems, ..first_order.work };
            (reported.contacts, reported.joints) = (first_order.contacts, first_order.joints);
            (reported.stabilization, reported.dropped) = (first_order.stabilization, first_order.dropped);
        }
        (reported.t, reported.h) = (state.t, h);
        reported.kinetic = kinetic(system, state.t, &state.q, &state.v);
        reported.potential = system.potential(state.t, &state.q);
        (reported.linear_momentum, reported.angular_momentum) = system.momentum(&state.q, &state.v);
        system.joints(state.t, &state.q, &mut nearby.joints);
        let query = ContactQuery::within(0.0);
        system.contacts(state.t, &state.q, &query, &mut solve.cache, &mut nearby.contacts);
        let gaps = nearby.contacts.iter().map(|c| -c.gap);
        let joints = nearby.joints.iter().filter_map(JointRow::violation);
        reported.infeasibility = joints.chain(gaps).fold(0.0, f64::max);
        solve.cache.forget_stale();
        std::mem::swap(&mut state.memory.cache, &mut solve.cache);
        reported.events = std::mem::take(&mut recorder.events);
        reported.impacts = std::mem::take(&mut recorder.impacts);
        reported.second_order = Some(recorder.statistics);
        reported.work = work;
        *report = reported;
    }

    /// Writes the contacts and joints of the last substep.
    fn report_last_substep(&mut self, reported: &mut StepReport) {
        reported.contacts.clear();
        reported.joints.clear();
        let Some(last) = self.last.take() else { return };
        let SecondOrderWorkspace { solve, substep, .. } = &mut *self.motion.dynamics.workspace;
        let SubstepProblem { problem, layout, places, middle, .. } = &*substep;
        let stick_speed = REPORTED_SLIP_RELATIVE * last.certificate.speed;
        let solution = RowSolution { z: &last.z, v: &last.velocity, stick_speed, determined: None };
        let assembled = AssembledProblem { problem, layout, rows: places };
        assembled.contact_reports(&middle.contacts, &solution, &mut reported.contacts);
        assembled.joint_reports(&middle.joints, &solution, &mut reported.joints);
        solve.lcp.recycle_candidate(last);
    }
}
