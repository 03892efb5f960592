//! `stiction-lab bench jacks`: energy, penetration and rest of jacks that fall into a heap.

use super::timing::{ResultFile, measured_or_printed};
use crate::heaps::{self, ARM};
use crate::{BadInput, Outcome};
use cpu_time::ProcessTime;
use serde::Serialize;
use std::fmt::Write;
use stiction::{Simulation, StepReport, System};

/// Jacks (three crossed boxes each) that fall into a heap: 10 s at h = 0.005 s for each of three seeds.
///
/// In no step may the energy rise by more than 1e-6 of its initial value, and no penetration may exceed 1e-4 of a jack's
/// size. At the end the kinetic energy must be below 1e-8 J per jack. Otherwise the exit code is 1.
#[derive(clap::Args)]
pub(crate) struct JackArguments {
    /// Jacks in a heap
    #[arg(long, default_value_t = 32)]
    count: u32,
    /// Heaps
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Simulated time [s]; below 10 s the final kinetic energy is not checked
    #[arg(long, default_value_t = 10.0)]
    time: f64,
    #[command(flatten)]
    results: ResultFile,
}

/// Step [s].
const JACK_STEP: f64 = 0.005;
/// Limit on the rise of the energy in a step, relative to the initial energy.
const MAX_ENERGY_GAIN: f64 = 1e-6;
/// Limit on the penetration at the end of a step, relative to the size of a jack.
const MAX_JACK_PENETRATION: f64 = 1e-4;
/// Limit on the final kinetic energy per jack [J].
const MAX_KINETIC_ENERGY: f64 = 1e-8;
/// Time after which a heap must be at rest [s].
const SETTLING_TIME: f64 = 10.0;

/// Result of one heap.
#[derive(Serialize)]
struct JackMeasurement {
    seed: u64,
    jacks: u32,
    steps: usize,
    contacts_max: usize,
    /// Largest residual of a step.
    certificate: f64,
    /// Problems solved to the loosest tolerance only.
    loose: usize,
    /// Largest rise of the energy in a step, relative to the initial energy.
    gain: f64,
    /// Deepest penetration, relative to the size of a jack.
    penetration: f64,
    /// Kinetic energy per jack at the end [J].
    rest: f64,
    /// Mean CPU time per simulated second [s].
    cost: f64,
    verdict: String,
}

/// Runs the command.
pub(crate) fn run(arguments: &JackArguments) -> Result<Outcome, BadInput> {
    let mut measurements = Vec::new();
    for seed in 1..=arguments.seeds {
        let case = format!("seed {seed}");
        let Some(found) = measured_or_printed(&case, measure(arguments, seed))? else {
            return Ok(Outcome::NotSolved);
        };
        measurements.push(found);
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    let holds = measurements.iter().all(|m| m.verdict == "holds");
    Ok(if holds { Outcome::Solved } else { Outcome::NotSolved })
}

fn measure(arguments: &JackArguments, seed: u64) -> Result<JackMeasurement, Box<dyn std::error::Error>> {
    let model = heaps::jacks(arguments.count, seed).build()?;
    let state = model.state();
    let start = model.potential(state.t, &state.q);
    let mut simulation = Simulation::from_state(model, state);
    let mut report = StepReport::default();
    let (mut before, mut contacts_max, mut loose, mut steps) = (start, 0, 0, 0);
    let (mut certificate, mut gain, mut penetration, mut kinetic) = (0.0, 0.0, 0.0, 0.0);
    let begun = ProcessTime::now();
    while simulation.state().t < arguments.time - 0.5 * JACK_STEP {
        simulation.step_into(JACK_STEP, &mut report)?;
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
    if !(gain <= MAX_ENERGY_GAIN) {
        faults.push("gains energy");
    }
    if !(penetration <= MAX_JACK_PENETRATION) {
        faults.push("penetrates");
    }
    if arguments.time >= SETTLING_TIME && !(rest < MAX_KINETIC_ENERGY) {
        faults.push("moves");
    }
    Ok(JackMeasurement {
        seed,
        jacks: arguments.count,
        steps,
        contacts_max,
        certificate,
        loose,
        gain,
        penetration,
        rest,
        cost: begun.elapsed().as_secs_f64() / simulation.state().t.max(JACK_STEP),
        verdict: if faults.is_empty() { "holds".into() } else { faults.join(", ") },
    })
}

fn table(measurements: &[JackMeasurement]) -> String {
    let mut text = format!("Jacks that fall into a heap, h = {JACK_STEP} s\n\n");
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
        "\nlimits: gain at most {MAX_ENERGY_GAIN:.0e}, penetration at most {MAX_JACK_PENETRATION:.0e} of a jack, below {MAX_KINETIC_ENERGY:.0e} J per jack at the end"
    );
    text
}
