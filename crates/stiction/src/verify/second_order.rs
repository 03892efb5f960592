//! Verification of a second-order step: its substeps, projections and impacts in order, each rebuilt from the state that
//! the previous one leads to.

use super::rows::{RecordScales, compare_reports};
use super::tolerances::{
    CONFIGURATION_TOLERANCE, INTERMEDIATE_VELOCITY_TOLERANCE, MOMENTUM_TOLERANCE,
    PROJECTED_POSITION_TOLERANCE, RESIDUAL_FACTOR,
};
use super::{Check, RecordedStep, Verdict, euler};
use crate::report::{StepReport, SubstepRecord};
use crate::scheme::step_problem::{largest, remaining_correction_time};
use crate::scheme::trapezoid::replay::{RecordedImpact, RecordedSubstep, ReplayResidual, StepReplay};
use crate::scheme::{Scheme, Trapezoidal};
use crate::state::State;
use crate::system::System;
use stiction_lcp::Certificate;

/// Verifies a second-order step.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    settings: &Trapezoidal,
    record: RecordedStep,
    verdict: &mut Verdict,
) {
    let RecordedStep { before, after, report } = record;
    let Some(evidence) = &report.evidence else {
        verdict.cannot_check("the record has no evidence");
        return;
    };
    let mut replay = StepReplay::new(system, scheme, settings, before, report.h);
    let tolerance = RESIDUAL_FACTOR * scheme.solver.tolerance;
    let mut last = None;
    for (k, part) in evidence.substeps.iter().enumerate() {
        let shown = match part {
            SubstepRecord::Substep { .. } => {
                let between = RecordedSubstep::of(part);
                last = between.as_ref().map(|b| (b.impulses, b.v));
                between.ok_or_else(String::new).and_then(|between| replay.substep(&between))
            }
            SubstepRecord::Projection { .. }
            | SubstepRecord::Impact { .. }
            | SubstepRecord::FeatureChange { .. } => verify_event(&mut replay, k, part, after, verdict),
            SubstepRecord::FirstOrder { size, without_restitution: soft, q, v } => {
                last = None;
                let scheme = replay.first_order_scheme(*soft);
                let mut end =
                    State { t: replay.state.t + size, q: q.clone(), v: v.clone(), ..State::default() };
                end.memory.h = remaining_correction_time(&replay.state, *size);
                let report = StepReport { h: *size, t: end.t, ..report.clone() };
                let record = RecordedStep { before: &replay.state, after: &end, report: &report };
                euler::verify(system, &scheme, record, verdict);
                end.memory.cache.clone_from(&replay.state.memory.cache);
                replay.state = end;
                Ok(ReplayResidual { admissible: true, ..ReplayResidual::default() })
            }
            SubstepRecord::Interpolated { whole, at } => {
                let between = RecordedSubstep::of(whole);
                last = between.as_ref().map(|b| (b.impulses, b.v));
                let between = between.ok_or_else(|| "an interpolant without its substep".to_string());
                between.and_then(|between| replay.interpolated(&between, *at))
            }
            SubstepRecord::AccuracyStep { .. }
            | SubstepRecord::Accelerations { .. }
            | SubstepRecord::FirstOrderStep { .. } => Err("a record of a run to an accuracy".to_string()),
        };
        match shown {
            Ok(shown) => verify_equations(&shown, k, tolerance, verdict),
            Err(why) => {
                verdict.fail(Check::Record, format!("substep {k}: {why}"));
                return;
            }
        }
    }
    let left = replay.time_left(before.t + report.h);
    verdict.bound(Check::Figure, left.abs(), 0.0, || "sum of the sizes of the substeps".to_string());
    if let Some((z, v)) = last {
        let (contacts, joints) = replay.reports(z, v);
        let scales = RecordScales {
            length: system.size().max(largest(&after.q)),
            speed: largest(v).max(system.prescribed_speed(before.t)),
        };
        compare_reports(&contacts, &joints, report, scales, verdict);
    }
    verify_end(&replay.state, after, system.size(), verdict);
}

/// Compares the recorded state at the end with the one that the substeps lead to.
pub(super) fn verify_end(now: &State, after: &State, size: f64, verdict: &mut Verdict) {
    let limit = CONFIGURATION_TOLERANCE * largest(&after.q).max(size);
    for (i, (own, recorded)) in now.q.iter().zip(&after.q).enumerate() {
        verdict.bound(Check::Position, (own - recorded).abs(), limit, || format!("coordinate {i}"));
    }
    for (i, (own, recorded)) in now.v.iter().zip(&after.v).enumerate() {
        verdict.bound(Check::Momentum, (own - recorded).abs(), 0.0, || format!("velocity {i} at the end"));
    }
}

/// Verifies what lies between two substeps: a projection, an impact or a contact that was lost.
pub(super) fn verify_event<S: System + ?Sized>(
    replay: &mut StepReplay<S>,
    k: usize,
    part: &SubstepRecord,
    after: &State,
    verdict: &mut Verdict,
) -> Result<ReplayResidual, String> {
    match part {
        SubstepRecord::Projection { active, displacements, v } => {
            let (shown, left) = replay.projection(active, displacements, v)?;
            verify_projection(left, replay.size(), k, after, verdict);
            Ok(shown)
        }
        SubstepRecord::Impact {
            closed,
            participants,
            compression,
            compressed_velocity,
            restitution_factor,
            decompression,
            v,
        } => replay.impact(&RecordedImpact {
            closed,
            participants,
            compression: (compression, compressed_velocity),
            restitution_factor: *restitution_factor,
            decompression: (decompression, v),
        }),
        SubstepRecord::FeatureChange { size } => replay.feature_change(*size),
        _ => Err("a record that does not belong into this step".to_string()),
    }
}

/// Verifies the position error `left` after a projection [m].
pub(super) fn verify_projection(left: f64, size: f64, k: usize, after: &State, verdict: &mut Verdict) {
    let limit = PROJECTED_POSITION_TOLERANCE * size.max(largest(&after.q));
    verdict.bound(Check::Position, left, limit, || format!("projection {k}"));
}

/// Verifies the equations of a substep, projection or impact.
pub(super) fn verify_equations(shown: &ReplayResidual, k: usize, tolerance: f64, verdict: &mut Verdict) {
    let ReplayResidual { certificate, velocity, admissible } = shown;
    let Certificate { momentum, joints, natural_map, cone, .. } = *certificate;
    let place = || format!("substep {k}");
    verdict.bound(Check::Momentum, momentum, MOMENTUM_TOLERANCE, place);
    verdict.bound(Check::Joints, joints, tolerance, place);
    verdict.bound(Check::Complementarity, natural_map, tolerance, place);
    verdict.bound(Check::Cone, cone, tolerance, place);
    verdict.bound(Check::Momentum, *velocity, INTERMEDIATE_VELOCITY_TOLERANCE, || {
        format!("substep {k}: an intermediate velocity")
    });
    if !admissible {
        let why = "redundant active contacts may have had to open or slip";
        if verdict.unverifiable.iter().all(|other| other != why) {
            verdict.cannot_check(why);
        }
    }
    if certificate.worst() >= verdict.certificate.worst() {
        verdict.certificate.copy_from(certificate);
    }
}
