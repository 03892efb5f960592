//! Event finder: from trial steps of one start it finds the first event, a lost feature pair, or tunnelling.

use super::constants::{
    BRACKET_GROWTH, BRACKET_RELATIVE, CLOSED_GAP_RELATIVE, DISTINCT_ROOTS_RELATIVE, EVENT_ROUND_OFF,
    FEATURE_BISECTIONS, GRAZING_DEPTH_RELATIVE, LONGEST_BRACKET_RELATIVE, ROOT_START_RELATIVE, ROOT_VALUE,
    SIMULTANEOUS_EVENT_VALUE, SIMULTANEOUS_TIME_RELATIVE, TOUCHING_GAP_RELATIVE, TUNNELLING_DEPTH_RELATIVE,
};
use super::context::{Configuration, StepStart, dot, speed_scale, velocity_offsets};
use super::event_function::{EventFunction, gaps};
use super::integrator::{Dynamics, Integrator, TrialStep};
use super::root::{brent, cubic_minimum, interpolate};
use super::rows::{ConstraintRows, slip_velocity};
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::SubstepRecord;
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactQuery, ContactRow, MotionBound, System};
use std::borrow::Cow;

/// Event finder for the trial steps of an integrator from one start. [`Integrator::begin`] must have been called.
pub(super) struct EventFinder<'f, 'a, S: System + ?Sized> {
    pub(super) dynamics: &'f mut Dynamics<'a, S>,
    pub(super) integrator: Integrator,
    pub(super) from: StepStart<'f>,
}

/// Trial step with the event functions that are negative at its end.
pub(super) struct CheckedStep {
    pub(super) trial: TrialStep,
    /// Event functions that are negative at the end.
    pub(super) crossed: Vec<EventFunction>,
}

/// Trial step truncated where an active contact loses its feature pair.
pub(super) struct TruncatedStep {
    /// Trial step up to there; `None` if the pair is lost at once.
    pub(super) checked: Option<CheckedStep>,
    /// Size of that step [s].
    pub(super) size: f64,
    /// Contact that is lost right after it.
    pub(super) lost: Option<ConstraintId>,
    /// Least value of the event functions at the ends of all trial steps.
    pub(super) slack: f64,
}

/// Interval that contains the first root of some event functions.
pub(super) struct EventBracket {
    pub(super) functions: Vec<EventFunction>,
    /// End of the interval after the start [s].
    pub(super) until: f64,
}

/// Step that ends at its first event.
pub(super) struct LandedStep {
    /// Step to the event; `None` if the event is at the start.
    pub(super) trial: Option<TrialStep>,
    /// Event functions with a root at its end; `None` without an event.
    pub(super) event: Option<Vec<EventFunction>>,
}

impl<S: System + ?Sized> EventFinder<'_, '_, S> {
    /// Trial step of a size. Each of them looks whether the run is to stop, since one event may take many.
    pub(super) fn try_step(&mut self, size: f64) -> Result<TrialStep, StepError> {
        self.dynamics.workspace.solve.monitor.check(self.from.state.t)?;
        self.integrator.try_step(self.dynamics, &self.from, size)
    }

    /// Trial step of a size, or up to where a contact loses its feature pair. That time is found by bisection: whether
    /// features face each other has no value that passes zero.
    pub(super) fn truncated_step(&mut self, size: f64) -> Result<TruncatedStep, StepError> {
        let mut slack = f64::INFINITY;
        let mut lost = match self.checked_step(size, &mut slack) {
            Ok(checked) => return Ok(TruncatedStep { checked: Some(checked), size, lost: None, slack }),
            Err(StepError::Lost { contact, .. }) => contact,
            Err(other) => return Err(other),
        };
        let (mut low, mut high) = (0.0, size);
        for _ in 0..FEATURE_BISECTIONS {
            let middle = 0.5 * (low + high);
            match self.checked_step(middle, &mut slack) {
                Ok(checked) => {
                    self.dynamics.recycle(checked.trial.candidate);
                    low = middle;
                }
                Err(StepError::Lost { contact, .. }) => (lost, high) = (contact, middle),
                Err(other) => return Err(other),
            }
        }
        // made again, because the workspace must hold the problem of the step that is used
        let checked = if low > 0.0 { Some(self.checked_step(low, &mut slack)?) } else { None };
        Ok(TruncatedStep { checked, size: low, lost: Some(ConstraintId::Contact(lost)), slack })
    }

    /// Trial step with its negative event functions; the least value goes into `slack`.
    fn checked_step(&mut self, size: f64, slack: &mut f64) -> Result<CheckedStep, StepError> {
        let trial = self.try_step(size)?;
        let projected = self.projected(&trial.end, &trial.active)?;
        let values = self.values(&projected, &trial.active)?;
        *slack = slack.min(values.iter().fold(f64::INFINITY, |m, v| m.min(v.1)));
        let negative = values.into_iter().filter(|v| v.1 < -EVENT_ROUND_OFF).map(|v| v.0);
        let mut crossed: Vec<EventFunction> = negative.collect();
        crossed.extend(self.closed_gaps(&projected));
        Ok(CheckedStep { trial, crossed })
    }

    /// Projected copy of a state, for decisions, where modes are known. Explicit steps end projected.
    fn projected<'s>(
        &mut self,
        end: &'s State,
        active: &[ActiveConstraint],
    ) -> Result<Cow<'s, State>, StepError> {
        let mut copy = Cow::Borrowed(end);
        if self.from.active.modes_known && !self.integrator.projects() {
            self.dynamics.project(copy.to_mut(), active)?;
        }
        Ok(copy)
    }

    /// Event functions of all active constraints at a projected state.
    fn values(
        &mut self,
        projected: &State,
        active: &[ActiveConstraint],
    ) -> Result<Vec<(EventFunction, f64)>, StepError> {
        if active.is_empty() {
            return Ok(Vec::new());
        }
        let context = &self.dynamics.context;
        let SecondOrderWorkspace { solve, acceleration, .. } = &mut *self.dynamics.workspace;
        let candidate = acceleration.solve_in_modes(context.system, projected, active, solve)?;
        let speed = speed_scale(context.system, projected, context.step);
        let mut values = acceleration.event_functions(active, &projected.v, &candidate.z, speed);
        solve.lcp.recycle_candidate(candidate);
        // a slip that does not begin is held by friction at its bound
        let held = held_slips(&self.from.active.constraints, active);
        if !held.is_empty() {
            values.retain(|(function, _)| match function {
                EventFunction::FrictionSlack(id) => !held.contains(id),
                EventFunction::SharedSlack(_) => false,
                _ => true,
            });
        }
        Ok(values)
    }

    /// Whether slips that did not begin within a trial step could stick at its end: friction is not at its bound.
    pub(super) fn sticks_at_end(&mut self, trial: &TrialStep) -> Result<bool, StepError> {
        let held = held_slips(&self.from.active.constraints, &trial.active);
        if held.is_empty() {
            return Ok(false);
        }
        let context = &self.dynamics.context;
        let SecondOrderWorkspace { solve, acceleration, .. } = &mut *self.dynamics.workspace;
        let candidate = acceleration.solve_in_modes(context.system, &trial.end, &trial.active, solve)?;
        let values = acceleration.event_functions(&trial.active, &trial.end.v, &candidate.z, 1.0);
        solve.lcp.recycle_candidate(candidate);
        let is_slack = |f: &EventFunction| match f {
            EventFunction::FrictionSlack(id) => held.contains(id),
            EventFunction::SharedSlack(_) => true,
            _ => false,
        };
        Ok(values.iter().all(|(f, value)| !is_slack(f) || *value > SIMULTANEOUS_EVENT_VALUE))
    }

    /// Gaps of inactive constraints that are closed at a state.
    pub(super) fn closed_gaps(&mut self, end: &State) -> Vec<EventFunction> {
        let system = self.dynamics.context.system;
        if !system.has_unilateral_constraints() {
            return Vec::new();
        }
        let depth = CLOSED_GAP_RELATIVE * system.size();
        let SecondOrderWorkspace { solve, nearby, .. } = &mut *self.dynamics.workspace;
        let closed = nearby.deeper_than(depth, system, end, self.from.active, &mut solve.cache);
        closed.into_iter().map(EventFunction::Gap).collect()
    }

    /// Least of some event functions at a state; infinite without functions.
    pub(super) fn least(
        &mut self,
        functions: &[EventFunction],
        end: &State,
        active: &[ActiveConstraint],
    ) -> Result<f64, StepError> {
        Ok(self.least_function(functions, end, active)?.map_or(f64::INFINITY, |least| least.1))
    }

    /// Event function with the least value at a state, among some.
    fn least_function(
        &mut self,
        functions: &[EventFunction],
        end: &State,
        active: &[ActiveConstraint],
    ) -> Result<Option<(EventFunction, f64)>, StepError> {
        let projected = self.projected(end, active)?;
        let mut values = Vec::new();
        if functions.iter().any(|f| f.gap().is_none()) {
            values = self.values(&projected, active)?;
            values.retain(|v| functions.contains(&v.0));
        }
        let closing = gaps(functions);
        if !closing.is_empty() {
            let system = self.dynamics.context.system;
            let SecondOrderWorkspace { solve, nearby, .. } = &mut *self.dynamics.workspace;
            let gaps = nearby.gaps(&closing, system, &projected, &mut solve.cache);
            let relative = gaps.into_iter().map(|gap| gap / system.size());
            values.extend(closing.into_iter().map(EventFunction::Gap).zip(relative));
        }
        Ok(values.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)))
    }

    /// Largest slip speed at the end of a trial step, of contacts with two tangents whose slip-speed functions have a root
    /// there; 0 without such contacts [m/s].
    pub(super) fn turned_slip(
        &mut self,
        functions: &[EventFunction],
        trial: &TrialStep,
    ) -> Result<f64, StepError> {
        if !functions.iter().any(|f| matches!(f, EventFunction::SlipSpeed(ConstraintId::Contact(_)))) {
            return Ok(0.0);
        }
        let projected = self.projected(&trial.end, &trial.active)?;
        let values = self.values(&projected, &trial.active)?;
        let system = self.dynamics.context.system;
        let cache = &mut self.dynamics.workspace.solve.cache;
        let mut rows = ConstraintRows::default();
        rows.read(system, Configuration::of(&projected), &trial.active, None, cache)?;
        let offsets = velocity_offsets(system);
        let has_root = |row: &&ContactRow| {
            let own = EventFunction::SlipSpeed(ConstraintId::Contact(row.id));
            functions.contains(&own) && values.iter().any(|v| v.0 == own && v.1 <= SIMULTANEOUS_EVENT_VALUE)
        };
        let turning = rows.contacts.iter().filter(|row| row.tangents.len() == 2).filter(has_root);
        let speeds = turning.map(|row| {
            let slip = slip_velocity(row, &offsets, &projected.v);
            dot(slip, slip).sqrt()
        });
        Ok(speeds.fold(0.0, f64::max))
    }

    /// Step up to its first event, or whole if it has none.
    pub(super) fn land_at_first_event(&mut self, checked: CheckedStep) -> Result<LandedStep, StepError> {
        match self.bracket_event(checked)? {
            (trial, Some(bracket)) => self.land(trial, bracket, false),
            (trial, None) => Ok(LandedStep { trial: Some(trial), event: None }),
        }
    }

    /// Interval of the first event of a trial step: a gap that grazes, or the functions that are negative at the end.
    /// Returns the step too, which may have to be made again.
    pub(super) fn bracket_event(
        &mut self,
        checked: CheckedStep,
    ) -> Result<(TrialStep, Option<EventBracket>), StepError> {
        let CheckedStep { trial, crossed } = checked;
        let size = trial.size;
        let Some((gap, x)) = self.grazing(&trial) else {
            let bracket = EventBracket { functions: crossed, until: size };
            return Ok((trial, Some(bracket).filter(|b| !b.functions.is_empty())));
        };
        // the cubic may dip where the gap does not, as after a take-off: confirm with a step up to there
        let functions = vec![EventFunction::Gap(gap)];
        let there = self.try_step(x)?;
        let closed = self.least(&functions, &there.end, &there.active)? < -CLOSED_GAP_RELATIVE;
        self.dynamics.recycle(there.candidate);
        if closed {
            return Ok((trial, Some(EventBracket { functions, until: x })));
        }
        // made again, because the workspace must hold the problem of the step that is used
        let again = self.try_step(size)?;
        self.dynamics.recycle(trial.candidate);
        let bracket = EventBracket { functions: crossed, until: size };
        Ok((again, Some(bracket).filter(|b| !b.functions.is_empty())))
    }

    /// Step up to the root in a bracket. It is a trial step of that size, or with `interpolated` the point there on the
    /// cubic through both ends of `trial`.
    pub(super) fn land(
        &mut self,
        trial: TrialStep,
        bracket: EventBracket,
        interpolated: bool,
    ) -> Result<LandedStep, StepError> {
        let EventBracket { functions, until } = bracket;
        let at = self.root(&functions, until, &trial, interpolated)?;
        if at == 0.0 {
            // the time cannot advance: the mode entered last does not hold
            self.dynamics.recycle(trial.candidate);
            return Ok(LandedStep { trial: None, event: Some(functions) });
        }
        let landed = if interpolated {
            let end = interpolate(self.dynamics.context.system, self.from.state, &trial.end, trial.size, at);
            let record = |whole| SubstepRecord::Interpolated { whole: Box::new(whole), at };
            let records = trial.records.into_iter().map(record).collect();
            TrialStep { end, records, ..trial }
        } else if at >= trial.size {
            trial
        } else {
            self.dynamics.recycle(trial.candidate);
            return self.land_earlier(at, functions);
        };
        Ok(LandedStep { trial: Some(landed), event: Some(functions) })
    }

    /// Lands at the root of some functions at time `at` after the start, or at one before it: another gap may have closed
    /// and opened again within the whole step, another function may have passed zero first, or one of several gaps closes
    /// before the one whose root it is.
    fn land_earlier(&mut self, at: f64, functions: Vec<EventFunction>) -> Result<LandedStep, StepError> {
        let mut slack = f64::INFINITY;
        let CheckedStep { trial, crossed } = self.checked_step(at, &mut slack)?;
        let is_earlier = |f: &EventFunction| f.gap().is_some() || !functions.contains(f);
        let earlier: Vec<EventFunction> = crossed.into_iter().filter(is_earlier).collect();
        if earlier.is_empty() {
            return Ok(LandedStep { trial: Some(trial), event: Some(functions) });
        }
        let before = self.root(&earlier, at, &trial, false)?;
        self.dynamics.recycle(trial.candidate);
        if before == 0.0 {
            return Ok(LandedStep { trial: None, event: Some(earlier) });
        }
        if before >= at * (1.0 - DISTINCT_ROOTS_RELATIVE) {
            let others = earlier.into_iter().filter(|f| !functions.contains(f));
            let all = functions.iter().copied().chain(others).collect();
            return Ok(LandedStep { trial: Some(self.try_step(at)?), event: Some(all) });
        }
        self.land_earlier(before, earlier)
    }

    /// Time after the start at which the first of some functions passes zero, at most `until`: along trial steps, or
    /// `interpolated` on the cubic of a step.
    fn root(
        &mut self,
        functions: &[EventFunction],
        until: f64,
        whole: &TrialStep,
        interpolated: bool,
    ) -> Result<f64, StepError> {
        if interpolated {
            return first_root(&mut |x| self.value_on_cubic(functions, whole, x), until, ROOT_VALUE);
        }
        // a root on the cubic, which costs no steps, is a guess of the place and of the function
        let guess = first_root(&mut |x| self.value_on_cubic(functions, whole, x), until, ROOT_VALUE);
        if let Ok(guess) = guess
            && let Some((first, _)) = self.least_on_cubic(functions, whole, guess)?
            && let Some([low, high]) = bracket(&mut |x| self.value(&[first], x), guess, until)?
        {
            // others may have roots before; the end of the landed step tells
            return brent(&mut |x| self.value(&[first], x), low, high, ROOT_VALUE);
        }
        first_root(&mut |x| self.value(functions, x), until, ROOT_VALUE)
    }

    /// Least of some functions at the end of a trial step of size `x`.
    fn value(&mut self, functions: &[EventFunction], x: f64) -> Result<f64, StepError> {
        let trial = self.try_step(x)?;
        let value = self.least(functions, &trial.end, &trial.active);
        self.dynamics.recycle(trial.candidate);
        value
    }

    /// Function with the least value at time `x` after the start, on the cubic of a step.
    fn least_on_cubic(
        &mut self,
        functions: &[EventFunction],
        whole: &TrialStep,
        x: f64,
    ) -> Result<Option<(EventFunction, f64)>, StepError> {
        let at = interpolate(self.dynamics.context.system, self.from.state, &whole.end, whole.size, x);
        self.least_function(functions, &at, &self.from.active.constraints)
    }

    /// Least value of some functions there.
    fn value_on_cubic(
        &mut self,
        functions: &[EventFunction],
        whole: &TrialStep,
        x: f64,
    ) -> Result<f64, StepError> {
        Ok(self.least_on_cubic(functions, whole, x)?.map_or(f64::INFINITY, |least| least.1))
    }

    /// Whether an impact may be missed within a step: surfaces of an inactive pair that approach go farther than into
    /// each other. Under constant forces steps of any size are exact, and would go through walls.
    pub(super) fn tunnels(&mut self, trial: &TrialStep) -> bool {
        let (system, StepStart { state, active }) = (self.dynamics.context.system, self.from);
        if !system.has_unilateral_constraints() {
            return false;
        }
        let end = &trial.end;
        let motion = MotionBound { t: state.t, h: trial.size, v: [state.v.clone(), end.v.clone()] };
        let max_gap = -TUNNELLING_DEPTH_RELATIVE * system.size();
        let query = ContactQuery { motion: Some(&motion), ..ContactQuery::within(max_gap) };
        let SecondOrderWorkspace { solve, nearby, .. } = &mut *self.dynamics.workspace;
        system.contacts(state.t, &state.q, &query, &mut solve.cache, &mut nearby.contacts);
        let offsets = velocity_offsets(system);
        let approaches =
            |c: &ContactRow| [&state.v, &end.v].iter().any(|v| c.normal.dot(&offsets, v) + c.drift < 0.0);
        // pairs that overlap already are not met
        nearby.contacts.iter().any(|c| c.gap >= 0.0 && approaches(c) && !active.contains_pair(c.id.pair))
    }

    /// First gap that closes and opens again within a step, by the minimum of the cubic through both ends, and the time
    /// of that minimum after the start.
    fn grazing(&mut self, trial: &TrialStep) -> Option<(ConstraintId, f64)> {
        let (system, StepStart { state, active }) = (self.dynamics.context.system, self.from);
        if !system.has_unilateral_constraints() {
            return None;
        }
        let (end, size) = (&trial.end, trial.size);
        let motion = MotionBound { t: state.t, h: size, v: [state.v.clone(), end.v.clone()] };
        let max_gap = TOUCHING_GAP_RELATIVE * system.size();
        let query = ContactQuery { motion: Some(&motion), ..ContactQuery::within(max_gap) };
        let SecondOrderWorkspace { solve, nearby, .. } = &mut *self.dynamics.workspace;
        let mut before = Vec::new();
        system.contacts(state.t, &state.q, &query, &mut solve.cache, &mut before);
        before.retain(|c| !active.contains(ConstraintId::Contact(c.id)));
        if before.is_empty() {
            return None;
        }
        let pairs: Vec<_> = before.iter().map(|c| c.id.pair).collect();
        let query = ContactQuery { wanted: &pairs, ..ContactQuery::within(f64::NEG_INFINITY) };
        system.contacts(end.t, &end.q, &query, &mut solve.cache, &mut nearby.contacts);
        let offsets = velocity_offsets(system);
        let mut first: Option<(ConstraintId, f64)> = None;
        for a in &before {
            let Some(b) = nearby.contacts.iter().find(|c| c.id == a.id) else { continue };
            if b.gap < 0.0 || a.gap < 0.0 {
                continue;
            }
            let speed = |c: &ContactRow, v: &[f64]| c.normal.dot(&offsets, v) + c.drift;
            let speeds = [speed(a, &state.v), speed(b, &end.v)];
            let Some((x, depth)) = cubic_minimum([a.gap, b.gap], speeds, size) else { continue };
            if depth < -GRAZING_DEPTH_RELATIVE * system.size() && first.is_none_or(|f| x < f.1) {
                first = Some((ConstraintId::Contact(a.id), x));
            }
        }
        first
    }
}

/// Constraints that slip in the modes of a step, and stick at the end of it: their slip has not begun.
pub(super) fn held_slips(from: &[ActiveConstraint], end: &[ActiveConstraint]) -> Vec<ConstraintId> {
    let held = from.iter().zip(end).filter(|(from, end)| !from.sticks() && end.sticks());
    held.map(|(from, _)| from.constraint).collect()
}

/// First root of a function that is not negative at 0 and negative at `until`; 0 if it has none after the start.
fn first_root(
    value: &mut impl FnMut(f64) -> Result<f64, StepError>,
    until: f64,
    least: f64,
) -> Result<f64, StepError> {
    // a function that starts at zero has its last root there: the next one is wanted
    let mut low = 0.0;
    let mut at_low = value(ROOT_START_RELATIVE * until)?;
    if at_low < -SIMULTANEOUS_EVENT_VALUE {
        // the modes do not hold at the start
        return Ok(0.0);
    }
    if at_low <= EVENT_ROUND_OFF {
        low = 0.5 * until;
        loop {
            at_low = value(low)?;
            if at_low > EVENT_ROUND_OFF {
                break;
            }
            low *= 0.5;
            if low < SIMULTANEOUS_TIME_RELATIVE * until {
                return Ok(0.0);
            }
        }
    }
    let high = (until, value(until)?);
    brent(value, (low, at_low), high, least)
}

/// Interval around a guessed root in which a function falls from positive to negative, with the values at its ends;
/// `None` if there is none that is short.
fn bracket(
    value: &mut impl FnMut(f64) -> Result<f64, StepError>,
    guess: f64,
    until: f64,
) -> Result<Option<[(f64, f64); 2]>, StepError> {
    let mut width = BRACKET_RELATIVE * until;
    if !(guess > width) {
        return Ok(None);
    }
    let mut last = (guess, value(guess)?);
    while width <= LONGEST_BRACKET_RELATIVE * until {
        let x = if last.1 > 0.0 { (last.0 + width).min(until) } else { last.0 - width };
        if x <= ROOT_START_RELATIVE * until || x == last.0 {
            return Ok(None);
        }
        let next = (x, value(x)?);
        if (next.1 > 0.0) != (last.1 > 0.0) {
            return Ok(Some(if last.1 > 0.0 { [last, next] } else { [next, last] }));
        }
        last = next;
        width *= BRACKET_GROWTH;
    }
    Ok(None)
}
