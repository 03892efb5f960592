//! Mistakes that planar worlds alone have.

use super::{Attached, Body, Motion, Shape, Twist, World};
use crate::error::Mistakes;
use crate::world::{Dimension, EuclideanVector, is_given};
use nalgebra::{Isometry2, Vector2};

/// Largest difference of a unit vector from unit length: the round-off of ten digits. Range 1e-12 to 1e-6: below it
/// literals with ten digits are refused, above it rows along the axis are wrong by as much.
const UNIT_VECTOR: f64 = 1e-9;

/// Mistakes of the settings of a planar world.
pub(super) fn settings(world: &World, found: &mut Mistakes) {
    if !world.bodies().any(|(_, body)| body.moves()) {
        found.add("world", "no body moves");
    }
}

/// Mistake of a pose, if any.
pub(super) fn pose_mistake(pose: &Isometry2<f64>) -> Option<String> {
    let is_finite = pose.translation.vector.all_finite() && super::Planar::is_finite_rotation(&pose.rotation);
    (!is_finite).then(|| "must be finite".into())
}

/// Mistake of an axis, if any: its length is that of the coordinate along it.
pub(super) fn axis_mistake(axis: &Vector2<f64>) -> Option<String> {
    let length = axis.norm();
    // true for NaN too
    (!((length - 1.0).abs() <= UNIT_VECTOR)).then(|| format!("must be a unit vector, not of length {length}"))
}

/// Mistake of the velocity of a body, if any.
pub(super) fn velocity_mistake(body: &Body) -> Option<String> {
    let Twist { linear, angular } = body.velocity;
    let turns = angular != 0.0;
    match &body.motion {
        Motion::Point if turns => Some(format!("a point does not turn at {angular} rad/s")),
        Motion::Slider(axis) if turns || axis.perp(&linear).abs() > UNIT_VECTOR * linear.norm() => {
            Some("a slider moves along its axis only".into())
        }
        Motion::Fixed if turns || linear != Vector2::zeros() => Some("a fixed body has none".into()),
        _ => None,
    }
}

/// Mistake of a moment of inertia, if any.
pub(super) fn inertia_mistake(body: &Body, inertia: f64) -> Option<String> {
    // a density that gives a mass gives an inertia too, unless it underflows
    let what = if is_given(&body.mass) { "must be finite and > 0" } else { "of so small a body underflows" };
    (!(inertia.is_finite() && inertia > 0.0))
        .then(|| format!("a moment of inertia of {inertia} kg m² {what}"))
}

/// Mistakes of a shape on a planar body.
pub(super) fn attached(body: &Body, shape: &Attached, place: &str, found: &mut Mistakes) {
    if shape.shape == Shape::HalfPlane && matches!(body.motion, Motion::Rigid) {
        // its surface would be infinitely fast, and every contact within reach
        found.add(place, "a half_plane cannot turn freely: use a polygon");
    }
}
