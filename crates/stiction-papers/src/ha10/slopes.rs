//! Infeasibility against the step size: HA10 Figures 6, 8 and 10, Theorem 10.

use super::event::GapForm;
use super::line;
use super::run::{Ha10Method, Ha10Run};
use super::scenes::Ha10Scene;
use crate::{
    Agreement, Axis, Curve, ExperimentError, Figure, FigureContent, Measurement, PublishedSense,
    Reproduction, Series, slope,
};
use rayon::prelude::*;
use stiction::Scheme;

/// Step sizes [s]: those of the paper and some between them. With 0.05 s and more a square passes through the plank
/// before it is near, and one end of it is pushed out.
const SLOPE_STEP_SIZES: [f64; 7] = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/// Largest step for slopes [s]: L ε̂_t/(1 − ε̂_t) ≥ v h for the fastest hit of each scene.
pub const COARSEST: f64 = 0.02;

/// Time until all bodies of a scene have hit each other [s], and the number of starts.
pub fn extent(scene: Ha10Scene) -> (f64, u32) {
    match scene {
        Ha10Scene::Balance2 => (4.0, 5),
        Ha10Scene::Pyramid1 | Ha10Scene::Block => (2.0, 5),
        Ha10Scene::Dice3 => (1.6, 7),
    }
}

/// Methods to compare: name and method.
pub fn methods() -> [(&'static str, Ha10Method); 5] {
    let paper = |form| Ha10Method::paper(form, 1.0, true);
    [
        ("Φ = ρ", paper(GapForm::Rho)),
        ("Φ = r − 1", paper(GapForm::Ratio)),
        ("own gap, AH04", Ha10Method::own(Scheme::ah04())),
        ("own gap, first order", Ha10Method::own(Scheme::first_order())),
        ("Φ = ρ, positions by v(l)", Ha10Method { lagging: true, ..paper(GapForm::Rho) }),
    ]
}

/// Largest max(0, −ρ) over all starts, for each step size.
pub fn series(scene: Ha10Scene, method: Ha10Method, steps: &[f64]) -> Result<Series, ExperimentError> {
    let (time, starts) = extent(scene);
    let largest = |h: f64| -> Result<f64, ExperimentError> {
        let run = |start: u32| Ok(Ha10Run::of(scene, start, method, h, time)?.most);
        (0..starts).into_par_iter().map(run).try_reduce(|| 0.0, |a, b| Ok(a.max(b)))
    };
    steps.iter().map(|&h| Ok([h, largest(h)?])).collect()
}

/// Slope over the steps of at most [`COARSEST`].
pub fn fine_slope(series: &[[f64; 2]]) -> f64 {
    let fine: Series = series.iter().copied().filter(|p| p[0] <= COARSEST).collect();
    slope(&fine)
}

/// Measurements, slopes and figures of all scenes.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    for (scene, experiment, name) in [
        (Ha10Scene::Balance2, "Fig. 6, Balance2", "ha10-balance2-infeasibility"),
        (Ha10Scene::Pyramid1, "Fig. 8, Pyramid1", "ha10-pyramid1-infeasibility"),
        (Ha10Scene::Dice3, "Fig. 10, Dice3", "ha10-dice3-infeasibility"),
    ] {
        let mut curves = Vec::new();
        for (case, method) in methods() {
            // the scheme of the paper at all of its steps; the others at fewer
            let steps = match method {
                Ha10Method { lagging: true, .. } => &SLOPE_STEP_SIZES[2..5],
                Ha10Method { form: GapForm::Rho, .. } => &SLOPE_STEP_SIZES[..],
                _ => &SLOPE_STEP_SIZES[..6],
            };
            let points = series(scene, method, steps)?;
            for [h, most] in &points {
                let quantity = "largest max(0, −ρ) of all starts";
                out.lines.push(line(experiment, format!("{case}, h = {h}"), quantity, *most));
            }
            // values near round-off have no slope
            if points.iter().all(|p| p[1] > 1e-8) {
                let published = (method.form == GapForm::Rho && !method.lagging).then_some(2.0);
                let quantity = "slope of log max(0, −ρ) against log h, h ≤ 0.02";
                let line = out
                    .add(Measurement { published, ..line(experiment, case, quantity, fine_slope(&points)) });
                line.meant(PublishedSense::About);
                if line.agreement() != Agreement::Reproduced {
                    line.because("the largest of a few starts: the slope of a fit strays by 0.35 with them");
                }
            }
            curves.push(Curve { label: case.into(), points });
        }
        curves.push(quadratic(&curves[0].points));
        let axes = [Axis::logarithmic("h [s]"), Axis::logarithmic("largest max(0, −ρ)")];
        let title = format!("HA10 {experiment}: infeasibility against the step");
        let content = FigureContent::Curves { axes, curves };
        out.figures.push(Figure { name: name.into(), title, content });
    }
    Ok(())
}

/// Line of slope 2 through the finest point.
fn quadratic(points: &[[f64; 2]]) -> Curve {
    let [h, most] = points.last().copied().unwrap_or([1.0, 1.0]);
    let at = |p: &[f64; 2]| [p[0], most * (p[0] / h).powi(2)];
    let points = points.iter().filter(|p| p[0] <= COARSEST).map(at).collect();
    Curve { label: "slope 2".into(), points }
}
