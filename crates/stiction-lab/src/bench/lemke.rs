//! `stiction-lab bench lemke`: Lemke's method on towers of boxes.

use super::timing::{ResultFile, Times, measured_or_printed};
use crate::{BadInput, Outcome, write_file};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{Condensed, Problem, Solver, Workspace, solve};
use stiction_problems::ensemble::tower;

/// Lemke's method on towers of boxes: 8, 16, 32 and 64 contacts with 4 directions of friction.
///
/// Two times each, certificate included: the dense problem w = M z + q alone, and the step problem from its dense form
/// to the certified solution.
#[derive(clap::Args)]
pub(crate) struct LemkeArguments {
    /// Towers of each size
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// Time spent on each measurement [s]
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    #[command(flatten)]
    results: ResultFile,
    /// Write the dense problems as JSON, so that other programs can be timed on them
    #[arg(long, value_name = "DIR")]
    problems: Option<PathBuf>,
}

/// Directions of friction of every contact.
const DIRECTIONS: usize = 4;
/// Heights of the towers, in boxes.
const BOXES: [usize; 4] = [2, 4, 8, 16];

/// Times of one problem.
#[derive(Serialize)]
struct LemkeMeasurement {
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
    /// File of the dense problem.
    problem: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &LemkeArguments) -> Result<Outcome, BadInput> {
    let mut measurements = Vec::new();
    for boxes in BOXES {
        for seed in 0..arguments.seeds {
            let case = format!("tower of {boxes} boxes, seed {seed}");
            let Some(measurement) = measured_or_printed(&case, measure(boxes, seed, arguments)?)? else {
                return Ok(Outcome::NotSolved);
            };
            measurements.push(measurement);
        }
    }
    arguments.results.publish(&measurements, &table(&measurements))?;
    Ok(Outcome::Solved)
}

/// Times one tower; the inner error says why it was not solved.
fn measure(
    boxes: usize,
    seed: u64,
    arguments: &LemkeArguments,
) -> Result<Result<LemkeMeasurement, String>, BadInput> {
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
    // a program that solves many problems keeps the workspace; quantecon's is passed in as well
    let mut workspace = Workspace::default();
    let mut kept = |problem: Problem| {
        let solved = workspace.solve(problem, &solver, None);
        solved.map(|solution| workspace.recycle(solution)).is_ok()
    };
    let dense = Times::of(arguments.seconds, || kept(lcp.into()));
    let from_step = Times::of(arguments.seconds, || kept((&step).into()));
    Ok(Ok(LemkeMeasurement {
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

fn table(measurements: &[LemkeMeasurement]) -> String {
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
