//! Verification of an Euler step: the step problem at the recorded impulses and velocity, then the passes of
//! post-stabilization.

use super::rows::{
    RecordScales, RecordedImpulses, UnlistedContact, closing_speed, compare, compare_modes, compare_transfer,
    impulses, slow_speeds, split, transferred,
};
use super::tolerances::{
    CERTIFICATE_SCALE_TOLERANCE, CONFIGURATION_TOLERANCE, FIGURE_TOLERANCE, FLOOR_FACTOR, MOMENTUM_TOLERANCE,
    RESIDUAL_FACTOR,
};
use super::{Check, RecordedStep, Verdict, largest_position};
use crate::assemble::{RowLocation, RowSolution};
use crate::reduce::{Reducer, Reduction};
use crate::report::{ContactReport, EnergyLedger, Evidence, StabilizationPass};
use crate::scheme::euler::kinetic;
use crate::scheme::step_problem::ledger::StepEnergies;
use crate::scheme::step_problem::{
    StepInput, StepProblemBuilder, distance, largest, looks_ahead, remaining_correction_time,
};
use crate::scheme::tolerances::{
    HOLD_PASS_LIMIT, PENETRATION_ROUND_OFF, POSITION_ITERATION_TOLERANCE, STABILIZATION_TOLERANCE,
    STICK_SPEED,
};
use crate::scheme::{Level, Scheme, post_stabilize};
use crate::state::{ContactMemory, State};
use crate::system::{ContactId, System};
use std::collections::{BTreeMap, BTreeSet};
use stiction_lcp::{Candidate, Certificate, Farkas, FrictionLaw, Method, Profile, certify, certify_motion};

/// Verification of one recorded Euler step.
pub(super) struct EulerCheck<'a, S: System + ?Sized> {
    pub(super) system: &'a S,
    scheme: &'a Scheme,
    pub(super) record: RecordedStep<'a>,
    evidence: &'a Evidence,
    /// Recorded contacts.
    recorded: BTreeMap<ContactId, &'a ContactReport>,
    /// Contacts that were left out without proof.
    limited: BTreeSet<ContactId>,
    /// Largest residual.
    tolerance: f64,
    /// Speed scale of the certificate [m/s].
    speed: f64,
    pub(super) builder: StepProblemBuilder,
    /// Recorded velocity at the end, along the axes of the rows.
    pub(super) velocity: Vec<f64>,
    /// Displacement over h of the impulses of a timed step that act at other times than h/2.
    pub(super) shift: Vec<f64>,
    /// Work of the reported impulses.
    work: EnergyLedger,
}

/// Verifies a step of the Euler family.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    record: RecordedStep,
    verdict: &mut Verdict,
) {
    let RecordedStep { before, after, report } = record;
    let Some(evidence) = &report.evidence else {
        verdict.cannot_check("the record has no evidence");
        return;
    };
    let limits = matches!(scheme.reduction, Reduction::Limit(_));
    let limited = report.dropped.iter().filter(|d| limits && d.combination.is_empty());
    let mut check = EulerCheck {
        system,
        scheme,
        record,
        evidence,
        recorded: report.contacts.iter().map(|c| (c.id, c)).collect(),
        limited: limited.map(|d| d.contact).collect(),
        tolerance: RESIDUAL_FACTOR * scheme.solver.tolerance,
        speed: 0.0,
        builder: StepProblemBuilder::default(),
        velocity: after.v.clone(),
        shift: vec![0.0; after.v.len()],
        work: EnergyLedger::default(),
    };
    verdict.limited = check.limited.len();
    if check.recorded.len() < report.contacts.len() {
        verdict.fail(Check::Record, "a contact that is listed twice");
    }
    let is_timed = scheme.level == Level::Timed;
    let left = if is_timed { report.h } else { remaining_correction_time(before, report.h) };
    verdict.bound(Check::Record, (after.memory.h - left).abs(), FIGURE_TOLERANCE * left, || {
        "the correction time of position errors".to_string()
    });
    if check.build_problem(verdict) {
        check.verify_velocity(verdict);
        check.verify_configuration(verdict);
    }
}

impl<'a, S: System + ?Sized> EulerCheck<'a, S> {
    pub(super) fn input(&self) -> StepInput<'a, S> {
        let Self { system, scheme, record, .. } = *self;
        StepInput { system, scheme, state: record.before, h: record.report.h }
    }

    /// Builds the step problem with the recorded contacts and all others that the scheme has to consider. Returns
    /// `false` where the record does not fit the model.
    fn build_problem(&mut self, verdict: &mut Verdict) -> bool {
        let input = self.input();
        let report = self.record.report;
        if let Err(error) = self.builder.begin(&input) {
            verdict.fail(Check::Record, error.to_string());
            return false;
        }
        if self.scheme.level != Level::Timed {
            self.builder.set_actuator_sides(&input, &self.record.after.v, false);
        }
        if matches!(self.scheme.solver.method, Method::Convex(_)) {
            self.builder.problem.law = FrictionLaw::Convex;
        }
        if self.scheme.level == (Level::Position { nonlinear: true }) && !self.expand(&input, verdict) {
            return false;
        }
        self.read_rows(&input);
        // a list in another order would be noticed by no other check
        let place = |report: &ContactReport| self.builder.contacts.iter().position(|c| c.id == report.id);
        if !report.contacts.iter().filter_map(place).is_sorted() {
            verdict.fail(Check::Record, "contacts in another order than those of the step");
        }
        for id in self.missing() {
            verdict.fail(Check::Record, format!("{id}: the model has no such contact"));
        }
        let joints = self.builder.joints.iter().map(|j| j.joint);
        if !joints.eq(report.joints.iter().map(|j| j.joint)) {
            let own = self.builder.joints.len();
            let place =
                format!("{} joint rows; the model has {own}, or of other joints", report.joints.len());
            verdict.fail(Check::Record, place);
            return false;
        }
        true
    }

    /// Sets the recorded expansion point v̂ of a position-level iteration, and compares it with v⁺.
    fn expand(&mut self, input: &StepInput<S>, verdict: &mut Verdict) -> bool {
        let RecordedStep { before, after, report } = self.record;
        let expansion = &self.evidence.about;
        if expansion.len() != before.v.len() {
            verdict.cannot_check("the record has no velocity v̂ at which rows were taken");
            return false;
        }
        self.builder.expansion.set_end(input, expansion);
        let change = distance(expansion, &after.v);
        let scale = 1.0 + largest(&after.v);
        if report.work.converged {
            let limit = RESIDUAL_FACTOR * POSITION_ITERATION_TOLERANCE * scale;
            let place = || "v̂ of an iteration that is recorded as converged".to_string();
            verdict.bound(Check::Complementarity, change, limit, place);
        } else if !(change <= self.tolerance * scale) {
            // rows at the end of the step are not those that were solved
            verdict.cannot_check("an iteration of positions ended before it converged to the tolerance");
        }
        true
    }

    /// Reads the rows, with those of recorded pairs beyond the search distance: the scheme added these because a
    /// velocity on the way closed them.
    pub(super) fn read_rows(&mut self, input: &StepInput<S>) {
        self.builder.read_rows(input, &mut Profile::default());
        let missing = self.missing();
        self.builder.wanted.extend(missing.iter().map(|id| id.pair));
        if looks_ahead(self.scheme) {
            self.builder.reducer = Reducer::default();
            self.builder.add_missed_pairs(input, &self.record.after.v);
        }
        if !self.builder.wanted.is_empty() {
            self.builder.wanted.sort_unstable();
            self.builder.wanted.dedup();
            self.builder.read_rows(input, &mut Profile::default());
        }
    }

    /// Recorded contacts that were not found.
    fn missing(&self) -> Vec<ContactId> {
        let found: BTreeSet<ContactId> = self.builder.contacts.iter().map(|c| c.id).collect();
        self.recorded.keys().filter(|id| !found.contains(id)).copied().collect()
    }

    /// Verifies the recorded impulses and velocity, and that contacts without rows do not close. The motion follows from
    /// the impulses of the solver; where others are reported, they have to solve the step too, with the same motion.
    fn verify_velocity(&mut self, verdict: &mut Verdict) {
        let input = self.input();
        let Self { record, recorded, .. } = self;
        let (report, solver) = (record.report, self.evidence.solver.clone());
        let solver = &solver;
        let reported: RecordedImpulses =
            recorded.iter().map(|(id, report)| (*id, ContactMemory::from(*report))).collect();
        let reported_joints: Vec<f64> = report.joints.iter().map(|j| j.impulse).collect();
        if self.scheme.level == Level::Timed && !self.find_shift(&reported, &reported_joints, verdict) {
            return;
        }
        if solver.is_empty() {
            self.builder.assemble(&input, Reduction::Off, &mut Profile::default());
            self.verify_motion(&reported, &reported_joints, verdict);
            return;
        }
        self.builder.assemble(&input, Reduction::Off, &mut Profile::default());
        let found: RecordedImpulses = solver.contacts.iter().map(|c| (c.id, *c)).collect();
        if !found.keys().all(|id| reported.contains_key(id)) || solver.joints.len() != reported_joints.len() {
            verdict.fail(Check::Record, "impulses of the solver at contacts that are not reported");
            return;
        }
        self.verify_motion(&found, &solver.joints, verdict);
        let z = impulses(&self.builder, &solver.joints, &found);
        let momentum = transferred(&self.builder, &z);
        self.builder.read_rows(&input, &mut Profile::default());
        self.builder.assemble(&input, Reduction::Off, &mut Profile::default());
        self.verify_reported(&reported, &reported_joints, &momentum, verdict);
    }

    /// Verifies that impulses cause the recorded velocity and solve the step, and that contacts without rows do not close.
    fn verify_motion(&mut self, found: &RecordedImpulses, joints: &[f64], verdict: &mut Verdict) {
        let Self { record, builder, .. } = self;
        let report = record.report;
        let unlisted = split(builder, |id| found.contains_key(&id));
        let z = impulses(builder, joints, found);
        let candidate = if self.scheme.level == Level::Timed {
            self.find_velocity(&z, verdict)
        } else {
            certify_motion(&self.builder.problem, &z, &self.velocity)
        };
        let candidate = match candidate {
            Ok(candidate) => candidate,
            Err(error) => {
                verdict.fail(Check::Record, error.to_string());
                return;
            }
        };
        self.speed = candidate.certificate.speed;
        if self.evidence.solver.is_empty() {
            self.compare_contacts(&z, verdict);
        }
        let momentum = candidate.certificate.momentum;
        verdict.bound(Check::Momentum, momentum, MOMENTUM_TOLERANCE, || "v⁺".to_string());
        self.verify_residuals(&candidate, verdict);
        if self.evidence.solver.is_empty() {
            self.compare_certificate(&candidate.certificate, verdict);
        }
        let speed = candidate.certificate.speed;
        // proofs of reduction hold to this speed, and smaller gaps are left to post-stabilization
        let dropped = RESIDUAL_FACTOR * PENETRATION_ROUND_OFF * self.system.size() / report.h;
        for contact in &unlisted {
            let closing = closing_speed(&self.builder, contact, &self.velocity);
            let limit = self.tolerance + dropped / speed;
            if self.limited.contains(&contact.id) {
                if !(closing / speed <= limit) {
                    verdict.cannot_check("contacts that the limit on contacts left out close");
                }
                continue;
            }
            verdict.open = verdict.open.max(closing / speed);
            verdict.bound(Check::Open, closing / speed, limit, || contact.id.to_string());
        }
        verdict.certificate = candidate.certificate;
    }

    /// Verifies that the reported impulses solve the step, and that they transfer the momentum that the solver's do.
    fn verify_reported(
        &mut self,
        reported: &RecordedImpulses,
        joints: &[f64],
        found: &[[f64; 2]],
        verdict: &mut Verdict,
    ) {
        split(&mut self.builder, |id| reported.contains_key(&id));
        let z = impulses(&self.builder, joints, reported);
        self.compare_contacts(&z, verdict);
        let candidate = match certify(&self.builder.problem, &z) {
            Ok(candidate) => candidate,
            Err(error) => {
                verdict.fail(Check::Record, error.to_string());
                return;
            }
        };
        self.verify_residuals(&candidate, verdict);
        self.compare_certificate(&candidate.certificate, verdict);
        let own = transferred(&self.builder, &z);
        compare_transfer([&own, found], verdict);
        verdict.certificate = candidate.certificate;
    }

    /// Compares recorded quantities of contacts that enter no equation.
    fn compare_contacts(&mut self, z: &[f64], verdict: &mut Verdict) {
        self.work = self.builder.ledger(&self.input(), z, &self.velocity);
        let Self { system, scheme, record, recorded, builder, .. } = &*self;
        let RecordedStep { before, after, .. } = *record;
        let prescribed = system.prescribed_speed(before.t);
        let scales = RecordScales {
            length: largest_position(*system, before),
            speed: largest(&after.v).max(prescribed).max(builder.problem.speed_scale),
        };
        let slow = slow_speeds(STICK_SPEED, scheme.solver.tolerance, self.speed, scales.speed);
        let [own, other] = slow.map(|stick_speed| {
            let solution = RowSolution { z, v: &self.velocity, stick_speed, determined: None };
            let mut own = Vec::new();
            builder.assembled().contact_reports(&builder.contacts, &solution, &mut own);
            own
        });
        compare(builder, recorded, &own, scales, verdict);
        compare_modes(own.iter().filter_map(|own| recorded.get(&own.id).copied()), [&own, &other], verdict);
    }

    /// Compares the recorded certificate of the reported impulses with their own: its scale, and the residuals of each
    /// contact. Where redundant contacts were left out, it may be that of the problem without them.
    fn compare_certificate(&self, own: &Certificate, verdict: &mut Verdict) {
        let Self { record, builder, tolerance, .. } = self;
        // the rest of a step of second order: its certificate is the worst of all its parts
        if record.report.second_order.is_some() {
            return;
        }
        let told = &record.report.certificate;
        let reduced = !record.report.dropped.is_empty();
        if !(told.speed.is_finite() && told.speed > 0.0) {
            verdict.fail(Check::Figure, "scale of the recorded certificate");
        }
        // the floor of the scale depends on the tolerance of the run
        if !reduced {
            let floored = own.speed <= FLOOR_FACTOR * builder.problem.speed_scale;
            let tolerance = if floored { FLOOR_FACTOR } else { CERTIFICATE_SCALE_TOLERANCE };
            let place = || "scale of the recorded certificate".to_string();
            verdict.bound(Check::Figure, (told.speed - own.speed).abs(), tolerance * own.speed, place);
        }
        // journals of format 2 do not have these
        if told.contacts.len() != own.contacts.len() {
            if !(told.contacts.is_empty() || reduced && told.contacts.len() < own.contacts.len()) {
                verdict.fail(Check::Figure, "contacts of the recorded certificate");
            }
            return;
        }
        for (i, (told, own)) in told.contacts.iter().zip(&own.contacts).enumerate() {
            let place = || format!("recorded residuals of {}", builder.contact_name(self.system, i));
            let slip = (told.lambda - own.lambda).abs() / (self.speed + own.lambda);
            let differences = [
                told.natural_map - own.natural_map,
                told.cone - own.cone,
                told.dissipation - own.dissipation,
            ];
            let worst =
                differences.iter().fold(slip, |m, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) });
            verdict.bound(Check::Figure, worst, *tolerance, place);
        }
    }

    /// Verifies the residuals of joints, contacts and cones.
    fn verify_residuals(&self, candidate: &Candidate, verdict: &mut Verdict) {
        let Self { system, builder, tolerance, .. } = self;
        let joint = builder.worst_joint(candidate).map(RowLocation::Joint);
        let place = || joint.map_or_else(String::new, |row| builder.joint_name(*system, row));
        verdict.bound(Check::Joints, candidate.certificate.joints, *tolerance, place);
        for (i, own) in candidate.certificate.contacts.iter().enumerate() {
            let place = || builder.contact_name(*system, i);
            verdict.bound(Check::Complementarity, own.natural_map, *tolerance, place);
            verdict.bound(Check::Cone, own.cone, *tolerance, place);
        }
    }

    /// Verifies the configuration that the velocity and the passes of post-stabilization lead to.
    fn verify_configuration(&mut self, verdict: &mut Verdict) {
        let Self { system, scheme, record, evidence, .. } = *self;
        let RecordedStep { before, after, report } = record;
        let mut state = State { t: before.t + report.h, q: before.q.clone(), ..State::default() };
        if scheme.level == Level::Timed {
            // the recorded velocity, as the step had it: that of the impulses differs by round-off
            let mut end = after.v.clone();
            system.to_middle_axes(&before.v, &mut end, &self.shift, report.h);
            system.end_step(&mut state.q, &before.v, &mut end, &self.shift, report.h);
            let mut held = std::mem::take(&mut self.builder.held);
            self.builder.held_contacts(&report.contacts, &mut held);
            self.builder.held = held;
        } else {
            system.advance(&mut state.q, &after.v, report.h);
        }
        self.compare_ledger(&state, verdict);
        let tolerance = STABILIZATION_TOLERANCE * system.size();
        let passes = &evidence.passes;
        if passes.len() > scheme.passes {
            let place = format!("{} passes; the scheme allows {}", passes.len(), scheme.passes);
            verdict.fail(Check::PostStabilization, place);
        }
        let stabilized = report.stabilization.as_ref();
        if stabilized.is_some() != (scheme.passes > 0) {
            verdict
                .fail(Check::PostStabilization, "a report of passes that the scheme does not make, or none");
        }
        if scheme.passes > 0 {
            let violation = self.builder.infeasibility(system, state.t, &state.q);
            let mut error = violation.max(self.builder.hold_error());
            let limit = CONFIGURATION_TOLERANCE * largest_position(system, &state);
            let recorded = stabilized.map_or(violation, |s| s.before);
            verdict.bound(Check::PostStabilization, (recorded - violation).abs(), limit, || {
                "position error before the passes".to_string()
            });
            for (k, pass) in passes.iter().enumerate() {
                // gaps at the tolerance may lie on either side of it in the last bit
                if error < tolerance / RESIDUAL_FACTOR {
                    let place = || format!("pass {k} without a position error to correct");
                    verdict.bound(Check::PostStabilization, f64::NAN, error, place);
                }
                if !self.verify_pass(k, pass, &mut state, verdict) {
                    return;
                }
                if k + 1 == HOLD_PASS_LIMIT {
                    self.builder.held.clear();
                }
                error = self.position_error(&state);
            }
            if passes.len() < scheme.passes {
                let place = || format!("position error after the last of {} passes", passes.len());
                verdict.bound(Check::PostStabilization, error, RESIDUAL_FACTOR * tolerance, place);
            }
        }
        let limit = CONFIGURATION_TOLERANCE * largest_position(system, &state);
        for (i, (own, recorded)) in state.q.iter().zip(&after.q).enumerate() {
            let place = || format!("coordinate {i}");
            verdict.bound(Check::Position, (own - recorded).abs(), limit, place);
        }
    }

    /// Compares the energy ledger with that of the recorded impulses; `end` is the end before post-stabilization.
    fn compare_ledger(&self, end: &State, verdict: &mut Verdict) {
        let Self { system, record, work, .. } = self;
        let RecordedStep { before, after, report } = *record;
        let Some(recorded) = report.ledger else { return };
        let kinetic = [before, after].map(|s| kinetic(*system, s.t, &s.q, &s.v));
        let potential = [before, end, after].map(|s| system.potential(s.t, &s.q));
        let mut own = *work;
        own.close(&StepEnergies { kinetic, potential });
        let sizes = kinetic.into_iter().chain(potential).chain(own.entries().map(|(_, value)| value));
        let scale = sizes.fold(0.0, |sum: f64, x| sum + x.abs());
        for ((name, recorded), (_, own)) in recorded.entries().into_iter().zip(own.entries()) {
            let place = || format!("{name} in the energy ledger");
            verdict.bound(Check::Figure, (recorded - own).abs(), FIGURE_TOLERANCE * scale, place);
        }
    }

    /// Largest penetration, joint error, or distance of a contact that holds its position from touching [m].
    fn position_error(&mut self, state: &State) -> f64 {
        let error = self.builder.infeasibility(self.system, state.t, &state.q);
        error.max(self.builder.hold_error())
    }

    /// Verifies pass `k` of post-stabilization and advances `state` by it. Returns `false` where the record does not
    /// fit the model.
    fn verify_pass(
        &mut self,
        k: usize,
        pass: &StabilizationPass,
        state: &mut State,
        verdict: &mut Verdict,
    ) -> bool {
        let Self { system, scheme, record, builder, .. } = self;
        let input = StepInput { system: *system, scheme, state, h: record.report.h };
        post_stabilize::build_displacement_problem(&input, Reduction::Off, builder);
        let listed: BTreeSet<ContactId> = pass.contacts.iter().copied().collect();
        let unlisted = split(builder, |id| listed.contains(&id));
        let same = builder.contacts.iter().map(|c| c.id).eq(pass.contacts.iter().copied());
        let held = builder.held_rows.iter().map(|c| c.id).eq(pass.held.iter().copied());
        if !held || !same || pass.impulses.len() != builder.layout.impulses {
            verdict.fail(Check::PostStabilization, format!("pass {k}: rows that the model does not have"));
            return false;
        }
        if let Some(y) = &pass.infeasible {
            if Farkas::check(&builder.problem, y).is_none() {
                let place = format!("pass {k}: no proof that its rows contradict each other");
                verdict.fail(Check::PostStabilization, place);
            }
            builder.problem = post_stabilize::with_slack_bodies(&builder.problem);
        }
        let candidate = match certify(&builder.problem, &pass.impulses) {
            Ok(candidate) => candidate,
            Err(error) => {
                verdict.fail(Check::PostStabilization, format!("pass {k}: {error}"));
                return false;
            }
        };
        let place = || format!("certificate of pass {k}");
        verdict.bound(Check::PostStabilization, candidate.certificate.worst(), self.tolerance, place);
        let v = &candidate.velocity[..record.after.v.len()];
        if pass.infeasible.is_none() {
            self.verify_unlisted(k, &unlisted, v, candidate.certificate.speed, verdict);
        }
        post_stabilize::displace(self.system, state, v);
        true
    }

    /// Verifies that contacts without rows in a pass stay open.
    fn verify_unlisted(
        &self,
        k: usize,
        unlisted: &[UnlistedContact],
        v: &[f64],
        length: f64,
        verdict: &mut Verdict,
    ) {
        // a limit chooses other contacts in every pass
        if matches!(self.scheme.reduction, Reduction::Limit(_)) {
            return;
        }
        let limit = self.tolerance * length + RESIDUAL_FACTOR * PENETRATION_ROUND_OFF * self.system.size();
        for contact in unlisted {
            let place = || format!("pass {k}: {}", contact.id);
            let closing = closing_speed(&self.builder, contact, v);
            verdict.bound(Check::PostStabilization, closing, limit, place);
        }
    }
}
