//! The rows of a posed problem that were recorded, with their impulses, and those that were not.

use super::{Check, Verdict, name};
use crate::assemble::{self, Place, dot, turning_axes};
use crate::id::JointId;
use crate::report::{ContactReport, JointReport, StepReport};
use crate::scheme::pose::{Pose, largest};
use crate::state::ContactMemory;
use crate::system::{ContactId, ContactRow};
use std::collections::BTreeMap;
use stiction_lcp::{Contact, FrictionLaw};

/// A contact that was no row.
pub(super) struct Other {
    pub(super) id: ContactId,
    contact: Contact,
    /// What would resist its rolling.
    rolling: Option<Contact>,
}

/// Leaves in a posed problem the contacts that `recorded` names, in its own order, and returns the others.
pub(super) fn split(pose: &mut Pose, recorded: impl Fn(ContactId) -> bool) -> Vec<Other> {
    let Pose { problem, layout, contacts, places, .. } = pose;
    let mut rows = problem.contacts.split_off(places.first_contact);
    let mut blocks = rows.split_off(contacts.len()).into_iter();
    let rolls = std::mem::take(&mut places.rolling);
    let (mut others, mut rolling) = (Vec::new(), Vec::new());
    let mut kept = 0;
    for (k, (row, contact)) in contacts.iter().zip(rows).enumerate() {
        let block = rolls.binary_search_by_key(&k, |r| r.0).ok().and_then(|_| blocks.next());
        if recorded(row.id) {
            problem.contacts.push(contact);
            rolling.extend(block.map(|block| (kept, block)));
            kept += 1;
        } else {
            others.push(Other { id: row.id, contact, rolling: block });
        }
    }
    for (k, mut block) in rolling {
        block.bound_by = Some(places.first_contact + k);
        places.rolling.push((k, problem.contacts.len()));
        problem.contacts.push(block);
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
        assemble::add_contact((problem, layout, places), (k, row), &ContactMemory::from(*report), &mut z);
    }
    z
}

/// What of a vector lies along these unit axes.
fn within(axes: impl Iterator<Item = [f64; 3]>, vector: [f64; 3]) -> [f64; 3] {
    let mut within = [0.0; 3];
    for axis in axes {
        let along = dot(axis, vector);
        (0..3).for_each(|c| within[c] += along * axis[c]);
    }
    within
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).fold(0.0, |worst: f64, i| worst.max((a[i] - b[i]).abs()))
}

/// Judges what is recorded of contacts and does not enter any equation: points, normals, gaps, coefficients, speeds,
/// and friction and moments that no row has. `own` are the reports of the recorded impulses and velocity.
pub(super) fn compare(
    pose: &Pose,
    recorded: &BTreeMap<ContactId, &ContactReport>,
    own: &[ContactReport],
    (length, fastest): (f64, f64),
    verdict: &mut Verdict,
) {
    for (row, own) in pose.contacts.iter().zip(own) {
        let Some(report) = recorded.get(&row.id) else { continue };
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
        let friction = report.friction_impulse;
        let size = largest(&friction).max(report.normal_impulse.abs());
        let tangents = row.tangent_directions.into_iter();
        differs("friction across the tangents", apart(within(tangents, friction), friction), size);
        differs("the slip", apart(report.slip, own.slip), fastest);
        moment(row, report, own, fastest, differs);
    }
}

/// Judges what is recorded of the turning of a contact.
fn moment(
    row: &ContactRow,
    report: &ContactReport,
    own: &ContactReport,
    fastest: f64,
    mut differs: impl FnMut(&str, f64, f64),
) {
    let (moment, own) = match (report.moment, own.moment) {
        (Some(moment), Some(own)) => (moment, own),
        (None, None) => return,
        _ => return differs("whether it resists turning", f64::NAN, 1.0),
    };
    let axes = turning_axes(row).into_iter().map(|(axis, _)| axis);
    differs(
        "a moment about no axis",
        apart(within(axes, moment.impulse), moment.impulse),
        largest(&moment.impulse),
    );
    differs("the turning", apart(moment.turn, own.turn), fastest.max(largest(&own.turn)));
    if moment.rolling.is_some() != own.rolling.is_some() {
        differs("whether it resists rolling", f64::NAN, 1.0);
    }
}

/// Judges the contacts and joints of a report against those that were formed again.
pub(super) fn same(
    contacts: &[ContactReport],
    joints: &[JointReport],
    report: &StepReport,
    (length, fastest): (f64, f64),
    verdict: &mut Verdict,
) {
    let listed =
        report.contacts.iter().map(|c| (c.id, c.bodies)).eq(contacts.iter().map(|c| (c.id, c.bodies)));
    if !listed || !report.joints.iter().map(|j| j.joint).eq(joints.iter().map(|j| j.joint)) {
        let place = || "contacts and joints that are not those of the last part".to_string();
        verdict.bound(Check::Record, f64::NAN, 0.0, place);
        return;
    }
    let sizes = contacts.iter().map(|c| c.normal_impulse.abs()).chain(joints.iter().map(|j| j.impulse.abs()));
    let impulse = sizes.fold(0.0, f64::max);
    for (own, said) in contacts.iter().zip(&report.contacts) {
        let mut differs = |what: &str, value: f64, scale: f64| {
            let place = || format!("{what} of {}", name(own.id));
            verdict.bound(Check::Contact, value, super::FIGURE * scale, place);
        };
        differs("the normal impulse", (own.normal_impulse - said.normal_impulse).abs(), impulse);
        differs("the friction impulse", apart(own.friction_impulse, said.friction_impulse), impulse);
        differs("the slip", apart(own.slip, said.slip), fastest);
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
pub(super) fn closing(pose: &Pose, other: &Other, v: &[f64]) -> f64 {
    let Other { contact, rolling, .. } = other;
    let start = &pose.layout.velocity;
    let speed = |row: &stiction_lcp::OffsetRow| row.row.dot(start, v) + row.offset;
    let Some(normal) = &contact.normal else { return 0.0 };
    let mut opens = speed(normal);
    if pose.problem.law == FrictionLaw::Convex {
        // the relaxation opens sliding contacts, AH04 (2.13)
        for block in [contact].into_iter().chain(rolling) {
            let mut slip = [0.0; 3];
            slip.iter_mut().zip(&block.tangents).for_each(|(u, t)| *u = speed(t));
            opens -= block.mu * block.slip_speed(slip);
        }
    }
    -opens
}

/// The name of a row of the joints by its place in the problem.
pub(super) fn joint_name(pose: &Pose, row: usize) -> String {
    let found = pose.places.joints.iter().position(|p| matches!(p, Place::Rigid(i) if *i == row));
    let joint = found.and_then(|k| pose.joints.get(k)).map_or(JointId(0), |j| j.joint);
    format!("row {row} of the joints, of joint {joint}")
}
