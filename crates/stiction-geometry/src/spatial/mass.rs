//! Mass, centre of mass and inertia tensor of spatial shapes.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::Shape;
use crate::error::MassError;
use crate::mass::{check_density, total};

/// Mass, centre of mass and inertia in a local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub centre: Point3<f64>,
    /// Inertia tensor about the centre of mass [kg m²].
    pub inertia: Matrix3<f64>,
}

impl MassProperties {
    /// Mass properties of several parts fixed to each other, each given in its own frame with the pose of that
    /// frame. A part of negative mass is a hole.
    pub fn combine(
        parts: impl IntoIterator<Item = (Isometry3<f64>, Self)> + Clone,
    ) -> Result<Self, MassError> {
        let (mass, centre) =
            total(parts.clone().into_iter().map(|(pose, part)| (part.mass, pose * part.centre)))?;

        // parallel axis theorem
        let mut inertia = Matrix3::zeros();
        for (pose, part) in parts {
            let d = pose * part.centre - centre;
            let r = pose.rotation.to_rotation_matrix();
            inertia += r * part.inertia * r.transpose();
            inertia += part.mass * (Matrix3::from_diagonal_element(d.norm_squared()) - d * d.transpose());
        }
        Ok(Self { mass, centre, inertia })
    }
}

/// Mass properties of a shape of uniform density [kg/m³].
pub fn mass(shape: &Shape, density: f64) -> Result<MassProperties, MassError> {
    shape.check()?;
    check_density(density)?;
    let about_origin = |mass: f64, diagonal: [f64; 3]| MassProperties {
        mass,
        centre: Point3::origin(),
        inertia: Matrix3::from_diagonal(&Vector3::from(diagonal)),
    };
    match shape {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } if *radius == 0.0 => {
            Err(MassError::Massless { shape: shape.kind() })
        }
        Shape::Sphere { radius: r } => {
            let m = density * 4.0 / 3.0 * PI * r.powi(3);
            Ok(about_origin(m, [0.4 * m * r * r; 3]))
        }
        Shape::Ellipsoid { semi_axes: [a, b, c] } => {
            let m = density * 4.0 / 3.0 * PI * a * b * c;
            let [a, b, c] = [a * a, b * b, c * c];
            Ok(about_origin(m, [0.2 * m * (b + c), 0.2 * m * (a + c), 0.2 * m * (a + b)]))
        }
        Shape::Capsule { half_length: l, radius: r } => {
            let bar = density * 2.0 * PI * r * r * l;
            let caps = density * 4.0 / 3.0 * PI * r.powi(3);
            // each half ball has its own centre 3r/8 beyond the end of the segment
            let caps_across = caps * (0.4 * r * r + l * l + 2.0 * l * (3.0 * r / 8.0));
            let across = bar * (r * r / 4.0 + l * l / 3.0) + caps_across;
            Ok(about_origin(bar + caps, [across, across, 0.5 * bar * r * r + 0.4 * caps * r * r]))
        }
        Shape::Cuboid { half_extents: [x, y, z] } => {
            let m = density * 8.0 * x * y * z;
            let [x, y, z] = [x * x, y * y, z * z];
            Ok(about_origin(m, [m * (y + z) / 3.0, m * (x + z) / 3.0, m * (x + y) / 3.0]))
        }
        Shape::Polyhedron(polyhedron) => {
            let moments = polyhedron.moments();
            let second = density * moments.second;
            Ok(MassProperties {
                mass: density * moments.volume,
                centre: polyhedron.centre(),
                inertia: Matrix3::from_diagonal_element(second.trace()) - second,
            })
        }
        Shape::HalfSpace => Err(MassError::Unbounded { shape: shape.kind() }),
    }
}
