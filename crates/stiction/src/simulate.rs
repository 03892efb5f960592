//! The loop.

use crate::error::StepError;
use crate::report::{AccuracyReport, StepReport};
use crate::scheme::pose::Pose;
use crate::scheme::trapezoid::accuracy_run::{self, AccuracyRequest, StateSampler};
use crate::scheme::{Accuracy, Level, Scheme, euler, trapezoid};
use crate::state::State;
use crate::system::System;

/// A model, its state and the scheme that steps it.
#[derive(Debug, Clone)]
pub struct Simulation<S> {
    system: S,
    state: State,
    /// How steps are made; may be changed between steps.
    pub scheme: Scheme,
    workspace: euler::Workspace,
    second_order: trapezoid::SecondOrderWorkspace,
}

impl<S: System> Simulation<S> {
    /// A simulation of `system` from `state`.
    pub fn new(system: S, state: State, scheme: Scheme) -> Self {
        let (workspace, second_order) = Default::default();
        Self { system, state, scheme, workspace, second_order }
    }

    /// The model.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The state now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where the time of steps goes, once it is started; of schemes of the Euler family.
    pub fn profile(&mut self) -> &mut stiction_lcp::Profile {
        self.workspace.lcp.profile()
    }

    /// Goes on from another state: a snapshot of this run, or one set by hand.
    pub fn restore(&mut self, state: State) {
        self.state = state;
    }

    /// Goes on with another model in another state.
    pub(crate) fn replace(&mut self, system: S, state: State) {
        self.system = system;
        self.state = state;
    }

    /// The figures of the state now, as a step that ended here would report them.
    pub fn observe(&self) -> StepReport {
        let mut report = StepReport::default();
        euler::observe(&self.system, &self.state, &mut report);
        let State { t, q, .. } = &self.state;
        report.infeasibility = Pose::default().infeasibility(&self.system, *t, q);
        report
    }

    /// One step of size `h` [s]. On an error the state is as it was.
    pub fn step(&mut self, h: f64) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        self.step_into(h, &mut report)?;
        Ok(report)
    }

    /// [`Simulation::step`] into a report that is used again: after the first steps nothing is allocated while the
    /// number of contacts does not grow.
    pub fn step_into(&mut self, h: f64, report: &mut StepReport) -> Result<(), StepError> {
        let Self { system, state, scheme, workspace, second_order } = self;
        match &scheme.level {
            Level::Trapezoidal(settings) => {
                trapezoid::step(system, scheme, settings, state, h, second_order, report)
            }
            _ => euler::step(system, scheme, state, h, workspace, report),
        }
    }

    /// Steps of size `h` until time `until` [s], the last one shorter if need be, keeping what `pick` makes of each.
    ///
    /// ```
    /// # use nalgebra::{Isometry2, Vector2};
    /// # use stiction::planar::{Attached, Body, Mass, Shape, World};
    /// # use stiction::{Scheme, Simulation};
    /// let mut world = World::new(Vector2::new(0.0, -9.81));
    /// world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane)));
    /// let ball = Body::rigid("ball", Mass::Density(1000.0)).at(Isometry2::translation(0.0, 1.0));
    /// let ball = world.add_body(ball.with(Attached::new(Shape::Disk { radius: 0.1 })));
    /// let model = world.build()?;
    /// let state = model.state();
    /// let mut simulation = Simulation::new(model, state, Scheme::default());
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
        // a rest below this is round-off of the sum of many steps
        while until - self.state.t > 1e-9 * h {
            let rest = until - self.state.t;
            let size = if rest < (1.0 + 1e-9) * h { rest } else { h };
            if let Err(error) = self.step_into(size, &mut report) {
                return Err(RunError { trajectory, error: Box::new(error) });
            }
            trajectory.times.push(self.state.t);
            trajectory.values.push(pick(&self.system, &self.state, &report));
        }
        Ok(trajectory)
    }

    /// Goes on to time `until` [s] with steps as large as `accuracy` allows, never across a located event, keeping
    /// what `pick` makes of the state at each of `times`, in ascending order. Each of these costs a step, and is as
    /// accurate as one.
    pub fn run_to_accuracy<T>(
        &mut self,
        until: f64,
        accuracy: &Accuracy,
        times: &[f64],
        mut pick: impl FnMut(&S, &State) -> T,
    ) -> Result<AccuracyRun<T>, StepError> {
        let Self { system, state, scheme, second_order, .. } = self;
        let system = &*system;
        let mut trajectory = Trajectory { times: Vec::new(), values: Vec::new() };
        let start = state.t;
        let mut wanted: Vec<f64> = times.iter().copied().filter(|&t| t >= start && t <= until).collect();
        wanted.sort_by(f64::total_cmp);
        let mut take = |at: &State| trajectory.values.push(pick(system, at));
        let samples = StateSampler { times: &wanted, take: &mut take };
        let request = AccuracyRequest { scheme, accuracy, until, samples, evidence: None };
        let report = accuracy_run::run(system, request, state, second_order)?;
        trajectory.times = wanted;
        Ok(AccuracyRun { trajectory, report })
    }

    /// [`Simulation::run_to_accuracy`] as one stretch, with a report of it as of a step: the figures at its end, its events and
    /// impacts and, where `report` has [`Evidence`](crate::Evidence), what it takes to check every step it is made of.
    pub fn run_to_accuracy_into(
        &mut self,
        until: f64,
        accuracy: &Accuracy,
        report: &mut StepReport,
    ) -> Result<AccuracyReport, StepError> {
        let Self { system, state, scheme, second_order, .. } = self;
        let samples = StateSampler { times: &[], take: &mut |_| () };
        let start = state.t;
        let mut evidence = report.evidence.take();
        let request = AccuracyRequest { scheme, accuracy, until, samples, evidence: evidence.as_mut() };
        let made = accuracy_run::run(&*system, request, state, second_order);
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                report.evidence = evidence;
                return Err(error);
            }
        };
        *report = self.observe();
        report.h = until - start;
        report.events.clone_from(&made.events);
        report.impacts.clone_from(&made.impacts);
        report.certificate.natural_map = made.certificate;
        report.evidence = evidence;
        Ok(made)
    }
}

/// What was picked of an accurate run, and what the run did.
#[derive(Debug, Clone, PartialEq)]
pub struct AccuracyRun<T> {
    /// What was picked, at the times asked for.
    pub trajectory: Trajectory<T>,
    /// What the run did.
    pub report: AccuracyReport,
}

/// What was picked of each step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory<T> {
    /// Time at the end of each step [s].
    pub times: Vec<f64>,
    /// What was picked there.
    pub values: Vec<T>,
}

/// A run that could not go on: what it had until then, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct RunError<T: std::fmt::Debug> {
    /// What was picked until then.
    pub trajectory: Trajectory<T>,
    /// Why the next step was not made.
    pub error: Box<StepError>,
}
