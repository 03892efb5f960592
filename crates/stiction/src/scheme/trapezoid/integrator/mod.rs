//! Integrators between events: each makes a trial step of any size from a start, in the modes of the active set.
//!
//! A trial step changes neither the state nor the active set. Event location and step-size control decide what becomes
//! of it.

pub(super) mod doubled;
pub(super) mod explicit;
pub(super) mod extrapolated;
mod tableau;
mod trapezoidal;

use super::context::{StepContext, StepStart};
use super::workspace::SecondOrderWorkspace;
use crate::error::StepError;
use crate::report::{IntegrationMethod, SubstepRecord};
use crate::scheme::Midpoint;
use crate::state::{ActiveConstraint, State};
use crate::system::System;
use stiction_lcp::{Candidate, Certificate};

/// Equations of motion: the model with its settings, and the storage of the problems that are solved.
pub(super) struct Dynamics<'a, S: System + ?Sized> {
    pub(super) context: StepContext<'a, S>,
    pub(super) workspace: &'a mut SecondOrderWorkspace,
}

/// Method of a trial step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integrator {
    /// One trapezoidal substep.
    Trapezoidal,
    /// Two linearly implicit Euler substeps of half the size, which damp stiff forces after an impact.
    ImplicitEuler,
    /// One trapezoidal substep and two of half the size, extrapolated, with an error estimate.
    Doubled,
    /// Implicit Euler steps of 1, 2, … substeps, extrapolated to the order of their number, with an error estimate.
    Extrapolated(usize),
    /// Explicit Runge-Kutta method on the accelerations, with an error estimate.
    Explicit(IntegrationMethod),
}

/// Trial step: where an integrator gets to from a start.
pub(super) struct TrialStep {
    /// Size [s].
    pub(super) size: f64,
    /// State at the end.
    pub(super) end: State,
    /// Answer of the last problem, which is still in the workspace.
    pub(super) candidate: Candidate,
    /// Active constraints, with friction directions at the end. Empty if the active set has no modes.
    pub(super) active: Vec<ActiveConstraint>,
    /// Certificate of the equations in the given modes; complementarity problems have their own in `candidate`.
    pub(super) certificate: Certificate,
    /// Error estimate; 0 for integrators without one [m, rad, m/s, rad/s].
    pub(super) error: f64,
    /// Records for a verifier; empty unless they are asked for.
    pub(super) records: Vec<SubstepRecord>,
}

impl Integrator {
    /// Order of the local error.
    pub(super) fn order(self) -> f64 {
        match self {
            Self::Extrapolated(columns) => columns as f64,
            Self::Explicit(IntegrationMethod::DormandPrince) => 5.0,
            Self::Explicit(_) => 8.0,
            _ => 3.0,
        }
    }

    /// Whether trial steps come with an error estimate, as in runs to an accuracy.
    pub(super) fn has_error_estimate(self) -> bool {
        matches!(self, Self::Doubled | Self::Extrapolated(_) | Self::Explicit(_))
    }

    /// Whether trial steps end in a projected state.
    pub(super) fn projects(self) -> bool {
        matches!(self, Self::Extrapolated(_) | Self::Explicit(_))
    }

    /// Prepares trial steps from a start: what does not depend on the size. Others begin each substep themselves, or need nothing.
    pub(super) fn begin<S: System + ?Sized>(
        self,
        dynamics: &mut Dynamics<S>,
        from: &StepStart,
    ) -> Result<(), StepError> {
        if self.projects() { Ok(()) } else { dynamics.begin_substep(from) }
    }

    /// Trial step of a size from a start for which [`Integrator::begin`] was called last.
    pub(super) fn try_step<S: System + ?Sized>(
        self,
        dynamics: &mut Dynamics<S>,
        from: &StepStart,
        size: f64,
    ) -> Result<TrialStep, StepError> {
        match self {
            Self::Trapezoidal => dynamics.try_substep(from, size, false),
            Self::ImplicitEuler => dynamics.try_implicit_euler(from, size),
            Self::Doubled => dynamics.try_doubled(from, size),
            Self::Extrapolated(columns) => dynamics.try_extrapolated(from, size, columns),
            Self::Explicit(method) => dynamics.try_explicit(from, size, method),
        }
    }
}

impl<S: System + ?Sized> Dynamics<'_, S> {
    /// Reads the start of trapezoidal substeps, and computes their midpoint velocity.
    pub(super) fn begin_substep(&mut self, from: &StepStart) -> Result<(), StepError> {
        let SecondOrderWorkspace { solve, substep, projector, .. } = &mut *self.workspace;
        substep.begin(&self.context, from, &mut solve.cache)?;
        match self.context.settings.middle {
            Midpoint::Tangent => projector.set_midpoint_velocity(&self.context, from, substep, solve),
            Midpoint::Ahead => Ok(()),
        }
    }

    /// Projects a state onto joints and active constraints.
    pub(super) fn project(
        &mut self,
        state: &mut State,
        active: &[ActiveConstraint],
    ) -> Result<(), StepError> {
        let SecondOrderWorkspace { solve, projector, .. } = &mut *self.workspace;
        projector.project(self.context.system, state, active, solve)
    }

    /// Projects a state and adds the record, if records are asked for.
    pub(super) fn project_recorded(
        &mut self,
        state: &mut State,
        active: &[ActiveConstraint],
        records: &mut Vec<SubstepRecord>,
    ) -> Result<(), StepError> {
        self.project(state, active)?;
        if self.context.recording {
            records.push(self.workspace.projector.record(active, state));
        }
        Ok(())
    }

    /// Record of a step of a run to an accuracy, if records are asked for.
    fn accuracy_record(
        &self,
        from: &StepStart,
        size: f64,
        method: IntegrationMethod,
        records: Vec<SubstepRecord>,
        error: f64,
    ) -> Vec<SubstepRecord> {
        if !self.context.recording {
            return Vec::new();
        }
        let active = from.active.constraints.clone();
        vec![SubstepRecord::AccuracyStep { size, method, active, records, error }]
    }

    /// Returns the storage of an answer.
    pub(super) fn recycle(&mut self, candidate: Candidate) {
        self.workspace.solve.lcp.recycle_candidate(candidate);
    }
}

/// Error if the end of a step from time `t` is not finite.
fn check_finite_end(t: f64, end: &State) -> Result<(), StepError> {
    if end.q.iter().chain(&end.v).any(|x| !x.is_finite()) {
        return Err(StepError::NotFinite { t, what: "the end of the step".to_string() });
    }
    Ok(())
}
