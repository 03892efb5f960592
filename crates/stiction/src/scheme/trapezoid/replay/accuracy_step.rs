//! Replay of a step of a run to an accuracy: each solve is certified, and the combination and its error estimate are
//! computed again from the recorded solves.

use super::super::active_set::contains;
use super::super::certificate;
use super::super::constants::{
    IMPACT_GAP_RELATIVE, MAX_EXTRAPOLATION_COLUMNS, REMAINING_TIME_RELATIVE, SIMULTANEOUS_EVENT_VALUE,
};
use super::super::context::speed_scale;
use super::super::integrator::doubled::extrapolate;
use super::super::integrator::explicit::{StateRates, runge_kutta};
use super::super::integrator::extrapolated::extrapolate_columns;
use super::{RecordedSubstep, ReplayResidual, StepReplay, UNSORTED, is_strictly_sorted};
use crate::report::{IntegrationMethod, SubstepRecord};
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, ContactId, ContactQuery, System};
use stiction_lcp::certify_motion;

/// Recorded step of a run to an accuracy.
pub(crate) struct RecordedAccuracyStep<'a> {
    pub(crate) size: f64,
    pub(crate) method: IntegrationMethod,
    pub(crate) active: &'a [ActiveConstraint],
    pub(crate) records: &'a [SubstepRecord],
}

/// Residuals of such a step.
#[derive(Debug, Default)]
pub(crate) struct AccuracyStepResidual {
    pub(crate) residual: ReplayResidual,
    /// Error estimate, computed again.
    pub(crate) error: f64,
    /// Largest position error after a projection [m].
    pub(crate) position_error: f64,
    /// Least event function at the start; 1 without forces at that instant.
    pub(crate) slack: f64,
    /// Inactive contact that closed farthest during the step, and by how much [m].
    pub(crate) closed: Option<(ContactId, f64)>,
}

impl AccuracyStepResidual {
    fn add(&mut self, residual: ReplayResidual) {
        let ReplayResidual { certificate, velocity, admissible, .. } = residual;
        let own = &mut self.residual;
        own.certificate = certificate::worse(std::mem::take(&mut own.certificate), certificate);
        own.velocity = own.velocity.max(velocity);
        own.admissible &= admissible;
    }
}

impl<S: System + ?Sized> StepReplay<'_, S> {
    /// Replays a step up to its end. The error says why the record is no such step.
    pub(crate) fn accuracy_step(
        &mut self,
        record: &RecordedAccuracyStep,
    ) -> Result<AccuracyStepResidual, String> {
        let step = self.context.step;
        if !(record.size > 0.0 && record.size <= step * (1.0 + REMAINING_TIME_RELATIVE)) {
            return Err("a step of another size".to_string());
        }
        if !is_strictly_sorted(record.active) {
            return Err(UNSORTED.to_string());
        }
        let start = self.state.clone();
        let mut found = AccuracyStepResidual { slack: 1.0, ..AccuracyStepResidual::default() };
        found.residual.admissible = true;
        let done = match record.method {
            IntegrationMethod::Doubled => self.doubled(record, &start, &mut found),
            IntegrationMethod::ExtrapolatedEuler => self.extrapolated(record, &start, &mut found),
            IntegrationMethod::DormandPrince | IntegrationMethod::DormandPrinceEight => {
                self.explicit(record, &start, &mut found)
            }
        };
        done?;
        found.closed = self.closed_contact(&start, record.active);
        Ok(found)
    }

    /// Replays one substep and two of half the size, extrapolated.
    fn doubled(
        &mut self,
        step: &RecordedAccuracyStep,
        start: &State,
        found: &mut AccuracyStepResidual,
    ) -> Result<(), String> {
        let [one, end_of_one, first, second, end_of_two, end] = step.records else {
            return Err("a doubled step with other records".to_string());
        };
        // the long substep alone does not show whether modes are right
        let residual = self.substep_of_step(one, step, (step.size, false), found)?;
        found.add(ReplayResidual { admissible: true, ..residual });
        self.projection_of_step(end_of_one, step.active, found)?;
        let one = std::mem::replace(&mut self.state, start.clone());
        for record in [first, second] {
            let residual = self.substep_of_step(record, step, (0.5 * step.size, false), found)?;
            found.add(residual);
        }
        self.projection_of_step(end_of_two, step.active, found)?;
        found.error = extrapolate(&one, &mut self.state);
        self.context.system.normalize(&mut self.state.q);
        self.projection_of_step(end, step.active, found)
    }

    /// Replays implicit Euler steps of 1, 2, … substeps, extrapolated.
    fn extrapolated(
        &mut self,
        step: &RecordedAccuracyStep,
        start: &State,
        found: &mut AccuracyStepResidual,
    ) -> Result<(), String> {
        let Some((end, mut records)) = step.records.split_last() else {
            return Err("a step without records".to_string());
        };
        // 1 + 2 + … substeps
        let columns = (1..=MAX_EXTRAPOLATION_COLUMNS).find(|n| n * (n + 1) == 2 * records.len());
        let columns = columns.filter(|n| *n > 1).ok_or("a number of substeps that no extrapolation has")?;
        let mut ends = Vec::with_capacity(columns);
        for substeps in 1..=columns {
            self.state.clone_from(start);
            for _ in 0..substeps {
                let (record, later) = records.split_first().ok_or("a substep that is not recorded")?;
                records = later;
                let expected = (step.size / substeps as f64, true);
                let residual = self.substep_of_step(record, step, expected, found)?;
                // substeps may pass an event that the extrapolated end does not
                found.add(ReplayResidual { admissible: true, ..residual });
            }
            ends.push(self.state.clone());
        }
        (self.state, found.error) = extrapolate_columns(ends);
        self.state.t = start.t + step.size;
        self.context.system.normalize(&mut self.state.q);
        self.projection_of_step(end, step.active, found)
    }

    /// Replays a substep of a step, of an expected size, implicit or not.
    fn substep_of_step(
        &mut self,
        record: &SubstepRecord,
        step: &RecordedAccuracyStep,
        (size, implicit): (f64, bool),
        found: &mut AccuracyStepResidual,
    ) -> Result<ReplayResidual, String> {
        let substep = RecordedSubstep::of(record).ok_or("a record that is no substep")?;
        if substep.size != size
            || !substep.in_modes
            || substep.implicit != implicit
            || !(substep.active == step.active || implicit && fits_step(substep.active, step.active))
        {
            return Err("a substep of another step".to_string());
        }
        found.residual.admissible &= substep.new_contacts.is_empty();
        self.substep(&substep)
    }

    /// Replays an explicit step from the accelerations of its stages.
    fn explicit(
        &mut self,
        step: &RecordedAccuracyStep,
        start: &State,
        found: &mut AccuracyStepResidual,
    ) -> Result<(), String> {
        let Some((end, stages)) = step.records.split_last() else {
            return Err("a step without records".to_string());
        };
        let mut stages = stages.iter();
        let rates = |at: &State| self.stage(stages.next(), step, at, found);
        let (to, error) = runge_kutta(step.method, start, step.size, rates)?;
        if stages.next().is_some() {
            return Err("a stage too many".to_string());
        }
        found.error = error;
        self.state = to;
        self.context.system.normalize(&mut self.state.q);
        self.projection_of_step(end, step.active, found)
    }

    /// Rates at a stage, from the recorded forces and accelerations.
    fn stage(
        &mut self,
        record: Option<&SubstepRecord>,
        step: &RecordedAccuracyStep,
        at: &State,
        found: &mut AccuracyStepResidual,
    ) -> Result<StateRates, String> {
        let Some(SubstepRecord::Accelerations { forces, a }) = record else {
            return Err("a stage that is not recorded".to_string());
        };
        let active = step.active;
        let Self { context, cache, acceleration, .. } = self;
        let system = context.system;
        let mut normalized = at.clone();
        system.normalize(&mut normalized.q);
        acceleration.assemble_in_modes(system, &normalized, active, cache).map_err(|e| e.to_string())?;
        if forces.len() != acceleration.layout.impulses || a.len() != at.v.len() {
            return Err("a stage with forces of other rows".to_string());
        }
        let candidate = certify_motion(&acceleration.problem, forces, a).map_err(|e| e.to_string())?;
        let certificate = acceleration.certificate(&candidate);
        found.add(ReplayResidual { certificate, admissible: true, ..ReplayResidual::default() });
        // only the start of the step is on the path: later stages do not show whether modes are right
        if at.t == self.state.t {
            let speed = speed_scale(system, at, context.step);
            let values = acceleration.event_functions(active, &at.v, forces, speed);
            let least = |least: f64, v: f64| if v.is_nan() { f64::NEG_INFINITY } else { least.min(v) };
            found.slack = values.iter().fold(found.slack, |m, v| least(m, v.1));
        }
        let mut q = Vec::with_capacity(at.q.len());
        system.rates(&at.q, &at.v, &mut q);
        Ok([q, a.clone()])
    }

    /// Replays a projection of a step.
    fn projection_of_step(
        &mut self,
        record: &SubstepRecord,
        expected: &[ActiveConstraint],
        found: &mut AccuracyStepResidual,
    ) -> Result<(), String> {
        let SubstepRecord::Projection { active, displacements, v } = record else {
            return Err("a projection that is not recorded".to_string());
        };
        if active != expected {
            return Err("a projection of another step".to_string());
        }
        let (residual, position_error) = self.projection(active, displacements, v)?;
        found.add(residual);
        found.position_error = found.position_error.max(position_error);
        Ok(())
    }

    /// Inactive contact that closed farthest since the start of a step.
    pub(crate) fn closed_contact(
        &mut self,
        start: &State,
        active: &[ActiveConstraint],
    ) -> Option<(ContactId, f64)> {
        let system = self.context.system;
        let limit = IMPACT_GAP_RELATIVE * system.size();
        let cache = &mut self.cache;
        let (mut now, mut before) = (Vec::new(), Vec::new());
        let State { t, q, .. } = &self.state;
        system.contacts(*t, q, &ContactQuery::within(0.0), cache, &mut now);
        let deepest = now.iter().fold(self.observed.penetration, |m, c| m.max(-c.gap));
        self.observed.penetration = deepest;
        now.retain(|c| c.gap < -limit && !contains(active, ConstraintId::Contact(c.id)));
        if now.is_empty() {
            return None;
        }
        system.contacts(start.t, &start.q, &ContactQuery::within(0.0), cache, &mut before);
        let depth = |id: ContactId| before.iter().find(|c| c.id == id).map_or(0.0, |c| (-c.gap).max(0.0));
        let deeper = now.iter().map(|c| (c.id, -c.gap - depth(c.id))).filter(|c| c.1 > limit);
        deeper.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Event functions of a verified step may be this far below zero: simultaneous roots agree to this.
pub(crate) const MAX_WRONG_MODE_VALUE: f64 = SIMULTANEOUS_EVENT_VALUE;

/// Whether the active constraints of an implicit substep are those of its step. Directions of friction may differ, and a
/// slip that has not begun sticks.
fn fits_step(substep: &[ActiveConstraint], step: &[ActiveConstraint]) -> bool {
    let fits = |(own, step): (&ActiveConstraint, &ActiveConstraint)| {
        own.constraint == step.constraint && (own.mode == step.mode || own.sticks())
    };
    substep.len() == step.len() && substep.iter().zip(step).all(fits)
}
