//! Doubled trapezoidal steps: one of the whole size against two of half, extrapolated to third order.

use super::super::certificate::worse;
use super::super::context::StepStart;
use super::{Dynamics, TrialStep};
use crate::error::StepError;
use crate::report::IntegrationMethod;
use crate::state::State;
use crate::system::System;

impl<S: System + ?Sized> Dynamics<'_, S> {
    /// Doubled step: both ends are projected, extrapolated, and the result is projected again.
    pub(super) fn try_doubled(&mut self, from: &StepStart, size: f64) -> Result<TrialStep, StepError> {
        let active = &from.active.constraints;
        let mut one = self.try_substep(from, size, false)?;
        let half = self.try_substep(from, 0.5 * size, false)?;
        let middle = StepStart { state: &half.end, ..*from };
        self.begin_substep(&middle)?;
        let mut two = self.try_substep(&middle, 0.5 * size, false)?;
        self.begin_substep(from)?;
        let mut records = std::mem::take(&mut one.records);
        self.project_recorded(&mut one.end, active, &mut records)?;
        records.extend(half.records.iter().chain(&two.records).cloned());
        self.project_recorded(&mut two.end, active, &mut records)?;
        let error = extrapolate(&one.end, &mut two.end);
        self.context.system.normalize(&mut two.end.q);
        self.project_recorded(&mut two.end, active, &mut records)?;
        let records = self.accuracy_record(from, size, IntegrationMethod::Doubled, records, error);
        let certificate = worse(worse(one.certificate, half.certificate), two.certificate);
        self.recycle(one.candidate);
        self.recycle(half.candidate);
        Ok(TrialStep { size, certificate, error, records, ..two })
    }
}

/// Extrapolates two second-order steps against one of twice the size, into `two`, and estimates the error.
pub(in super::super) fn extrapolate(one: &State, two: &mut State) -> f64 {
    let mut error: f64 = 0.0;
    let mut add = |two: &mut Vec<f64>, one: &[f64]| {
        for (two, one) in two.iter_mut().zip(one) {
            error = error.max((*two - one).abs() / 3.0);
            *two += (*two - one) / 3.0;
        }
    };
    add(&mut two.q, &one.q);
    add(&mut two.v, &one.v);
    error
}
