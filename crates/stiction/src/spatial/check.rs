//! Mistakes that spatial worlds alone have.

use super::{Attached, Body, World};
use crate::error::Mistakes;
use crate::world::{EuclideanVector, is_given};
use nalgebra::{Isometry3, Matrix3, SymmetricEigen, Vector3};

/// Largest difference of the norm of a rotation's quaternion from 1: far above the round-off of any composition.
/// Range 1e-13 to 1e-6: below it composed rotations are refused, above it gaps and rows, which take rotations at
/// their word, are wrong by as much.
const UNIT_QUATERNION: f64 = 1e-9;

/// Asymmetry of a tensor of inertia, and excess over the triangle inequality, that count as round-off, relative to its
/// largest entry. Range 1e-13 to 1e-6: below it rotated tensors are refused, above it impossible ones pass.
const INERTIA_RELATIVE: f64 = 1e-9;

/// Least principal moment of inertia, relative to the largest entry. Range 1e-15 to 1e-9: below it the mass matrix is
/// singular in double precision, above it thin rods are refused.
const MIN_MOMENT_RELATIVE: f64 = 1e-12;

/// Mistakes of the settings of a spatial world.
pub(super) fn settings(world: &World, found: &mut Mistakes) {
    let directions = world.facets.map(|f| f.directions);
    if let Some(n) = directions.filter(|n| *n < 4 || !n.is_multiple_of(2)) {
        found.add("world, facets", format!("{n} directions must be an even number of at least 4"));
    }
}

/// Mistake of a pose, if any.
pub(super) fn pose_mistake(pose: &Isometry3<f64>) -> Option<String> {
    let norm = pose.rotation.quaternion().norm();
    if !pose.translation.vector.all_finite() || !norm.is_finite() {
        return Some("must be finite".into());
    }
    ((norm - 1.0).abs() > UNIT_QUATERNION)
        .then(|| format!("has a quaternion of the norm {norm}: it must be 1"))
}

/// Mistake of an axis, if any: its length does not matter.
pub(super) fn axis_mistake(axis: &Vector3<f64>) -> Option<String> {
    axis.direction().is_none().then(|| "must be finite and not 0".into())
}

/// Mistake of a tensor of inertia, if any.
pub(super) fn inertia_mistake(body: &Body, inertia: &Matrix3<f64>) -> Option<String> {
    // inertia from a density is right by construction
    if !is_given(&body.mass) {
        return None;
    }
    if !inertia.iter().copied().all(f64::is_finite) {
        return Some("must be finite".into());
    }
    let size = inertia.amax();
    let slack = INERTIA_RELATIVE * size;
    if (inertia - inertia.transpose()).amax() > slack {
        return Some("must be symmetric".into());
    }
    let mut moments: Vec<f64> = SymmetricEigen::new(*inertia).eigenvalues.iter().copied().collect();
    moments.sort_unstable_by(f64::total_cmp);
    let [a, b, c] = moments[..] else { return None };
    if a <= MIN_MOMENT_RELATIVE * size {
        return Some(format!("its least principal moment {a} kg m² must be positive"));
    }
    (a + b < c - slack).then(|| {
        format!("no body has the principal moments {a}, {b} and {c} kg m²: two of them are never less than the third")
    })
}

/// Mistakes of a shape on a spatial body.
pub(super) fn attached(_: &Body, shape: &Attached, place: &str, found: &mut Mistakes) {
    let Some(grain) = &shape.grain else { return };
    if grain.direction.direction().is_none() {
        found.add(format!("{place}, grain"), "the direction must be finite and not 0");
    }
    if !(grain.ratio.is_finite() && grain.ratio > 0.0) {
        let what = format!("the ratio {} must be positive and finite", grain.ratio);
        found.add(format!("{place}, grain"), what);
    }
}
