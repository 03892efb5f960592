//! A convex polygon, valid by construction.

use nalgebra::{Isometry2, Point2, Vector2};
use serde::{Deserialize, Serialize};

use crate::climb::{Compass, Graph};
use crate::error::{ShapeError, size_rule};
use crate::ratio::{Chart, Facets, Pair};

/// Relative size below which an edge has no length and a corner no turn. Larger merges real corners of fine
/// outlines (a regular 32767-gon turns 2e-4 per corner); smaller lets edges through whose normal is round-off.
const FLAT: f64 = 1e-12;

/// Vertices and edges are named by 15 bits of a feature identifier.
const MOST_VERTICES: usize = (1 << 15) - 1;

/// A strictly convex polygon with counter-clockwise vertices.
///
/// In a scene file: `{"polygon": {"vertices": [[0, 0], [1, 0], [0, 1]]}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vertices", into = "Vertices")]
pub struct Polygon {
    vertices: Vec<Point2<f64>>,
    normals: Vec<Vector2<f64>>,
    form: Box<Form>,
}

/// What the ratio metric asks for.
#[derive(Clone, Debug, PartialEq)]
struct Form {
    centre: Point2<f64>,
    /// Edges as a · (x − centre) <= 1 [1/m].
    facets: Vec<Vector2<f64>>,
    /// Where the two neighbours of each edge begin in the list after.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    chart: Chart<2>,
    /// Where a search for the farthest vertex begins.
    compass: Compass<2>,
    /// Distance of the farthest vertex from the centre [m].
    size: f64,
}

/// A polygon as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vertices {
    vertices: Vec<[f64; 2]>,
}

impl Polygon {
    /// A polygon with these vertices, counter-clockwise [m]. Duplicate and collinear vertices are merged;
    /// what remains must be strictly convex with at least three corners.
    pub fn new(vertices: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let given = vertices.len();
        if given > MOST_VERTICES {
            return Err(ShapeError::TooManyVertices { given, most: MOST_VERTICES });
        }
        if let Some(index) = vertices.iter().position(|v| !v.coords.iter().all(|x| x.is_finite())) {
            return Err(ShapeError::VertexNotFinite { index, vertex: vertices[index].coords.into() });
        }
        let corners = merged(vertices);
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

    /// A rectangle about the origin with these half extents [m], > 0.
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

        let facets: Vec<_> = vertices.iter().zip(&normals).map(|(v, n)| n / n.dot(&(v - centre))).collect();
        let count = u32::try_from(vertices.len()).ok()?;
        let starts: Vec<_> = (0..=count).map(|i| 2 * i).collect();
        let neighbours: Vec<_> =
            (0..count).flat_map(|i| [(i + count - 1) % count, (i + 1) % count]).collect();
        let size = vertices.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
        let chart = Chart::new(&facets, &starts, &neighbours, size)?;
        // vertices follow each other as edges do
        let graph = Graph { starts: &starts, neighbours: &neighbours };
        let compass = Compass::new(&graph, |i, d: &Vector2<f64>| vertices[i].coords.dot(d));
        let form = Box::new(Form { centre, facets, starts, neighbours, chart, compass, size });
        Some(Self { vertices, normals, form })
    }

    /// Two polygons in the frame of the first, about its centre.
    pub(super) fn pair<'a>(
        a: &'a Self,
        pose_a: &Isometry2<f64>,
        b: &'a Self,
        pose_b: &Isometry2<f64>,
    ) -> Pair<'a, 2> {
        let offset = pose_a.rotation.inverse() * (pose_b * b.form.centre - pose_a * a.form.centre);
        let rotation = (pose_a.rotation.inverse() * pose_b.rotation).to_rotation_matrix().into_inner();
        Pair { bodies: [a.lp(), b.lp()], rotation, offset }
    }

    fn lp(&self) -> Facets<'_, 2> {
        let Form { facets: a, starts, neighbours, size, chart, .. } = &*self.form;
        Facets { a, starts, neighbours, size: *size, chart: Some(chart) }
    }

    /// Centroid [m]: the point about which the ratio metric scales.
    pub fn centre(&self) -> Point2<f64> {
        self.form.centre
    }

    /// Vectors a [1/m] of the edges as a · (x − centre) <= 1; the i-th edge runs from vertex i to vertex i + 1.
    pub fn facets(&self) -> &[Vector2<f64>] {
        &self.form.facets
    }

    pub(super) fn size(&self) -> f64 {
        self.form.size
    }

    /// A vertex farthest along a direction, by its place in the list.
    pub(super) fn farthest(&self, direction: &Vector2<f64>) -> usize {
        let along = |i: usize| self.vertices[i].coords.dot(direction);
        let Form { starts, neighbours, compass, .. } = &*self.form;
        match compass.start(direction) {
            Some(start) => Graph { starts, neighbours }.climb(start, along, &mut 0).0,
            None => (1..self.vertices.len()).fold(0, |best, i| if along(i) > along(best) { i } else { best }),
        }
    }

    /// The vertices with v · direction >= least, which follow each other: the first one, and how many.
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

/// The corners left when duplicate and collinear vertices are dropped.
fn merged(vertices: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let extent = vertices.iter().map(|v| (v - vertices[0]).norm()).fold(0.0, f64::max);
    let mut corners = vertices.to_vec();
    loop {
        let before = corners.len();
        let mut i = 0;
        while i < corners.len() && corners.len() > 1 {
            let n = corners.len();
            let into = corners[i] - corners[(i + n - 1) % n];
            let out = corners[(i + 1) % n] - corners[i];
            let duplicate = into.norm() <= FLAT * extent;
            let collinear = into.perp(&out).abs() <= FLAT * into.norm() * out.norm() && into.dot(&out) > 0.0;
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

/// Every corner turns left, and all of them together once around.
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
        if sine <= FLAT * into.norm() * out.norm() {
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

impl TryFrom<Vertices> for Polygon {
    type Error = ShapeError;

    fn try_from(written: Vertices) -> Result<Self, ShapeError> {
        let vertices: Vec<_> = written.vertices.into_iter().map(Point2::from).collect();
        Self::new(&vertices)
    }
}

impl From<Polygon> for Vertices {
    fn from(polygon: Polygon) -> Self {
        Self { vertices: polygon.vertices.into_iter().map(|v| v.coords.into()).collect() }
    }
}
