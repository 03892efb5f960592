//! Signed Euclidean distance of two boxes or polyhedra, as an alternative to the ratio metric.

use nalgebra::{Isometry3, Point3, Vector3};

use super::parry::{SupportBody, witness_points};
use super::{Gap, Shape};
use crate::error::NoGap;

/// Distance of two boxes or polyhedra [m], or minus the length of the shortest displacement that separates them:
/// their Minkowski depth. One gap per pair, with feature 0.
///
/// Found by parry's GJK and EPA, which end at a relative error of 5e-8 and may fail: `None` then, and when a pose is
/// not finite. `start` is the normal of the pair's last query, or none. Every step of the search evaluates all
/// vertices of a polyhedron, so that thousands of them are slow; `ratio` is not.
///
/// Unlike the gap of the ratio metric it depends on no centre, but its normal jumps where two ways out are
/// equally short.
///
/// ```
/// use nalgebra::Isometry3;
/// use stiction_geometry::spatial::{Shape, minkowski_gap};
///
/// let cube = Shape::Cuboid { half_extents: [0.5; 3] };
/// let there = Isometry3::translation(0.9, 0.3, 0.0);
/// let found = minkowski_gap(&cube, &Isometry3::identity(), &cube, &there, None)?.unwrap();
/// assert!((found.gap + 0.1).abs() < 1e-7 && (found.normal.x - 1.0).abs() < 1e-7);
/// # Ok::<(), stiction_geometry::NoGap>(())
/// ```
pub fn minkowski_gap(
    a: &Shape,
    pose_a: &Isometry3<f64>,
    b: &Shape,
    pose_b: &Isometry3<f64>,
    start: Option<&Vector3<f64>>,
) -> Result<Option<Gap>, NoGap> {
    let (Some(of_a), Some(of_b)) = (support(a), support(b)) else {
        return Err(NoGap { a: a.kind(), b: b.kind() });
    };
    let relative = pose_a.inv_mul(pose_b);
    if !(relative.translation.vector.sum().is_finite() && relative.rotation.coords.sum().is_finite()) {
        return Ok(None);
    }
    let start = start.map(|n| pose_a.rotation.inverse_transform_vector(n));
    let Some((on_a, on_b, normal)) = witness_points(&of_a, &of_b, &relative, start) else { return Ok(None) };
    let gap = normal.dot(&(on_b - on_a));
    let normal = pose_a.rotation * normal;
    let found =
        Gap { gap, normal, on_a: pose_a * Point3::from(on_a), on_b: pose_a * Point3::from(on_b), feature: 0 };
    Ok((gap.is_finite() && normal.sum().is_finite()).then_some(found))
}

fn support(shape: &Shape) -> Option<SupportBody<'_>> {
    match shape {
        Shape::Cuboid { half_extents } => Some(SupportBody::Box(*half_extents)),
        Shape::Polyhedron(polyhedron) => Some(SupportBody::Points(polyhedron.vertices())),
        _ => None,
    }
}
