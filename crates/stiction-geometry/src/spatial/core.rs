//! Core of a bounded shape: the convex body that is wrapped in its radius, in a pose.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::Shape;
use super::bounds::{on_cone, on_cylinder, on_ellipsoid};
use super::solid::{BoxFacets, Solid};
use crate::convex::Support;

/// Kind of a core.
pub(super) enum CoreKind<'a> {
    Point,
    /// Segment along local z.
    Segment {
        half_length: f64,
    },
    Solid(Solid<'a>),
    /// Cylinder about local z; a disc if it has no length.
    Cylinder {
        half_length: f64,
        radius: f64,
    },
    /// Cone about local z with its apex above.
    Cone {
        half_length: f64,
        radius: f64,
    },
    Ellipsoid {
        semi_axes: [f64; 3],
    },
}

/// Core in a pose, wrapped in a radius.
pub(super) struct Core<'a> {
    pub(super) kind: CoreKind<'a>,
    pub(super) pose: &'a Isometry3<f64>,
    /// Radius around the core [m].
    pub(super) radius: f64,
}

impl<'a> Core<'a> {
    /// Core of a bounded shape; `facets` are those of its core, if that is a box.
    pub(super) fn of(
        shape: &'a Shape,
        pose: &'a Isometry3<f64>,
        facets: Option<&'a BoxFacets>,
    ) -> Option<Self> {
        let (core, rounding) = shape.core();
        let (kind, radius) = match *core {
            Shape::Sphere { radius } => (CoreKind::Point, radius),
            Shape::Capsule { half_length, radius } => (CoreKind::Segment { half_length }, radius),
            Shape::Cylinder { half_length, radius } => (CoreKind::Cylinder { half_length, radius }, rounding),
            Shape::Cone { half_length, radius } => (CoreKind::Cone { half_length, radius }, rounding),
            Shape::Ellipsoid { semi_axes } => (CoreKind::Ellipsoid { semi_axes }, 0.0),
            Shape::Cuboid { .. } | Shape::Polyhedron(_) => {
                (CoreKind::Solid(Solid::of(core, facets)?), rounding)
            }
            Shape::Rounded { .. } | Shape::HalfSpace => return None,
        };
        Some(Self { kind, pose, radius })
    }

    /// Axis of a body of revolution, in the world.
    pub(super) fn axis(&self) -> Vector3<f64> {
        self.pose.rotation * Vector3::z()
    }

    /// Second derivative of the support function at a unit vector, of an ellipsoid; zero for all others.
    pub(super) fn curvature(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        let CoreKind::Ellipsoid { semi_axes } = self.kind else { return Matrix3::zeros() };
        let squares = Vector3::from(semi_axes).map(|a| a * a);
        let rotation = self.pose.rotation.to_rotation_matrix();
        let n = rotation.inverse_transform_vector(n);
        let scaled = squares.component_mul(&n);
        let h = n.dot(&scaled).sqrt();
        let point = scaled / h;
        let local = (Matrix3::from_diagonal(&squares) - point * point.transpose()) / h;
        rotation * local * rotation.transpose()
    }

    fn farthest_local(&self, d: &Vector3<f64>) -> Point3<f64> {
        match &self.kind {
            CoreKind::Point => Point3::origin(),
            CoreKind::Segment { half_length } => Point3::new(0.0, 0.0, half_length.copysign(d.z)),
            CoreKind::Solid(solid) => solid.farthest(d),
            CoreKind::Cylinder { half_length, radius } => on_cylinder(d, *half_length, *radius),
            CoreKind::Cone { half_length, radius } => on_cone(d, *half_length, *radius),
            CoreKind::Ellipsoid { semi_axes } => on_ellipsoid(d, semi_axes),
        }
    }
}

impl Support<3> for Core<'_> {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let local = self.pose.rotation.inverse_transform_vector(direction);
        (self.pose * self.farthest_local(&local)).coords
    }

    fn centre(&self) -> Vector3<f64> {
        let local = match &self.kind {
            CoreKind::Solid(solid) => solid.centre,
            // a quarter of the height above the base
            CoreKind::Cone { half_length, .. } => Point3::new(0.0, 0.0, -0.5 * half_length),
            _ => return self.pose.translation.vector,
        };
        (self.pose * local).coords
    }
}
