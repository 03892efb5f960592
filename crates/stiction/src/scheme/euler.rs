//! The Euler family: one step problem, v⁺ = v at the end of the step, q⁺ = q ⊕ h v⁺.

use super::{Active, Level, Scheme, post_stabilize};
use crate::assemble::{self, Offsets, Places};
use crate::error::StepError;
use crate::reduce::Reducer;
use crate::report::{StepReport, StepWork};
use crate::state::State;
use crate::system::{Bases, ContactRow, Forces, JointRow, Moments, Near, PairId, RowKind, Sweep, System};
use nalgebra::Matrix6;
use stiction_lcp::problem::Layout;
use stiction_lcp::{Fallback, FrictionLaw, Guess, Phase, Solution, StepProblem};

/// Rounds of the position-level iteration at most.
const ROUNDS: usize = 20;

/// Part of the largest speed that the certificate measures small speeds by: at a tolerance of 1e-10 answers are
/// asked for to 1e-13 of it. Smaller refuses true solutions at the round-off of fast bodies; larger lets slow
/// bodies creep beside fast ones.
const ROUND_OFF: f64 = 1e-3;

/// Round-off of positions, as a part of the largest of them. Smaller refuses redundant joints at small steps;
/// larger lets bodies creep by this much of the positions every step.
const POSITIONS: f64 = 1e-15;

/// Part of the size that contacts are reduced by: a proof holds to 1e-10 of it, so that one that is dropped is run
/// into by no more than 1e-12 of the size, where additions and post-stabilization begin. Smaller refuses proofs by
/// the round-off of gaps; larger has post-stabilization mend what is round-off to the proof.
pub(crate) const GAPS: f64 = 1e-2;

/// Storage of a step, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    forces: Forces,
    pub(crate) problem: StepProblem,
    /// Where the velocities, impulses and rows of `problem` stand.
    pub(crate) layout: Layout,
    pub(crate) joints: Vec<JointRow>,
    pub(crate) contacts: Vec<ContactRow>,
    pub(crate) reducer: Reducer,
    pub(crate) places: Places,
    pub(crate) lcp: stiction_lcp::Workspace,
    /// The impulses of the last step.
    guess: Guess,
    /// The displacement of a pass of post-stabilization.
    pub(crate) displacement: Vec<f64>,
    /// Those of the state, going on with the step.
    pub(crate) bases: Bases,
    /// Of the step, for schemes that look ahead.
    pub(crate) sweep: Option<Sweep>,
    wanted: Vec<PairId>,
    after: Vec<ContactRow>,
    /// v_f = M⁻¹ b.
    free: Vec<f64>,
    expansion: Expansion,
    /// The configuration a velocity leads to.
    end: Vec<f64>,
    next: State,
}

/// Where rows are taken and what v̂ they are expanded about.
#[derive(Debug, Clone, Default)]
struct Expansion {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
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
        &mut workspace.layout,
    );
    workspace.problem.law = scheme.friction;
    free_velocity(workspace, state);
    let fastest = fastest(system, state, workspace);
    // without gravity bodies that move together close at nothing but the round-off of their speed; redundant
    // joints disagree by the round-off of positions over the step
    let positions = POSITIONS * largest(&state.q).max(system.size()) / (h * scheme.solver.tolerance);
    workspace.problem.speed_scale = (system.gravity() * h).max(ROUND_OFF * fastest).max(positions);
    let reach = reach(system, scheme);
    sweep(scheme, state, h, workspace);
    workspace.wanted.clear();
    workspace.bases.clone_from(&state.memory.bases);

    expand(system, scheme, state, h, workspace);
    let mut solution = solve_with_all(system, scheme, state, h, reach, &mut work, workspace)?;
    work.rounds = 1;
    if scheme.level == (Level::Position { nonlinear: true }) {
        solution = iterate(system, scheme, state, h, reach, solution, &mut work, workspace)?;
    }

    workspace.lcp.profile().enter(Phase::Report);
    let mut next = std::mem::take(&mut workspace.next);
    next.q.clone_from(&state.q);
    next.v.clear();
    next.v.extend_from_slice(solution.velocity());
    next.t = state.t + h;
    system.advance(&mut next.q, &next.v, h);
    // what is left of the time over which errors are corrected; see `solve_once`
    next.memory.h = (slow(state, h) - h).max(h);
    let made = finish(system, scheme, h, reach, &mut next, &solution, work, workspace, report);
    workspace.lcp.recycle(solution);
    if made.is_ok() {
        workspace.bases.forget_stale();
        std::mem::swap(&mut next.memory.bases, &mut workspace.bases);
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
    reach: f64,
    next: &mut State,
    solution: &Solution,
    mut work: StepWork,
    workspace: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let Workspace { problem, layout, places, contacts, joints, reducer, .. } = &mut *workspace;
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
    reported.post = None;
    reported.events.clear();
    reported.impacts.clear();
    reported.second_order = None;
    if !looks_ahead(scheme) {
        let Workspace { bases, after, .. } = &mut *workspace;
        system.contacts(next.t, &next.q, &Near::within(0.0), bases, after);
    }
    // schemes that look ahead have looked for contacts there
    let before = violation(system, next.t, &next.q, workspace);
    reported.infeasibility = before;
    if scheme.passes > 0 {
        workspace.lcp.profile().hold(Phase::PostStabilization);
        let post = post_stabilize::run(system, scheme, next, h, reach, before, &mut work, workspace);
        workspace.lcp.profile().release();
        let post = post?;
        reported.infeasibility = post.after;
        reported.post = Some(post);
    }
    (reported.t, reported.h) = (next.t, h);
    reported.kinetic = kinetic(system, (next.t, &next.q), &next.v);
    reported.potential = system.potential(next.t, &next.q);
    (reported.linear_momentum, reported.angular_momentum) = system.momentum(&next.q, &next.v);
    reported.work = work;
    *report = reported;
    Ok(())
}

/// Rounds of v̂ ← v⁺ until the positions themselves hold.
#[allow(clippy::too_many_arguments)]
fn iterate<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    reach: f64,
    mut solution: Solution,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    work.converged = false;
    while work.rounds < ROUNDS {
        workspace.expansion.about(system, state, h, solution.velocity());
        let next = solve_with_all(system, scheme, state, h, reach, work, workspace)?;
        work.rounds += 1;
        let change = difference(next.velocity(), solution.velocity());
        workspace.lcp.recycle(std::mem::replace(&mut solution, next));
        // velocities are known to the tolerance of the solve
        if change <= 1e-12 * (1.0 + largest(solution.velocity())) {
            work.converged = true;
            break;
        }
    }
    Ok(solution)
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

/// I(q): the largest penetration or joint error. AH04 (4.45)
pub(crate) fn infeasibility<S: System + ?Sized>(
    system: &S,
    t: f64,
    q: &[f64],
    workspace: &mut Workspace,
) -> f64 {
    system.contacts(t, q, &Near::within(0.0), &mut workspace.bases, &mut workspace.after);
    violation(system, t, q, workspace)
}

/// The same where contacts have been looked for.
fn violation<S: System + ?Sized>(system: &S, t: f64, q: &[f64], workspace: &mut Workspace) -> f64 {
    system.joints(t, q, &mut workspace.joints);
    let contacts = workspace.after.iter().map(|c| -c.gap);
    workspace.joints.iter().filter_map(JointRow::violation).chain(contacts).fold(0.0, f64::max)
}

/// v_f = M⁻¹ b, by the diagonal blocks: what `reach` is measured by.
fn free_velocity(workspace: &mut Workspace, state: &State) {
    workspace.free.clear();
    for body in &workspace.problem.bodies {
        let n = body.velocities;
        // velocities the body does not have stand still
        let block =
            Matrix6::from_fn(
                |i, j| if i < n && j < n { body.mass[(i, j)] } else { f64::from(u8::from(i == j)) },
            );
        let at = workspace.free.len();
        match block.lu().solve(&body.momentum) {
            Some(v) => workspace.free.extend(v.iter().take(n)),
            None => workspace.free.extend(&state.v[at..at + n]),
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

/// How far apart two surfaces may be and still touch; those that look ahead add how far the surfaces go.
fn reach<S: System + ?Sized>(system: &S, scheme: &Scheme) -> f64 {
    match scheme.active {
        Active::Band(band) => band,
        // inside a wider band bodies would hover
        Active::Swept => 1e-9 * system.size(),
    }
}

/// How far surfaces go within the step, if the scheme looks ahead.
fn sweep(scheme: &Scheme, state: &State, h: f64, workspace: &mut Workspace) {
    if !looks_ahead(scheme) {
        workspace.sweep = None;
        return;
    }
    let Sweep { t, h: size, v: [before, free] } = workspace.sweep.get_or_insert_default();
    (*t, *size) = (state.t, h);
    before.clone_from(&state.v);
    free.clone_from(&workspace.free);
}

/// The point the rows of this level are taken at.
fn expand<S: System + ?Sized>(system: &S, scheme: &Scheme, state: &State, h: f64, workspace: &mut Workspace) {
    let expansion = &mut workspace.expansion;
    if let Level::Position { .. } = scheme.level {
        expansion.about(system, state, h, &state.v);
    } else {
        expansion.t = state.t;
        expansion.q.clone_from(&state.q);
        expansion.v.clear();
    }
}

impl Expansion {
    /// q̂ = q ⊕ h v̂ at the end of the step.
    fn about<S: System + ?Sized>(&mut self, system: &S, state: &State, h: f64, v: &[f64]) {
        self.t = state.t + h;
        self.q.clone_from(&state.q);
        self.v.clear();
        self.v.extend_from_slice(v);
        system.advance(&mut self.q, v, h);
    }
}

/// Solves the step, adds contacts that were missed, and solves again until none is.
fn solve_with_all<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    reach: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    loop {
        workspace.lcp.profile().enter(Phase::Joints);
        let Expansion { t, q, .. } = &workspace.expansion;
        system.joints(*t, q, &mut workspace.joints);
        workspace.lcp.profile().enter(Phase::Detection);
        let near = Near { reach, sweep: workspace.sweep.as_ref(), wanted: &workspace.wanted };
        system.contacts(*t, q, &near, &mut workspace.bases, &mut workspace.contacts);
        if scheme.level == Level::Velocity && !looks_ahead(scheme) {
            // with Δ = 0 a limit that is not reached yet would stop the joint where it is
            workspace.joints.retain(|j| j.kind != RowKind::Limit || j.error <= reach);
        }
        carry_back(system, h, workspace);
        let solution = solve_once(system, scheme, state, h, work, workspace)?;
        if !looks_ahead(scheme) {
            return Ok(solution);
        }
        workspace.lcp.profile().enter(Phase::Detection);
        workspace.end.clone_from(&state.q);
        system.advance(&mut workspace.end, solution.velocity(), h);
        let Workspace { end, bases, after, .. } = &mut *workspace;
        system.contacts(state.t + h, end, &Near::within(0.0), bases, after);
        let known = workspace.wanted.len();
        // penetration below round-off of the positions is none
        let depth = 1e-12 * system.size();
        for contact in workspace.after.iter().filter(|c| c.gap < -depth) {
            let id = contact.id;
            let listed = workspace.contacts.iter().any(|c| c.id == id) || workspace.reducer.has(id);
            if !listed && !workspace.wanted.contains(&contact.id.pair) {
                workspace.wanted.push(contact.id.pair);
            }
        }
        if workspace.wanted.len() == known {
            return Ok(solution);
        }
        work.additions += 1;
        workspace.lcp.recycle(solution);
    }
}

/// Turns rows taken at q̂ into the axes of the velocities, so that impulses act where they point.
fn carry_back<S: System + ?Sized>(system: &S, h: f64, workspace: &mut Workspace) {
    let Workspace { expansion, joints, contacts, .. } = workspace;
    if expansion.v.is_empty() {
        return;
    }
    joints.iter_mut().for_each(|j| system.carry_back(&expansion.v, h, &mut j.row));
    for contact in contacts {
        system.carry_back(&expansion.v, h, &mut contact.normal);
        let Moments { spin, rolls, .. } = &mut contact.moments;
        for row in contact.tangents.iter_mut().chain(spin).chain(rolls) {
            system.carry_back(&expansion.v, h, &mut row.row);
        }
    }
}

/// Turns the tangents of contacts that ask for it along the slip of the free velocity, so that a facet's edge
/// lies where the circle would be touched.
fn align(contacts: &mut [ContactRow], start: &[usize], free: &[f64]) {
    for contact in contacts.iter_mut().filter(|c| c.aligned && c.tangents.len() == 2) {
        let slip = |k: usize| contact.tangents[k].row.dot(start, free) + contact.tangents[k].offset;
        let (x, y) = (slip(0), slip(1));
        let length = x.hypot(y);
        if length > 0.0 {
            contact.turn(x / length, y / length);
        }
    }
}

/// The time over which errors of positions are corrected: h, but when h shrinks by more than 2 what is left of the
/// previous one. Φ/h would throw bodies out, now or in the next step; spread over the previous h they leave at no
/// more than twice the speed they would have had without the change.
fn slow(state: &State, h: f64) -> f64 {
    if state.memory.h > 2.0 * h { state.memory.h } else { h }
}

fn solve_once<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &State,
    h: f64,
    work: &mut StepWork,
    workspace: &mut Workspace,
) -> Result<Solution, StepError> {
    let Workspace { problem, layout, joints, contacts, reducer, places, lcp, free, expansion, guess, .. } =
        workspace;
    let start = &layout.velocity;
    let slow = slow(state, h);
    // the error at the start of the step, linearized, over h, and prescribed motion
    let position = |error: f64, row: &stiction_lcp::Row, drift: f64, unilateral: bool| {
        let offset = error / h - row.dot(start, &expansion.v);
        let corrected = slow > h && (offset < drift || !unilateral);
        if corrected { (offset - drift) * (h / slow) + drift } else { offset }
    };
    let limit_speed = scheme.restitution_speed.unwrap_or(2.0 * system.gravity() * h);
    let gap_offset = |gap: f64, row: &stiction_lcp::Row, drift: f64| match scheme.level {
        Level::Velocity if looks_ahead(scheme) => gap.max(0.0) / h + drift,
        // steps of second order are made elsewhere
        Level::Velocity | Level::Trapezoidal(_) => drift,
        Level::Stabilized { gamma, everywhere } => {
            let gain = if gap < 0.0 || everywhere { gamma } else { 1.0 };
            gain * gap / (if gap < 0.0 { slow } else { h }) + drift
        }
        Level::Position { .. } => position(gap, row, drift, true),
        Level::Baumgarte { alpha } => {
            if gap < 0.0 {
                alpha * gap + drift
            } else {
                gap / h + drift
            }
        }
    };
    let contact = |c: &ContactRow| {
        let closing = c.normal.dot(start, &state.v) + c.drift;
        // the gap at the end of the free step; a gap taken at q̂ has gone along with v̂ and the prescribed motion
        let closes = || match scheme.level {
            Level::Position { .. } => {
                c.gap + h * (c.normal.dot(start, free) - c.normal.dot(start, &expansion.v)) <= 0.0
            }
            _ => c.gap + h * (c.normal.dot(start, free) + c.drift) <= 0.0,
        };
        if c.restitution > 0.0 && closing < -limit_speed && closes() {
            return c.restitution * closing + c.drift;
        }
        gap_offset(c.gap, &c.normal, c.drift)
    };
    let joint = |j: &JointRow| match scheme.level {
        Level::Velocity | Level::Trapezoidal(_) => j.drift,
        Level::Stabilized { gamma, .. } => gamma * j.error / slow + j.drift,
        Level::Position { .. } => position(j.error, &j.row, j.drift, false),
        Level::Baumgarte { alpha } => alpha * j.error + j.drift,
    };
    let limit = |j: &JointRow| gap_offset(j.error, &j.row, j.drift);
    let offsets = Offsets { joint: &joint, contact: &contact, limit: &limit };
    // a polygon that is turned along the slip stands for the circle, so contacts are compared before they are
    // turned; but to the convex relaxation every facet is a constraint of its own
    lcp.profile().enter(Phase::Reduction);
    if scheme.friction == FrictionLaw::Convex {
        align(contacts, start, free);
    }
    reducer.reduce(scheme.reduction, contacts, GAPS * system.size() / h, &contact);
    if scheme.friction == FrictionLaw::Coulomb {
        align(contacts, start, free);
    }
    lcp.profile().enter(Phase::Assembly);
    assemble::rows(problem, places, h, joints, contacts, &offsets);
    problem.lay_out(layout);
    assemble::remembered(problem, layout, places, contacts, &state.memory, &mut guess.z);
    solved(problem, Some(guess), scheme, state.t, work, lcp)
}

/// Solves a step problem and counts it.
pub(crate) fn solved(
    problem: &StepProblem,
    guess: Option<&Guess>,
    scheme: &Scheme,
    t: f64,
    work: &mut StepWork,
    lcp: &mut stiction_lcp::Workspace,
) -> Result<Solution, StepError> {
    let solution = lcp.solve(problem, &scheme.solver, guess).map_err(|error| StepError::Unsolved {
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

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |worst, a| worst.max(a.abs()))
}
