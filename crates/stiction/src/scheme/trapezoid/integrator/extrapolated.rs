//! Extrapolated implicit Euler steps, for slip that is too slow for explicit methods: the direction of friction turns
//! with the slip as fast as the slip is slow. Friction is against the slip at the end of each substep, so that a slip
//! from rest needs no direction at its start.

use super::super::certificate::worse;
use super::super::constants::{EXTRAPOLATION_COLUMNS, MAX_EXTRAPOLATION_COLUMNS};
use super::super::context::StepStart;
use super::{Dynamics, TrialStep};
use crate::error::StepError;
use crate::report::IntegrationMethod;
use crate::state::State;
use crate::system::System;
use stiction_lcp::Certificate;

/// Columns of the extrapolation at an accuracy: its order. Each column costs one more substep than the last, and more
/// columns take longer steps.
pub(in super::super) fn extrapolation_columns(tolerance: f64) -> usize {
    EXTRAPOLATION_COLUMNS.iter().find(|c| tolerance >= c.0).map_or(MAX_EXTRAPOLATION_COLUMNS, |c| c.1)
}

impl<S: System + ?Sized> Dynamics<'_, S> {
    /// Extrapolated step with the estimate of its error, projected. Slips that have not begun at its end stick in the
    /// active constraints of the trial step.
    pub(super) fn try_extrapolated(
        &mut self,
        from: &StepStart,
        size: f64,
        columns: usize,
    ) -> Result<TrialStep, StepError> {
        let active = &from.active.constraints;
        let (mut records, mut ends) = (Vec::new(), Vec::with_capacity(columns));
        let mut certificate = Certificate::default();
        let (mut last, mut reached) = (None, Vec::new());
        let mut turned = from.active.clone();
        for substeps in 1..=columns {
            let mut end = from.state.clone();
            turned.constraints.clone_from(active);
            for _ in 0..substeps {
                let start = StepStart { state: &end, active: &turned };
                self.begin_substep(&start)?;
                let substep = self.try_substep(&start, size / substeps as f64, true)?;
                records.extend(substep.records);
                certificate = worse(certificate, substep.certificate);
                end = substep.end;
                for (own, now) in turned.constraints.iter_mut().zip(&substep.active) {
                    // a slip that has not begun may begin in the next substep
                    if now.mode == own.mode {
                        *own = *now;
                    }
                }
                reached = substep.active;
                if let Some(before) = last.replace(substep.candidate) {
                    self.recycle(before);
                }
            }
            ends.push(end);
        }
        let (mut end, error) = extrapolate_columns(ends);
        end.t = from.state.t + size;
        self.context.system.normalize(&mut end.q);
        self.project_recorded(&mut end, active, &mut records)?;
        let records = self.accuracy_record(from, size, IntegrationMethod::ExtrapolatedEuler, records, error);
        let candidate = last.unwrap_or_default();
        Ok(TrialStep { size, end, candidate, active: reached, certificate, error, records })
    }
}

/// Extrapolates the ends of first-order steps of 1, 2, … substeps to size zero by the scheme of Aitken and Neville, and
/// estimates the error by the last difference.
pub(in super::super) fn extrapolate_columns(mut ends: Vec<State>) -> (State, f64) {
    let n = ends.len();
    let mut error: f64 = 0.0;
    for column in 1..n {
        for k in (column..n).rev() {
            let (before, here) = ends.split_at_mut(k);
            let (coarse, fine) = (&before[k - 1], &mut here[0]);
            // T(k, c) + (T(k, c) − T(k − 1, c)) / (n_k / n_(k−c) − 1)
            let factor = (k + 1 - column) as f64 / column as f64;
            let last = column + 1 == n;
            for (fine, coarse) in [(&mut fine.q, &coarse.q), (&mut fine.v, &coarse.v)] {
                for (fine, coarse) in fine.iter_mut().zip(coarse) {
                    let change = (*fine - coarse) * factor;
                    *fine += change;
                    if last {
                        error = error.max(change.abs());
                    }
                }
            }
        }
    }
    (ends.pop().unwrap_or_default(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Implicit Euler on x' = −x: extrapolated to fifth order, against e^-h.
    #[test]
    fn extrapolates_implicit_euler_to_fifth_order() {
        let step = |h: f64| {
            let end = |n: i32| State { v: vec![(1.0 + h / f64::from(n)).powi(-n)], ..State::default() };
            let (end, error) = extrapolate_columns((1..=5).map(end).collect());
            ((end.v[0] - (-h).exp()).abs(), error)
        };
        // sizes at which the next order is small, and round-off smaller still
        let ((coarse, estimate), (fine, _)) = (step(0.06), step(0.03));
        let order = (coarse / fine).log2();
        assert!((order - 6.0).abs() < 0.3, "local error of order {order}");
        assert!(estimate > coarse && estimate < 1e2 * coarse, "estimate {estimate} of {coarse}");
    }
}
