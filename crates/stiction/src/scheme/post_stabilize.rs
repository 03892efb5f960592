//! Post-stabilization: after a step, the least displacement that mends the positions. CP03 (14)–(15)

use super::Scheme;
use super::euler::{Workspace, solved};
use super::pose::{GAPS, Pose};
use crate::assemble::{self, Offsets};
use crate::error::{ProjectError, StepError};
use crate::reduce::Reduction;
use crate::report::{Evidence, StabilizationPass, StabilizationReport, StepWork};
use crate::state::State;
use crate::system::{ContactQuery, ContactRow, JointRow, Moments, RowKind, System};
use nalgebra::Vector6;
use stiction_lcp::{Body, Farkas, LcpError, Row, StepProblem};

/// A pass moves no body by more than this part of its size: rows are only good near where they were taken.
const LEAP: f64 = 0.2;

/// Errors of positions below this part of the size are round-off.
pub(crate) const ROUND_OFF: f64 = 1e-12;

/// Mends `state.q`, whose I(q) is `before`; velocities are untouched.
pub(crate) fn run<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    (state, before): (&mut State, f64),
    h: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
    mut evidence: Option<&mut Evidence>,
) -> Result<StabilizationReport, StepError> {
    // below this positions are round-off
    let tolerance = ROUND_OFF * system.size();
    let mut report = StabilizationReport { passes: 0, before, after: before, infeasible: None };
    while report.after > tolerance && report.passes < scheme.passes {
        let pass = evidence.as_mut().map(|e| e.add_pass());
        report.infeasible = displacement(system, scheme, state, h, work, workspace, pass)?;
        leap(system, state, &workspace.displacement);
        report.passes += 1;
        report.after = workspace.pose.infeasibility(system, state.t, &state.q);
    }
    Ok(report)
}

/// Passes of a projection at most: Newton's method takes a handful from anywhere near.
const PROJECTION_PASSES: usize = 50;

/// Moves `state.q` until all joints hold, and changes `state.v` by as little as possible, measured by M, so that
/// they go on holding. Returns how far surfaces moved, at most [m].
pub(crate) fn project<S: System + ?Sized>(system: &S, state: &mut State) -> Result<f64, ProjectError> {
    let scheme = Scheme::default();
    let (mut work, mut workspace) = (StepWork::default(), Workspace::default());
    // no contact is within this reach
    workspace.pose.reach = f64::NEG_INFINITY;
    let (mut moved, mut passes) = (0.0, 0);
    loop {
        system.joints(state.t, &state.q, &mut workspace.pose.joints);
        let error = workspace.pose.joints.iter().filter_map(JointRow::violation).fold(0.0, f64::max);
        // below this positions are round-off
        let tolerance = ROUND_OFF * system.size().max(state.q.iter().fold(0.0, |m: f64, q| m.max(q.abs())));
        if error <= tolerance {
            break;
        }
        if passes == PROJECTION_PASSES {
            return Err(ProjectError::Apart(error));
        }
        // rows that cannot all be met here may be met where the least-squares displacement leads
        displacement(system, &scheme, state, 1.0, &mut work, &mut workspace, None)?;
        moved += leap(system, state, &workspace.displacement);
        passes += 1;
    }

    // M v⁺ = M v + νᵀc, ν v⁺ + ∂Θ/∂t = 0; a limit that is reached must not be passed
    workspace.pose.joints.retain(|j| match j.kind {
        RowKind::Limit => j.error <= 0.0,
        _ => j.violation().is_some(),
    });
    let Pose { problem, places, joints, .. } = &mut workspace.pose;
    bodies(system, &state.v, problem);
    let drift = |j: &JointRow| j.drift;
    let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
    assemble::rows(problem, places, 1.0, joints, &[], &offsets);
    let solution = solved(problem, None, &scheme, state.t, &mut work, &mut workspace.lcp)?;
    state.v.copy_from_slice(solution.velocity());
    Ok(moved)
}

/// Moves the bodies by dp, or by as much of it as rows are good for; returns how far surfaces went [m].
pub(crate) fn leap<S: System + ?Sized>(system: &S, state: &mut State, dp: &[f64]) -> f64 {
    let leap = system.surface_speed(state.t, &state.q, dp);
    let shrink = (LEAP * system.size() / leap.max(f64::MIN_POSITIVE)).min(1.0);
    system.advance(&mut state.q, dp, shrink);
    shrink * leap
}

/// The bodies with momentum M v, and nothing else.
fn bodies<S: System + ?Sized>(system: &S, v: &[f64], problem: &mut StepProblem) {
    problem.bodies.clear();
    problem.pairs.clear();
    problem.speed_scale = 0.0;
    let mut start = 0;
    for (i, &velocities) in system.bodies().iter().enumerate() {
        let mass = system.mass(i);
        let mut momentum = Vector6::zeros();
        for r in 0..velocities {
            momentum[r] = (0..velocities).map(|c| mass[(r, c)] * v.get(start + c).unwrap_or(&0.0)).sum();
        }
        problem.bodies.push(Body { velocities, mass, momentum });
        start += velocities;
    }
}

/// The problem of a displacement, M dp = Jᵀλ, J_e dp = −g_e, 0 ≤ λ_c ⊥ g_c + J_c dp ≥ 0, without the contacts that
/// `reduction` drops.
pub(crate) fn pose_displacement<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    reduction: Reduction,
    state: &State,
    h: f64,
    pose: &mut Pose,
) {
    let Pose { problem, layout, joints, contacts, reducer, places, cache, reach, sweep, .. } = pose;
    system.joints(state.t, &state.q, joints);
    // drives hold no position, and compliant joints give way on purpose
    joints.retain(|j| j.violation().is_some());
    let near = ContactQuery { motion: sweep.as_ref(), ..ContactQuery::within(*reach) };
    system.contacts(state.t, &state.q, &near, cache, contacts);
    for contact in &mut *contacts {
        (contact.mu, contact.moments) = (0.0, Moments::none());
    }
    let gap = |c: &ContactRow| c.gap;
    reducer.reduce(reduction, contacts, GAPS * system.size(), &gap);
    bodies(system, &[], problem);
    // redundant rows disagree by round-off of the positions, which no displacement can mend
    problem.speed_scale = ROUND_OFF * system.size() / scheme.solver.tolerance;
    let offsets = Offsets { joint: &|j: &JointRow| j.error, contact: &gap, limit: &|j: &JointRow| j.error };
    assemble::rows(problem, places, h, joints, contacts, &offsets);
    problem.lay_out(layout);
}

/// The displacement dp, left in the workspace; if there is none, the least-squares one, and the proof is returned.
fn displacement<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
    evidence: Option<&mut StabilizationPass>,
) -> Result<Option<Farkas>, StepError> {
    let Workspace { pose, lcp, displacement, .. } = workspace;
    pose_displacement(system, scheme, scheme.reduction, state, h, pose);
    let problem = &pose.problem;
    let n = system.bodies().iter().sum();
    let (solution, proof) = match solved(problem, None, scheme, state.t, work, lcp) {
        Ok(solution) => (solution, None),
        Err(StepError::Unsolved { error, problem: unsolved, t }) => match *error {
            LcpError::Ray { proof: Some(proof), .. } => {
                let loose = loosened(problem);
                (solved(&loose, None, scheme, state.t, work, lcp)?, Some(proof))
            }
            other => return Err(StepError::Unsolved { error: Box::new(other), problem: unsolved, t }),
        },
        Err(error) => return Err(error),
    };
    displacement.clear();
    displacement.extend_from_slice(&solution.velocity()[..n]);
    if let Some(pass) = evidence {
        pass.contacts.clear();
        pass.contacts.extend(pose.contacts.iter().map(|c| c.id));
        pass.impulses.clear();
        pass.impulses.extend_from_slice(solution.z());
        pass.infeasible = proof.as_ref().map(|proof| proof.y.clone());
    }
    lcp.recycle(solution);
    Ok(proof)
}

/// The same problem in which every row may give way against a heavy slider of its own: always feasible, and in
/// the limit of heavy sliders the least-squares displacement.
pub(crate) fn loosened(problem: &StepProblem) -> StepProblem {
    let mut loose = problem.clone();
    let start = problem.layout().velocity;
    let heaviest = problem.bodies.iter().fold(0.0, |m: f64, b| m.max(b.mass.amax()));
    let mut slack = problem.layout().velocities();
    let mut give = |row: &mut Row| {
        let mut entries = Vec::new();
        row.for_each(&start, |i, x| entries.push((i, x)));
        entries.push((slack, 1.0));
        slack += 1;
        *row = Row::Sparse(entries);
    };
    for joint in &mut loose.joints {
        give(&mut joint.row.row);
        // gaps are left to 1e-4 of what the bodies move, which the next pass takes; with more than 1e5 the
        // large impulses of rows that contradict each other cancel to less than the certificate asks for
        loose.bodies.push(Body::new(1, &[1e4 * heaviest], &[0.0]));
    }
    for normal in loose.contacts.iter_mut().filter_map(|c| c.normal.as_mut()) {
        give(&mut normal.row);
        loose.bodies.push(Body::new(1, &[1e4 * heaviest], &[0.0]));
    }
    loose
}
