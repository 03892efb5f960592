//! Bounding box, size and support points of spatial shapes, for a broad phase.

use nalgebra::{Isometry3, Point3, Vector3};

use super::Shape;
use crate::aabb::{self, CLIMBING_MARGIN_RELATIVE};
use crate::climb::MAX_EXHAUSTIVE;

/// Axis-aligned bounding box in space.
pub type Aabb = aabb::Aabb<3>;

/// Bounding box of a shape in a pose.
///
/// A half-space is bounded on one side if its normal lies exactly along an axis of the world, and on none otherwise.
pub fn bounds(shape: &Shape, pose: &Isometry3<f64>) -> Aabb {
    let aabb = Aabb::from_support(pose, |direction| support(shape, direction));
    match shape.core().0 {
        Shape::Polyhedron(polyhedron) if polyhedron.vertices().len() > MAX_EXHAUSTIVE => {
            aabb.grown(CLIMBING_MARGIN_RELATIVE * polyhedron.size())
        }
        _ => aabb,
    }
}

/// Distance from the local origin to the farthest point of a shape [m]; infinite for a half-space.
pub fn size(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere { radius } => *radius,
        Shape::Ellipsoid { semi_axes: [a, b, c] } => a.max(*b).max(*c),
        Shape::Capsule { half_length, radius } => half_length + radius,
        Shape::Cuboid { half_extents } => Vector3::from(*half_extents).norm(),
        Shape::Polyhedron(p) => p.vertices().iter().map(|v| v.coords.norm()).fold(0.0, f64::max),
        Shape::Cylinder { half_length, radius } | Shape::Cone { half_length, radius } => {
            half_length.hypot(*radius)
        }
        Shape::Rounded { core, radius } => size(core) + radius,
        Shape::HalfSpace => f64::INFINITY,
    }
}

/// Support point: a point of the shape farthest along a direction, both in the local frame [m]. `None` for a
/// half-space in every direction but its normal. The direction need not be a unit vector.
pub fn support(shape: &Shape, direction: &Vector3<f64>) -> Option<Point3<f64>> {
    let d = direction;
    let outward = |r: f64| d.try_normalize(0.0).map_or(Vector3::zeros(), |u| r * u);
    match shape {
        Shape::Sphere { radius } => Some(Point3::from(outward(*radius))),
        Shape::Ellipsoid { semi_axes } => Some(on_ellipsoid(d, semi_axes)),
        Shape::Capsule { half_length, radius } => {
            let end = if d.z < 0.0 { -half_length } else { *half_length };
            Some(Point3::new(0.0, 0.0, end) + outward(*radius))
        }
        Shape::Cuboid { half_extents } => {
            let side = |i: usize| if d[i] < 0.0 { -half_extents[i] } else { half_extents[i] };
            Some(Point3::new(side(0), side(1), side(2)))
        }
        Shape::Polyhedron(polyhedron) => polyhedron.vertices().get(polyhedron.farthest(d)).copied(),
        Shape::Cylinder { half_length, radius } => Some(on_cylinder(d, *half_length, *radius)),
        Shape::Cone { half_length, radius } => Some(on_cone(d, *half_length, *radius)),
        Shape::Rounded { core, radius } => Some(support(core, d)? + outward(*radius)),
        Shape::HalfSpace => (d.x == 0.0 && d.y == 0.0 && d.z > 0.0).then(Point3::origin),
    }
}

/// Farthest point of an ellipsoid: ∇ sqrt(a² d_x² + b² d_y² + c² d_z²).
pub(super) fn on_ellipsoid(d: &Vector3<f64>, semi_axes: &[f64; 3]) -> Point3<f64> {
    let axes = Vector3::from(*semi_axes);
    let on_sphere = d.component_mul(&axes).try_normalize(0.0).unwrap_or_default();
    Point3::from(on_sphere.component_mul(&axes))
}

/// Farthest point of a cylinder along a direction.
pub(super) fn on_cylinder(d: &Vector3<f64>, half_length: f64, radius: f64) -> Point3<f64> {
    on_rim(d, radius, if d.z < 0.0 { -half_length } else { half_length })
}

/// Farthest point of a cone along a direction.
pub(super) fn on_cone(d: &Vector3<f64>, half_length: f64, radius: f64) -> Point3<f64> {
    if d.z * 2.0 * half_length > radius * d.x.hypot(d.y) {
        Point3::new(0.0, 0.0, half_length)
    } else {
        on_rim(d, radius, -half_length)
    }
}

/// Point of a circle about z that is farthest along a direction; its middle along z.
fn on_rim(d: &Vector3<f64>, radius: f64, z: f64) -> Point3<f64> {
    let across = d.xy().try_normalize(0.0).unwrap_or_default() * radius;
    Point3::new(across.x, across.y, z)
}
