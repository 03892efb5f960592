//! PAGT06: a double pendulum beside a wall, a block that sticks and slips, two carts with a stiff damper or spring, and
//! the order and stability of the method without contact.
//!
//! Tables 10.1 to 10.3 come out as printed by the paper's own method: formulation II with impacts located on the
//! interpolant, and formulations I and II without any location. What this library does by default stands beside them.

pub mod angles;
pub mod block;
pub mod carts;
pub mod double_pendulum;
pub mod extrapolation;
pub mod orders;
mod record;
pub mod smooth;
pub mod take_off;

pub use record::{Pagt06Run, ratios};

use super::{ExperimentError, Reproduction};
use stiction::{Level, Scheme, Trapezoidal};

/// The trapezoidal method with these settings.
pub fn scheme(settings: Trapezoidal) -> Scheme {
    Scheme::of(Level::Trapezoidal(settings))
}

/// All numbers and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut out = Reproduction::default();
    double_pendulum::reproduce(&mut out)?;
    block::reproduce(&mut out)?;
    take_off::reproduce(&mut out)?;
    carts::reproduce(&mut out)?;
    orders::reproduce(&mut out)?;
    Ok(out)
}
