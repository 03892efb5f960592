//! The problems of the folder `problems/`, built from their formulas: textbook systems, time steps of
//! rigid bodies and contacts in local form with known solutions, or with none.
//!
//! The files are what this module makes; a test holds the two against each other, and the expectations
//! against [`Enumerate`](stiction_lcp::Enumerate) and the certificate.

mod build;
mod local;
mod mechanism;
mod plane;
mod rod;
mod space;
mod stack;
mod textbook;

use stiction_lcp::problem::{AnyProblem, Expected, ProblemFile, StepProblem};

/// Every problem, with the name of its file in `problems/` without the ending.
pub fn all() -> Vec<(String, ProblemFile)> {
    [textbook::all(), rod::all(), plane::all(), space::all(), stack::all(), mechanism::all(), local::all()]
        .concat()
}

/// A file's name and words, before it is known what it holds.
struct Entry {
    file: String,
    name: String,
    source: String,
    note: String,
}

impl Entry {
    fn new(file: &str, name: &str, source: &str, note: &str) -> Self {
        Self { file: file.into(), name: name.into(), source: source.into(), note: note.into() }
    }

    fn holding(self, problem: AnyProblem, expected: Expected) -> (String, ProblemFile) {
        let Self { file, name, source, note } = self;
        let (name, source, note) = (Some(name), Some(source), Some(note));
        (file, ProblemFile { problem, name, source, note, expected: Some(expected) })
    }

    fn step(self, step: StepProblem, expected: Expected) -> (String, ProblemFile) {
        self.holding(AnyProblem::Step(step), expected)
    }
}

/// No solution.
fn none() -> Expected {
    Expected { isolated: Some(0), continuum: Some(false), ..Expected::default() }
}

/// These solutions and no others.
fn exactly(solutions: &[&[f64]]) -> Expected {
    Expected {
        solvable: !solutions.is_empty(),
        solutions: solutions.iter().map(|z| z.to_vec()).collect(),
        isolated: Some(solutions.len()),
        continuum: Some(false),
        velocity: Vec::new(),
    }
}

/// Infinitely many solutions, none of them isolated, and these among them.
fn infinitely_many(some: &[&[f64]]) -> Expected {
    Expected { continuum: Some(true), isolated: Some(0), ..exactly(some) }
}
