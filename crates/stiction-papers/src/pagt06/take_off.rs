//! Body lifted from a floor by a growing force: a contact that opens, in closed form. PAGT06 §7.4

use super::PAPER;
use super::block::model;
use super::extrapolation::root;
use super::record::{Pagt06Run, case};
use crate::GRAVITY;
use crate::measurement::CaseLines;
use crate::{ExperimentError, Reproduction};
use nalgebra::Vector2;
use stiction::Scheme;

/// Amplitude of the lift, which grows as sin t [N].
pub const LIFT: f64 = 15.0;

/// Duration; the body does not land within it [s].
pub const TAKE_OFF_TIME: f64 = 2.0;

/// Runs the lifted body with steps `h`.
pub fn run(scheme: Scheme, h: f64) -> Result<Pagt06Run, ExperimentError> {
    let model = model(0.0, |t| Vector2::new(0.0, LIFT * t.sin()))?;
    let state = model.state();
    Ok(Pagt06Run::new(model, state, scheme, h, TAKE_OFF_TIME)?)
}

/// Time at which the contact opens [s].
pub fn instant() -> f64 {
    root(|t| GRAVITY - LIFT * t.sin(), 0.0, 1.0)
}

/// Final height above the floor [m].
pub fn exact() -> f64 {
    let off = instant();
    let passed = TAKE_OFF_TIME - off;
    LIFT * (off.cos() * passed - TAKE_OFF_TIME.sin() + off.sin()) - 0.5 * GRAVITY * passed * passed
}

/// Error of the height at the end of a run [m].
pub fn error(run: &Pagt06Run) -> f64 {
    (run.last()[1] - run.positions[0][1] - exact()).abs()
}

/// Errors with the default method.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    let mut before: Option<f64> = None;
    for k in 5..=10 {
        let run = run(Scheme::pagt06(), 0.5_f64.powi(k))?;
        let error = error(&run);
        let mut lines =
            CaseLines { out, paper: PAPER, experiment: "take-off, all events located", case: case("", k) };
        lines.add("E_h [m]", error, None);
        if let Some(before) = before {
            lines.add("ratio of E_h", before / error, None);
        }
        let located = run.events.first().map_or(f64::INFINITY, |e| (e.t - instant()).abs());
        lines.add("error of the time of take-off [s]", located, None);
        before = Some(error);
    }
    Ok(())
}
