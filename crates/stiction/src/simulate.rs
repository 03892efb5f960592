//! The loop.

use crate::error::StepError;
use crate::report::StepReport;
use crate::scheme::{Scheme, euler};
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
}

impl<S: System> Simulation<S> {
    /// A simulation of `system` from `state`.
    pub fn new(system: S, state: State, scheme: Scheme) -> Self {
        Self { system, state, scheme, workspace: euler::Workspace::default() }
    }

    /// The model.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The state now.
    pub fn state(&self) -> &State {
        &self.state
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

    /// Model and state, to be replaced together.
    pub(crate) fn parts_mut(&mut self) -> (&mut S, &mut State) {
        (&mut self.system, &mut self.state)
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
        euler::step(&self.system, &self.scheme, &mut self.state, h, &mut self.workspace, report)
    }
}
