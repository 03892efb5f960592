//! Signed Euclidean distance: closed forms, brute force, its rows, and its bounds on the ratio metric.

use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;

use nalgebra::{Isometry2, Isometry3, Point2, Translation2, UnitComplex, Vector2, Vector3};
use rand::RngExt;
use stiction_geometry::{planar, spatial};

use crate::planar_ratio::pebble as planar_pebble;
use crate::scenes::{planar_pose, rng, spatial_pose};
use crate::spatial_ratio::pebble;
use crate::spatial_ratio_oracle::separation;

/// Relative error at which parry's methods end, with a factor for the thin triangles of a polytope.
const PARRY: f64 = 1e-6;

fn cube_at(pose: &Isometry3<f64>) -> spatial::Gap {
    let cube = spatial::Shape::Cuboid { half_extents: [0.5; 3] };
    spatial::minkowski_gap(&cube, &Isometry3::identity(), &cube, pose, None).unwrap().unwrap()
}

#[test]
fn cubes_have_their_closed_forms() {
    let at = |x, y, z| cube_at(&Isometry3::translation(x, y, z)).gap;
    assert!((at(1.3, 0.2, -0.1) - 0.3).abs() < PARRY);
    assert!((at(1.3, 1.4, 0.2) - 0.5).abs() < PARRY);
    assert!((at(1.2, -1.3, 1.6) - 0.7).abs() < PARRY);
    assert!((at(0.8, 0.1, 0.2) + 0.2).abs() < PARRY);
    assert!((at(0.0, 0.0, 0.0) + 1.0).abs() < PARRY);
    let turned = Isometry3::new(Vector3::new(0.0, 0.0, 1.4), Vector3::y() * FRAC_PI_4);
    let found = cube_at(&turned);
    assert!((found.gap - (0.9 - 0.5_f64.sqrt())).abs() < PARRY && (found.normal.z - 1.0).abs() < PARRY);
}

#[test]
fn polyhedra_agree_with_all_axes_and_bound_the_metric() {
    let mut rng = rng(71);
    let (mut apart, mut overlapping) = (0, 0);
    for _ in 0..1000 {
        let (k, l) = (rng.random_range(4..14), rng.random_range(4..14));
        let (a, b) = (pebble(&mut rng, k), pebble(&mut rng, l));
        let (p, q) = (spatial_pose(&mut rng, 0.35), spatial_pose(&mut rng, 0.35));
        let metric = spatial::ratio((&a, &p), (&b, &q), &mut spatial::Basis::default()).unwrap();
        let (s, e, _) = separation(&a, &p, &b, &q);
        let distance = (metric.centres[1] - metric.centres[0]).norm();
        let bodies = [(a.clone(), p), (b.clone(), q)];
        let shapes = [a, b].map(|body| spatial::Shape::Polyhedron(Arc::new(body)));
        let gap = |start| spatial::minkowski_gap(&shapes[0], &p, &shapes[1], &q, start).unwrap().unwrap();
        let found = gap(None);

        // the contract of a gap; a start changes nothing but the time
        assert!((found.normal.norm() - 1.0).abs() < PARRY);
        assert!((found.on_b - found.on_a - found.gap * found.normal).norm() < PARRY, "{found:?}");
        assert!((gap(Some(&found.normal)).gap - found.gap).abs() < PARRY);

        // its own proof: the points are in the bodies, and the normal separates those by as much
        let along = |k: usize, n: Vector3<f64>| {
            let (body, pose) = &bodies[k];
            body.vertices().iter().map(|v| n.dot(&(pose * v).coords)).fold(f64::NEG_INFINITY, f64::max)
        };
        let width = -along(0, found.normal) - along(1, -found.normal);
        assert!((width - found.gap).abs() < PARRY, "{width} {found:?}");
        for ((body, pose), point) in bodies.iter().zip([found.on_a, found.on_b]) {
            let local = pose.inverse_transform_point(&point) - body.centre();
            assert!(body.facets().iter().all(|f| f.dot(&local) < 1.0 + PARRY), "{found:?}");
        }

        let (d, rho) = (found.gap, metric.rho().abs());
        if d > PARRY {
            apart += 1;
            assert!(metric.r > 1.0 && s <= d + PARRY, "{d} {s}");
            assert!(metric.gap() <= d + PARRY, "{} {d}", metric.gap());
            assert!(d / distance <= rho + PARRY && rho <= d / (d + e) + PARRY, "{d} {e} {rho}");
        } else if d < -PARRY {
            overlapping += 1;
            assert!(metric.r < 1.0 && (d + s).abs() < PARRY, "{d} {s}");
            assert!(metric.gap() <= d + PARRY, "{} {d}", metric.gap());
            // relative, as |ρ| has no bound
            assert!(-d / distance <= rho * (1.0 + 1e-3), "{d} {distance} {rho}");
            assert!(-d > 0.99 * e || rho <= -d / (e + d) * (1.0 + 1e-3) + PARRY, "{d} {e} {rho}");
        }
    }
    assert!(apart > 250 && overlapping > 250, "{apart} {overlapping}");
}

#[test]
fn pairs_without_a_depth_are_refused() {
    let (ball, cube) =
        (spatial::Shape::Sphere { radius: 1.0 }, spatial::Shape::Cuboid { half_extents: [0.5; 3] });
    let here = Isometry3::identity();
    assert!(spatial::minkowski_gap(&ball, &here, &cube, &here, None).is_err());
    let nowhere = Isometry3::translation(f64::NAN, 0.0, 0.0);
    assert_eq!(spatial::minkowski_gap(&cube, &here, &cube, &nowhere, None), Ok(None));

    let disk = planar::Shape::Disk { radius: 1.0 };
    let square = planar::Shape::Polygon(planar::Polygon::rectangle([0.5; 2]).unwrap());
    let here = Isometry2::identity();
    assert!(planar::minkowski_gap(&disk, &here, &square, &here).is_err());
    let nowhere = Isometry2::translation(f64::INFINITY, 0.0);
    assert_eq!(planar::minkowski_gap(&square, &here, &square, &nowhere), Ok(None));
}

fn polygons_at(
    (a, p): (&planar::Polygon, &Isometry2<f64>),
    (b, q): (&planar::Polygon, &Isometry2<f64>),
) -> planar::Gap {
    let [a, b] = [a, b].map(|polygon| planar::Shape::Polygon(polygon.clone()));
    planar::minkowski_gap(&a, p, &b, q).unwrap().unwrap()
}

/// Distance or depth from every vertex against every edge.
fn by_all_pairs(a: &planar::Polygon, p: &Isometry2<f64>, b: &planar::Polygon, q: &Isometry2<f64>) -> f64 {
    let (mut separation, mut distance) = (f64::NEG_INFINITY, f64::INFINITY);
    for (e, pose_e, v, pose_v) in [(a, p, b, q), (b, q, a, p)] {
        let corners: Vec<Point2<f64>> = e.vertices().iter().map(|x| pose_e * x).collect();
        for (i, normal) in e.normals().iter().enumerate() {
            let (n, from, to) = (pose_e.rotation * normal, corners[i], corners[(i + 1) % corners.len()]);
            let along = to - from;
            let mut lowest = f64::INFINITY;
            for vertex in v.vertices().iter().map(|x| pose_v * x) {
                lowest = lowest.min(n.dot(&(vertex - from)));
                let t = (along.dot(&(vertex - from)) / along.norm_squared()).clamp(0.0, 1.0);
                distance = distance.min((vertex - (from + t * along)).norm());
            }
            separation = separation.max(lowest);
        }
    }
    if separation > 0.0 { distance } else { separation }
}

#[test]
fn polygons_agree_with_all_pairs_and_bound_the_metric() {
    let mut rng = rng(72);
    let (mut apart, mut overlapping) = (0, 0);
    for _ in 0..5000 {
        let (k, l) = (rng.random_range(3..20), rng.random_range(3..20));
        let (a, b) = (planar_pebble(&mut rng, k), planar_pebble(&mut rng, l));
        let (p, q) = (planar_pose(&mut rng, 0.8), planar_pose(&mut rng, 0.8));
        let found = polygons_at((&a, &p), (&b, &q));
        let metric = planar::ratio((&a, &p), (&b, &q), &mut planar::Basis::default()).unwrap();
        assert!((found.gap - by_all_pairs(&a, &p, &b, &q)).abs() < 1e-13, "{found:?}");
        assert!((found.on_b - found.on_a - found.gap * found.normal).norm() < 1e-13, "{found:?}");
        let back = polygons_at((&b, &q), (&a, &p));
        assert!((back.gap - found.gap).abs() < 1e-13 && (back.normal + found.normal).norm() < 1e-9);

        // the points are on the polygons
        for (body, pose, point) in [(&a, &p, found.on_a), (&b, &q, found.on_b)] {
            let local = pose.inverse_transform_point(&point) - body.centre();
            let most = body.facets().iter().map(|f| f.dot(&local)).fold(f64::NEG_INFINITY, f64::max);
            assert!((most - 1.0).abs() < 1e-12, "{most} {found:?}");
        }
        let distance = (metric.centres[1] - metric.centres[0]).norm();
        let (d, rho) = (found.gap, metric.rho());
        assert!((d > 0.0) == (metric.r > 1.0) && metric.gap() <= d + 1e-13, "{d} {}", metric.gap());
        // in-radius of the Minkowski difference about the origin: the depth where the centroids coincide
        let together = Translation2::from(metric.centres[0] - metric.centres[1]) * q;
        let e = -polygons_at((&a, &p), (&b, &together)).gap;
        let bound = if d > 0.0 { d / (d + e) } else { -d / (e + d).max(0.0) };
        assert!(d.abs() / distance <= rho.abs() * (1.0 + 1e-12), "{d} {rho}");
        assert!(-d > 0.999 * e || rho.abs() <= bound * (1.0 + 1e-9), "{d} {e} {rho}");
        apart += usize::from(d > 0.0);
        overlapping += usize::from(d < 0.0);
    }
    assert!(apart > 1000 && overlapping > 1000, "{apart} {overlapping}");
}

#[test]
fn witness_points_of_a_resting_square_lie_on_both_bodies() {
    let (square, table) =
        (planar::Polygon::rectangle([0.5; 2]).unwrap(), planar::Polygon::rectangle([2.0, 0.5]).unwrap());
    for x in [0.0, 0.3, 2.3] {
        for height in [-1e-3, 0.0, 1e-14, 1e-3] {
            let q = Isometry2::translation(x, 1.0 + height);
            let found = polygons_at((&table, &Isometry2::identity()), (&square, &q));
            assert!((found.gap - height).abs() < 1e-15 && found.normal == Vector2::y(), "{found:?}");
            assert!(found.on_a.x.abs() <= 2.0 && (found.on_b.x - x).abs() <= 0.5, "{found:?}");
        }
    }
}

#[test]
fn polygons_open_at_the_speed_of_their_points() {
    // central differences: truncation h² f''', round-off 1e-16 / h
    let h = 1e-6;
    let mut rng = rng(73);
    let (mut checked, mut kinks) = (0, 0);
    for _ in 0..500 {
        let (a, b) = (planar_pebble(&mut rng, 5), planar_pebble(&mut rng, 7));
        let (p, q) = (planar_pose(&mut rng, 0.6), planar_pose(&mut rng, 0.6));
        let at = polygons_at((&a, &p), (&b, &q));
        let about = q.translation.vector;
        let step = |h: f64| {
            let turned = Translation2::from(about) * UnitComplex::new(h) * Translation2::from(-about) * q;
            polygons_at((&a, &p), (&b, &(Translation2::new(0.3 * h, -0.7 * h) * turned)))
        };
        let (plus, minus) = (step(h), step(-h));
        // another edge or vertex is nearest within the step
        if (plus.normal - minus.normal).norm() > 1e-3 || (plus.on_b - minus.on_b).norm() > 1e-3 {
            kinks += 1;
            continue;
        }
        let arm = at.on_b.coords - about;
        let velocity = Vector2::new(0.3 - arm.y, -0.7 + arm.x);
        let rate = (plus.gap - minus.gap) / (2.0 * h);
        assert!((rate - at.normal.dot(&velocity)).abs() < 1e-6, "{rate} {at:?}");
        checked += 1;
    }
    assert!(checked > 450 && kinks < 20, "{checked} {kinks}");
}
