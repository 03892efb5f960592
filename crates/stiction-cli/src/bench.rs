//! `stiction bench`: how long solvers, steps and gaps take.

mod chains;
mod jacks;
mod long;
mod peers;
mod profile;
mod rates;
mod ratio;
mod scaling;
mod scenes;
mod second_order;
mod solver;

use crate::{BadInput, Outcome, print, write_file};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{Condensed, Problem, Solver, Workspace, solve};
use stiction_problems::ensemble::tower;

/// Time solvers, steps and gaps.
#[derive(clap::Subcommand)]
pub(crate) enum Benchmark {
    Chains(chains::Arguments),
    Jacks(jacks::Arguments),
    Lemke(Arguments),
    Long(long::Arguments),
    Peers(peers::Arguments),
    Profile(profile::Arguments),
    Rates(rates::Arguments),
    Ratio(ratio::Arguments),
    Scaling(scaling::Arguments),
    Scenes(scenes::Arguments),
    SecondOrder(second_order::Arguments),
    Solver(solver::Arguments),
}

/// Lemke's method on towers of boxes: 8, 16, 32 and 64 contacts with 4 directions of friction.
///
/// Two times each, certificate included: the dense problem w = M z + q alone, and the way from the step problem
/// over its dense form to the certified solution.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Towers of each size
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// Time spent on each measurement [s]
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the dense problems as JSON, to be timed elsewhere
    #[arg(long, value_name = "DIR")]
    problems: Option<PathBuf>,
}

const DIRECTIONS: usize = 4;
const BOXES: [usize; 4] = [2, 4, 8, 16];

/// One problem and its times.
#[derive(Serialize)]
struct Measurement {
    contacts: usize,
    /// Unknowns of the dense problem.
    n: usize,
    seed: u64,
    pivots: usize,
    /// Largest residual of the dense problem's solution.
    certificate: f64,
    dense: Times,
    step: Times,
    step_certificate: f64,
    /// The file of the dense problem.
    problem: Option<PathBuf>,
}

/// Of many repetitions [µs].
#[derive(Clone, Copy, Serialize)]
struct Times {
    best_us: f64,
    median_us: f64,
    repetitions: usize,
}

impl Times {
    /// Repeats `work` for a while, at least seven times.
    fn of<T>(seconds: f64, mut work: impl FnMut() -> T) -> Self {
        const LEAST: usize = 7;
        const MOST: usize = 20_000;
        let begun = Instant::now();
        let budget = Duration::from_secs_f64(seconds.clamp(0.0, 60.0));
        let mut times = Vec::new();
        while times.len() < LEAST || (begun.elapsed() < budget && times.len() < MOST) {
            let start = Instant::now();
            std::hint::black_box(work());
            times.push(1e6 * start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Self { best_us: times[0], median_us: times[times.len() / 2], repetitions: times.len() }
    }
}

/// Runs the command.
pub(crate) fn run(benchmark: &Benchmark) -> Result<Outcome, BadInput> {
    match benchmark {
        Benchmark::Chains(arguments) => chains::run(arguments),
        Benchmark::Jacks(arguments) => jacks::run(arguments),
        Benchmark::Lemke(arguments) => lemke(arguments),
        Benchmark::Long(arguments) => long::run(arguments),
        Benchmark::Peers(arguments) => peers::run(arguments),
        Benchmark::Profile(arguments) => profile::run(arguments),
        Benchmark::Rates(arguments) => rates::run(arguments),
        Benchmark::Ratio(arguments) => ratio::run(arguments),
        Benchmark::Scaling(arguments) => scaling::run(arguments),
        Benchmark::Scenes(arguments) => scenes::run(arguments),
        Benchmark::SecondOrder(arguments) => second_order::run(arguments),
        Benchmark::Solver(arguments) => solver::run(arguments),
    }
}

fn lemke(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let mut measurements = Vec::new();
    for boxes in BOXES {
        for seed in 0..arguments.seeds {
            match measure(boxes, seed, arguments)? {
                Ok(measurement) => measurements.push(measurement),
                Err(error) => {
                    print(&format!("tower of {boxes} boxes, seed {seed}: {error}\n"))?;
                    return Ok(Outcome::NotSolved);
                }
            }
        }
    }
    write_json(arguments.json.as_deref(), &measurements)?;
    print(&table(&measurements))?;
    Ok(Outcome::Solved)
}

/// The exponent of the power of x that y grows as, fitted to all points.
fn growth(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |pick: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
    let (x, y) = (mean(&|p| p.0.ln()), mean(&|p| p.1.ln()));
    let along = |p: &(f64, f64)| p.0.ln() - x;
    mean(&|p| along(p) * (p.1.ln() - y)) / mean(&|p| along(p) * along(p))
}

/// Memory of this process [MB], where the system tells.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1e3)
}

/// Writes what was measured, if asked for.
fn write_json<T: Serialize>(path: Option<&Path>, measured: &T) -> Result<(), BadInput> {
    let Some(path) = path else { return Ok(()) };
    let text = serde_json::to_string_pretty(measured).map_err(|e| BadInput::file(path, &e))?;
    write_file(path, &(text + "\n"))
}

/// Times one tower; the inner error is a problem that was not solved.
fn measure(boxes: usize, seed: u64, arguments: &Arguments) -> Result<Result<Measurement, String>, BadInput> {
    let solver = Solver::default();
    let step = tower(boxes, DIRECTIONS, seed);
    let condensed = match Condensed::new(&step) {
        Ok(condensed) => condensed,
        Err(feature) => return Ok(Err(feature)),
    };
    let lcp = condensed.lcp();
    let (solution, of_step) = match (solve(lcp, &solver, None), solve(&step, &solver, None)) {
        (Ok(solution), Ok(of_step)) => (solution, of_step),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error.to_string())),
    };
    let mut problem = None;
    if let Some(folder) = &arguments.problems {
        let path = folder.join(format!("tower-{boxes}-{seed}.json"));
        let file = ProblemFile {
            name: Some(format!("tower of {boxes} boxes, {DIRECTIONS} directions, seed {seed}")),
            ..AnyProblem::Lcp(lcp.clone()).into()
        };
        write_file(&path, &file.to_json())?;
        problem = Some(path);
    }
    // as a program does that solves many: the storage is kept, and quantecon's is handed in as well
    let mut workspace = Workspace::default();
    let mut kept = |problem: Problem| {
        let solved = workspace.solve(problem, &solver, None);
        solved.map(|solution| workspace.recycle(solution)).is_ok()
    };
    let dense = Times::of(arguments.seconds, || kept(lcp.into()));
    let from_step = Times::of(arguments.seconds, || kept((&step).into()));
    Ok(Ok(Measurement {
        contacts: step.contacts.len(),
        n: lcp.q.len(),
        seed,
        pivots: solution.work().pivots,
        certificate: solution.certificate().worst(),
        dense,
        step: from_step,
        step_certificate: of_step.certificate().worst(),
        problem,
    }))
}

fn table(measurements: &[Measurement]) -> String {
    let mut text =
        String::from("Lemke's method on towers of boxes, 4 directions of friction, certificate included\n\n");
    let _ = writeln!(text, "{:>45}  {:>21}  {:>21}", "", "dense problem [µs]", "from step [µs]");
    let _ = writeln!(
        text,
        "{:>8} {:>5} {:>5} {:>8} {:>14}    {:>10} {:>10}  {:>10} {:>10}",
        "contacts", "n", "seed", "pivots", "certificate", "best", "median", "best", "median"
    );
    for m in measurements {
        let worst = m.certificate.max(m.step_certificate);
        let _ = writeln!(
            text,
            "{:>8} {:>5} {:>5} {:>8} {:>14.1e}    {:>10.1} {:>10.1}  {:>10.1} {:>10.1}",
            m.contacts,
            m.n,
            m.seed,
            m.pivots,
            worst,
            m.dense.best_us,
            m.dense.median_us,
            m.step.best_us,
            m.step.median_us
        );
    }
    text
}
