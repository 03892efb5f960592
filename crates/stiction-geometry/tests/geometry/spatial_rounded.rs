//! Spheres and capsules on boxes and polyhedra: closed forms and brute force.

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_geometry::spatial::Shape;

use crate::scenes::{least, rng, spatial_near, spatial_pose};

const HALF: [f64; 3] = [0.6, 0.35, 0.45];

/// Distance of a point from a box about the origin, negative inside.
fn box_distance(p: &Point3<f64>) -> f64 {
    let d = Vector3::from_fn(|i, _| p[i].abs() - HALF[i]);
    if d.max() < 0.0 { d.max() } else { d.sup(&Vector3::zeros()).norm() }
}

#[test]
fn a_ball_on_a_box_has_its_distance_or_depth() {
    let mut rng = rng(71);
    let (cuboid, ball) = (Shape::Cuboid { half_extents: HALF }, Shape::Sphere { radius: 0.1 });
    for _ in 0..5000 {
        let (p, q) = (spatial_pose(&mut rng, 0.8), spatial_pose(&mut rng, 0.8));
        let near = spatial_near((&cuboid, &p), (&ball, &q));
        assert_eq!(near.len(), 1);
        let centre = p.inverse_transform_point(&Point3::from(q.translation.vector));
        assert!((near[0].gap - (box_distance(&centre) - 0.1)).abs() < 1e-12, "{near:?}");
    }
}

#[test]
fn a_rod_apart_from_a_box_has_its_distance() {
    // brute force: walk along the rod
    let mut rng = rng(72);
    let (cuboid, rod) =
        (Shape::Cuboid { half_extents: HALF }, Shape::Capsule { half_length: 0.5, radius: 0.05 });
    let mut apart = 0;
    for _ in 0..2000 {
        let (p, q) = (spatial_pose(&mut rng, 0.8), spatial_pose(&mut rng, 0.8));
        let n = 1000;
        let sampled = least((0..=n).map(|i| {
            let z = 0.5 * (2.0 * f64::from(i) / f64::from(n) - 1.0);
            box_distance(&p.inverse_transform_point(&(q * Point3::new(0.0, 0.0, z))))
        }));
        let found = least(spatial_near((&cuboid, &p), (&rod, &q)).iter().map(|g| g.gap)) + 0.05;
        if sampled > 0.01 {
            apart += 1;
            assert!(found <= sampled + 1e-12 && sampled <= found + 0.5 / f64::from(n), "{found} {sampled}");
        } else if sampled < -0.01 {
            // inside, whichever way is shortest
            assert!(found < 0.0, "{found} {sampled}");
        }
    }
    assert!(apart > 500, "{apart}");
}

#[test]
fn a_rod_lies_on_a_box_with_both_ends_or_over_its_rim() {
    let table = Shape::Cuboid { half_extents: [1.0, 1.0, 0.5] };
    let rod = Shape::Capsule { half_length: 0.4, radius: 0.1 };
    let flat = |x: f64| Isometry3::new(Vector3::new(x, 0.0, 0.6), Vector3::y() * std::f64::consts::FRAC_PI_2);
    for (x, expected) in [(0.2, [-0.2, 0.6]), (0.8, [0.4, 1.0])] {
        let mut near = spatial_near((&table, &Isometry3::identity()), (&rod, &flat(x)));
        near.retain(|g| g.gap < 0.01);
        assert_eq!(near.len(), 2, "{near:?}");
        near.sort_by(|g, h| g.on_b.x.total_cmp(&h.on_b.x));
        for (g, x) in near.iter().zip(expected) {
            assert!(g.gap.abs() < 1e-12 && (g.on_b.x - x).abs() < 1e-12, "{g:?}");
            assert!((g.normal - Vector3::z()).norm() < 1e-12);
        }
    }
}
