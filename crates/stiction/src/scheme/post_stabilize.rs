//! Post-stabilization: after a step, the least displacement that mends the positions. CP03 (14)–(15)

use super::Scheme;
use super::euler::{Workspace, infeasibility, solved};
use crate::assemble::{self, Offsets};
use crate::error::StepError;
use crate::report::{PostReport, StepWork};
use crate::state::State;
use crate::system::{ContactRow, JointRow, RowKind, System};
use nalgebra::Vector6;
use stiction_lcp::{Body, Farkas, LcpError, Row, StepProblem};

/// A pass moves no body by more than this part of its size: rows are only good near where they were taken.
const LEAP: f64 = 0.2;

/// Mends `state.q`; velocities are untouched.
pub(crate) fn run<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &mut State,
    h: f64,
    reach: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<PostReport, StepError> {
    // below this positions are round-off
    let tolerance = 1e-12 * system.size();
    let before = infeasibility(system, state.t, &state.q, workspace);
    let mut report = PostReport { passes: 0, before, after: before, infeasible: None };
    while report.after > tolerance && report.passes < scheme.passes {
        let (dp, proof) = displacement(system, scheme, state, h, reach, work, workspace)?;
        let leap = system.surface_speed(state.t, &state.q, &dp);
        let shrink = (LEAP * system.size() / leap.max(f64::MIN_POSITIVE)).min(1.0);
        system.advance(&mut state.q, &dp, shrink);
        report.passes += 1;
        report.infeasible = proof;
        report.after = infeasibility(system, state.t, &state.q, workspace);
    }
    Ok(report)
}

/// dp with M dp = Jᵀλ, J_e dp = −g_e, 0 ≤ λ_c ⊥ g_c + J_c dp ≥ 0; the least-squares one with the proof if
/// there is none.
fn displacement<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    reach: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<(Vec<f64>, Option<Farkas>), StepError> {
    system.joints(state.t, &state.q, &mut workspace.joints);
    workspace.joints.retain(|j| !matches!(j.kind, RowKind::Drive { .. }));
    system.contacts(state.t, &state.q, reach, &[], &mut workspace.contacts);
    workspace.contacts.iter_mut().for_each(|c| c.mu = 0.0);
    let problem = &mut workspace.problem;
    problem.bodies.clear();
    problem.pairs.clear();
    problem.speed_scale = 0.0;
    for (i, &velocities) in system.bodies().iter().enumerate() {
        problem.bodies.push(Body { velocities, mass: system.mass(i), momentum: Vector6::zeros() });
    }
    let offsets = Offsets {
        joint: &|j: &JointRow| j.error,
        contact: &|c: &ContactRow| c.gap,
        limit: &|j: &JointRow| j.error,
    };
    assemble::rows(problem, &mut workspace.places, h, &workspace.joints, &workspace.contacts, &offsets);
    match solved(problem, scheme, state.t, work) {
        Ok(solution) => Ok((solution.velocity().to_vec(), None)),
        Err(StepError::Unsolved { error, .. }) if matches!(*error, LcpError::Ray { proof: Some(_), .. }) => {
            let LcpError::Ray { proof, .. } = *error else { return Ok((Vec::new(), None)) };
            let n = problem.layout().velocities();
            let loose = loosened(problem);
            let solution = solved(&loose, scheme, state.t, work)?;
            Ok((solution.velocity()[..n].to_vec(), proof))
        }
        Err(error) => Err(error),
    }
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
        // 1e6 times the heaviest body: gaps are left to 1e-6 of what the bodies move
        loose.bodies.push(Body::new(1, &[1e6 * heaviest], &[0.0]));
    }
    for normal in loose.contacts.iter_mut().filter_map(|c| c.normal.as_mut()) {
        give(&mut normal.row);
        loose.bodies.push(Body::new(1, &[1e6 * heaviest], &[0.0]));
    }
    loose
}
