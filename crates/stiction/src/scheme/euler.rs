//! The Euler family: one step problem, v⁺ = v at the end of the step, q⁺ = q ⊕ h v⁺.

use super::pose::{Pose, largest, looks_ahead, slow_after};
use super::{Level, Scheme, post_stabilize};
use crate::assemble;
use crate::error::StepError;
use crate::report::{StepReport, StepWork};
use crate::state::State;
use crate::system::System;
use stiction_lcp::{Fallback, Phase, Solution, StepProblem, WarmStart};

/// Rounds of the position-level iteration at most.
const ROUNDS: usize = 20;

/// Velocities that change by no more than this, of 1 m/s or the fastest, are known to the tolerance of the solve.
pub(crate) const CHANGE: f64 = 1e-12;

/// Storage of a step, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    pub(crate) pose: Pose,
    pub(crate) lcp: stiction_lcp::Workspace,
    /// The impulses of the last step.
    warm_start: WarmStart,
    /// The displacement of a pass of post-stabilization.
    pub(crate) displacement: Vec<f64>,
    next: State,
}

/// One step of size `h`; the state is only changed if it is made, the report is of no use if it is not.
pub(crate) fn step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &mut State,
    h: f64,
    workspace: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    check(system, state, h)?;
    workspace.lcp.profile().enter(Phase::Forces);
    let mut work = StepWork { converged: true, ..StepWork::default() };
    workspace.pose.begin(system, scheme, state, h)?;
    let mut solution = solve_with_all(system, scheme, state, h, &mut work, workspace)?;
    work.rounds = 1;
    if scheme.level == (Level::Position { nonlinear: true }) {
        solution = iterate(system, scheme, state, h, solution, &mut work, workspace)?;
    }

    workspace.lcp.profile().enter(Phase::Report);
    let mut next = std::mem::take(&mut workspace.next);
    next.q.clone_from(&state.q);
    next.v.clear();
    next.v.extend_from_slice(solution.velocity());
    next.t = state.t + h;
    system.advance(&mut next.q, &next.v, h);
    next.memory.h = slow_after(state, h);
    let made = finish(system, scheme, h, &mut next, &solution, work, workspace, report);
    workspace.lcp.recycle(solution);
    if made.is_ok() {
        workspace.pose.cache.forget_stale();
        std::mem::swap(&mut next.memory.cache, &mut workspace.pose.cache);
        std::mem::swap(state, &mut next);
    }
    workspace.next = next;
    made
}

/// Whether a step can be made at all.
pub(crate) fn check<S: System + ?Sized>(system: &S, state: &State, h: f64) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::StepSize(h));
    }
    let got = [state.q.len(), state.v.len()];
    let expected = [system.coordinate_count(), system.bodies().iter().sum()];
    if got != expected {
        return Err(StepError::Size { got, expected });
    }
    check_finite(system, state, h)
}

/// Bodies that are nowhere would touch nothing and fall for ever without a word.
fn check_finite<S: System + ?Sized>(system: &S, state: &State, h: f64) -> Result<(), StepError> {
    let not_finite = |what: String| Err(StepError::NotFinite { t: state.t, what });
    if !state.t.is_finite() {
        return not_finite("the time".to_string());
    }
    for (name, numbers) in [("coordinate", &state.q), ("velocity", &state.v)] {
        if let Some(i) = numbers.iter().position(|x| !x.is_finite()) {
            return not_finite(format!("{name} {i}"));
        }
    }
    for t in [state.t, state.t + h] {
        if system.prescribed_speed(t).is_nan() {
            return not_finite(format!("a prescribed motion at {t} s"));
        }
    }
    Ok(())
}

/// Mends the positions if asked for, and reports.
#[allow(clippy::too_many_arguments)]
fn finish<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    h: f64,
    next: &mut State,
    solution: &Solution,
    mut work: StepWork,
    workspace: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let Pose { problem, layout, places, contacts, joints, reducer, expansion, .. } = &workspace.pose;
    let mut reported = std::mem::take(report);
    reported.dropped.clone_from(&reducer.dropped);
    (work.proven, work.limited) = reducer.counts();
    // slower than this is round-off of the solve
    let still = solution.tolerance().max(1e-9) * solution.certificate().speed;
    let answer = (solution.z(), solution.velocity(), still);
    assemble::contact_reports(problem, layout, places, contacts, answer, &mut reported.contacts);
    assemble::joint_reports(problem, layout, places, joints, solution.z(), &mut reported.joints);
    assemble::remember(&reported.contacts, &reported.joints, &mut next.memory);
    reported.certificate.copy_from(solution.certificate());
    reported.stabilization = None;
    reported.events.clear();
    reported.impacts.clear();
    reported.second_order = None;
    if let Some(evidence) = &mut reported.evidence {
        evidence.clear();
        if scheme.level == (Level::Position { nonlinear: true }) {
            evidence.about.extend_from_slice(&expansion.v);
        }
    }
    // schemes that look ahead have looked for contacts there
    if !looks_ahead(scheme) {
        workspace.pose.look_at(system, next.t, &next.q);
    }
    let before = workspace.pose.violation(system, next.t, &next.q);
    reported.infeasibility = before;
    if scheme.passes > 0 {
        workspace.lcp.profile().hold(Phase::PostStabilization);
        let evidence = reported.evidence.as_mut();
        let post = post_stabilize::run(system, scheme, (next, before), h, &mut work, workspace, evidence);
        workspace.lcp.profile().release();
        match post {
            Ok(post) => {
                reported.infeasibility = post.after;
                reported.stabilization = Some(post);
            }
            Err(error) => {
                report.evidence = reported.evidence;
                return Err(error);
            }
        }
    }
    reported.h = h;
    observe(system, next, &mut reported);
    reported.work = work;
    *report = reported;
    Ok(())
}

/// Rounds of v̂ ← v⁺ until the positions themselves hold.
fn iterate<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    mut solution: Solution,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    work.converged = false;
    while work.rounds < ROUNDS {
        workspace.pose.expansion.about(system, state, h, solution.velocity());
        let next = solve_with_all(system, scheme, state, h, work, workspace)?;
        work.rounds += 1;
        let change = difference(next.velocity(), solution.velocity());
        workspace.lcp.recycle(std::mem::replace(&mut solution, next));
        if change <= CHANGE * (1.0 + largest(solution.velocity())) {
            work.converged = true;
            break;
        }
    }
    Ok(solution)
}

/// The figures of a state, but for its infeasibility.
pub(crate) fn observe<S: System + ?Sized>(system: &S, state: &State, report: &mut StepReport) {
    let State { t, q, v, .. } = state;
    report.t = *t;
    report.kinetic = kinetic(system, (*t, q), v);
    report.potential = system.potential(*t, q);
    (report.linear_momentum, report.angular_momentum) = system.momentum(q, v);
}

/// ½ vᵀ M v.
pub(crate) fn kinetic<S: System + ?Sized>(system: &S, (t, q): (f64, &[f64]), v: &[f64]) -> f64 {
    let mut start = 0;
    let mut energy = 0.0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let (mass, v) = (system.mass_at(i, t, q), &v[start..start + n]);
        for r in 0..n {
            energy += 0.5 * v[r] * (0..n).map(|c| mass[(r, c)] * v[c]).sum::<f64>();
        }
        start += n;
    }
    energy
}

/// Solves the step, adds contacts that were missed, and solves again until none is.
fn solve_with_all<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    loop {
        let Workspace { pose, lcp, warm_start, .. } = &mut *workspace;
        lcp.profile().enter(Phase::Joints);
        pose.read_joints(system);
        lcp.profile().enter(Phase::Detection);
        pose.read_contacts(system, scheme, h);
        pose.assemble(system, scheme, scheme.reduction, state, h, lcp.profile());
        let Pose { problem, layout, places, contacts, .. } = &*pose;
        assemble::remembered(problem, layout, places, contacts, &state.memory, &mut warm_start.z);
        let solution = solved(problem, Some(warm_start), scheme, state.t, work, lcp)?;
        lcp.profile().enter(Phase::Detection);
        if !(looks_ahead(scheme) && pose.add_missed(system, state, h, solution.velocity())) {
            return Ok(solution);
        }
        work.additions += 1;
        workspace.lcp.recycle(solution);
    }
}

/// Solves a step problem and counts it.
pub(crate) fn solved(
    problem: &StepProblem,
    warm_start: Option<&WarmStart>,
    scheme: &Scheme,
    t: f64,
    work: &mut StepWork,
    lcp: &mut stiction_lcp::Workspace,
) -> Result<Solution, StepError> {
    let solution = lcp.solve(problem, &scheme.solver, warm_start).map_err(|error| StepError::Unsolved {
        t,
        error: Box::new(error),
        problem: Box::new(problem.clone()),
    })?;
    work.problems += 1;
    work.pivots += solution.work().pivots;
    work.factorizations += solution.work().factorizations;
    work.loose += usize::from(solution.work().fallbacks.contains(&Fallback::Loose));
    work.size = work.size.max(solution.work().dense_size);
    work.redundant_joints.clone_from(&solution.work().redundant_joints);
    Ok(solution)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}
