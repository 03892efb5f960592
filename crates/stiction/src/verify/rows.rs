//! Rows of a rebuilt step problem: recorded contacts with their impulses, and contacts without rows.

use super::tolerances::{
    FIGURE_TOLERANCE, FRICTION_COEFFICIENT_FLOOR, MOMENTUM_TOLERANCE, SLOW_SPEED_FACTOR, TRANSFER_TOLERANCE,
};
use super::{Check, Verdict};
use crate::assemble::{dot, turning_axes};
use crate::report::{ContactReport, JointReport, StepReport};
use crate::scheme::step_problem::{StepProblemBuilder, distance, largest};
use crate::state::ContactMemory;
use crate::system::{ContactId, ContactRow};
use std::collections::BTreeMap;
use stiction_lcp::{Contact, FrictionLaw};

/// Contact without rows in the recorded step.
pub(super) struct UnlistedContact {
    pub(super) id: ContactId,
    contact: Contact,
    /// Block of its rolling friction.
    rolling: Option<Contact>,
}

/// Scales to which recorded lengths and speeds are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordScales {
    /// Length [m].
    pub(super) length: f64,
    /// Speed [m/s].
    pub(super) speed: f64,
}

/// Removes the contacts that are not `recorded` from a problem, and returns them.
pub(super) fn split(
    builder: &mut StepProblemBuilder,
    recorded: impl Fn(ContactId) -> bool,
) -> Vec<UnlistedContact> {
    let StepProblemBuilder { problem, layout, contacts, rows: map, .. } = builder;
    let mut rows = problem.contacts.split_off(map.first_contact);
    let mut blocks = rows.split_off(contacts.len()).into_iter();
    let rolls = std::mem::take(&mut map.rolling);
    let (mut unlisted, mut rolling) = (Vec::new(), Vec::new());
    let mut kept = 0;
    for (k, (row, contact)) in contacts.iter().zip(rows).enumerate() {
        let block = rolls.binary_search_by_key(&k, |r| r.0).ok().and_then(|_| blocks.next());
        if recorded(row.id) {
            problem.contacts.push(contact);
            rolling.extend(block.map(|block| (kept, block)));
            kept += 1;
        } else {
            unlisted.push(UnlistedContact { id: row.id, contact, rolling: block });
        }
    }
    for (k, mut block) in rolling {
        block.bound_by = Some(map.first_contact + k);
        map.rolling.push((k, problem.contacts.len()));
        problem.contacts.push(block);
    }
    contacts.retain(|row| recorded(row.id));
    problem.lay_out(layout);
    unlisted
}

/// Impulses of contacts in a record.
pub(super) type RecordedImpulses = BTreeMap<ContactId, ContactMemory>;

/// Recorded impulses as unknowns of a problem that has the recorded contacts alone.
pub(super) fn impulses(
    builder: &StepProblemBuilder,
    joints: &[f64],
    recorded: &RecordedImpulses,
) -> Vec<f64> {
    let assembled = builder.assembled();
    let mut z = vec![0.0; builder.layout.impulses];
    for (location, joint) in builder.rows.joints.iter().zip(joints) {
        assembled.set_joint_impulse(*location, *joint, &mut z);
    }
    for (k, row) in builder.contacts.iter().enumerate() {
        let Some(impulse) = recorded.get(&row.id) else { continue };
        assembled.add_contact_impulse(k, row, impulse, &mut z);
    }
    z
}

/// Momentum Jᵀ p that impulses transfer to each velocity, with the sum of the sizes of its terms.
pub(super) fn transferred(builder: &StepProblemBuilder, z: &[f64]) -> Vec<[f64; 2]> {
    let assembled = builder.assembled();
    let starts = &builder.layout.velocity;
    let mut momentum = vec![[0.0; 2]; builder.layout.velocities()];
    assembled.for_each_impulse(z, |_, row, p| {
        row.for_each(starts, |i, x| {
            momentum[i][0] += p * x;
            momentum[i][1] += (p * x).abs();
        });
    });
    momentum
}

/// Compares the momentum that reported impulses transfer with that of the solver's.
pub(super) fn compare_transfer([reported, found]: [&[[f64; 2]]; 2], verdict: &mut Verdict) {
    let scale = reported.iter().fold(0.0, |m: f64, p| m.max(p[1]));
    for (i, ([own, terms], [other, _])) in reported.iter().zip(found).enumerate() {
        let limit = (MOMENTUM_TOLERANCE * terms).max(TRANSFER_TOLERANCE * scale);
        let place = || format!("momentum {i} that the reported impulses transfer");
        verdict.bound(Check::Momentum, (own - other).abs(), limit, place);
    }
}

/// Projection of a vector onto these orthogonal unit axes.
fn project(axes: impl Iterator<Item = [f64; 3]>, vector: [f64; 3]) -> [f64; 3] {
    let mut projection = [0.0; 3];
    for axis in axes {
        let along = dot(axis, vector);
        (0..3).for_each(|c| projection[c] += along * axis[c]);
    }
    projection
}

/// Compares recorded quantities of contacts that enter no equation: points, normals, gaps, coefficients, speeds, and
/// components of friction and moments without a row. `own` are the reports of the recorded impulses and velocity.
pub(super) fn compare(
    builder: &StepProblemBuilder,
    recorded: &BTreeMap<ContactId, &ContactReport>,
    own: &[ContactReport],
    scales: RecordScales,
    verdict: &mut Verdict,
) {
    for (row, own) in builder.contacts.iter().zip(own) {
        let Some(report) = recorded.get(&row.id) else { continue };
        let mut differs = |what: &str, value: f64, scale: f64| {
            let place = || format!("{what} of {}", row.id);
            verdict.bound(Check::Contact, value, FIGURE_TOLERANCE * scale, place);
        };
        differs("gap", (report.gap - row.gap).abs(), scales.length);
        differs("point", distance(&report.point, &row.point), scales.length);
        differs("normal", distance(&report.normal, &row.direction), 1.0);
        differs("friction coefficient", (report.mu - row.mu).abs(), row.mu.max(FRICTION_COEFFICIENT_FLOOR));
        if report.bodies != row.bodies {
            differs("bodies", f64::NAN, 1.0);
        }
        let friction = report.friction_impulse;
        let size = largest(&friction).max(report.normal_impulse.abs());
        let tangents = row.tangent_directions.into_iter();
        differs(
            "friction outside the tangent plane",
            distance(&project(tangents, friction), &friction),
            size,
        );
        differs("slip", distance(&report.slip, &own.slip), scales.speed);
        compare_moments(row, report, own, scales.speed, differs);
    }
}

/// Compares the recorded moment and relative angular velocity of a contact.
fn compare_moments(
    row: &ContactRow,
    report: &ContactReport,
    own: &ContactReport,
    speed: f64,
    mut differs: impl FnMut(&str, f64, f64),
) {
    let (moment, own) = match (report.moment, own.moment) {
        (Some(moment), Some(own)) => (moment, own),
        (None, None) => return,
        _ => return differs("presence of moment friction", f64::NAN, 1.0),
    };
    let axes = turning_axes(row).into_iter().map(|(axis, _)| axis);
    differs(
        "moment about an axis without friction",
        distance(&project(axes, moment.impulse), &moment.impulse),
        largest(&moment.impulse),
    );
    differs("angular velocity", distance(&moment.turn, &own.turn), speed.max(largest(&own.turn)));
    if moment.rolling.is_some() != own.rolling.is_some() {
        differs("presence of rolling friction", f64::NAN, 1.0);
    }
}

/// Slip speeds between which a closed contact may be said to stick or to slip [m/s]: a scheme reports slip above `part`
/// of the speed scale `speed`, or above the tolerance of its solve where that is larger. Recorded speeds of the size
/// `size` have round-off.
pub(super) fn slow_speeds(part: f64, tolerance: f64, speed: f64, size: f64) -> [f64; 2] {
    let round_off = FIGURE_TOLERANCE * size;
    let slip = SLOW_SPEED_FACTOR * part.max(tolerance) * speed + round_off;
    [part * speed / SLOW_SPEED_FACTOR, slip]
}

/// Compares the modes of contacts with those at the smallest and the largest speed that may count as slip.
pub(super) fn compare_modes<'a>(
    recorded: impl Iterator<Item = &'a ContactReport>,
    [smallest, largest]: [&[ContactReport]; 2],
    verdict: &mut Verdict,
) {
    for ((recorded, a), b) in recorded.zip(smallest).zip(largest) {
        let rolling = |report: &ContactReport| report.moment.and_then(|moment| moment.rolling);
        if recorded.mode != a.mode && recorded.mode != b.mode {
            verdict.fail(Check::Contact, format!("mode of {}: {:?}", a.id, recorded.mode));
        }
        if rolling(recorded) != rolling(a) && rolling(recorded) != rolling(b) {
            verdict.fail(Check::Contact, format!("mode of rolling of {}", a.id));
        }
    }
}

/// Compares the contacts and joints of a report with the recomputed ones.
pub(super) fn compare_reports(
    contacts: &[ContactReport],
    joints: &[JointReport],
    report: &StepReport,
    scales: RecordScales,
    verdict: &mut Verdict,
) {
    let listed =
        report.contacts.iter().map(|c| (c.id, c.bodies)).eq(contacts.iter().map(|c| (c.id, c.bodies)));
    if !listed || !report.joints.iter().map(|j| j.joint).eq(joints.iter().map(|j| j.joint)) {
        verdict.fail(Check::Record, "contacts and joints that are not those of the step");
        return;
    }
    let sizes = contacts.iter().map(|c| c.normal_impulse.abs()).chain(joints.iter().map(|j| j.impulse.abs()));
    let impulse = sizes.fold(0.0, f64::max);
    for (own, recorded) in contacts.iter().zip(&report.contacts) {
        let mut differs = |what: &str, value: f64, scale: f64| {
            let place = || format!("{what} of {}", own.id);
            verdict.bound(Check::Contact, value, FIGURE_TOLERANCE * scale, place);
        };
        differs("normal impulse", (own.normal_impulse - recorded.normal_impulse).abs(), impulse);
        differs("friction impulse", distance(&own.friction_impulse, &recorded.friction_impulse), impulse);
        differs("slip", distance(&own.slip, &recorded.slip), scales.speed);
        differs("gap", (own.gap - recorded.gap).abs(), scales.length);
        differs("point", distance(&own.point, &recorded.point), scales.length);
        differs("normal", distance(&own.normal, &recorded.normal), 1.0);
        differs("friction coefficient", (own.mu - recorded.mu).abs(), own.mu.max(FRICTION_COEFFICIENT_FLOOR));
        if recorded.moment.is_some() || recorded.determined.is_some() {
            differs("moment or determined impulse, which this scheme does not have,", f64::NAN, 1.0);
        }
    }
    for (i, (own, recorded)) in joints.iter().zip(&report.joints).enumerate() {
        let value = (own.impulse - recorded.impulse).abs();
        let place = || format!("impulse of joint row {i}");
        verdict.bound(Check::Joints, value, FIGURE_TOLERANCE * impulse, place);
        if recorded.determined.is_some() {
            verdict.fail(Check::Joints, format!("joint row {i} is said to be determined or not"));
        }
    }
}

/// Closing speed of a contact without impulse at a velocity [m/s]; not positive where it does not close.
pub(super) fn closing_speed(builder: &StepProblemBuilder, unlisted: &UnlistedContact, v: &[f64]) -> f64 {
    let UnlistedContact { contact, rolling, .. } = unlisted;
    let starts = &builder.layout.velocity;
    let speed = |row: &stiction_lcp::OffsetRow| row.row.dot(starts, v) + row.offset;
    let Some(normal) = &contact.normal else { return 0.0 };
    let mut opens = speed(normal);
    if builder.problem.law == FrictionLaw::Convex {
        // the convex relaxation opens sliding contacts, AH04 (2.13)
        for block in [contact].into_iter().chain(rolling) {
            let mut slip = [0.0; 3];
            slip.iter_mut().zip(&block.tangents).for_each(|(u, t)| *u = speed(t));
            opens -= block.mu * block.slip_speed(slip);
        }
    }
    -opens
}
