//! Steps of the Euler family: one step problem, then the passes of post-stabilization.

use super::rows::{Other, closing, compare, impulses, joint_name, split};
use super::{Check, MOMENTUM, POSITION, ROUND_OFF, Verdict, name};
use crate::assemble;
use crate::reduce::Reduction;
use crate::report::{ContactReport, Evidence, StabilizationPass, StepReport};
use crate::scheme::pose::{DEPTH, Pose, largest, looks_ahead, slow_after};
use crate::scheme::{Level, Scheme, euler, post_stabilize};
use crate::state::State;
use crate::system::{ContactId, System};
use std::collections::{BTreeMap, BTreeSet};
use stiction_lcp::{Candidate, Farkas, FrictionLaw, Method, Profile, certify, certify_motion};

/// A recorded step under examination.
struct Case<'a, S: System + ?Sized> {
    system: &'a S,
    scheme: &'a Scheme,
    before: &'a State,
    after: &'a State,
    report: &'a StepReport,
    evidence: &'a Evidence,
    recorded: BTreeMap<ContactId, &'a ContactReport>,
    /// Contacts that were left out without proof.
    limited: BTreeSet<ContactId>,
    /// What residuals may be.
    tolerance: f64,
    pose: Pose,
}

/// Judges a step of the Euler family.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    before: &State,
    after: &State,
    report: &StepReport,
    verdict: &mut Verdict,
) {
    let Some(evidence) = &report.evidence else {
        verdict.cannot_tell("what was solved on the way is not recorded");
        return;
    };
    verdict.loose = report.work.loose > 0 && scheme.solver.loosest > scheme.solver.tolerance;
    let asked = if verdict.loose { scheme.solver.loosest } else { scheme.solver.tolerance };
    let limits = matches!(scheme.reduction, Reduction::Limit(_));
    let limited = report.dropped.iter().filter(|d| limits && d.combination.is_empty());
    let mut case = Case {
        system,
        scheme,
        before,
        after,
        report,
        evidence,
        recorded: report.contacts.iter().map(|c| (c.id, c)).collect(),
        limited: limited.map(|d| d.contact).collect(),
        tolerance: ROUND_OFF * asked,
        pose: Pose::default(),
    };
    verdict.limited = case.limited.len();
    if case.recorded.len() < report.contacts.len() {
        verdict.bound(Check::Record, f64::NAN, 0.0, || "a contact that is listed twice".to_string());
    }
    let left = slow_after(before, report.h);
    verdict.bound(Check::Record, (after.memory.h - left).abs(), super::FIGURE * left, || {
        "the time over which errors are corrected".to_string()
    });
    if case.pose(verdict) {
        case.judge(verdict);
        case.place(verdict);
    }
}

impl<S: System + ?Sized> Case<'_, S> {
    /// Poses the step problem with the contacts that were recorded and all others that the scheme has to look at.
    fn pose(&mut self, verdict: &mut Verdict) -> bool {
        let Self { system, scheme, before, after, report, evidence, recorded, pose, .. } = self;
        let (system, h) = (*system, report.h);
        if let Err(error) = pose.begin(system, scheme, before, h) {
            verdict.bound(Check::Record, f64::NAN, 0.0, || error.to_string());
            return false;
        }
        if matches!(scheme.solver.method, Method::Convex(_)) {
            pose.problem.law = FrictionLaw::Convex;
        }
        if scheme.level == (Level::Position { nonlinear: true }) {
            if evidence.about.len() != before.v.len() {
                verdict.cannot_tell("the velocity that rows were expanded about is not recorded");
                return false;
            }
            pose.expansion.about(system, before, h, &evidence.about);
            let change = apart(&evidence.about, &after.v);
            let limit = ROUND_OFF * euler::CHANGE * (1.0 + largest(&after.v));
            if report.work.converged {
                let place = || "rows of an iteration that is said to have converged".to_string();
                verdict.bound(Check::Complementarity, change, limit, place);
            } else {
                verdict.cannot_tell(format!("the iteration had not converged: {change:e} m/s were left"));
            }
        }
        pose.read_joints(system);
        pose.read_contacts(system, scheme, h);

        // pairs that the sweep does not reach were added because a velocity on the way led into them
        let missing = |pose: &Pose| -> Vec<ContactId> {
            let found: BTreeSet<ContactId> = pose.contacts.iter().map(|c| c.id).collect();
            recorded.keys().filter(|id| !found.contains(id)).copied().collect()
        };
        pose.wanted.extend(missing(pose).iter().map(|id| id.pair));
        if looks_ahead(scheme) {
            pose.reducer = crate::reduce::Reducer::default();
            pose.add_missed(system, before, h, &after.v);
        }
        if !pose.wanted.is_empty() {
            pose.wanted.sort_unstable();
            pose.wanted.dedup();
            pose.read_joints(system);
            pose.read_contacts(system, scheme, h);
        }
        for id in missing(pose) {
            verdict.bound(Check::Record, f64::NAN, 0.0, || format!("{}: there is none", name(id)));
        }
        let joints = pose.joints.iter().map(|j| j.joint);
        if !joints.eq(report.joints.iter().map(|j| j.joint)) {
            let place = || format!("{} rows of joints, of {}", report.joints.len(), pose.joints.len());
            verdict.bound(Check::Record, f64::NAN, 0.0, place);
            return false;
        }
        true
    }

    /// The certificate at the recorded velocity, and contacts that were no rows.
    fn judge(&mut self, verdict: &mut Verdict) {
        let Self { system, scheme, before, after, report, recorded, limited, pose, .. } = self;
        let h = report.h;
        pose.assemble(*system, scheme, Reduction::Off, before, h, &mut Profile::default());
        let others = split(pose, |id| recorded.contains_key(&id));
        let z = impulses(pose, &report.joints, recorded);
        let mut own = Vec::new();
        // the mode is told by the speed, which is compared
        let Pose { problem, layout, places, contacts, .. } = &*pose;
        assemble::contact_reports(problem, layout, places, contacts, (&z, &after.v, 0.0), &mut own);
        let length = system.size().max(largest(&before.q));
        let fastest = largest(&after.v).max(system.prescribed_speed(before.t)).max(problem.speed_scale);
        compare(pose, recorded, &own, (length, fastest), verdict);
        let candidate = match certify_motion(&pose.problem, &z, &after.v) {
            Ok(candidate) => candidate,
            Err(error) => {
                verdict.bound(Check::Record, f64::NAN, 0.0, || error.to_string());
                return;
            }
        };
        verdict.bound(Check::Momentum, candidate.certificate.momentum, MOMENTUM, || "v⁺".to_string());
        residuals(pose, &candidate, self.tolerance, verdict);
        let speed = candidate.certificate.speed;
        // a proof holds to this, and where none is needed gaps are mended from here
        let dropped = ROUND_OFF * DEPTH * system.size() / h;
        for other in others.iter().filter(|other| !limited.contains(&other.id)) {
            let closing = closing(pose, other, &after.v);
            verdict.open = verdict.open.max(closing / speed);
            let limit = self.tolerance + dropped / speed;
            verdict.bound(Check::Open, closing / speed, limit, || name(other.id));
        }
        verdict.certificate = candidate.certificate;
    }

    /// Where the velocity and the passes of post-stabilization lead.
    fn place(&mut self, verdict: &mut Verdict) {
        let Self { system, scheme, before, after, report, evidence, .. } = *self;
        let mut state = State { t: before.t + report.h, q: before.q.clone(), ..State::default() };
        system.advance(&mut state.q, &after.v, report.h);
        let round_off = post_stabilize::ROUND_OFF * system.size();
        let passes = &evidence.passes;
        if passes.len() > scheme.passes {
            let place = || format!("{} passes of at most {}", passes.len(), scheme.passes);
            verdict.bound(Check::PostStabilization, f64::NAN, 0.0, place);
        }
        if scheme.passes > 0 {
            let mut left = self.pose.infeasibility(system, state.t, &state.q);
            for (k, pass) in passes.iter().enumerate() {
                // gaps at the limit may fall on either side of it in the last bit
                if left < round_off / ROUND_OFF {
                    let place = || format!("pass {k} that nothing asks for");
                    verdict.bound(Check::PostStabilization, f64::NAN, left, place);
                }
                if !self.pass(k, pass, &mut state, verdict) {
                    return;
                }
                left = self.pose.infeasibility(system, state.t, &state.q);
            }
            if passes.len() < scheme.passes {
                let place = || format!("nothing after pass {}", passes.len());
                verdict.bound(Check::PostStabilization, left, ROUND_OFF * round_off, place);
            }
        }
        let limit = POSITION * largest(&state.q).max(system.size());
        for (i, (own, recorded)) in state.q.iter().zip(&after.q).enumerate() {
            let place = || format!("coordinate {i}");
            verdict.bound(Check::Position, (own - recorded).abs(), limit, place);
        }
    }

    /// One pass of post-stabilization from `state`.
    fn pass(&mut self, k: usize, pass: &StabilizationPass, state: &mut State, verdict: &mut Verdict) -> bool {
        let Self { system, scheme, report, pose, .. } = self;
        post_stabilize::pose_displacement(*system, scheme, Reduction::Off, state, report.h, pose);
        let listed: BTreeSet<ContactId> = pass.contacts.iter().copied().collect();
        let others = split(pose, |id| listed.contains(&id));
        let same = pose.contacts.iter().map(|c| c.id).eq(pass.contacts.iter().copied());
        if !same || pass.impulses.len() != pose.layout.impulses {
            let place = || format!("pass {k}: rows that are not there");
            verdict.bound(Check::PostStabilization, f64::NAN, 0.0, place);
            return false;
        }
        if let Some(y) = &pass.infeasible {
            if Farkas::check(&pose.problem, y).is_none() {
                let place = || format!("pass {k}: no proof that its rows contradict each other");
                verdict.bound(Check::PostStabilization, f64::NAN, 0.0, place);
            }
            pose.problem = post_stabilize::loosened(&pose.problem);
        }
        let candidate = match certify(&pose.problem, &pass.impulses) {
            Ok(candidate) => candidate,
            Err(error) => {
                verdict.bound(Check::PostStabilization, f64::NAN, 0.0, || format!("pass {k}: {error}"));
                return false;
            }
        };
        let place = || format!("pass {k}: its certificate");
        verdict.bound(Check::PostStabilization, candidate.certificate.worst(), self.tolerance, place);
        let v = &candidate.velocity[..self.after.v.len()];
        if pass.infeasible.is_none() {
            self.unlisted(k, &others, v, candidate.certificate.speed, verdict);
        }
        post_stabilize::leap(self.system, state, v);
        true
    }

    /// Contacts that were no rows of a pass stay apart.
    fn unlisted(&self, k: usize, others: &[Other], v: &[f64], length: f64, verdict: &mut Verdict) {
        // a limit leaves out what it will, in every pass anew
        if matches!(self.scheme.reduction, Reduction::Limit(_)) {
            return;
        }
        let limit = self.tolerance * length + ROUND_OFF * DEPTH * self.system.size();
        for other in others {
            let place = || format!("pass {k}: {}", name(other.id));
            verdict.bound(Check::PostStabilization, closing(&self.pose, other, v), limit, place);
        }
    }
}

/// Judges the residuals of joints, contacts and cones, each at its worst place.
fn residuals(pose: &Pose, candidate: &Candidate, limit: f64, verdict: &mut Verdict) {
    let Candidate { w, certificate, .. } = candidate;
    let joint = (0..pose.problem.joints.len()).max_by(|&a, &b| w[a].abs().total_cmp(&w[b].abs()));
    let place = || joint.map_or_else(String::new, |row| joint_name(pose, row));
    verdict.bound(Check::Joints, certificate.joints, limit, place);
    for (i, own) in certificate.contacts.iter().enumerate() {
        let place = || match i.checked_sub(pose.places.first_contact) {
            Some(k) if k < pose.contacts.len() => name(pose.contacts[k].id),
            Some(_) => {
                let bound_by = pose.places.rolling.iter().find(|(_, block)| *block == i);
                bound_by
                    .map_or_else(String::new, |(k, _)| format!("rolling of {}", name(pose.contacts[*k].id)))
            }
            None => format!("limit or drive {i} of the joints"),
        };
        verdict.bound(Check::Complementarity, own.natural_map, limit, place);
        verdict.bound(Check::Cone, own.cone, limit, place);
    }
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}
