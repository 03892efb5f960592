//! Random boxes and hulls in random and aligned poses: the sign of the ratio metric against parry's signed
//! distance, and every gap finite.
//!
//! `cargo run --release -p stiction-geometry --example ratio_fuzz [pairs]` exits with 1 when a pair disagrees.

use std::process::ExitCode;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query::contact;
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid, Shape as ParryShape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction_geometry::spatial::{Basis, Polyhedron, Shape, gaps, ratio};

/// Signed distances of less than this are not compared [m]: parry's own tolerance is about 1e-8.
const BAND: f64 = 1e-6;

struct Body {
    ours: Arc<Polyhedron>,
    theirs: Box<dyn ParryShape>,
}

fn body(rng: &mut ChaCha8Rng) -> Body {
    if rng.random_bool(0.3) {
        let half = [0; 3].map(|_| 0.125 * f64::from(rng.random_range(1..8)));
        let ours = Arc::new(Polyhedron::cuboid(half).unwrap());
        return Body { ours, theirs: Box::new(Cuboid::new(Vector::from_array(half))) };
    }
    let flat = if rng.random_bool(0.2) { 0.01 } else { 1.0 };
    loop {
        let count = rng.random_range(4..40);
        let points: Vec<_> = (0..count)
            .map(|_| Point3::from(Vector3::from_fn(|i, _| rng.random_range(-0.7..0.7) * [1.0, 1.0, flat][i])))
            .collect();
        let Ok(ours) = Polyhedron::new(&points) else { continue };
        let vertices = ours.vertices().iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
        let mut triangles = vec![];
        for f in 0..ours.facets().len() {
            let corners = ours.corners(f);
            triangles.extend(corners[1..].windows(2).map(|pair| [corners[0], pair[0], pair[1]]));
        }
        if let Some(theirs) = ConvexPolyhedron::from_convex_mesh(vertices, &triangles) {
            return Body { ours: Arc::new(ours), theirs: Box::new(theirs) };
        }
    }
}

fn pose(rng: &mut ChaCha8Rng) -> Isometry3<f64> {
    if rng.random_bool(0.3) {
        let mut x = |n: i32| f64::from(rng.random_range(-n..=n));
        let turn = Vector3::new(x(2), x(2), x(2)) * std::f64::consts::FRAC_PI_2;
        let rotation = UnitQuaternion::from_euler_angles(turn.x, turn.y, turn.z);
        return Isometry3::from_parts(Translation3::new(x(8) * 0.125, x(8) * 0.125, x(8) * 0.125), rotation);
    }
    let mut x = |r: f64| rng.random_range(-r..r);
    Isometry3::new(Vector3::new(x(0.8), x(0.8), x(0.8)), Vector3::new(x(3.0), x(3.0), x(3.0)))
}

fn theirs(pose: &Isometry3<f64>) -> Pose {
    let (t, r) = (pose.translation.vector, pose.rotation);
    Pose::from_parts(Vector::new(t.x, t.y, t.z), Rotation::from_xyzw(r.i, r.j, r.k, r.w))
}

fn main() -> ExitCode {
    let pairs: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let bodies: Vec<_> = (0..300).map(|_| body(&mut rng)).collect();
    let (mut compared, mut signs, mut not_finite, mut fallbacks, mut silent, mut near) =
        (0, 0, 0, 0, 0, vec![]);
    let mut empty = 0;
    for _ in 0..pairs {
        let (a, b) = (&bodies[rng.random_range(0..300)], &bodies[rng.random_range(0..300)]);
        let (p, q) = (pose(&mut rng), pose(&mut rng));
        let Some(found) = ratio((&a.ours, &p), (&b.ours, &q), &mut Basis::default()) else {
            not_finite += 1;
            continue;
        };
        fallbacks += usize::from(found.work.fallback);
        near.clear();
        let shapes = [a, b].map(|body| Shape::Polyhedron(body.ours.clone()));
        let _ = gaps(&shapes[0], &p, &shapes[1], &q, f64::INFINITY, &mut near);
        empty += usize::from(near.is_empty());
        let finite = |g: &stiction_geometry::spatial::Gap| {
            g.gap.is_finite() && g.on_a.coords.sum().is_finite() && (g.normal.norm() - 1.0).abs() < 1e-9
        };
        not_finite +=
            usize::from(!(found.r.is_finite() && found.gap().is_finite() && near.iter().all(finite)));
        match contact(&theirs(&p), &*a.theirs, &theirs(&q), &*b.theirs, 1e3) {
            Ok(Some(contact)) if contact.dist.abs() > BAND => {
                compared += 1;
                if (contact.dist > 0.0) != (found.r > 1.0) {
                    signs += 1;
                    let proof = found.certificate((&a.ours, &p), (&b.ours, &q));
                    println!("parry {} r {} certificate {proof:?}", contact.dist, found.r);
                }
            }
            Ok(Some(_)) => {}
            _ => silent += 1,
        }
    }
    println!("{pairs} pairs, {compared} compared, parry silent on {silent}");
    println!("{signs} signs differ, {not_finite} not finite, {empty} without a gap, {fallbacks} fallbacks");
    if signs + not_finite + empty > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
