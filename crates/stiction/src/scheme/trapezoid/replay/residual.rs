//! Residuals of recorded velocities and impulses that a certificate does not cover.

use super::super::constants::{
    MAX_SVD_ITERATIONS, MAX_UNDETERMINED_PART, MOMENTUM_ROUND_OFF_RELATIVE, REDUNDANT_ROW_RELATIVE,
    ROW_ROUND_OFF, SVD_TOLERANCE, VERIFIED_SLIP_RELATIVE,
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
    for direction in orthonormal_basis(columns) {
        rest -= &direction * direction.dot(&change);
    }
    // a body at rest is measured by the scale of speeds
    let resting = problem.speed_scale.max(least) * roots.iter().fold(0.0, |m: f64, root| m.max(*root));
    let size = change.norm() + MOMENTUM_ROUND_OFF_RELATIVE * weighted(v).norm().max(resting);
    let outside = if size > 0.0 { rest.norm() / size } else { 0.0 };
    let slowest = problem.speed_scale.max(least).max(f64::MIN_POSITIVE);
    let worst = outside.max(speeds / slowest);
    if worst.is_nan() { f64::INFINITY } else { worst }
}

/// Orthonormal basis of the span of some columns: the longest part of a column outside the basis so far, again and again,
/// until all parts are redundant. Decompositions by iteration lose digits where columns are redundant.
fn orthonormal_basis(mut columns: Vec<DVector<f64>>) -> Vec<DVector<f64>> {
    let longest = |columns: &[DVector<f64>]| {
        let lengths = columns.iter().map(DVector::norm).enumerate();
        lengths.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let least = REDUNDANT_ROW_RELATIVE * longest(&columns).map_or(0.0, |longest| longest.1);
    let mut basis: Vec<DVector<f64>> = Vec::new();
    while let Some((k, length)) = longest(&columns).filter(|(_, length)| *length > least) {
        let mut direction = columns.swap_remove(k) / length;
        // what rounding left of the basis in it
        for earlier in &basis {
            direction -= earlier * earlier.dot(&direction);
        }
        direction.normalize_mut();
        for column in &mut columns {
            *column -= &direction * direction.dot(column);
        }
        basis.push(direction);
    }
    basis
}

/// Judgement of the cones of impulses in given modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConeJudgement {
    /// All impulses lie in their cones, and friction is against the slip.
    pub(super) admissible: bool,
    /// Largest distance outside its cone of an impulse that the motion determines, or slip along friction, relative to the
    /// speed of the certificate. Errors of a substep cause little of it.
    pub(super) wrong: f64,
}

/// Judges whether impulses lie in their cones and friction is against the slip, at the velocity at which its rows hold.
/// Impulses of redundant contacts may lie outside where others with the same motion lie within.
pub(super) fn judge_cones(
    problem: &StepProblem,
    layout: &Layout,
    modes: &[ContactMode],
    candidate: &Candidate,
    tolerance: f64,
) -> ConeJudgement {
    let slip = |t: &OffsetRow| t.row.dot(&layout.velocity, &candidate.velocity) + t.offset;
    let speed = candidate.certificate.speed;
    let (mut admissible, mut wrong, mut outside) = (true, 0.0_f64, Vec::new());
    let contacts = problem.contacts.iter().zip(modes).zip(&candidate.certificate.contacts);
    for (i, ((contact, mode), own)) in contacts.enumerate() {
        if let Some(along) = mode.slip_direction() {
            let slips = contact.tangents.iter().zip(along);
            let along = slips.map(|(t, a)| a * slip(t)).sum::<f64>() / speed;
            admissible &= along <= VERIFIED_SLIP_RELATIVE;
            wrong = wrong.max(along);
        }
        if !(own.cone <= tolerance) {
            admissible = false;
            outside.push((i, own.cone));
        }
    }
    if !outside.is_empty() {
        let determined = determined_contacts(problem, layout, modes);
        for (i, cone) in outside {
            if determined.get(i).copied().unwrap_or(false) {
                wrong = wrong.max(cone);
            }
        }
    }
    ConeJudgement { admissible, wrong }
}

/// Whether the motion determines the impulses of each contact in its mode: no combination with other impulses that moves
/// nothing has a part in it.
fn determined_contacts(problem: &StepProblem, layout: &Layout, modes: &[ContactMode]) -> Vec<bool> {
    let start = &layout.velocity;
    let n = start.last().copied().unwrap_or(0);
    let (mut columns, mut owners): (Vec<DVector<f64>>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    let mut add = |owner: Option<usize>, parts: &[(&Row, f64)]| {
        let mut column: DVector<f64> = DVector::zeros(n);
        for (row, factor) in parts {
            row.for_each(start, |i, x| column[i] += factor * x);
        }
        let length = column.norm();
        if length > 0.0 {
            columns.push(column / length);
            owners.push(owner);
        }
    };
    problem.joints.iter().for_each(|joint| add(None, &[(&joint.row.row, 1.0)]));
    for (i, (contact, mode)) in problem.contacts.iter().zip(modes).enumerate() {
        match (mode.mode, &contact.normal) {
            (Mode::Stick, _) => contact.rows().for_each(|row| add(Some(i), &[(&row.row, 1.0)])),
            (Mode::Slip, Some(normal)) => {
                let friction = contact.tangents.iter().zip(mode.direction);
                let parts = friction.map(|(t, along)| (&t.row, contact.mu * along));
                let parts: Vec<(&Row, f64)> = std::iter::once((&normal.row, 1.0)).chain(parts).collect();
                add(Some(i), &parts);
            }
            _ => {}
        }
    }
    let mut determined = vec![true; problem.contacts.len()];
    if columns.is_empty() || columns.iter().any(|column| column.iter().any(|x| !x.is_finite())) {
        return determined;
    }
    let svd = DMatrix::from_columns(&columns).try_svd(false, true, SVD_TOLERANCE, MAX_SVD_ITERATIONS);
    let Some((svd, rows)) = svd.and_then(|svd| svd.v_t.clone().map(|rows| (svd, rows))) else {
        return vec![false; problem.contacts.len()];
    };
    let least = REDUNDANT_ROW_RELATIVE * svd.singular_values.amax();
    for (j, owner) in owners.iter().enumerate() {
        let Some(i) = *owner else { continue };
        let kept = (0..rows.nrows()).filter(|&k| svd.singular_values[k] > least);
        let inside: f64 = kept.map(|k| rows[(k, j)].powi(2)).sum();
        determined[i] &= inside > 1.0 - MAX_UNDETERMINED_PART;
    }
    determined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of a box that lies on a plane: four rows of rank three, and the same rows turned a little and repeated.
    #[test]
    fn bases_of_redundant_rows_are_orthonormal_and_whole() {
        let corner = |x: f64, y: f64, tilt: f64| {
            let (sin, cos) = tilt.sin_cos();
            DVector::from_vec(vec![0.0, 0.0, 1.0, cos * y, -x, sin * y])
        };
        for tilt in [0.0, 1e-6, 0.3, 1.2] {
            let corners = [(0.11, 0.273), (-0.11, 0.273), (-0.11, -0.273), (0.11, -0.273), (0.11, 0.273)];
            let columns: Vec<DVector<f64>> = corners.iter().map(|&(x, y)| corner(x, y, tilt)).collect();
            let basis = orthonormal_basis(columns.clone());
            assert_eq!(basis.len(), 3);
            for (i, a) in basis.iter().enumerate() {
                for (j, b) in basis.iter().enumerate() {
                    assert!((a.dot(b) - f64::from(u8::from(i == j))).abs() < 1e-14, "{i} {j}");
                }
            }
            for column in columns {
                let inside = basis.iter().map(|d| d * d.dot(&column)).sum::<DVector<f64>>();
                assert!((inside - column).norm() < 1e-14);
            }
        }
        assert!(orthonormal_basis(Vec::new()).is_empty());
        assert!(orthonormal_basis(vec![DVector::zeros(3)]).is_empty());
    }
}
