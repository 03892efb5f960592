//! Block that slides until friction stops it. Not in the paper: shows that friction must be bounded by the normal
//! impulse, not by the multiplier of ∇ρ as in HA10 (4.11).

use super::event::GapForm;
use super::line;
use super::run::{Ha10Method, Ha10Run};
use super::scenes::{Ha10Scene, MU, SLIDE};
use crate::GRAVITY;
use crate::{ExperimentError, Reproduction};
use stiction::Scheme;

/// Depths of the centre of the floor [m].
pub const DEPTHS: [f64; 3] = [0.5, 2.0, 10.0];

/// Exact distance v²/(2 μ g) [m].
pub fn exact() -> f64 {
    SLIDE * SLIDE / (2.0 * MU * GRAVITY)
}

/// Distance of the block at rest, with steps of 5 ms [m].
pub fn distance(method: Ha10Method) -> Result<f64, ExperimentError> {
    let run = Ha10Run::of(Ha10Scene::Block, 0, method, 0.005, 2.0)?;
    Ok(run.end.q[0])
}

/// Distances at three depths, with friction bounded by the normal impulse and as printed.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    const NAME: &str = "sliding block";
    const QUANTITY: &str = "distance [m]";
    for depth in DEPTHS {
        for (form, phi) in [(GapForm::Rho, "Φ = ρ"), (GapForm::Ratio, "Φ = r − 1")] {
            let value = distance(Ha10Method { depth, ..Ha10Method::paper(form, 1.0, true) })?;
            out.lines.push(line(NAME, format!("{phi}, floor {depth} m deep"), QUANTITY, value));
        }
    }
    let value = distance(Ha10Method::own(Scheme::first_order()))?;
    out.lines.push(line(NAME, "own gap, first order", QUANTITY, value));
    out.lines.push(line(NAME, "exact", QUANTITY, exact()));
    for depth in DEPTHS {
        let method = Ha10Method { depth, normalized: false, ..Ha10Method::paper(GapForm::Rho, 1.0, true) };
        let case = format!("Φ = ρ, friction as printed, floor {depth} m deep");
        out.lines.push(line(NAME, case, QUANTITY, distance(method)?));
    }
    Ok(())
}
