//! Explicit methods of Dormand and Prince on the accelerations, in given modes: for tight tolerances without
//! stiffness.

use super::super::certificate::worse;
use super::super::constants::THIRD_ORDER_WEIGHT;
use super::super::context::{StepStart, uncertified};
use super::super::workspace::SecondOrderWorkspace;
use super::tableau::{DORMAND_PRINCE_EIGHT, DORMAND_PRINCE_FIVE, RungeKuttaTableau};
use super::{Dynamics, TrialStep, check_finite_end};
use crate::error::StepError;
use crate::report::{IntegrationMethod, SubstepRecord};
use crate::state::{ActiveConstraint, State};
use crate::system::System;
use stiction_lcp::{Candidate, Certificate};

/// Rates dq/dt and dv/dt.
pub(in super::super) type StateRates = [Vec<f64>; 2];

/// Storage of explicit stages.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct ExplicitStages {
    /// State of a stage, with unit quaternions.
    normalized: State,
    /// Worst certificate of all stages since the start of the run, rejected steps included.
    pub(in super::super) certificate: Certificate,
}

/// End of a step of a size and the estimate of its error, from the rates at the stages of a method.
pub(in super::super) fn runge_kutta<E>(
    method: IntegrationMethod,
    start: &State,
    size: f64,
    mut rates_at: impl FnMut(&State) -> Result<StateRates, E>,
) -> Result<(State, f64), E> {
    let tableau = tableau(method);
    let mut rates: Vec<StateRates> = Vec::with_capacity(tableau.error.len());
    let mut at = start.clone();
    for (weights, time) in tableau.stages.iter().zip(tableau.times) {
        rates.push(rates_at(&at)?);
        at.t = start.t + time * size;
        combine(&start.q, size, weights, &rates, 0, &mut at.q);
        combine(&start.v, size, weights, &rates, 1, &mut at.v);
    }
    if tableau.error.len() > rates.len() {
        rates.push(rates_at(&at)?);
    }
    let mut local = Vec::new();
    let mut estimate = |weights: &[f64]| {
        let mut error: f64 = 0.0;
        for part in 0..2 {
            weighted_sum(weights, &rates, part, &mut local);
            error = local.iter().fold(error, |m, local| m.max((size * local).abs()));
        }
        error
    };
    let mut error = estimate(tableau.error);
    if let Some(second) = tableau.second.map(estimate)
        && error > 0.0
    {
        // estimates of orders five and three give one of order seven
        error *= error / error.hypot(THIRD_ORDER_WEIGHT * second);
    }
    Ok((at, error))
}

fn tableau(method: IntegrationMethod) -> &'static RungeKuttaTableau {
    match method {
        IntegrationMethod::DormandPrince => &DORMAND_PRINCE_FIVE,
        _ => &DORMAND_PRINCE_EIGHT,
    }
}

impl<S: System + ?Sized> Dynamics<'_, S> {
    /// Explicit step, normalized and projected, with the estimate of its error.
    pub(super) fn try_explicit(
        &mut self,
        from: &StepStart,
        size: f64,
        method: IntegrationMethod,
    ) -> Result<TrialStep, StepError> {
        let active = &from.active.constraints;
        let mut records = Vec::new();
        let (mut end, error) =
            runge_kutta(method, from.state, size, |at| self.rates(at, active, &mut records))?;
        check_finite_end(from.state.t, &end)?;
        self.context.system.normalize(&mut end.q);
        self.project_recorded(&mut end, active, &mut records)?;
        let records = self.accuracy_record(from, size, method, records, error);
        // the accelerations of each stage have been certified
        let (candidate, certificate) = (Candidate::default(), Certificate::default());
        Ok(TrialStep { size, end, candidate, active: active.clone(), certificate, error, records })
    }

    /// Rates dq/dt and dv/dt at a state in given modes, certified.
    fn rates(
        &mut self,
        state: &State,
        active: &[ActiveConstraint],
        records: &mut Vec<SubstepRecord>,
    ) -> Result<StateRates, StepError> {
        let system = self.context.system;
        let SecondOrderWorkspace { solve, acceleration, stages, .. } = &mut *self.workspace;
        // stages leave the unit quaternions; poses are those of the normalized ones
        let normalized = &mut stages.normalized;
        normalized.t = state.t;
        normalized.q.clone_from(&state.q);
        normalized.v.clone_from(&state.v);
        system.normalize(&mut normalized.q);
        let mut q = Vec::with_capacity(state.q.len());
        system.rates(&state.q, &state.v, &mut q);
        let mut record = |forces: &[f64], a: &[f64]| {
            if self.context.recording {
                records.push(SubstepRecord::Accelerations { forces: forces.to_vec(), a: a.to_vec() });
            }
        };
        if active.is_empty()
            && let Some((forces, v)) = acceleration.eliminate_joints(system, normalized, &mut solve.cache)
        {
            solve.solves += 1;
            record(forces, &v);
            return Ok([q, v]);
        }
        let candidate = acceleration.solve_in_modes(system, normalized, active, solve)?;
        let certificate = acceleration.certificate(&candidate);
        let tolerance = self.context.scheme.solver.tolerance;
        if !certificate.passes(tolerance) {
            return Err(uncertified(state.t, tolerance, candidate, certificate, &acceleration.problem));
        }
        record(&candidate.z, &candidate.velocity);
        let so_far = std::mem::take(&mut stages.certificate);
        stages.certificate = worse(so_far, certificate);
        let v = candidate.velocity.clone();
        solve.lcp.recycle_candidate(candidate);
        Ok([q, v])
    }
}

/// out = start + size Σ w k.
fn combine(start: &[f64], size: f64, weights: &[f64], rates: &[StateRates], part: usize, out: &mut Vec<f64>) {
    weighted_sum(weights, rates, part, out);
    out.iter_mut().zip(start).for_each(|(out, start)| *out = start + size * *out);
}

/// out = Σ w k.
fn weighted_sum(weights: &[f64], rates: &[StateRates], part: usize, out: &mut Vec<f64>) {
    out.clear();
    out.resize(rates[0][part].len(), 0.0);
    for (w, k) in weights.iter().zip(rates).filter(|(w, _)| **w != 0.0) {
        out.iter_mut().zip(&k[part]).for_each(|(out, k)| *out += w * k);
    }
}
