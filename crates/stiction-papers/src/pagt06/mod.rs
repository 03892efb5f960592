//! PAGT06: double pendulum beside a wall, block with stick and slip, two carts with a stiff damper or spring, and the
//! order and stability of the method without contact.
//!
//! The method of the paper reproduces Tables 10.1 to 10.3: formulation II with impacts located on the interpolant, and
//! formulations I and II without location. The results of the defaults of this library stand beside them.

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

/// Key of the paper.
const PAPER: &str = "PAGT06";

/// Trapezoidal method with these settings.
pub fn scheme(settings: Trapezoidal) -> Scheme {
    Scheme::of(Level::Trapezoidal(settings))
}

/// Measurements and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut out = Reproduction::default();
    double_pendulum::reproduce(&mut out)?;
    block::reproduce(&mut out)?;
    take_off::reproduce(&mut out)?;
    carts::reproduce(&mut out)?;
    orders::reproduce(&mut out)?;
    Ok(out)
}
