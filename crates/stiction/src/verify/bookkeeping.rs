//! Verification of what a record says besides its motion: memories, counters and summaries that follow from the rest.
//!
//! The records are taken apart without `..`: a new field has to be compared here, or named as not checked in
//! [`NOT_CHECKED`](super::NOT_CHECKED).

use super::tolerances::FIGURE_TOLERANCE;
use super::{Check, RecordedStep, Verdict};
use crate::report::{Evidence, SecondOrderReport, StabilizationReport, StepReport, StepWork};
use crate::scheme::{Level, Scheme};
use crate::state::{ContactMemory, Memory, SolverMemory};

/// Adds a finding of a summary where a condition does not hold.
pub(super) fn expect(verdict: &mut Verdict, holds: bool, what: &str) {
    if !holds {
        verdict.fail(Check::Summary, what);
    }
}

/// Verifies that the state after a step of fixed size remembers the impulses of its report.
pub(super) fn step_memory(record: RecordedStep, verdict: &mut Verdict) {
    let RecordedStep { after, report, .. } = record;
    // the cache says where searches start; step sizes and active sets depend on the scheme
    let Memory { h: _, cache: _, contacts, joints, active: _, after_impact: _, solver, quiet: _ } =
        &after.memory;
    let mut of_report: Vec<ContactMemory> = report.contacts.iter().map(ContactMemory::from).collect();
    of_report.sort_by_key(|c| c.id);
    // the first-order rest of a step of second order is not remembered
    let coarse = report.second_order.is_some_and(|s| s.coarse > 0.0);
    let forgotten = coarse && contacts.is_empty() && joints.is_empty();
    let same = *contacts == of_report && joints.iter().copied().eq(report.joints.iter().map(|j| j.impulse));
    if !(same || forgotten) {
        verdict.fail(Check::Memory, "remembered impulses that are not those of the step");
    }
    let left_out = coarse && *solver == SolverMemory::default();
    if !left_out && report.evidence.as_ref().is_some_and(|evidence| *solver != evidence.solver) {
        verdict.fail(Check::Memory, "remembered impulses of the solver that are not those of the step");
    }
}

/// Verifies what a step of the Euler family says besides its motion.
pub(super) fn euler_step(scheme: &Scheme, record: RecordedStep, verdict: &mut Verdict) {
    let RecordedStep { before, after, report } = record;
    let (was, is) = (&before.memory, &after.memory);
    // memories of impacts of a timed step are judged with its end
    let impacts = |memory: &Memory| (memory.after_impact, memory.quiet.clone());
    let changed = scheme.level != Level::Timed && impacts(is) != impacts(was);
    if is.active != was.active || changed {
        verdict.fail(Check::Memory, "a remembered active set, which the scheme does not have");
    }
    nested_step(scheme, report, verdict);
}

/// Verifies the report of a step of the Euler family, which may be a part of a run to an accuracy.
pub(super) fn nested_step(scheme: &Scheme, report: &StepReport, verdict: &mut Verdict) {
    let StepReport {
        t: _,
        h: _,
        contacts: _,
        dropped,
        joints: _,
        certificate: _,
        kinetic: _,
        potential: _,
        linear_momentum: _,
        angular_momentum: _,
        infeasibility,
        work,
        stabilization,
        events,
        impacts,
        second_order,
        evidence,
        ledger: _,
        intervals: _,
    } = report;
    let timed = scheme.level == Level::Timed;
    let located = !timed && !events.is_empty() || !impacts.is_empty() || second_order.is_some();
    expect(verdict, !located, "events, impacts or a second-order part of a step of first order");
    // counters of solvers are not checked
    let StepWork {
        problems,
        pivots: _,
        factorizations: _,
        loose,
        size: _,
        additions: _,
        rounds,
        converged,
        redundant_joints: _,
        proven,
        limited,
        halvings,
    } = work;
    expect(verdict, *halvings == 0, "halvings of a step without partial steps");
    let iterated = scheme.level == Level::Position { nonlinear: true };
    expect(verdict, iterated || *rounds == 1 && *converged, "an iteration that the scheme does not make");
    expect(verdict, loose <= problems, "more loose problems than problems");
    let without = dropped.iter().filter(|d| d.combination.is_empty()).count();
    let counted = [*proven, *limited] == [dropped.len() - without, without];
    expect(verdict, counted, "numbers of contacts left out that are not those of the list");
    let Some(Evidence { about, passes, substeps, solver: _ }) = evidence else { return };
    expect(verdict, substeps.is_empty(), "substeps in a step of first order");
    expect(verdict, iterated || about.is_empty(), "a velocity v̂ that the scheme does not have");
    if let Some(StabilizationReport { passes: made, before: _, after: error, infeasible }) = stabilization {
        expect(verdict, *made == passes.len(), "a number of passes that is not that of the evidence");
        expect(
            verdict,
            error == infeasibility,
            "a position error after the passes that is not that at the end",
        );
        let proof = passes.last().and_then(|pass| pass.infeasible.as_ref());
        let told = infeasible.as_ref().map(|farkas| &farkas.y);
        expect(verdict, proof == told, "a proof of contradicting rows that is not that of the last pass");
    }
}

/// Sums over the substeps of a second-order step.
#[derive(Debug, Default)]
pub(super) struct SubstepSums {
    /// A substep was made by two Euler steps.
    pub(super) damped: bool,
    /// A substep was made without located events, though the scheme locates all.
    pub(super) cut: bool,
    /// Size of the part of first order [s].
    pub(super) coarse: f64,
    /// Energy that projections at events added [J].
    pub(super) projected: f64,
    /// Energy scale of that [J].
    pub(super) energy: f64,
}

/// Verifies what a step of second order says besides its motion.
pub(super) fn second_order(record: RecordedStep, sums: &SubstepSums, verdict: &mut Verdict) {
    let RecordedStep { before, after, report } = record;
    let Some(told) = &report.second_order else {
        verdict.fail(Check::Summary, "no second-order part in a step of second order");
        return;
    };
    let SecondOrderReport {
        solves: _,
        slack: _,
        definite: _,
        damped,
        forced: _,
        cut,
        coarse,
        refused,
        projected,
    } = told;
    expect(verdict, refused.is_finite() && *refused >= 0.0, "the residual of a refused substep");
    expect(verdict, *damped == sums.damped, "whether a substep was damped");
    expect(
        verdict,
        *cut || !sums.cut,
        "substeps without located events in a step that is not said to be cut",
    );
    expect(verdict, *coarse == sums.coarse, "the size of the part of first order");
    let limit = FIGURE_TOLERANCE * sums.energy;
    verdict.bound(Check::Summary, (projected - sums.projected).abs(), limit, || {
        "energy that projections added".to_string()
    });
    if after.memory.h != report.h {
        verdict.fail(Check::Memory, "a remembered step size that is not that of the step");
    }
    if after.memory.after_impact == report.impacts.is_empty() {
        verdict.fail(Check::Memory, "whether an impact is remembered");
    }
    let StepReport { dropped, work, stabilization, evidence, .. } = report;
    if sums.coarse == 0.0 {
        let problems = work.problems;
        let counted = StepWork { problems, converged: true, halvings: work.halvings, ..StepWork::default() };
        expect(verdict, *work == counted, "counters that a step of second order does not have");
        if after.memory.active.is_none() || after.memory.quiet != before.memory.quiet {
            verdict.fail(Check::Memory, "a memory that a step of second order does not leave");
        }
        let Some(Evidence { about, passes, substeps: _, solver }) = evidence else { return };
        let none = about.is_empty() && passes.is_empty() && solver.is_empty();
        expect(verdict, none, "evidence of a step of first order in a step of second order");
        let none = dropped.is_empty() && stabilization.is_none();
        expect(verdict, none, "post-stabilization or contacts left out in a step of second order");
    }
}
