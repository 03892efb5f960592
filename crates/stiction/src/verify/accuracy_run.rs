//! Verification of a run to an accuracy: its steps with their error estimates, and the events between them.

use super::rows::{RecordScales, compare_reports};
use super::second_order::{verify_end, verify_equations, verify_event, verify_projection};
use super::tolerances::{CONFIGURATION_TOLERANCE, FIGURE_TOLERANCE, MOMENTUM_TOLERANCE, RESIDUAL_FACTOR};
use super::{Check, RecordedStep, Verdict, euler};
use crate::report::{AccuracyReport, FirstOrderSolve, IntegrationMethod, SubstepRecord};
use crate::scheme::step_problem::{largest, remaining_correction_time};
use crate::scheme::trapezoid::accuracy_run::accuracy_settings;
use crate::scheme::trapezoid::coarse_step::{difference, least_size};
use crate::scheme::trapezoid::replay::{
    AccuracyStepResidual, ForceResidual, MAX_WRONG_MODE_VALUE, RecordedAccuracyStep, ReplayResidual,
    StepReplay,
};
use crate::scheme::trapezoid::state_forces::StateForces;
use crate::scheme::trapezoid::step_size::is_accepted;
use crate::scheme::{Accuracy, AccurateMethod, Scheme};
use crate::state::{Memory, State};
use crate::system::System;

/// Verifies a run to an accuracy.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    accuracy: &Accuracy,
    record: RecordedStep,
    summary: &AccuracyReport,
    verdict: &mut Verdict,
) {
    let RecordedStep { before, after, report } = record;
    let Some(evidence) = &report.evidence else {
        verdict.cannot_check("the record has no evidence");
        return;
    };
    let (scheme, settings) = accuracy_settings(scheme, accuracy);
    let mut replay = StepReplay::new(system, &scheme, &settings, before, report.h);
    let tolerance = RESIDUAL_FACTOR * scheme.solver.tolerance;
    let (mut steps, mut sum) = (0, 0.0);
    for (k, part) in evidence.substeps.iter().enumerate() {
        // later steps start from this one, so their findings may follow from those of this one
        let found = verdict.findings.len();
        let shown = match part {
            SubstepRecord::AccuracyStep { size, method: by, active, records: parts, error } => {
                steps += 1;
                sum += error;
                let combined = RecordedAccuracyStep { size: *size, method: *by, active, records: parts };
                replay.accuracy_step(&combined).map(|made| {
                    let fits = is_accepted(*size, *error, accuracy.tolerance, after.t);
                    let asked = if fits { f64::INFINITY } else { accuracy.tolerance };
                    verdict.bound(Check::Estimate, *error, asked, || format!("error of step {k}"));
                    verify_step(&made, k, *error, after, replay.size(), verdict);
                    verify_method(accuracy.method, *by, k, verdict);
                    made.residual
                })
            }
            SubstepRecord::FirstOrderStep { size, error, solves } => {
                let made = verify_first_order(system, &mut replay, *size, solves, verdict);
                made.map(|own| {
                    let place = || format!("error of step {k}, which is of first order");
                    verdict.bound(Check::Estimate, (own - error).abs(), FIGURE_TOLERANCE * error, place);
                    if *size > least_size(accuracy.tolerance) {
                        verdict.bound(Check::Estimate, *error, accuracy.tolerance, place);
                    }
                    ReplayResidual { admissible: true, ..ReplayResidual::default() }
                })
            }
            _ => verify_event(&mut replay, k, part, after, verdict),
        };
        match shown {
            Ok(shown) => verify_equations(&shown, k, tolerance, verdict),
            Err(why) => {
                verdict.fail(Check::Record, format!("step {k}: {why}"));
                return;
            }
        }
        let t = replay.state.t;
        for finding in &mut verdict.findings[found..] {
            finding.place = format!("{}, up to {t} s", finding.place);
        }
    }
    let left = replay.time_left(after.t);
    verdict.bound(Check::Figure, left.abs(), 0.0, || "sum of the sizes of the steps".to_string());
    if summary.steps != steps {
        verdict.fail(Check::Figure, format!("{} steps; the evidence has {steps}", summary.steps));
    }
    let place = || "sum of the errors".to_string();
    verdict.bound(Check::Estimate, (summary.error - sum).abs(), FIGURE_TOLERANCE * sum, place);
    verify_end(&replay.state, after, system.size(), verdict);
    match replay.forces(after, report) {
        Ok(Some(found)) => verify_forces(system, record, &found, tolerance, verdict),
        Ok(None) => verdict.without_forces = true,
        Err(why) => verdict.fail(Check::Record, format!("forces at the end: {why}")),
    }
}

/// Verifies a step of first order: one step, and two of half the size. Returns the error estimate.
fn verify_first_order<S: System + ?Sized>(
    system: &S,
    replay: &mut StepReplay<S>,
    size: f64,
    solves: &[FirstOrderSolve],
    verdict: &mut Verdict,
) -> Result<f64, String> {
    let [whole, first, second] = solves else {
        return Err("a step of first order with other records".to_string());
    };
    let start = State { memory: Memory::default(), ..replay.state.clone() };
    let mut follow = |from: &State, made: &FirstOrderSolve, size: f64| {
        if made.q.len() != from.q.len() || made.v.len() != from.v.len() || made.report.h != size {
            return Err("a step of first order of another size".to_string());
        }
        let mut end = State { t: from.t + size, q: made.q.clone(), v: made.v.clone(), ..State::default() };
        end.memory.h = remaining_correction_time(from, size);
        let record = RecordedStep { before: from, after: &end, report: &made.report };
        let scheme = replay.first_order_scheme(made.without_restitution);
        euler::verify(system, &scheme, record, verdict);
        Ok(State { memory: Memory::default(), ..end })
    };
    let whole = follow(&start, whole, size)?;
    let middle = follow(&start, first, 0.5 * size)?;
    let end = follow(&middle, second, 0.5 * size)?;
    let error = difference(&whole, &end);
    let cache = std::mem::take(&mut replay.state.memory.cache);
    replay.state = end;
    replay.state.memory.cache = cache;
    Ok(error)
}

/// Verifies the forces, modes and slips that the report lists at its end: accelerations that keep joints and active
/// contacts, forces in their cones, friction against the slip, and contacts that do not move where they stick.
fn verify_forces<S: System + ?Sized>(
    system: &S,
    record: RecordedStep,
    found: &ForceResidual,
    tolerance: f64,
    verdict: &mut Verdict,
) {
    let RecordedStep { after, report, .. } = record;
    let ForceResidual { own: StateForces { contacts, joints, certificate }, slack, sticking_slip } = found;
    let place = || "forces at the end".to_string();
    verdict.bound(Check::Momentum, certificate.momentum, MOMENTUM_TOLERANCE, place);
    verdict.bound(Check::Joints, certificate.joints, tolerance, place);
    verdict.bound(Check::Complementarity, certificate.natural_map, tolerance, place);
    verdict.bound(Check::Cone, certificate.cone, tolerance, place);
    let place = || "a contact that pulls at the end, or friction beyond its bound".to_string();
    verdict.bound(Check::Cone, -slack, MAX_WRONG_MODE_VALUE, place);
    let place = || "slip of a contact that is said to stick at the end".to_string();
    verdict.bound(Check::Complementarity, *sticking_slip, 1.0, place);
    let scales = RecordScales {
        length: system.size().max(largest(&after.q)),
        speed: largest(&after.v).max(system.prescribed_speed(after.t)).max(system.gravity() * report.h),
    };
    compare_reports(contacts, joints, report, scales, verdict);
    for (own, recorded) in contacts.iter().zip(&report.contacts).filter(|(a, b)| a.mode != b.mode) {
        verdict.fail(Check::Contact, format!("mode of {}: {:?}, not {:?}", own.id, own.mode, recorded.mode));
    }
}

/// Verifies the projection, the error estimate and the modes of a step.
fn verify_step(
    made: &AccuracyStepResidual,
    k: usize,
    error: f64,
    after: &State,
    size: f64,
    verdict: &mut Verdict,
) {
    verify_projection(made.position_error, size, k, after, verdict);
    // the estimate is a difference of sums, each as exact as the states
    let scale = after.q.iter().chain(&after.v).fold(size, |m: f64, x| m.max(x.abs()));
    let limit = CONFIGURATION_TOLERANCE * scale + FIGURE_TOLERANCE * error;
    let place = || format!("recomputed error of step {k}");
    verdict.bound(Check::Estimate, (error - made.error).abs(), limit, place);
    let place = || format!("step {k}: a contact that pulls, or friction beyond its bound or along the slip");
    verdict.bound(Check::Complementarity, -made.slack, MAX_WRONG_MODE_VALUE, place);
    if let Some((id, depth)) = made.closed {
        verdict.bound(Check::Open, depth, 0.0, || format!("step {k}: {id}"));
    }
}

/// Verifies that a step was made by the method of the accuracy.
fn verify_method(asked: AccurateMethod, by: IntegrationMethod, k: usize, verdict: &mut Verdict) {
    let fits = match asked {
        AccurateMethod::Automatic => true,
        AccurateMethod::Trapezoidal => by == IntegrationMethod::Doubled,
        AccurateMethod::DormandPrince => {
            matches!(by, IntegrationMethod::DormandPrince | IntegrationMethod::ExtrapolatedEuler)
        }
        AccurateMethod::DormandPrinceEight => {
            matches!(by, IntegrationMethod::DormandPrinceEight | IntegrationMethod::ExtrapolatedEuler)
        }
    };
    if !fits {
        verdict.fail(Check::Record, format!("step {k}: made by {by:?}, the accuracy asks for {asked:?}"));
    }
}
