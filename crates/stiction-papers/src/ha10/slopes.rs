//! Infeasibility against the size of the steps: HA10 Figures 6, 8 and 10, Theorem 10.

use super::event::Form;
use super::line;
use super::run::{Method, Run};
use super::scenes::Scene;
use crate::{Axis, Content, Curve, ExperimentError, Figure, Reproduction, Sense, Verdict, slope};
use stiction::Scheme;

/// Sizes of steps [s]: the paper's and some between them. With 0.05 s and more a square is through the plank before
/// it is near, and an end of it is pushed out.
const STEPS: [f64; 7] = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/// The largest step that slopes are taken from [s]: L ε̂_t/(1 − ε̂_t) ≥ v h for the fastest hit of each scene.
pub const COARSEST: f64 = 0.02;

/// Sizes of steps [s] and the largest infeasibility of any start with each.
pub type Series = Vec<[f64; 2]>;

/// Time in which all of a scene's bodies have hit each other [s], and how many starts are run.
pub fn extent(scene: Scene) -> (f64, u32) {
    match scene {
        Scene::Balance2 => (4.0, 5),
        Scene::Pyramid1 | Scene::Block => (2.0, 5),
        Scene::Dice3 => (1.6, 7),
    }
}

/// What is compared, each with its name.
pub fn methods() -> [(&'static str, Method); 5] {
    let paper = |form| Method::paper(form, 1.0, true);
    [
        ("Φ = ρ", paper(Form::Rho)),
        ("Φ = r − 1", paper(Form::Ratio)),
        ("own gap, AH04", Method::own(Scheme::ah04())),
        ("own gap, default", Method::own(Scheme::default())),
        ("Φ = ρ, positions by v(l)", Method { lagging: true, ..paper(Form::Rho) }),
    ]
}

/// The largest max(0, −ρ) of any start, for each size of the steps.
pub fn series(scene: Scene, method: Method, steps: &[f64]) -> Result<Series, ExperimentError> {
    let (time, starts) = extent(scene);
    let most = |&h: &f64| {
        let mut most: f64 = 0.0;
        for start in 0..starts {
            most = most.max(Run::of(scene, start, method, h, time)?.most);
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
        (Scene::Balance2, "Fig. 6, Balance2", "ha10-balance2-infeasibility"),
        (Scene::Pyramid1, "Fig. 8, Pyramid1", "ha10-pyramid1-infeasibility"),
        (Scene::Dice3, "Fig. 10, Dice3", "ha10-dice3-infeasibility"),
    ] {
        let mut curves = Vec::new();
        for (case, method) in methods() {
            // the paper's own scheme at all of its steps; where nothing comes to rest three tell enough
            let steps = match method {
                Method { lagging: true, .. } => &STEPS[2..5],
                Method { form: Form::Rho, .. } => &STEPS[..],
                _ => &STEPS[..6],
            };
            let points = series(scene, method, steps)?;
            for [h, most] in &points {
                let quantity = "largest max(0, −ρ) of all starts";
                out.lines.push(line(experiment, format!("{case}, h = {h}"), quantity, *most, None));
            }
            // what comes near round-off has no slope
            if points.iter().all(|p| p[1] > 1e-8) {
                let published = (method.form == Form::Rho && !method.lagging).then_some(2.0);
                let quantity = "slope of log max(0, −ρ) against log h, h ≤ 0.02";
                let line = out.add(line(experiment, case, quantity, fine_slope(&points), published));
                line.meant(Sense::About);
                if line.verdict() != Verdict::Reproduced {
                    line.because("the largest of a few starts: the slope of a fit strays by 0.35 with them");
                }
            }
            curves.push(Curve { label: case.into(), points });
        }
        curves.push(quadratic(&curves[0].points));
        let axes = [Axis::logarithmic("h [s]"), Axis::logarithmic("largest max(0, −ρ)")];
        let title = format!("HA10 {experiment}: infeasibility against the step");
        let content = Content::Curves { axes, curves };
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
