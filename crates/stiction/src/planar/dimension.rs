//! Vocabulary of the plane.

use super::joint::JointKind;
use crate::world::{Dimension, Mass, MassProperties, ShapeRef};
use nalgebra::{Isometry2, Point2, UnitComplex, Vector2};
use stiction_geometry::planar::{self, Polygon, Shape, mass};
use stiction_geometry::{MassError, ShapeError};

/// The plane.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Planar;

impl Dimension for Planar {
    const COUNT: usize = 2;

    type Vector = Vector2<f64>;
    type Point = Point2<f64>;
    type Rotation = UnitComplex<f64>;
    type Isometry = Isometry2<f64>;
    type Angular = f64;
    type Inertia = f64;
    type Shape = Shape;
    type SurfaceVelocity = f64;
    type Grain = ();
    type Facets = ();
    type JointKind = JointKind;

    fn vector([x, y, _]: [f64; 3]) -> Vector2<f64> {
        Vector2::new(x, y)
    }

    fn xyz(vector: &Vector2<f64>) -> [f64; 3] {
        [vector.x, vector.y, 0.0]
    }

    fn axial(angular: &f64) -> [f64; 3] {
        [0.0, 0.0, *angular]
    }

    fn pose_in_space(pose: &Isometry2<f64>) -> ([f64; 3], [f64; 4]) {
        let (sin, cos) = (0.5 * pose.rotation.angle()).sin_cos();
        (Self::xyz(&pose.translation.vector), [cos, 0.0, 0.0, sin])
    }

    fn angle(rotation: &UnitComplex<f64>) -> Option<f64> {
        Some(rotation.angle())
    }

    fn is_finite_rotation(rotation: &UnitComplex<f64>) -> bool {
        rotation.re.is_finite() && rotation.im.is_finite()
    }

    fn shape_ref(shape: &Shape) -> ShapeRef<'_> {
        ShapeRef::Planar(shape)
    }

    fn shape_kind(shape: &Shape) -> &'static str {
        shape.kind()
    }

    fn check_shape(shape: &Shape) -> Result<(), ShapeError> {
        shape.check()
    }

    fn ball(radius: f64) -> Shape {
        Shape::Disk { radius }
    }

    fn cube(half_extent: f64) -> Result<Shape, ShapeError> {
        Polygon::rectangle([half_extent; 2]).map(Shape::Polygon)
    }

    fn mass_of<'a>(
        shapes: impl Iterator<Item = (&'a Shape, &'a Isometry2<f64>)>,
        density: f64,
    ) -> Result<MassProperties<Self>, MassError> {
        let mut parts = Vec::new();
        for (shape, pose) in shapes {
            match mass(shape, density) {
                Ok(part) => parts.push((*pose, part)),
                // points and segments weigh nothing beside other shapes
                Err(MassError::Massless { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let planar::MassProperties { mass, centre, inertia } = planar::MassProperties::combine(parts)?;
        Ok(MassProperties { mass, centre, inertia })
    }
}

impl Mass<Planar> {
    /// Mass [kg] and moment of inertia [kg m²] with the centre of mass at the origin of the body frame.
    pub fn given(mass: f64, inertia: f64) -> Self {
        Self::Given { mass, centre: Point2::origin(), inertia }
    }
}
