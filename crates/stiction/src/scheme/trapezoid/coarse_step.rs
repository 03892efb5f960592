//! Steps of first order within a run to an accuracy, where events cannot be located: modes that contradict each other
//! at one instant, events that follow each other faster than the accuracy resolves, problems without a solution in
//! modes. Time-stepping needs no modes. Steps of the stabilized Euler scheme with 1, 2, … substeps are extrapolated, and
//! their differences give an error estimate, so that the accuracy holds here too, with smaller steps.

use super::constants::{
    CHATTER_TIME_RELATIVE, COARSE_ERROR_DECREASE, COARSE_STEP_COST, COARSE_STEP_GROWTH,
    COARSE_STEP_SHRINKAGE, EXPECTED_COARSE_STEP, INSTANT_RELATIVE, LEAST_COARSE_STEP, MAX_CHATTER_EVENTS,
    MAX_COARSE_COLUMNS, MAX_COARSE_ROW, MAX_DEAR_EVENTS, MAX_EVENTS_AT_ONCE, MAX_SHORT_STEPS,
    MIN_DEAR_SOLVES, MIN_STEP_RELATIVE, SHORT_STEP_RELATIVE,
};
use super::first_order::first_order_scheme;
use super::integrator::extrapolated::extrapolate_columns;
use super::islands::add_travels;
use super::motion::TrackedMotion;
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::{Event, EventKind, Evidence, FirstOrderSolve, StepReport, SubstepRecord};
use crate::scheme::euler;
use crate::state::{Memory, State};
use crate::system::{ConstraintId, System};
use std::collections::VecDeque;

/// Steps of first order: when they are due, and of which size.
#[derive(Debug)]
pub(super) struct CoarseSteps {
    /// Times of the last events [s].
    events: VecDeque<f64>,
    /// Times of the last trial steps [s].
    trials: VecDeque<f64>,
    /// Times of the last events [s], with the problems solved until then.
    costs: VecDeque<(f64, usize)>,
    /// Problems that steps of first order take for each second, in the cost of problems in modes.
    cost_rate: f64,
    /// Time of a fall from rest that the accuracy hardly resolves [s].
    fall: f64,
    /// Size of the next step [s].
    size: f64,
    /// Time at which the last ones ended [s].
    end: f64,
    /// Number made in a row before events are located again.
    row: usize,
}

impl CoarseSteps {
    /// None made yet in a run to this tolerance; the first is of this size.
    pub(super) fn new<S: System + ?Sized>(size: f64, tolerance: f64, system: &S) -> Self {
        let fall = (CHATTER_TIME_RELATIVE * tolerance / system.gravity().max(1.0)).sqrt();
        let (events, trials, costs) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let cost_rate = COARSE_STEP_COST / (EXPECTED_COARSE_STEP * tolerance);
        Self { events, trials, costs, cost_rate, fall, size, end: f64::NEG_INFINITY, row: 1 }
    }

    /// Notes an event. Returns whether the last ones follow each other faster than the accuracy resolves.
    pub(super) fn is_chatter(&mut self, t: f64, bodies: usize) -> bool {
        let many = MAX_CHATTER_EVENTS * (2 + bodies);
        note(&mut self.events, t, many.max(MAX_EVENTS_AT_ONCE));
        let since = |count: usize| since(&self.events, t, count);
        since(MAX_EVENTS_AT_ONCE) <= MAX_EVENTS_AT_ONCE as f64 * INSTANT_RELATIVE * self.fall
            || since(many) < many as f64 * self.fall
    }

    /// Notes an event after this many problems. Returns whether the last events took far more of them than steps of first
    /// order would have.
    pub(super) fn is_dear(&mut self, t: f64, solves: usize) -> bool {
        self.costs.push_back((t, solves));
        if self.costs.len() <= MAX_DEAR_EVENTS {
            return false;
        }
        self.costs.pop_front().is_some_and(|(since, before)| {
            (solves - before) as f64 > self.cost_rate * (t - since) && solves - before > MIN_DEAR_SOLVES
        })
    }

    /// Notes a trial step from time `t`. Returns whether the last ones are shorter than the accuracy needs.
    pub(super) fn is_stuck(&mut self, t: f64) -> bool {
        note(&mut self.trials, t, MAX_SHORT_STEPS);
        since(&self.trials, t, MAX_SHORT_STEPS) < MAX_SHORT_STEPS as f64 * SHORT_STEP_RELATIVE * self.fall
    }

    /// Number of steps to be made at time `t`: more in a row where the last ones did not get past the trouble.
    fn begin(&mut self, t: f64) -> usize {
        self.events.clear();
        self.trials.clear();
        self.costs.clear();
        let close = t - self.end <= self.row as f64 * self.size;
        self.row = if close { (2 * self.row).min(MAX_COARSE_ROW) } else { 1 };
        self.row
    }
}

/// Adds a time to the last ones, of which `most` are kept.
fn note(times: &mut VecDeque<f64>, t: f64, most: usize) {
    times.push_back(t);
    if times.len() > most {
        times.pop_front();
    }
}

/// Time since the last but `count` [s]; infinite if there were fewer.
fn since(times: &VecDeque<f64>, t: f64, count: usize) -> f64 {
    times.len().checked_sub(count).map_or(f64::INFINITY, |first| t - times[first])
}

/// Step of first order that was tried.
struct CoarseTrial {
    end: State,
    error: f64,
    solves: Vec<FirstOrderSolve>,
}

impl<S: System + ?Sized> TrackedMotion<'_, S> {
    /// Makes steps of first order up to time `until` at most, and finds the active set after them. `None` if there is no
    /// such step.
    pub(super) fn coarse_steps(
        &mut self,
        coarse: &mut CoarseSteps,
        tolerance: f64,
        until: f64,
    ) -> Option<Result<(), StepError>> {
        for _ in 0..coarse.begin(self.state.t) {
            let left = until - self.state.t;
            if left <= MIN_STEP_RELATIVE * until.abs().max(1.0) {
                break;
            }
            self.coarse_step(coarse, tolerance, left)?;
        }
        coarse.end = self.state.t;
        coarse.cost_rate = COARSE_STEP_COST / coarse.size;
        self.active.constraints.clear();
        let found = self.find_active_set().and_then(|()| self.project_state());
        Some(found)
    }

    /// Makes a step of first order of at most the time `left`; `None` if no size has a solution.
    fn coarse_step(&mut self, coarse: &mut CoarseSteps, tolerance: f64, left: f64) -> Option<()> {
        let least = least_size(tolerance);
        let mut size = coarse.size.min(left);
        let trial = loop {
            let trial = self.try_coarse_step(size, tolerance);
            match trial {
                Some(trial) if trial.error <= tolerance || size <= least => break trial,
                None if size <= least => return None,
                _ => size = (COARSE_STEP_SHRINKAGE * size).max(least.min(left)),
            }
        };
        // a step that the end of the interval made short says nothing about the next
        if size < left || size > coarse.size {
            coarse.size = size;
        }
        if trial.error <= COARSE_STEP_SHRINKAGE * tolerance {
            coarse.size = coarse.size.max(size) * COARSE_STEP_GROWTH;
        }
        let CoarseTrial { end, error, solves } = trial;
        let constraint = self.active.constraints.first().map_or(ConstraintId::Joint(0), |c| c.constraint);
        self.recorder.events.push(Event { t: self.state.t, kind: EventKind::FirstOrder, constraint });
        self.recorder.record([SubstepRecord::FirstOrderStep { size, error, solves }]);
        add_travels(self.dynamics.context.system, &self.state, &end, &mut self.recorder.travels);
        self.state = end;
        Some(())
    }

    /// Steps of 1, 2, … substeps from here, until their extrapolation is accurate or gets no better.
    fn try_coarse_step(&mut self, size: f64, tolerance: f64) -> Option<CoarseTrial> {
        let start = State { memory: Memory::default(), ..self.state.clone() };
        let (mut columns, mut solves) = (CoarseColumns::default(), Vec::new());
        let most = if size <= least_size(tolerance) { 2 } else { MAX_COARSE_COLUMNS };
        let mut last = f64::INFINITY;
        loop {
            let substeps = columns.ends.len() + 1;
            let mut end = start.clone();
            columns.begin(&start);
            for _ in 0..substeps {
                solves.push(self.first_order_solve(&mut end, size / substeps as f64)?);
                end.memory.h = 0.0;
                columns.add(&end);
            }
            columns.ends.push(end);
            if substeps == 1 {
                continue;
            }
            let (end, error) = columns.end(self.dynamics.context.system, size, tolerance);
            if error <= tolerance || substeps == most || error > COARSE_ERROR_DECREASE * last {
                return Some(CoarseTrial { end: State { t: start.t + size, ..end }, error, solves });
            }
            last = error;
        }
    }

    /// Step of the stabilized Euler scheme; without restitution if there is none with it.
    fn first_order_solve(&mut self, state: &mut State, size: f64) -> Option<FirstOrderSolve> {
        let context = &self.dynamics.context;
        let SecondOrderWorkspace { euler, .. } = &mut *self.dynamics.workspace;
        for without_restitution in [false, true] {
            let scheme = first_order_scheme(context.scheme, without_restitution);
            let evidence = context.recording.then(Evidence::default);
            let mut report = StepReport { evidence, ..StepReport::default() };
            if euler::step(context.system, &scheme, state, size, euler, &mut report).is_ok() {
                self.recorder.certify(report.certificate.clone());
                return Some(FirstOrderSolve {
                    without_restitution,
                    report: Box::new(report),
                    q: state.q.clone(),
                    v: state.v.clone(),
                });
            }
        }
        None
    }
}

/// Size of a step of first order that is made whatever its error [s].
pub(crate) fn least_size(tolerance: f64) -> f64 {
    LEAST_COARSE_STEP * tolerance
}

/// Ends of steps of 1, 2, … substeps of one size.
#[derive(Debug, Default)]
pub(crate) struct CoarseColumns {
    pub(crate) ends: Vec<State>,
    /// Velocities at the start and after each substep of the last step.
    velocities: Vec<Vec<f64>>,
}

impl CoarseColumns {
    /// Begins a step of one substep more.
    pub(crate) fn begin(&mut self, start: &State) {
        self.velocities.clear();
        self.add(start);
    }

    /// Adds a state after a substep.
    pub(crate) fn add(&mut self, after: &State) {
        self.velocities.push(after.v.clone());
    }

    /// End of the steps, extrapolated where that is accurate, and the error estimate. Across an event it is not, and the
    /// last of them is the end.
    pub(crate) fn end<S: System + ?Sized>(&self, system: &S, size: f64, tolerance: f64) -> (State, f64) {
        let (mut end, error) = extrapolate_columns(self.ends.clone());
        let error = error.max(self.event_error(size));
        if error <= tolerance {
            system.normalize(&mut end.q);
            return (end, error);
        }
        (self.ends.last().cloned().unwrap_or_default(), error)
    }

    /// Largest error of positions by an event that the ends do not show: bodies that stop within the first substep of
    /// each step end alike in all. Where the change of velocity differs between two substeps, it may have come at any time
    /// of either.
    fn event_error(&self, size: f64) -> f64 {
        let substeps = self.velocities.len().saturating_sub(1).max(1);
        let mut change: f64 = 0.0;
        for three in self.velocities.windows(3) {
            for ((a, b), c) in three[0].iter().zip(&three[1]).zip(&three[2]) {
                change = change.max((a - 2.0 * b + c).abs());
            }
        }
        0.5 * size / substeps as f64 * change
    }
}
