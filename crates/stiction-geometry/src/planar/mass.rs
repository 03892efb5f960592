//! Mass, centre of mass and moment of inertia of planar shapes.

use std::f64::consts::PI;

use nalgebra::{Isometry2, Point2, Vector2};

use super::{Polygon, Shape};
use crate::error::MassError;
use crate::mass::{check_density, total};

/// Mass, centre of mass and inertia in a local frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub centre: Point2<f64>,
    /// Moment of inertia about the centre of mass [kg m²].
    pub inertia: f64,
}

impl MassProperties {
    /// Mass properties of several parts fixed to each other, each given in its own frame with the pose of that
    /// frame. A part of negative mass is a hole.
    pub fn combine(
        parts: impl IntoIterator<Item = (Isometry2<f64>, Self)> + Clone,
    ) -> Result<Self, MassError> {
        let (mass, centre) =
            total(parts.clone().into_iter().map(|(pose, part)| (part.mass, pose * part.centre)))?;

        // parallel axis theorem
        let mut inertia = 0.0;
        for (pose, part) in parts {
            let d = pose * part.centre - centre;
            inertia += part.inertia + part.mass * d.norm_squared();
        }
        Ok(Self { mass, centre, inertia })
    }
}

/// Mass properties of a shape of uniform density [kg/m²].
pub fn mass(shape: &Shape, density: f64) -> Result<MassProperties, MassError> {
    shape.check()?;
    check_density(density)?;
    let about_origin = |mass: f64, inertia: f64| MassProperties { mass, centre: Point2::origin(), inertia };
    match shape {
        Shape::Disk { radius } | Shape::Capsule { radius, .. } if *radius == 0.0 => {
            Err(MassError::Massless { shape: shape.kind() })
        }
        Shape::Disk { radius: r } => {
            let m = density * PI * r * r;
            Ok(about_origin(m, 0.5 * m * r * r))
        }
        Shape::Ellipse { semi_axes: [a, b] } => {
            let m = density * PI * a * b;
            Ok(about_origin(m, 0.25 * m * (a * a + b * b)))
        }
        Shape::Capsule { half_length: l, radius: r } => {
            let bar = density * 4.0 * l * r;
            let caps = density * PI * r * r;
            // each half disk has its own centre 4r/3π beyond the end of the segment
            let caps_inertia = caps * (0.5 * r * r + l * l + 2.0 * l * (4.0 * r / (3.0 * PI)));
            Ok(about_origin(bar + caps, bar * (l * l + r * r) / 3.0 + caps_inertia))
        }
        Shape::Polygon(polygon) => Ok(polygon_mass(polygon, density)),
        Shape::Rounded { core, radius } => match &**core {
            Shape::Polygon(polygon) => rounded_mass(polygon, *radius, density),
            core => mass(core, density),
        },
        Shape::HalfPlane => Err(MassError::Unbounded { shape: shape.kind() }),
    }
}

/// Mass properties of a polygon: sums over the triangles that share the first vertex. Measured from there, and not
/// from a possibly far origin, nothing cancels.
fn polygon_mass(polygon: &Polygon, density: f64) -> MassProperties {
    let v = polygon.vertices();
    let (mut area, mut moment, mut second) = (0.0, Vector2::zeros(), 0.0);
    for i in 1..v.len() - 1 {
        let (p, q) = (v[i] - v[0], v[i + 1] - v[0]);
        let a = 0.5 * p.perp(&q);
        area += a;
        moment += a * (p + q) / 3.0;
        second += a * (p.norm_squared() + p.dot(&q) + q.norm_squared()) / 6.0;
    }
    let d = moment / area;
    let inertia = density * (second - area * d.norm_squared());
    MassProperties { mass: density * area, centre: v[0] + d, inertia }
}

/// Mass properties of a rounded polygon: the polygon, a strip along every edge and a sector at every corner.
fn rounded_mass(polygon: &Polygon, radius: f64, density: f64) -> Result<MassProperties, MassError> {
    let (v, n) = (polygon.vertices(), polygon.normals());
    let mut parts = vec![(Isometry2::identity(), polygon_mass(polygon, density))];
    let mut add = |mass: f64, centre: Point2<f64>, inertia: f64| {
        parts.push((Isometry2::identity(), MassProperties { mass, centre, inertia }));
    };
    for i in 0..v.len() {
        let (p, q) = (v[i], v[(i + 1) % v.len()]);
        let length = (q - p).norm();
        let strip = density * length * radius;
        let squares = length * length + radius * radius;
        add(strip, nalgebra::center(&p, &q) + 0.5 * radius * n[i], strip * squares / 12.0);

        // sector at the end of the edge, about the line that halves its angle
        let next = n[(i + 1) % v.len()];
        let angle = n[i].perp(&next).atan2(n[i].dot(&next));
        let sector = density * 0.5 * angle * radius * radius;
        let out = 4.0 * radius * (0.5 * angle).sin() / (3.0 * angle);
        let inertia = sector * (0.5 * radius * radius - out * out);
        add(sector, q + out * (n[i] + next).normalize(), inertia);
    }
    MassProperties::combine(parts)
}
