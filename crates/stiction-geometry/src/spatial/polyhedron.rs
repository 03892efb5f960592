//! Convex polyhedron, valid by construction, with its facets as the ratio metric needs them.

use nalgebra::{Matrix3, Point3, Vector3};
use serde::{Deserialize, Serialize};

use super::hull::hull;
use super::topology::Topology;
use crate::climb::StartMap;
use crate::error::{ShapeError, size_rule};
use crate::ratio::ColdStart;
use crate::ratio::seidel::largest_ball;
use crate::vertex_list::VertexList;

/// Least radius of the largest ball inside, relative to the extent of the offsets: thinner bodies have no interior.
/// Sensible range 1e-12 to 1e-6; below, corners of the polar body lose their digits.
const MIN_INNER_RADIUS_RELATIVE: f64 = 1e-9;

/// Radius of the largest ball inside, in extents of the offsets, above which the facets leave the body unbounded.
/// Sensible range 10 to 1e4, the bound of the search.
const MAX_INNER_RADIUS_EXTENTS: f64 = 1e3;

/// Least distance of a facet of the polar body from the origin, times the extent [1]: below it the polar body does
/// not enclose the origin and the body is unbounded. Sensible range 1e-12 to 1e-6.
const MIN_POLAR_HEIGHT: f64 = 1e-9;

/// Height of a neighbour's corner above a facet, relative to the size, up to which the surface is convex: round-off
/// of merged facets is 1e-10. Sensible range 1e-10 to 1e-6.
const CONVEXITY_RELATIVE: f64 = 1e-9;

/// Convex polyhedron: corners, edges, and facets without coplanar neighbours.
///
/// In a scene file: `{"polyhedron": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "VertexList<3>", into = "VertexList<3>")]
pub struct Polyhedron {
    vertices: Vec<Point3<f64>>,
    topology: Topology,
    /// Unit outward normal of each facet.
    normals: Vec<Vector3<f64>>,
    centre: Point3<f64>,
    /// Vectors a of the facets as a · (x − centre) <= 1 [1/m].
    facets: Vec<Vector3<f64>>,
    start: ColdStart<3>,
    /// Start of a search for the farthest vertex.
    map: StartMap<3>,
    moments: Moments,
    /// Distance of the farthest vertex from the centre [m].
    size: f64,
}

/// Volume, and second moments about the centroid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    pub(super) volume: f64,
    /// ∫ x xᵀ about the centroid [m⁵].
    pub(super) second: Matrix3<f64>,
}

impl Polyhedron {
    /// Convex hull of these points [m]. Points inside it, on a facet or on an edge are dropped, the others
    /// keep their order.
    pub fn new(points: &[Point3<f64>]) -> Result<Self, ShapeError> {
        let bad = points.iter().position(|p| !p.coords.iter().all(|x| x.is_finite()));
        if let Some(index) = bad {
            return Err(ShapeError::PointNotFinite { index, vertex: points[index].coords.into() });
        }
        let found = hull(points)?;
        let vertices: Vec<_> = found.corners.iter().map(|&i| points[i]).collect();
        let given = points.len();
        Topology::new(vertices.len(), &found.facets)
            .and_then(|topology| Self::with(vertices, topology))
            .map_err(|reason| ShapeError::Hull { given, reason })
    }

    /// Polyhedron of all points with normal · x <= offset for each facet (normal [1], offset [m]). Facets that touch the
    /// polyhedron nowhere, or in a vertex or an edge only, are dropped.
    pub fn from_facets(facets: &[(Vector3<f64>, f64)]) -> Result<Self, ShapeError> {
        let given = facets.len();
        for (index, (normal, offset)) in facets.iter().enumerate() {
            let length = normal.norm();
            if !(length > 0.0 && length.is_finite() && offset.is_finite()) {
                return Err(ShapeError::Facet { index, normal: (*normal).into(), offset: *offset });
            }
        }

        // the centre of the largest ball inside; the facets seen from there are the corners of the polar body,
        // and its facets are the corners of this one
        let unit: Vec<_> = facets.iter().map(|(n, b)| (n.normalize(), b / n.norm())).collect();
        let extent = unit.iter().fold(0.0, |e: f64, (_, b)| e.max(b.abs()));
        let (centre, radius) = largest_ball::<3, 4>(&unit, extent);
        if !(radius > MIN_INNER_RADIUS_RELATIVE * extent) {
            return Err(ShapeError::NoInterior { given, radius });
        }
        if radius > MAX_INNER_RADIUS_EXTENTS * extent {
            return Err(ShapeError::Open { given });
        }
        let polar: Vec<_> = unit.iter().map(|(n, b)| Point3::from(n / (b - n.dot(&centre)))).collect();
        let polar = match Self::new(&polar) {
            Ok(polar) => polar,
            Err(ShapeError::Flat { .. }) => return Err(ShapeError::Open { given }),
            Err(other) => return Err(other),
        };
        let mut vertices = Vec::with_capacity(polar.normals.len());
        for (f, n) in polar.normals.iter().enumerate() {
            let height =
                n.dot(&polar.vertices[polar.topology.corners[polar.topology.range(f).start] as usize].coords);
            // an unbounded body has the origin on or beyond the surface of its polar
            if !(height * extent > MIN_POLAR_HEIGHT) {
                return Err(ShapeError::Open { given });
            }
            vertices.push(Point3::from(centre + n / height));
        }
        Self::new(&vertices)
    }

    /// Box about the origin with these half extents [m], > 0.
    pub fn cuboid(half_extents: [f64; 3]) -> Result<Self, ShapeError> {
        size_rule("box", "half_extents[0]", half_extents[0], false)?;
        size_rule("box", "half_extents[1]", half_extents[1], false)?;
        size_rule("box", "half_extents[2]", half_extents[2], false)?;
        let vertices = (0..8).map(|i| box_corner(&half_extents, i)).collect();
        Self::with(vertices, Topology::of_box().clone())
            .map_err(|reason| ShapeError::Hull { given: 8, reason })
    }

    fn with(vertices: Vec<Point3<f64>>, topology: Topology) -> Result<Self, &'static str> {
        // plane of each facet through its farthest corner, so that no corner of it lies outside
        let mut planes = Vec::with_capacity(topology.facets());
        for f in 0..topology.facets() {
            let corners = &topology.corners[topology.range(f)];
            let p = vertices[corners[0] as usize];
            let mut area = Vector3::zeros();
            for pair in corners[1..].windows(2) {
                area += (vertices[pair[0] as usize] - p).cross(&(vertices[pair[1] as usize] - p));
            }
            let Some(n) = area.try_normalize(0.0) else { return Err("a facet has no area") };
            let height = corners
                .iter()
                .map(|&v| n.dot(&vertices[v as usize].coords))
                .fold(f64::NEG_INFINITY, f64::max);
            planes.push((n, height));
        }
        let (centre, moments) = moments(&vertices, &topology);
        if !(moments.volume > 0.0) {
            return Err("it has no volume");
        }

        let mut facets = Vec::with_capacity(planes.len());
        for (n, height) in &planes {
            let height = height - n.dot(&centre.coords);
            if !(height > 0.0) {
                return Err("its centroid is not inside");
            }
            facets.push(n / height);
        }
        let size = vertices.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
        for f in 0..topology.facets() {
            for i in topology.range(f) {
                // the neighbour bends away
                let across = topology.neighbours[i] as usize;
                let (n, height) = planes[f];
                let corners = &topology.corners[topology.range(across)];
                if corners
                    .iter()
                    .any(|&v| n.dot(&vertices[v as usize].coords) - height > CONVEXITY_RELATIVE * size)
                {
                    return Err("it is not convex");
                }
            }
        }
        let start = ColdStart::new(&facets, &topology.starts, &topology.neighbours, size)
            .ok_or("its facets do not close")?;
        let map = StartMap::new(&topology.graph(), |i, d: &Vector3<f64>| vertices[i].coords.dot(d));
        let normals = planes.into_iter().map(|(n, _)| n).collect();
        Ok(Self { vertices, topology, normals, centre, facets, start, map, moments, size })
    }

    /// Corners [m].
    pub fn vertices(&self) -> &[Point3<f64>] {
        &self.vertices
    }

    /// Edges, each by the indices of its two vertices.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.topology.edges
    }

    /// Outward unit normal of each facet.
    pub fn normals(&self) -> &[Vector3<f64>] {
        &self.normals
    }

    /// Corners of a facet by their vertex indices, counter-clockwise seen from outside.
    pub fn corners(&self, facet: usize) -> &[u32] {
        &self.topology.corners[self.topology.range(facet)]
    }

    /// Facets that share an edge with a facet, one per side, the first across the side from its first corner.
    pub fn neighbours(&self, facet: usize) -> &[u32] {
        &self.topology.neighbours[self.topology.range(facet)]
    }

    /// Centroid [m]: the point about which the ratio metric scales.
    pub fn centre(&self) -> Point3<f64> {
        self.centre
    }

    /// Vectors a [1/m] of the facets as a · (x − centre) <= 1.
    pub fn facets(&self) -> &[Vector3<f64>] {
        &self.facets
    }

    /// Index of a vertex farthest along a direction.
    pub(super) fn farthest(&self, direction: &Vector3<f64>) -> usize {
        let graph = self.topology.graph();
        graph.farthest(&self.map, direction, |i| self.vertices[i].coords.dot(direction))
    }

    /// Vertices that share an edge with a vertex.
    pub(super) fn around(&self, vertex: usize) -> &[u32] {
        self.topology.graph().around(vertex)
    }

    pub(super) fn start_map(&self) -> &StartMap<3> {
        &self.map
    }

    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    pub(super) fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Distance of the farthest vertex from the centroid [m].
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    pub(super) fn start(&self) -> &ColdStart<3> {
        &self.start
    }
}

/// Corner of a box; bit i of the index says on which side of axis i it lies.
pub(super) fn box_corner(half_extents: &[f64; 3], index: u32) -> Point3<f64> {
    let side = |i: usize| if index >> i & 1 == 0 { -half_extents[i] } else { half_extents[i] };
    Point3::new(side(0), side(1), side(2))
}

/// Centroid, volume and second moments: sums over tetrahedra from a point near the middle, so that nothing
/// cancels.
fn moments(vertices: &[Point3<f64>], topology: &Topology) -> (Point3<f64>, Moments) {
    let middle = vertices.iter().map(|v| v.coords).sum::<Vector3<f64>>() / vertices.len() as f64;
    let at = |v: u32| vertices[v as usize].coords - middle;
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for f in 0..topology.facets() {
        let corners = &topology.corners[topology.range(f)];
        let p = at(corners[0]);
        for pair in corners[1..].windows(2) {
            let (q, s) = (at(pair[0]), at(pair[1]));
            let v = p.dot(&q.cross(&s)) / 6.0;
            let sum = p + q + s;
            volume += v;
            first += v * sum / 4.0;
            // ∫ x xᵀ over a tetrahedron with one corner at the origin
            let squares = p * p.transpose() + q * q.transpose() + s * s.transpose() + sum * sum.transpose();
            second += v * squares / 20.0;
        }
    }
    let d = first / volume;
    let about_centroid = second - volume * d * d.transpose();
    (Point3::from(middle + d), Moments { volume, second: about_centroid })
}

impl TryFrom<VertexList<3>> for Polyhedron {
    type Error = ShapeError;

    fn try_from(written: VertexList<3>) -> Result<Self, ShapeError> {
        Self::new(&written.points())
    }
}

impl From<Polyhedron> for VertexList<3> {
    fn from(polyhedron: Polyhedron) -> Self {
        Self::new(&polyhedron.vertices)
    }
}
