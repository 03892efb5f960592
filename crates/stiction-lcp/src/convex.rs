//! Fixed point of convex relaxations: a step problem with Coulomb friction as a sequence of convex problems, which the
//! caller solves.

use crate::problem::StepProblem;
use crate::solution::{LcpError, Solution, Stage, Work};
use crate::task::Task;

/// Solves convex relaxations with slip shift Γ ← μλ until a candidate satisfies Coulomb's law, from Γ = 0 or from the slip
/// speeds of `start`.
///
/// Each relaxation has a unique velocity. If the slip speeds stop changing, the candidate is a solution (AH04 Theorem
/// 2.1). They need not: at high friction the iteration may wander, so it is limited to `rounds`.
pub(crate) fn fixed_point(
    step: &StepProblem,
    task: &mut Task,
    start: Option<&[f64]>,
    rounds: usize,
    mut solve_relaxation: impl FnMut(&StepProblem) -> Result<Solution, LcpError>,
) -> Result<Solution, LcpError> {
    let mut work = Work { stage: Stage::FixedPoint, ..Work::default() };
    let mut gamma = vec![0.0; step.contacts.len()];
    let mut best = task.certify(start.unwrap_or(&[]));
    if start.is_some() {
        shift(step, best.certificate.contacts.iter().map(|c| c.lambda), &mut gamma);
    }
    for round in 1..=rounds {
        let relaxed = solve_relaxation(&step.relaxed(&gamma))?;
        work.rounds = round;
        work.pivots += relaxed.work().pivots;
        work.dense_size = work.dense_size.max(relaxed.work().dense_size);
        work.redundant_joints.clone_from(&relaxed.work().redundant_joints);
        let candidate = task.certify(relaxed.z());
        shift(step, candidate.certificate.contacts.iter().map(|c| c.lambda), &mut gamma);
        match task.accept(candidate, work.clone()) {
            Ok(solution) => return Ok(solution),
            Err(candidate) if candidate.certificate.worst() < best.certificate.worst() => best = candidate,
            Err(_) => {}
        }
    }
    Err(LcpError::Budget { spent: rounds, unit: "rounds", best: Box::new(best) })
}

/// Γ = Σ μλ over a contact and the friction blocks that it bounds.
fn shift(step: &StepProblem, lambda: impl Iterator<Item = f64>, gamma: &mut [f64]) {
    gamma.fill(0.0);
    for (i, lambda) in lambda.enumerate() {
        if let Some(bound_by) = step.bound_by(i) {
            gamma[bound_by] += step.contacts[i].mu * lambda;
        }
    }
}
