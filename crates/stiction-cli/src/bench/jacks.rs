//! `stiction bench jacks`: jacks that fall into a heap and come to rest.

use crate::heaps::{self, ARM};
use crate::{BadInput, Outcome, print};
use cpu_time::ProcessTime;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::{Simulation, StepReport, System};

/// Jacks, three crossed boxes each, that fall into a heap: 10 s at h = 0.005 s for each of three seeds.
///
/// Energy must not rise by more than 1e-6 of that at the start in any step, no penetration may exceed 1e-4 of a jack's
/// size, and at the end what is left of the motion must be below 1e-8 J per jack. Exit code 1 where one of that is not
/// so.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Jacks in a heap
    #[arg(long, default_value_t = 32)]
    count: u32,
    /// Heaps
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Simulated time [s]; below 10 s the motion that is left is not judged
    #[arg(long, default_value_t = 10.0)]
    time: f64,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const H: f64 = 0.005;
/// Part of the energy at the start that a step may add.
const GAIN: f64 = 1e-6;
/// Part of a jack's size that jacks may be in each other at the end of a step.
const PENETRATION: f64 = 1e-4;
/// Kinetic energy per jack at the end [J].
const REST: f64 = 1e-8;
/// Time after which a heap is to rest [s].
const SETTLED: f64 = 10.0;

/// A heap.
#[derive(Serialize)]
struct Measurement {
    seed: u64,
    jacks: u32,
    steps: usize,
    contacts_max: usize,
    /// Largest residual of a step.
    certificate: f64,
    /// Problems solved to the loosest tolerance only.
    loose: usize,
    /// Largest rise of the energy in a step, of that at the start.
    gain: f64,
    /// Deepest penetration, of a jack's size.
    penetration: f64,
    /// Kinetic energy per jack at the end [J].
    rest: f64,
    /// CPU time per simulated second, the mean [s].
    cost: f64,
    verdict: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let mut measurements = Vec::new();
    for seed in 1..=arguments.seeds {
        match measure(arguments, seed) {
            Ok(found) => measurements.push(found),
            Err(error) => {
                print(&format!("seed {seed}: {error}\n"))?;
                return Ok(Outcome::NotSolved);
            }
        }
    }
    super::write_json(arguments.json.as_deref(), &measurements)?;
    print(&table(&measurements))?;
    let holds = measurements.iter().all(|m| m.verdict == "holds");
    Ok(if holds { Outcome::Solved } else { Outcome::NotSolved })
}

fn measure(arguments: &Arguments, seed: u64) -> Result<Measurement, Box<dyn std::error::Error>> {
    let model = heaps::jacks(arguments.count, seed).build()?;
    let state = model.state();
    let start = model.potential(state.t, &state.q);
    let mut simulation = Simulation::from_state(model, state);
    let mut report = StepReport::default();
    let (mut before, mut contacts_max, mut loose, mut steps) = (start, 0, 0, 0);
    let (mut certificate, mut gain, mut penetration, mut kinetic) = (0.0, 0.0, 0.0, 0.0);
    let begun = ProcessTime::now();
    while simulation.state().t < arguments.time - 0.5 * H {
        simulation.step_into(H, &mut report)?;
        let energy = report.kinetic + report.potential;
        gain = ((energy - before) / start).max(gain);
        penetration = (report.infeasibility / (2.0 * ARM)).max(penetration);
        certificate = report.certificate.worst().max(certificate);
        contacts_max = report.contacts.len().max(contacts_max);
        loose += report.work.loose;
        (before, kinetic) = (energy, report.kinetic);
        steps += 1;
    }
    let rest = kinetic / f64::from(arguments.count);
    let mut faults = Vec::new();
    if !(gain <= GAIN) {
        faults.push("gains energy");
    }
    if !(penetration <= PENETRATION) {
        faults.push("penetrates");
    }
    if arguments.time >= SETTLED && !(rest < REST) {
        faults.push("moves");
    }
    Ok(Measurement {
        seed,
        jacks: arguments.count,
        steps,
        contacts_max,
        certificate,
        loose,
        gain,
        penetration,
        rest,
        cost: begun.elapsed().as_secs_f64() / simulation.state().t.max(H),
        verdict: if faults.is_empty() { "holds".into() } else { faults.join(", ") },
    })
}

fn table(measurements: &[Measurement]) -> String {
    let mut text = format!("Jacks that fall into a heap, h = {H} s\n\n");
    let _ = writeln!(
        text,
        "{:>4} {:>6} {:>6} {:>9} {:>12} {:>6} {:>12} {:>12} {:>13} {:>9}  verdict",
        "seed",
        "jacks",
        "steps",
        "contacts",
        "certificate",
        "loose",
        "gain of E0",
        "penetration",
        "at rest [J]",
        "s per s"
    );
    for m in measurements {
        let _ = writeln!(
            text,
            "{:>4} {:>6} {:>6} {:>9} {:>12.1e} {:>6} {:>12.1e} {:>12.1e} {:>13.1e} {:>9.2}  {}",
            m.seed,
            m.jacks,
            m.steps,
            m.contacts_max,
            m.certificate,
            m.loose,
            m.gain,
            m.penetration,
            m.rest,
            m.cost,
            m.verdict
        );
    }
    let _ = writeln!(
        text,
        "\nasked for: gain at most {GAIN:.0e}, penetration at most {PENETRATION:.0e} of a jack, below {REST:.0e} J per jack at the end"
    );
    text
}
