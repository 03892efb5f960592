//! Gaps between spatial shapes: which pair goes where, and two spheres.

use nalgebra::{Isometry3, Point3, Translation3, Vector3};

use super::capsule::{Segment, capsule_gaps, sphere_gaps};
use super::events::events;
use super::half_space::half_space_gaps;
use super::ratio::Basis;
use super::solid::{BoxForm, Solid};
use super::{Shape, rounded};
use crate::error::NoGap;

/// Length below which a direction cannot be normalized without losing digits to underflow [m].
pub(super) const TINY: f64 = 1e-100;

/// One near point of two shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Gap [m], negative when overlapping.
    pub gap: f64,
    /// Unit normal from a to b [1], in the world.
    pub normal: Vector3<f64>,
    /// Near point of a, in the world [m].
    pub on_a: Point3<f64>,
    /// Near point of b, in the world [m].
    pub on_b: Point3<f64>,
    /// Identifier of the feature pair, stable from step to step and unique within one call.
    ///
    /// For shapes of different kinds it does not depend on their order; on a half-space it is the index of the
    /// vertex or cap. For two of one kind the upper and lower 16 bits name the features of a and of b, and
    /// change places when a and b do: turning two equal capsules by 180° about their middle exchanges them, so
    /// no name can be free of the order.
    pub feature: u32,
}

impl Gap {
    /// The gap between core points `p` of a and `p + core · normal` of b, each wrapped in its radius.
    pub(super) fn rounded(
        (p, r_a): (Point3<f64>, f64),
        (q, r_b): (Point3<f64>, f64),
        core: f64,
        normal: Vector3<f64>,
        feature: u32,
    ) -> Self {
        Self { gap: core - (r_a + r_b), normal, on_a: p + r_a * normal, on_b: q - r_b * normal, feature }
    }

    /// The same near point seen from b.
    fn swap(&mut self) {
        self.normal = -self.normal;
        std::mem::swap(&mut self.on_a, &mut self.on_b);
    }
}

/// Whether the pair has a gap function. Two half-spaces have none, and an ellipsoid has one with a half-space
/// only.
pub fn has_gap(a: &Shape, b: &Shape) -> bool {
    use Shape::{Ellipsoid, HalfSpace};
    match (a, b) {
        (HalfSpace, HalfSpace) => false,
        (HalfSpace, _) | (_, HalfSpace) => true,
        (Ellipsoid { .. }, _) | (_, Ellipsoid { .. }) => false,
        _ => true,
    }
}

/// Appends every gap <= `reach` [m] of two shapes to `out`; allocates nothing else.
///
/// Where the normal is not determined a fixed one is taken: +z of the world for concentric spheres, local +x
/// of the capsule for a point on its axis, the common perpendicular for crossing axes. Poses that are not
/// finite give no gap.
///
/// Boxes and polyhedra have none when the gap of their ratio metric exceeds the reach, as its normal separates
/// them by that much; a vertex may still be nearer to the plane of a facet that it is going to miss.
pub fn gaps(
    a: &Shape,
    pose_a: &Isometry3<f64>,
    b: &Shape,
    pose_b: &Isometry3<f64>,
    reach: f64,
    out: &mut Vec<Gap>,
) -> Result<(), NoGap> {
    gaps_from(a, pose_a, b, pose_b, reach, &mut Basis::default(), out)
}

/// As [`gaps`], faster where the pair has the ratio metric: from the basis of its last call, which is replaced.
pub fn gaps_from(
    a: &Shape,
    pose_a: &Isometry3<f64>,
    b: &Shape,
    pose_b: &Isometry3<f64>,
    reach: f64,
    basis: &mut Basis,
    out: &mut Vec<Gap>,
) -> Result<(), NoGap> {
    if !has_gap(a, b) {
        return Err(NoGap { a: a.kind(), b: b.kind() });
    }
    // relative to the place of a, so that digits are not lost far from the origin of the world
    let place = pose_a.translation.vector;
    let pose_a = Isometry3::from_parts(Translation3::identity(), pose_a.rotation);
    let pose_b = Isometry3::from_parts((pose_b.translation.vector - place).into(), pose_b.rotation);

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
        Shape::HalfSpace => 0,
        Shape::Cuboid { .. } => 1,
        Shape::Polyhedron(_) => 2,
        Shape::Capsule { .. } => 3,
        Shape::Sphere { .. } | Shape::Ellipsoid { .. } => 4,
    }
}

/// The gaps of a pair in the order of [`rank`].
fn ordered_gaps(
    a: &Shape,
    pose_a: &Isometry3<f64>,
    b: &Shape,
    pose_b: &Isometry3<f64>,
    reach: f64,
    basis: &mut Basis,
    out: &mut Vec<Gap>,
) {
    match (a, b) {
        (Shape::HalfSpace, _) => half_space_gaps(pose_a, b, pose_b, reach, out),
        (Shape::Cuboid { .. } | Shape::Polyhedron(_), _) => {
            let forms = [BoxForm::of(a), BoxForm::of(b)];
            let Some(solid) = Solid::of(a, forms[0].as_ref()) else { return };
            if let Some(other) = Solid::of(b, forms[1].as_ref()) {
                events((&solid, pose_a), (&other, pose_b), basis, reach, out);
            } else if let Some(capsule) = Segment::of(b, pose_b) {
                rounded::capsule_gaps((&solid, pose_a), &capsule, reach, out);
            } else if let Shape::Sphere { radius } = b {
                let centre = Point3::from(pose_b.translation.vector);
                rounded::ball_gap((&solid, pose_a), centre, *radius, reach, out);
            }
        }
        (Shape::Sphere { radius: r_a }, Shape::Sphere { radius: r_b }) => {
            let p = Point3::from(pose_a.translation.vector);
            let q = Point3::from(pose_b.translation.vector);
            let d = q - p;
            let core = d.norm();
            let n = if core > TINY { d / core } else { Vector3::z() };
            push(Gap::rounded((p, *r_a), (q, *r_b), core, n, 0), reach, out);
        }
        (_, Shape::Sphere { radius }) => {
            if let Some(a) = Segment::of(a, pose_a) {
                sphere_gaps(&a, Point3::from(pose_b.translation.vector), *radius, reach, out);
            }
        }
        _ => {
            if let (Some(a), Some(b)) = (Segment::of(a, pose_a), Segment::of(b, pose_b)) {
                capsule_gaps(&a, &b, reach, out);
            }
        }
    }
}

/// Appends a gap that is within reach; one that is not a number is not.
pub(super) fn push(gap: Gap, reach: f64, out: &mut Vec<Gap>) {
    if gap.gap <= reach {
        out.push(gap);
    }
}
