//! The rows of a posed problem that were recorded, with their impulses, and those that were not.

use super::{Check, Verdict, name};
use crate::assemble::{self, Place};
use crate::report::{ContactReport, JointReport, StepReport};
use crate::scheme::pose::Pose;
use crate::system::{ContactId, ContactRow};
use std::collections::BTreeMap;
use stiction_lcp::{Contact, FrictionLaw};

/// Leaves in a posed problem the contacts that `recorded` names, in its own order, and returns the others.
pub(super) fn split(pose: &mut Pose, recorded: impl Fn(ContactId) -> bool) -> Vec<(ContactId, Contact)> {
    let Pose { problem, layout, contacts, places, .. } = pose;
    let rows = problem.contacts.split_off(places.first_contact);
    let mut others = Vec::new();
    for (row, contact) in contacts.iter().zip(rows) {
        if recorded(row.id) {
            problem.contacts.push(contact);
        } else {
            others.push((row.id, contact));
        }
    }
    contacts.retain(|row| recorded(row.id));
    problem.lay_out(layout);
    others
}

/// The recorded impulses as unknowns of the posed problem, whose contacts must be those that were recorded.
pub(super) fn impulses(
    pose: &Pose,
    joints: &[JointReport],
    recorded: &BTreeMap<ContactId, &ContactReport>,
) -> Vec<f64> {
    let Pose { problem, layout, contacts, places, .. } = pose;
    let mut z = vec![0.0; layout.impulses];
    for (place, joint) in places.joints.iter().zip(joints) {
        assemble::joint_unknowns(problem, layout, *place, joint.impulse, &mut z);
    }
    for (k, row) in contacts.iter().enumerate() {
        let Some(report) = recorded.get(&row.id) else { continue };
        let i = places.first_contact + k;
        let own = &mut z[layout.contact[i]..layout.contact[i + 1]];
        own[0] = report.normal_impulse;
        if own.len() > 1 {
            problem.contacts[i].friction_unknowns(along(row, report.friction_impulse), &mut own[1..]);
        }
    }
    z
}

/// Components along the tangents of a contact.
fn along(row: &ContactRow, vector: [f64; 3]) -> [f64; 2] {
    row.tangent_directions.map(|t| (0..3).map(|c| t[c] * vector[c]).sum::<f64>())
}

/// Judges what is recorded of contacts and does not enter any equation: points, normals, gaps, coefficients, and
/// friction that no tangent row has.
pub(super) fn compare(
    pose: &Pose,
    recorded: &BTreeMap<ContactId, &ContactReport>,
    length: f64,
    verdict: &mut Verdict,
) {
    for row in &pose.contacts {
        let Some(report) = recorded.get(&row.id) else { continue };
        let apart = |a: [f64; 3], b: [f64; 3]| (0..3).fold(0.0, |m: f64, i| m.max((a[i] - b[i]).abs()));
        let mut differs = |what: &str, value: f64, scale: f64| {
            let place = || format!("{what} of {}", name(row.id));
            verdict.bound(Check::Contact, value, super::FIGURE * scale, place);
        };
        differs("the gap", (report.gap - row.gap).abs(), length);
        differs("the point", apart(report.point, row.point), length);
        differs("the normal", apart(report.normal, row.direction), 1.0);
        differs("the coefficient of friction", (report.mu - row.mu).abs(), row.mu.max(1e-3));
        if report.bodies != row.bodies {
            differs("the bodies", f64::NAN, 1.0);
        }
        let [x, y] = along(row, report.friction_impulse);
        let tangents = row.tangent_directions;
        let within: [f64; 3] = std::array::from_fn(|c| x * tangents[0][c] + y * tangents[1][c]);
        let size = report.friction_impulse.iter().fold(report.normal_impulse.abs(), |m, p| m.max(p.abs()));
        differs("friction across the tangents", apart(within, report.friction_impulse), size);
    }
}

/// Judges the contacts and joints of a report against those that were formed again.
pub(super) fn same(
    contacts: &[ContactReport],
    joints: &[JointReport],
    report: &StepReport,
    length: f64,
    verdict: &mut Verdict,
) {
    let listed =
        report.contacts.iter().map(|c| (c.id, c.bodies)).eq(contacts.iter().map(|c| (c.id, c.bodies)));
    if !listed || !report.joints.iter().map(|j| j.joint).eq(joints.iter().map(|j| j.joint)) {
        let place = || "contacts and joints that are not those of the last part".to_string();
        verdict.bound(Check::Record, f64::NAN, 0.0, place);
        return;
    }
    let apart = |a: [f64; 3], b: [f64; 3]| (0..3).fold(0.0, |m: f64, i| m.max((a[i] - b[i]).abs()));
    let largest =
        contacts.iter().map(|c| c.normal_impulse.abs()).chain(joints.iter().map(|j| j.impulse.abs()));
    let impulse = largest.fold(0.0, f64::max);
    for (own, said) in contacts.iter().zip(&report.contacts) {
        let mut differs = |what: &str, value: f64, scale: f64| {
            let place = || format!("{what} of {}", name(own.id));
            verdict.bound(Check::Contact, value, super::FIGURE * scale, place);
        };
        differs("the normal impulse", (own.normal_impulse - said.normal_impulse).abs(), impulse);
        differs("the friction impulse", apart(own.friction_impulse, said.friction_impulse), impulse);
        differs("the gap", (own.gap - said.gap).abs(), length);
        differs("the point", apart(own.point, said.point), length);
        differs("the normal", apart(own.normal, said.normal), 1.0);
        differs("the coefficient of friction", (own.mu - said.mu).abs(), own.mu.max(1e-3));
    }
    for (i, (own, said)) in joints.iter().zip(&report.joints).enumerate() {
        let value = (own.impulse - said.impulse).abs();
        let place = || format!("the impulse of row {i} of the joints");
        verdict.bound(Check::Joints, value, super::FIGURE * impulse, place);
    }
}

/// How fast a contact without impulse closes at a velocity [m/s]; not above zero for one that does not.
pub(super) fn closing(pose: &Pose, contact: &Contact, v: &[f64]) -> f64 {
    let start = &pose.layout.velocity;
    let speed = |row: &stiction_lcp::OffsetRow| row.row.dot(start, v) + row.offset;
    let Some(normal) = &contact.normal else { return 0.0 };
    let mut opens = speed(normal);
    if pose.problem.law == FrictionLaw::Convex {
        // the relaxation opens sliding contacts, AH04 (2.13)
        let mut slip = [0.0; 2];
        slip.iter_mut().zip(&contact.tangents).for_each(|(u, t)| *u = speed(t));
        opens -= contact.mu * contact.slip_speed(slip);
    }
    -opens
}

/// The name of a row of the joints by its place in the problem.
pub(super) fn joint_name(pose: &Pose, row: usize) -> String {
    let found = pose.places.joints.iter().position(|p| matches!(p, Place::Rigid(i) if *i == row));
    let joint = found.and_then(|k| pose.joints.get(k)).map_or(0, |j| j.joint);
    format!("row {row} of the joints, of joint {joint}")
}
