//! Gap functions of spatial shapes: dispatch by pair of kinds, in a fixed order of the two shapes.

use nalgebra::{Isometry3, Point3, Vector3};

use super::capsule::{Segment, capsule_gaps, sphere_gaps};
use super::curved::curved_gaps;
use super::events::events;
use super::half_space::half_space_gaps;
use super::ratio::Basis;
use super::solid::{BoxFacets, Solid};
use super::{Shape, rounded};
use crate::error::NoGap;
use crate::gap::{self, gaps_by_rank, push_within};

/// Gap of two spatial shapes.
pub type Gap = gap::Gap<3>;

/// Whether the pair has a gap function: all pairs but that of two half-spaces.
pub fn has_gap(a: &Shape, b: &Shape) -> bool {
    !matches!((a, b), (Shape::HalfSpace, Shape::HalfSpace))
}

/// Appends every gap <= `reach` [m] of two shapes to `out`; allocates nothing else.
///
/// Where the normal is not determined, a fixed one is taken: +z of the world for concentric spheres, local +x
/// of the capsule for a point on its axis, the common perpendicular for crossing axes. Poses that are not
/// finite give no gap.
///
/// A curved or rounded shape and another bounded one have a gap for each pair of features that face each other near
/// their common normal; if they overlap, near the normal of the ratio metric. The least of bodies that are apart is
/// their distance.
///
/// Two boxes or polyhedra have no gap if the gap of their ratio metric exceeds the reach, because its normal
/// separates them by that much. A vertex may still be nearer to the plane of a facet that it is going to miss.
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

/// Gaps as by [`gaps`], warm-started where the pair has the ratio metric: from the basis of its last call, which is
/// replaced.
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
    // each pair is written once, in the order of `rank`
    gaps_by_rank((a, pose_a), (b, pose_b), rank, out, |a, b, out| ordered_gaps(a, b, reach, basis, out));
    Ok(())
}

/// Order of the kinds in a pair.
fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::HalfSpace => 0,
        Shape::Cuboid { .. } => 1,
        Shape::Polyhedron(_) => 2,
        Shape::Capsule { .. } => 3,
        Shape::Sphere { .. } => 4,
        Shape::Ellipsoid { .. } => 5,
        Shape::Cylinder { .. } => 6,
        Shape::Cone { .. } => 7,
        // after all that are not rounded, in the order of the cores
        Shape::Rounded { core, .. } => 8 + rank(core),
    }
}

/// Whether a shape takes part in the gaps of curved and rounded shapes with all bounded ones.
fn is_curved(shape: &Shape) -> bool {
    use Shape::{Cone, Cylinder, Ellipsoid, Rounded};
    matches!(shape, Ellipsoid { .. } | Cylinder { .. } | Cone { .. } | Rounded { .. })
}

/// Gaps of a pair in the order of [`rank`].
fn ordered_gaps(
    (a, pose_a): (&Shape, &Isometry3<f64>),
    (b, pose_b): (&Shape, &Isometry3<f64>),
    reach: f64,
    basis: &mut Basis,
    out: &mut Vec<Gap>,
) {
    let centres = [pose_a, pose_b].map(|pose| Point3::from(pose.translation.vector));
    match (a, b) {
        (Shape::HalfSpace, _) => half_space_gaps(pose_a, b, pose_b, reach, out),
        _ if is_curved(a) || is_curved(b) => curved_gaps((a, pose_a), (b, pose_b), reach, out),
        (Shape::Cuboid { .. } | Shape::Polyhedron(_), _) => {
            let boxes = [BoxFacets::of(a), BoxFacets::of(b)];
            let Some(solid) = Solid::of(a, boxes[0].as_ref()) else { return };
            if let Some(other) = Solid::of(b, boxes[1].as_ref()) {
                events((&solid, pose_a), (&other, pose_b), basis, reach, out);
            } else if let Some(capsule) = Segment::of(b, pose_b) {
                rounded::capsule_gaps((&solid, pose_a), &capsule, reach, out);
            } else if let Shape::Sphere { radius } = b {
                rounded::sphere_gap((&solid, pose_a), centres[1], *radius, reach, out);
            }
        }
        (Shape::Sphere { radius: r_a }, Shape::Sphere { radius: r_b }) => {
            let gap = Gap::of_balls((centres[0], *r_a), (centres[1], *r_b), Vector3::z());
            push_within(gap, reach, out);
        }
        (_, Shape::Sphere { radius }) => {
            if let Some(a) = Segment::of(a, pose_a) {
                sphere_gaps(&a, centres[1], *radius, reach, out);
            }
        }
        _ => {
            if let (Some(a), Some(b)) = (Segment::of(a, pose_a), Segment::of(b, pose_b)) {
                capsule_gaps(&a, &b, reach, out);
            }
        }
    }
}
