//! Where a shape is: its bounding box, its size and its support points.

use nalgebra::{Isometry2, Point2, Vector2};

use super::Shape;
use crate::climb::FEW;

/// A box along the axes of the world; infinite where a shape is unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least coordinates [m].
    pub min: Point2<f64>,
    /// Greatest coordinates [m].
    pub max: Point2<f64>,
}

impl Aabb {
    /// Whether the boxes share a point; touching boxes do.
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..2).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// The box around this one and its copy after a finite displacement [m].
    #[must_use]
    pub fn swept(&self, displacement: &Vector2<f64>) -> Self {
        self.union(&Self { min: self.min + displacement, max: self.max + displacement })
    }

    /// The box with a margin [m] on every side.
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        let m = Vector2::repeat(margin);
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
/// A half-plane is bounded on one side when its normal lies exactly along an axis of the world, and nowhere
/// otherwise.
pub fn bounds(shape: &Shape, pose: &Isometry2<f64>) -> Aabb {
    let mut aabb = Aabb { min: Point2::from([f64::NEG_INFINITY; 2]), max: Point2::from([f64::INFINITY; 2]) };
    for i in 0..2 {
        let mut axis = Vector2::zeros();
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
        // corners turn by round-off at least, and climbing over them may end that far below the top
        Shape::Polygon(polygon) if polygon.vertices().len() > FEW => aabb.grown(1e-9 * polygon.size()),
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
        Shape::HalfPlane => f64::INFINITY,
    }
}

/// A point of the shape farthest along a direction, both in the local frame [m]; `None` where there is none,
/// that is for a half-plane in every direction but its normal. The direction need not be a unit vector.
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
        Shape::HalfPlane => (d.x == 0.0 && d.y > 0.0).then(Point2::origin),
    }
}
