//! Problems in local form, u = W r + q, as a sequence of step problems that the caller solves.
//!
//! The methods need a mass matrix, but W may be singular: hyperstatic contacts make it so. A step with M̃ = (W + ε)⁻¹ and
//! q − ε r, with r the impulses of the last round, has u = W r⁺ + q + ε (r⁺ − r). Once the impulses no longer change, ε has
//! no effect, and the certificate is that of W and q themselves.

mod sweeps;

use crate::certificate::{Candidate, Judge, JudgeBuffers};
use crate::lemke::Basis;
use crate::problem::{FrictionLaw, LocalProblem, Problem, StepProblem};
use crate::proof::Farkas;
use crate::solution::{LcpError, Solution, Stage, WarmStart, Work};
use crate::task::AS_GIVEN_FRACTION;
use std::sync::Arc;
use sweeps::Sweeps;

// Constants of the method.

/// Proximal term ε relative to the mean of W's diagonal [-]. Sensible range 1e-8 to 1e-2: larger takes more rounds if W is
/// nearly singular, smaller loses digits, because M̃ has the condition number of 1/ε.
const LOCAL_PROXIMAL: f64 = 1e-5;

/// Maximum number of rounds. Eigenvalues of W above ε need two or three.
const LOCAL_ROUNDS: usize = 30;

/// LocalRounds after the first one that passes, towards rounding: impulses that are kept in the next problem must be far
/// better than the tolerance.
const EXTRA_ROUNDS: usize = 2;

/// Fraction of the tolerance that each step is solved to [-].
const STEP_TOLERANCE_FRACTION: f64 = 0.1;

/// Ratio of residuals above which a round counts as stuck [-].
const STUCK_ROUND: f64 = 0.5;

/// Number of rows above which sweeps are tried first: steps of W's inverse take a tenth of a second there, and grow with
/// the third power. Smaller problems settle at the vertex or to the digits of the steps' methods.
const SWEPT_ROWS: usize = 300;

/// Largest number of rows of which W is inverted: beyond it the couplings of all contacts take minutes and gigabytes.
const MAX_INVERTED_ROWS: usize = 1500;

/// Part of the tolerance to which sweeps go [-].
const SWEPT_FRACTION: f64 = 0.1;

/// Solves a checked `problem` to `tolerance`. `solve_step` solves a step problem to a tolerance from a warm start;
/// `solver` is its name in errors. Large problems are `swept` first.
pub(crate) fn solve(
    problem: &LocalProblem,
    (solver, swept): (&'static str, bool),
    tolerance: f64,
    warm_start: Option<&WarmStart>,
    mut solve_step: impl FnMut(&StepProblem, f64, &WarmStart) -> Result<Solution, LcpError>,
) -> Result<Solution, LcpError> {
    let mut judge = Judge::new(Problem::Local(problem), Arc::default(), JudgeBuffers::default());
    let mut rounds = LocalRounds::new(problem, tolerance, warm_start, &mut judge);
    if rounds.best.certificate.passes(AS_GIVEN_FRACTION * tolerance) {
        return rounds.finish(AS_GIVEN_FRACTION * tolerance, None);
    }
    if swept && problem.q.len() > SWEPT_ROWS {
        rounds.sweep(&mut judge);
        if rounds.best.certificate.passes(tolerance) || problem.q.len() > MAX_INVERTED_ROWS {
            return rounds.finish(tolerance, None);
        }
    }
    let mut step = problem.step(LOCAL_PROXIMAL).ok_or_else(|| LcpError::Unsupported {
        solver,
        feature: "a matrix that is not definite".to_string(),
    })?;
    let epsilon = problem.shift(LOCAL_PROXIMAL);
    for round in 0..LOCAL_ROUNDS {
        let offset = &problem.q - epsilon * problem.impulses(&rounds.z);
        step.contacts = problem.contacts(&offset);
        // a step at rest has no scale of its own
        step.speed_scale = rounds.best.certificate.speed;
        let start = WarmStart { z: rounds.z.clone(), basis: rounds.basis.clone() };
        let result = solve_step(&step, STEP_TOLERANCE_FRACTION * tolerance, &start);
        match &result {
            Err(LcpError::Unsupported { .. }) => return result,
            // entries whose inverses overflow: no step can be solved
            Err(LcpError::Malformed(_)) => break,
            _ => {}
        }
        if rounds.take(round, result, &mut judge)? {
            break;
        }
    }
    let basis = rounds.basis.clone();
    rounds.finish(tolerance, basis)
}

/// State between rounds.
struct LocalRounds<'a> {
    problem: &'a LocalProblem,
    tolerance: f64,
    z: Vec<f64>,
    basis: Option<Basis>,
    work: Work,
    best: Candidate,
    /// LocalRounds since the first one that passed.
    passed: usize,
    /// Error of the last step.
    failed: Option<LcpError>,
}

impl<'a> LocalRounds<'a> {
    fn new(
        problem: &'a LocalProblem,
        tolerance: f64,
        warm_start: Option<&WarmStart>,
        judge: &mut Judge,
    ) -> Self {
        let z = warm_start.filter(|w| w.z.len() == problem.size()).map_or(Vec::new(), |w| w.z.clone());
        let basis = warm_start.and_then(|w| w.basis.clone());
        let stage = if z.is_empty() { Stage::Zero } else { Stage::WarmStart };
        let work = Work { stage, ..Work::default() };
        let best = judge.certify(&z, Candidate::default());
        Self { problem, tolerance, z, basis, work, best, passed: 0, failed: None }
    }

    /// Sweeps over the contacts, and keeps the impulses if they pass.
    fn sweep(&mut self, judge: &mut Judge) {
        let Some(mut sweeps) = Sweeps::new(self.problem) else { return };
        let start = self.problem.impulses(&self.z);
        let target = SWEPT_FRACTION * self.tolerance * self.best.certificate.speed;
        let found = sweeps.run(start.as_slice(), target);
        self.work.sweeps = sweeps.made;
        let Some(r) = found else { return };
        let candidate = judge.certify(&self.problem.unknowns_of(&r), Candidate::default());
        if candidate.certificate.passes(self.tolerance) {
            self.work.stage = Stage::Sweeps;
            self.best = candidate;
        }
    }

    /// Takes the result of a step and returns whether no further round is needed. The error is a proof that there is no
    /// solution.
    fn take(
        &mut self,
        round: usize,
        result: Result<Solution, LcpError>,
        judge: &mut Judge,
    ) -> Result<bool, LcpError> {
        let found = match &result {
            Ok(solution) => solution.z(),
            Err(error) => error.best().map_or(&[][..], |best| &best.z),
        };
        let candidate = judge.certify(found, Candidate::default());
        let moved = normal_change(self.problem, &candidate.z, &self.z);
        self.z.clone_from(&candidate.z);
        if let Ok(solution) = &result {
            self.basis = solution.basis().cloned().or(self.basis.take());
            self.work = sum_of_work(&self.work, solution.work(), round + 1);
        }
        self.failed = result.err();
        let (worst, before) = (candidate.certificate.worst(), self.best.certificate.worst());
        // impulses that grow without bound grow along a proof of infeasibility
        if round > 0
            && worst > self.tolerance
            && let Some(proof) = Farkas::check(self.problem, &moved)
        {
            return Err(LcpError::Ray { ray: moved, proof: Some(proof), best: Box::new(candidate) });
        }
        if worst < before {
            self.best = candidate;
        }
        self.passed += usize::from(self.best.certificate.passes(self.tolerance));
        let done =
            self.best.certificate.passes(AS_GIVEN_FRACTION * self.tolerance) || self.passed > EXTRA_ROUNDS;
        let stuck = (self.failed.is_some() || self.passed > 0) && worst > STUCK_ROUND * before;
        Ok(done || stuck)
    }

    /// Best candidate as a solution, or the error of the last step with it.
    fn finish(self, tolerance: f64, basis: Option<Basis>) -> Result<Solution, LcpError> {
        let (rounds, sweeps) = (self.work.rounds, self.work.sweeps);
        let best = match Solution::accept(self.best, tolerance, FrictionLaw::Coulomb, self.work, basis) {
            Ok(solution) => return Ok(solution),
            Err(best) => Box::new(best),
        };
        Err(match self.failed {
            Some(LcpError::Budget { spent, unit, .. }) => LcpError::Budget { spent, unit, best },
            // that no basis of W + ε is a solution proves nothing about W
            Some(LcpError::Exhausted { bases, .. }) => LcpError::Budget { spent: bases, unit: "bases", best },
            Some(LcpError::Ray { ray, .. }) => LcpError::Ray { ray, proof: None, best },
            Some(LcpError::Uncertified { .. }) => LcpError::Uncertified { tolerance, best },
            Some(error) => error,
            None if rounds == 0 => LcpError::Budget { spent: sweeps, unit: "sweeps", best },
            None => LcpError::Budget { spent: rounds, unit: "rounds", best },
        })
    }
}

/// Change of the normal impulses, as unknowns.
fn normal_change(problem: &LocalProblem, z: &[f64], before: &[f64]) -> Vec<f64> {
    let size = problem.unknowns();
    let is_normal = |i: usize| i.is_multiple_of(size);
    let change = |(i, z): (usize, &f64)| if is_normal(i) { z - before.get(i).unwrap_or(&0.0) } else { 0.0 };
    z.iter().enumerate().map(change).collect()
}

/// Work of all rounds so far; the stage is that of the last round that did any.
fn sum_of_work(before: &Work, last: &Work, rounds: usize) -> Work {
    let idle = last.factorizations == 0 && last.pivots == 0 && rounds > 1;
    let mut all = if idle { before.clone() } else { last.clone() };
    all.rounds = rounds;
    all.factorizations = before.factorizations + last.factorizations;
    all.iterations = before.iterations + last.iterations;
    all.pivots = before.pivots + last.pivots;
    all.sweeps = before.sweeps + last.sweeps;
    all
}
