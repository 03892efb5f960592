//! Mass, centre of mass and inertia tensor of spatial shapes.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::Shape;
use super::revolution::Revolution;
use super::solid::{BoxFacets, Solid};
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
    let (core, rounding) = shape.core();
    if rounding > 0.0
        && let Some(solid) = Solid::of(core, BoxFacets::of(core).as_ref())
    {
        return Ok(rounded_mass(&solid, &mass(core, 1.0)?, rounding, density));
    }
    match *core {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } if radius == 0.0 => {
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
        Shape::Polyhedron(ref polyhedron) => {
            let moments = polyhedron.moments();
            let second = density * moments.second;
            Ok(MassProperties {
                mass: density * moments.volume,
                centre: polyhedron.centre(),
                inertia: Matrix3::from_diagonal_element(second.trace()) - second,
            })
        }
        Shape::Cylinder { half_length, radius } => {
            Ok(Revolution { half_length, radius, is_cylinder: true, rounding }.mass(density))
        }
        Shape::Cone { half_length, radius } => {
            Ok(Revolution { half_length, radius, is_cylinder: false, rounding }.mass(density))
        }
        Shape::Rounded { .. } | Shape::HalfSpace => Err(MassError::Unbounded { shape: shape.kind() }),
    }
}

/// Second moments of a body, summed over its parts.
struct SweptMoments {
    volume: f64,
    /// ∫ x [m⁴].
    first: Vector3<f64>,
    /// ∫ x xᵀ [m⁵].
    second: Matrix3<f64>,
}

impl SweptMoments {
    /// Adds a part swept by a region of normals n about a point x: ∫ over ρ from 0 to `radius` of ∫ over the region of
    /// (x + ρ n)(x + ρ n)ᵀ ρ^`power`, from the size of the region, ∫ n and ∫ n nᵀ over it.
    fn add_swept(
        &mut self,
        x: &Vector3<f64>,
        radius: f64,
        power: i32,
        (size, n, squares): (f64, &Vector3<f64>, &Matrix3<f64>),
    ) {
        let along = |k: i32| radius.powi(power + k) / f64::from(power + k);
        let (zero, one, two) = (along(1) * size, along(2) * n, along(3) * squares);
        self.volume += zero;
        self.first += zero * x + one;
        self.second += zero * x * x.transpose() + x * one.transpose() + one * x.transpose() + two;
    }
}

/// Mass properties of a rounded polyhedron: the polyhedron, a slab on every facet, a wedge along every edge and a sector
/// of a ball at every vertex. `core` is for the density 1.
fn rounded_mass(solid: &Solid<'_>, core: &MassProperties, radius: f64, density: f64) -> MassProperties {
    let topology = solid.topology;
    let at = |v: u32| solid.vertices[v as usize] - core.centre;
    let unit = |facet: usize| solid.facets[facet].normalize();
    let second = Matrix3::from_diagonal_element(0.5 * core.inertia.trace()) - core.inertia;
    let mut sum = SweptMoments { volume: core.mass, first: Vector3::zeros(), second };
    // of the sector at each vertex: its solid angle less 2π, and what its edges contribute
    let mut sectors = vec![(0.0, Vector3::zeros(), Matrix3::zeros()); topology.vertices];
    for facet in 0..topology.facets() {
        let (n, range) = (unit(facet), topology.range(facet));
        let corner = |i: usize| topology.corners[range.start + i % range.len()];
        let first = at(corner(0));
        for i in 1..range.len() - 1 {
            let (p, q) = (at(corner(i)), at(corner(i + 1)));
            let area = 0.5 * (p - first).cross(&(q - first)).dot(&n);
            let total = first + p + q;
            // ∫ y yᵀ over the triangle, about its centre
            let squares = first * first.transpose() + p * p.transpose() + q * q.transpose();
            let spread = area / 12.0 * (squares - total * total.transpose() / 3.0);
            let triangle = (area, &(area * n), &(area * n * n.transpose()));
            sum.add_swept(&(total / 3.0), radius, 0, triangle);
            sum.second += radius * spread;
        }
        for i in 0..range.len() {
            let (v, before, after) = (corner(i), at(corner(i + range.len() - 1)), at(corner(i + 1)));
            let (to, back) = (after - at(v), before - at(v));
            sectors[v as usize].0 -= back.cross(&to).norm().atan2(back.dot(&to));
            let across = topology.neighbours[range.start + i] as usize;
            if across < facet {
                continue;
            }
            // arc of normals across the edge
            let (m, length) = (unit(across), to.norm());
            let edge = to / length;
            let middle = (n + m).normalize();
            let side = edge.cross(&middle);
            let angle = n.cross(&m).norm().atan2(n.dot(&m));
            let along = 2.0 * (0.5 * angle).sin() * middle;
            let squares = 0.5
                * (angle * (middle * middle.transpose() + side * side.transpose())
                    + angle.sin() * (middle * middle.transpose() - side * side.transpose()));
            let centre = at(v) + 0.5 * to;
            sum.add_swept(&centre, radius, 1, (length * angle, &(length * along), &(length * squares)));
            let spread = length.powi(3) / 12.0 * edge * edge.transpose();
            sum.second += 0.5 * radius * radius * angle * spread;
            // the divergence theorem on the sphere, whose arc has the outward normal `edge` at the start
            for (end, outward) in [(v, edge), (corner(i + 1), -edge)] {
                let (_, normals, products) = &mut sectors[end as usize];
                *normals -= 0.5 * angle * outward;
                *products -= outward * along.transpose();
            }
        }
    }
    for (v, (deficit, normals, products)) in (0..).zip(&sectors) {
        let solid_angle = 2.0 * PI + deficit;
        let squares = (Matrix3::from_diagonal_element(solid_angle) + products) / 3.0;
        sum.add_swept(&at(v), radius, 2, (solid_angle, normals, &squares));
    }
    let d = sum.first / sum.volume;
    let second = density * (sum.second - sum.volume * d * d.transpose());
    MassProperties {
        mass: density * sum.volume,
        centre: core.centre + d,
        inertia: Matrix3::from_diagonal_element(second.trace()) - second,
    }
}
