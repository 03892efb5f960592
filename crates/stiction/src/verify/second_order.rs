//! Steps of second order: parts between events, projections and impacts, one after another.

use super::rows::same;
use super::{Check, MOMENTUM, POSITION, ROUND_OFF, Verdict, euler};
use crate::report::{StepReport, SubstepRecord};
use crate::scheme::pose::{largest, slow_after};
use crate::scheme::trapezoid::replay::{RecordedImpact, RecordedSubstep, ReplayResidual, StepReplay};
use crate::scheme::{Scheme, Trapezoidal};
use crate::state::State;
use crate::system::System;
use stiction_lcp::Certificate;

/// Velocities on the way are what they have to be to this part.
const ASTRAY: f64 = 1e-9;

/// Projections leave errors of positions of at most this part of the size.
const PROJECTED: f64 = 1e-11;

/// Judges a step of second order.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    (scheme, settings): (&Scheme, &Trapezoidal),
    before: &State,
    after: &State,
    report: &StepReport,
    verdict: &mut Verdict,
) {
    let Some(evidence) = &report.evidence else {
        verdict.cannot_tell("what the step is made of is not recorded");
        return;
    };
    let mut replay = StepReplay::new(system, scheme, settings, before, report.h);
    let tolerance = ROUND_OFF * scheme.solver.tolerance;
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
            | SubstepRecord::FeatureChange { .. } => happening(&mut replay, (k, part), after, verdict),
            SubstepRecord::FirstOrder { size, without_restitution: soft, q, v } => {
                last = None;
                let scheme = replay.first_order_scheme(*soft);
                let mut end =
                    State { t: replay.state.t + size, q: q.clone(), v: v.clone(), ..State::default() };
                end.memory.h = slow_after(&replay.state, *size);
                let part = StepReport { h: *size, t: end.t, ..report.clone() };
                euler::verify(system, &scheme, &replay.state, &end, &part, verdict);
                end.memory.cache.clone_from(&replay.state.memory.cache);
                replay.state = end;
                Ok(ReplayResidual { admissible: true, ..ReplayResidual::default() })
            }
            SubstepRecord::Interpolated { whole, at } => {
                let between = RecordedSubstep::of(whole);
                last = between.as_ref().map(|b| (b.impulses, b.v));
                let between = between.ok_or_else(|| "a landing on no part".to_string());
                between.and_then(|between| replay.interpolated(&between, *at))
            }
            SubstepRecord::AccuracyStep { .. } | SubstepRecord::Accelerations { .. } => {
                Err("a part of a run to an accuracy".to_string())
            }
        };
        match shown {
            Ok(shown) => judge(&shown, k, tolerance, verdict),
            Err(why) => {
                verdict.bound(Check::Record, f64::NAN, 0.0, || format!("part {k}: {why}"));
                return;
            }
        }
    }
    let left = replay.time_left(before.t + report.h);
    verdict.bound(Check::Figure, left.abs(), 0.0, || "the time that the parts take".to_string());
    if let Some((z, v)) = last {
        let (contacts, joints) = replay.reports(z, v);
        let length = system.size().max(largest(&after.q));
        let fastest = largest(v).max(system.prescribed_speed(before.t));
        same(&contacts, &joints, report, (length, fastest), verdict);
    }
    ends(&replay.state, after, system.size(), verdict);
}

/// Judges the state at the end against where the parts lead.
pub(super) fn ends(now: &State, after: &State, size: f64, verdict: &mut Verdict) {
    let limit = POSITION * largest(&after.q).max(size);
    for (i, (own, recorded)) in now.q.iter().zip(&after.q).enumerate() {
        verdict.bound(Check::Position, (own - recorded).abs(), limit, || format!("coordinate {i}"));
    }
    for (i, (own, recorded)) in now.v.iter().zip(&after.v).enumerate() {
        verdict.bound(Check::Momentum, (own - recorded).abs(), 0.0, || format!("velocity {i} at the end"));
    }
}

/// What happens between two parts, posed again.
pub(super) fn happening<S: System + ?Sized>(
    replay: &mut StepReplay<S>,
    (k, part): (usize, &SubstepRecord),
    after: &State,
    verdict: &mut Verdict,
) -> Result<ReplayResidual, String> {
    match part {
        SubstepRecord::Projection { active, displacements, v } => {
            let (shown, left) = replay.projection(active, displacements, v)?;
            projected(left, replay.size(), k, after, verdict);
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
        _ => Err("a part that is none of such a step".to_string()),
    }
}

/// Judges what a projection left of errors of positions [m].
pub(super) fn projected(left: f64, size: f64, k: usize, after: &State, verdict: &mut Verdict) {
    let limit = PROJECTED * size.max(largest(&after.q));
    verdict.bound(Check::Position, left, limit, || format!("part {k}: a projection"));
}

/// Judges what a part shows.
pub(super) fn judge(shown: &ReplayResidual, k: usize, tolerance: f64, verdict: &mut Verdict) {
    let ReplayResidual { certificate, velocity: astray, admissible: allowed } = shown;
    let Certificate { momentum, joints, natural_map, cone, .. } = *certificate;
    let place = || format!("part {k}");
    verdict.bound(Check::Momentum, momentum, MOMENTUM, place);
    verdict.bound(Check::Joints, joints, tolerance, place);
    verdict.bound(Check::Complementarity, natural_map, tolerance, place);
    verdict.bound(Check::Cone, cone, tolerance, place);
    verdict.bound(Check::Momentum, *astray, ASTRAY, || format!("part {k}: a velocity on the way"));
    if !allowed {
        let why = "what bears in given modes may have had to let go or slip";
        if verdict.unverifiable.iter().all(|other| other != why) {
            verdict.cannot_tell(why);
        }
    }
    if certificate.worst() >= verdict.certificate.worst() {
        verdict.certificate.copy_from(certificate);
    }
}
