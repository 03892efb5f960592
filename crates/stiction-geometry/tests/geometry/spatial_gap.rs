//! Closed forms of spatial gaps.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rand::RngExt;
use stiction_geometry::spatial::{Shape, gaps};

use crate::dimension::{Space, moved, velocity};
use crate::scenes::{least, rng, spatial_near, spatial_pose};

#[test]
fn nearly_parallel_capsules_keep_exact_rows() {
    // the branch that random poses seldom reach: crossing and ends together
    let (h, tolerance) = (1e-6, 1e-6);
    let (a, b) =
        (Shape::Capsule { half_length: 0.6, radius: 0.1 }, Shape::Capsule { half_length: 0.5, radius: 0.1 });
    let mut rng = rng(12);
    let (mut three, mut checked) = (0, 0);
    for _ in 0..300 {
        let mut x = |r: f64| rng.random_range(-r..r);
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(x(0.05), x(0.003), 0.0));
        let poses =
            [Isometry3::identity(), Isometry3::from_parts(Translation3::new(0.25, x(0.02), x(0.3)), turn)];
        let near = spatial_near((&a, &poses[0]), (&b, &poses[1]));
        three += usize::from(near.len() == 3);
        for g in near {
            for direction in 0..6 {
                let at = |step: f64| {
                    let near =
                        spatial_near((&a, &poses[0]), (&b, &moved::<Space, 3>(&poses[1], direction, step)));
                    near.into_iter().find(|k| k.feature == g.feature).map(|k| k.gap)
                };
                let (Some(plus), Some(minus)) = (at(h), at(-h)) else { continue };
                let row = g.normal.dot(&velocity::<Space, 3>(&poses[1], direction, &g.on_b));
                let difference = (plus - minus) / (2.0 * h);
                assert!((difference - row).abs() <= tolerance, "{poses:?}\n{g:?}\n{difference} {row}");
                checked += 1;
            }
        }
    }
    assert!(three > 50 && checked > 3000, "{three} {checked}");
}

#[test]
fn ellipsoid_on_half_space_has_its_closed_form() {
    let axes = Vector3::new(0.7, 0.4, 0.5);
    let ellipsoid = Shape::Ellipsoid { semi_axes: axes.into() };
    let mut rng = rng(17);
    for _ in 0..1000 {
        let pose = spatial_pose(&mut rng, 10.0);
        let up = pose.rotation.inverse_transform_vector(&Vector3::z());
        let near = spatial_near((&Shape::HalfSpace, &Isometry3::identity()), (&ellipsoid, &pose));
        assert_eq!(near.len(), 1);
        assert!((near[0].gap - (pose.translation.z - up.component_mul(&axes).norm())).abs() < 1e-13);
    }
}

#[test]
fn box_on_half_space_has_a_gap_per_vertex() {
    let cuboid = Shape::Cuboid { half_extents: [1.0, 2.0, 0.5] };
    let near = spatial_near(
        (&Shape::HalfSpace, &Isometry3::identity()),
        (&cuboid, &Isometry3::translation(3.0, 1.0, 0.75)),
    );
    let found: Vec<_> = near.iter().map(|g| (g.gap, g.feature)).collect();
    let (low, high) = (0.25, 1.25);
    assert_eq!(found, [(low, 0), (low, 1), (low, 2), (low, 3), (high, 4), (high, 5), (high, 6), (high, 7)]);
}

#[test]
fn parallel_capsules_have_a_gap_at_each_end_of_the_overlap() {
    let long = Shape::Capsule { half_length: 1.0, radius: 0.1 };
    let short = Shape::Capsule { half_length: 0.25, radius: 0.2 };
    for flip in [0.0, std::f64::consts::PI] {
        let above = Isometry3::new(Vector3::new(0.0, 0.5, 0.9), Vector3::new(flip, 0.0, 0.0));
        let near = spatial_near((&long, &Isometry3::identity()), (&short, &above));
        assert_eq!(near.len(), 2, "{near:?}");
        let mut z: Vec<_> = near.iter().map(|g| g.on_a.z).collect();
        z.sort_by(f64::total_cmp);
        assert!((z[0] - 0.65).abs() < 1e-12 && (z[1] - 1.0).abs() < 1e-12, "{z:?}");
        for g in near {
            assert!((g.gap - 0.2).abs() < 1e-12);
            assert!((g.normal - Vector3::y()).norm() < 1e-12);
        }
    }
}

#[test]
fn crossing_capsules_have_one_gap() {
    let a = Shape::Capsule { half_length: 1.0, radius: 0.1 };
    let b = Shape::Capsule { half_length: 0.7, radius: 0.2 };
    let across = Isometry3::new(Vector3::new(0.1, 0.5, 0.2), Vector3::new(0.0, 1.2, 0.0));
    let near = spatial_near((&a, &Isometry3::identity()), (&b, &across));
    assert_eq!(near.len(), 1);
    assert!((near[0].gap - 0.2).abs() < 1e-14);
    assert!((near[0].normal - Vector3::y()).norm() < 1e-14);
}

#[test]
fn capsule_distance_is_the_least_over_the_segments() {
    // brute force: walk along one axis, nearest point of the other in closed form
    let (l, k) = (0.6, 0.45);
    let (a, b) =
        (Shape::Capsule { half_length: l, radius: 0.1 }, Shape::Capsule { half_length: k, radius: 0.05 });
    let mut rng = rng(19);
    for i in 0..300 {
        let p = spatial_pose(&mut rng, 0.8);
        // every third pair nearly parallel
        let mut q = spatial_pose(&mut rng, 0.8);
        if i % 3 == 0 {
            q.rotation = UnitQuaternion::from_scaled_axis(0.02 * q.rotation.scaled_axis()) * p.rotation;
        }
        let n = 4000;
        let sampled = least((0..=n).map(|j| {
            let z = l * (2.0 * f64::from(j) / f64::from(n) - 1.0);
            let on_a = q.inverse_transform_point(&(p * Point3::new(0.0, 0.0, z)));
            (on_a - Point3::new(0.0, 0.0, on_a.z.clamp(-k, k))).norm()
        })) - 0.15;
        let found = least(spatial_near((&a, &p), (&b, &q)).iter().map(|g| g.gap));
        // a sample lies within l/n of the nearest point, and the distance has slope at most 1
        assert!(found <= sampled + 1e-12 && sampled <= found + l / f64::from(n), "{found} {sampled}");
    }
}

#[test]
fn pairs_without_a_gap_say_so() {
    let i = Isometry3::identity();
    let mut near = vec![];
    let error = gaps(&Shape::HalfSpace, &i, &Shape::HalfSpace, &i, 1.0, &mut near).unwrap_err();
    assert_eq!(error.to_string(), "no gap function for the pair half_space and half_space");
    assert!(near.is_empty());
}
