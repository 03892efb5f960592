//! Step of the Euler family: one step problem gives v⁺, and q⁺ = q ⊕ h v⁺; post-stabilization may follow.
//! For `Simulation`, and for the coarse remainder of a second-order step.

use super::post_stabilize::Stabilizer;
use super::reported_impulses::ReportedImpulses;
use super::step_problem::ledger::StepEnergies;
use super::step_problem::{
    StepInput, StepProblemBuilder, distance, largest, looks_ahead, remaining_correction_time,
};
use super::tolerances::{
    ACTUATOR_CHANGE_LIMIT, ACTUATOR_CHANGES_TOGETHER, POSITION_ITERATION_LIMIT, POSITION_ITERATION_TOLERANCE,
    STICK_SPEED,
};
use super::{Level, Scheme};
use crate::assemble::{self, RowSolution};
use crate::error::StepError;
use crate::monitor::RunMonitor;
use crate::report::{StepReport, StepWork};
use crate::state::State;
use crate::system::System;
use stiction_lcp::impulse_set::held_modes;
use stiction_lcp::solve::closed_speed;
use stiction_lcp::{Phase, Solution, WarmStart};

/// Storage of a step, reused from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct EulerWorkspace {
    pub(crate) builder: StepProblemBuilder,
    pub(crate) lcp: stiction_lcp::Workspace,
    /// Impulses of the last step.
    pub(super) warm_start: WarmStart,
    /// Impulses that are reported.
    pub(super) reported: ReportedImpulses,
    /// Displacement of a pass of post-stabilization.
    pub(crate) displacement: Vec<f64>,
    next: State,
    /// Monitor of the run.
    pub(crate) monitor: RunMonitor,
}

/// One step of size `h`. On an error the state is unchanged and the report has no meaning.
pub(crate) fn step<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    state: &mut State,
    h: f64,
    workspace: &mut EulerWorkspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    check(system, state, h)?;

    // forces, M̃ and b
    workspace.lcp.profile().enter(Phase::Forces);
    let input = StepInput { system, scheme, state, h };
    workspace.builder.begin(&input)?;

    // rows, assembly and solution
    let mut work = StepWork { converged: true, ..StepWork::default() };
    let mut solution = solve_step(&input, &mut work, workspace)?;
    work.rounds = 1;
    if scheme.level == (Level::Position { nonlinear: true }) {
        solution = iterate(&input, solution, &mut work, workspace)?;
    }

    // impulses to report
    workspace.choose_impulses(&input, &solution);

    // energies of the ledger
    let mut energies = StepEnergies::default();
    energies.kinetic[0] = kinetic(system, state.t, &state.q, &state.v);
    energies.potential[0] = system.potential(state.t, &state.q);

    // state at the end
    workspace.lcp.profile().enter(Phase::Report);
    let mut next = std::mem::take(&mut workspace.next);
    next.q.clone_from(&state.q);
    next.v.clear();
    next.v.extend_from_slice(solution.velocity());
    next.t = state.t + h;
    next.memory.h = remaining_correction_time(state, h);
    report.events.clear();
    // of schemes of second order
    next.memory.active.clone_from(&state.memory.active);
    if scheme.level == Level::Timed {
        workspace.end_timed(&input, &mut next, report);
    } else {
        system.advance(&mut next.q, &next.v, h);
        next.memory.after_impact = state.memory.after_impact;
        next.memory.quiet.clear();
    }

    // post-stabilization and report
    report.h = h;
    report.work = work;
    energies.potential[1] = system.potential(next.t, &next.q);
    let EulerWorkspace { builder, reported, .. } = &*workspace;
    let mut ledger = builder.ledger(&input, &reported.z, solution.velocity());
    let finished = finish(system, scheme, &mut next, &solution, workspace, report);
    energies.kinetic[1] = report.kinetic;
    energies.potential[2] = report.potential;
    ledger.close(&energies);
    report.ledger = Some(ledger);
    workspace.lcp.recycle(solution);
    if finished.is_ok() {
        workspace.builder.cache.forget_stale();
        std::mem::swap(&mut next.memory.cache, &mut workspace.builder.cache);
        std::mem::swap(state, &mut next);
    }
    workspace.next = next;
    finished
}

impl EulerWorkspace {
    /// End of a timed step: positions, memory and events. Gaps at the end are sought again where they are elsewhere than
    /// the search for missed contacts had them.
    fn end_timed<S: System + ?Sized>(
        &mut self,
        input: &StepInput<S>,
        next: &mut State,
        report: &mut StepReport,
    ) {
        let StepInput { system, state, h, .. } = *input;
        let Self { builder, reported, .. } = self;
        let shifted = builder.end_timed_step(input, &reported.z, &mut next.q, &mut next.v);
        builder.remember_impacts(
            [state.t, h],
            &reported.z,
            &state.memory,
            (&mut next.memory, &mut report.events),
        );
        if shifted {
            builder.search_closed(system, next.t, &next.q);
        }
    }
}

/// Checks the step size, the number of coordinates and velocities, and that all numbers are finite. A body with a
/// position that is not finite would touch nothing and fall for ever, without an error.
pub(crate) fn check<S: System + ?Sized>(system: &S, state: &State, h: f64) -> Result<(), StepError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(StepError::StepSize(h));
    }
    check_size(system, state)?;
    let not_finite = |what: String| Err(StepError::NotFinite { t: state.t, what });
    if !state.t.is_finite() {
        return not_finite("the time".to_string());
    }
    if state.t + h == state.t {
        return Err(StepError::Clock { t: state.t, h });
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

/// Checks the number of coordinates and velocities.
pub(crate) fn check_size<S: System + ?Sized>(system: &S, state: &State) -> Result<(), StepError> {
    let got = [state.q.len(), state.v.len()];
    let expected = [system.coordinate_count(), system.bodies().iter().sum()];
    if got == expected { Ok(()) } else { Err(StepError::Size { got, expected }) }
}

/// Builds and solves the step problem, again while contacts were missed.
fn solve_step<S: System + ?Sized>(
    input: &StepInput<S>,
    work: &mut StepWork,
    workspace: &mut EulerWorkspace,
) -> Result<Solution, StepError> {
    let StepInput { system, scheme, state, .. } = *input;
    let mut changes = 0;
    loop {
        let EulerWorkspace { builder, lcp, warm_start, reported, monitor, .. } = &mut *workspace;
        monitor.check(state.t)?;
        builder.read_rows(input, lcp.profile());
        builder.assemble(input, scheme.reduction, lcp.profile());
        builder.warm_start(&state.memory, &mut warm_start.z);
        let solution = if builder.reducer.implied.is_empty() {
            let unique = reported.request(builder, &state.memory, &warm_start.z);
            lcp.solve_unique(&builder.problem, &scheme.solver, Some(warm_start), &unique)
        } else {
            // redundant contacts share impulses with the others later
            lcp.solve(&builder.problem, &scheme.solver, Some(warm_start))
        };
        let solution = solution.map_err(|error| builder.unsolved(system, state.t, error))?;
        work.add(solution.work());
        if builder.set_actuator_sides(input, solution.velocity(), changes >= ACTUATOR_CHANGES_TOGETHER) {
            changes += 1;
            if changes > ACTUATOR_CHANGE_LIMIT {
                return Err(StepError::Actuators { t: state.t, solves: changes });
            }
            lcp.recycle(solution);
            continue;
        }
        lcp.profile().enter(Phase::Detection);
        if !(looks_ahead(scheme) && builder.add_missed_pairs(input, solution.velocity())) {
            return Ok(solution);
        }
        work.additions += 1;
        workspace.lcp.recycle(solution);
    }
}

/// Position-level iteration v̂ ← v⁺, until the positions at the end of the step are complementary. ST00 (13)–(20)
fn iterate<S: System + ?Sized>(
    input: &StepInput<S>,
    mut solution: Solution,
    work: &mut StepWork,
    workspace: &mut EulerWorkspace,
) -> Result<Solution, StepError> {
    work.converged = false;
    while work.rounds < POSITION_ITERATION_LIMIT {
        workspace.builder.expansion.set_end(input, solution.velocity());
        let next = solve_step(input, work, workspace)?;
        work.rounds += 1;
        let change = distance(next.velocity(), solution.velocity());
        workspace.lcp.recycle(std::mem::replace(&mut solution, next));
        if change <= POSITION_ITERATION_TOLERANCE * (1.0 + largest(solution.velocity())) {
            work.converged = true;
            break;
        }
    }
    Ok(solution)
}

/// Reports a solved step, and corrects the positions of `next` if the scheme asks for it.
fn finish<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    next: &mut State,
    solution: &Solution,
    workspace: &mut EulerWorkspace,
    report: &mut StepReport,
) -> Result<(), StepError> {
    // impulses, modes and certificate
    let EulerWorkspace { builder, reported, .. } = workspace;
    let stick_speed = solution.tolerance().max(STICK_SPEED) * solution.certificate().speed;
    let determined = Some(workspace.lcp.determined());
    let answer = RowSolution { z: &reported.z, v: solution.velocity(), stick_speed, determined };
    let assembled = builder.assembled();
    assembled.contact_reports(&builder.contacts, &answer, &mut report.contacts);
    if scheme.level == Level::Timed {
        let mut held = std::mem::take(&mut builder.held);
        builder.held_contacts(&report.contacts, &mut held);
        builder.held = held;
    }
    let assembled = builder.assembled();
    assembled.joint_reports(&builder.joints, &answer, &mut report.joints);
    assemble::remember(&report.contacts, &report.joints, &mut next.memory);
    next.memory.solver.copy_from(&reported.solver);
    report.dropped.clone_from(&builder.reducer.dropped);
    (report.work.proven, report.work.limited) = builder.reducer.counts();
    report.certificate.copy_from(&reported.certificate);
    if let Some(intervals) = &mut report.intervals {
        let (z, v, closed) = (&reported.z, solution.velocity(), closed_speed(solution));
        let modes = held_modes(&builder.problem, z, v, closed);
        *intervals = builder.assembled().contact_intervals(&builder.contacts, z, &modes);
    }
    report.stabilization = None;
    report.impacts.clear();
    report.second_order = None;
    if let Some(evidence) = &mut report.evidence {
        evidence.clear();
        evidence.solver.copy_from(&reported.solver);
        if scheme.level == (Level::Position { nonlinear: true }) {
            evidence.about.extend_from_slice(&builder.expansion.v);
        }
    }

    // infeasibility and post-stabilization; schemes that look ahead have searched at the end of the step
    if !looks_ahead(scheme) {
        builder.search_closed(system, next.t, &next.q);
    }
    report.infeasibility = builder.violation(system, next.t, &next.q);
    if scheme.passes > 0 {
        workspace.lcp.profile().hold(Phase::PostStabilization);
        let mut stabilizer = Stabilizer { system, scheme, h: report.h, work: &mut report.work, workspace };
        let stabilized = stabilizer.run(next, report.infeasibility, report.evidence.as_mut());
        workspace.lcp.profile().release();
        let stabilized = stabilized?;
        report.infeasibility = stabilized.after;
        report.stabilization = Some(stabilized);
    }
    observe(system, next, report);
    Ok(())
}

/// Time, energies and momenta of a state.
pub(crate) fn observe<S: System + ?Sized>(system: &S, state: &State, report: &mut StepReport) {
    let State { t, q, v, .. } = state;
    report.t = *t;
    report.kinetic = kinetic(system, *t, q, v);
    report.potential = system.potential(*t, q);
    (report.linear_momentum, report.angular_momentum) = system.momentum(q, v);
}

/// Kinetic energy ½ vᵀ M v [J].
pub(crate) fn kinetic<S: System + ?Sized>(system: &S, t: f64, q: &[f64], v: &[f64]) -> f64 {
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
