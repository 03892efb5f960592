//! Step-size control of a run to an accuracy: PI control on the error estimate of each step.

use super::constants::{
    ERROR_FLOOR_RELATIVE, MAX_RETRIES, MAX_STEP_FACTOR, MIN_STEP_FACTOR, MIN_STEP_RELATIVE, PI_INTEGRAL,
    PI_PROPORTIONAL, STEP_SAFETY,
};
use crate::error::StepError;
use crate::scheme::Accuracy;

/// Step-size control.
pub(super) struct StepSizeControl {
    tolerance: f64,
    /// End of the run [s].
    until: f64,
    /// Largest step [s].
    largest: f64,
    step_limit: usize,
    /// Steps tried, rejected ones included.
    tried: usize,
    /// Error of the last step; `None` after an event or a rejection.
    last_error: Option<f64>,
    /// Steps that failed since the last one that did not.
    retries: usize,
    /// Size of the next step [s].
    pub(super) h: f64,
}

impl StepSizeControl {
    /// Control of a run to time `until`, from a first step.
    pub(super) fn new(accuracy: &Accuracy, first: f64, largest: f64, until: f64) -> Self {
        let Accuracy { tolerance, step_limit, .. } = *accuracy;
        let h = first.min(largest);
        Self { tolerance, until, largest, step_limit, tried: 0, last_error: None, retries: 0, h }
    }

    /// Size of the next trial step from time `t`. The last two steps share the time left, so that none is tiny. More
    /// than the step limit is an error.
    pub(super) fn next(&mut self, t: f64) -> Result<f64, StepError> {
        let left = self.until - t;
        if self.tried >= self.step_limit {
            return Err(StepError::Steps { t, limit: self.step_limit, size: self.h });
        }
        self.tried += 1;
        Ok(match self.h {
            h if h >= left => left,
            h if 2.0 * h > left => 0.5 * left,
            h => h,
        })
    }

    /// Whether a step of this size and error is accepted.
    pub(super) fn accepts(&self, size: f64, error: f64) -> bool {
        is_accepted(size, error, self.tolerance, self.until)
    }

    /// Shrinks the step after one of this size and error was rejected.
    pub(super) fn reject(&mut self, size: f64, error: f64, order: f64) {
        let factor = STEP_SAFETY * (self.tolerance / error).powf(1.0 / order);
        let factor =
            if factor.is_finite() { factor.clamp(MIN_STEP_FACTOR, STEP_SAFETY) } else { MIN_STEP_FACTOR };
        self.h = size * factor;
        self.last_error = None;
    }

    /// Halves a step that failed, unless as many in sequence did. Returns whether it is to be tried again.
    pub(super) fn retry(&mut self, size: f64) -> bool {
        self.retries += 1;
        self.halve(size);
        self.retries <= MAX_RETRIES
    }

    /// Halves a step that would tunnel.
    pub(super) fn halve(&mut self, size: f64) {
        self.h = 0.5 * size;
    }

    /// Whether the error of the last steps limits the next one, and not the largest step.
    pub(super) fn is_limited_by_error(&self) -> bool {
        self.h < self.largest
    }

    /// Forgets the error of the last step, after an event.
    pub(super) fn forget(&mut self) {
        self.last_error = None;
    }

    /// Adapts the step after one of this size and error was accepted.
    pub(super) fn adapt(&mut self, size: f64, error: f64, order: f64) {
        self.retries = 0;
        let floor = ERROR_FLOOR_RELATIVE * self.tolerance.max(f64::EPSILON);
        let error = error.max(floor).max(f64::MIN_POSITIVE);
        let mut factor = STEP_SAFETY * (self.tolerance / error).powf(PI_PROPORTIONAL / order);
        if let Some(last) = self.last_error {
            factor *= (last / self.tolerance).powf(PI_INTEGRAL / order);
        }
        self.h = (size * factor.clamp(MIN_STEP_FACTOR, MAX_STEP_FACTOR)).min(self.largest);
        self.last_error = Some(error);
    }
}

/// Whether a step of this size and error is accepted in a run to time `until`.
pub(crate) fn is_accepted(size: f64, error: f64, tolerance: f64, until: f64) -> bool {
    error <= tolerance || size <= MIN_STEP_RELATIVE * until.abs().max(1.0)
}
