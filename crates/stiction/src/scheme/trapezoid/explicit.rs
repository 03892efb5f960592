//! The explicit methods of Dormand and Prince on the accelerations, in given modes: for tight tolerances without
//! stiffness.

use super::attempt::Attempt;
use super::flow::uncertified;
use super::judge::worse;
use super::tableau::{EIGHT, FIVE, Tableau};
use super::{Run, Workspace};
use crate::error::StepError;
use crate::report::{Combination, Part};
use crate::state::State;
use crate::system::System;
use stiction_lcp::{Candidate, Certificate};

/// The method that a combination of instants is made by.
pub(super) fn tableau(by: Combination) -> &'static Tableau {
    if by == Combination::DormandPrince { &FIVE } else { &EIGHT }
}

/// dq/dt and dv/dt.
pub(super) type Rates = [Vec<f64>; 2];

/// The end of a step of size `x`, and the estimate of its error, from the rates at the states that the method asks for.
pub(super) fn tabled<E>(
    method: &Tableau,
    start: &State,
    x: f64,
    mut rates_at: impl FnMut(&State) -> Result<Rates, E>,
) -> Result<(State, f64), E> {
    let mut rates: Vec<Rates> = Vec::with_capacity(method.error.len());
    let mut at = start.clone();
    for (weights, time) in method.stages.iter().zip(method.times) {
        rates.push(rates_at(&at)?);
        at.t = start.t + time * x;
        combine(&start.q, x, weights, &rates, 0, &mut at.q);
        combine(&start.v, x, weights, &rates, 1, &mut at.v);
    }
    if method.error.len() > rates.len() {
        rates.push(rates_at(&at)?);
    }
    let mut local = Vec::new();
    let mut off = |weights: &[f64]| {
        let mut error: f64 = 0.0;
        for part in 0..2 {
            weigh(weights, &rates, part, &mut local);
            error = local.iter().fold(error, |m, local| m.max((x * local).abs()));
        }
        error
    };
    let mut error = off(method.error);
    if let Some(second) = method.second.map(off)
        && error > 0.0
    {
        // of estimates of orders five and three, one of order seven
        error *= error / error.hypot(0.1 * second);
    }
    Ok((at, error))
}

impl<S: System + ?Sized> Run<'_, S> {
    /// A step of size `x`, projected, with the estimate of its error.
    pub(super) fn explicit(&mut self, x: f64, by: Combination) -> Result<Attempt, StepError> {
        let start = self.now.clone();
        let mut seen = Vec::new();
        let made = tabled(tableau(by), &start, x, |at| self.rates(at, &mut seen))?;
        self.land_explicit((x, by), made, seen)
    }

    /// The end of an explicit step: poses with unit quaternions, on all that holds.
    pub(super) fn land_explicit(
        &mut self,
        (x, by): (f64, Combination),
        (mut end, error): (State, f64),
        mut seen: Vec<Part>,
    ) -> Result<Attempt, StepError> {
        let system = self.stage.system;
        if end.q.iter().chain(&end.v).any(|x| !x.is_finite()) {
            return Err(StepError::NotFinite { t: self.now.t, what: "the end of the step".to_string() });
        }
        system.normalize(&mut end.q);
        let Workspace { flow, projector, .. } = &mut *self.workspace;
        projector.project(system, &mut end, &self.active, flow)?;
        self.see_projection(&end, &mut seen);
        let parts = self.combined((x, by), seen, error);
        let active = self.active.clone();
        // accelerations have been judged one by one
        let (candidate, certificate) = (Candidate::default(), Certificate::default());
        Ok(Attempt { end, candidate, active, certificate, error, parts })
    }

    /// What a verifier is to see of a step that was combined.
    pub(super) fn combined(&self, (size, by): (f64, Combination), parts: Vec<Part>, error: f64) -> Vec<Part> {
        let active = || self.active.clone();
        let made = self.evidence.iter().zip([parts]);
        made.map(|(_, parts)| Part::Combined { size, by, active: active(), parts, error }).collect()
    }

    /// dq/dt and dv/dt in the present modes, and what a verifier is to see of them.
    pub(super) fn rates(&mut self, state: &State, seen: &mut Vec<Part>) -> Result<Rates, StepError> {
        let system = self.stage.system;
        let Workspace { flow, instant, placed, .. } = &mut *self.workspace;
        // stages leave the unit quaternions, where poses are those of the unit ones beside them
        placed.t = state.t;
        placed.q.clone_from(&state.q);
        placed.v.clone_from(&state.v);
        system.normalize(&mut placed.q);
        let mut q = Vec::with_capacity(state.q.len());
        system.rates(&state.q, &state.v, &mut q);
        let mut see = |forces: &[f64], a: &[f64]| {
            let part = || Part::Instant { forces: forces.to_vec(), a: a.to_vec() };
            seen.extend(self.evidence.iter().map(|_| part()));
        };
        if self.active.is_empty()
            && let Some((forces, v)) = instant.directly(system, placed, &mut flow.cache)
        {
            flow.solves += 1;
            see(forces, &v);
            return Ok([q, v]);
        }
        let candidate = instant.solve_in_modes(system, placed, &self.active, flow)?;
        let certificate = instant.certificate(&candidate);
        let tolerance = self.stage.scheme.solver.tolerance;
        if !certificate.passes(tolerance) {
            return Err(uncertified(state.t, tolerance, (candidate, certificate), &instant.problem));
        }
        see(&candidate.z, &candidate.velocity);
        let so_far = std::mem::take(&mut self.certificate);
        self.certificate = worse(so_far, certificate);
        let v = candidate.velocity.clone();
        flow.lcp.recycle_candidate(candidate);
        Ok([q, v])
    }
}

/// out = start + x Σ w k.
fn combine(start: &[f64], x: f64, weights: &[f64], rates: &[Rates], part: usize, out: &mut Vec<f64>) {
    weigh(weights, rates, part, out);
    out.iter_mut().zip(start).for_each(|(out, start)| *out = start + x * *out);
}

/// out = Σ w k.
fn weigh(weights: &[f64], rates: &[Rates], part: usize, out: &mut Vec<f64>) {
    out.clear();
    out.resize(rates[0][part].len(), 0.0);
    for (w, k) in weights.iter().zip(rates).filter(|(w, _)| **w != 0.0) {
        out.iter_mut().zip(&k[part]).for_each(|(out, k)| *out += w * k);
    }
}
