//! `stiction-lab bench solver`: time of the structured solver on heaps of boxes.

use super::timing::{ResultFile, Times};
use crate::{BadInput, Outcome};
use serde::Serialize;
use std::fmt::Write;
use stiction_lcp::{LcpError, Solver, WarmStart, Workspace};
use stiction_problems::ensemble::{Arrangement, Heap};

/// Time of the solver on heaps of boxes with circular friction, from the step problem to its certified solution.
///
/// Cold: no warm start, velocities of up to 0.01 m/s or as the row says. Warm: a heap at rest whose bodies get velocities
/// of 1e-6 m/s, started from its impulses at rest. Again: the problem at rest from its own solution.
#[derive(clap::Args)]
pub(crate) struct HeapArguments {
    /// Time spent on each measurement [s]
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Skip the heaps of 1,000 boxes
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    results: ResultFile,
}

/// Tolerance of the solver, relative to its scales.
const SOLVER_TOLERANCE: f64 = 1e-8;

/// Times of one heap.
#[derive(Serialize)]
struct HeapMeasurement {
    heap: String,
    bodies: usize,
    contacts: usize,
    mu: f64,
    speed: f64,
    mass_ratio: f64,
    /// `solved`, or the status of the error.
    status: &'static str,
    residual: f64,
    factorizations: usize,
    cold_us: f64,
    warm_us: Option<f64>,
    warm_factorizations: Option<usize>,
    again_us: Option<f64>,
}

/// Runs the command.
pub(crate) fn run(arguments: &HeapArguments) -> Result<Outcome, BadInput> {
    let heap = |arrangement, speed, mass_ratio| Heap { arrangement, mu: 0.5, speed, mass_ratio, seed: 1 };
    let mut sizes = vec![Arrangement::Tower(2), Arrangement::Tower(8), Arrangement::Tower(25)];
    sizes.extend([Arrangement::Wall(10, 10), Arrangement::Pile(5)]);
    if !arguments.small {
        sizes.extend([Arrangement::Wall(32, 32), Arrangement::Pile(10)]);
    }
    let mut measurements = Vec::new();
    for &arrangement in &sizes {
        measurements.push(measure(heap(arrangement, 0.01, 1.0), true, arguments.seconds));
    }
    for &arrangement in &sizes {
        measurements.push(measure(heap(arrangement, 0.1, 1.0), false, arguments.seconds));
    }
    for exponent in 0..=6 {
        let ratio = 10f64.powi(exponent);
        measurements.push(measure(heap(Arrangement::Tower(10), 0.01, ratio), true, arguments.seconds));
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

fn measure(heap: Heap, warm: bool, seconds: f64) -> HeapMeasurement {
    let problem = heap.sample();
    let solver = Solver { tolerance: SOLVER_TOLERANCE, ..Solver::default() };
    let mut workspace = Workspace::default();
    let (status, residual, factorizations) = match workspace.solve(&problem, &solver, None) {
        Ok(solution) => ("solved", solution.certificate().worst(), solution.work().factorizations),
        Err(error) => {
            let spent = if let LcpError::Budget { spent, .. } = error { spent } else { 0 };
            let residual = error.best().map_or(f64::INFINITY, |best| best.certificate.worst());
            (error.status(), residual, spent)
        }
    };
    let mut found = HeapMeasurement {
        heap: format!("{:?}", heap.arrangement).to_lowercase(),
        bodies: problem.bodies.len(),
        contacts: problem.contacts.len(),
        mu: heap.mu,
        speed: heap.speed,
        mass_ratio: heap.mass_ratio,
        status,
        residual,
        factorizations,
        cold_us: 0.0,
        warm_us: None,
        warm_factorizations: None,
        again_us: None,
    };
    let mut timed = |problem: &_, warm_start: Option<&WarmStart>| {
        Times::of(seconds, || match workspace.solve(problem, &solver, warm_start) {
            Ok(solution) => {
                let spent = solution.work().factorizations;
                workspace.recycle(solution);
                spent
            }
            Err(_) => 0,
        })
        .median_us
    };
    found.cold_us = timed(&problem, None);
    if !warm {
        return found;
    }
    let rest = Heap { speed: 0.0, ..heap }.sample();
    let next = Heap { speed: 1e-6, ..heap }.sample();
    let Ok(held) = Workspace::default().solve(&rest, &solver, None) else { return found };
    let warm_start = WarmStart::from(&held);
    let spent = Workspace::default().solve(&next, &solver, Some(&warm_start)).ok();
    found.warm_factorizations = spent.map(|s| s.work().factorizations);
    found.warm_us = Some(timed(&next, Some(&warm_start)));
    found.again_us = Some(timed(&rest, Some(&warm_start)));
    found
}

fn table(measurements: &[HeapMeasurement]) -> String {
    let mut text =
        String::from("The structured solver on heaps of boxes, circular friction, certified to 1e-8\n\n");
    let _ = writeln!(
        text,
        "{:<14} {:>8} {:>6} {:>7}  {:>10} {:>9} {:>5} {:>11}  {:>10} {:>5} {:>10}",
        "heap",
        "contacts",
        "|v|",
        "masses",
        "status",
        "residual",
        "facs",
        "cold [µs]",
        "warm [µs]",
        "facs",
        "again"
    );
    let number = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.1}"));
    for m in measurements {
        let _ = writeln!(
            text,
            "{:<14} {:>8} {:>6} {:>7.0e}  {:>10} {:>9.1e} {:>5} {:>11.1}  {:>10} {:>5} {:>10}",
            m.heap,
            m.contacts,
            m.speed,
            m.mass_ratio,
            m.status,
            m.residual,
            m.factorizations,
            m.cold_us,
            number(m.warm_us),
            m.warm_factorizations.map_or("-".to_string(), |f| f.to_string()),
            number(m.again_us)
        );
    }
    let towers: Vec<(f64, f64)> = measurements
        .iter()
        .filter(|m| m.speed == 0.01 && m.mass_ratio == 1.0 && m.heap.starts_with("tower"))
        .map(|m| (m.contacts as f64, m.cold_us))
        .collect();
    if let (Some(first), Some(last)) = (towers.first(), towers.last()) {
        let exponent = (last.1 / first.1).ln() / (last.0 / first.0).ln();
        let _ = writeln!(
            text,
            "\ngrowth of the cold time from {} to {} contacts: exponent {exponent:.2}",
            first.0, last.0
        );
    }
    text
}
