//! A box or a polyhedron as the ratio metric sees it.

use nalgebra::{Isometry3, Point3, Vector3};

use super::polyhedron::box_corner;
use super::topology::Topology;
use super::{Polyhedron, Shape};
use crate::ratio::{Chart, Facets, Pair};

/// Coordinates of a box.
pub(super) struct BoxForm {
    facets: [Vector3<f64>; 6],
    vertices: [Point3<f64>; 8],
}

impl BoxForm {
    /// The box of a shape, if it is one.
    pub(super) fn of(shape: &Shape) -> Option<Self> {
        let Shape::Cuboid { half_extents } = shape else { return None };
        let mut facets = [Vector3::zeros(); 6];
        for i in 0..3 {
            facets[2 * i][i] = -1.0 / half_extents[i];
            facets[2 * i + 1][i] = 1.0 / half_extents[i];
        }
        let mut vertices = [Point3::origin(); 8];
        for (index, vertex) in (0..).zip(&mut vertices) {
            *vertex = box_corner(half_extents, index);
        }
        Some(Self { facets, vertices })
    }
}

/// A convex polyhedron in its local frame, borrowed.
#[derive(Clone, Copy)]
pub(super) struct Solid<'a> {
    /// Vectors a of the facets as a · (x − centre) <= 1 [1/m].
    pub(super) facets: &'a [Vector3<f64>],
    pub(super) vertices: &'a [Point3<f64>],
    pub(super) topology: &'a Topology,
    chart: Option<&'a Chart<3>>,
    pub(super) centre: Point3<f64>,
    /// Distance of the farthest vertex from the centre [m].
    pub(super) size: f64,
}

impl<'a> Solid<'a> {
    /// A polyhedron, or the box already seen as one.
    pub(super) fn of(shape: &'a Shape, form: Option<&'a BoxForm>) -> Option<Self> {
        match (shape, form) {
            (Shape::Polyhedron(polyhedron), _) => Some(Self::from(&**polyhedron)),
            (_, Some(BoxForm { facets, vertices })) => Some(Self {
                facets,
                vertices,
                topology: Topology::of_box(),
                chart: None,
                centre: Point3::origin(),
                size: vertices[7].coords.norm(),
            }),
            _ => None,
        }
    }

    fn lp(&self) -> Facets<'a, 3> {
        let Topology { starts, neighbours, .. } = self.topology;
        Facets { a: self.facets, starts, neighbours, size: self.size, chart: self.chart }
    }

    /// Two solids in the frame of the first, about its centre.
    pub(super) fn pair(a: &Self, pose_a: &Isometry3<f64>, b: &Self, pose_b: &Isometry3<f64>) -> Pair<'a, 3> {
        let relative = pose_a.rotation.inverse() * pose_b.rotation;
        let offset = pose_a.rotation.inverse() * (pose_b * b.centre - pose_a * a.centre);
        Pair { bodies: [a.lp(), b.lp()], rotation: relative.to_rotation_matrix().into_inner(), offset }
    }
}

impl<'a> From<&'a Polyhedron> for Solid<'a> {
    fn from(polyhedron: &'a Polyhedron) -> Self {
        Self {
            facets: polyhedron.facets(),
            vertices: polyhedron.vertices(),
            topology: polyhedron.topology(),
            chart: Some(polyhedron.chart()),
            centre: polyhedron.centre(),
            size: polyhedron.size(),
        }
    }
}
