//! What parry does for this crate: the one place that speaks its vectors.

use nalgebra::{Isometry3, Point3, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use parry3d_f64::transformation::try_convex_hull;

fn theirs(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn ours(v: Vector) -> Vector3<f64> {
    Vector3::new(v.x, v.y, v.z)
}

type Corners = Vec<Vector3<f64>>;

/// Corners of the convex hull, each bit by bit one of the points, and its triangles; `None` where parry finds
/// none.
pub(super) fn convex_hull(points: &[Vector3<f64>]) -> Option<(Corners, Vec<[u32; 3]>)> {
    let points: Vec<_> = points.iter().map(theirs).collect();
    let (corners, triangles) = try_convex_hull(&points).ok()?;
    Some((corners.into_iter().map(ours).collect(), triangles))
}

/// A convex body by its farthest point along a direction.
pub(super) enum Support<'a> {
    /// A box about the origin with these half extents.
    Box([f64; 3]),
    /// The hull of points, all of which are looked at.
    Points(&'a [Point3<f64>]),
}

impl SupportMap for Support<'_> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        match self {
            Self::Box([x, y, z]) => {
                Vector::new(x.copysign(direction.x), y.copysign(direction.y), z.copysign(direction.z))
            }
            Self::Points(points) => {
                let along = |p: &Point3<f64>| theirs(&p.coords).dot(direction);
                let mut best = (f64::NEG_INFINITY, Vector::ZERO);
                for p in *points {
                    let value = along(p);
                    if value > best.0 {
                        best = (value, theirs(&p.coords));
                    }
                }
                best.1
            }
        }
    }
}

/// Near points of a and of b and the unit normal from a to b, in the frame of a, by GJK when the two are apart
/// and by EPA when they overlap; `None` when the method gives up. `start` is a normal to search from.
pub(super) fn near_points(
    a: &Support<'_>,
    b: &Support<'_>,
    relative: &Isometry3<f64>,
    start: Option<Vector3<f64>>,
) -> Option<(Vector3<f64>, Vector3<f64>, Vector3<f64>)> {
    let r = relative.rotation;
    let relative =
        Pose::from_parts(theirs(&relative.translation.vector), Rotation::from_xyzw(r.i, r.j, r.k, r.w));
    let start = start.as_ref().map(theirs);
    let simplex = &mut VoronoiSimplex::new();
    match contact_support_map_support_map_with_params(&relative, a, b, f64::MAX, simplex, start) {
        GJKResult::ClosestPoints(on_a, on_b, normal) => Some((ours(on_a), ours(on_b), ours(normal))),
        _ => None,
    }
}
