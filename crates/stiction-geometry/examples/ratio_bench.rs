//! Times queries of the ratio metric, cold and warm, beside parry's GJK and EPA on the same poses.
//!
//! `cargo run --release -p stiction-geometry --example ratio_bench [most facets]` prints a table of mean times in
//! microseconds. Bodies are hulls of random points on an ellipsoid with axes 1 : 0.8 : 0.6, boxes for 6 facets;
//! poses are random with the ratio r set by moving one body along the line of the centroids. A warm query
//! starts from the one before, after every coordinate of place and turn has changed by up to `motion`.

use std::f64::consts::PI;
use std::hint::black_box;
use std::time::Instant;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid, SupportMap};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction_geometry::spatial::{Basis, Polyhedron, ratio, ratio_by_seidel};

/// Queries per median.
const POSES: usize = 60;

fn body(rng: &mut ChaCha8Rng, facets: usize) -> (Polyhedron, Box<dyn SupportMap>) {
    if facets == 6 {
        let half = [0.5, 0.4, 0.3];
        return (Polyhedron::cuboid(half).unwrap(), Box::new(Cuboid::new(Vector::new(0.5, 0.4, 0.3))));
    }
    let points: Vec<_> = (0..facets / 2 + 2)
        .map(|_| {
            loop {
                let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                let length: f64 = v.norm();
                if length > 0.1 && length < 1.0 {
                    break Point3::from((v / length).component_mul(&Vector3::new(0.5, 0.4, 0.3)));
                }
            }
        })
        .collect();
    let ours = Polyhedron::new(&points).unwrap();
    // triangles of the same hull
    let vertices = ours.vertices().iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    let mut triangles = vec![];
    for f in 0..ours.facets().len() {
        let corners = ours.corners(f);
        triangles.extend(corners[1..].windows(2).map(|pair| [corners[0], pair[0], pair[1]]));
    }
    let theirs = ConvexPolyhedron::from_convex_mesh(vertices, &triangles).unwrap();
    (ours, Box::new(theirs))
}

fn turned(rng: &mut ChaCha8Rng) -> Isometry3<f64> {
    let mut x = || rng.random_range(-PI..PI);
    Isometry3::rotation(Vector3::new(x(), x(), x()))
}

fn moved(rng: &mut ChaCha8Rng, pose: &Isometry3<f64>, motion: f64) -> Isometry3<f64> {
    let mut x = || rng.random_range(-motion..motion);
    let at = pose.translation.vector + Vector3::new(x(), x(), x());
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(x(), x(), x())) * pose.rotation;
    Isometry3::from_parts(Translation3::from(at), turn)
}

fn theirs(pose: &Isometry3<f64>) -> Pose {
    let (t, r) = (pose.translation.vector, pose.rotation);
    Pose::from_parts(Vector::new(t.x, t.y, t.z), Rotation::from_xyzw(r.i, r.j, r.k, r.w))
}

/// Microseconds per query, all poses in turn so that no query repeats the one before: the least mean of three
/// sweeps, or of one where queries are slow.
fn swept(count: usize, mut query: impl FnMut(usize)) -> f64 {
    let mut sweep = |repeat: usize| {
        let start = Instant::now();
        for _ in 0..repeat {
            (0..count).for_each(&mut query);
        }
        1e6 * start.elapsed().as_secs_f64() / (count * repeat) as f64
    };
    let once = sweep(1);
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "between 1 and 1000")]
    let repeat = (2e4 / (once * count as f64)).clamp(1.0, 1000.0) as usize;
    if once > 1e4 { once } else { (0..3).map(|_| sweep(repeat)).fold(once, f64::min) }
}

/// A pair of poses, where b is after a small and a larger motion, and the basis and normal of the first.
struct Query {
    p: Isometry3<f64>,
    q: Isometry3<f64>,
    next: [Isometry3<f64>; 2],
    basis: Basis,
    normal: Option<Vector>,
}

fn main() {
    let most = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    println!("microseconds per query; warm after motions of 0.001 and 0.01, parry's warm after 0.01");
    println!(
        "{:>7} {:>5} {:>9} {:>6} {:>8} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "facets",
        "r",
        "Seidel",
        "proj/f",
        "cold",
        "pivots",
        "visited",
        "warm.001",
        "warm.01",
        "% warm",
        "parry",
        "parry.01"
    );
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for facets in [6, 60, 600, 2000, 20_000, 100_000].into_iter().filter(|&n| n <= most) {
        let ((a, parry_a), (b, parry_b)) = (body(&mut rng, facets), body(&mut rng, facets));
        let contact = |p: &Isometry3<f64>, q: &Isometry3<f64>, guess: Option<Vector>| {
            let relative = theirs(&(p.inverse() * q));
            let simplex = &mut VoronoiSimplex::new();
            contact_support_map_support_map_with_params(
                &relative,
                &*parry_a,
                &*parry_b,
                f64::MAX,
                simplex,
                guess,
            )
        };
        for r in [0.5, 0.95, 1.05, 2.0] {
            let (mut pivots, mut visited, mut still_warm) = (0, 0, 0);
            let queries: Vec<_> = (0..POSES)
                .map(|_| {
                    // along the line of the centroids to the ratio wanted
                    let (p, mut q) = (turned(&mut rng), turned(&mut rng));
                    let direction = turned(&mut rng) * Vector3::x();
                    q.translation.vector += (p * a.centre() - q * b.centre()) + direction;
                    let at = ratio((&a, &p), (&b, &q), &mut Basis::default()).unwrap();
                    q.translation.vector += (r / at.r - 1.0) * direction;

                    let mut basis = Basis::default();
                    let at = ratio((&a, &p), (&b, &q), &mut basis).unwrap();
                    pivots += at.work.pivots;
                    visited += at.work.visited;
                    let next = [1e-3, 1e-2].map(|motion| moved(&mut rng, &q, motion));
                    let after = ratio((&a, &p), (&b, &next[1]), &mut basis.clone()).unwrap();
                    still_warm += usize::from(after.work.warm);
                    let normal = match contact(&p, &q, None) {
                        GJKResult::ClosestPoints(_, _, n) => Some(n),
                        _ => None,
                    };
                    Query { p, q, next, basis, normal }
                })
                .collect();

            let few = if facets > 2000 { 5 } else { POSES };
            let mut projections = 0;
            for query in &queries[..few] {
                projections += ratio_by_seidel((&a, &query.p), (&b, &query.q)).unwrap().work.projections;
            }
            let per_facet = projections as f64 / (few * (a.facets().len() + b.facets().len())) as f64;
            let seidel = swept(few, |i| {
                black_box(ratio_by_seidel((&a, &queries[i].p), (&b, &queries[i].q)));
            });
            let cold = swept(POSES, |i| {
                black_box(ratio((&a, &queries[i].p), (&b, &queries[i].q), &mut Basis::default()));
            });
            let [warm, farther] = [0, 1].map(|k| {
                swept(POSES, |i| {
                    black_box(ratio(
                        (&a, &queries[i].p),
                        (&b, &queries[i].next[k]),
                        &mut queries[i].basis.clone(),
                    ));
                })
            });
            let parry = swept(POSES, |i| {
                black_box(contact(&queries[i].p, &queries[i].q, None));
            });
            let parry_warm = swept(POSES, |i| {
                black_box(contact(&queries[i].p, &queries[i].next[1], queries[i].normal));
            });
            let count = POSES as f64;
            println!(
                "{:>7} {r:>5} {seidel:>9.1} {per_facet:>6.1} {cold:>8.2} {:>7.1} {:>8.0} {warm:>9.2} {farther:>9.2} {:>9.0} {parry:>9.2} {parry_warm:>9.2}",
                a.facets().len(),
                pivots as f64 / count,
                visited as f64 / count,
                100.0 * still_warm as f64 / count,
            );
        }
    }
}
