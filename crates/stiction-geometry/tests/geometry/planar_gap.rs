//! Closed forms of planar gaps.

use nalgebra::{Isometry2, Point2, Rotation2, Vector2};
use rand::RngExt;
use stiction_geometry::planar::{Shape, gaps};

use crate::scenes::{least, planar_near, planar_pose, rectangle, rng};

#[test]
fn ellipse_on_half_plane_has_its_closed_form() {
    // Φ = y − s, s² = a² sin²θ + b² cos²θ; ∂Φ/∂θ = x-lever of the support point
    let (a, b) = (4.0_f64, 2.0_f64);
    let ellipse = Shape::Ellipse { semi_axes: [a, b] };
    let mut rng = rng(6);
    for _ in 0..1000 {
        let pose = planar_pose(&mut rng, 10.0);
        let (sin, cos) = pose.rotation.angle().sin_cos();
        let s = (a * a * sin * sin + b * b * cos * cos).sqrt();
        let near = planar_near((&Shape::HalfPlane, &Isometry2::identity()), (&ellipse, &pose));
        assert_eq!(near.len(), 1);
        assert!((near[0].gap - (pose.translation.y - s)).abs() < 1e-13);
        let lever = near[0].on_b.x - pose.translation.x;
        assert!((lever + (a * a - b * b) * sin * cos / s).abs() < 1e-12);
    }
}

#[test]
fn ellipse_falls_into_the_table_as_published() {
    // AH04 example: semi-axes 4 and 2 fall from y = 8 turning at 3 rad/s; free for 22 steps of 0.05 s
    let (h, n) = (0.05, 22.0);
    let y = 8.0 - 9.81 * h * h * n * (n + 1.0) / 2.0;
    let ellipse = Shape::Ellipse { semi_axes: [4.0, 2.0] };
    let pose = Isometry2::new(Vector2::new(0.0, y), 3.0 * h * n);
    let near = planar_near((&Shape::HalfPlane, &Isometry2::identity()), (&ellipse, &pose));
    assert!((near[0].gap + 0.278_132_610_6).abs() < 1e-10);
}

#[test]
fn polygon_on_half_plane_has_a_gap_per_vertex() {
    let floor = Isometry2::identity();
    let near =
        planar_near((&Shape::HalfPlane, &floor), (&rectangle(1.0, 0.5), &Isometry2::translation(3.0, 0.75)));
    let found: Vec<_> = near.iter().map(|g| (g.gap, g.feature)).collect();
    assert_eq!(found, [(0.25, 0), (0.25, 1), (1.25, 2), (1.25, 3)]);
}

#[test]
fn parallel_capsules_have_a_gap_at_each_end_of_the_overlap() {
    let long = Shape::Capsule { half_length: 1.0, radius: 0.1 };
    let short = Shape::Capsule { half_length: 0.25, radius: 0.2 };
    for angle in [0.0, std::f64::consts::PI] {
        let above = Isometry2::new(Vector2::new(0.9, 0.5), angle);
        let near = planar_near((&long, &Isometry2::identity()), (&short, &above));
        assert_eq!(near.len(), 2, "{near:?}");
        let mut x: Vec<_> = near.iter().map(|g| g.on_a.x).collect();
        x.sort_by(f64::total_cmp);
        assert!((x[0] - 0.65).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12, "{x:?}");
        for g in near {
            assert!((g.gap - 0.2).abs() < 1e-12);
            assert!((g.normal - Vector2::y()).norm() < 1e-12);
        }
    }
}

#[test]
fn equal_boxes_stacked_have_two_gaps_at_any_round_off() {
    let (lower, upper) = (rectangle(0.5, 0.5), rectangle(0.5, 0.5));
    let mut rng = rng(8);
    for k in 0..2000 {
        let noise = 10.0_f64.powi(-10 - k % 10);
        let mut x = || rng.random_range(-noise..noise);
        let on_top = Isometry2::new(Vector2::new(x(), 1.0 + x()), x());
        let world = Isometry2::new(Vector2::new(2.0 + x(), 3.0), f64::from(k));
        let near = planar_near((&lower, &world), (&upper, &(world * on_top)));
        assert_eq!(near.len(), 2, "{on_top:?} {near:?}");
        let apart = (near[0].on_a - near[1].on_a).norm();
        assert!((apart - 1.0).abs() < 1e-8, "{near:?}");
        assert!(near.iter().all(|g| g.gap.abs() < 1e-8));
    }
}

#[test]
fn box_overhanging_a_box_is_held_at_both_ends() {
    let (table, brick) = (rectangle(1.0, 0.5), rectangle(0.5, 0.25));
    for gap in [0.1, 0.0, -0.1] {
        let over = Isometry2::translation(1.2, 0.75 + gap);
        let near = planar_near((&table, &Isometry2::identity()), (&brick, &over));
        assert_eq!(near.len(), 2);
        let mut x: Vec<_> = near.iter().map(|g| g.on_b.x).collect();
        x.sort_by(f64::total_cmp);
        assert!((x[0] - 0.7).abs() < 1e-12 && (x[1] - 1.0).abs() < 1e-12, "{x:?}");
        assert!(near.iter().all(|g| (g.gap - gap).abs() < 1e-12));
    }
}

#[test]
fn corners_face_each_other_along_the_normal_of_the_ratio_metric() {
    // r = 1.9 / 1.5 from the upper sides; the distance of the corners is 0.5
    let (a, b) = (rectangle(1.0, 1.0), rectangle(0.5, 0.5));
    let near = planar_near((&a, &Isometry2::identity()), (&b, &Isometry2::translation(1.5 + 0.3, 1.5 + 0.4)));
    assert!(!near.is_empty());
    for g in near {
        assert!((g.gap - 0.4).abs() < 1e-14 && (g.normal - Vector2::y()).norm() < 1e-14, "{g:?}");
    }
}

#[test]
fn capsule_lies_on_a_polygon_with_both_caps_or_over_its_corner() {
    let table = rectangle(1.0, 0.5);
    let rod = Shape::Capsule { half_length: 0.4, radius: 0.1 };
    let resting = planar_near((&table, &Isometry2::identity()), (&rod, &Isometry2::translation(0.2, 0.6)));
    assert_eq!(resting.len(), 2);
    assert!(resting.iter().all(|g| g.gap.abs() < 1e-15));
    let mut x: Vec<_> = resting.iter().map(|g| g.on_b.x).collect();
    x.sort_by(f64::total_cmp);
    assert!((x[0] + 0.2).abs() < 1e-15 && (x[1] - 0.6).abs() < 1e-15);

    // leaning over the corner at 45°: the corner meets the side of the capsule
    let corner = Point2::new(1.0, 0.5);
    let lean = Rotation2::new(-std::f64::consts::FRAC_PI_4);
    let centre = corner + 0.3 * (lean * Vector2::y());
    let pose = Isometry2::new(centre.coords, lean.angle());
    let near = planar_near((&table, &Isometry2::identity()), (&rod, &pose));
    assert!((least(near.iter().map(|g| g.gap)) - 0.2).abs() < 1e-14);
    let nearest = near.iter().min_by(|g, k| g.gap.total_cmp(&k.gap)).unwrap();
    assert!((nearest.on_a - corner).norm() < 1e-14);
    assert!((nearest.normal - lean * Vector2::y()).norm() < 1e-14);
}

#[test]
fn crossing_capsules_are_no_deeper_than_their_overlap() {
    // the upright one pokes 0.2 m through the lying one, whose ends are 1 m beside it
    let (lying, upright) =
        (Shape::Capsule { half_length: 1.0, radius: 0.1 }, Shape::Capsule { half_length: 0.3, radius: 0.1 });
    for angle in [1.57, std::f64::consts::FRAC_PI_2, 1.58, -1.57, -1.58] {
        let pose = Isometry2::new(Vector2::new(0.0, 0.1), angle);
        let near = planar_near((&lying, &Isometry2::identity()), (&upright, &pose));
        let depth = 0.3 * f64::sin(angle).abs() - 0.1;
        assert!((least(near.iter().map(|g| g.gap)) + 0.2 + depth).abs() < 1e-12, "{near:?}");
    }
}

#[test]
fn disk_inside_a_polygon_leaves_through_the_nearest_edge() {
    let near = planar_near(
        (&rectangle(1.0, 0.5), &Isometry2::identity()),
        (&Shape::Disk { radius: 0.1 }, &Isometry2::translation(0.9, 0.1)),
    );
    assert_eq!(near.len(), 1);
    assert!((near[0].gap + 0.2).abs() < 1e-15);
    assert_eq!(near[0].normal, Vector2::x());
}

#[test]
fn pairs_without_a_gap_say_so() {
    let i = Isometry2::identity();
    let mut near = vec![];
    let error = gaps(&Shape::HalfPlane, &i, &Shape::HalfPlane, &i, 1.0, &mut near).unwrap_err();
    assert_eq!(error.to_string(), "no gap function for the pair half_plane and half_plane");
    assert!(near.is_empty());
}
