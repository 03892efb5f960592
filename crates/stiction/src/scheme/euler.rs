//! The Euler family: one step problem, v⁺ = v at the end of the step, q⁺ = q ⊕ h v⁺.

use super::{Active, Level, Scheme, post_stabilize};
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::report::{StepReport, StepWork};
use crate::state::State;
use crate::system::{ContactRow, Forces, JointRow, PairId, RowKind, System};
use stiction_lcp::{Solution, StepProblem, solve};

/// Rounds of the position-level iteration at most.
const ROUNDS: usize = 20;

/// Part of the largest speed that the certificate measures small speeds by: at a tolerance of 1e-10 answers are
/// asked for to 1e-13 of it. Smaller refuses true solutions at the round-off of fast bodies; larger lets slow
/// bodies creep beside fast ones.
const ROUND_OFF: f64 = 1e-3;

/// Storage of a step, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    forces: Forces,
    pub(crate) problem: StepProblem,
    pub(crate) joints: Vec<JointRow>,
    pub(crate) contacts: Vec<ContactRow>,
    pub(crate) places: Places,
    wanted: Vec<PairId>,
    after: Vec<ContactRow>,
    free: Vec<f64>,
}

/// Where rows are taken and what v̂ they are expanded about.
struct Expansion {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

/// One step of size `h` from `state`.
pub(crate) fn step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    workspace: &mut Workspace,
) -> Result<(State, StepReport), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::StepSize(h));
    }
    let mut work = StepWork { converged: true, ..StepWork::default() };
    system.forces(state.t, &state.q, &state.v, &mut workspace.forces);
    if let Some(i) = workspace.forces.k.iter().position(|k| !k.is_finite()) {
        return Err(StepError::NotFinite { t: state.t, what: format!("the force on velocity {i}") });
    }
    assemble::momentum(
        system,
        state,
        h,
        &workspace.forces,
        scheme.implicit_springs,
        scheme.implicit_gyroscopic,
        &mut workspace.problem,
    );
    workspace.problem.law = scheme.friction;
    free_velocity(workspace, state);
    let fastest = fastest(system, state, workspace);
    // without gravity bodies that move together close at nothing but the round-off of their speed
    workspace.problem.speed_scale = (system.gravity() * h).max(ROUND_OFF * fastest);
    let reach = reach(system, scheme, state, h, fastest);
    workspace.wanted.clear();

    let mut expansion = expansion(system, scheme, state, h);
    let mut solution = solve_with_all(system, scheme, state, h, &expansion, reach, &mut work, workspace)?;
    work.rounds = 1;
    if scheme.level == (Level::Position { nonlinear: true }) {
        work.converged = false;
        while work.rounds < ROUNDS {
            expansion = about(system, state, h, solution.velocity());
            let next = solve_with_all(system, scheme, state, h, &expansion, reach, &mut work, workspace)?;
            work.rounds += 1;
            let change = difference(next.velocity(), solution.velocity());
            solution = next;
            // velocities are known to the tolerance of the solve
            if change <= 1e-12 * (1.0 + largest(solution.velocity())) {
                work.converged = true;
                break;
            }
        }
    }

    let mut next = state.clone();
    next.t = state.t + h;
    next.v.copy_from_slice(solution.velocity());
    system.advance(&mut next.q, &next.v, h);
    next.memory.h = h;
    let contacts =
        assemble::contact_reports(&workspace.problem, &workspace.places, &workspace.contacts, &solution);
    let joints = assemble::joint_reports(&workspace.problem, &workspace.places, &workspace.joints, &solution);
    let certificate = solution.certificate().clone();
    let post = (scheme.passes > 0)
        .then(|| post_stabilize::run(system, scheme, &mut next, h, reach, &mut work, workspace))
        .transpose()?;
    let (linear_momentum, angular_momentum) = system.momentum(&next.q, &next.v);
    let report = StepReport {
        t: next.t,
        h,
        contacts,
        joints,
        certificate,
        kinetic: kinetic(system, &next.v),
        potential: system.potential(next.t, &next.q),
        linear_momentum,
        angular_momentum,
        infeasibility: infeasibility(system, next.t, &next.q, workspace),
        work,
        post,
    };
    Ok((next, report))
}

/// ½ vᵀ M v.
pub(crate) fn kinetic<S: System + ?Sized>(system: &S, v: &[f64]) -> f64 {
    let mut start = 0;
    let mut energy = 0.0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let (mass, v) = (system.mass(i), &v[start..start + n]);
        for r in 0..n {
            energy += 0.5 * v[r] * (0..n).map(|c| mass[(r, c)] * v[c]).sum::<f64>();
        }
        start += n;
    }
    energy
}

/// I(q): the largest penetration or joint error. AH04 (4.45)
pub(crate) fn infeasibility<S: System + ?Sized>(
    system: &S,
    t: f64,
    q: &[f64],
    workspace: &mut Workspace,
) -> f64 {
    system.joints(t, q, &mut workspace.joints);
    system.contacts(t, q, 0.0, &[], &mut workspace.after);
    let contacts = workspace.after.iter().map(|c| -c.gap);
    workspace.joints.iter().filter_map(JointRow::violation).chain(contacts).fold(0.0, f64::max)
}

/// v_f = M⁻¹ b, by the diagonal blocks: what `reach` is measured by.
fn free_velocity(workspace: &mut Workspace, state: &State) {
    workspace.free.clear();
    for body in &workspace.problem.bodies {
        let n = body.velocities;
        let block = nalgebra::DMatrix::from_fn(n, n, |i, j| body.mass[(i, j)]);
        let right = nalgebra::DVector::from_fn(n, |i, _| body.momentum[i]);
        if let Some(v) = block.lu().solve(&right) {
            workspace.free.extend(v.iter());
        } else {
            let at = workspace.free.len();
            workspace.free.extend(&state.v[at..at + n]);
        }
    }
}

/// The largest speed of a surface, before the step and at the free velocity.
fn fastest<S: System + ?Sized>(system: &S, state: &State, workspace: &Workspace) -> f64 {
    let before = system.surface_speed(state.t, &state.q, &state.v);
    before.max(system.surface_speed(state.t, &state.q, &workspace.free))
}

/// Whether contacts that are still apart are rows with Δ = Φ/h. A velocity-level scheme takes those that touch, but
/// post-stabilization leaves contacts open by the curvature of their gaps and velocities as they were: none would
/// touch at the start of a step, and a body would run into the same wall again and again, ever faster.
fn looks_ahead(scheme: &Scheme) -> bool {
    scheme.active == Active::Swept && (scheme.level != Level::Velocity || scheme.passes > 0)
}

/// How far apart two surfaces may be and still meet within the step.
fn reach<S: System + ?Sized>(system: &S, scheme: &Scheme, state: &State, h: f64, fastest: f64) -> f64 {
    match (scheme.active, scheme.level) {
        (Active::Band(band), _) => band,
        // inside a wider band bodies would hover
        (Active::Swept, Level::Velocity) if !looks_ahead(scheme) => 1e-9 * system.size(),
        (Active::Swept, _) => {
            let prescribed = system.prescribed_speed(state.t).max(system.prescribed_speed(state.t + h));
            // two surfaces may both come
            2.0 * h * fastest.max(prescribed) + 1e-9 * system.size()
        }
    }
}

/// The point the rows of this level are taken at.
fn expansion<S: System + ?Sized>(system: &S, scheme: &Scheme, state: &State, h: f64) -> Expansion {
    match scheme.level {
        Level::Position { .. } => about(system, state, h, &state.v),
        _ => Expansion { t: state.t, q: state.q.clone(), v: Vec::new() },
    }
}

/// q̂ = q ⊕ h v̂ at the end of the step.
fn about<S: System + ?Sized>(system: &S, state: &State, h: f64, v: &[f64]) -> Expansion {
    let mut q = state.q.clone();
    system.advance(&mut q, v, h);
    Expansion { t: state.t + h, q, v: v.to_vec() }
}

/// Solves the step, adds contacts that were missed, and solves again until none is.
#[allow(clippy::too_many_arguments)]
fn solve_with_all<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    expansion: &Expansion,
    reach: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    loop {
        system.joints(expansion.t, &expansion.q, &mut workspace.joints);
        if scheme.level == Level::Velocity && !looks_ahead(scheme) {
            // with Δ = 0 a limit that is not reached yet would stop the joint where it is
            workspace.joints.retain(|j| j.kind != RowKind::Limit || j.error <= reach);
        }
        system.contacts(expansion.t, &expansion.q, reach, &workspace.wanted, &mut workspace.contacts);
        align(workspace);
        let solution = solve_once(system, scheme, state, h, expansion, work, workspace)?;
        if !looks_ahead(scheme) {
            return Ok(solution);
        }
        let mut q = state.q.clone();
        system.advance(&mut q, solution.velocity(), h);
        system.contacts(state.t + h, &q, 0.0, &[], &mut workspace.after);
        let known = workspace.wanted.len();
        // penetration below round-off of the positions is none
        let depth = 1e-12 * system.size();
        for contact in workspace.after.iter().filter(|c| c.gap < -depth) {
            let listed = workspace.contacts.iter().any(|c| c.id == contact.id);
            if !listed && !workspace.wanted.contains(&contact.id.pair) {
                workspace.wanted.push(contact.id.pair);
            }
        }
        if workspace.wanted.len() == known {
            return Ok(solution);
        }
        work.additions += 1;
    }
}

/// Turns the tangents of contacts that ask for it along the slip of the free velocity, so that a facet's edge
/// lies where the circle would be touched.
fn align(workspace: &mut Workspace) {
    let layout = workspace.problem.layout().velocity;
    for contact in workspace.contacts.iter_mut().filter(|c| c.aligned && c.tangents.len() == 2) {
        let slip =
            |k: usize| contact.tangents[k].row.dot(&layout, &workspace.free) + contact.tangents[k].offset;
        let (x, y) = (slip(0), slip(1));
        let length = x.hypot(y);
        if length > 0.0 {
            contact.turn(x / length, y / length);
        }
    }
}

fn solve_once<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    expansion: &Expansion,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    let layout = workspace.problem.layout().velocity;
    // when h shrinks by more than 2, errors are corrected over the previous h: Φ/h would throw bodies out
    let slow = if state.memory.h > 2.0 * h { state.memory.h } else { h };
    let position = |error: f64, row: &stiction_lcp::Row| error / h - row.dot(&layout, &expansion.v);
    let limit_speed = scheme.restitution_speed.unwrap_or(2.0 * system.gravity() * h);
    let gap_offset = |gap: f64, row: &stiction_lcp::Row, drift: f64| match scheme.level {
        Level::Velocity if looks_ahead(scheme) => gap.max(0.0) / h + drift,
        Level::Velocity => drift,
        Level::Stabilized { gamma, everywhere } => {
            let gain = if gap < 0.0 || everywhere { gamma } else { 1.0 };
            gain * gap / (if gap < 0.0 { slow } else { h }) + drift
        }
        Level::Position { .. } => position(gap, row),
        Level::Baumgarte { alpha } => {
            if gap < 0.0 {
                alpha * gap + drift
            } else {
                gap / h + drift
            }
        }
    };
    let contact = |c: &ContactRow| {
        let closing = c.normal.dot(&layout, &state.v) + c.drift;
        let closes = || c.gap + h * (c.normal.dot(&layout, &workspace.free) + c.drift) <= 0.0;
        if c.restitution > 0.0 && closing < -limit_speed && closes() {
            return c.restitution * closing + c.drift;
        }
        gap_offset(c.gap, &c.normal, c.drift)
    };
    let joint = |j: &JointRow| match scheme.level {
        Level::Velocity => j.drift,
        Level::Stabilized { gamma, .. } => gamma * j.error / slow + j.drift,
        Level::Position { .. } => position(j.error, &j.row),
        Level::Baumgarte { alpha } => alpha * j.error + j.drift,
    };
    let limit = |j: &JointRow| gap_offset(j.error, &j.row, j.drift);
    assemble::rows(
        &mut workspace.problem,
        &mut workspace.places,
        h,
        &workspace.joints,
        &workspace.contacts,
        &Offsets { joint: &joint, contact: &contact, limit: &limit },
    );
    solved(&workspace.problem, scheme, state.t, work)
}

/// Solves a step problem and counts it.
pub(crate) fn solved(
    problem: &StepProblem,
    scheme: &Scheme,
    t: f64,
    work: &mut StepWork,
) -> Result<Solution, StepError> {
    let solution = solve(problem, &scheme.solver, None).map_err(|error| StepError::Unsolved {
        t,
        error: Box::new(error),
        problem: Box::new(problem.clone()),
    })?;
    work.problems += 1;
    work.pivots += solution.work().pivots;
    work.size = work.size.max(solution.work().dense_size);
    work.redundant_joints.clone_from(&solution.work().redundant_joints);
    Ok(solution)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |worst, a| worst.max(a.abs()))
}
