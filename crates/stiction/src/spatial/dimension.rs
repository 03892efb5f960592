//! Vocabulary of space.

use super::contact::{Facets, Grain};
use super::joint::JointKind;
use crate::world::{Dimension, Mass, MassProperties, ShapeRef};
use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use stiction_geometry::spatial::{self, Shape, mass};
use stiction_geometry::{MassError, ShapeError};

/// Space.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spatial;

impl Dimension for Spatial {
    const COUNT: usize = 3;

    type Vector = Vector3<f64>;
    type Point = Point3<f64>;
    type Rotation = UnitQuaternion<f64>;
    type Isometry = Isometry3<f64>;
    type Angular = Vector3<f64>;
    type Inertia = Matrix3<f64>;
    type Shape = Shape;
    type SurfaceVelocity = Vector3<f64>;
    type Grain = Option<Grain>;
    type Facets = Option<Facets>;
    type JointKind = JointKind;

    fn vector(xyz: [f64; 3]) -> Vector3<f64> {
        xyz.into()
    }

    fn xyz(vector: &Vector3<f64>) -> [f64; 3] {
        (*vector).into()
    }

    fn axial(angular: &Vector3<f64>) -> [f64; 3] {
        (*angular).into()
    }

    fn pose_in_space(pose: &Isometry3<f64>) -> ([f64; 3], [f64; 4]) {
        let q = pose.rotation;
        (Self::xyz(&pose.translation.vector), [q.w, q.i, q.j, q.k])
    }

    fn angle(_: &UnitQuaternion<f64>) -> Option<f64> {
        None
    }

    fn is_finite_rotation(rotation: &UnitQuaternion<f64>) -> bool {
        rotation.coords.iter().all(|x| x.is_finite())
    }

    fn shape_ref(shape: &Shape) -> ShapeRef<'_> {
        ShapeRef::Spatial(shape)
    }

    fn shape_kind(shape: &Shape) -> &'static str {
        shape.kind()
    }

    fn check_shape(shape: &Shape) -> Result<(), ShapeError> {
        shape.check()
    }

    fn ball(radius: f64) -> Shape {
        Shape::Sphere { radius }
    }

    fn cube(half_extent: f64) -> Result<Shape, ShapeError> {
        Ok(Shape::Cuboid { half_extents: [half_extent; 3] })
    }

    fn mass_of<'a>(
        shapes: impl Iterator<Item = (&'a Shape, &'a Isometry3<f64>)>,
        density: f64,
    ) -> Result<MassProperties<Self>, MassError> {
        let parts = shapes.map(|(shape, pose)| mass(shape, density).map(|part| (*pose, part)));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let spatial::MassProperties { mass, centre, inertia } = spatial::MassProperties::combine(parts)?;
        Ok(MassProperties { mass, centre, inertia })
    }
}

impl Mass<Spatial> {
    /// Mass [kg] and moments of inertia about the axes of the body frame [kg m²], with the centre of mass at the
    /// origin of the frame.
    pub fn given(mass: f64, inertia: [f64; 3]) -> Self {
        let inertia = Matrix3::from_diagonal(&Vector3::from(inertia));
        Self::Given { mass, centre: Point3::origin(), inertia }
    }
}
