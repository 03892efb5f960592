//! `stiction bench scaling`: what steps cost against the number of bodies and of threads.

use super::{growth, resident};
use crate::heaps;
use crate::{BadInput, Outcome, print};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;
use stiction::spatial::World;
use stiction::{Simulation, StepReport};

/// Piles of 10 to 10,000 cubes and towers of ten that stand apart, as many cubes: time per step on one thread and more.
///
/// A pile is one island, towers are many. Cubes move at up to 0.01 m/s at the start, and the steps after the first are
/// timed, one by one in turn with every number of threads from the same states. The least of several is kept, for
/// machines are shared.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Most bodies
    #[arg(long, default_value_t = 10_000)]
    bodies: u32,
    /// Timed steps of each heap
    #[arg(long, default_value_t = 3)]
    steps: usize,
    /// Most threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const H: f64 = 0.01;
/// Boxes of a tower.
const HEIGHT: u32 = 10;

/// A heap.
#[derive(Serialize)]
struct Measurement {
    heap: &'static str,
    bodies: u32,
    threads: usize,
    contacts: usize,
    factorizations: f64,
    /// Mean of the steps, each the least of its repetitions [ms].
    step_ms: f64,
    us_per_body: f64,
    /// Over the time on one thread.
    speedup: f64,
    /// Memory of the process over that before the heap [kB per body].
    kb_per_body: Option<f64>,
    /// Largest residual of a step.
    certificate: f64,
    loose: usize,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
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
            match measure(heap, bodies, world, arguments) {
                Ok(found) => measurements.extend(found),
                Err(error) => {
                    print(&format!("{heap} of {bodies}: {error}\n"))?;
                    return Ok(Outcome::NotSolved);
                }
            }
        }
    }
    super::write_json(arguments.json.as_deref(), &measurements)?;
    print(&table(&measurements))?;
    Ok(Outcome::Solved)
}

fn measure(
    heap: &'static str,
    bodies: u32,
    world: World,
    arguments: &Arguments,
) -> Result<Vec<Measurement>, Box<dyn std::error::Error>> {
    // of every step, the least of which is kept; what takes so long [s] is made once
    const REPETITIONS: usize = 3;
    const LONG: f64 = 10.0;
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
    simulation.step_into(H, &mut report)?;
    let steps = arguments.steps.max(1);
    let mut totals = vec![0.0; pools.len()];
    let (mut factorizations, mut certificate, mut loose) = (0, 0.0, 0);
    for _ in 0..steps {
        let start = simulation.state().clone();
        let mut least = vec![f64::INFINITY; pools.len()];
        // in turn, so that what else the machine does hits all alike
        let all = Instant::now();
        for _ in 0..REPETITIONS {
            if all.elapsed().as_secs_f64() > LONG {
                break;
            }
            for ((_, pool), least) in pools.iter().zip(&mut least) {
                simulation.restore(start.clone());
                let begun = Instant::now();
                pool.install(|| simulation.step_into(H, &mut report))?;
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
    let row = |(&(threads, _), &total): (&(usize, _), &f64)| Measurement {
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

fn table(measurements: &[Measurement]) -> String {
    let mut text = format!("Heaps of cubes, default scheme, h = {H} s\n\n");
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
    for (heap, asked) in [("towers", 1.6), ("pile", 1.3)] {
        let of = |m: &&Measurement| m.heap == heap;
        let points: Vec<_> = measurements
            .iter()
            .filter(of)
            .filter(|m| m.threads == 1)
            .map(|m| (f64::from(m.bodies), m.step_ms))
            .collect();
        let best = measurements.iter().filter(of).map(|m| m.speedup).fold(0.0, f64::max);
        let largest =
            measurements.iter().rfind(|m| m.heap == heap && m.threads > 1).map_or(1.0, |m| m.speedup);
        let _ = writeln!(
            text,
            "{heap}: time grows with the bodies to the power {:.2}; {largest:.2} times as fast on more threads at the \
             largest, {best:.2} at best, asked for {asked}",
            growth(&points)
        );
    }
    text
}
