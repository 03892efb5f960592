//! `stiction-lab bench local`: times of problems in local form, made from walls and piles of boxes.

use crate::{BadInput, Outcome, print, write_file};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{LocalProblem, Solver, solve};
use stiction_problems::ensemble::{Arrangement, Heap, local_form};

/// Walls and piles of boxes in local form: size, entries of W, time, residual and method of each.
#[derive(clap::Args)]
pub(crate) struct LocalArguments {
    /// Contacts in space, at least
    #[arg(long, default_value_t = 500)]
    space: usize,
    /// Contacts in the plane, at least; problems have at most 4,000 rows
    #[arg(long, default_value_t = 2000)]
    plane: usize,
    /// Problems of each kind
    #[arg(long, default_value_t = 3)]
    count: u64,
    /// Folder for the problems as files, which `stiction solve` reads
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// File for the table as CSV
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &LocalArguments) -> Result<Outcome, BadInput> {
    let mut csv = String::from("dim,arrangement,mu,contacts,rows,entries,seconds,residual,stage,sweeps\n");
    let mut outcome = Outcome::Solved;
    for seed in 0..arguments.count {
        for (dim, contacts) in [(3, arguments.space), (2, arguments.plane)] {
            for (name, arrangement) in arrangements(contacts) {
                let mu = [0.3, 0.5, 0.8][(seed % 3) as usize];
                let heap = Heap { arrangement, mu, speed: 0.01, mass_ratio: 1.0, seed };
                let Some(mut problem) = local_form(&heap.sample(), dim) else { continue };
                keep(&mut problem, contacts);
                let entries = problem.w.iter().filter(|x| **x != 0.0).count();
                let begun = Instant::now();
                let found = solve(&problem, &Solver::default(), None);
                let seconds = begun.elapsed().as_secs_f64();
                let rows = problem.q.len();
                let _ = write!(csv, "{dim},{name},{mu},{},{rows},{entries},{seconds:.3},", problem.mu.len());
                let _ = match &found {
                    Ok(solution) => {
                        let (worst, work) = (solution.certificate().worst(), solution.work());
                        writeln!(csv, "{worst:.1e},{:?},{}", work.stage, work.sweeps)
                    }
                    Err(error) => writeln!(csv, ",{},", error.status()),
                };
                if found.is_err() {
                    outcome = Outcome::NotSolved;
                }
                if let Some(folder) = &arguments.save {
                    let path = folder.join(format!("local-{dim}-{name}-{seed}.json"));
                    write_file(&path, &ProblemFile::from(AnyProblem::Local(problem)).to_json())?;
                }
            }
        }
    }
    if let Some(path) = &arguments.csv {
        write_file(path, &csv)?;
    }
    print(&csv)?;
    Ok(outcome)
}

/// Arrangements with at least this many contacts: boxes touch at four corners.
fn arrangements(contacts: usize) -> [(&'static str, Arrangement); 2] {
    let boxes = contacts.div_ceil(4);
    let side = (1..=boxes).find(|side| side * side >= boxes).unwrap_or(boxes);
    // a cube of n³ boxes has 3 n² (n − 1) faces between them, and n² on the floor
    let edge = (1..=boxes).find(|n| n * n * (3 * n - 2) >= boxes).unwrap_or(boxes);
    [("wall", Arrangement::Wall(side, side)), ("pile", Arrangement::Pile(edge))]
}

/// Keeps the first contacts of a problem alone.
fn keep(problem: &mut LocalProblem, contacts: usize) {
    let contacts = contacts.min(problem.mu.len());
    let rows = contacts * problem.dim;
    problem.mu.truncate(contacts);
    problem.q = problem.q.rows(0, rows).into_owned();
    problem.w = problem.w.view((0, 0), (rows, rows)).into_owned();
}
