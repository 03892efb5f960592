//! Where a shape is: its bounding box, its size and its support points.

use nalgebra::{Isometry3, Point3, Vector3};

use super::Shape;
use crate::climb::FEW;

/// A box along the axes of the world; infinite where a shape is unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least coordinates [m].
    pub min: Point3<f64>,
    /// Greatest coordinates [m].
    pub max: Point3<f64>,
}

impl Aabb {
    /// Whether the boxes share a point; touching boxes do.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// The box around this one and its copy after a finite displacement [m].
    #[must_use]
    pub fn swept(&self, displacement: &Vector3<f64>) -> Self {
        self.union(&Self { min: self.min + displacement, max: self.max + displacement })
    }

    /// The box with a margin [m] on every side.
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        let m = Vector3::repeat(margin);
        Self { min: self.min - m, max: self.max + m }
    }

    /// The box around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }
}

/// Bounding box of a shape in a pose.
///
/// A half-space is bounded on one side when its normal lies exactly along an axis of the world, and nowhere
/// otherwise.
pub fn bounds(shape: &Shape, pose: &Isometry3<f64>) -> Aabb {
    let mut aabb = Aabb { min: Point3::from([f64::NEG_INFINITY; 3]), max: Point3::from([f64::INFINITY; 3]) };
    for i in 0..3 {
        let mut axis = Vector3::zeros();
        axis[i] = 1.0;
        let local = pose.rotation.inverse_transform_vector(&axis);
        if let Some(p) = support(shape, &local) {
            aabb.max[i] = (pose * p)[i];
        }
        if let Some(p) = support(shape, &-local) {
            aabb.min[i] = (pose * p)[i];
        }
    }
    match shape {
        // facets are flat to 1e-10 of the size only, and climbing over them may end that far below the top
        Shape::Polyhedron(polyhedron) if polyhedron.vertices().len() > FEW => {
            aabb.grown(1e-9 * polyhedron.size())
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
        Shape::HalfSpace => f64::INFINITY,
    }
}

/// A point of the shape farthest along a direction, both in the local frame [m]; `None` where there is none,
/// that is for a half-space in every direction but its normal. The direction need not be a unit vector.
pub fn support(shape: &Shape, direction: &Vector3<f64>) -> Option<Point3<f64>> {
    let d = direction;
    let outward = |r: f64| d.try_normalize(0.0).map_or(Vector3::zeros(), |u| r * u);
    match shape {
        Shape::Sphere { radius } => Some(Point3::from(outward(*radius))),
        // ∇ sqrt(a² d_x² + b² d_y² + c² d_z²)
        Shape::Ellipsoid { semi_axes } => {
            let axes = Vector3::from(*semi_axes);
            let on_sphere = d.component_mul(&axes).try_normalize(0.0).unwrap_or_default();
            Some(Point3::from(on_sphere.component_mul(&axes)))
        }
        Shape::Capsule { half_length, radius } => {
            let end = if d.z < 0.0 { -half_length } else { *half_length };
            Some(Point3::new(0.0, 0.0, end) + outward(*radius))
        }
        Shape::Cuboid { half_extents } => {
            let side = |i: usize| if d[i] < 0.0 { -half_extents[i] } else { half_extents[i] };
            Some(Point3::new(side(0), side(1), side(2)))
        }
        Shape::Polyhedron(polyhedron) => polyhedron.vertices().get(polyhedron.farthest(d) as usize).copied(),
        Shape::HalfSpace => (d.x == 0.0 && d.y == 0.0 && d.z > 0.0).then(Point3::origin),
    }
}
