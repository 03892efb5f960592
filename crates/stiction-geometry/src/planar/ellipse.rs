//! Gap of an ellipse and another bounded shape: one, along their common normal.
//!
//! The normal starts from that of two convex bodies. The feature of the other shape that it meets is a vertex, an edge
//! or an ellipse; with an edge the common normal is that of the edge, with the others Newton's method finds it.

use nalgebra::{Isometry2, Matrix2, Point2, Vector2};

use super::gap::Gap;
use super::outline::Outline;
use super::{Shape, size};
use crate::convex::{Separation, Support, common_normal, separating_normal};
use crate::gap::{END_RELATIVE, push_within};

/// Sine by which a normal may lie outside the cone of normals of a vertex: round-off of Newton's method. Sensible range
/// 1e-14 to 1e-9.
const IN_CONE: f64 = 1e-12;

/// Ellipse in its pose.
struct PosedEllipse<'a> {
    pose: &'a Isometry2<f64>,
    squares: Vector2<f64>,
}

impl<'a> PosedEllipse<'a> {
    fn of(shape: &Shape, pose: &'a Isometry2<f64>) -> Option<Self> {
        let Shape::Ellipse { semi_axes: [a, b] } = shape else { return None };
        Some(Self { pose, squares: Vector2::new(a * a, b * b) })
    }

    /// Farthest point along a direction.
    fn point(&self, n: &Vector2<f64>) -> Point2<f64> {
        Point2::from(self.farthest(n))
    }

    /// Second derivative of the support function h = sqrt(a² n_x² + b² n_y²) at a unit vector.
    fn curvature(&self, n: &Vector2<f64>) -> Matrix2<f64> {
        let n = self.pose.rotation.inverse_transform_vector(n);
        let scaled = self.squares.component_mul(&n);
        let h = n.dot(&scaled).sqrt();
        let across = self.pose.rotation * Vector2::new(-n.y, n.x);
        across * across.transpose() * (self.squares.x * self.squares.y / (h * h * h))
    }
}

impl Support<2> for PosedEllipse<'_> {
    fn farthest(&self, direction: &Vector2<f64>) -> Vector2<f64> {
        let d = self.pose.rotation.inverse_transform_vector(direction);
        let scaled = self.squares.component_mul(&d);
        let h = d.dot(&scaled).sqrt();
        let local = if h > 0.0 { scaled / h } else { Vector2::zeros() };
        self.pose.translation.vector + self.pose.rotation * local
    }

    fn centre(&self) -> Vector2<f64> {
        self.pose.translation.vector
    }
}

impl Support<2> for Outline<'_> {
    fn farthest(&self, direction: &Vector2<f64>) -> Vector2<f64> {
        (self.pose() * self.vertices()[self.farthest_vertex(direction)]).coords
    }

    fn centre(&self) -> Vector2<f64> {
        self.middle().coords
    }
}

/// Point as a convex body.
struct CorePoint(Vector2<f64>);

impl Support<2> for CorePoint {
    fn farthest(&self, _: &Vector2<f64>) -> Vector2<f64> {
        self.0
    }

    fn centre(&self) -> Vector2<f64> {
        self.0
    }
}

/// Appends the gap of a bounded shape a and an ellipse b if it is within reach [m].
pub(super) fn ellipse_gap(
    (a, pose_a): (&Shape, &Isometry2<f64>),
    (b, pose_b): (&Shape, &Isometry2<f64>),
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let Some(ellipse) = PosedEllipse::of(b, pose_b) else { return };
    let size = size(b);
    let found = if let Some(outline) = Outline::of(a, pose_a) {
        separating_normal(&outline, &ellipse, size).map(|n| outline_gap(&outline, &ellipse, n))
    } else if let Some(other) = PosedEllipse::of(a, pose_a) {
        separating_normal(&other, &ellipse, size).map(|n| {
            let n = common_normal(n, size, |n| Separation {
                between: ellipse.farthest(&-n) - other.farthest(n),
                curvature: ellipse.curvature(n) + other.curvature(n),
            });
            let p = other.point(&n);
            let core = n.dot(&(ellipse.point(&-n) - p));
            Gap::rounded((p, 0.0), (p + core * n, 0.0), core, n, 0)
        })
    } else {
        let Shape::Disk { radius } = a else { return };
        let centre = CorePoint(pose_a.translation.vector);
        separating_normal(&centre, &ellipse, size)
            .map(|n| point_gap((centre.0.into(), *radius), &ellipse, n, 0))
    };
    if let Some(gap) = found {
        push_within(gap, reach, out);
    }
}

/// Gap of a point wrapped in a radius and an ellipse, from a normal near the common one.
fn point_gap(
    (p, radius): (Point2<f64>, f64),
    ellipse: &PosedEllipse<'_>,
    n: Vector2<f64>,
    feature: u32,
) -> Gap {
    let n = common_normal(n, ellipse.squares.max().sqrt(), |n| Separation {
        between: ellipse.farthest(&-n) - p.coords,
        curvature: ellipse.curvature(n),
    });
    let core = n.dot(&(ellipse.point(&-n) - p));
    Gap::rounded((p, radius), (p + core * n, 0.0), core, n, feature)
}

/// Gap of an outline and an ellipse, from a normal near the common one: at the vertex that the normal meets, or at one of
/// the two edges there.
fn outline_gap(outline: &Outline, ellipse: &PosedEllipse<'_>, n: Vector2<f64>) -> Gap {
    let count = outline.vertices().len();
    let k = outline.farthest_vertex(&n);
    let edges = [(k + count - 1) % count, k].map(|i| outline.edge(i));
    let at_edges = edges.each_ref().map(|edge| {
        let on_b = ellipse.point(&-edge.normal);
        let from_start = on_b - edge.ends[0];
        let core = edge.normal.dot(&from_start);
        let foot = on_b - core * edge.normal;
        let gap = Gap::rounded((foot, outline.radius()), (on_b, 0.0), core, edge.normal, edge.code);
        let slack = END_RELATIVE * edge.length;
        (gap, (-slack..=edge.length + slack).contains(&edge.tangent.dot(&from_start)))
    });
    let vertex = (edges[1].ends[0], outline.radius());
    let at_vertex = point_gap(vertex, ellipse, n, edges[1].vertex_codes[0]);
    let in_cone = edges[0].tangent.dot(&at_vertex.normal) >= -IN_CONE
        && edges[1].tangent.dot(&at_vertex.normal) <= IN_CONE;

    // of those that face each other the one nearest to the normal: apart there is one only
    let found = at_edges.into_iter().chain([(at_vertex, in_cone)]);
    let facing = found.filter(|(_, faces)| *faces).map(|(gap, _)| gap);
    let nearest = |a: Gap, b: Gap| if b.normal.dot(&n) > a.normal.dot(&n) { b } else { a };
    facing.reduce(nearest).unwrap_or_else(|| nearest(at_edges[0].0, at_edges[1].0))
}
