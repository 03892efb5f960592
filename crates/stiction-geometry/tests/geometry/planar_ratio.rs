//! Ratio metric and events of polygons: closed forms, gradients, certificates, counters and brute force.

use nalgebra::{Isometry2, Point2, Translation2, UnitComplex, Vector2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction_geometry::planar::{Basis, Polygon, Ratio, Shape, gaps, ratio, ratio_by_seidel};

use crate::dimension::{agrees_with_differences, assert_proves};
use crate::scenes::{planar_pose, rng};

pub(crate) fn pebble(rng: &mut ChaCha8Rng, n: u32) -> Polygon {
    let vertices: Vec<_> = (0..n)
        .map(|i| {
            let t = std::f64::consts::TAU * (f64::from(i) + rng.random_range(0.1..0.9)) / f64::from(n);
            Point2::new(0.5 * t.cos(), 0.35 * t.sin())
        })
        .collect();
    Polygon::new(&vertices).unwrap()
}

fn cold(a: (&Polygon, &Isometry2<f64>), b: (&Polygon, &Isometry2<f64>)) -> Ratio {
    ratio(a, b, &mut Basis::default()).unwrap()
}

#[test]
fn squares_have_their_closed_forms() {
    let square = Polygon::rectangle([0.5; 2]).unwrap();
    let at = |x, y| cold((&square, &Isometry2::identity()), (&square, &Isometry2::translation(x, y)));
    assert!((at(1.2, 0.0).rho() - 1.0 / 6.0).abs() < 1e-12);
    assert!((at(0.8, 0.0).rho() + 0.25).abs() < 1e-12);
    assert!((at(0.9, 0.95).gap() + 0.05).abs() < 1e-12);
    assert_eq!(at(0.0, 0.0).r, 0.0);
    assert!((at(0.0, 0.0).gap() + 1.0).abs() < 1e-12);
}

#[test]
fn gradients_certificates_and_seidel() {
    // central differences: truncation h² f''', round-off 1e-15 / h
    let h = 1e-6;
    let mut rng = rng(61);
    let (mut checked, mut kinks) = (0, 0);
    for _ in 0..300 {
        let (k, l) = (rng.random_range(3..20), rng.random_range(3..20));
        let (a, b) = (pebble(&mut rng, k), pebble(&mut rng, l));
        let (p, q) = (planar_pose(&mut rng, 0.6), planar_pose(&mut rng, 0.6));
        let at = cold((&a, &p), (&b, &q));
        let reference = ratio_by_seidel((&a, &p), (&b, &q)).unwrap();
        assert!((at.r - reference.r).abs() < 1e-12 * (1.0 + at.r) && !at.counters.fallback);
        for found in [&at, &reference] {
            assert_proves(&found.certificate((&a, &p), (&b, &q)), found.r);
        }
        if at.r < 0.2 {
            continue;
        }
        for body in 0..2 {
            for direction in 0..3 {
                let step = |h: f64| {
                    let mut poses = [p, q];
                    let about = at.centres[body].coords;
                    poses[body] = match direction {
                        0 => Translation2::new(h, 0.0) * poses[body],
                        1 => Translation2::new(0.0, h) * poses[body],
                        _ => {
                            Translation2::from(about)
                                * UnitComplex::new(h)
                                * Translation2::from(-about)
                                * poses[body]
                        }
                    };
                    cold((&a, &poses[0]), (&b, &poses[1]))
                };
                let gradients = [at.r_gradient(), at.rho_gradient(), at.gap_gradient()];
                let differentiable = agrees_with_differences(&at, h, step, &gradients, |g| {
                    let row = if direction < 2 { g.linear[body][direction] } else { g.angular[body] };
                    (row, g.linear[0].norm() + g.angular[body].abs())
                });
                checked += usize::from(differentiable);
                kinks += usize::from(!differentiable);
            }
        }
    }
    assert!(checked > 1200 && kinks * 50 < checked, "{checked} {kinks}");
}

#[test]
fn seidels_work_per_edge_is_flat() {
    let mut rng = rng(62);
    for n in [60, 600, 6000] {
        let (a, b) = (pebble(&mut rng, n), pebble(&mut rng, n));
        let count = 60;
        let work = (0..count)
            .map(|_| {
                let found =
                    ratio_by_seidel((&a, &planar_pose(&mut rng, 0.6)), (&b, &planar_pose(&mut rng, 0.6)));
                found.unwrap().counters.projections as f64
            })
            .sum::<f64>()
            / f64::from(2 * count * n);
        assert!((6.5..11.0).contains(&work), "{n}: {work}");
    }
}

#[test]
fn a_warm_query_evaluates_few_edges_at_any_size() {
    // edges of 6000-gons are 5e-4 long: after a motion of 1e-3 a few of them have passed
    let mut rng = rng(63);
    for n in [4, 60, 600, 6000] {
        let (a, b) = (pebble(&mut rng, n), pebble(&mut rng, n));
        let (mut pivots, mut visited, mut warm, mut count) = (0, 0, 0, 0);
        while count < 200 {
            let (p, mut q) = (planar_pose(&mut rng, 0.6), planar_pose(&mut rng, 0.6));
            let mut basis = Basis::default();
            if ratio((&a, &p), (&b, &q), &mut basis).unwrap().r < 0.5 {
                continue;
            }
            let mut x = || rng.random_range(-1e-3..1e-3);
            q = Translation2::new(x(), x()) * q;
            q.rotation = UnitComplex::new(x()) * q.rotation;
            let found = ratio((&a, &p), (&b, &q), &mut basis).unwrap();
            assert!((found.r - cold((&a, &p), (&b, &q)).r).abs() < 1e-12);
            count += 1;
            pivots += found.counters.pivots;
            visited += found.counters.visited;
            warm += usize::from(found.counters.warm);
        }
        let [pivots, visited] = [pivots, visited].map(|sum| sum as f64 / f64::from(count));
        assert!(pivots < 4.0 && visited < 60.0 && warm >= 190, "{n}: {pivots} {visited} {warm}");
    }
}

/// Points of all events by brute force: vertices of each on an edge of the other when both are scaled to where that
/// vertex and that edge meet.
fn brute_force(
    a: &Polygon,
    p: &Isometry2<f64>,
    b: &Polygon,
    q: &Isometry2<f64>,
    within: f64,
) -> Vec<Point2<f64>> {
    let best = cold((a, p), (b, q));
    let mut found: Vec<Point2<f64>> = vec![];
    for (v, pose_v, e, pose_e, side) in [(a, p, b, q, -1.0), (b, q, a, p, 1.0)] {
        let (from, to) = (pose_v * v.centre(), pose_e * e.centre());
        for vertex in v.vertices() {
            let arm = pose_v * vertex - from;
            for facet in e.facets() {
                let f = pose_e.rotation * facet;
                // f · (from + t arm − to) = t
                let t = f.dot(&(from - to)) / (1.0 - f.dot(&arm));
                let at = from + t * arm;
                let on = e.facets().iter().all(|g| (pose_e.rotation * g).dot(&(at - to)) <= t + 1e-6);
                let facing = side * f.normalize().dot(&best.normal()) >= 0.95;
                if t > 0.0
                    && on
                    && facing
                    && (t - best.r).abs() <= within
                    && found.iter().all(|k| (k - at).norm() > 1e-6)
                {
                    found.push(at);
                }
            }
        }
    }
    found
}

#[test]
fn events_are_those_of_brute_force() {
    let square = [0.5, 0.5];
    let table = [2.0, 0.5];
    let cases = [
        ("on a table", table, (0.3, 0.0), 2),
        ("on its like", square, (0.0, 0.0), 2),
        ("over the rim", square, (0.4, 0.0), 2),
        ("on its corner", table, (0.3, std::f64::consts::FRAC_PI_4), 1),
        ("somehow", table, (0.3, 0.5), 1),
    ];
    for (name, lower, (x, turn), expected) in cases {
        for tilt in [0.0, 1e-3] {
            let turn: f64 = turn + tilt;
            let below = 0.5 * (turn.cos().abs() + turn.sin().abs());
            for gap in [0.0, 0.02, -0.02] {
                let (a, b) = (Polygon::rectangle(lower).unwrap(), Polygon::rectangle(square).unwrap());
                let (p, q) =
                    (Isometry2::identity(), Isometry2::new(Vector2::new(x, 0.5 + below + gap), turn));
                let best = cold((&a, &p), (&b, &q));
                let mut near = vec![];
                let reach = best.length() * (best.r + 0.02 - 1.0);
                gaps(&Shape::Polygon(a.clone()), &p, &Shape::Polygon(b.clone()), &q, reach, &mut near)
                    .unwrap();
                assert_eq!(near.len(), expected, "{name} {tilt} {gap} {near:?}");
                assert_eq!(
                    near.len(),
                    brute_force(&a, &p, &b, &q, 0.02).len(),
                    "{name} {tilt} {gap} {near:?}"
                );
            }
        }
    }
}
