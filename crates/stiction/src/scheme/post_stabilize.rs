//! Post-stabilization: after a step, the smallest displacement that corrects the positions, from the gaps and joint
//! errors there. CP03 (14)–(15). Projections of a world onto its joints use the same displacement.

use super::Scheme;
use super::euler::EulerWorkspace;
use super::step_problem::{StepInput, StepProblemBuilder};
use super::tolerances::{
    HOLD_COMPLIANCE, HOLD_PASS_LIMIT, MAX_DISPLACEMENT, PROJECTION_PASS_LIMIT, REDUCTION_LENGTH, SLACK_MASS,
    STABILIZATION_TOLERANCE,
};
use crate::assemble::{self, Offsets};
use crate::error::{ProjectError, StepError};
use crate::reduce::Reduction;
use crate::report::{Evidence, StabilizationPass, StabilizationReport, StepWork};
use crate::state::State;
use crate::system::{ContactQuery, ContactRow, JointRow, Moments, RowKind, System};
use nalgebra::Vector6;
use stiction_lcp::{Body, Farkas, LcpError, Row, StepProblem, Term};

/// Post-stabilization of one step.
pub(crate) struct Stabilizer<'a, S: ?Sized> {
    /// Model.
    pub(crate) system: &'a S,
    /// Scheme, with its pass limit.
    pub(crate) scheme: &'a Scheme,
    /// Size of the step [s].
    pub(crate) h: f64,
    /// Counters of the step.
    pub(crate) work: &'a mut StepWork,
    /// Storage of the step.
    pub(crate) workspace: &'a mut EulerWorkspace,
}

impl<S: System + ?Sized> Stabilizer<'_, S> {
    /// Corrects `state.q`, whose I(q) is `before` [m]; velocities do not change.
    pub(crate) fn run(
        &mut self,
        state: &mut State,
        before: f64,
        mut evidence: Option<&mut Evidence>,
    ) -> Result<StabilizationReport, StepError> {
        let tolerance = STABILIZATION_TOLERANCE * self.system.size();
        let mut report = StabilizationReport { passes: 0, before, after: before, infeasible: None };
        let mut held = self.workspace.builder.hold_error();
        while report.after.max(held) > tolerance && report.passes < self.scheme.passes {
            self.workspace.monitor.check(state.t)?;
            let pass = evidence.as_mut().map(|e| e.add_pass());
            report.infeasible = self.solve_displacement(state, pass)?;
            displace(self.system, state, &self.workspace.displacement);
            report.passes += 1;
            let builder = &mut self.workspace.builder;
            report.after = builder.infeasibility(self.system, state.t, &state.q);
            if report.passes == HOLD_PASS_LIMIT {
                builder.held.clear();
            }
            held = builder.hold_error();
        }
        Ok(report)
    }

    /// Solves for the displacement dp of one pass and leaves it in the workspace. If the rows contradict each other, dp
    /// is the least-squares displacement and the proof is returned.
    fn solve_displacement(
        &mut self,
        state: &State,
        evidence: Option<&mut StabilizationPass>,
    ) -> Result<Option<Farkas>, StepError> {
        let Self { system, scheme, h, .. } = *self;
        let EulerWorkspace { builder, lcp, displacement, .. } = &mut *self.workspace;
        let input = StepInput { system, scheme, state, h };
        build_displacement_problem(&input, scheme.reduction, builder);
        let mut proof = None;
        let solution = match lcp.solve(&builder.problem, &scheme.solver, None) {
            Err(LcpError::Ray { proof: Some(found), .. }) => {
                proof = Some(found);
                let loose = with_slack_bodies(&builder.problem);
                lcp.solve(&loose, &scheme.solver, None)
                    .map_err(|error| StepError::unsolved(state.t, error, &loose))?
            }
            solved => solved.map_err(|error| builder.unsolved(system, state.t, error))?,
        };
        self.work.add(solution.work());
        let n = system.bodies().iter().sum();
        displacement.clear();
        displacement.extend_from_slice(&solution.velocity()[..n]);
        if let Some(pass) = evidence {
            pass.held.clear();
            pass.held.extend(builder.held_rows.iter().map(|c| c.id));
            pass.contacts.clear();
            pass.contacts.extend(builder.contacts.iter().map(|c| c.id));
            pass.impulses.clear();
            pass.impulses.extend_from_slice(solution.z());
            pass.infeasible = proof.as_ref().map(|proof| proof.y.clone());
        }
        lcp.recycle(solution);
        Ok(proof)
    }
}

/// Projects `state` onto the joints: moves `q` until all joints hold, then changes `v` by as little as possible in the
/// norm of M so that they keep holding. Returns the largest displacement of a surface [m].
pub(crate) fn project<S: System + ?Sized>(system: &S, state: &mut State) -> Result<f64, ProjectError> {
    project_holding(system, state, |_, _| {})
}

/// Projects `state` onto the joints and onto the rows that `held` appends at a state. These hold positions only.
pub(crate) fn project_holding<S: System + ?Sized>(
    system: &S,
    state: &mut State,
    held: impl Fn(&State, &mut Vec<JointRow>),
) -> Result<f64, ProjectError> {
    let scheme = Scheme::first_order();
    let (mut work, mut workspace) = (StepWork::default(), EulerWorkspace::default());
    // no contact is within this distance
    workspace.builder.max_gap = f64::NEG_INFINITY;
    let (mut moved, mut passes) = (0.0, 0);
    loop {
        let StepProblemBuilder { joints, held_joints: rows, .. } = &mut workspace.builder;
        system.joints(state.t, &state.q, joints);
        rows.clear();
        held(state, rows);
        let error = joints.iter().chain(&*rows).filter_map(JointRow::violation).fold(0.0, f64::max);
        let length = system
            .size()
            .max(state.q[..system.position_count()].iter().fold(0.0, |m: f64, q| m.max(q.abs())));
        if error <= STABILIZATION_TOLERANCE * length {
            break;
        }
        if passes == PROJECTION_PASS_LIMIT {
            return Err(ProjectError::Apart(error));
        }
        // rows that contradict each other here may agree where the least-squares displacement leads
        let (h, work, workspace) = (1.0, &mut work, &mut workspace);
        let mut stabilizer = Stabilizer { system, scheme: &scheme, h, work, workspace };
        stabilizer.solve_displacement(state, None)?;
        moved += displace(system, state, &stabilizer.workspace.displacement);
        passes += 1;
    }

    // M v⁺ = M v + νᵀc, ν v⁺ + ∂Θ/∂t = 0; a limit that is reached must not be passed
    let EulerWorkspace { builder, lcp, .. } = &mut workspace;
    builder.joints.retain(|j| match j.kind {
        RowKind::Limit => j.error <= 0.0,
        _ => j.violation().is_some(),
    });
    set_bodies(system, &state.v, &mut builder.problem);
    let drift = |j: &JointRow| j.drift;
    let offsets = Offsets { joint: &drift, contact: &|c: &ContactRow| c.drift, limit: &drift };
    assemble::rows(&mut builder.problem, &mut builder.rows, 1.0, &builder.joints, &[], &offsets);
    let solution = lcp
        .solve(&builder.problem, &scheme.solver, None)
        .map_err(|error| builder.unsolved(system, state.t, error))?;
    state.v.copy_from_slice(solution.velocity());
    Ok(moved)
}

/// Moves the bodies by dp, shortened to [`MAX_DISPLACEMENT`]; returns the largest displacement of a surface [m].
pub(crate) fn displace<S: System + ?Sized>(system: &S, state: &mut State, dp: &[f64]) -> f64 {
    let length = system.surface_speed(state.t, &state.q, dp);
    let shrink = (MAX_DISPLACEMENT * system.size() / length.max(f64::MIN_POSITIVE)).min(1.0);
    system.advance(&mut state.q, dp, shrink);
    shrink * length
}

/// Sets the bodies of a problem, with momentum M v (0 where `v` is empty), without pairs and speed scale.
fn set_bodies<S: System + ?Sized>(system: &S, v: &[f64], problem: &mut StepProblem) {
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

/// Mobility r M⁻¹ rᵀ of a row over bodies with symmetric masses [1/kg].
fn mobility(problem: &StepProblem, row: &Row) -> f64 {
    let Row::Bodies(terms) = row else { return 0.0 };
    let own = |term: &Term| {
        let Body { mass, velocities, .. } = &problem.bodies[term.body];
        (0..*velocities).map(|i| term.j[i] * term.j[i] / mass[(i, i)]).sum::<f64>()
    };
    terms.iter().map(own).sum()
}

/// Builds the problem of a displacement, without the contacts that `reduction` drops:
/// M dp = Jᵀλ, J_e dp = −g_e, 0 ≤ λ_c ⊥ g_c + J_c dp ≥ 0. Contacts that hold their position are among the joints.
/// CP03 (14)–(15)
pub(crate) fn build_displacement_problem<S: System + ?Sized>(
    input: &StepInput<S>,
    reduction: Reduction,
    builder: &mut StepProblemBuilder,
) {
    let StepInput { system, scheme, state, .. } = *input;
    let StepProblemBuilder {
        problem,
        layout,
        joints,
        held_joints,
        contacts,
        reducer,
        rows,
        cache,
        max_gap,
        motion,
        held,
        held_rows,
        ..
    } = builder;
    system.joints(state.t, &state.q, joints);
    // drives hold no position, and compliant joints give way on purpose
    joints.retain(|j| j.violation().is_some());
    joints.extend_from_slice(held_joints);
    let query = ContactQuery { motion: motion.as_ref(), ..ContactQuery::within(*max_gap) };
    system.contacts(state.t, &state.q, &query, cache, contacts);
    for contact in &mut *contacts {
        (contact.mu, contact.moments) = (0.0, Moments::none());
    }
    set_bodies(system, &[], problem);
    held_rows.clear();
    contacts.retain(|contact| {
        let is_held = held.contains(&contact.id);
        if is_held {
            held_rows.push(contact.clone());
        }
        !is_held
    });
    let compliance = |row: &ContactRow| HOLD_COMPLIANCE * mobility(problem, &row.normal);
    joints.extend(held_rows.iter().map(|row| JointRow::holding(row, compliance(row))));
    let gap = |c: &ContactRow| c.gap;
    reducer.reduce(reduction, contacts, REDUCTION_LENGTH * system.size(), &gap);
    // redundant rows disagree by round-off of the positions, which no displacement can correct
    problem.speed_scale = STABILIZATION_TOLERANCE * system.size() / scheme.solver.tolerance;
    let offsets = Offsets { joint: &|j: &JointRow| j.error, contact: &gap, limit: &|j: &JointRow| j.error };
    assemble::rows(problem, rows, 1.0, joints, contacts, &offsets);
    problem.lay_out(layout);
}

/// Problem in which every row may be violated by moving a heavy slack body of its own. It is always feasible, and its
/// solution tends to the least-squares displacement as the slack mass grows.
pub(crate) fn with_slack_bodies(problem: &StepProblem) -> StepProblem {
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
    let normals = loose.contacts.iter_mut().filter_map(|c| c.normal.as_mut());
    for row in loose.joints.iter_mut().map(|joint| &mut joint.row).chain(normals) {
        give(&mut row.row);
        loose.bodies.push(Body::new(1, &[SLACK_MASS * heaviest], &[0.0]));
    }
    loose
}
