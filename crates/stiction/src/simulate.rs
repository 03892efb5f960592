//! Simulation loop: a model, its state and a scheme, stepped one by one, to a time, or to an accuracy.

use crate::error::StepError;
use crate::monitor::RunMonitor;
use crate::report::{AccuracyReport, StepReport};
use crate::scheme::euler::{self, EulerWorkspace};
use crate::scheme::step_problem::StepProblemBuilder;
use crate::scheme::trapezoid::accuracy_run::{self, AccuracyRequest, StateSampler};
use crate::scheme::trapezoid::next_motions::{self, NextMotions};
use crate::scheme::trapezoid::state_forces::{state_forces, state_intervals};
use crate::scheme::{Accuracy, Level, Scheme, halving, trapezoid};
use crate::state::State;
use crate::system::System;
use stiction_lcp::StepProblem;

/// Remaining time that counts as round-off of the sum of many steps, relative to h. Smaller: a run ends with a step of
/// round-off size. Larger: a run ends before its time by this much. Range 1e-12 to 1e-6.
const STEP_ROUND_OFF: f64 = 1e-9;

/// Model with a state to start from.
pub trait InitialState: System {
    /// State that a simulation starts from.
    fn initial_state(&self) -> State;
}

/// Model, its state and the scheme that steps it.
#[derive(Debug, Clone)]
pub struct Simulation<S> {
    system: S,
    state: State,
    /// Scheme of the next steps; may be changed between steps.
    pub scheme: Scheme,
    workspace: EulerWorkspace,
    second_order: trapezoid::SecondOrderWorkspace,
    monitor: RunMonitor,
}

impl<S: InitialState> Simulation<S> {
    /// Simulation of a model from its initial state, with the default scheme.
    ///
    /// ```
    /// # use nalgebra::{Isometry2, Vector2};
    /// # use stiction::planar::{Attached, Body, Mass, Shape, World};
    /// use stiction::{Scheme, Simulation};
    /// # let mut world = World::new(Vector2::new(0.0, -9.81));
    /// # let ball = Body::rigid("ball", Mass::Density(1000.0)).at(Isometry2::translation(0.0, 1.0));
    /// # world.add_body(ball.with(Attached::new(Shape::Disk { radius: 0.1 })));
    /// let mut simulation = Simulation::new(world.build()?).with_scheme(Scheme::ap97());
    /// let report = simulation.step(0.01)?;
    /// assert_eq!(report.t, 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(system: S) -> Self {
        let state = system.initial_state();
        Self::from_state(system, state)
    }
}

impl<S: System> Simulation<S> {
    /// Simulation of any system from a given state, with the default scheme.
    pub fn from_state(system: S, state: State) -> Self {
        let (scheme, workspace, second_order, monitor) = Default::default();
        Self { system, state, scheme, workspace, second_order, monitor }
    }

    /// Simulation with this scheme.
    #[must_use]
    pub fn with_scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// Simulation with this monitor, by which another thread follows and stops it. Clones of the simulation share it.
    #[must_use]
    pub fn with_monitor(mut self, monitor: RunMonitor) -> Self {
        self.workspace.monitor = monitor.clone();
        self.second_order.set_monitor(&monitor);
        self.monitor = monitor;
        self
    }

    /// Simulation from this state.
    #[must_use]
    pub fn with_state(self, state: State) -> Self {
        Self { state, ..self }
    }

    /// Model.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// Current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Profile of the phases of a step, for schemes of the Euler family; empty until it is started.
    pub fn profile(&mut self) -> &mut stiction_lcp::Profile {
        self.workspace.lcp.profile()
    }

    /// Step problem that a scheme of the Euler family solved last: that of the step, or of the last pass of
    /// post-stabilization if the scheme has passes. Empty before the first step.
    pub fn step_problem(&self) -> &StepProblem {
        &self.workspace.builder.problem
    }

    /// Replaces the state, by a snapshot of this run or one set by hand.
    pub fn restore(&mut self, state: State) {
        self.state = state;
    }

    /// Replaces the model and its state.
    pub(crate) fn replace(&mut self, system: S, state: State) {
        self.system = system;
        self.state = state;
    }

    /// Report of the current state: time, energies, momenta and infeasibility, as a step that ended here has them. A
    /// state of another model is an error.
    pub fn observe(&self) -> Result<StepReport, StepError> {
        euler::check_size(&self.system, &self.state)?;
        let mut report = StepReport::default();
        euler::observe(&self.system, &self.state, &mut report);
        let State { t, q, .. } = &self.state;
        report.infeasibility = StepProblemBuilder::default().infeasibility(&self.system, *t, q);
        Ok(report)
    }

    /// All motions that may follow from the current state, by every pattern of modes of the contacts that touch, at most
    /// [`MAX_MOTION_CONTACTS`](stiction_lcp::motions::MAX_MOTION_CONTACTS). The scheme has no part in it.
    ///
    /// ```
    /// # use nalgebra::Vector2;
    /// # use stiction::planar::{Attached, Body, Mass, Shape, World};
    /// # use stiction::Simulation;
    /// let mut world = World::new(Vector2::new(0.0, -9.81));
    /// world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane)));
    /// let ball = Body::rigid("ball", Mass::Density(1000.0)).at(nalgebra::Isometry2::translation(0.0, 0.1));
    /// world.add_body(ball.with(Attached::new(Shape::Disk { radius: 0.1 })));
    /// assert!(Simulation::new(world.build()?).next_motions()?.found.is_unique());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_motions(&self) -> Result<NextMotions, StepError> {
        euler::check_size(&self.system, &self.state)?;
        next_motions::next_motions(&self.system, &self.state, &mut trapezoid::SecondOrderWorkspace::default())
    }

    /// One step of size `h` [s]. On an error the state is unchanged.
    ///
    /// A step that does not reach the tolerance is made as two halves, and these as halves again, as often as
    /// [`Scheme::halvings`] allows. Impulses of its report are then sums over them ([`StepWork::halvings`]).
    ///
    /// [`StepWork::halvings`]: crate::StepWork::halvings
    pub fn step(&mut self, h: f64) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        self.step_into(h, &mut report)?;
        Ok(report)
    }

    /// [`Simulation::step`] into a report that is reused. After the first steps nothing is allocated while the number of
    /// contacts does not grow. Fills [`StepReport::evidence`] and [`StepReport::intervals`] where they are `Some`.
    pub fn step_into(&mut self, h: f64, report: &mut StepReport) -> Result<(), StepError> {
        let Self { system, state, scheme, workspace, second_order, monitor } = self;
        monitor.check(state.t)?;
        let attempt =
            |scheme: &Scheme, state: &mut State, h: f64, report: &mut StepReport| match &scheme.level {
                Level::Trapezoidal(settings) => {
                    trapezoid::step(system, scheme, settings, state, h, second_order, report)
                }
                _ => euler::step(system, scheme, state, h, workspace, report),
            };
        halving::step(scheme, state, h, report, attempt)?;
        if report.intervals.is_some() && matches!(scheme.level, Level::Trapezoidal(_)) {
            report.intervals =
                Some(state_intervals(&*system, scheme, state, h, second_order).unwrap_or_default());
        }
        monitor.finish(state.t, report.events.len());
        Ok(())
    }

    /// [`Simulation::step_into`] with a step of size `h` that ends at time `end` [s]: the sum of the time and `h` but for
    /// round-off, as of a clock t₀ + k h that is multiplied and does not drift.
    pub fn step_to(&mut self, end: f64, h: f64, report: &mut StepReport) -> Result<(), StepError> {
        let size = end - self.state.t;
        if !((size - h).abs() <= STEP_ROUND_OFF * h) {
            return Err(StepError::StepSize(size));
        }
        self.step_into(h, report)?;
        (self.state.t, report.t) = (end, end);
        Ok(())
    }

    /// Steps of size `h` until time `until` [s], the last one shorter if need be. Collects the value of `pick` after each.
    ///
    /// ```
    /// # use nalgebra::{Isometry2, Vector2};
    /// # use stiction::planar::{Attached, Body, Mass, Shape, World};
    /// # use stiction::Simulation;
    /// let mut world = World::new(Vector2::new(0.0, -9.81));
    /// world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane)));
    /// let ball = Body::rigid("ball", Mass::Density(1000.0)).at(Isometry2::translation(0.0, 1.0));
    /// let ball = world.add_body(ball.with(Attached::new(Shape::Disk { radius: 0.1 })));
    /// let mut simulation = Simulation::new(world.build()?);
    /// let heights = simulation.record(1.0, 0.01, |model, state, _| model.centre(state, ball).map_or(0.0, |c| c.y))?;
    /// assert_eq!(heights.values.len(), 100);
    /// assert!((heights.values[99] - 0.1).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record<T>(
        &mut self,
        until: f64,
        h: f64,
        mut pick: impl FnMut(&S, &State, &StepReport) -> T,
    ) -> Result<Trajectory<T>, RunError<T>>
    where
        T: std::fmt::Debug,
    {
        let mut trajectory = Trajectory { times: Vec::new(), values: Vec::new() };
        let mut report = StepReport::default();
        let refused = if !(h.is_finite() && h > 0.0) {
            Some(StepError::StepSize(h))
        } else if until.is_finite() {
            None
        } else {
            Some(StepError::NotFinite { t: self.state.t, what: format!("the end time {until}") })
        };
        if let Some(error) = refused {
            return Err(RunError { trajectory, error: Box::new(error) });
        }
        while until - self.state.t > STEP_ROUND_OFF * h {
            let rest = until - self.state.t;
            let size = if rest < (1.0 + STEP_ROUND_OFF) * h { rest } else { h };
            if let Err(error) = self.step_into(size, &mut report) {
                return Err(RunError { trajectory, error: Box::new(error) });
            }
            trajectory.times.push(self.state.t);
            trajectory.values.push(pick(&self.system, &self.state, &report));
        }
        Ok(trajectory)
    }

    /// Run to time `until` [s] with steps as large as `accuracy` allows, never across a located event. Collects the value
    /// of `pick` at each of `times`, in ascending order. Each of these costs a step, and is as accurate as one.
    ///
    /// `accuracy` decides the steps. Of the scheme such a run uses `solver` and `restitution_speed`; a scheme with other
    /// settings, which it would ignore, is an error ([`Scheme::ignored_by_accuracy`]).
    pub fn run_to_accuracy<T>(
        &mut self,
        until: f64,
        accuracy: &Accuracy,
        times: &[f64],
        mut pick: impl FnMut(&S, &State) -> T,
    ) -> Result<AccuracyRun<T>, StepError> {
        let Self { system, state, scheme, second_order, monitor, .. } = self;
        let system = &*system;
        let mut trajectory = Trajectory { times: Vec::new(), values: Vec::new() };
        let start = state.t;
        let mut wanted: Vec<f64> = times.iter().copied().filter(|&t| t >= start && t <= until).collect();
        wanted.sort_by(f64::total_cmp);
        let mut take = |at: &State| trajectory.values.push(pick(system, at));
        let samples = StateSampler { times: &wanted, take: &mut take };
        let scheme = scheme.in_accuracy_run();
        let request = AccuracyRequest { scheme: &scheme, accuracy, until, samples, evidence: None };
        let report = accuracy_run::run(system, request, state, second_order)?;
        monitor.finish(state.t, report.events.len());
        trajectory.times = wanted;
        Ok(AccuracyRun { trajectory, report })
    }

    /// [`Simulation::run_to_accuracy`] as one record. `report` has the energies and momenta at the end, the events and the
    /// impacts, and the contacts, modes and joint forces at the end: [`ContactReport::force`](crate::ContactReport::force)
    /// and [`JointReport::force`](crate::JointReport::force) with `report.h` are the forces at that instant, not means.
    /// Where it has [`Evidence`](crate::Evidence), that is filled with every step of the run; where it asks for
    /// intervals, these are of the forces at the end.
    pub fn run_to_accuracy_into(
        &mut self,
        until: f64,
        accuracy: &Accuracy,
        report: &mut StepReport,
    ) -> Result<AccuracyReport, StepError> {
        let Self { system, state, scheme, second_order, .. } = self;
        let samples = StateSampler { times: &[], take: &mut |_| () };
        let start = state.t;
        let (mut evidence, intervals) = (report.evidence.take(), report.intervals.take());
        let scheme = scheme.in_accuracy_run();
        let request =
            AccuracyRequest { scheme: &scheme, accuracy, until, samples, evidence: evidence.as_mut() };
        let run = accuracy_run::run(&*system, request, state, second_order);
        let made = match run {
            Ok(made) => made,
            Err(error) => {
                (report.evidence, report.intervals) = (evidence, intervals);
                return Err(error);
            }
        };
        self.monitor.finish(self.state.t, made.events.len());
        *report = self.observe()?;
        report.h = until - start;
        let Self { system, state, second_order, .. } = self;
        let forces = state_forces(&*system, &scheme, state, report.h, second_order)?;
        (report.contacts, report.joints) = (forces.contacts, forces.joints);
        report.events.clone_from(&made.events);
        report.impacts.clone_from(&made.impacts);
        report.certificate.natural_map = made.certificate.max(forces.certificate.worst());
        report.evidence = evidence;
        if intervals.is_some() {
            let found = state_intervals(&*system, &scheme, state, report.h, second_order);
            report.intervals = Some(found.unwrap_or_default());
        }
        Ok(made)
    }
}

/// Run to an accuracy: collected values and report.
#[derive(Debug, Clone, PartialEq)]
pub struct AccuracyRun<T> {
    /// Values at the requested times.
    pub trajectory: Trajectory<T>,
    /// Report of the run.
    pub report: AccuracyReport,
}

/// Values collected along a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory<T> {
    /// Time of each value [s].
    pub times: Vec<f64>,
    /// Values.
    pub values: Vec<T>,
}

/// Run that ended early: values until then, and the error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct RunError<T: std::fmt::Debug> {
    /// Values until the failed step.
    pub trajectory: Trajectory<T>,
    /// Error of the failed step.
    pub error: Box<StepError>,
}
