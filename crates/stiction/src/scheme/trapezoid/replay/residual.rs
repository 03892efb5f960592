//! Residuals of recorded velocities and impulses that a certificate does not cover.

use super::super::constants::{
    MAX_SVD_ITERATIONS, MOMENTUM_ROUND_OFF_RELATIVE, REDUNDANT_ROW_RELATIVE, ROW_ROUND_OFF, SVD_TOLERANCE,
    VERIFIED_SLIP_RELATIVE,
};
use super::super::projector::AssembledProjection;
use nalgebra::{DMatrix, DVector};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Candidate, ContactMode, Mode, OffsetRow, Row, StepProblem};

/// Residual of a projected velocity: the part of M(v⁺ − v) that no impulse in the modes gives, relative to it, and the
/// speeds of the rows at v⁺, relative to the speed scale or to `least`; the larger. Redundant rows agree to the round-off
/// of the model only, however small the velocities are.
pub(super) fn velocity_residual(assembled: &AssembledProjection, v: &[f64], to: &[f64], least: f64) -> f64 {
    let AssembledProjection { problem, layout, modes } = *assembled;
    let start = &layout.velocity;
    let n = v.len();
    let mut columns: Vec<DVector<f64>> = Vec::new();
    let mut speeds: f64 = 0.0;
    // weighted by √m, so that rotation and translation are measured alike
    let mut roots = Vec::with_capacity(n);
    for body in &problem.bodies {
        roots.extend((0..body.velocities).map(|i| body.mass[(i, i)].sqrt()));
    }
    let column = |parts: &[(&Row, f64)]| {
        let mut column = DVector::zeros(n);
        for (row, factor) in parts {
            row.for_each(start, |i, x| column[i] += factor * x / roots[i]);
        }
        column
    };
    let mut check_speed = |row: &Row, offset: f64| {
        let mut terms = offset.abs();
        row.for_each(start, |i, x| terms += x.abs() * to[i].abs().max(v[i].abs()));
        // a sum is as exact as its terms, and a difference as what it is taken from
        let excess = (row.dot(start, to) + offset).abs() - ROW_ROUND_OFF * terms;
        speeds = speeds.max(if excess.is_nan() { f64::INFINITY } else { excess });
    };
    for joint in &problem.joints {
        columns.push(column(&[(&joint.row.row, 1.0)]));
        check_speed(&joint.row.row, joint.row.offset);
    }
    for (contact, mode) in problem.contacts.iter().zip(modes) {
        match mode.mode {
            Mode::Open => {}
            Mode::Stick => {
                for row in contact.rows() {
                    columns.push(column(&[(&row.row, 1.0)]));
                    check_speed(&row.row, row.offset);
                }
            }
            Mode::Slip => {
                let Some(normal) = &contact.normal else { continue };
                let mut parts = vec![(&normal.row, 1.0)];
                parts.extend(
                    contact.tangents.iter().zip(mode.direction).map(|(t, a)| (&t.row, contact.mu * a)),
                );
                columns.push(column(&parts));
                check_speed(&normal.row, normal.offset);
            }
        }
    }
    let weighted = |v: &[f64]| {
        let mut product = vec![0.0; n];
        problem.multiply_mass(start, v, &mut product);
        DVector::from_iterator(n, product.iter().zip(&roots).map(|(p, root)| p / root))
    };
    let difference: Vec<f64> = to.iter().zip(v).map(|(a, b)| a - b).collect();
    let change = weighted(&difference);
    let mut rest = change.clone();
    if columns.iter().any(|column| column.iter().any(|x| !x.is_finite())) {
        return f64::INFINITY;
    }
    if !columns.is_empty() {
        let svd = DMatrix::from_columns(&columns).try_svd(true, false, SVD_TOLERANCE, MAX_SVD_ITERATIONS);
        let Some(svd) = svd else { return f64::INFINITY };
        let least = REDUNDANT_ROW_RELATIVE * svd.singular_values.amax();
        for (k, direction) in svd.u.iter().flat_map(|u| u.column_iter()).enumerate() {
            if svd.singular_values[k] > least {
                rest -= direction * direction.dot(&change);
            }
        }
    }
    // a body at rest is measured by the scale of speeds
    let resting = problem.speed_scale.max(least) * roots.iter().fold(0.0, |m: f64, root| m.max(*root));
    let size = change.norm() + MOMENTUM_ROUND_OFF_RELATIVE * weighted(v).norm().max(resting);
    let outside = if size > 0.0 { rest.norm() / size } else { 0.0 };
    let slowest = problem.speed_scale.max(least).max(f64::MIN_POSITIVE);
    let worst = outside.max(speeds / slowest);
    if worst.is_nan() { f64::INFINITY } else { worst }
}

/// Whether impulses lie in their cones and friction is against the slip, at the velocity at which its rows hold.
pub(super) fn is_admissible(
    problem: &StepProblem,
    layout: &Layout,
    modes: &[ContactMode],
    candidate: &Candidate,
    tolerance: f64,
) -> bool {
    let slip = |t: &OffsetRow| t.row.dot(&layout.velocity, &candidate.velocity) + t.offset;
    let speed = candidate.certificate.speed;
    let contacts = problem.contacts.iter().zip(modes).zip(&candidate.certificate.contacts);
    contacts.into_iter().all(|((contact, mode), own)| {
        let against = mode.slip_direction().is_none_or(|along| {
            let slips = contact.tangents.iter().zip(along);
            slips.map(|(t, a)| a * slip(t)).sum::<f64>() <= VERIFIED_SLIP_RELATIVE * speed
        });
        own.cone <= tolerance && against
    })
}
