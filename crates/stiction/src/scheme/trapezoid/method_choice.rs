//! Method of the next steps of a run to an accuracy, from the tolerance, the stiffness of the forces, and what the last
//! steps were limited by. A looser tolerance takes no more steps than a tighter one.

use super::constants::{
    MAX_EXPLICIT_TOLERANCE, MAX_ORDER_EIGHT_TOLERANCE, SMOOTH_STEPS, STIFF_STEPS, STIFFNESS_LIMIT,
};
use super::integrator::Integrator;
use crate::error::StepError;
use crate::report::IntegrationMethod;
use crate::scheme::AccurateMethod;

/// Choice of the method.
#[derive(Debug)]
pub(super) struct MethodChoice {
    asked: AccurateMethod,
    tolerance: f64,
    /// Steps since the last event that the error limited.
    smooth_steps: usize,
    /// Implicit steps to be made before an explicit one is tried where forces seem stiff.
    stiff_steps: usize,
    /// Forces seem stiff.
    is_stiff: bool,
}

impl MethodChoice {
    /// Choice for a method that is asked for, at a tolerance. A run that continues begins as if it had been stiff.
    pub(super) fn new(asked: AccurateMethod, tolerance: f64, continues: bool) -> Self {
        let stiff_steps = if continues { STIFF_STEPS } else { 0 };
        Self { asked, tolerance, smooth_steps: 0, stiff_steps, is_stiff: false }
    }

    /// Method of the next step; `stiffness` is that of the forces here.
    pub(super) fn integrator(
        &mut self,
        stiffness: impl FnOnce() -> Result<f64, StepError>,
    ) -> Result<Integrator, StepError> {
        Ok(match self.asked {
            AccurateMethod::Trapezoidal => Integrator::Doubled,
            AccurateMethod::DormandPrince => Integrator::Explicit(IntegrationMethod::DormandPrince),
            AccurateMethod::DormandPrinceEight => Integrator::Explicit(IntegrationMethod::DormandPrinceEight),
            AccurateMethod::Automatic if self.tolerance > MAX_EXPLICIT_TOLERANCE => Integrator::Doubled,
            AccurateMethod::Automatic => {
                self.is_stiff = stiffness()? > STIFFNESS_LIMIT;
                if self.is_stiff && self.stiff_steps > 0 {
                    Integrator::Doubled
                } else if self.tolerance > MAX_ORDER_EIGHT_TOLERANCE && self.smooth_steps < SMOOTH_STEPS {
                    Integrator::Explicit(IntegrationMethod::DormandPrince)
                } else {
                    Integrator::Explicit(IntegrationMethod::DormandPrinceEight)
                }
            }
        })
    }

    /// Forgets what the steps before an event were limited by.
    pub(super) fn pass_event(&mut self) {
        self.smooth_steps = 0;
    }

    /// Notes an accepted step, and whether the error limits the next one. Returns whether the method is to be chosen
    /// again.
    pub(super) fn accepted(&mut self, by: Integrator, limited: bool) -> bool {
        if self.is_stiff && by == Integrator::Doubled {
            self.stiff_steps = self.stiff_steps.saturating_sub(1);
            return self.stiff_steps == 0;
        }
        self.smooth_steps = if limited { self.smooth_steps + 1 } else { 0 };
        let is_chosen = self.asked == AccurateMethod::Automatic;
        let is_order_five = by == Integrator::Explicit(IntegrationMethod::DormandPrince);
        is_chosen && is_order_five && self.smooth_steps == SMOOTH_STEPS
    }

    /// Notes a step with too large an error. Returns whether the method is to be chosen again.
    pub(super) fn rejected(&mut self, by: Integrator) -> bool {
        let is_tried = self.is_stiff && matches!(by, Integrator::Explicit(_));
        if is_tried {
            self.stiff_steps = STIFF_STEPS;
        }
        is_tried && self.asked == AccurateMethod::Automatic
    }
}
