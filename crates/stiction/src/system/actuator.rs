//! Actuator: a servo, a torque motor or a spring of a joint coordinate, with its force and the side of its limit. For
//! models that have them and schemes that take them.

use crate::id::JointId;
use stiction_lcp::Row;

/// Distance from the limit within which the force of an actuator keeps its side, relative to the limit: the round-off of
/// the few operations of the force. Range 1e-14 to 1e-9: below it sides change without end, above it shows as an error.
const ACTUATOR_ROUND_OFF: f64 = 1e-12;

/// Actuator of a joint coordinate: a servo, a torque motor, or a spring with a damper. Along its row u the force is
/// stiffness · error + damping · (speed − u) + feedforward, within ± limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Actuator {
    /// Joint, by its number in the world.
    pub joint: JointId,
    /// Row of the coordinate.
    pub row: Row,
    /// Target less coordinate [m].
    pub error: f64,
    /// Speed of the target, less that of prescribed motion [m/s].
    pub speed: f64,
    /// Stiffness [N/m], ≥ 0.
    pub stiffness: f64,
    /// Damping [N s/m], ≥ 0.
    pub damping: f64,
    /// Force without error [N].
    pub feedforward: f64,
    /// Largest force [N], ≥ 0; may be infinite.
    pub limit: f64,
    /// Target of the error.
    pub target: ActuatorTarget,
}

/// Target of an actuator, and what its force does within a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ActuatorTarget {
    /// Rest position of a spring: its elastic energy is potential energy.
    Rest,
    /// Function of time, which the error contains.
    Path,
    /// Value at the start of a step; it moves on at this speed [m/s].
    Held(f64),
}

impl Actuator {
    /// Force at a speed of the row [N].
    pub fn force(&self, speed: f64) -> f64 {
        self.unlimited(speed).clamp(-self.limit, self.limit)
    }

    /// Force at a speed of the row without the limit [N].
    pub(crate) fn unlimited(&self, speed: f64) -> f64 {
        self.stiffness * self.error + self.damping * (self.speed - speed) + self.feedforward
    }

    /// Actuator whose force is that of this one at the end of a step of size `h` in which its row has constant speed:
    /// γ (e + h (w − u)) + δ (w − u) + f.
    pub(crate) fn at_end(&self, h: f64) -> Self {
        Self { damping: self.damping + h * self.stiffness, ..self.clone() }
    }

    /// Actuator whose force is that of this one, read at q_m = q ⊕ (h/2) v, over a timed step, as a function of the speed at
    /// the end: at the mean of both speeds, or at q_m ⊕ h v⁺ where it is `stiff`. `before` is the speed at the start.
    pub(crate) fn over_step(&self, h: f64, before: f64, stiff: bool) -> Self {
        let lead = if let ActuatorTarget::Held(speed) = self.target { speed } else { 0.0 };
        let Self { stiffness, damping, .. } = *self;
        let (slope, carried) = if stiff {
            (damping + h * stiffness, h * stiffness * self.speed)
        } else {
            (0.5 * damping + 0.25 * h * stiffness, (0.25 * h * stiffness - 0.5 * damping) * before)
        };
        let force = self.feedforward + stiffness * (self.error + 0.5 * h * lead) + damping * self.speed;
        Self {
            error: 0.0,
            speed: 0.0,
            stiffness: 0.0,
            damping: slope,
            feedforward: force + carried,
            ..self.clone()
        }
    }

    /// Side on which the force is at its limit at a speed of the row, 1 or −1; 0 where it is within. `before` is the side
    /// assumed: a force at its limit to round-off keeps it.
    pub(crate) fn side(&self, speed: f64, before: f64) -> f64 {
        let force = self.unlimited(speed);
        let beyond = force.abs() - self.limit;
        let tolerance = ACTUATOR_ROUND_OFF * self.limit;
        if beyond > tolerance || (before * force > 0.0 && beyond >= -tolerance) {
            force.signum()
        } else {
            0.0
        }
    }

    /// `true` when all its numbers are finite, but for the limit.
    pub(crate) fn is_finite(&self) -> bool {
        let Self { error, speed, stiffness, damping, feedforward, .. } = *self;
        [error, speed, stiffness, damping, feedforward].into_iter().all(f64::is_finite)
    }
}
