//! `stiction-lab bench scenes`: time of the steps of named scenes.

use super::timing::{ResultFile, measured_or_printed};
use crate::scenes::{NamedScene, SceneStart, all};
use crate::{BadInput, Outcome};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;
use stiction::{Scheme, Simulation, State, StepError, StepReport, System};

/// Steps of named scenes: 1 s at h = 0.01 s, with the default scheme and with AH04.
///
/// Each scene is run once before its steps are timed one by one. Times include contact detection, assembly, solve,
/// certificate and report.
#[derive(clap::Args)]
pub(crate) struct SceneArguments {
    /// Timed runs of each scene
    #[arg(long, default_value_t = 5)]
    runs: usize,
    #[command(flatten)]
    results: ResultFile,
}

/// Step [s].
const SCENE_STEP: f64 = 0.01;
const SCENE_STEPS: usize = 100;
/// Scheme and its name.
type BenchScheme = (&'static str, fn() -> Scheme);
const SCHEMES: [BenchScheme; 3] =
    [("default", Scheme::default), ("first order", Scheme::first_order), ("AH04", Scheme::ah04)];

/// Cost of a scene with a scheme.
#[derive(Serialize)]
struct SceneMeasurement {
    scene: &'static str,
    scheme: &'static str,
    /// Moving bodies.
    bodies: usize,
    contacts_mean: f64,
    contacts_max: usize,
    /// Unknowns of the largest dense problem.
    size_max: usize,
    /// Pivots per step.
    pivots: f64,
    /// Factorizations of the structured methods per step.
    factorizations: f64,
    /// Complementarity problems per step, post-stabilization included.
    problems: f64,
    median_us: f64,
    mean_us: f64,
    /// Largest residual of a step problem.
    certificate: f64,
    /// Deepest penetration or largest joint error at the end of a step [m].
    infeasibility: f64,
}

/// Runs the command.
pub(crate) fn run(arguments: &SceneArguments) -> Result<Outcome, BadInput> {
    let scenes = all().map_err(|e| BadInput(e.to_string()))?;
    let mut measurements = Vec::new();
    for NamedScene { name, start } in &scenes {
        for (scheme_name, scheme) in SCHEMES {
            let measured = match start {
                SceneStart::Plane(model, state) => measure(&**model, state, scheme(), arguments.runs),
                SceneStart::Space(model, state) => measure(&**model, state, scheme(), arguments.runs),
            };
            let case = format!("{name}, {scheme_name}");
            let Some(measurement) = measured_or_printed(&case, measured)? else {
                return Ok(Outcome::NotSolved);
            };
            measurements.push(SceneMeasurement { scene: name, scheme: scheme_name, ..measurement });
        }
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

/// Runs a model once for its counts, and `runs` times for its times.
fn measure<S: System + Clone>(
    model: &S,
    start: &State,
    scheme: Scheme,
    runs: usize,
) -> Result<SceneMeasurement, StepError> {
    let mut simulation = Simulation::from_state(model.clone(), start.clone()).with_scheme(scheme);
    let mut report = StepReport::default();
    let mut found = SceneMeasurement {
        scene: "",
        scheme: "",
        bodies: model.bodies().len(),
        contacts_mean: 0.0,
        contacts_max: 0,
        size_max: 0,
        pivots: 0.0,
        factorizations: 0.0,
        problems: 0.0,
        median_us: 0.0,
        mean_us: 0.0,
        certificate: 0.0,
        infeasibility: 0.0,
    };
    let (mut contacts, mut pivots, mut factorizations, mut problems) = (0, 0, 0, 0);
    for _ in 0..SCENE_STEPS {
        simulation.step_into(SCENE_STEP, &mut report)?;
        contacts += report.contacts.len();
        pivots += report.work.pivots;
        factorizations += report.work.factorizations;
        problems += report.work.problems;
        found.contacts_max = found.contacts_max.max(report.contacts.len());
        found.size_max = found.size_max.max(report.work.size);
        found.certificate = found.certificate.max(report.certificate.worst());
        found.infeasibility = found.infeasibility.max(report.infeasibility);
    }
    [found.contacts_mean, found.pivots, found.factorizations, found.problems] =
        [contacts, pivots, factorizations, problems].map(|sum| sum as f64 / SCENE_STEPS as f64);

    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        simulation.restore(start.clone());
        for _ in 0..SCENE_STEPS {
            let begun = Instant::now();
            simulation.step_into(SCENE_STEP, &mut report)?;
            times.push(1e6 * begun.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    found.median_us = times[times.len() / 2];
    found.mean_us = times.iter().sum::<f64>() / times.len() as f64;
    Ok(found)
}

fn table(measurements: &[SceneMeasurement]) -> String {
    let mut text =
        String::from("Steps of named scenes, 1 s at h = 0.01 s, certificate and report included\n\n");
    let _ = writeln!(
        text,
        "{:<17} {:<8} {:>6} {:>13} {:>8} {:>8} {:>9} {:>17} {:>12} {:>14}",
        "", "", "", "contacts", "LCP size", "pivots", "problems", "step [µs]", "worst", "infeasibility"
    );
    let _ = writeln!(
        text,
        "{:<17} {:<8} {:>6} {:>7} {:>5} {:>8} {:>8} {:>9} {:>8} {:>8} {:>12} {:>14}",
        "scene",
        "scheme",
        "bodies",
        "mean",
        "max",
        "max",
        "per step",
        "per step",
        "median",
        "mean",
        "certificate",
        "[m]"
    );
    for m in measurements {
        let _ = writeln!(
            text,
            "{:<17} {:<8} {:>6} {:>7.1} {:>5} {:>8} {:>8.1} {:>9.2} {:>8.1} {:>8.1} {:>12.1e} {:>14.1e}",
            m.scene,
            m.scheme,
            m.bodies,
            m.contacts_mean,
            m.contacts_max,
            m.size_max,
            m.pivots,
            m.problems,
            m.median_us,
            m.mean_us,
            m.certificate,
            m.infeasibility
        );
    }
    text
}
