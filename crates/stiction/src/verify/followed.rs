//! Stretches that were followed to an accuracy: steps as large as it allows, with what happened between them.

use super::second_order::{ends, happening, judge, projected};
use super::{Check, FIGURE, POSITION, ROUND_OFF, Verdict, name};
use crate::report::{AccuracyReport, IntegrationMethod, StepReport, SubstepRecord};
use crate::scheme::trapezoid::accuracy_run::accuracy_settings;
use crate::scheme::trapezoid::replay::{
    AccuracyStepResidual, MAX_WRONG_MODE_VALUE, RecordedAccuracyStep, StepReplay,
};
use crate::scheme::trapezoid::step_size::is_accepted;
use crate::scheme::{Accuracy, AccurateMethod, Scheme};
use crate::state::State;
use crate::system::System;

/// Judges a stretch.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    (scheme, accuracy): (&Scheme, &Accuracy),
    (before, after): (&State, &State),
    (report, said): (&StepReport, &AccuracyReport),
    verdict: &mut Verdict,
) {
    let Some(evidence) = &report.evidence else {
        verdict.cannot_tell("the steps that a stretch is made of are not recorded");
        return;
    };
    let (scheme, settings) = accuracy_settings(scheme, accuracy);
    let mut replay = StepReplay::new(system, &scheme, &settings, before, report.h);
    let tolerance = ROUND_OFF * scheme.solver.tolerance;
    let (mut steps, mut sum) = (0, 0.0);
    for (k, part) in evidence.substeps.iter().enumerate() {
        // later parts start from this one, and are judged by what is found of it
        let found = verdict.findings.len();
        let shown = match part {
            SubstepRecord::AccuracyStep { size, method: by, active, records: parts, error } => {
                steps += 1;
                sum += error;
                let combined = RecordedAccuracyStep { size: *size, method: *by, active, records: parts };
                replay.accuracy_step(&combined).map(|made| {
                    let fits = is_accepted(*size, *error, accuracy.tolerance, after.t);
                    let asked = if fits { f64::INFINITY } else { accuracy.tolerance };
                    verdict.bound(Check::Estimate, *error, asked, || format!("part {k}: its error"));
                    step(&made, k, (*error, after), replay.size(), verdict);
                    method(accuracy.method, *by, k, verdict);
                    made.residual
                })
            }
            _ => happening(&mut replay, (k, part), after, verdict),
        };
        match shown {
            Ok(shown) => judge(&shown, k, tolerance, verdict),
            Err(why) => {
                verdict.bound(Check::Record, f64::NAN, 0.0, || format!("part {k}: {why}"));
                return;
            }
        }
        let t = replay.state.t;
        for finding in &mut verdict.findings[found..] {
            finding.place = format!("{}, up to {t} s", finding.place);
        }
    }
    let left = replay.time_left(after.t);
    verdict.bound(Check::Figure, left.abs(), 0.0, || "the time that the steps take".to_string());
    let counted = said.steps == steps;
    verdict.bound(Check::Figure, if counted { 0.0 } else { f64::NAN }, 0.0, || {
        format!("{} steps, and {steps} are recorded", said.steps)
    });
    let place = || "the sum of the errors".to_string();
    verdict.bound(Check::Estimate, (said.error - sum).abs(), FIGURE * sum, place);
    ends(&replay.state, after, system.size(), verdict);
}

/// Judges what a step shows beside its equations.
fn step(
    made: &AccuracyStepResidual,
    k: usize,
    (error, after): (f64, &State),
    size: f64,
    verdict: &mut Verdict,
) {
    projected(made.position_error, size, k, after, verdict);
    // differences of sums, each as exact as the states they are of
    let scale = after.q.iter().chain(&after.v).fold(size, |m: f64, x| m.max(x.abs()));
    let (place, limit) = (|| format!("part {k}: its error, formed again"), POSITION * scale + FIGURE * error);
    verdict.bound(Check::Estimate, (error - made.error).abs(), limit, place);
    let place = || format!("part {k}: a contact that pulls, or friction beyond its bound or along the slip");
    verdict.bound(Check::Complementarity, -made.slack, MAX_WRONG_MODE_VALUE, place);
    if let Some((id, depth)) = made.closed {
        verdict.bound(Check::Open, depth, 0.0, || format!("part {k}: {}", name(id)));
    }
}

/// Judges whether a step was made as was asked for.
fn method(asked: AccurateMethod, by: IntegrationMethod, k: usize, verdict: &mut Verdict) {
    let fits = match asked {
        AccurateMethod::Automatic => true,
        AccurateMethod::Trapezoidal => by == IntegrationMethod::Doubled,
        AccurateMethod::DormandPrince => by == IntegrationMethod::DormandPrince,
        AccurateMethod::DormandPrinceEight => by == IntegrationMethod::DormandPrinceEight,
    };
    if !fits {
        verdict.bound(Check::Record, f64::NAN, 0.0, || format!("part {k}: another method"));
    }
}
