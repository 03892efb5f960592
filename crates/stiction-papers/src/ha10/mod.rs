//! HA10: polygons and polyhedra that meet by the ratio metric, with the paper's gap functions in its time-stepping
//! scheme.
//!
//! The paper gives its figures as pictures and its scenes by words, so the only published numbers are the slopes of
//! Theorem 10. Where the paper contradicts itself the scheme is the one that works: positions go along with
//! v(l + 1) (Algorithm 9 prints v(l)), events have the metric of their two features alone, at least that of their
//! pair (Theorem 4 and (4.14) disagree), and friction is bounded by the normal impulse, not by the multiplier of ∇ρ
//! (4.11). What is printed can be run beside it.

pub mod block;
mod event;
pub mod gamma;
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

/// All numbers and figures of the paper.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut out = Reproduction::default();
    rest::reproduce(&mut out)?;
    gamma::reproduce(&mut out)?;
    slopes::reproduce(&mut out)?;
    block::reproduce(&mut out)?;
    Ok(out)
}

fn line(
    experiment: &'static str,
    case: impl Into<String>,
    quantity: &'static str,
    value: f64,
    published: Option<f64>,
) -> Measurement {
    Measurement::new("HA10", experiment, case.into(), quantity, value, published)
}
