//! Box or polyhedron as facets, vertices and topology, for the ratio metric and the event search.

use nalgebra::{Isometry3, Point3, Vector3};

use super::polyhedron::box_corner;
use super::topology::Topology;
use super::{Polyhedron, Shape};
use crate::climb::StartMap;
use crate::ratio::{ColdStart, FacetPair, Facets};

/// Facets and vertices of a box.
pub(super) struct BoxFacets {
    facets: [Vector3<f64>; 6],
    vertices: [Point3<f64>; 8],
}

impl BoxFacets {
    /// Facets of a shape, if it is a box.
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

/// Convex polyhedron in its local frame, borrowed.
#[derive(Clone, Copy)]
pub(super) struct Solid<'a> {
    /// Vectors a of the facets as a · (x − centre) <= 1 [1/m].
    pub(super) facets: &'a [Vector3<f64>],
    pub(super) vertices: &'a [Point3<f64>],
    pub(super) topology: &'a Topology,
    start: Option<&'a ColdStart<3>>,
    /// Start of a search for the farthest vertex; none of a box.
    map: Option<&'a StartMap<3>>,
    pub(super) centre: Point3<f64>,
    /// Distance of the farthest vertex from the centre [m].
    pub(super) size: f64,
}

impl<'a> Solid<'a> {
    /// Solid of a polyhedron, or of the facets of a box.
    pub(super) fn of(shape: &'a Shape, cuboid: Option<&'a BoxFacets>) -> Option<Self> {
        match (shape, cuboid) {
            (Shape::Polyhedron(polyhedron), _) => Some(Self::from(&**polyhedron)),
            (_, Some(BoxFacets { facets, vertices })) => Some(Self {
                facets,
                vertices,
                topology: Topology::of_box(),
                start: None,
                map: None,
                centre: Point3::origin(),
                size: vertices[7].coords.norm(),
            }),
            _ => None,
        }
    }

    /// Vertex farthest along a local direction.
    pub(super) fn farthest(&self, d: &Vector3<f64>) -> Point3<f64> {
        let index = match self.map {
            Some(map) => self.topology.graph().farthest(map, d, |i| self.vertices[i].coords.dot(d)),
            None => (0..3).filter(|&i| d[i] > 0.0).map(|i| 1 << i).sum(),
        };
        self.vertices[index]
    }

    fn ratio_facets(&self) -> Facets<'a, 3> {
        let Topology { starts, neighbours, .. } = self.topology;
        Facets { a: self.facets, starts, neighbours, size: self.size, start: self.start }
    }

    /// Pair of solids in the frame of the first, about its centre.
    pub(super) fn pair(
        a: &Self,
        pose_a: &Isometry3<f64>,
        b: &Self,
        pose_b: &Isometry3<f64>,
    ) -> FacetPair<'a, 3> {
        let relative = pose_a.rotation.inverse() * pose_b.rotation;
        let offset = pose_a.rotation.inverse() * (pose_b * b.centre - pose_a * a.centre);
        FacetPair {
            bodies: [a.ratio_facets(), b.ratio_facets()],
            rotation: relative.to_rotation_matrix().into_inner(),
            offset,
        }
    }
}

impl<'a> From<&'a Polyhedron> for Solid<'a> {
    fn from(polyhedron: &'a Polyhedron) -> Self {
        Self {
            facets: polyhedron.facets(),
            vertices: polyhedron.vertices(),
            topology: polyhedron.topology(),
            start: Some(polyhedron.start()),
            map: Some(polyhedron.start_map()),
            centre: polyhedron.centre(),
            size: polyhedron.size(),
        }
    }
}
