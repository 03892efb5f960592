//! Run to an accuracy: steps as large as the tolerance allows, between located events.
//!
//! Each pass of the loop in [`AdaptiveRun::run`] predicts a step size, and [`AdaptiveRun::step`] does this:
//! 1. Limit the size where slip is slow.
//! 2. Try a step, truncated where an active contact loses its feature pair.
//! 3. Reject it if its error exceeds the tolerance, or if it may tunnel through a wall.
//! 4. Land at the first event within it. 5. Hand out samples and accept the step. 6. Apply the event, or adapt the size.

use super::active_set_of;
use super::coarse_step::CoarseSteps;
use super::constants::{
    MAX_SLIP_SHORTENING, MIN_ACCURACY_RESTITUTION_SPEED, MIN_OBSERVED_ERROR, MIN_OBSERVED_HALF_ERROR,
    MIN_SLIP_SPEED, ORDER_SAMPLE_INTERVAL, REMAINING_TIME_RELATIVE, RESTITUTION_PER_TOLERANCE,
    SLIP_STABILITY, STOPPED_SLIP_PER_TOLERANCE, TOUCHING_GAP_RELATIVE, TURNING_STOP_PART,
};
use super::context::{Configuration, StepContext, uncertified, velocity_offsets};
use super::event_finder::{EventFinder, LandedStep, TruncatedStep};
use super::event_function::EventFunction;
use super::integrator::extrapolated::extrapolation_columns;
use super::integrator::{Dynamics, Integrator, TrialStep};
use super::islands::{self, add_travels};
use super::method_choice::MethodChoice;
use super::motion::TrackedMotion;
use super::recorder::Recorder;
use super::step_size::StepSizeControl;
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::{AccuracyReport, Evidence};
use crate::scheme::{Accuracy, Midpoint, RowForm, RowForms, Scheme, Trapezoidal, euler};
use crate::state::State;
use crate::system::{ConstraintId, ContactQuery, ContactRow, System};

/// Sampler of states: times in ascending order, not before the start, and a function that takes the states there.
pub(crate) struct StateSampler<'a> {
    pub(crate) times: &'a [f64],
    pub(crate) take: &'a mut dyn FnMut(&State),
}

/// Request of a run to an accuracy.
pub(crate) struct AccuracyRequest<'a> {
    pub(crate) scheme: &'a Scheme,
    pub(crate) accuracy: &'a Accuracy,
    /// End of the run [s].
    pub(crate) until: f64,
    /// Sampler. Each sample is the end of a step of its own from the start of the step it is in, because an interpolant
    /// would be of lower order.
    pub(crate) samples: StateSampler<'a>,
    /// Evidence to be filled, if a verifier is expected.
    pub(crate) evidence: Option<&'a mut Evidence>,
}

/// Runs to the end of a request. The state changes only if the run succeeds.
pub(crate) fn run<S: System + ?Sized>(
    system: &S,
    request: AccuracyRequest,
    state: &mut State,
    workspace: &mut SecondOrderWorkspace,
) -> Result<AccuracyReport, StepError> {
    let AccuracyRequest { scheme, accuracy, until, mut samples, evidence } = request;
    let settings = scheme.ignored_by_accuracy();
    if !settings.is_empty() {
        return Err(StepError::IgnoredScheme { settings });
    }
    if !(accuracy.tolerance.is_finite() && accuracy.tolerance > 0.0) {
        return Err(StepError::Accuracy(accuracy.tolerance));
    }
    if !(until > state.t) {
        return Err(StepError::StepSize(until - state.t));
    }
    euler::check(system, state, until - state.t)?;
    let (scheme, settings) = &accuracy_settings(scheme, accuracy);
    let part = RunPart { scheme, settings, accuracy, until, recording: evidence.is_some(), events_before: 0 };
    let outcome = match islands::divided(system) {
        Some(connected) => islands::run(system, part, connected, state, &mut samples, workspace)?,
        None => run_part(system, &part, state, &mut samples, workspace)?,
    };
    if let (Some(evidence), Some(made)) = (evidence, outcome.evidence) {
        *evidence = made;
    }
    Ok(outcome.report)
}

/// Part of a run: of a system or an island, up to a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunPart<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) settings: &'a Trapezoidal,
    pub(super) accuracy: &'a Accuracy,
    /// End [s].
    pub(super) until: f64,
    /// Evidence is made.
    pub(super) recording: bool,
    /// Events of the run before this part.
    pub(super) events_before: usize,
}

/// Outcome of a part of a run.
pub(super) struct PartOutcome {
    pub(super) report: AccuracyReport,
    pub(super) evidence: Option<Evidence>,
    /// Bound on the distance that each moving body travelled [m].
    pub(super) travels: Vec<f64>,
}

/// Runs a system to the end of a part. The state changes only if that succeeds.
pub(super) fn run_part<S: System + ?Sized>(
    system: &S,
    part: &RunPart,
    state: &mut State,
    samples: &mut StateSampler,
    workspace: &mut SecondOrderWorkspace,
) -> Result<PartOutcome, StepError> {
    let &RunPart { scheme, settings, accuracy, until, recording, events_before } = part;
    workspace.begin(&state.memory.cache, recording);
    let largest = accuracy.largest_step.min(until - state.t);
    let context = StepContext { system, scheme, settings, step: largest, recording };
    let motion = TrackedMotion {
        dynamics: Dynamics { context, workspace },
        state: state.clone(),
        active: active_set_of(state),
        recorder: Recorder { evidence: recording.then(Evidence::default), ..Recorder::default() },
    };
    let mut run = AdaptiveRun::new(motion, accuracy, until);
    run.events_before = events_before;
    let done = run.run(until, samples);
    run.motion.dynamics.workspace.end();
    let report = done?;
    std::mem::swap(state, &mut run.motion.state);
    let Recorder { evidence, travels, .. } = run.motion.recorder;
    Ok(PartOutcome { report, evidence, travels })
}

/// Settings of substeps in a run to an accuracy, whatever the scheme says. States are projected after each step, so rows
/// at the mean velocity do not ring, and only these extrapolate.
pub(crate) fn accuracy_settings(scheme: &Scheme, accuracy: &Accuracy) -> (Scheme, Trapezoidal) {
    let default = (RESTITUTION_PER_TOLERANCE * accuracy.tolerance).max(MIN_ACCURACY_RESTITUTION_SPEED);
    let restitution_speed = Some(scheme.restitution_speed.unwrap_or(default));
    let settings =
        Trapezoidal { rows: RowForms::all(RowForm::Mean), middle: Midpoint::Ahead, ..Trapezoidal::default() };
    (Scheme { restitution_speed, ..*scheme }, settings)
}

/// Run to an accuracy under way.
struct AdaptiveRun<'a, 'r, S: System + ?Sized> {
    motion: TrackedMotion<'a, S>,
    accuracy: &'r Accuracy,
    integrator: Integrator,
    control: StepSizeControl,
    methods: MethodChoice,
    /// The run continues an earlier one.
    continues: bool,
    report: AccuracyReport,
    /// Orders observed by halving steps.
    orders: Vec<f64>,
    coarse: CoarseSteps,
    /// Events of the run before this part.
    events_before: usize,
    /// A feature pair was lost without a successor: the next step is short, and ends where that touches.
    is_lost: bool,
    /// Contacts that touch and neither open nor approach at the end of the last step, and are not active.
    appeared: Vec<ConstraintId>,
    /// Contacts among them that had no force when they appeared.
    declined: Vec<ConstraintId>,
    /// End [s].
    until: f64,
}

impl<'a, 'r, S: System + ?Sized> AdaptiveRun<'a, 'r, S> {
    fn new(motion: TrackedMotion<'a, S>, accuracy: &'r Accuracy, until: f64) -> Self {
        let continues = motion.state.memory.h > 0.0;
        let first = if continues { motion.state.memory.h } else { accuracy.first_step };
        let control = StepSizeControl::new(accuracy, first, motion.dynamics.context.step, until);
        let report = AccuracyReport { requested: accuracy.tolerance, ..AccuracyReport::default() };
        let (integrator, orders) = (Integrator::Doubled, Vec::new());
        let methods = MethodChoice::new(accuracy.method, accuracy.tolerance, continues);
        let coarse = CoarseSteps::new(control.h, accuracy.tolerance, motion.dynamics.context.system);
        Self {
            motion,
            accuracy,
            integrator,
            control,
            methods,
            continues,
            report,
            orders,
            coarse,
            events_before: 0,
            is_lost: false,
            appeared: Vec::new(),
            declined: Vec::new(),
            until,
        }
    }

    /// Steps up to time `until`.
    fn run(&mut self, until: f64, samples: &mut StateSampler) -> Result<AccuracyReport, StepError> {
        let shortest = REMAINING_TIME_RELATIVE * self.motion.dynamics.context.step;
        self.start()?;
        while until - self.motion.state.t > shortest {
            if self.motion.rests_on_moments() {
                let what = "torsional and rolling friction, of which steps of first order have no solution";
                let cause = StepError::Unsupported { t: self.motion.state.t, what };
                self.step_without_modes(cause, until, samples)?;
                continue;
            }
            if !self.motion.active.modes_known {
                let cause = self.without_modes();
                self.step_without_modes(cause, until, samples)?;
                continue;
            }
            let size = self.control.next(self.motion.state.t)?;
            let start = self.motion.mark();
            let AccuracyReport { steps, error, penetration, .. } = self.report;
            let counted = (steps, error, penetration);
            match self.step(size, samples) {
                // a contact may lose its features within a step though it has them at the end: a shorter step shows where
                Err(StepError::Lost { .. }) if self.control.retry(size) => {
                    self.motion.return_to(start);
                    self.uncount(counted);
                }
                Err(
                    cause @ (StepError::Lost { .. } | StepError::Unsolved { .. } | StepError::Chatter { .. }),
                ) => {
                    self.motion.return_to(start);
                    self.uncount(counted);
                    self.step_without_modes(cause, until, samples)?;
                }
                done => done?,
            }
        }
        Ok(self.finish(until, samples))
    }

    /// Returns to the number of steps, the error and the penetration before steps that were undone.
    fn uncount(&mut self, (steps, error, penetration): (usize, f64, f64)) {
        let report = &mut self.report;
        (report.steps, report.error, report.penetration) = (steps, error, penetration);
    }

    /// Error of a state whose modes could not be found; they are sought again after the next step.
    fn without_modes(&mut self) -> StepError {
        let TrackedMotion { active, state, dynamics, .. } = &mut self.motion;
        active.modes_known = true;
        let first = active.constraints.iter().find(|c| c.is_contact()).or(active.constraints.first());
        let system = dynamics.context.system;
        let name =
            first.map_or_else(|| "no contact".to_string(), |c| c.constraint.name(system, state.t, &state.q));
        StepError::NoModes { t: state.t, name }
    }

    /// Makes steps of first order up to the next sample at most, where events cannot be located because of an error. That
    /// error is returned where these have no solution either.
    fn step_without_modes(
        &mut self,
        cause: StepError,
        until: f64,
        samples: &mut StateSampler,
    ) -> Result<(), StepError> {
        let end = samples.times.first().map_or(until, |t| t.min(until));
        let made = self.motion.coarse_steps(&mut self.coarse, self.accuracy.tolerance, end);
        made.ok_or(cause)??;
        let state = &self.motion.state;
        while let Some((_, later)) = samples.times.split_first().filter(|(t, _)| **t <= state.t) {
            samples.times = later;
            (samples.take)(state);
        }
        self.control.forget();
        self.methods.pass_event();
        self.choose_integrator()
    }

    /// Makes one step of at most the predicted size, or rejects it.
    fn step(&mut self, predicted: f64, samples: &mut StateSampler) -> Result<(), StepError> {
        self.motion.dynamics.context.step = predicted;
        if self.coarse.is_stuck(self.motion.state.t) {
            return Err(self.chatter_at(self.motion.active.constraints.first().map(|c| c.constraint)));
        }
        // 1. the size that slow slip allows, or a short one after a lost feature pair
        let mut size = self.limit_by_slip(predicted)?;
        if std::mem::take(&mut self.is_lost) {
            size = size.min(self.motion.next_feature_time());
        }
        // 2. try a step, truncated at a lost feature pair
        self.motion.begin_steps(self.integrator)?;
        let TruncatedStep { checked, lost, .. } = self.finder().truncated_step(size)?;
        let Some(checked) = checked else {
            return lost.map_or(Ok(()), |lost| self.apply_feature_change(lost));
        };
        // 3. reject by error or tunnelling
        if !self.control.accepts(checked.trial.size, checked.trial.error) {
            self.check_rounding()?;
            return self.reject(checked.trial.size, checked.trial);
        }
        if self.finder().tunnels(&checked.trial) {
            self.control.halve(checked.trial.size);
            self.motion.dynamics.recycle(checked.trial.candidate);
            return Ok(());
        }
        self.observe_order(&checked.trial)?;
        // 4. land at the first event
        let size = checked.trial.size;
        let landed = self.finder().land_at_first_event(checked)?;
        let LandedStep { trial, event } = self.stop_short_of_turning_slip(landed)?;
        // 5. sample and accept; a shorter step may have a larger error, if that of the whole one was small by chance
        if let Some(landed) = trial {
            let size = landed.end.t - self.motion.state.t;
            if !self.control.accepts(size, landed.error) {
                return self.reject(size, landed);
            }
            self.accept(landed, samples)?;
        }
        // 6. apply the event, or adapt the size
        match (event, lost) {
            (Some(functions), _) => self.apply_event(&functions)?,
            (None, Some(lost)) => self.apply_feature_change(lost)?,
            (None, None) if !self.appeared.is_empty() && self.motion.state.t < self.until => {
                self.take_up_touching()?;
            }
            // a step that slow slip made short says nothing about the size that errors allow
            (None, None) if size < predicted => {}
            (None, None) => {
                self.control.adapt(size, self.report.last_error, self.integrator.order());
                if self.methods.accepted(self.integrator, self.control.is_limited_by_error()) {
                    self.control.forget();
                    self.choose_integrator()?;
                }
            }
        }
        Ok(())
    }

    /// Shortens a step that ends where a slip in space has turned by a right angle and not stopped: near a stop the
    /// direction turns ever faster, and shorter steps resolve it.
    fn stop_short_of_turning_slip(&mut self, landed: LandedStep) -> Result<LandedStep, StepError> {
        let LandedStep { trial: Some(trial), event: Some(functions) } = landed else { return Ok(landed) };
        let slip = self.finder().turned_slip(&functions, &trial)?;
        if slip <= MIN_SLIP_SPEED.max(STOPPED_SLIP_PER_TOLERANCE * self.accuracy.tolerance) {
            return Ok(LandedStep { trial: Some(trial), event: Some(functions) });
        }
        let size = TURNING_STOP_PART * (trial.end.t - self.motion.state.t);
        self.motion.dynamics.recycle(trial.candidate);
        Ok(LandedStep { trial: Some(self.finder().try_step(size)?), event: None })
    }

    /// Event finder for trial steps from here.
    fn finder(&mut self) -> EventFinder<'_, 'a, S> {
        self.motion.finder(self.integrator)
    }

    /// Finds the active set, projects the state onto it, and chooses the integrator.
    fn start(&mut self) -> Result<(), StepError> {
        if self.motion.state.memory.active.is_none() {
            self.motion.find_active_set()?;
        }
        self.motion.project_state()?;
        self.choose_integrator()
    }

    /// Chooses the integrator: the explicit method where the tolerance is tight and forces are not stiff.
    fn choose_integrator(&mut self) -> Result<(), StepError> {
        let Dynamics { context, workspace } = &mut self.motion.dynamics;
        let (state, tolerance) = (&self.motion.state, self.accuracy.tolerance);
        self.integrator = self.methods.integrator(|| {
            workspace.substep.linearize(context, state)?;
            // the step of a method of third order for this tolerance is about its cube root
            let step = tolerance.cbrt().min(context.step);
            Ok(workspace.substep.stiffness(context, state, step))
        })?;
        Ok(())
    }

    /// Size of a step that slow slip allows, at most `size`. Where it would be far shorter the step is implicit.
    fn limit_by_slip(&mut self, size: f64) -> Result<f64, StepError> {
        if matches!(self.integrator, Integrator::Extrapolated(_)) {
            self.choose_integrator()?;
        }
        if self.integrator == Integrator::Doubled || !self.motion.active.has_slipping_contact() {
            return Ok(size);
        }
        let longest = SLIP_STABILITY / self.motion.slip_stiffness()?.max(f64::MIN_POSITIVE);
        if longest * MAX_SLIP_SHORTENING < size {
            self.integrator = Integrator::Extrapolated(extrapolation_columns(self.accuracy.tolerance));
            return Ok(size);
        }
        Ok(size.min(longest))
    }

    /// Error if the tolerance is below the round-off of the state, so that smaller steps do not help.
    fn check_rounding(&self) -> Result<(), StepError> {
        let State { t, q, v, .. } = &self.motion.state;
        let tolerance = self.accuracy.tolerance;
        let size = q.iter().chain(v).fold(0.0_f64, |size, x| size.max(x.abs()));
        if f64::EPSILON * size > tolerance {
            return Err(StepError::Rounding { t: *t, tolerance, size });
        }
        Ok(())
    }

    /// Rejects a step that is too large.
    fn reject(&mut self, size: f64, trial: TrialStep) -> Result<(), StepError> {
        self.report.rejections += 1;
        self.control.reject(size, trial.error, self.integrator.order());
        self.motion.dynamics.recycle(trial.candidate);
        if self.methods.rejected(self.integrator) {
            self.choose_integrator()?;
        }
        Ok(())
    }

    /// Observes the order from time to time, by a step of half the size. A run that continues does not begin with it,
    /// or short runs in sequence would cost half as much again.
    fn observe_order(&mut self, whole: &TrialStep) -> Result<(), StepError> {
        let steps = self.report.steps;
        let is_due = steps.is_multiple_of(ORDER_SAMPLE_INTERVAL) && (steps > 0 || !self.continues);
        if !(is_due && whole.error > MIN_OBSERVED_ERROR) {
            return Ok(());
        }
        let half = self.finder().try_step(0.5 * whole.size)?;
        if half.error > MIN_OBSERVED_HALF_ERROR {
            self.orders.push((whole.error / half.error).log2());
        }
        self.motion.dynamics.recycle(half.candidate);
        Ok(())
    }

    /// Accepts a step: certificate, samples, records, the new state, and penetration.
    fn accept(&mut self, landed: TrialStep, samples: &mut StateSampler) -> Result<(), StepError> {
        let Dynamics { context, workspace } = &self.motion.dynamics;
        let tolerance = context.scheme.solver.tolerance;
        if !landed.certificate.passes(tolerance) {
            let TrialStep { candidate, certificate, .. } = landed;
            let problem = &workspace.substep.problem;
            return Err(uncertified(self.motion.state.t, tolerance, candidate, certificate, problem));
        }
        self.sample(&landed.end, samples)?;
        let is_implicit = matches!(self.integrator, Integrator::Extrapolated(_));
        let rests = is_implicit && self.finder().sticks_at_end(&landed)?;
        let motion = &mut self.motion;
        motion.recorder.certify(landed.certificate);
        self.report.steps += 1;
        self.report.last_error = landed.error;
        self.report.error += landed.error;
        motion.recorder.record(landed.records);
        add_travels(motion.dynamics.context.system, &motion.state, &landed.end, &mut motion.recorder.travels);
        motion.state = landed.end;
        motion.take_reached_modes(landed.active, rests);
        motion.dynamics.recycle(landed.candidate);
        let events = self.events_before + motion.recorder.events.len();
        motion.dynamics.workspace.solve.monitor.reach(motion.state.t, events);
        self.turn_slip_directions();
        self.note_contacts();
        Ok(())
    }

    /// Hands out the samples up to the end of the step from here to `end`.
    fn sample(&mut self, end: &State, samples: &mut StateSampler) -> Result<(), StepError> {
        while let Some((&t, later)) = samples.times.split_first().filter(|(t, _)| **t <= end.t) {
            samples.times = later;
            let x = t - self.motion.state.t;
            if x <= 0.0 {
                (samples.take)(&self.motion.state);
            } else if t < end.t {
                let mut there = self.finder().try_step(x)?;
                there.end.t = t;
                (samples.take)(&there.end);
                self.motion.dynamics.recycle(there.candidate);
            } else {
                (samples.take)(end);
            }
        }
        Ok(())
    }

    /// Turns the friction of contacts that slip in space against their slip here.
    fn turn_slip_directions(&mut self) {
        let TrackedMotion { dynamics, state, active, .. } = &mut self.motion;
        if !active.has_slipping_contact() {
            return;
        }
        let SecondOrderWorkspace { solve, substep, .. } = &mut *dynamics.workspace;
        let (system, at) = (dynamics.context.system, Configuration::of(state));
        let constraints = &mut active.constraints;
        if substep.middle.read(system, at, constraints, None, &mut solve.cache).is_ok() {
            let mut turned = Vec::with_capacity(constraints.len());
            let offsets = velocity_offsets(system);
            substep.middle.turn_directions(&offsets, &state.v, constraints, &mut turned);
            *constraints = turned;
        }
    }

    /// Notes the deepest penetration here, and contacts that have come to touch without an approach.
    fn note_contacts(&mut self) {
        let TrackedMotion { dynamics, state, active, .. } = &mut self.motion;
        let (system, least) = (dynamics.context.system, dynamics.context.restitution_speed());
        if !system.has_unilateral_constraints() {
            return;
        }
        let SecondOrderWorkspace { solve, nearby, .. } = &mut *dynamics.workspace;
        let touching = TOUCHING_GAP_RELATIVE * system.size();
        let query = ContactQuery::within(touching);
        system.contacts(state.t, &state.q, &query, &mut solve.cache, &mut nearby.contacts);
        let deepest = nearby.contacts.iter().fold(self.report.penetration, |m, c| m.max(-c.gap));
        self.report.penetration = deepest;
        let offsets = velocity_offsets(system);
        let rests = |c: &&ContactRow| {
            let speed = c.normal.dot(&offsets, &state.v) + c.drift;
            c.gap >= -touching && speed.abs() <= least
        };
        let inactive = nearby.contacts.iter().filter(rests).map(|c| ConstraintId::Contact(c.id));
        let inactive: Vec<ConstraintId> = inactive.filter(|&id| !active.contains(id)).collect();
        self.declined.retain(|id| inactive.contains(id));
        self.appeared = inactive.into_iter().filter(|id| !self.declined.contains(id)).collect();
    }

    /// Applies an event and prepares to continue after it.
    fn apply_event(&mut self, functions: &[EventFunction]) -> Result<(), StepError> {
        let named = functions.first().map(|f| f.constraint());
        self.motion.apply_event(functions, self.integrator)?;
        self.continue_after_event(named)
    }

    /// Applies the loss of a feature pair and prepares to continue after it.
    fn apply_feature_change(&mut self, lost: ConstraintId) -> Result<(), StepError> {
        let followed = self.motion.apply_feature_change(lost)?;
        self.is_lost = !followed;
        self.continue_after_event(Some(lost))
    }

    /// Makes contacts active that have come to touch without an approach, as the next corner of a body that slides.
    fn take_up_touching(&mut self) -> Result<(), StepError> {
        let appeared = std::mem::take(&mut self.appeared);
        self.motion.take_up_touching(None)?;
        let first = appeared.first().copied();
        let open = appeared.into_iter().filter(|&id| !self.motion.active.contains(id));
        self.declined.extend(open);
        self.continue_after_event(first)
    }

    /// Prepares to continue after an event of a constraint. Events that follow each other too fast are an error: modes
    /// that contradict each other, as bodies that are jammed have.
    fn continue_after_event(&mut self, constraint: Option<ConstraintId>) -> Result<(), StepError> {
        self.control.forget();
        self.methods.pass_event();
        let t = self.motion.state.t;
        let system = self.motion.dynamics.context.system;
        let chatter = self.coarse.is_chatter(t, system.bodies().len());
        let dear = self.coarse.is_dear(t, self.motion.dynamics.workspace.solve.solves);
        if chatter || dear {
            return Err(self.chatter_at(constraint));
        }
        let limit = self.accuracy.event_limit;
        if self.motion.recorder.event_count > limit {
            return Err(StepError::Events { t: self.motion.state.t, limit });
        }
        self.choose_integrator()
    }

    /// Error of events that follow each other too fast here, named by a constraint.
    fn chatter_at(&self, constraint: Option<ConstraintId>) -> StepError {
        let State { t, q, .. } = &self.motion.state;
        let system = self.motion.dynamics.context.system;
        let name = constraint.map_or_else(|| "no contact".to_string(), |c| c.name(system, *t, q));
        StepError::Chatter { t: *t, name }
    }

    /// Ends the run: time, remaining samples, report, and memory.
    fn finish(&mut self, until: f64, samples: &mut StateSampler) -> AccuracyReport {
        let TrackedMotion { dynamics, state, active, recorder } = &mut self.motion;
        state.t = until;
        // the last step may end a rounding before the end
        samples.times.iter().for_each(|_| (samples.take)(state));
        self.orders.sort_by(f64::total_cmp);
        let SecondOrderWorkspace { solve, stages, .. } = &mut *dynamics.workspace;
        recorder.certify(std::mem::take(&mut stages.certificate));
        let mut report = std::mem::take(&mut self.report);
        report.order = self.orders.get(self.orders.len() / 2).copied();
        report.solves = solve.solves;
        report.events = std::mem::take(&mut recorder.events);
        report.impacts = std::mem::take(&mut recorder.impacts);
        report.forced = recorder.statistics.forced;
        report.certificate = recorder.certificate.worst();
        state.memory.active = Some(std::mem::take(&mut active.constraints));
        state.memory.h = self.control.h;
        solve.cache.forget_stale();
        state.memory.cache.clone_from(&solve.cache);
        report
    }
}
