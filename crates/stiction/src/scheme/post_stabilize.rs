//! Post-stabilization: after a step, the least displacement that mends the positions. CP03 (14)–(15)

use super::Scheme;
use super::euler::{GAPS, Workspace, infeasibility, solved};
use crate::assemble::{self, Offsets};
use crate::error::{ProjectError, StepError};
use crate::report::{PostReport, StepWork};
use crate::state::State;
use crate::system::{ContactRow, JointRow, Near, RowKind, System};
use nalgebra::Vector6;
use stiction_lcp::{Body, Farkas, LcpError, Row, StepProblem};

/// A pass moves no body by more than this part of its size: rows are only good near where they were taken.
const LEAP: f64 = 0.2;

/// Errors of positions below this part of the size are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Mends `state.q`, whose I(q) is `before`; velocities are untouched.
#[allow(clippy::too_many_arguments)]
pub(crate) fn run<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &mut State,
    h: f64,
    reach: f64,
    before: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<PostReport, StepError> {
    // below this positions are round-off
    let tolerance = ROUND_OFF * system.size();
    let mut report = PostReport { passes: 0, before, after: before, infeasible: None };
    while report.after > tolerance && report.passes < scheme.passes {
        report.infeasible = displacement(system, scheme, state, h, reach, work, workspace)?;
        leap(system, state, &workspace.displacement);
        report.passes += 1;
        report.after = infeasibility(system, state.t, &state.q, workspace);
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
    let reach = f64::NEG_INFINITY;
    let (mut moved, mut passes) = (0.0, 0);
    loop {
        system.joints(state.t, &state.q, &mut workspace.joints);
        let error = workspace.joints.iter().filter_map(JointRow::violation).fold(0.0, f64::max);
        // below this positions are round-off
        let tolerance = ROUND_OFF * system.size().max(state.q.iter().fold(0.0, |m: f64, q| m.max(q.abs())));
        if error <= tolerance {
            break;
        }
        if passes == PROJECTION_PASSES {
            return Err(ProjectError::Apart(error));
        }
        // rows that cannot all be met here may be met where the least-squares displacement leads
        displacement(system, &scheme, state, 1.0, reach, &mut work, &mut workspace)?;
        moved += leap(system, state, &workspace.displacement);
        passes += 1;
    }

    // M v⁺ = M v + νᵀc, ν v⁺ + ∂Θ/∂t = 0; a limit that is reached must not be passed
    workspace.joints.retain(|j| match j.kind {
        RowKind::Limit => j.error <= 0.0,
        _ => j.violation().is_some(),
    });
    let problem = &mut workspace.problem;
    bodies(system, &state.v, problem);
    let drift = |j: &JointRow| j.drift;
    let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
    assemble::rows(problem, &mut workspace.places, 1.0, &workspace.joints, &[], &offsets);
    let solution = solved(problem, None, &scheme, state.t, &mut work, &mut workspace.lcp)?;
    state.v.copy_from_slice(solution.velocity());
    Ok(moved)
}

/// Moves the bodies by dp, or by as much of it as rows are good for; returns how far surfaces went [m].
fn leap<S: System + ?Sized>(system: &S, state: &mut State, dp: &[f64]) -> f64 {
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

/// dp with M dp = Jᵀλ, J_e dp = −g_e, 0 ≤ λ_c ⊥ g_c + J_c dp ≥ 0, left in the workspace; if there is none, the
/// least-squares one, and the proof is returned.
fn displacement<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    reach: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Option<Farkas>, StepError> {
    system.joints(state.t, &state.q, &mut workspace.joints);
    // drives hold no position, and compliant joints give way on purpose
    workspace.joints.retain(|j| j.violation().is_some());
    let near = Near { sweep: workspace.sweep.as_ref(), ..Near::within(reach) };
    system.contacts(state.t, &state.q, &near, &mut workspace.bases, &mut workspace.contacts);
    workspace.contacts.iter_mut().for_each(|c| c.mu = 0.0);
    let gap = |c: &ContactRow| c.gap;
    workspace.reducer.reduce(scheme.reduction, &mut workspace.contacts, GAPS * system.size(), &gap);
    let problem = &mut workspace.problem;
    bodies(system, &[], problem);
    // redundant rows disagree by round-off of the positions, which no displacement can mend
    problem.speed_scale = ROUND_OFF * system.size() / scheme.solver.tolerance;
    let offsets = Offsets { joint: &|j: &JointRow| j.error, contact: &gap, limit: &|j: &JointRow| j.error };
    assemble::rows(problem, &mut workspace.places, h, &workspace.joints, &workspace.contacts, &offsets);
    let n = system.bodies().iter().sum();
    let (solution, proof) = match solved(problem, None, scheme, state.t, work, &mut workspace.lcp) {
        Ok(solution) => (solution, None),
        Err(StepError::Unsolved { error, problem: unsolved, t }) => match *error {
            LcpError::Ray { proof: Some(proof), .. } => {
                let loose = loosened(problem);
                (solved(&loose, None, scheme, state.t, work, &mut workspace.lcp)?, Some(proof))
            }
            other => return Err(StepError::Unsolved { error: Box::new(other), problem: unsolved, t }),
        },
        Err(error) => return Err(error),
    };
    workspace.displacement.clear();
    workspace.displacement.extend_from_slice(&solution.velocity()[..n]);
    workspace.lcp.recycle(solution);
    Ok(proof)
}

/// The same problem in which every row may give way against a heavy slider of its own: always feasible, and in
/// the limit of heavy sliders the least-squares displacement.
fn loosened(problem: &StepProblem) -> StepProblem {
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
