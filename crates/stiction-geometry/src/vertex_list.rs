//! Written form of a polygon or polyhedron: the list of its vertices, as in a scene file.

use nalgebra::Point;
use serde::{Deserialize, Serialize};

/// Vertices of a polygon or polyhedron [m].
#[derive(Serialize, Deserialize)]
#[serde(
    rename = "Vertices",
    deny_unknown_fields,
    bound(serialize = "[f64; D]: Serialize", deserialize = "[f64; D]: Deserialize<'de>")
)]
pub(crate) struct VertexList<const D: usize> {
    vertices: Vec<[f64; D]>,
}

impl<const D: usize> VertexList<D> {
    pub(crate) fn new(vertices: &[Point<f64, D>]) -> Self {
        Self { vertices: vertices.iter().map(|v| v.coords.into()).collect() }
    }

    pub(crate) fn points(self) -> Vec<Point<f64, D>> {
        self.vertices.into_iter().map(Point::from).collect()
    }
}
