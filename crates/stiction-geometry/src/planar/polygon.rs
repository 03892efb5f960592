//! Convex polygon, valid by construction, with its edges as the ratio metric needs them.

use nalgebra::{Isometry2, Point2, Vector2};
use serde::{Deserialize, Serialize};

use crate::climb::{CornerGraph, StartMap};
use crate::error::{ShapeError, size_rule};
use crate::ratio::{ColdStart, FacetPair, Facets};
use crate::vertex_list::VertexList;

/// Length of an edge relative to the extent, and sine of the turn at a corner, below which vertices are merged.
/// Sensible range 1e-14 to 1e-6: larger merges real corners of fine outlines (a regular 32767-gon turns 2e-4 per
/// corner), smaller lets edges through whose normal is round-off.
const MERGED_CORNER_RELATIVE: f64 = 1e-12;

/// Greatest number of vertices: 15 bits of a feature identifier name a vertex or an edge.
const MAX_VERTICES: usize = (1 << 15) - 1;

/// Strictly convex polygon with counter-clockwise vertices.
///
/// In a scene file: `{"polygon": {"vertices": [[0, 0], [1, 0], [0, 1]]}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "VertexList<2>", into = "VertexList<2>")]
pub struct Polygon {
    vertices: Vec<Point2<f64>>,
    normals: Vec<Vector2<f64>>,
    facets: Box<EdgeFacets>,
}

/// Edges of a polygon as facets of the ratio metric.
#[derive(Clone, Debug, PartialEq)]
struct EdgeFacets {
    centre: Point2<f64>,
    /// Vectors a of the edges as a · (x − centre) <= 1 [1/m].
    a: Vec<Vector2<f64>>,
    /// Start of the two neighbours of each edge in `neighbours`.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    start: ColdStart<2>,
    /// Start of a search for the farthest vertex.
    map: StartMap<2>,
    /// Distance of the farthest vertex from the centre [m].
    size: f64,
}

impl Polygon {
    /// Polygon with these vertices, counter-clockwise [m]. Duplicate and collinear vertices are merged; the corners
    /// left must be at least three and strictly convex.
    pub fn new(vertices: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let given = vertices.len();
        if given > MAX_VERTICES {
            return Err(ShapeError::TooManyVertices { given, most: MAX_VERTICES });
        }
        if let Some(index) = vertices.iter().position(|v| !v.coords.iter().all(|x| x.is_finite())) {
            return Err(ShapeError::VertexNotFinite { index, vertex: vertices[index].coords.into() });
        }
        let corners = merged_corners(vertices);
        if corners.len() < 3 {
            return Err(ShapeError::TooFewCorners { given, corners: corners.len() });
        }
        check_convex(&corners)?;

        // outward unit normal of the edge from vertex i to vertex i + 1
        let normals: Vec<_> = (0..corners.len())
            .map(|i| {
                let e = (corners[(i + 1) % corners.len()] - corners[i]).normalize();
                Vector2::new(e.y, -e.x)
            })
            .collect();
        Self::with(corners, normals).ok_or(ShapeError::TooFewCorners { given, corners: 0 })
    }

    /// Rectangle about the origin with these half extents [m], > 0.
    pub fn rectangle([x, y]: [f64; 2]) -> Result<Self, ShapeError> {
        size_rule("polygon", "half_extents[0]", x, false)?;
        size_rule("polygon", "half_extents[1]", y, false)?;
        Self::new(&[Point2::new(-x, -y), Point2::new(x, -y), Point2::new(x, y), Point2::new(-x, y)])
    }

    fn with(vertices: Vec<Point2<f64>>, normals: Vec<Vector2<f64>>) -> Option<Self> {
        // centroid, from the first vertex
        let (mut area, mut moment) = (0.0, Vector2::zeros());
        for pair in vertices[1..].windows(2) {
            let (p, q) = (pair[0] - vertices[0], pair[1] - vertices[0]);
            area += p.perp(&q);
            moment += p.perp(&q) * (p + q) / 3.0;
        }
        let centre = vertices[0] + moment / area;

        let a: Vec<_> = vertices.iter().zip(&normals).map(|(v, n)| n / n.dot(&(v - centre))).collect();
        let count = u32::try_from(vertices.len()).ok()?;
        let starts: Vec<_> = (0..=count).map(|i| 2 * i).collect();
        let neighbours: Vec<_> =
            (0..count).flat_map(|i| [(i + count - 1) % count, (i + 1) % count]).collect();
        let size = vertices.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
        let start = ColdStart::new(&a, &starts, &neighbours, size)?;
        // vertices are adjacent as edges are
        let graph = CornerGraph { starts: &starts, neighbours: &neighbours };
        let map = StartMap::new(&graph, |i, d: &Vector2<f64>| vertices[i].coords.dot(d));
        let facets = Box::new(EdgeFacets { centre, a, starts, neighbours, start, map, size });
        Some(Self { vertices, normals, facets })
    }

    /// Pair of polygons in the frame of the first, about its centre.
    pub(super) fn pair<'a>(
        a: &'a Self,
        pose_a: &Isometry2<f64>,
        b: &'a Self,
        pose_b: &Isometry2<f64>,
    ) -> FacetPair<'a, 2> {
        let offset = pose_a.rotation.inverse() * (pose_b * b.facets.centre - pose_a * a.facets.centre);
        let rotation = (pose_a.rotation.inverse() * pose_b.rotation).to_rotation_matrix().into_inner();
        FacetPair { bodies: [a.ratio_facets(), b.ratio_facets()], rotation, offset }
    }

    fn ratio_facets(&self) -> Facets<'_, 2> {
        let EdgeFacets { a, starts, neighbours, size, start, .. } = &*self.facets;
        Facets { a, starts, neighbours, size: *size, start: Some(start) }
    }

    /// Centroid [m]: the point about which the ratio metric scales.
    pub fn centre(&self) -> Point2<f64> {
        self.facets.centre
    }

    /// Vectors a [1/m] of the edges as a · (x − centre) <= 1; the i-th edge runs from vertex i to vertex i + 1.
    pub fn facets(&self) -> &[Vector2<f64>] {
        &self.facets.a
    }

    /// Distance of the farthest vertex from the centroid [m].
    pub(super) fn size(&self) -> f64 {
        self.facets.size
    }

    /// Index of a vertex farthest along a direction.
    pub(super) fn farthest(&self, direction: &Vector2<f64>) -> usize {
        let EdgeFacets { starts, neighbours, map, .. } = &*self.facets;
        let graph = CornerGraph { starts, neighbours };
        graph.farthest(map, direction, |i| self.vertices[i].coords.dot(direction))
    }

    /// Vertices with v · direction >= least, which are contiguous: the first one, and their number.
    pub(super) fn beyond(&self, direction: &Vector2<f64>, least: f64) -> (usize, usize) {
        let n = self.vertices.len();
        let beyond = |i: usize| self.vertices[i % n].coords.dot(direction) >= least;
        let top = self.farthest(direction);
        if !beyond(top) {
            return (top, 0);
        }
        let before = (1..n).take_while(|k| beyond(top + n - k)).count();
        let after = (1..n - before).take_while(|k| beyond(top + k)).count();
        ((top + n - before) % n, before + 1 + after)
    }

    /// Corners, counter-clockwise [m].
    pub fn vertices(&self) -> &[Point2<f64>] {
        &self.vertices
    }

    /// Outward unit normals; the i-th belongs to the edge from vertex i to vertex i + 1.
    pub fn normals(&self) -> &[Vector2<f64>] {
        &self.normals
    }
}

/// Corners left after merging duplicate and collinear vertices.
fn merged_corners(vertices: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let extent = vertices.iter().map(|v| (v - vertices[0]).norm()).fold(0.0, f64::max);
    let mut corners = vertices.to_vec();
    loop {
        let before = corners.len();
        let mut i = 0;
        while i < corners.len() && corners.len() > 1 {
            let n = corners.len();
            let into = corners[i] - corners[(i + n - 1) % n];
            let out = corners[(i + 1) % n] - corners[i];
            let duplicate = into.norm() <= MERGED_CORNER_RELATIVE * extent;
            let collinear = into.perp(&out).abs() <= MERGED_CORNER_RELATIVE * into.norm() * out.norm()
                && into.dot(&out) > 0.0;
            if duplicate || collinear {
                corners.remove(i);
            } else {
                i += 1;
            }
        }
        if corners.len() == before {
            return corners;
        }
    }
}

/// Refuses an outline that does not turn left at every corner, or winds more than once.
fn check_convex(corners: &[Point2<f64>]) -> Result<(), ShapeError> {
    let n = corners.len();
    let area: f64 =
        (1..n - 1).map(|i| 0.5 * (corners[i] - corners[0]).perp(&(corners[i + 1] - corners[0]))).sum();
    let mut turn = 0.0;
    for i in 0..n {
        let into = corners[i] - corners[(i + n - 1) % n];
        let out = corners[(i + 1) % n] - corners[i];
        let (sine, cosine) = (into.perp(&out), into.dot(&out));
        turn += sine.atan2(cosine);
        if sine <= MERGED_CORNER_RELATIVE * into.norm() * out.norm() {
            return Err(if area < 0.0 {
                ShapeError::Clockwise { area }
            } else {
                ShapeError::NotConvex { vertex: corners[i].coords.into() }
            });
        }
    }
    // a star turns left everywhere too, but goes around twice
    if turn > 3.0 * std::f64::consts::PI {
        return Err(ShapeError::NotConvex { vertex: corners[0].coords.into() });
    }
    Ok(())
}

impl TryFrom<VertexList<2>> for Polygon {
    type Error = ShapeError;

    fn try_from(written: VertexList<2>) -> Result<Self, ShapeError> {
        Self::new(&written.points())
    }
}

impl From<Polygon> for VertexList<2> {
    fn from(polygon: Polygon) -> Self {
        Self::new(&polygon.vertices)
    }
}
