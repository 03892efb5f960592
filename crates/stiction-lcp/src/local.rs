//! Problems in local form, by steps of bodies that have the contacts' velocities.
//!
//! The methods ask for a mass matrix, and W may be singular: hyperstatic contacts make it so. A step with
//! M̃ = (W + ε)⁻¹ and q − ε r, r the impulses of the last one, has u = W r⁺ + q + ε (r⁺ − r). Where impulses no longer
//! change nothing is left of ε, and the certificate is that of W and q themselves.

use crate::certificate::{Candidate, Judge, JudgeBuffers};
use crate::lemke::Basis;
use crate::problem::{FrictionLaw, LocalProblem, Problem};
use crate::proof::Farkas;
use crate::solution::{LcpError, Solution, Stage, WarmStart, Work};
use crate::solve::{IDLE, Method, Solver, Workspace};
use std::sync::Arc;

/// ε as a part of the mean of W's diagonal. Larger takes more rounds where W is close to singular, smaller loses digits
/// to a condition of its inverse.
const EPSILON: f64 = 1e-5;

/// Rounds at most: what W bears at a part ε of its diagonal and more takes two or three.
const ROUNDS: usize = 30;

/// Rounds after the first that passes, towards round-off: what is taken as it is at the next problem must be far better
/// than the tolerance.
const FURTHER: usize = 2;

/// Part of the tolerance that each step is solved to.
const SHARE: f64 = 0.1;

/// Solves `problem` by `solver`'s method in `workspace`, and certifies the answer.
pub(crate) fn solve(
    problem: &LocalProblem,
    workspace: &mut Workspace,
    solver: &Solver,
    warm_start: Option<&WarmStart>,
) -> Result<Solution, LcpError> {
    problem.check()?;
    if let Method::Convex(_) = solver.method {
        return Err(solver.method.unsupported("a problem in local form"));
    }
    let mut judge = Judge::new(Problem::Local(problem), Arc::default(), JudgeBuffers::default());
    let mut step =
        problem.step(EPSILON).ok_or_else(|| solver.method.unsupported("a matrix that is not definite"))?;
    let epsilon = problem.shift(EPSILON);
    let inner = Solver { tolerance: SHARE * solver.tolerance, ..*solver };
    let mut z = warm_start.filter(|g| g.z.len() == problem.size()).map_or(Vec::new(), |g| g.z.clone());
    let mut basis = warm_start.and_then(|g| g.basis.clone());
    let stage = if z.is_empty() { Stage::Zero } else { Stage::WarmStart };
    let mut work = Work { stage, ..Work::default() };
    let given = judge.certify(&z, Candidate::default());
    let mut best = match accepted(given, IDLE * solver.tolerance, &work, None) {
        Ok(solution) => return Ok(solution),
        Err(given) => given,
    };
    let mut failed = None;
    let mut passed = 0;
    for round in 0..ROUNDS {
        let offset = &problem.q - epsilon * problem.impulses(&z);
        step.contacts = problem.contacts(&offset);
        // a step at rest with nothing to stop has no scale of its own
        step.speed_scale = best.certificate.speed;
        let warm_start = WarmStart { z: z.clone(), basis: basis.clone() };
        let answer = workspace.solve(&step, &inner, Some(&warm_start));
        let found = match &answer {
            Ok(solution) => solution.z(),
            Err(LcpError::Unsupported { .. }) => return answer,
            // numbers whose inverses are none: the answer is not known
            Err(LcpError::Malformed(_)) => break,
            Err(error) => error.best().map_or(&[][..], |best| &best.z),
        };
        let candidate = judge.certify(found, Candidate::default());
        let moved = direction(problem, &candidate.z, &z);
        z.clone_from(&candidate.z);
        if let Ok(solution) = &answer {
            basis = solution.basis().cloned().or(basis);
            work = together(&work, solution.work(), round + 1);
        }
        failed = answer.err();
        let (worst, before) = (candidate.certificate.worst(), best.certificate.worst());
        // impulses that grow for ever grow along the proof that there is no solution
        if round > 0
            && worst > solver.tolerance
            && let Some(proof) = Farkas::check(problem, &moved)
        {
            return Err(LcpError::Ray { ray: moved, proof: Some(proof), best: Box::new(candidate) });
        }
        if worst < before {
            best = candidate;
        }
        passed += usize::from(best.certificate.passes(solver.tolerance));
        let done = best.certificate.passes(IDLE * solver.tolerance) || passed > FURTHER;
        let stuck = (failed.is_some() || passed > 0) && worst > 0.5 * before;
        if done || stuck {
            break;
        }
    }
    let best = match accepted(best, solver.tolerance, &work, basis) {
        Ok(solution) => return Ok(solution),
        Err(best) => best,
    };
    let best = Box::new(best);
    Err(match failed {
        Some(LcpError::Budget { spent, unit, .. }) => LcpError::Budget { spent, unit, best },
        // that no basis of W + ε is a solution proves nothing of W
        Some(LcpError::Exhausted { bases, .. }) => LcpError::Budget { spent: bases, unit: "bases", best },
        Some(LcpError::Ray { ray, .. }) => LcpError::Ray { ray, proof: None, best },
        Some(LcpError::Uncertified { .. }) => LcpError::Uncertified { tolerance: solver.tolerance, best },
        Some(error) => error,
        None => LcpError::Budget { spent: work.rounds, unit: "rounds", best },
    })
}

#[allow(clippy::result_large_err, reason = "the candidate comes back")]
fn accepted(
    candidate: Candidate,
    tolerance: f64,
    work: &Work,
    basis: Option<Basis>,
) -> Result<Solution, Candidate> {
    Solution::accept(candidate, tolerance, FrictionLaw::Coulomb, work.clone(), basis)
}

/// How the normal impulses changed, as unknowns.
fn direction(problem: &LocalProblem, z: &[f64], before: &[f64]) -> Vec<f64> {
    let size = problem.unknowns();
    let normal = |i: usize| i.is_multiple_of(size);
    let change = |(i, z): (usize, &f64)| if normal(i) { z - before.get(i).unwrap_or(&0.0) } else { 0.0 };
    z.iter().enumerate().map(change).collect()
}

/// The work of all rounds so far; the stage is that of the last one that did any.
fn together(before: &Work, last: &Work, rounds: usize) -> Work {
    let idle = last.factorizations == 0 && last.pivots == 0 && rounds > 1;
    let mut all = if idle { before.clone() } else { last.clone() };
    all.rounds = rounds;
    all.factorizations = before.factorizations + last.factorizations;
    all.iterations = before.iterations + last.iterations;
    all.pivots = before.pivots + last.pivots;
    all.sweeps = before.sweeps + last.sweeps;
    all
}
