//! `stiction-lab bench scaling`: time of a step against the number of bodies and of threads.

use super::timing::{ResultFile, measured_or_printed, resident};
use crate::heaps;
use crate::{BadInput, Outcome};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;
use stiction::spatial::World;
use stiction::{Simulation, StepReport};
use stiction_papers::slope;

/// Time per step of piles and of separate towers of 10 to 10,000 cubes, on one thread and more.
///
/// A pile is one island, towers are many. Cubes move at up to 0.01 m/s at the start. Each step after the first is timed
/// with every number of threads from the same state; the least of several repetitions is kept, since machines are shared.
#[derive(clap::Args)]
pub(crate) struct ScalingArguments {
    /// Maximum number of bodies
    #[arg(long, default_value_t = 10_000)]
    bodies: u32,
    /// Timed steps of each heap
    #[arg(long, default_value_t = 3)]
    steps: usize,
    /// Maximum number of threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[command(flatten)]
    results: ResultFile,
}

/// Repetitions of every step, of which the least time is kept.
const REPETITIONS: usize = 3;
/// Time after which a step is not repeated [s].
const MAX_REPEATED_TIME: f64 = 10.0;
/// Step [s].
const SCALING_STEP: f64 = 0.01;
/// Cubes of a tower.
const HEIGHT: u32 = 10;

/// Time of a heap with a number of threads.
#[derive(Serialize)]
struct ScalingMeasurement {
    heap: &'static str,
    bodies: u32,
    threads: usize,
    contacts: usize,
    factorizations: f64,
    /// Mean over the steps of the least time of each [ms].
    step_ms: f64,
    us_per_body: f64,
    /// Time on one thread over this time.
    speedup: f64,
    /// Growth of the memory of the process with the heap [kB per body].
    kb_per_body: Option<f64>,
    /// Largest residual of a step.
    certificate: f64,
    loose: usize,
}

/// Runs the command.
pub(crate) fn run(arguments: &ScalingArguments) -> Result<Outcome, BadInput> {
    let sizes: Vec<u32> =
        [10, 30, 100, 300, 1_000, 3_000, 10_000].into_iter().filter(|n| *n <= arguments.bodies).collect();
    let mut measurements = Vec::new();
    for heap in ["towers", "pile"] {
        for &bodies in &sizes {
            let world = if heap == "pile" {
                heaps::pile(bodies, 1)
            } else {
                heaps::towers(bodies / HEIGHT, HEIGHT, 1)
            };
            let case = format!("{heap} of {bodies}");
            let Some(found) = measured_or_printed(&case, measure(heap, bodies, world, arguments))? else {
                return Ok(Outcome::NotSolved);
            };
            measurements.extend(found);
        }
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

fn measure(
    heap: &'static str,
    bodies: u32,
    world: World,
    arguments: &ScalingArguments,
) -> Result<Vec<ScalingMeasurement>, Box<dyn std::error::Error>> {
    let before = resident();
    let model = world.build()?;
    let state = model.state();
    let mut pools = Vec::new();
    let mut threads = 1;
    while threads <= arguments.threads.max(1) {
        pools.push((threads, rayon::ThreadPoolBuilder::new().num_threads(threads).build()?));
        threads *= 2;
    }
    let mut simulation = Simulation::from_state(model, state);
    let mut report = StepReport::default();
    simulation.step_into(SCALING_STEP, &mut report)?;
    let steps = arguments.steps.max(1);
    let mut totals = vec![0.0; pools.len()];
    let (mut factorizations, mut certificate, mut loose) = (0, 0.0, 0);
    for _ in 0..steps {
        let start = simulation.state().clone();
        let mut least = vec![f64::INFINITY; pools.len()];
        // in turn, so that other processes disturb all alike
        let all = Instant::now();
        for _ in 0..REPETITIONS {
            if all.elapsed().as_secs_f64() > MAX_REPEATED_TIME {
                break;
            }
            for ((_, pool), least) in pools.iter().zip(&mut least) {
                simulation.restore(start.clone());
                let begun = Instant::now();
                pool.install(|| simulation.step_into(SCALING_STEP, &mut report))?;
                *least = least.min(1e3 * begun.elapsed().as_secs_f64());
            }
        }
        totals.iter_mut().zip(least).for_each(|(total, least)| *total += least);
        factorizations += report.work.factorizations;
        certificate = report.certificate.worst().max(certificate);
        loose += report.work.loose;
    }
    let kb_per_body =
        before.zip(resident()).map(|(before, after)| 1e3 * (after - before) / f64::from(bodies));
    let row = |(&(threads, _), &total): (&(usize, _), &f64)| ScalingMeasurement {
        heap,
        bodies,
        threads,
        contacts: report.contacts.len(),
        factorizations: factorizations as f64 / steps as f64,
        step_ms: total / steps as f64,
        us_per_body: 1e3 * total / steps as f64 / f64::from(bodies),
        speedup: totals[0] / total,
        kb_per_body,
        certificate,
        loose,
    };
    Ok(pools.iter().zip(&totals).map(row).collect())
}

fn table(measurements: &[ScalingMeasurement]) -> String {
    let mut text = format!("Heaps of cubes, default scheme, h = {SCALING_STEP} s\n\n");
    let _ = writeln!(
        text,
        "{:<7} {:>6} {:>7} {:>9} {:>6} {:>11} {:>14} {:>8} {:>12} {:>12} {:>6}",
        "heap",
        "bodies",
        "threads",
        "contacts",
        "facs",
        "step [ms]",
        "per body [µs]",
        "speedup",
        "kB per body",
        "certificate",
        "loose"
    );
    for m in measurements {
        let _ = writeln!(
            text,
            "{:<7} {:>6} {:>7} {:>9} {:>6.1} {:>11.3} {:>14.1} {:>8.2} {:>12} {:>12.1e} {:>6}",
            m.heap,
            m.bodies,
            m.threads,
            m.contacts,
            m.factorizations,
            m.step_ms,
            m.us_per_body,
            m.speedup,
            m.kb_per_body.map_or("-".to_string(), |kb| format!("{kb:.1}")),
            m.certificate,
            m.loose
        );
    }
    text += "\n";
    for (heap, target) in [("towers", 1.6), ("pile", 1.3)] {
        let of = |m: &&ScalingMeasurement| m.heap == heap;
        let points: Vec<_> = measurements
            .iter()
            .filter(of)
            .filter(|m| m.threads == 1)
            .map(|m| [f64::from(m.bodies), m.step_ms])
            .collect();
        let best = measurements.iter().filter(of).map(|m| m.speedup).fold(0.0, f64::max);
        let largest =
            measurements.iter().rfind(|m| m.heap == heap && m.threads > 1).map_or(1.0, |m| m.speedup);
        let _ = writeln!(
            text,
            "{heap}: time grows with the bodies to the power {:.2}; {largest:.2} times as fast on more threads at the \
             largest, {best:.2} at best, target {target}",
            slope(&points)
        );
    }
    text
}
