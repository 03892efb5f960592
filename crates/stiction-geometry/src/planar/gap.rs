//! Gaps between planar shapes: which pair goes where, and the pairs with half-planes and disks.

use nalgebra::{Isometry2, Point2, Translation2, Vector2};

use super::events::events;
use super::outline::{Outline, disk_gaps, outline_gaps};
use super::ratio::Basis;
use super::{Shape, support};
use crate::error::NoGap;

/// Length below which a direction cannot be normalized without losing digits to underflow [m].
pub(super) const TINY: f64 = 1e-100;

/// How far beyond the reach vertices are still looked at, relative to the size.
const SLACK: f64 = 1e-9;

/// One near point of two shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Gap [m], negative when overlapping.
    pub gap: f64,
    /// Unit normal from a to b [1], in the world.
    pub normal: Vector2<f64>,
    /// Near point of a, in the world [m].
    pub on_a: Point2<f64>,
    /// Near point of b, in the world [m].
    pub on_b: Point2<f64>,
    /// Identifier of the feature pair, stable from step to step and unique within one call.
    ///
    /// For shapes of different kinds it does not depend on their order; on a half-plane it is the index of the
    /// vertex or cap. For two of one kind the upper and lower 16 bits name the features of a and of b, and
    /// change places when a and b do: turning two equal boxes by 180° about their middle exchanges them, so no
    /// name can be free of the order.
    pub feature: u32,
}

impl Gap {
    /// The gap between core points `p` of a and `p + core · normal` of b, each wrapped in its radius.
    pub(super) fn rounded(
        (p, r_a): (Point2<f64>, f64),
        (q, r_b): (Point2<f64>, f64),
        core: f64,
        normal: Vector2<f64>,
        feature: u32,
    ) -> Self {
        Self { gap: core - (r_a + r_b), normal, on_a: p + r_a * normal, on_b: q - r_b * normal, feature }
    }

    /// The same near point seen from b.
    pub(super) fn swap(&mut self) {
        self.normal = -self.normal;
        std::mem::swap(&mut self.on_a, &mut self.on_b);
    }
}

/// Whether the pair has a gap function. Two half-planes have none, and an ellipse has one with a half-plane
/// only.
pub fn has_gap(a: &Shape, b: &Shape) -> bool {
    use Shape::{Ellipse, HalfPlane};
    match (a, b) {
        (HalfPlane, HalfPlane) => false,
        (HalfPlane, _) | (_, HalfPlane) => true,
        (Ellipse { .. }, _) | (_, Ellipse { .. }) => false,
        _ => true,
    }
}

/// Appends every gap <= `reach` [m] of two shapes to `out`; allocates nothing else.
///
/// Where the normal is not determined a fixed one is taken: +y of the world for concentric disks, a side of
/// the capsule for a point on its axis. Poses that are not finite give no gap.
///
/// Polygons have none when the gap of their ratio metric exceeds the reach, as its normal separates them by that
/// much; a vertex may still be nearer to the line of an edge that it is going to miss.
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

/// As [`gaps`], faster where the pair has the ratio metric: from the basis of its last call, which is replaced.
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
    // relative to the place of a, so that digits are not lost far from the origin of the world
    let place = pose_a.translation.vector;
    let pose_a = Isometry2::from_parts(Translation2::identity(), pose_a.rotation);
    let pose_b = Isometry2::from_parts((pose_b.translation.vector - place).into(), pose_b.rotation);

    // each pair is written once, in the order of `rank`
    let first = out.len();
    let swapped = rank(a) > rank(b);
    if swapped {
        ordered_gaps(b, &pose_b, a, &pose_a, reach, basis, out);
    } else {
        ordered_gaps(a, &pose_a, b, &pose_b, reach, basis, out);
    }
    for gap in &mut out[first..] {
        gap.on_a += place;
        gap.on_b += place;
        if swapped {
            gap.swap();
        }
    }
    Ok(())
}

fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::HalfPlane => 0,
        Shape::Polygon(_) => 1,
        Shape::Capsule { .. } => 2,
        Shape::Disk { .. } | Shape::Ellipse { .. } => 3,
    }
}

/// The gaps of a pair in the order of [`rank`].
fn ordered_gaps(
    a: &Shape,
    pose_a: &Isometry2<f64>,
    b: &Shape,
    pose_b: &Isometry2<f64>,
    reach: f64,
    basis: &mut Basis,
    out: &mut Vec<Gap>,
) {
    match (a, b) {
        (Shape::HalfPlane, _) => half_plane(pose_a, b, pose_b, reach, out),
        (Shape::Polygon(a), Shape::Polygon(b)) => events((a, pose_a), (b, pose_b), basis, reach, out),
        (Shape::Disk { radius: r_a }, Shape::Disk { radius: r_b }) => {
            let p = Point2::from(pose_a.translation.vector);
            let q = Point2::from(pose_b.translation.vector);
            let d = q - p;
            let core = d.norm();
            let n = if core > TINY { d / core } else { Vector2::y() };
            push(Gap::rounded((p, *r_a), (q, *r_b), core, n, 0), reach, out);
        }
        (_, Shape::Disk { radius }) => {
            if let Some(a) = Outline::of(a, pose_a) {
                disk_gaps(&a, Point2::from(pose_b.translation.vector), *radius, reach, out);
            }
        }
        _ => {
            if let (Some(a), Some(b)) = (Outline::of(a, pose_a), Outline::of(b, pose_b)) {
                outline_gaps(&a, &b, reach, out);
            }
        }
    }
}

/// A half-plane against anything bounded: exact at any depth, one gap per vertex or cap.
fn half_plane(
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
        push(Gap::rounded((q - core * n, 0.0), (q, r), core, n, feature), reach, out);
    };
    match shape {
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
            // in the local frame, about the line; round-off must not cut the way from one vertex to the next
            let down = -pose.rotation.inverse_transform_vector(&n);
            let height = n.dot(&(pose.translation.vector - origin.coords));
            let (first, count) = polygon.beyond(&down, height - reach - SLACK * polygon.size());
            // in the order of their names, as if all had been looked at
            let vertices = polygon.vertices();
            let beyond_last = (first + count).saturating_sub(vertices.len());
            for i in (0..beyond_last).chain(first..first + count - beyond_last) {
                add(vertices[i], 0.0, u32::try_from(i).unwrap_or(u32::MAX));
            }
        }
        Shape::HalfPlane => {}
    }
}

/// Appends a gap that is within reach; one that is not a number is not.
pub(super) fn push(gap: Gap, reach: f64, out: &mut Vec<Gap>) {
    if gap.gap <= reach {
        out.push(gap);
    }
}
