//! Effect of γ on the infeasibility: HA10 Figure 5.

use super::event::GapForm;
use super::line;
use super::run::{Ha10Method, Ha10Run};
use super::scenes::Ha10Scene;
use super::slopes::extent;
use crate::{Axis, Curve, ExperimentError, Figure, FigureContent, Reproduction};

/// Values of γ in the paper.
const GAMMAS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Step sizes of the paper [s].
const GAMMA_STEP_SIZES: [f64; 4] = [0.1, 0.05, 0.02, 0.01];

/// Largest max(0, −ρ) over all starts, during the run and at its end [1]. γ acts on all events, or only on those with
/// Φ < 0.
pub fn of(scene: Ha10Scene, gamma: f64, everywhere: bool, h: f64) -> Result<[f64; 2], ExperimentError> {
    let (time, starts) = extent(scene);
    let mut worst = [0.0_f64; 2];
    for start in 0..starts {
        let run = Ha10Run::of(scene, start, Ha10Method::paper(GapForm::Rho, gamma, everywhere), h, time)?;
        worst = [worst[0].max(run.most), worst[1].max(run.last)];
    }
    Ok(worst)
}

/// Measurements and figure of the problem of the paper, as printed and with γ only where bodies overlap.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    for (everywhere, experiment, name, title) in [
        (true, "Fig. 5, Balance2, γ on all events", "ha10-gamma", "γ on all events, as printed"),
        (false, "Fig. 5, Balance2, γ where Φ < 0", "ha10-gamma-overlap", "γ where Φ < 0 only"),
    ] {
        let mut curves = Vec::new();
        for gamma in GAMMAS {
            let mut points = Vec::new();
            for h in GAMMA_STEP_SIZES {
                let [most, last] = of(Ha10Scene::Balance2, gamma, everywhere, h)?;
                let case = format!("γ = {gamma}, h = {h}");
                out.lines.push(line(experiment, &case, "largest max(0, −ρ) of all starts", most));
                out.lines.push(line(experiment, case, "largest max(0, −ρ) at the end", last));
                points.push([h, most]);
            }
            curves.push(Curve { label: format!("γ = {gamma}"), points });
        }
        let axes = [Axis::logarithmic("h [s]"), Axis::logarithmic("largest max(0, −ρ)")];
        let title = format!("HA10 Fig. 5, Balance2: {title}");
        let content = FigureContent::Curves { axes, curves };
        out.figures.push(Figure { name: name.into(), title, content });
    }
    Ok(())
}
