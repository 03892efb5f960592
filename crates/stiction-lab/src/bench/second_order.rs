//! `stiction-lab bench second-order`: cost of second-order steps, and time to a given error.

mod precision;
mod scenes;

use super::timing::ResultFile;
use crate::scenes::{NamedScene, SceneStart};
use crate::{BadInput, Outcome, print};
use precision::Precision;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;
use stiction::{EventLocation, Level, Scheme, Simulation, State, StepReport, System, Trapezoidal};

/// Cost of second-order steps beside those of AH04 on the same scenes, and the time to the same error.
///
/// Each scene runs for 1 s at h = 0.01 s. All schemes run it in turn; the time is the mean over the steps of the median
/// over the runs. Errors are those of the double pendulum with a wall of PAGT06 Table 10.1, and of a free double pendulum
/// of bars.
#[derive(clap::Args)]
pub(crate) struct SecondOrderArguments {
    /// Timed runs of each scene with each scheme
    #[arg(long, default_value_t = 15)]
    runs: usize,
    /// Time after which no smaller step is tried and the error is extrapolated [s]; 0 skips the errors
    #[arg(long, default_value_t = 60.0)]
    patience: f64,
    /// Only scenes whose names contain this
    #[arg(long, value_name = "NAME", default_value = "")]
    scene: String,
    #[command(flatten)]
    results: ResultFile,
}

/// Step [s].
const SECOND_ORDER_STEP: f64 = 0.01;
const SECOND_ORDER_STEPS: usize = 100;

/// Time after which a scheme makes no further run of a scene [µs].
const MAX_SCENE_TIME: f64 = 2e6;

/// Scheme and its name.
type TimedScheme = (&'static str, fn() -> Scheme);

/// Timed schemes. The last three are of second order; times are relative to the first.
const SCHEMES: [TimedScheme; 5] = [
    ("AH04", Scheme::ah04),
    ("first order", Scheme::first_order),
    ("default", Scheme::default),
    ("PAGT06 unlocated", unlocated),
    ("PAGT06", Scheme::pagt06),
];

/// The trapezoidal method without location.
fn unlocated() -> Scheme {
    let settings = Trapezoidal { locate: EventLocation::Nothing, ..Trapezoidal::default() };
    Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() }
}

/// Results of the command.
#[derive(Serialize)]
struct SecondOrderResults {
    steps: Vec<SecondOrderMeasurement>,
    precision: Vec<Precision>,
}

/// Cost of a scene with a scheme.
#[derive(Serialize)]
struct SecondOrderMeasurement {
    scene: &'static str,
    scheme: &'static str,
    contact: bool,
    /// Moving bodies.
    bodies: usize,
    contacts_mean: f64,
    step_us: f64,
    /// Time relative to AH04.
    ratio: f64,
    /// Largest residual of a step.
    certificate: f64,
    /// Deepest penetration or largest joint error at the end of a step [m].
    infeasibility: f64,
    /// Reason why the run ended early; the numbers are those until then.
    stopped: Option<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &SecondOrderArguments) -> Result<Outcome, BadInput> {
    let mut steps = Vec::new();
    let scenes = scenes::all()?.into_iter().filter(|(_, s)| s.name.contains(&arguments.scene));
    for (contact, NamedScene { name, start }) in scenes {
        let measured = match &start {
            SceneStart::Plane(model, state) => measure(&**model, state, arguments.runs),
            SceneStart::Space(model, state) => measure(&**model, state, arguments.runs),
        };
        steps.extend(measured.into_iter().map(|m| SecondOrderMeasurement { scene: name, contact, ..m }));
    }
    let mut precision = Vec::new();
    if arguments.patience > 0.0 {
        precision.extend(precision::with_a_wall(arguments.patience).map_err(|e| bad(&e))?);
        precision.extend(precision::free(arguments.patience).map_err(|e| bad(&e))?);
    }
    let measured = SecondOrderResults { steps, precision };
    arguments.results.publish(&measured, &table(&measured.steps))?;
    print(&precision::table(&measured.precision))?;
    Ok(Outcome::Solved)
}

/// Error of a scene or of a step.
fn bad(error: &dyn std::fmt::Display) -> BadInput {
    BadInput(error.to_string())
}

/// Runs a model with each scheme once for its counts, then all in turn for their times.
fn measure<S: System + Clone>(model: &S, start: &State, runs: usize) -> Vec<SecondOrderMeasurement> {
    let mut report = StepReport::default();
    let mut runners: Vec<(Simulation<S>, usize, SecondOrderMeasurement)> = Vec::new();
    for (name, scheme) in SCHEMES {
        let mut simulation = Simulation::from_state(model.clone(), start.clone()).with_scheme(scheme());
        let (steps, found) = counts(&mut simulation, name, &mut report);
        runners.push((simulation, steps, found));
    }
    // by scheme, step and run
    let mut times: Vec<Vec<Vec<f64>>> = runners.iter().map(|r| vec![Vec::new(); r.1]).collect();
    for _ in 0..runs.max(1) {
        for ((simulation, ..), times) in runners.iter_mut().zip(&mut times) {
            if times.iter().flatten().sum::<f64>() > MAX_SCENE_TIME {
                continue;
            }
            simulation.restore(start.clone());
            for times in times {
                let begun = Instant::now();
                // a run that fails does so after the same steps every time
                if simulation.step_into(SECOND_ORDER_STEP, &mut report).is_ok() {
                    times.push(1e6 * begun.elapsed().as_secs_f64());
                }
            }
        }
    }
    let mut all: Vec<SecondOrderMeasurement> = runners.into_iter().map(|(.., found)| found).collect();
    for (found, times) in all.iter_mut().zip(&mut times) {
        found.step_us = times.iter_mut().map(|t| median(t)).sum::<f64>() / times.len() as f64;
    }
    let base = all[0].step_us;
    all.iter_mut().for_each(|m| m.ratio = m.step_us / base);
    all
}

/// Number of steps that could be made, and their counts.
fn counts<S: System>(
    simulation: &mut Simulation<S>,
    scheme: &'static str,
    report: &mut StepReport,
) -> (usize, SecondOrderMeasurement) {
    let mut found = SecondOrderMeasurement {
        scene: "",
        scheme,
        contact: false,
        bodies: simulation.system().bodies().len(),
        contacts_mean: 0.0,
        step_us: 0.0,
        ratio: 0.0,
        certificate: 0.0,
        infeasibility: 0.0,
        stopped: None,
    };
    let mut steps = 0;
    while steps < SECOND_ORDER_STEPS {
        if let Err(error) = simulation.step_into(SECOND_ORDER_STEP, report) {
            found.stopped = Some(format!("at {:.2} s: {error}", simulation.state().t));
            break;
        }
        steps += 1;
        found.contacts_mean += report.contacts.len() as f64;
        found.certificate = found.certificate.max(report.certificate.worst());
        found.infeasibility = found.infeasibility.max(report.infeasibility);
    }
    found.contacts_mean /= steps.max(1) as f64;
    (steps, found)
}

/// Median; NaN for no times.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn table(measurements: &[SecondOrderMeasurement]) -> String {
    let mut text =
        String::from("Steps beside those of AH04, 1 s at h = 0.01 s, certificate and report included\n\n");
    let _ = writeln!(
        text,
        "{:<18} {:<17} {:>6} {:>9} {:>10} {:>7} {:>12} {:>14}",
        "scene", "scheme", "bodies", "contacts", "step [µs]", "ratio", "certificate", "infeasibility"
    );
    for m in measurements {
        let _ = write!(
            text,
            "{:<18} {:<17} {:>6} {:>9.1} {:>10.2} {:>7.2} {:>12.1e} {:>14.1e}",
            m.scene, m.scheme, m.bodies, m.contacts_mean, m.step_us, m.ratio, m.certificate, m.infeasibility
        );
        let _ = match &m.stopped {
            Some(why) => writeln!(text, "  stopped {why}"),
            None => writeln!(text),
        };
    }
    text
}
