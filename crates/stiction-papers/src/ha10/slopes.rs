//! Infeasibility against the size of the steps: HA10 Figures 6, 8 and 10, Theorem 10.

use super::event::GapForm;
use super::line;
use super::run::{Ha10Method, Ha10Run};
use super::scenes::Ha10Scene;
use crate::{
    Agreement, Axis, Curve, ExperimentError, Figure, FigureContent, PublishedSense, Reproduction, Series,
    slope,
};
use stiction::Scheme;

/// Sizes of steps [s]: the paper's and some between them. With 0.05 s and more a square is through the plank before
/// it is near, and an end of it is pushed out.
const SLOPE_STEP_SIZES: [f64; 7] = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/// The largest step that slopes are taken from [s]: L ε̂_t/(1 − ε̂_t) ≥ v h for the fastest hit of each scene.
pub const COARSEST: f64 = 0.02;

/// Time in which all of a scene's bodies have hit each other [s], and how many starts are run.
pub fn extent(scene: Ha10Scene) -> (f64, u32) {
    match scene {
        Ha10Scene::Balance2 => (4.0, 5),
        Ha10Scene::Pyramid1 | Ha10Scene::Block => (2.0, 5),
        Ha10Scene::Dice3 => (1.6, 7),
    }
}

/// What is compared, each with its name.
pub fn methods() -> [(&'static str, Ha10Method); 5] {
    let paper = |form| Ha10Method::paper(form, 1.0, true);
    [
        ("Φ = ρ", paper(GapForm::Rho)),
        ("Φ = r − 1", paper(GapForm::Ratio)),
        ("own gap, AH04", Ha10Method::own(Scheme::ah04())),
        ("own gap, default", Ha10Method::own(Scheme::default())),
        ("Φ = ρ, positions by v(l)", Ha10Method { lagging: true, ..paper(GapForm::Rho) }),
    ]
}

/// The largest max(0, −ρ) of any start, for each size of the steps.
pub fn series(scene: Ha10Scene, method: Ha10Method, steps: &[f64]) -> Result<Series, ExperimentError> {
    let (time, starts) = extent(scene);
    let most = |&h: &f64| {
        let mut most: f64 = 0.0;
        for start in 0..starts {
            most = most.max(Ha10Run::of(scene, start, method, h, time)?.most);
        }
        Ok([h, most])
    };
    steps.iter().map(most).collect()
}

/// The slope over the steps that are small enough.
pub fn fine_slope(series: &[[f64; 2]]) -> f64 {
    let fine: Series = series.iter().copied().filter(|p| p[0] <= COARSEST).collect();
    slope(&fine)
}

/// Tables, slopes and figures of all scenes.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    for (scene, experiment, name) in [
        (Ha10Scene::Balance2, "Fig. 6, Balance2", "ha10-balance2-infeasibility"),
        (Ha10Scene::Pyramid1, "Fig. 8, Pyramid1", "ha10-pyramid1-infeasibility"),
        (Ha10Scene::Dice3, "Fig. 10, Dice3", "ha10-dice3-infeasibility"),
    ] {
        let mut curves = Vec::new();
        for (case, method) in methods() {
            // the paper's own scheme at all of its steps; where nothing comes to rest three tell enough
            let steps = match method {
                Ha10Method { lagging: true, .. } => &SLOPE_STEP_SIZES[2..5],
                Ha10Method { form: GapForm::Rho, .. } => &SLOPE_STEP_SIZES[..],
                _ => &SLOPE_STEP_SIZES[..6],
            };
            let points = series(scene, method, steps)?;
            for [h, most] in &points {
                let quantity = "largest max(0, −ρ) of all starts";
                out.lines.push(line(experiment, format!("{case}, h = {h}"), quantity, *most, None));
            }
            // what comes near round-off has no slope
            if points.iter().all(|p| p[1] > 1e-8) {
                let published = (method.form == GapForm::Rho && !method.lagging).then_some(2.0);
                let quantity = "slope of log max(0, −ρ) against log h, h ≤ 0.02";
                let line = out.add(line(experiment, case, quantity, fine_slope(&points), published));
                line.meant(PublishedSense::About);
                if line.verdict() != Agreement::Reproduced {
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

/// A line of slope 2 through the finest point.
fn quadratic(points: &[[f64; 2]]) -> Curve {
    let [h, most] = points.last().copied().unwrap_or([1.0, 1.0]);
    let at = |p: &[f64; 2]| [p[0], most * (p[0] / h).powi(2)];
    let points = points.iter().filter(|p| p[0] <= COARSEST).map(at).collect();
    Curve { label: "slope 2".into(), points }
}
