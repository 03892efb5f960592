//! Gap functions of planar shapes: dispatch by pair of kinds, in a fixed order of the two shapes.

use nalgebra::{Isometry2, Point2, Vector2};

use super::Shape;
use super::ellipse::ellipse_gap;
use super::events::events;
use super::half_plane::half_plane_gaps;
use super::outline::{Outline, disk_gaps, outline_gaps};
use super::ratio::Basis;
use crate::error::NoGap;
use crate::gap::{self, gaps_by_rank, push_within};

/// Gap of two planar shapes.
pub type Gap = gap::Gap<2>;

/// Whether the pair has a gap function: all pairs but that of two half-planes.
pub fn has_gap(a: &Shape, b: &Shape) -> bool {
    !matches!((a, b), (Shape::HalfPlane, Shape::HalfPlane))
}

/// Appends every gap <= `reach` [m] of two shapes to `out`; allocates nothing else.
///
/// Where the normal is not determined, a fixed one is taken: +y of the world for concentric disks, a side of
/// the capsule for a point on its axis. The gap of an ellipse is along the common normal; if the bodies overlap, along
/// the one nearest to that of the ratio metric. Poses that are not finite give no gap.
///
/// Two polygons have no gap if the gap of their ratio metric exceeds the reach, because its normal separates them by
/// that much. A vertex may still be nearer to the line of an edge that it is going to miss.
pub fn gaps(
    a: &Shape,
    pose_a: &Isometry2<f64>,
    b: &Shape,
    pose_b: &Isometry2<f64>,
    reach: f64,
    out: &mut Vec<Gap>,
) -> Result<(), NoGap> {
    gaps_from(a, pose_a, b, pose_b, reach, &mut Basis::default(), out)
}

/// Gaps as by [`gaps`], warm-started where the pair has the ratio metric: from the basis of its last call, which is
/// replaced.
pub fn gaps_from(
    a: &Shape,
    pose_a: &Isometry2<f64>,
    b: &Shape,
    pose_b: &Isometry2<f64>,
    reach: f64,
    basis: &mut Basis,
    out: &mut Vec<Gap>,
) -> Result<(), NoGap> {
    if !has_gap(a, b) {
        return Err(NoGap { a: a.kind(), b: b.kind() });
    }
    // each pair is written once, in the order of `rank`
    gaps_by_rank((a, pose_a), (b, pose_b), rank, out, |a, b, out| ordered_gaps(a, b, reach, basis, out));
    Ok(())
}

/// Order of the kinds in a pair.
fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::HalfPlane => 0,
        Shape::Polygon(_) => 1,
        Shape::Rounded { .. } => 2,
        Shape::Capsule { .. } => 3,
        Shape::Disk { .. } => 4,
        Shape::Ellipse { .. } => 5,
    }
}

/// Gaps of a pair in the order of [`rank`].
fn ordered_gaps(
    (a, pose_a): (&Shape, &Isometry2<f64>),
    (b, pose_b): (&Shape, &Isometry2<f64>),
    reach: f64,
    basis: &mut Basis,
    out: &mut Vec<Gap>,
) {
    let centres = [pose_a, pose_b].map(|pose| Point2::from(pose.translation.vector));
    match (a, b) {
        (Shape::HalfPlane, _) => half_plane_gaps(pose_a, b, pose_b, reach, out),
        (_, Shape::Ellipse { .. }) => ellipse_gap((a, pose_a), (b, pose_b), reach, out),
        (Shape::Polygon(a), Shape::Polygon(b)) => events((a, pose_a), (b, pose_b), basis, reach, out),
        (Shape::Disk { radius: r_a }, Shape::Disk { radius: r_b }) => {
            let gap = Gap::of_balls((centres[0], *r_a), (centres[1], *r_b), Vector2::y());
            push_within(gap, reach, out);
        }
        (_, Shape::Disk { radius }) => {
            if let Some(a) = Outline::of(a, pose_a) {
                disk_gaps(&a, centres[1], *radius, reach, out);
            }
        }
        _ => {
            if let (Some(a), Some(b)) = (Outline::of(a, pose_a), Outline::of(b, pose_b)) {
                outline_gaps(&a, &b, reach, out);
            }
        }
    }
}
