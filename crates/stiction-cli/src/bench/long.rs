//! `stiction bench long`: whether a run of many steps stays what it was.

use super::resident;
use crate::heaps::{self, G};
use crate::{BadInput, Outcome, print};
use nalgebra::Vector3;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;
use stiction::spatial::{Model, World};
use stiction::{Scheme, Simulation, StepError, StepReport, System};

/// Long runs: a wall of 10 × 10 bricks at rest, and boxes in a drum that turns. 100,000 steps of 0.01 s each by default.
///
/// Bricks must not move by more than the certificate's tolerance allows, penetration must not grow, boxes must stay in
/// the drum (a step that is refused is made as two halves, and counted), and the last tenth of the steps must take neither more time nor more memory than the first. Exit code 1
/// where one of that is not so.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Steps of each scene
    #[arg(long, default_value_t = 100_000)]
    steps: usize,
    /// One of the scenes alone
    #[arg(long)]
    scene: Option<Which>,
    /// Boxes in the drum
    #[arg(long, default_value_t = 18)]
    boxes: u32,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// A wall of bricks.
    Wall,
    /// Boxes in a drum.
    Drum,
}

const H: f64 = 0.01;
/// Steps after which the bricks have found their places and boxes lie in the drum.
const SETTLED: usize = 100;
/// Part of the smallest size that bodies may be in each other at the end of a step.
const PENETRATION: f64 = 1e-6;
/// How much longer the steps of the last tenth may take: machines are shared, and work that grew by a tenth of itself in
/// a thousand steps would be seen.
const SLOWER: f64 = 1.5;
/// Steps from which on times are judged: the median of fewer is that of what else the machine does.
const TIMED: usize = 10_000;
/// Growth of memory that is that of the largest heap so far, not of every step [MB]: in 100,000 steps, 20 bytes in each
/// would be seen.
const GROWTH: f64 = 2.0;

/// A scene and what became of it.
#[derive(Serialize)]
struct Measurement {
    scene: &'static str,
    bodies: usize,
    steps: usize,
    h: f64,
    /// Largest residual of a step.
    certificate: f64,
    /// Problems solved to the loosest tolerance only.
    loose: usize,
    /// Steps that were refused and made as two.
    halved: usize,
    /// Deepest penetration at the end of a step, in units of the smallest body, over the first and the last tenth.
    penetration_first: f64,
    penetration_last: f64,
    /// How far the farthest brick went from one second on [m], and how far the tolerance lets it go.
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
    /// `holds`, or what does not.
    verdict: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let scenes =
        [(Which::Wall, "wall", heaps::wall(10, 10)), (Which::Drum, "drum", heaps::drum(arguments.boxes, 1))];
    let mut measurements = Vec::new();
    for (_, scene, world) in scenes.into_iter().filter(|s| arguments.scene.is_none_or(|scene| scene == s.0)) {
        match measure(scene, world, arguments.steps.max(10)) {
            Ok(found) => measurements.push(found),
            Err(error) => {
                print(&format!("{scene}: {error}\n"))?;
                return Ok(Outcome::NotSolved);
            }
        }
    }
    super::write_json(arguments.json.as_deref(), &measurements)?;
    print(&table(&measurements))?;
    let holds = measurements.iter().all(|m| m.verdict == "holds");
    Ok(if holds { Outcome::Solved } else { Outcome::NotSolved })
}

/// Where the moving bodies are.
fn centres(simulation: &Simulation<Model>) -> Vec<Vector3<f64>> {
    let (model, state) = (simulation.system(), simulation.state());
    model.world().bodies().filter_map(|(id, _)| model.centre(state, id)).map(|c| c.coords).collect()
}

fn measure(
    scene: &'static str,
    world: World,
    steps: usize,
) -> Result<Measurement, Box<dyn std::error::Error>> {
    let model = world.build()?;
    let (state, size, bodies) = (model.state(), model.size(), model.bodies().len());
    let scheme = Scheme::default();
    let tolerance = scheme.solver.tolerance;
    let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
    let mut report = StepReport::default();
    let tenth = steps / 10;
    let settling = SETTLED.min(tenth);
    let mut times = Vec::with_capacity(steps);
    let (mut certificate, mut loose, mut halved) = (0.0, 0, 0);
    let mut penetrations = [0.0; 2];
    let mut settled = Vec::new();
    let mut memories = [None; 2];
    for step in 1..=steps {
        let begun = Instant::now();
        if let Err(error) = simulation.step_into(H, &mut report) {
            // as a user would: the state is as it was, and half a step is another problem
            if !matches!(error, StepError::Unsolved { .. }) {
                return Err(error.into());
            }
            halved += 1;
            simulation.step_into(0.5 * H, &mut report)?;
            simulation.step_into(0.5 * H, &mut report)?;
        }
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
    let drift_allowed = stands.then_some(tolerance * G * H * H * steps as f64);
    let lost = if stands { 0 } else { places.iter().filter(|c| !heaps::in_drum(c)).count() };
    let median = |part: &mut [f64]| {
        part.sort_by(f64::total_cmp);
        part[part.len() / 2]
    };
    let last_us = median(&mut times[steps - tenth..]);
    let first_us = median(&mut times[settling..settling + tenth]);
    let [first_mb, last_mb] = memories;
    let mut faults = Vec::new();
    let mut demand = |holds: bool, fault: &'static str| {
        if !holds {
            faults.push(fault);
        }
    };
    demand(drift.zip(drift_allowed).is_none_or(|(drift, allowed)| drift <= allowed), "drifts");
    demand(penetrations.iter().all(|p| *p <= PENETRATION), "penetrates");
    demand(lost == 0, "leaves");
    demand(steps < TIMED || last_us <= SLOWER * first_us, "slows");
    demand(memories[0].zip(memories[1]).is_none_or(|(a, b)| b <= a + GROWTH), "grows");
    let verdict = if faults.is_empty() { "holds".into() } else { faults.join(", ") };
    let [penetration_first, penetration_last] = penetrations;
    Ok(Measurement {
        scene,
        bodies,
        steps,
        h: H,
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
        verdict,
    })
}

fn table(measurements: &[Measurement]) -> String {
    let mut text =
        format!("Long runs at h = {H} s; first, after a second, and last: a tenth of the steps\n\n");
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
