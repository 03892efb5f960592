//! Row offsets Δ and Υ of the Euler family, from gaps, joint errors and the level of the scheme.

use super::looks_ahead;
use crate::scheme::tolerances::{DEFAULT_RESTITUTION_SPEED, MAX_STEP_SHRINKAGE};
use crate::scheme::{Level, Scheme};
use crate::state::State;
use crate::system::{ContactRow, JointRow, System};
use stiction_lcp::Row;

/// Offsets of the rows of one step problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowOffsets<'a> {
    scheme: &'a Scheme,
    h: f64,
    /// Correction time of position errors [s].
    correction_time: f64,
    /// Speed above which restitution acts [m/s].
    restitution_speed: f64,
    /// Index of the first velocity of each body.
    starts: &'a [usize],
    /// Velocity at the start of the step.
    v: &'a [f64],
    /// Free velocity v_f = M̃⁻¹ b.
    free_velocity: &'a [f64],
    /// v̂ of the expansion; empty where rows are taken at the start of the step.
    expansion_velocity: &'a [f64],
}

impl<'a> RowOffsets<'a> {
    pub(super) fn new<S: System + ?Sized>(
        input: &super::StepInput<'a, S>,
        starts: &'a [usize],
        free_velocity: &'a [f64],
        expansion_velocity: &'a [f64],
    ) -> Self {
        let super::StepInput { system, scheme, state, h } = *input;
        let default = DEFAULT_RESTITUTION_SPEED * system.gravity() * h;
        Self {
            scheme,
            h,
            correction_time: correction_time(state, h),
            restitution_speed: scheme.restitution_speed.unwrap_or(default),
            starts,
            v: &state.v,
            free_velocity,
            expansion_velocity,
        }
    }

    /// Υ of a joint row. AH04 (2.10), CP03 §IV-A
    pub(super) fn joint(&self, joint: &JointRow) -> f64 {
        match self.scheme.level {
            // timed rows have their offsets in their drifts
            Level::Velocity | Level::Trapezoidal(_) | Level::Timed => joint.drift,
            Level::Stabilized { gamma, .. } => gamma * joint.error / self.correction_time + joint.drift,
            Level::Position { .. } => self.position(joint.error, &joint.row, joint.drift, false),
            Level::Baumgarte { alpha } => alpha * joint.error + joint.drift,
        }
    }

    /// Δ of a joint limit, whose gap is its error.
    pub(super) fn limit(&self, joint: &JointRow) -> f64 {
        self.gap(joint.error, &joint.row, joint.drift)
    }

    /// Δ of a contact: e u_n⁻ where restitution acts, else from its gap.
    pub(super) fn contact(&self, contact: &ContactRow) -> f64 {
        if self.scheme.level == Level::Timed {
            return contact.drift;
        }
        let closing = contact.normal.dot(self.starts, self.v) + contact.drift;
        if contact.restitution > 0.0 && closing < -self.restitution_speed && self.closes(contact) {
            return contact.restitution * closing + contact.drift;
        }
        self.gap(contact.gap, &contact.normal, contact.drift)
    }

    /// `true` where the gap at the end of the free step is not positive. A gap taken at q̂ already contains the motion
    /// by v̂ and the prescribed motion.
    fn closes(&self, contact: &ContactRow) -> bool {
        let free = contact.normal.dot(self.starts, self.free_velocity);
        let change = match self.scheme.level {
            Level::Position { .. } => free - contact.normal.dot(self.starts, self.expansion_velocity),
            _ => free + contact.drift,
        };
        contact.gap + self.h * change <= 0.0
    }

    /// Δ of a gap. AH04 (2.10)–(2.12), ST00 (13)–(20), CP03 §IV-A
    fn gap(&self, gap: f64, row: &Row, drift: f64) -> f64 {
        let h = self.h;
        match self.scheme.level {
            Level::Velocity if looks_ahead(self.scheme) => gap.max(0.0) / h + drift,
            // second-order steps build their own problems
            Level::Velocity | Level::Trapezoidal(_) | Level::Timed => drift,
            Level::Stabilized { gamma, everywhere } => {
                let gain = if gap < 0.0 || everywhere { gamma } else { 1.0 };
                gain * gap / (if gap < 0.0 { self.correction_time } else { h }) + drift
            }
            Level::Position { .. } => self.position(gap, row, drift, true),
            Level::Baumgarte { alpha } => {
                if gap < 0.0 {
                    alpha * gap + drift
                } else {
                    gap / h + drift
                }
            }
        }
    }

    /// Offset of a row taken at q̂: the error at the start of the step, linearized, over h, and the prescribed motion.
    fn position(&self, error: f64, row: &Row, drift: f64, unilateral: bool) -> f64 {
        let (h, correction_time) = (self.h, self.correction_time);
        let offset = error / h - row.dot(self.starts, self.expansion_velocity);
        let corrected = correction_time > h && (offset < drift || !unilateral);
        if corrected { (offset - drift) * (h / correction_time) + drift } else { offset }
    }
}

/// Correction time of position errors [s]: h, or the previous correction time where h shrinks by more than
/// [`MAX_STEP_SHRINKAGE`]. Φ/h would throw bodies apart, now or in the next step; spread over the previous time they
/// separate at no more than twice the speed they would have had without the change.
fn correction_time(state: &State, h: f64) -> f64 {
    if state.memory.h > MAX_STEP_SHRINKAGE * h { state.memory.h } else { h }
}

/// Correction time that remains after the step [s].
pub(crate) fn remaining_correction_time(state: &State, h: f64) -> f64 {
    (correction_time(state, h) - h).max(h)
}
