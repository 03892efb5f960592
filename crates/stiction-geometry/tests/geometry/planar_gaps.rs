//! The contract of a planar gap over random poses, and closed forms.

use nalgebra::{Isometry2, Point2, Rotation2, Vector2};
use rand::RngExt;
use stiction_geometry::planar::{Basis, Gap, Shape, gaps, has_gap, ratio};

use crate::scenes::{least, planar_near, planar_pose, planar_radius, planar_shapes, rectangle, rng};

fn pairs() -> Vec<(Shape, Shape)> {
    let shapes = planar_shapes();
    let all = shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a.clone(), b.clone())));
    all.filter(|(a, b)| has_gap(a, b)).collect()
}

fn moved(pose: &Isometry2<f64>, direction: usize, step: f64) -> Isometry2<f64> {
    let mut pose = *pose;
    match direction {
        0 => pose.translation.x += step,
        1 => pose.translation.y += step,
        _ => pose.rotation = nalgebra::UnitComplex::new(step) * pose.rotation,
    }
    pose
}

/// Velocity of the material point at `p` for unit speed in a direction.
fn velocity(pose: &Isometry2<f64>, direction: usize, p: &Point2<f64>) -> Vector2<f64> {
    let r = p.coords - pose.translation.vector;
    [Vector2::x(), Vector2::y(), Vector2::new(-r.y, r.x)][direction]
}

/// Swaps the halves of the feature for two shapes of one kind.
fn mirrored(feature: u32, a: &Shape, b: &Shape) -> u32 {
    if a.kind() == b.kind() { feature.rotate_left(16) } else { feature }
}

#[test]
fn row_is_the_gradient_of_the_gap() {
    // central differences: truncation h²Φ'''/6 <= 1e-12 / 0.02², round-off 1e-16 / h = 1e-10
    let (h, tolerance) = (1e-6, 1e-8);
    let mut rng = rng(1);
    for (a, b) in pairs() {
        let (mut checked, mut changed) = (0, 0);
        for _ in 0..400 {
            let poses = [planar_pose(&mut rng, 0.8), planar_pose(&mut rng, 0.8)];
            for g in planar_near((&a, &poses[0]), (&b, &poses[1])) {
                // Φ''' grows as the inverse square of the core distance
                if (g.gap + planar_radius(&a) + planar_radius(&b)).abs() < 0.02 {
                    continue;
                }
                for body in 0..2 {
                    for direction in 0..3 {
                        let at = |step: f64| {
                            let mut q = poses;
                            q[body] = moved(&q[body], direction, step);
                            let near = planar_near((&a, &q[0]), (&b, &q[1]));
                            near.into_iter().find(|k| k.feature == g.feature).map(|k| k.gap)
                        };
                        let (Some(plus), Some(minus)) = (at(h), at(-h)) else {
                            changed += 1;
                            continue;
                        };
                        let difference = (plus - minus) / (2.0 * h);
                        let (sign, p) = if body == 0 { (-1.0, g.on_a) } else { (1.0, g.on_b) };
                        let row = sign * g.normal.dot(&velocity(&poses[body], direction, &p));
                        assert!(
                            (difference - row).abs() <= tolerance * (1.0 + row.abs()),
                            "{a:?} {b:?} {poses:?}\n{g:?}\nbody {body} direction {direction}: {difference} {row}"
                        );
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 2000, "{a:?} {b:?}: only {checked} checked");
        assert!(changed * 1000 < checked, "{a:?} {b:?}: {changed} features changed of {checked}");
    }
}

#[test]
fn points_differ_by_the_gap_along_the_normal() {
    let mut rng = rng(2);
    for (a, b) in pairs() {
        for _ in 0..400 {
            let (p, q) = (planar_pose(&mut rng, 1.0), planar_pose(&mut rng, 1.0));
            let near = planar_near((&a, &p), (&b, &q));
            assert!(!near.is_empty(), "{a:?} {p:?} {b:?} {q:?}");
            for (i, g) in near.iter().enumerate() {
                assert!((g.on_b - g.on_a - g.gap * g.normal).norm() < 1e-12);
                assert!((g.normal.norm() - 1.0).abs() < 1e-12);
                assert!(near[..i].iter().all(|k| k.feature != g.feature), "{near:?}");
            }
        }
    }
}

/// Every gap of `found` is in `expected`, whatever the order.
fn assert_same(found: &[Gap], expected: &[Gap]) {
    assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}");
    for g in found {
        let same = expected.iter().any(|k| {
            (k.gap - g.gap).abs() < 1e-12
                && (k.normal - g.normal).norm() < 1e-11
                && (k.on_a - g.on_a).norm() < 1e-11
                && (k.on_b - g.on_b).norm() < 1e-11
                && k.feature == g.feature
        });
        assert!(same, "{g:?}\n{expected:?}");
    }
}

#[test]
fn swapping_the_shapes_turns_the_normal() {
    let mut rng = rng(3);
    for (a, b) in pairs() {
        for _ in 0..300 {
            let (p, q) = (planar_pose(&mut rng, 1.0), planar_pose(&mut rng, 1.0));
            let swapped: Vec<_> = planar_near((&b, &q), (&a, &p))
                .into_iter()
                .map(|g| Gap {
                    normal: -g.normal,
                    on_a: g.on_b,
                    on_b: g.on_a,
                    feature: mirrored(g.feature, &a, &b),
                    ..g
                })
                .collect();
            assert_same(&planar_near((&a, &p), (&b, &q)), &swapped);
        }
    }
}

#[test]
fn common_motion_changes_nothing() {
    let mut rng = rng(4);
    for (a, b) in pairs() {
        for _ in 0..300 {
            let (p, q) = (planar_pose(&mut rng, 1.0), planar_pose(&mut rng, 1.0));
            let t = planar_pose(&mut rng, 3.0);
            let carried: Vec<_> = planar_near((&a, &p), (&b, &q))
                .into_iter()
                .map(|g| Gap { normal: t * g.normal, on_a: t * g.on_a, on_b: t * g.on_b, ..g })
                .collect();
            assert_same(&planar_near((&a, &(t * p)), (&b, &(t * q))), &carried);
        }
    }
}

#[test]
fn reach_only_filters() {
    let mut rng = rng(5);
    for (a, b) in pairs() {
        for _ in 0..100 {
            let (p, q) = (planar_pose(&mut rng, 1.5), planar_pose(&mut rng, 1.5));
            let reach = rng.random_range(-0.5..1.0);
            let mut near = vec![];
            gaps(&a, &p, &b, &q, reach, &mut near).unwrap();
            let mut all = planar_near((&a, &p), (&b, &q));
            // polygons have a separating line
            if let (Shape::Polygon(a), Shape::Polygon(b)) = (&a, &b)
                && ratio((a, &p), (b, &q), &mut Basis::default()).unwrap().gap() > reach
            {
                all.clear();
            }
            assert_same(&near, &all.into_iter().filter(|g| g.gap <= reach).collect::<Vec<_>>());
        }
    }
}

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
fn half_plane_is_exact_at_any_depth() {
    let mut rng = rng(7);
    for shape in planar_shapes().iter().filter(|s| **s != Shape::HalfPlane) {
        for _ in 0..100 {
            let plane = planar_pose(&mut rng, 1.0);
            let pose = planar_pose(&mut rng, 1.0);
            let before = planar_near((&Shape::HalfPlane, &plane), (shape, &pose));
            let deeper = Isometry2::from(-50.0 * (plane.rotation * Vector2::y())) * pose;
            let after = planar_near((&Shape::HalfPlane, &plane), (shape, &deeper));
            assert_eq!(before.len(), after.len());
            for (g, k) in before.iter().zip(&after) {
                assert!((g.gap - 50.0 - k.gap).abs() < 1e-12);
                assert_eq!(g.normal, k.normal);
                assert_eq!(g.feature, k.feature);
            }
        }
    }
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
    let ellipse = Shape::Ellipse { semi_axes: [1.0, 2.0] };
    let disk = Shape::Disk { radius: 1.0 };
    let i = Isometry2::identity();
    let mut near = vec![];
    let error = gaps(&ellipse, &i, &disk, &i, 1.0, &mut near).unwrap_err();
    assert_eq!(error.to_string(), "no gap function for the pair ellipse and disk");
    assert!(gaps(&Shape::HalfPlane, &i, &Shape::HalfPlane, &i, 1.0, &mut near).is_err());
    assert!(near.is_empty());
}
