//! Ratio metric of polyhedra: closed forms, gradients, certificates, and the counters of its method.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{FRAC_PI_4, PI};
use stiction_geometry::spatial::{Basis, Polyhedron, Ratio, ratio, ratio_by_seidel};

use crate::dimension::{agrees_with_differences, assert_proves};
use crate::scenes::{rng, spatial_pose};

fn cube() -> Polyhedron {
    Polyhedron::cuboid([0.5; 3]).unwrap()
}

fn cold(a: &Polyhedron, p: &Isometry3<f64>, b: &Polyhedron, q: &Isometry3<f64>) -> Ratio {
    ratio((a, p), (b, q), &mut Basis::default()).unwrap()
}

/// Hull of random points on an ellipsoid with axes 1 : 0.8 : 0.6.
pub(crate) fn pebble(rng: &mut ChaCha8Rng, points: usize) -> Polyhedron {
    let points: Vec<_> = (0..points)
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
    Polyhedron::new(&points).unwrap()
}

#[test]
fn cubes_have_their_closed_forms() {
    let at = |x, y, z| cold(&cube(), &Isometry3::identity(), &cube(), &Isometry3::translation(x, y, z));
    assert!((at(1.2, 0.0, 0.0).r - 1.2).abs() < 1e-12);
    assert!((at(1.2, 0.0, 0.0).rho() - 1.0 / 6.0).abs() < 1e-12);
    assert!((at(0.8, 0.0, 0.0).rho() + 0.25).abs() < 1e-12);
    assert!((at(0.9, 0.95, -0.2).r - 0.95).abs() < 1e-12);
    assert!((at(0.9, 0.95, -0.2).gap() + 0.05).abs() < 1e-12);
    assert!((at(0.9, 0.95, -0.2).normal() - Vector3::y()).norm() < 1e-12);
}

#[test]
fn crossed_edges_have_their_closed_form() {
    let p = Isometry3::rotation(Vector3::x() * FRAC_PI_4);
    let q = Isometry3::new(Vector3::new(0.0, 0.0, 1.5), Vector3::y() * FRAC_PI_4);
    for found in [cold(&cube(), &p, &cube(), &q), ratio_by_seidel((&cube(), &p), (&cube(), &q)).unwrap()] {
        assert!((found.r - 1.5 / 2_f64.sqrt()).abs() < 1e-12, "{found:?}");
        assert!((found.point - Point3::new(0.0, 0.0, 0.75)).norm() < 1e-12);
        assert!((found.length() - 2_f64.sqrt()).abs() < 1e-12);
        assert!((found.gap() - (1.5 - 2_f64.sqrt())).abs() < 1e-12);
        assert_eq!(found.multipliers.iter().filter(|m| m.body == 0 && m.y > 0.1).count(), 2);
        assert_eq!(found.multipliers.iter().filter(|m| m.body == 1 && m.y > 0.1).count(), 2);
    }
}

#[test]
fn coincident_centres_have_ratio_zero_and_a_normal() {
    let long = Polyhedron::cuboid([3.0, 0.2, 1.0]).unwrap();
    let found = cold(&long, &Isometry3::identity(), &cube(), &Isometry3::identity());
    assert_eq!(found.r, 0.0);
    assert_eq!(found.rho(), f64::NEG_INFINITY);
    assert!((found.normal().y.abs() - 1.0).abs() < 1e-12, "{found:?}");
    assert!((found.gap() + 0.7).abs() < 1e-12);
    assert!(found.near.iter().all(|p| p.coords.iter().all(|x| x.is_finite())));
}

/// Random pairs about touching: r from 0.5 to 2.
fn pairs(seed: u64, count: usize) -> Vec<(Polyhedron, Isometry3<f64>, Polyhedron, Isometry3<f64>)> {
    let mut rng = rng(seed);
    (0..count)
        .map(|_| {
            let (k, l) = (rng.random_range(4..40), rng.random_range(4..40));
            let (a, b) = (pebble(&mut rng, k), pebble(&mut rng, l));
            (a, spatial_pose(&mut rng, 0.5), b, spatial_pose(&mut rng, 0.5))
        })
        .collect()
}

fn moved(pose: &Isometry3<f64>, about: &Point3<f64>, direction: usize, step: f64) -> Isometry3<f64> {
    let mut axis = Vector3::zeros();
    axis[direction % 3] = step;
    if direction < 3 {
        Translation3::from(axis) * pose
    } else {
        let turn = UnitQuaternion::from_scaled_axis(axis);
        Translation3::from(about.coords) * turn * Translation3::from(-about.coords) * pose
    }
}

#[test]
fn gradients_are_those_of_r_rho_and_gap() {
    // central differences: truncation h² f''' / 6, round-off 1e-15 / h; a basis that changes within the step is
    // not differentiable there and rare
    let h = 1e-6;
    let (mut checked, mut kinks) = (0, 0);
    for (a, p, b, q) in pairs(31, 150) {
        let at = cold(&a, &p, &b, &q);
        if at.r < 0.2 {
            continue;
        }
        for body in 0..2 {
            for direction in 0..6 {
                let step = |h: f64| {
                    let (mut p, mut q) = (p, q);
                    let pose = if body == 0 { &mut p } else { &mut q };
                    *pose = moved(pose, &at.centres[body], direction, h);
                    cold(&a, &p, &b, &q)
                };
                let gradients = [at.r_gradient(), at.rho_gradient(), at.gap_gradient()];
                let differentiable = agrees_with_differences(&at, h, step, &gradients, |g| {
                    let side = if direction < 3 { g.linear } else { g.angular };
                    (side[body][direction % 3], g.linear[0].norm() + g.angular[body].norm())
                });
                checked += usize::from(differentiable);
                kinks += usize::from(!differentiable);
            }
        }
        // Euler: r is homogeneous of degree one in the offset; forces and torques balance
        let d = at.centres[1] - at.centres[0];
        assert!((at.gradient.dot(&d) / at.r - 1.0).abs() < 1e-10);
        let g = at.r_gradient();
        let torque: Vector3<f64> =
            (0..2).map(|k| g.angular[k] + at.centres[k].coords.cross(&g.linear[k])).sum();
        assert!(torque.norm() < 1e-9 && (g.linear[0] + g.linear[1]).norm() == 0.0);
    }
    assert!(checked > 1500 && kinks * 50 < checked, "{checked} {kinks}");
}

#[test]
fn certificates_hold_and_seidel_agrees() {
    let mut overlaps = 0;
    for (a, p, b, q) in pairs(32, 1000) {
        let fast = cold(&a, &p, &b, &q);
        let reference = ratio_by_seidel((&a, &p), (&b, &q)).unwrap();
        assert!((fast.r - reference.r).abs() < 1e-12 * (1.0 + fast.r), "{} {}", fast.r, reference.r);
        assert!(!fast.counters.fallback);
        for found in [&fast, &reference] {
            assert_proves(&found.certificate((&a, &p), (&b, &q)), found.r);
        }
        overlaps += usize::from(fast.r < 1.0);
    }
    assert!(overlaps > 200 && overlaps < 800, "{overlaps}");
}

#[test]
fn a_warm_start_gives_the_same_answer() {
    let mut rng = rng(33);
    let mut warm = 0;
    for (a, mut p, b, q) in pairs(34, 50) {
        let mut basis = Basis::default();
        for _ in 0..50 {
            let mut x = || rng.random_range(-0.02..0.02);
            p = Translation3::new(x(), x(), x()) * p;
            p.rotation = UnitQuaternion::from_scaled_axis(Vector3::new(x(), x(), x())) * p.rotation;
            let found = ratio((&a, &p), (&b, &q), &mut basis).unwrap();
            assert!((found.r - cold(&a, &p, &b, &q).r).abs() < 1e-12);
            warm += usize::from(found.counters.warm);
        }
    }
    assert!(warm > 2000, "{warm}");
}

#[test]
fn seidels_work_per_facet_is_flat() {
    let mut rng = rng(35);
    for points in [32, 100, 302, 1002, 3002] {
        let (a, b) = (pebble(&mut rng, points), pebble(&mut rng, points));
        let facets = (a.facets().len() + b.facets().len()) as f64;
        let mut projections = 0.0;
        let count = 30;
        for _ in 0..count {
            let found =
                ratio_by_seidel((&a, &spatial_pose(&mut rng, 0.5)), (&b, &spatial_pose(&mut rng, 0.5)));
            projections += found.unwrap().counters.projections as f64 / f64::from(count);
        }
        let work = projections / facets;
        assert!((25.0..55.0).contains(&work), "{points} points: {work}");
    }
}

#[test]
fn pivots_grow_with_the_logarithm_of_the_facets() {
    let mut rng = rng(36);
    for (points, most_pivots, most_visited) in [(32, 14.0, 400.0), (1002, 25.0, 900.0), (10002, 32.0, 1200.0)]
    {
        let (a, b) = (pebble(&mut rng, points), pebble(&mut rng, points));
        let (mut pivots, mut visited) = (0.0, 0.0);
        let count = 200;
        for _ in 0..count {
            let found = cold(&a, &spatial_pose(&mut rng, 0.6), &b, &spatial_pose(&mut rng, 0.6));
            pivots += found.counters.pivots as f64 / f64::from(count);
            visited += found.counters.visited as f64 / f64::from(count);
        }
        assert!(pivots < most_pivots && visited < most_visited, "{points} points: {pivots} {visited}");
    }
}

#[test]
fn a_warm_query_evaluates_few_facets_at_any_size() {
    // after a motion of 1e-3 the facets around the basis, however many there are; after 1e-2 fine bodies have moved
    // by a few facets, and the basis is mended, not left
    let mut rng = rng(38);
    for points in [5, 32, 302, 1002, 10002] {
        let (a, b) = (pebble(&mut rng, points), pebble(&mut rng, points));
        for (motion, most_pivots, most_visited) in [(1e-3, 0.7, 30.0), (1e-2, 5.0, 130.0)] {
            let (mut pivots, mut visited, mut warm, mut count) = (0, 0, 0, 0);
            while count < 200 {
                let (p, mut q) = (spatial_pose(&mut rng, 0.6), spatial_pose(&mut rng, 0.6));
                let mut basis = Basis::default();
                // near the centre the pair turns by a large angle
                if ratio((&a, &p), (&b, &q), &mut basis).unwrap().r < 0.5 {
                    continue;
                }
                let mut x = || rng.random_range(-motion..motion);
                q = Translation3::new(x(), x(), x()) * q;
                q.rotation = UnitQuaternion::from_scaled_axis(Vector3::new(x(), x(), x())) * q.rotation;
                let found = ratio((&a, &p), (&b, &q), &mut basis).unwrap();
                assert!((found.r - cold(&a, &p, &b, &q).r).abs() < 1e-12);
                count += 1;
                pivots += found.counters.pivots;
                visited += found.counters.visited;
                warm += usize::from(found.counters.warm);
            }
            let [pivots, visited] = [pivots, visited].map(|sum| sum as f64 / f64::from(count));
            assert!(pivots < most_pivots && visited < most_visited, "{points}: {pivots} {visited}");
            assert!(warm >= 190, "{points}: {warm} of 200");
        }
    }
}

#[test]
fn turned_cubes_on_a_grid_agree_with_seidel() {
    // right angles and grid offsets, off by 1e-3 … 1e-15: the degenerate programs of resting bodies
    let mut rng = rng(37);
    let (mut worst, mut fallbacks) = (0.0_f64, 0);
    for _ in 0..20_000 {
        let mut pose = || {
            let off = 10_f64.powi(-rng.random_range(3..17));
            let mut x = |n: i32| f64::from(rng.random_range(-n..=n));
            let turn = Vector3::new(x(2), x(2), x(2)) * (0.5 * PI);
            let at = Vector3::new(x(4), x(4), x(4)) * 0.25;
            let tilt = Vector3::new(x(10), x(10), x(10)) * 0.1 * off;
            let rotation = UnitQuaternion::from_scaled_axis(tilt)
                * UnitQuaternion::from_euler_angles(turn.x, turn.y, turn.z);
            Isometry3::from_parts(at.into(), rotation)
        };
        let (p, q) = (pose(), pose());
        let found = cold(&cube(), &p, &cube(), &q);
        fallbacks += usize::from(found.counters.fallback);
        let proof = found.certificate((&cube(), &p), (&cube(), &q));
        assert!(
            found.counters.pivots < 30 && proof.least >= -1e-10 && proof.balance < 1e-10,
            "{found:?} {proof:?}"
        );
        worst = worst
            .max(proof.violation)
            .max((proof.bound - found.r).abs() * f64::from(u8::from(found.r > 0.0)));
        if let Some(reference) = ratio_by_seidel((&cube(), &p), (&cube(), &q)) {
            worst = worst.max((reference.r - found.r).abs());
        }
    }
    assert!(worst < 1e-9 && fallbacks == 0, "{worst} {fallbacks}");
}
