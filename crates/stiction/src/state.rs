//! All that a run needs to go on.

use crate::system::Bases;
use serde::{Deserialize, Serialize};

/// The state of a run: restoring one continues it bit by bit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time [s].
    pub t: f64,
    /// Configuration, body after body.
    pub q: Vec<f64>,
    /// Velocity, body after body.
    pub v: Vec<f64>,
    /// What schemes remember from step to step.
    pub memory: Memory,
}

/// What schemes remember from step to step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Size of the last step, or what is left of a larger one before it: the time over which errors of positions
    /// are corrected when steps shrink [s]; 0 before the first.
    pub h: f64,
    /// Where searches for contacts start from.
    #[serde(default)]
    pub bases: Bases,
}
