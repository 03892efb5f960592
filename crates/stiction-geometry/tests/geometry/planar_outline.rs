//! Planar outlines against brute force over all features.

use nalgebra::{Isometry2, Point2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction_geometry::planar::{Basis, Polygon, Shape, ratio};

use crate::degenerate::grid_shapes;
use crate::dimension::{Dimension, Plane};
use crate::scenes::{least, planar_near, planar_pose, polygon, rng};

/// Random convex polygon: points on an ellipse at sorted angles.
fn random_polygon(rng: &mut ChaCha8Rng) -> Shape {
    let n = rng.random_range(3..10);
    let (a, b) = (rng.random_range(0.2..0.8), rng.random_range(0.2..0.8));
    let vertices: Vec<_> = (0..n)
        .map(|i| {
            let t = std::f64::consts::TAU * (f64::from(i) + rng.random_range(0.1..0.9)) / f64::from(n);
            [a * t.cos(), b * t.sin()]
        })
        .collect();
    polygon(&vertices)
}

fn random_segment(rng: &mut ChaCha8Rng) -> Shape {
    Shape::Capsule { half_length: rng.random_range(0.1..0.8), radius: 0.0 }
}

fn world(shape: &Shape, pose: &Isometry2<f64>) -> Vec<Point2<f64>> {
    match shape {
        Shape::Polygon(p) => p.vertices().iter().map(|v| pose * v).collect(),
        Shape::Capsule { half_length, .. } => {
            vec![pose * Point2::new(-half_length, 0.0), pose * Point2::new(*half_length, 0.0)]
        }
        _ => vec![Point2::from(pose.translation.vector)],
    }
}

fn point_segment(p: &Point2<f64>, a: &Point2<f64>, b: &Point2<f64>) -> f64 {
    let e = b - a;
    let t = (e.dot(&(p - a)) / e.norm_squared()).clamp(0.0, 1.0);
    (p - (a + t * e)).norm()
}

/// Distance over all vertices of each against all edges of the other; right for disjoint outlines.
fn distance(v: &[Point2<f64>], w: &[Point2<f64>]) -> f64 {
    let one_way = |v: &[Point2<f64>], w: &[Point2<f64>]| {
        least(v.iter().flat_map(|p| {
            (0..w.len()).map(move |i| {
                let j = (i + 1) % w.len();
                if i == j { (p - w[i]).norm() } else { point_segment(p, &w[i], &w[j]) }
            })
        }))
    };
    one_way(v, w).min(one_way(w, v))
}

/// Greatest separation over the normals of the edges of both.
fn separation(v: &[Point2<f64>], w: &[Point2<f64>]) -> f64 {
    let one_way = |v: &[Point2<f64>], w: &[Point2<f64>]| {
        (0..v.len())
            .filter(|_| v.len() > 1)
            .map(|i| {
                let e = (v[(i + 1) % v.len()] - v[i]).normalize();
                least(w.iter().map(|p| e.y * (p.x - v[i].x) - e.x * (p.y - v[i].y)))
            })
            .fold(f64::NEG_INFINITY, f64::max)
    };
    one_way(v, w).max(one_way(w, v))
}

#[test]
fn least_gap_is_the_distance_apart_and_the_depth_overlapping() {
    let mut rng = rng(21);
    let (mut apart, mut overlapping) = (0, 0);
    for k in 0..60_000 {
        let mut shape = |kind: usize| match kind {
            0 => Shape::Disk { radius: rng.random_range(0.0..0.3) },
            1 => {
                Shape::Capsule { half_length: rng.random_range(0.1..0.6), radius: rng.random_range(0.0..0.3) }
            }
            _ => random_polygon(&mut rng),
        };
        // all pairs with at least one outline, but for two polygons: those have the ratio metric
        let (a, b) = (shape(1 + k % 2), shape(k / 2 % (3 - k % 2)));
        let (p, mut q) = (planar_pose(&mut rng, 0.6), planar_pose(&mut rng, 0.6));
        // every fourth pair has parallel edges
        if k % 4 == 1
            && let (Shape::Polygon(s), Shape::Capsule { .. }) = (&a, &b)
        {
            let (n, m) = (p.rotation * s.normals()[0], q.rotation * nalgebra::Vector2::y());
            q.rotation = nalgebra::UnitComplex::rotation_between(&m, &-n) * q.rotation;
        }
        let radius = Plane::radius(&a) + Plane::radius(&b);
        let near = planar_near((&a, &p), (&b, &q));
        let (v, w) = (world(&a, &p), world(&b, &q));
        let s = separation(&v, &w);
        let d = distance(&v, &w);
        // outlines without area (two segments) meet exactly when they cross, and then the separation is negative
        let expected = if s < 0.0 { s } else { d };
        apart += usize::from(s > 0.0);
        overlapping += usize::from(s < 0.0);
        let found = least(near.iter().map(|g| g.gap)) + radius;
        // the slack at the ends of edges enters squared over the distance
        assert!((found - expected).abs() < 1e-9, "{a:?} {p:?}\n{b:?} {q:?}\n{found} {expected}\n{near:?}");
        assert!(near.len() <= 2, "{near:?}");
        // overlapping outlines have no two vertices as their nearest features: a code is odd
        if s < -1e-9 && b.kind() != "disk" {
            assert!(
                near.iter().all(|g| (g.feature >> 16 | g.feature) & 1 == 1),
                "{a:?} {p:?}\n{b:?} {q:?}\n{near:?}"
            );
        }
    }
    assert!(apart > 10_000 && overlapping > 10_000, "{apart} {overlapping}");
}

#[test]
fn least_gap_is_right_on_the_grid() {
    // vertices that coincide, edges in line, centres on edges: exactly, or off by round-off
    let shapes: Vec<_> =
        grid_shapes().into_iter().filter(|s| !matches!(s.kind(), "ellipse" | "half_plane")).collect();
    let mut rng = rng(25);
    for k in 0..20_000 {
        let noise = if k % 2 == 0 { 0.0 } else { 10.0_f64.powi(-17 + k % 7) };
        let mut pose = || {
            let mut x = || f64::from(rng.random_range(-4..=4)) / 4.0 + noise * rng.random_range(-1.0..1.0);
            Isometry2::new(nalgebra::Vector2::new(x(), x()), x() * std::f64::consts::PI)
        };
        let (p, q) = (pose(), pose());
        for a in &shapes {
            for b in shapes.iter().filter(|b| a.kind() != b.kind() || a.kind() == "capsule") {
                let (v, w) = (world(a, &p), world(b, &q));
                let s = separation(&v, &w);
                let expected = if s < -1e-10 { s } else { distance(&v, &w) };
                let radius = Plane::radius(a) + Plane::radius(b);
                let near = planar_near((a, &p), (b, &q));
                let found = least(near.iter().map(|g| g.gap)) + radius;
                assert!(
                    (found - expected).abs() < 1e-8,
                    "{a:?} {p:?}\n{b:?} {q:?}\n{found} {expected}\n{near:?}"
                );
            }
        }
    }
}

#[test]
fn near_points_lie_on_the_outlines() {
    let mut rng = rng(22);
    for _ in 0..20_000 {
        let (a, b) = (random_polygon(&mut rng), random_segment(&mut rng));
        let (p, q) = (planar_pose(&mut rng, 0.6), planar_pose(&mut rng, 0.6));
        for g in planar_near((&a, &p), (&b, &q)) {
            assert!(distance(&[g.on_a], &world(&a, &p)) < 1e-8);
            assert!(distance(&[g.on_b], &world(&b, &q)) < 1e-8);
        }
    }
}

#[test]
fn translating_along_the_normal_by_the_depth_separates() {
    let mut rng = rng(23);
    let mut overlapping = 0;
    for _ in 0..20_000 {
        let (a, b) = (random_polygon(&mut rng), random_segment(&mut rng));
        let (p, q) = (planar_pose(&mut rng, 0.4), planar_pose(&mut rng, 0.4));
        let near = planar_near((&a, &p), (&b, &q));
        let deepest = near.iter().min_by(|g, k| g.gap.total_cmp(&k.gap)).unwrap();
        if deepest.gap < 0.0 {
            overlapping += 1;
            let out = Isometry2::from(-deepest.gap * deepest.normal) * q;
            let after = separation(&world(&a, &p), &world(&b, &out));
            assert!(after.abs() < 1e-9, "{after}");
        }
    }
    assert!(overlapping > 5_000);
}

#[test]
fn fine_polygons_act_as_disks() {
    let n = 3000;
    let ring: Vec<_> = (0..n)
        .map(|i| std::f64::consts::TAU * f64::from(i) / f64::from(n))
        .map(|t| Point2::new(t.cos(), t.sin()))
        .collect();
    let ring = Shape::Polygon(Polygon::new(&ring).unwrap());
    let disk = Shape::Disk { radius: 1.0 };
    let mut rng = rng(24);
    for _ in 0..20 {
        let (p, q) = (planar_pose(&mut rng, 2.0), planar_pose(&mut rng, 2.0));
        let exact = planar_near((&disk, &p), (&disk, &q))[0].gap;
        // sagitta 1 − cos(π/n) per polygon
        let sagitta = 1.0 - (std::f64::consts::PI / f64::from(n)).cos();
        let found = least(planar_near((&ring, &p), (&disk, &q)).iter().map(|g| g.gap));
        assert!(found >= exact - 1e-9 && found <= exact + sagitta + 1e-9, "{found} {exact}");
        // two polygons have the gap of the ratio metric, whose normal is up to π/n off the line of the centres
        let Shape::Polygon(polygon) = &ring else { unreachable!() };
        let metric = ratio((polygon, &p), (polygon, &q), &mut Basis::default()).unwrap().gap();
        let off = (exact + 2.0) * sagitta;
        assert!(metric >= exact - off - 1e-9 && metric <= exact + 2.0 * sagitta + 1e-9, "{metric} {exact}");
        let near = planar_near((&ring, &p), (&ring, &q));
        assert!(near.iter().any(|g| (g.gap - metric).abs() < 1e-9), "{metric} {near:?}");
    }
}
