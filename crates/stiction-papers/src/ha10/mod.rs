//! HA10: contact of polygons and polyhedra by the ratio metric, with the gap functions and the scheme of the paper.
//!
//! The figures of the paper are pictures and its scenes are described by words, so the only published numbers are the
//! slopes of Theorem 10. Where the paper contradicts itself the consistent reading is used: positions advance with
//! v(l + 1) (Algorithm 9 prints v(l)); an event has the metric of its two features, at least that of the pair (Theorem 4
//! and (4.14) disagree); friction is bounded by the normal impulse, not by the multiplier of ∇ρ (4.11). The printed
//! variants can be run too.

pub mod block;
mod event;
pub mod gamma;
mod pairs;
mod plane;
pub mod rest;
mod run;
mod scenes;
pub mod slopes;
mod space;
mod system;

pub use event::GapForm;
pub use run::{DEPTH, Ha10Method, Ha10Run};
pub use scenes::Ha10Scene;
pub use system::{EitherModel, Polyhedra};

use super::{ExperimentError, Measurement, Reproduction};

/// Measurements and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut out = Reproduction::default();
    rest::reproduce(&mut out)?;
    gamma::reproduce(&mut out)?;
    slopes::reproduce(&mut out)?;
    block::reproduce(&mut out)?;
    Ok(out)
}

/// Measurement that the paper does not give.
fn line(
    experiment: &'static str,
    case: impl Into<String>,
    quantity: &'static str,
    value: f64,
) -> Measurement {
    Measurement::new("HA10", experiment, case.into(), quantity, value, None)
}
