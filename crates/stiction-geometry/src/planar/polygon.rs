//! A convex polygon, valid by construction.

use nalgebra::{Point2, Vector2};
use serde::{Deserialize, Serialize};

use crate::error::{ShapeError, size_rule};

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
        let normals = (0..corners.len())
            .map(|i| {
                let e = (corners[(i + 1) % corners.len()] - corners[i]).normalize();
                Vector2::new(e.y, -e.x)
            })
            .collect();
        Ok(Self { vertices: corners, normals })
    }

    /// A rectangle about the origin with these half extents [m], > 0.
    pub fn rectangle([x, y]: [f64; 2]) -> Result<Self, ShapeError> {
        size_rule("polygon", "half_extents[0]", x, false)?;
        size_rule("polygon", "half_extents[1]", y, false)?;
        Self::new(&[Point2::new(-x, -y), Point2::new(x, -y), Point2::new(x, y), Point2::new(-x, y)])
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
