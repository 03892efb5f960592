//! `stiction-lab peer`: runs a scene of the comparison with other engines and samples its states.

mod scene;
mod settings;

use crate::{BadInput, Outcome, print};
use cpu_time::ProcessTime;
use scene::{PeerModel, PeerScene};
use serde::Serialize;
use settings::{PeerSettings, Preset, StepControl};
use std::path::PathBuf;
use std::time::Instant;
use stiction::spatial::Model;
use stiction::{Simulation, State, StepError, StepReport};

/// Run a scene of the comparison with other engines; print one line of JSON with times and sampled states.
///
/// The scenes, the fields of the line and the errors computed from it are described in benches/peers/README.md.
#[derive(clap::Args)]
pub(crate) struct PeerArguments {
    /// Scene file, as benches/peers/scenes.py writes it
    #[arg(long, value_name = "FILE")]
    scene: PathBuf,
    /// Size of a step [s]; the time between samples must be a whole multiple of it
    #[arg(long, value_name = "SECONDS")]
    h: f64,
    /// Scheme and step control
    #[arg(long, value_enum, default_value_t = PeerSettings::Default)]
    settings: PeerSettings,
    /// Number of runs; the least times are printed
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Stop a run after this time [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    max_wall: f64,
}

/// Line that is printed.
#[derive(Serialize)]
struct PeerRecord<'a> {
    scene: &'a str,
    engine: &'static str,
    version: &'static str,
    settings: PeerSettings,
    settings_desc: &'static str,
    h: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fail: Option<String>,
    #[serde(flatten)]
    run: Option<SampledRun>,
}

/// Result of a run. Times are those of the steps alone, the least of all repetitions.
#[derive(Serialize)]
struct SampledRun {
    /// Simulated time [s].
    sim_s: f64,
    /// Wall time [s].
    wall_s: f64,
    /// Processor time [s].
    cpu_s: f64,
    nsteps: usize,
    /// Whether `--max-wall` was over before the end of the scene.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timeout: bool,
    /// Deepest penetration or largest joint error at the end of any step, not only at the samples [m].
    infeasibility: f64,
    /// Times of the samples [s].
    t: Vec<f64>,
    /// Centre, rotation, velocity and angular velocity of every body at each sample, in the world.
    #[serde(rename = "X")]
    x: Vec<Vec<[f64; 13]>>,
}

/// Runs the command.
pub(crate) fn run(arguments: &PeerArguments) -> Result<Outcome, BadInput> {
    let PeerArguments { scene: path, h, settings, repeat, max_wall } = arguments;
    let text = std::fs::read_to_string(path).map_err(|e| BadInput::file(path, &e))?;
    let scene: PeerScene = serde_json::from_str(&text).map_err(|e| BadInput::file(path, &e))?;
    let start = scene.start().map_err(|e| BadInput::file(path, &e))?;
    let steps = scene.steps(*h).map_err(BadInput)?;
    if *repeat == 0 {
        return Err(BadInput("--repeat must be at least 1".into()));
    }
    let preset = settings.preset(&scene, *h);

    let mut best: Option<SampledRun> = None;
    let mut fail = None;
    for _ in 0..*repeat {
        match sampled(&scene, &start, &preset, *h, steps, *max_wall) {
            Ok(run) => {
                let least = |f: fn(&SampledRun) -> f64| best.as_ref().map_or(f64::INFINITY, f).min(f(&run));
                let (wall_s, cpu_s) = (least(|r| r.wall_s), least(|r| r.cpu_s));
                best = Some(SampledRun { wall_s, cpu_s, ..run });
            }
            Err(error) => fail = Some(error.to_string()),
        }
        if fail.is_some() || best.as_ref().is_some_and(|run| run.timeout) {
            break;
        }
    }
    let outcome = if fail.is_some() { Outcome::NotSolved } else { Outcome::Solved };
    let line = PeerRecord {
        scene: &scene.name,
        engine: "stiction",
        version: env!("CARGO_PKG_VERSION"),
        settings: *settings,
        settings_desc: preset.description,
        h: *h,
        run: best.filter(|_| fail.is_none()),
        fail,
    };
    let line = serde_json::to_string(&line).map_err(|e| BadInput(e.to_string()))?;
    print(&(line + "\n"))?;
    Ok(outcome)
}

/// Runs a scene once and samples its states.
fn sampled(
    scene: &PeerScene,
    start: &PeerModel,
    preset: &Preset,
    h: f64,
    steps: u32,
    max_wall: f64,
) -> Result<SampledRun, StepError> {
    let mut simulation = Simulation::new(start.model.clone()).with_scheme(preset.scheme);
    let mut report = StepReport::default();
    let mut run = SampledRun {
        sim_s: 0.0,
        wall_s: 0.0,
        cpu_s: 0.0,
        nsteps: 0,
        timeout: false,
        infeasibility: 0.0,
        t: vec![0.0],
        x: vec![start.sample(simulation.state())],
    };
    for sample in 1..=scene.samples {
        let until = f64::from(sample) * f64::from(steps) * h;
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        match &preset.control {
            StepControl::Fixed => {
                for _ in 0..steps {
                    simulation.step_into(h, &mut report)?;
                    run.infeasibility = run.infeasibility.max(report.infeasibility);
                    run.nsteps += 1;
                    if run.wall_s + wall.elapsed().as_secs_f64() > max_wall {
                        break;
                    }
                }
            }
            StepControl::Accuracy(accuracy) => {
                let made = simulation.run_to_accuracy(until, accuracy, &[], |_: &Model, _: &State| ())?;
                run.infeasibility = run.infeasibility.max(made.report.penetration);
                run.nsteps += made.report.steps;
            }
        }
        run.cpu_s += cpu.elapsed().as_secs_f64();
        run.wall_s += wall.elapsed().as_secs_f64();
        if run.wall_s > max_wall {
            run.timeout = true;
            run.sim_s = simulation.state().t;
            break;
        }
        run.sim_s = until;
        run.t.push(until);
        run.x.push(start.sample(simulation.state()));
    }
    Ok(run)
}
