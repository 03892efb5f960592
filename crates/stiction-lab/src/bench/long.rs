//! `stiction-lab bench long`: drift, penetration, time and memory of runs of many steps.

use super::timing::{ResultFile, measured_or_printed, resident};
use crate::heaps::{self, G};
use crate::{BadInput, Outcome};
use nalgebra::Vector3;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;
use stiction::spatial::{Model, World};
use stiction::{Scheme, Simulation, StepReport, System};

/// Long runs: a wall of 10 × 10 bricks at rest, and boxes in a turning drum, 100,000 steps of 0.01 s each.
///
/// Bricks must not move farther than the tolerance of the certificate allows, penetration must stay small, and boxes must
/// stay in the drum. The last tenth of the steps may take no more time than the first from 10,000 steps on, and no more
/// memory from 100,000 steps on. Otherwise the exit code is 1. Steps that are made as halves are counted.
#[derive(clap::Args)]
pub(crate) struct LongRunArguments {
    /// Steps of each scene
    #[arg(long, default_value_t = 100_000)]
    steps: usize,
    /// Run only this scene
    #[arg(long)]
    scene: Option<LongRunScene>,
    /// Boxes in the drum
    #[arg(long, default_value_t = 18)]
    boxes: u32,
    #[command(flatten)]
    results: ResultFile,
}

/// Scenes of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LongRunScene {
    /// A wall of bricks.
    Wall,
    /// Boxes in a drum.
    Drum,
}

/// Step [s].
const LONG_RUN_STEP: f64 = 0.01;
/// Steps after which the bricks have settled and the boxes lie in the drum.
const SETTLING_STEPS: usize = 100;
/// Limit on the penetration at the end of a step, relative to the smallest body.
const MAX_PENETRATION: f64 = 1e-6;
/// Limit on the median step of the last tenth, relative to the first. Loose, since machines are shared; work that grows
/// by a tenth in a thousand steps still exceeds it.
const MAX_SLOWDOWN: f64 = 1.5;
/// Minimum number of steps for which times are checked: the median of fewer shows other processes.
const MIN_TIMED_STEPS: usize = 10_000;
/// Limit on the growth of memory [MB]. Allows for a larger heap of contacts; 20 bytes per step over 100,000 steps
/// exceed it.
const MAX_MEMORY_GROWTH: f64 = 2.0;
/// Minimum number of steps for which memory is checked. Buffers are as large as the largest problem so far, which in the
/// drum still grows by several MB over the first thousands of steps; fewer steps would measure that, and no leak.
const MIN_MEMORY_STEPS: usize = 100_000;

/// Result of one scene.
#[derive(Serialize)]
struct LongRunMeasurement {
    scene: &'static str,
    bodies: usize,
    steps: usize,
    h: f64,
    /// Largest residual of a step.
    certificate: f64,
    /// Problems solved to the loosest tolerance only.
    loose: usize,
    /// Steps that were made as halves.
    halved: usize,
    /// Deepest penetration at the end of a step over the first and the last tenth, relative to the smallest body.
    penetration_first: f64,
    penetration_last: f64,
    /// Largest displacement of a brick after the first second [m], and the limit from the tolerance.
    drift: Option<f64>,
    drift_allowed: Option<f64>,
    /// Bodies that left the drum.
    lost: usize,
    /// Median step of the first and the last tenth [µs].
    first_us: f64,
    last_us: f64,
    /// Memory of the process after the first and the last tenth [MB].
    first_mb: Option<f64>,
    last_mb: Option<f64>,
    /// `holds`, or the limits that are exceeded.
    verdict: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &LongRunArguments) -> Result<Outcome, BadInput> {
    let scenes = [
        (LongRunScene::Wall, "wall", heaps::wall(10, 10)),
        (LongRunScene::Drum, "drum", heaps::drum(arguments.boxes, 1)),
    ];
    let mut measurements = Vec::new();
    for (_, scene, world) in scenes.into_iter().filter(|s| arguments.scene.is_none_or(|scene| scene == s.0)) {
        let Some(found) = measured_or_printed(scene, measure(scene, world, arguments.steps.max(10)))? else {
            return Ok(Outcome::NotSolved);
        };
        measurements.push(found);
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    let holds = measurements.iter().all(|m| m.verdict == "holds");
    Ok(if holds { Outcome::Solved } else { Outcome::NotSolved })
}

/// Centres of the moving bodies [m].
fn centres(simulation: &Simulation<Model>) -> Vec<Vector3<f64>> {
    let (model, state) = (simulation.system(), simulation.state());
    model.world().bodies().filter_map(|(id, _)| model.centre(state, id)).map(|c| c.coords).collect()
}

fn measure(
    scene: &'static str,
    world: World,
    steps: usize,
) -> Result<LongRunMeasurement, Box<dyn std::error::Error>> {
    let model = world.build()?;
    let (state, size, bodies) = (model.state(), model.size(), model.bodies().len());
    let scheme = Scheme::default();
    let tolerance = scheme.solver.tolerance;
    let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
    let mut report = StepReport::default();
    let tenth = steps / 10;
    let settling = SETTLING_STEPS.min(tenth);
    let mut times = Vec::with_capacity(steps);
    let (mut certificate, mut loose, mut halved) = (0.0, 0, 0);
    let mut penetrations = [0.0; 2];
    let mut settled = Vec::new();
    let mut memories = [None; 2];
    for step in 1..=steps {
        let begun = Instant::now();
        simulation.step_into(LONG_RUN_STEP, &mut report)?;
        halved += usize::from(report.work.halvings > 0);
        times.push(1e6 * begun.elapsed().as_secs_f64());
        certificate = report.certificate.worst().max(certificate);
        loose += report.work.loose;
        let depth = report.infeasibility / size;
        if step <= settling + tenth {
            penetrations[0] = depth.max(penetrations[0]);
        }
        if step > steps - tenth {
            penetrations[1] = depth.max(penetrations[1]);
        }
        if step == settling {
            settled = centres(&simulation);
        }
        if step == settling + tenth {
            memories[0] = resident();
        }
    }
    memories[1] = resident();
    let places = centres(&simulation);
    let stands = scene == "wall";
    let moved = |(a, b): (&Vector3<f64>, &Vector3<f64>)| (a - b).norm();
    let drift = stands.then(|| settled.iter().zip(&places).map(moved).fold(0.0, f64::max));
    // residuals are speeds in units of g h, and a brick may creep by one of each of its courses
    let drift_allowed = stands.then_some(tolerance * G * LONG_RUN_STEP * LONG_RUN_STEP * steps as f64);
    let lost = if stands { 0 } else { places.iter().filter(|c| !heaps::in_drum(c)).count() };
    let median = |part: &mut [f64]| {
        part.sort_by(f64::total_cmp);
        part[part.len() / 2]
    };
    let last_us = median(&mut times[steps - tenth..]);
    let first_us = median(&mut times[settling..settling + tenth]);
    let [first_mb, last_mb] = memories;
    let [penetration_first, penetration_last] = penetrations;
    let mut found = LongRunMeasurement {
        scene,
        bodies,
        steps,
        h: LONG_RUN_STEP,
        certificate,
        loose,
        halved,
        penetration_first,
        penetration_last,
        drift,
        drift_allowed,
        lost,
        first_us,
        last_us,
        first_mb,
        last_mb,
        verdict: String::new(),
    };
    found.verdict = found.judge();
    Ok(found)
}

impl LongRunMeasurement {
    /// `holds`, or the limits that are exceeded.
    fn judge(&self) -> String {
        let within =
            |value: Option<f64>, limit: Option<f64>| value.zip(limit).is_none_or(|(x, max)| x <= max);
        let checks = [
            (within(self.drift, self.drift_allowed), "drifts"),
            (
                [self.penetration_first, self.penetration_last].iter().all(|p| *p <= MAX_PENETRATION),
                "penetrates",
            ),
            (self.lost == 0, "leaves"),
            (self.steps < MIN_TIMED_STEPS || self.last_us <= MAX_SLOWDOWN * self.first_us, "slows"),
            (
                self.steps < MIN_MEMORY_STEPS
                    || within(self.last_mb, self.first_mb.map(|first| first + MAX_MEMORY_GROWTH)),
                "grows",
            ),
        ];
        let faults: Vec<&str> = checks.iter().filter(|(holds, _)| !holds).map(|(_, fault)| *fault).collect();
        if faults.is_empty() { "holds".into() } else { faults.join(", ") }
    }
}

fn table(measurements: &[LongRunMeasurement]) -> String {
    let mut text = format!(
        "Long runs at h = {LONG_RUN_STEP} s; first, after a second, and last: a tenth of the steps\n\n"
    );
    let _ = writeln!(
        text,
        "{:<6} {:>6} {:>7} {:>12} {:>6} {:>6} {:>19} {:>21} {:>17} {:>13}  verdict",
        "scene",
        "bodies",
        "steps",
        "certificate",
        "loose",
        "halved",
        "penetration",
        "drift [m]",
        "step [µs]",
        "memory [MB]"
    );
    let _ = writeln!(
        text,
        "{:<6} {:>6} {:>7} {:>12} {:>6} {:>6} {:>9} {:>9} {:>10} {:>10} {:>8} {:>8} {:>6} {:>6}",
        "", "", "", "", "", "", "first", "last", "is", "allowed", "first", "last", "first", "last"
    );
    let or_none = |x: Option<f64>, write: &dyn Fn(f64) -> String| x.map_or("-".into(), write);
    for m in measurements {
        let small = |x: f64| format!("{x:.1e}");
        let whole = |x: f64| format!("{x:.0}");
        let _ = writeln!(
            text,
            "{:<6} {:>6} {:>7} {:>12.1e} {:>6} {:>6} {:>9.1e} {:>9.1e} {:>10} {:>10} {:>8.0} {:>8.0} {:>6} {:>6}  {}",
            m.scene,
            m.bodies,
            m.steps,
            m.certificate,
            m.loose,
            m.halved,
            m.penetration_first,
            m.penetration_last,
            or_none(m.drift, &small),
            or_none(m.drift_allowed, &small),
            m.first_us,
            m.last_us,
            or_none(m.first_mb, &whole),
            or_none(m.last_mb, &whole),
            m.verdict
        );
    }
    text
}
