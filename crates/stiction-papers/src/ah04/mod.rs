//! AH04: pendulum, ellipse and 21 disks with and without constraint stabilization, and the order of the infeasibility.

pub mod disks;
pub mod ellipse;
pub mod pendulum;
mod record;
pub mod slopes;

pub use record::Ah04Run;

use super::{ExperimentError, Reproduction};
use stiction::{Active, Scheme};

/// Scheme with the active set of the paper: all contacts with a gap of at most ε̂ [m]. AH04 (4.41)
#[must_use]
pub fn banded(band: f64, scheme: Scheme) -> Scheme {
    Scheme { active: Active::Band(band), ..scheme }
}

/// Measurements and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut out = Reproduction::default();
    pendulum::reproduce(&mut out)?;
    ellipse::reproduce(&mut out)?;
    disks::reproduce(&mut out)?;
    slopes::reproduce(&mut out)?;
    Ok(out)
}
