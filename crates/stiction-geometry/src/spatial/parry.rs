//! Adapter to parry: convex hulls, and GJK and EPA for the signed Euclidean distance, in its vectors.

use nalgebra::{Isometry3, Point3, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use parry3d_f64::transformation::try_convex_hull;

fn to_parry(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn from_parry(v: Vector) -> Vector3<f64> {
    Vector3::new(v.x, v.y, v.z)
}

/// Corners of the convex hull, each bit by bit one of the points, and its triangles; `None` when parry finds none.
#[allow(clippy::type_complexity, reason = "two lists, unpacked at the one call")]
pub(super) fn convex_hull(points: &[Vector3<f64>]) -> Option<(Vec<Vector3<f64>>, Vec<[u32; 3]>)> {
    let points: Vec<_> = points.iter().map(to_parry).collect();
    let (corners, triangles) = try_convex_hull(&points).ok()?;
    Some((corners.into_iter().map(from_parry).collect(), triangles))
}

/// Convex body by its support point along a direction.
pub(super) enum SupportBody<'a> {
    /// Box about the origin with these half extents.
    Box([f64; 3]),
    /// Hull of points, all of which are evaluated.
    Points(&'a [Point3<f64>]),
}

impl SupportMap for SupportBody<'_> {
    fn local_support_point(&self, direction: Vector) -> Vector {
        match self {
            Self::Box([x, y, z]) => {
                Vector::new(x.copysign(direction.x), y.copysign(direction.y), z.copysign(direction.z))
            }
            Self::Points(points) => {
                let along = |p: &Point3<f64>| to_parry(&p.coords).dot(direction);
                let mut best = (f64::NEG_INFINITY, Vector::ZERO);
                for p in *points {
                    let value = along(p);
                    if value > best.0 {
                        best = (value, to_parry(&p.coords));
                    }
                }
                best.1
            }
        }
    }
}

/// Witness points of a and of b and the unit normal from a to b, in the frame of a: by GJK if the two are apart, by
/// EPA if they overlap. `None` when the method fails. `start` is a normal to search from.
pub(super) fn witness_points(
    a: &SupportBody<'_>,
    b: &SupportBody<'_>,
    relative: &Isometry3<f64>,
    start: Option<Vector3<f64>>,
) -> Option<(Vector3<f64>, Vector3<f64>, Vector3<f64>)> {
    let r = relative.rotation;
    let relative =
        Pose::from_parts(to_parry(&relative.translation.vector), Rotation::from_xyzw(r.i, r.j, r.k, r.w));
    let start = start.as_ref().map(to_parry);
    let simplex = &mut VoronoiSimplex::new();
    match contact_support_map_support_map_with_params(&relative, a, b, f64::MAX, simplex, start) {
        GJKResult::ClosestPoints(on_a, on_b, normal) => {
            Some((from_parry(on_a), from_parry(on_b), from_parry(normal)))
        }
        _ => None,
    }
}
