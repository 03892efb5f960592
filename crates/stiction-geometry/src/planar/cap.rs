//! Cap of a polygon: its edges near the line that separates it from another polygon.
//! The event search of two polygons compares their caps.

use nalgebra::{Isometry2, Point2, Vector2};

use super::Polygon;
use crate::events::MIN_CAP_COSINE;

/// Polygon in its pose, seen along the normal.
pub(super) struct BodyView<'a> {
    pub(super) polygon: &'a Polygon,
    pub(super) pose: &'a Isometry2<f64>,
    /// Normal of the line, towards the other polygon.
    pub(super) normal: Vector2<f64>,
    /// Direction along the line, the same for both polygons.
    pub(super) along: Vector2<f64>,
    /// Point of the line.
    pub(super) origin: Point2<f64>,
    /// Displacement to where the polygons touch.
    pub(super) shift: Vector2<f64>,
}

impl BodyView<'_> {
    /// Number of vertices.
    pub(super) fn count(&self) -> usize {
        self.polygon.vertices().len()
    }

    /// Vertex in the true pose.
    pub(super) fn vertex(&self, i: usize) -> Point2<f64> {
        self.pose * self.polygon.vertices()[i]
    }

    /// Coordinate along the line and height above it of a vertex, where the polygons touch [m].
    pub(super) fn at(&self, i: usize) -> (f64, f64) {
        let d = self.vertex(i) + self.shift - self.origin;
        (self.along.dot(&d), self.normal.dot(&d))
    }

    /// Outward unit normal of an edge, in the world.
    pub(super) fn edge_normal(&self, i: usize) -> Vector2<f64> {
        self.pose.rotation * self.polygon.normals()[i]
    }

    /// Edges of the cap: the first one, and their number counter-clockwise.
    pub(super) fn cap(&self, held: Option<usize>, slack: f64) -> (usize, usize) {
        let n = self.count();
        let cosine = |i: usize| self.edge_normal(i).dot(&self.normal);
        // a touching vertex: the highest one, climbing from the active edge
        let mut top = held.unwrap_or(0);
        loop {
            let (before, after) = ((top + n - 1) % n, (top + 1) % n);
            let height = self.at(top).1;
            if self.at(after).1 > height {
                top = after;
            } else if self.at(before).1 > height {
                top = before;
            } else {
                break;
            }
        }
        // from the first touching vertex, the edge most along the line of all that touch
        let mut first = top;
        while self.at((first + n - 1) % n).1 >= -slack && (first + n - 1) % n != top {
            first = (first + n - 1) % n;
        }
        let before = (first + n - 1) % n;
        let best = if cosine(before) > cosine(first) { before } else { first };
        let (mut start, mut count) = (best, 1);
        while count < n && cosine((start + n - 1) % n) >= MIN_CAP_COSINE {
            start = (start + n - 1) % n;
            count += 1;
        }
        while count < n && cosine((start + count) % n) >= MIN_CAP_COSINE {
            count += 1;
        }
        (start, count)
    }

    /// Edge of a cap that a coordinate along the line lies on, deepest inside.
    pub(super) fn edge_at(&self, (start, count): (usize, usize), at: f64, slack: f64) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for i in (0..count).map(|k| (start + k) % self.count()) {
            let (p, q) = (self.at(i).0, self.at((i + 1) % self.count()).0);
            let inside = (at - p.min(q)).min(p.max(q) - at);
            if inside >= -slack && best.is_none_or(|(_, b)| inside > b) {
                best = Some((i, inside));
            }
        }
        best.map(|(i, _)| i)
    }
}
