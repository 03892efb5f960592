//! Gaps between a half-plane and a bounded shape: exact at any depth, one gap per vertex or cap.

use nalgebra::{Isometry2, Point2, Vector2};

use super::gap::Gap;
use super::{Shape, support};
use crate::gap::{VERTEX_SEARCH_RELATIVE, push_within};

/// Appends every gap <= `reach` [m].
pub(super) fn half_plane_gaps(
    pose_plane: &Isometry2<f64>,
    shape: &Shape,
    pose: &Isometry2<f64>,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let n = pose_plane.rotation * Vector2::y();
    let origin = Point2::from(pose_plane.translation.vector);
    let mut add = |local: Point2<f64>, r: f64, feature: u32| {
        let q = pose * local;
        let core = n.dot(&(q - origin));
        push_within(Gap::rounded((q - core * n, 0.0), (q, r), core, n, feature), reach, out);
    };
    let (core, rounding) = shape.core();
    match core {
        Shape::Disk { radius } => add(Point2::origin(), *radius, 0),
        // Φ = n·x − sqrt(a² n_x² + b² n_y²), n in the frame of the ellipse
        Shape::Ellipse { .. } => {
            if let Some(lowest) = support(shape, &-pose.rotation.inverse_transform_vector(&n)) {
                add(lowest, 0.0, 0);
            }
        }
        Shape::Capsule { half_length, radius } => {
            add(Point2::new(-half_length, 0.0), *radius, 0);
            add(Point2::new(*half_length, 0.0), *radius, 1);
        }
        Shape::Polygon(polygon) => {
            // in the local frame, about the line
            let down = -pose.rotation.inverse_transform_vector(&n);
            let height = n.dot(&(pose.translation.vector - origin.coords));
            let (first, count) =
                polygon.beyond(&down, height - rounding - reach - VERTEX_SEARCH_RELATIVE * polygon.size());
            // in the order of their indices, as if all had been evaluated
            let vertices = polygon.vertices();
            let beyond_last = (first + count).saturating_sub(vertices.len());
            for i in (0..beyond_last).chain(first..first + count - beyond_last) {
                add(vertices[i], rounding, u32::try_from(i).unwrap_or(u32::MAX));
            }
        }
        Shape::Rounded { .. } | Shape::HalfPlane => {}
    }
}
