//! Verification of a second-order step: its substeps, projections and impacts in order, each rebuilt from the state that
//! the previous one leads to.

use super::bookkeeping::{self, SubstepSums};
use super::events::{EventTrace, compare_impacts};
use super::rows::{RecordScales, compare_modes, compare_reports, slow_speeds};
use super::tolerances::{
    CONFIGURATION_TOLERANCE, INTERMEDIATE_VELOCITY_TOLERANCE, MAX_MISSED_CLOSING, MOMENTUM_TOLERANCE,
    PROJECTED_POSITION_TOLERANCE, RESIDUAL_FACTOR,
};
use super::{Check, RecordedStep, Verdict, euler, largest_position};
use crate::report::{SecondOrderReport, StepReport, SubstepRecord};
use crate::scheme::step_problem::{largest, remaining_correction_time};
use crate::scheme::trapezoid::replay::{
    MAX_CONE_ERROR, REPORTED_SLIP_RELATIVE, RecordedImpact, RecordedSubstep, ReplayResidual, StepReplay,
};
use crate::scheme::{EventLocation, RowForms, Scheme, StateProjection, Trapezoidal};
use crate::state::State;
use crate::system::System;
use stiction_lcp::Certificate;

/// Verifies a second-order step.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    settings: &Trapezoidal,
    record: RecordedStep<'_>,
    verdict: &mut Verdict,
) {
    let RecordedStep { before, after, report } = record;
    let Some(evidence) = &report.evidence else {
        verdict.cannot_check("the record has no evidence");
        return;
    };
    let mut check = FixedStepCheck {
        system,
        settings,
        record,
        replay: StepReplay::new(system, scheme, settings, before, report.h),
        trace: EventTrace::new(&report.events, before.t, before.memory.active.as_deref()),
        sums: SubstepSums::default(),
        last: None,
    };
    let tolerance = RESIDUAL_FACTOR * scheme.solver.tolerance;
    // the record says that modes are not consistent, or that forces are so stiff that impulses are of first order: then
    // impulses outside their cones show no fault, but its writer may have said so to hide one
    let admits = |s: &SecondOrderReport| s.forced > 0 || !(s.slack >= 0.0) || s.definite || s.damped;
    // of other rows, impulses of a substep are no means of the forces in it
    let admits_wrong_modes =
        settings.rows != RowForms::default() || report.second_order.as_ref().is_some_and(admits);
    for (k, part) in evidence.substeps.iter().enumerate() {
        let (start, energy) = (check.replay.state.clone(), check.replay.energy());
        check.begin(part, verdict);
        match check.replay_part(k, part, verdict) {
            Ok(mut shown) => {
                if admits_wrong_modes && shown.wrong_cone > MAX_CONE_ERROR {
                    shown.wrong_cone = 0.0;
                    verdict.cannot_check_once(
                        "impulses that their modes exclude, in a step that is said to have such",
                    );
                }
                verify_equations(&shown, k, tolerance, verdict);
            }
            Err(why) => {
                verdict.fail(Check::Record, format!("substep {k}: {why}"));
                return;
            }
        }
        check.finish(part, &start, energy);
        check.verify_gaps(k, part, &start, verdict);
    }
    if settings.projection == StateProjection::Steps && !ends_in_projection(&evidence.substeps) {
        verdict.fail(Check::Record, "a step that ends without a projection");
    }
    let FixedStepCheck { replay, trace, sums, last, .. } = check;
    trace.end(after.t, after.memory.active.as_deref(), verdict);
    compare_impacts(report, &replay.observed, verdict);
    bookkeeping::second_order(record, &sums, verdict);
    let left = replay.time_left(before.t + report.h);
    verdict.bound(Check::Figure, left.abs(), 0.0, || "sum of the sizes of the substeps".to_string());
    if let Some((z, v)) = last {
        let scales = RecordScales {
            length: largest_position(system, after),
            speed: largest(v).max(system.prescribed_speed(before.t)),
        };
        let slow = slow_speeds(REPORTED_SLIP_RELATIVE, 0.0, replay.substep_speed(), scales.speed);
        let [(contacts, joints), (other, _)] = slow.map(|speed| replay.reports(z, v, speed));
        compare_reports(&contacts, &joints, report, scales, verdict);
        compare_modes(report.contacts.iter(), [&contacts, &other], verdict);
    } else if sums.coarse == 0.0 && !(report.contacts.is_empty() && report.joints.is_empty()) {
        verdict.fail(Check::Record, "contacts or joints of a step without substeps");
    }
    verify_end(&replay.state, after, largest_position(system, after), verdict);
}

/// Verification of a second-order step under way.
struct FixedStepCheck<'a, S: System + ?Sized> {
    system: &'a S,
    settings: &'a Trapezoidal,
    record: RecordedStep<'a>,
    replay: StepReplay<'a, S>,
    trace: EventTrace<'a>,
    sums: SubstepSums,
    /// Impulses and velocity of the last substep.
    last: Option<(&'a [f64], &'a [f64])>,
}

impl<'a, S: System + ?Sized> FixedStepCheck<'a, S> {
    /// Whether the scheme locates all events.
    fn locates(&self) -> bool {
        self.settings.locate == EventLocation::Everything
    }

    /// Begins a record: its modes have to follow from the events.
    fn begin(&mut self, part: &SubstepRecord, verdict: &mut Verdict) {
        let Some(between) = RecordedSubstep::of(part.whole()) else { return };
        self.sums.damped |= between.implicit();
        self.sums.cut |= self.locates() && !between.in_modes();
        let active = between.in_modes().then(|| between.active());
        self.trace.begin(self.replay.state.t, active, verdict);
    }

    /// Replays a record.
    fn replay_part(
        &mut self,
        k: usize,
        part: &'a SubstepRecord,
        verdict: &mut Verdict,
    ) -> Result<ReplayResidual, String> {
        let locates = self.locates();
        let Self { system, record, replay, sums, last, .. } = self;
        match part {
            SubstepRecord::Substep { .. } => {
                let between = RecordedSubstep::of(part);
                *last = between.as_ref().map(|b| (b.impulses, b.v));
                between.ok_or_else(String::new).and_then(|between| replay.substep(&between))
            }
            SubstepRecord::Projection { .. }
            | SubstepRecord::StepEnd { .. }
            | SubstepRecord::Impact { .. }
            | SubstepRecord::FeatureChange { .. } => verify_event(replay, k, part, record.after, verdict),
            SubstepRecord::FirstOrder { size, without_restitution: soft, q, v } => {
                *last = None;
                sums.cut |= locates;
                sums.coarse = *size;
                let scheme = replay.first_order_scheme(*soft);
                let mut end =
                    State { t: replay.state.t + size, q: q.clone(), v: v.clone(), ..State::default() };
                end.memory.h = remaining_correction_time(&replay.state, *size);
                let report = StepReport { h: *size, t: end.t, ..record.report.clone() };
                let record = RecordedStep { before: &replay.state, after: &end, report: &report };
                euler::verify(*system, &scheme, record, verdict);
                end.memory.cache.clone_from(&replay.state.memory.cache);
                replay.state = end;
                Ok(ReplayResidual { admissible: true, ..ReplayResidual::default() })
            }
            SubstepRecord::Interpolated { whole, at } => {
                let between = RecordedSubstep::of(whole);
                *last = between.as_ref().map(|b| (b.impulses, b.v));
                let between = between.ok_or_else(|| "an interpolant without its substep".to_string());
                between.and_then(|between| replay.interpolated(&between, *at))
            }
            SubstepRecord::AccuracyStep { .. }
            | SubstepRecord::Accelerations { .. }
            | SubstepRecord::FirstOrderStep { .. }
            | SubstepRecord::Islands { .. } => Err("a record of a run to an accuracy".to_string()),
            SubstepRecord::PartialStep { .. } => Err("a partial step".to_string()),
        }
    }

    /// Passes the end of a record that began at a state with this energy [J].
    fn finish(&mut self, part: &SubstepRecord, start: &State, earlier: [f64; 2]) {
        let Self { replay, trace, sums, .. } = self;
        match part {
            SubstepRecord::Projection { .. } | SubstepRecord::StepEnd { .. } if sums.coarse == 0.0 => {
                let energy = replay.energy();
                sums.projected += energy[0] - earlier[0];
                sums.energy = sums.energy.max(energy[1]).max(earlier[1]);
            }
            SubstepRecord::Impact { .. } => trace.strike(),
            SubstepRecord::FeatureChange { .. } | SubstepRecord::FirstOrder { .. } => {
                trace.lose_modes(start.t, replay.state.t);
            }
            _ => {}
        }
        trace.pass(replay.state.t);
    }

    /// Verifies that no inactive contact closed in a substep. Gaps are not error controlled here, and follow the motion to
    /// higher order.
    fn verify_gaps(&mut self, k: usize, part: &SubstepRecord, start: &State, verdict: &mut Verdict) {
        let Some(between) = RecordedSubstep::of(part.whole()) else { return };
        if self.settings.locate == EventLocation::Nothing {
            return;
        }
        let Some((id, depth)) = self.replay.closed_contact(start, between.active()) else { return };
        let fastest = self.system.surface_speed(start.t, &start.q, &self.replay.state.v);
        let moved = fastest.max(self.system.prescribed_speed(start.t)) * self.record.report.h;
        verdict.bound(Check::Open, depth, MAX_MISSED_CLOSING * moved, || format!("substep {k}: {id}"));
    }
}

/// Whether the records of a step end in a projection, or its rest was made by another scheme.
fn ends_in_projection(records: &[SubstepRecord]) -> bool {
    matches!(records.last(), Some(SubstepRecord::StepEnd { .. }))
        || records.iter().any(|record| matches!(record, SubstepRecord::FirstOrder { .. }))
}

/// Compares the recorded state at the end with the one that the substeps lead to.
pub(super) fn verify_end(now: &State, after: &State, length: f64, verdict: &mut Verdict) {
    let limit = CONFIGURATION_TOLERANCE * length;
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
            let positions = &after.q[..replay.position_count()];
            verify_projection(left, replay.size(), k, positions, verdict);
            Ok(shown)
        }
        SubstepRecord::StepEnd { active, displacements, projected, kept } => {
            let (shown, left) = replay.step_end(active, displacements, projected, *kept)?;
            let positions = &after.q[..replay.position_count()];
            verify_projection(left, replay.size(), k, positions, verdict);
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
pub(super) fn verify_projection(left: f64, size: f64, k: usize, positions: &[f64], verdict: &mut Verdict) {
    let limit = PROJECTED_POSITION_TOLERANCE * size.max(largest(positions));
    verdict.bound(Check::Position, left, limit, || format!("projection {k}"));
}

/// Verifies the equations of a substep, projection or impact.
pub(super) fn verify_equations(shown: &ReplayResidual, k: usize, tolerance: f64, verdict: &mut Verdict) {
    let ReplayResidual { certificate, velocity, admissible, wrong_cone } = shown;
    let Certificate { momentum, joints, natural_map, cone, .. } = *certificate;
    let place = || format!("substep {k}");
    verdict.bound(Check::Momentum, momentum, MOMENTUM_TOLERANCE, place);
    verdict.bound(Check::Joints, joints, tolerance, place);
    verdict.bound(Check::Complementarity, natural_map, tolerance, place);
    verdict.bound(Check::Cone, cone, tolerance, place);
    verdict.bound(Check::Momentum, *velocity, INTERMEDIATE_VELOCITY_TOLERANCE, || {
        format!("substep {k}: an intermediate velocity")
    });
    verdict.bound(Check::Cone, *wrong_cone, MAX_CONE_ERROR, || {
        format!("substep {k}: impulses that its modes exclude")
    });
    if !admissible {
        verdict.cannot_check_once("redundant active contacts may have had to open or slip");
    }
    // projections have none
    if certificate.speed > 0.0 && certificate.worst() >= verdict.certificate.worst() {
        verdict.certificate.copy_from(certificate);
    }
}
