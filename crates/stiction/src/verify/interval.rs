//! Verification of what an interval of a run to an accuracy says besides its motion: events, figures and memories.

use super::bookkeeping::{self, expect};
use super::events::{EventTrace, compare_impacts};
use super::tolerances::{CONFIGURATION_TOLERANCE, FIGURE_TOLERANCE, RESIDUAL_FACTOR};
use super::{Check, RecordedStep, Verdict, compare_figures};
use crate::report::{AccuracyReport, Event, EventKind, Evidence, StepReport, StepWork, SubstepRecord};
use crate::scheme::step_problem::largest;
use crate::scheme::trapezoid::replay::ReplayObservations;
use crate::scheme::{Accuracy, Scheme};
use crate::system::System;
use std::collections::BTreeSet;

/// Verifies events, figures and memories of an interval, of which a replay of its steps has `observed` the impacts.
pub(super) fn verify(
    accuracy: &Accuracy,
    (scheme, size): (&Scheme, f64),
    record: RecordedStep,
    summary: &AccuracyReport,
    observed: &ReplayObservations,
    verdict: &mut Verdict,
) {
    let steps = follow_events(record, observed, verdict);
    expect(verdict, summary.last_error == steps.last_error, "the error estimate of the last step");
    compare_summary(accuracy, (scheme, size), record, summary, observed, verdict);
    verify_sizes(accuracy, record, &steps.sizes, verdict);
    verify_plain(record, steps.coarse > 0, verdict);
}

/// Verifies the figures and counters of a step of first order within a run to an accuracy.
pub(super) fn verify_part<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    record: RecordedStep,
    verdict: &mut Verdict,
) {
    compare_figures(system, record, verdict);
    bookkeeping::nested_step(scheme, record.report, verdict);
}

/// Steps of an interval.
#[derive(Debug, Default)]
struct IntervalSteps {
    /// Sizes of those with an error estimate of their method [s].
    sizes: Vec<f64>,
    /// Number of steps of first order.
    coarse: usize,
    /// Error estimate of the last one; in a window with islands, of the last island.
    last_error: f64,
}

/// Follows the events along the records. Returns the steps.
fn follow_events(
    record: RecordedStep,
    observed: &ReplayObservations,
    verdict: &mut Verdict,
) -> IntervalSteps {
    let RecordedStep { before, after, report } = record;
    let mut steps = IntervalSteps::default();
    let records = report.evidence.as_ref().map_or(&[][..], |evidence| &evidence.substeps);
    let mut trace = EventTrace::new(&report.events, before.t, before.memory.active.as_deref());
    follow(records, before.t, &mut trace, &mut steps, verdict);
    trace.end(after.t, after.memory.active.as_deref(), verdict);
    let noted = report.events.iter().filter(|event| event.kind == EventKind::FirstOrder).count();
    if noted != steps.coarse {
        let place = format!("{noted} events of steps of first order; the evidence has {}", steps.coarse);
        verdict.fail(Check::Event, place);
    }
    compare_impacts(report, observed, verdict);
    // islands have traces of their own, in each of their windows
    let mut t = before.t;
    for part in records {
        let SubstepRecord::Islands { size, islands } = part else {
            t += step_size(part).unwrap_or(0.0);
            continue;
        };
        for island in islands {
            follow_island(&island.records, [t, t + size], &report.events, verdict);
        }
        t += size;
    }
    steps
}

/// Follows the events of an island's contacts in a window of time.
fn follow_island(records: &[SubstepRecord], [from, to]: [f64; 2], events: &[Event], verdict: &mut Verdict) {
    let mut contacts = BTreeSet::new();
    for part in records {
        match part {
            SubstepRecord::AccuracyStep { active, .. } | SubstepRecord::Projection { active, .. } => {
                contacts.extend(active.iter().map(|c| c.constraint));
            }
            SubstepRecord::Impact { participants, .. } => contacts.extend(participants),
            _ => {}
        }
    }
    let is_own = |event: &&Event| {
        event.t >= from
            && event.t <= to
            && event.constraint.is_contact()
            && contacts.contains(&event.constraint)
    };
    let own: Vec<Event> = events.iter().filter(is_own).copied().collect();
    let mut trace = EventTrace::new(&own, from, None).of_contacts();
    follow(records, from, &mut trace, &mut IntervalSteps::default(), verdict);
    trace.end(to, None, verdict);
}

/// Time that a record takes [s]; `None` for what happens at an instant.
fn step_size(part: &SubstepRecord) -> Option<f64> {
    match part {
        SubstepRecord::AccuracyStep { size, .. }
        | SubstepRecord::FirstOrderStep { size, .. }
        | SubstepRecord::Islands { size, .. }
        | SubstepRecord::FeatureChange { size } => Some(*size),
        _ => None,
    }
}

/// Follows events along records from time `t`.
fn follow(
    records: &[SubstepRecord],
    mut t: f64,
    trace: &mut EventTrace,
    steps: &mut IntervalSteps,
    verdict: &mut Verdict,
) {
    for part in records {
        let start = t;
        t += step_size(part).unwrap_or(0.0);
        match part {
            SubstepRecord::AccuracyStep { size, active, error, .. } => {
                trace.begin(start, Some(active), verdict);
                steps.sizes.push(*size);
                steps.last_error = *error;
            }
            SubstepRecord::FirstOrderStep { .. } => {
                steps.coarse += 1;
                trace.lose_modes(start, t);
            }
            SubstepRecord::FeatureChange { .. } => trace.lose_modes(start, t),
            SubstepRecord::Islands { islands, .. } => {
                trace.lose_modes(start, t);
                for island in islands {
                    let mut own = IntervalSteps::default();
                    // their events are followed by themselves
                    let mut unused = EventTrace::new(&[], start, None);
                    follow(&island.records, start, &mut unused, &mut own, &mut Verdict::default());
                    steps.sizes.extend(own.sizes);
                    steps.coarse += own.coarse;
                    steps.last_error = own.last_error;
                }
            }
            SubstepRecord::Impact { .. } => trace.strike(),
            _ => {}
        }
        trace.pass(t);
    }
}

/// Compares the summary of an interval with its records.
fn compare_summary(
    accuracy: &Accuracy,
    (scheme, size): (&Scheme, f64),
    record: RecordedStep,
    summary: &AccuracyReport,
    observed: &ReplayObservations,
    verdict: &mut Verdict,
) {
    let RecordedStep { after, report, .. } = record;
    // steps and their errors are compared with the records; counters of solvers are not checked
    let AccuracyReport {
        requested,
        error: _,
        order: _,
        events,
        impacts,
        steps: _,
        rejections: _,
        solves: _,
        forced: _,
        penetration,
        certificate,
        last_error: _,
    } = summary;
    expect(verdict, *requested == accuracy.tolerance, "an accuracy that is not that of the run");
    expect(
        verdict,
        *events == report.events && *impacts == report.impacts,
        "two lists of events that differ",
    );
    let limit = CONFIGURATION_TOLERANCE * size.max(largest(&after.q));
    verdict.bound(Check::Summary, (penetration - observed.penetration).abs(), limit, || {
        "largest penetration at the end of a step".to_string()
    });
    let residual = (certificate - verdict.certificate.worst()).abs();
    let limit = RESIDUAL_FACTOR * scheme.solver.tolerance;
    verdict.bound(Check::Summary, residual, limit, || "largest residual of the interval".to_string());
}

/// Verifies that steps are no longer than an accuracy allows.
fn verify_sizes(accuracy: &Accuracy, record: RecordedStep, sizes: &[f64], verdict: &mut Verdict) {
    let limit = accuracy.largest_step * (1.0 + FIGURE_TOLERANCE);
    verdict.bound(Check::Summary, largest(sizes), limit, || "size of the longest step [s]".to_string());
    let first = sizes.first().filter(|_| record.before.memory.h <= 0.0);
    if let Some(&first) = first {
        let limit = accuracy.first_step * (1.0 + FIGURE_TOLERANCE);
        verdict.bound(Check::Summary, first, limit, || "size of the first step of the run [s]".to_string());
    }
    if !(record.after.memory.h > 0.0) {
        verdict.fail(Check::Memory, format!("a next step of {} s", record.after.memory.h));
    }
}

/// Verifies that an interval has nothing that steps of fixed size alone have; `coarse` with steps of first order.
fn verify_plain(record: RecordedStep, coarse: bool, verdict: &mut Verdict) {
    let RecordedStep { before, after, report } = record;
    let StepReport { dropped, work, stabilization, second_order, evidence, .. } = report;
    let plain = dropped.is_empty() && stabilization.is_none() && second_order.is_none();
    expect(verdict, plain && *work == StepWork::default(), "counters that an interval does not have");
    if let Some(Evidence { about, passes, substeps: _, solver }) = evidence {
        let none = about.is_empty() && passes.is_empty() && solver.is_empty();
        expect(verdict, none, "evidence of a step of first order beside the steps");
    }
    let (was, is) = (&before.memory, &after.memory);
    let kept = was.contacts == is.contacts && was.joints == is.joints && was.solver == is.solver;
    // a step of first order leaves its impulses behind, which nothing reads
    let kept_impacts = was.after_impact == is.after_impact && was.quiet == is.quiet;
    if is.active.is_none() || !(kept || coarse) || !kept_impacts {
        verdict.fail(Check::Memory, "a memory that a run to an accuracy does not leave");
    }
}
