//! Problems of the folder `problems/`, built from their formulas: textbook problems, time steps of rigid bodies and
//! contacts in local form, with known solutions or known to have none.
//!
//! A test compares the files with this module, and the expectations with [`Enumerate`](stiction_lcp::Enumerate) and the
//! certificate.

mod build;
mod local;
mod mechanism;
mod plane;
mod rod;
mod space;
mod stack;
mod textbook;

use stiction_lcp::problem::{AnyProblem, Expected, ProblemFile, StepProblem};

/// Name of a file in `problems/` without extension, and the problem in it.
pub type NamedProblem = (String, ProblemFile);

/// All problems, each with the name of its file in `problems/` without extension.
pub fn all() -> Vec<NamedProblem> {
    [textbook::all(), rod::all(), plane::all(), space::all(), stack::all(), mechanism::all(), local::all()]
        .concat()
}

/// NamedProblem name and texts of a problem.
struct ProblemEntry {
    file: String,
    name: String,
    source: String,
    note: String,
}

impl ProblemEntry {
    fn new(file: &str, name: &str, source: &str, note: &str) -> Self {
        Self { file: file.into(), name: name.into(), source: source.into(), note: note.into() }
    }

    fn holding(self, problem: AnyProblem, expected: Expected) -> NamedProblem {
        let Self { file, name, source, note } = self;
        let (name, source, note) = (Some(name), Some(source), Some(note));
        (file, ProblemFile { problem, name, source, note, expected: Some(expected) })
    }

    fn step(self, step: StepProblem, expected: Expected) -> NamedProblem {
        self.holding(AnyProblem::Step(step), expected)
    }
}

/// Expectation of no solution.
fn none() -> Expected {
    Expected { isolated: Some(0), continuum: Some(false), ..Expected::default() }
}

/// Expectation of exactly these solutions.
fn exactly(solutions: &[&[f64]]) -> Expected {
    Expected {
        solvable: !solutions.is_empty(),
        solutions: solutions.iter().map(|z| z.to_vec()).collect(),
        isolated: Some(solutions.len()),
        continuum: Some(false),
        velocity: Vec::new(),
    }
}

/// Expectation of infinitely many solutions, none isolated, with these among them.
fn infinitely_many(some: &[&[f64]]) -> Expected {
    Expected { continuum: Some(true), isolated: Some(0), ..exactly(some) }
}
