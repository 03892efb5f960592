//! Convex hull of points, with facets instead of triangles: parry triangulates, coplanar triangles are merged here.

use std::collections::HashMap;

use nalgebra::{Matrix3, Point3, Vector3};

use super::parry::convex_hull;
use crate::error::ShapeError;

/// Distance from the plane of a facet within which a triangle of the hull belongs to it, relative to the extent.
/// Sensible range 1e-13 to 1e-9. Round-off of a hull is about 1e-15; 1e-8 would flatten the facets of fine spheres
/// (a million facets are 1e-6 out of the plane of their neighbours).
const COPLANAR_RELATIVE: f64 = 1e-10;

/// Thickness relative to the extent below which points are flat and have no hull: opposite facets would be merged.
/// Sensible range 1e-9 to 1e-6, above the tolerance on coplanar facets.
const MIN_THICKNESS_RELATIVE: f64 = 1e-9;

/// Least variance of the points along an axis, relative to the greatest, that the rounding map divides by: bounds
/// its condition to 1e12. Sensible range 1e-28 to 1e-18, the square of the least thickness and less.
const MIN_VARIANCE_RELATIVE: f64 = 1e-24;

/// Corners of the hull and its facets, coplanar triangles merged.
pub(super) struct Hull {
    /// Indices of the points that are corners, ascending.
    pub(super) corners: Vec<usize>,
    /// Corners of each facet as indices in `corners`, counter-clockwise seen from outside, the least one first.
    pub(super) facets: Vec<Vec<u32>>,
}

/// Convex hull of finite points.
pub(super) fn hull(points: &[Point3<f64>]) -> Result<Hull, ShapeError> {
    let given = points.len();
    let fail = |reason| ShapeError::Hull { given, reason };
    let extent = check_thickness(points)?;

    // A hull is invariant under linear maps: make the points round, because flat hulls lose their thickness.
    // Duplicates are found by their bits
    let round = rounding(points);
    let mut first = HashMap::new();
    let mut distinct = Vec::new();
    for (i, p) in points.iter().enumerate() {
        let d = round * (p - points[0]);
        // −0 is 0
        let key = [d.x + 0.0, d.y + 0.0, d.z + 0.0].map(f64::to_bits);
        first.entry(key).or_insert_with(|| {
            distinct.push(d);
            i
        });
    }
    let (vertices, triangles) = convex_hull(&distinct).ok_or(fail("the hull algorithm found none"))?;
    let given_index: Option<Vec<usize>> = vertices
        .iter()
        .map(|v| first.get(&[v.x + 0.0, v.y + 0.0, v.z + 0.0].map(f64::to_bits)).copied())
        .collect();
    let given_index = given_index.ok_or(fail("a corner is none of the points"))?;
    let vertices: Vec<Vector3<f64>> = given_index.iter().map(|&i| points[i] - points[0]).collect();

    let facets = merged_facets(&vertices, &triangles, COPLANAR_RELATIVE * extent).map_err(fail)?;

    // corners in the order given, facets in the order of their corners: independent of the hull algorithm
    let mut corners: Vec<usize> = facets.iter().flatten().map(|&v| given_index[v as usize]).collect();
    corners.sort_unstable();
    corners.dedup();
    let mut facets: Vec<Vec<u32>> = facets
        .iter()
        .map(|corners_of| {
            let mut named: Vec<u32> = corners_of
                .iter()
                .map(|&v| corners.partition_point(|&c| c < given_index[v as usize]))
                .map(|i| u32::try_from(i).unwrap_or(u32::MAX))
                .collect();
            let least = (0..named.len()).min_by_key(|&i| named[i]).unwrap_or(0);
            named.rotate_left(least);
            named
        })
        .collect();
    facets.sort_unstable();
    Ok(Hull { corners, facets })
}

/// Linear map without reflection that gives the points the same variance in all directions.
fn rounding(points: &[Point3<f64>]) -> Matrix3<f64> {
    let count = points.len() as f64;
    let mean = points.iter().map(|p| p - points[0]).sum::<Vector3<f64>>() / count;
    let mut spread = Matrix3::zeros();
    for p in points {
        let d = p - points[0] - mean;
        spread += d * d.transpose() / count;
    }
    let axes = spread.symmetric_eigen();
    let most = axes.eigenvalues.max();
    let scale = axes.eigenvalues.map(|l| 1.0 / l.max(MIN_VARIANCE_RELATIVE * most).sqrt());
    let map = Matrix3::from_diagonal(&scale) * axes.eigenvectors.transpose();
    if map.determinant() < 0.0 { -map } else { map }
}

/// Extent of the points [m]; an error if they lie in a plane.
fn check_thickness(points: &[Point3<f64>]) -> Result<f64, ShapeError> {
    let farthest = |from: &dyn Fn(&Point3<f64>) -> f64| {
        points.iter().map(|p| (from(p), *p)).fold((0.0, points[0]), |a, b| if b.0 > a.0 { b } else { a })
    };
    let given = points.len();
    if given < 4 {
        return Err(ShapeError::Hull { given, reason: "at least four are needed" });
    }
    let p = points[0];
    let (_, p) = farthest(&|x| (x - p).norm());
    let (extent, q) = farthest(&|x| (x - p).norm());
    let along = (q - p).try_normalize(0.0).unwrap_or_default();
    let (_, s) = farthest(&|x| (x - p).cross(&along).norm());
    let across = along.cross(&(s - p)).try_normalize(0.0).unwrap_or_default();
    let (thickness, _) = farthest(&|x| across.dot(&(x - p)).abs());
    if thickness <= MIN_THICKNESS_RELATIVE * extent {
        return Err(ShapeError::Flat { given, thickness, extent });
    }
    Ok(extent)
}

/// Facets of triangles: the largest triangle left takes all its neighbours in its plane.
fn merged_facets(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    slack: f64,
) -> Result<Vec<Vec<u32>>, &'static str> {
    let corner = |v: u32| vertices[v as usize];
    let cross: Vec<_> =
        triangles.iter().map(|&[a, b, c]| (corner(b) - corner(a)).cross(&(corner(c) - corner(a)))).collect();
    let mut owner = HashMap::new();
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            owner.insert((t[k], t[(k + 1) % 3]), i);
        }
    }
    let mut by_area: Vec<usize> = (0..triangles.len()).collect();
    by_area.sort_by(|&i, &j| cross[j].norm_squared().total_cmp(&cross[i].norm_squared()).then(i.cmp(&j)));

    // flood
    let mut facet_of = vec![usize::MAX; triangles.len()];
    let mut count = 0;
    let mut front = Vec::new();
    for &seed in &by_area {
        if facet_of[seed] != usize::MAX {
            continue;
        }
        let Some(n) = cross[seed].try_normalize(0.0) else { return Err("a triangle has no area") };
        let height = n.dot(&corner(triangles[seed][0]));
        facet_of[seed] = count;
        front.push(seed);
        while let Some(i) = front.pop() {
            let t = triangles[i];
            for k in 0..3 {
                let Some(&j) = owner.get(&(t[(k + 1) % 3], t[k])) else { return Err("it is open") };
                let flat = triangles[j].iter().all(|&v| (n.dot(&corner(v)) - height).abs() <= slack);
                if facet_of[j] == usize::MAX && flat {
                    facet_of[j] = count;
                    front.push(j);
                }
            }
        }
        count += 1;
    }

    // outlines: the sides of triangles that another facet lies across
    let mut next: Vec<HashMap<u32, u32>> = vec![HashMap::new(); count];
    let mut meeting = vec![0_u32; vertices.len()];
    for (i, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (u, v) = (t[k], t[(k + 1) % 3]);
            if facet_of[owner[&(v, u)]] != facet_of[i] {
                if next[facet_of[i]].insert(u, v).is_some() {
                    return Err("a facet touches itself");
                }
                meeting[u as usize] += 1;
            }
        }
    }
    let mut facets = Vec::with_capacity(count);
    for sides in &next {
        let Some(&first) = sides.keys().min() else { return Err("a facet has no outline") };
        let mut corners = Vec::new();
        let (mut at, mut seen) = (first, 0);
        loop {
            // between two facets only, a vertex lies on an edge and is no corner
            if meeting[at as usize] >= 3 {
                corners.push(at);
            }
            at = sides[&at];
            seen += 1;
            if at == first {
                break;
            }
            if seen > sides.len() {
                return Err("an outline does not close");
            }
        }
        if seen != sides.len() {
            return Err("a facet has more than one outline");
        }
        facets.push(corners);
    }
    Ok(facets)
}
