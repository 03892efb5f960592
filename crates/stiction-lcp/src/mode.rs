//! Friction modes: open, stick, slip. Solvers choose them, reports show them, one enum for all.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Friction mode of a contact. A contact without tangent rows has no slip: with a normal impulse it sticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// No normal impulse.
    Open,
    /// Normal impulse and no slip.
    Stick,
    /// Normal impulse and slip.
    Slip,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::Slip => "slip",
        })
    }
}

/// Prescribed mode of a contact, with the direction of friction if it slips.
///
/// Open: no impulse. Stick: no speed along any row. Slip: no speed along the normal row, and the friction impulse is
/// `direction` times its bound μ c_n + κ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactMode {
    /// Friction mode.
    pub mode: Mode,
    /// Friction per unit of its bound, in the directions of the tangent rows; zero unless the contact slips.
    pub direction: [f64; 2],
}

impl ContactMode {
    /// Open contact.
    pub const OPEN: Self = Self { mode: Mode::Open, direction: [0.0; 2] };

    /// Sticking contact.
    pub const STICK: Self = Self { mode: Mode::Stick, direction: [0.0; 2] };

    /// Slipping contact with friction in this direction.
    pub fn slip(direction: [f64; 2]) -> Self {
        Self { mode: Mode::Slip, direction }
    }

    /// Direction of friction of a slipping contact.
    pub fn slip_direction(&self) -> Option<[f64; 2]> {
        (self.mode == Mode::Slip).then_some(self.direction)
    }
}
