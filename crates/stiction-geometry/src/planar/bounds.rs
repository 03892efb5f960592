//! Bounding box, size and support points of planar shapes, for a broad phase.

use nalgebra::{Isometry2, Point2, Vector2};

use super::Shape;
use crate::aabb::{self, CLIMBING_MARGIN_RELATIVE};
use crate::climb::MAX_EXHAUSTIVE;

/// Axis-aligned bounding box in the plane.
pub type Aabb = aabb::Aabb<2>;

/// Bounding box of a shape in a pose.
///
/// A half-plane is bounded on one side if its normal lies exactly along an axis of the world, and on none otherwise.
pub fn bounds(shape: &Shape, pose: &Isometry2<f64>) -> Aabb {
    let aabb = Aabb::from_support(pose, |direction| support(shape, direction));
    match shape.core().0 {
        Shape::Polygon(polygon) if polygon.vertices().len() > MAX_EXHAUSTIVE => {
            aabb.grown(CLIMBING_MARGIN_RELATIVE * polygon.size())
        }
        _ => aabb,
    }
}

/// Distance from the local origin to the farthest point of a shape [m]; infinite for a half-plane.
pub fn size(shape: &Shape) -> f64 {
    match shape {
        Shape::Disk { radius } => *radius,
        Shape::Ellipse { semi_axes: [a, b] } => a.max(*b),
        Shape::Capsule { half_length, radius } => half_length + radius,
        Shape::Polygon(polygon) => polygon.vertices().iter().map(|v| v.coords.norm()).fold(0.0, f64::max),
        Shape::Rounded { core, radius } => size(core) + radius,
        Shape::HalfPlane => f64::INFINITY,
    }
}

/// Support point: a point of the shape farthest along a direction, both in the local frame [m]. `None` for a
/// half-plane in every direction but its normal. The direction need not be a unit vector.
pub fn support(shape: &Shape, direction: &Vector2<f64>) -> Option<Point2<f64>> {
    let d = direction;
    let outward = |r: f64| d.try_normalize(0.0).map_or(Vector2::zeros(), |u| r * u);
    match shape {
        Shape::Disk { radius } => Some(Point2::from(outward(*radius))),
        // ∇ sqrt(a² d_x² + b² d_y²)
        Shape::Ellipse { semi_axes } => {
            let axes = Vector2::from(*semi_axes);
            let on_circle = d.component_mul(&axes).try_normalize(0.0).unwrap_or_default();
            Some(Point2::from(on_circle.component_mul(&axes)))
        }
        Shape::Capsule { half_length, radius } => {
            let end = if d.x < 0.0 { -half_length } else { *half_length };
            Some(Point2::new(end, 0.0) + outward(*radius))
        }
        Shape::Polygon(polygon) => polygon.vertices().get(polygon.farthest(d)).copied(),
        Shape::Rounded { core, radius } => Some(support(core, d)? + outward(*radius)),
        Shape::HalfPlane => (d.x == 0.0 && d.y > 0.0).then(Point2::origin),
    }
}
