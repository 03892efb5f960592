//! Growth of events: the factor at which two features meet, the point, and their dependence on the poses.

use nalgebra::{Isometry2, Isometry3, Point2, Point3, UnitQuaternion, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use stiction_geometry::{planar, spatial};

/// Step of central differences: their error is its square, plus round-off over it.
const STEP: f64 = 1e-6;

fn signed(rng: &mut ChaCha8Rng, most: f64) -> f64 {
    rng.random_range(-most..most)
}

#[test]
fn grown_features_of_polyhedra_meet_at_the_point() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut kinds = [0; 2];
    for _ in 0..200 {
        let hull = |rng: &mut ChaCha8Rng| loop {
            let points: Vec<_> = (0..8).map(|_| Point3::from([0; 3].map(|_| signed(rng, 1.0)))).collect();
            if let Ok(hull) = spatial::Polyhedron::new(&points) {
                return Arc::new(hull);
            }
        };
        let (a, b) = (hull(&mut rng), hull(&mut rng));
        let mut vector = |most: f64| Vector3::from([0; 3].map(|_| signed(&mut rng, most)));
        let poses = [(); 2].map(|()| {
            Isometry3::from_parts(vector(0.6).into(), UnitQuaternion::from_scaled_axis(vector(2.0)))
        });
        let motion = [(); 2].map(|()| (vector(1.0), vector(1.0)));
        let shapes = [&a, &b].map(|shape| spatial::Shape::Polyhedron(Arc::clone(shape)));
        // the growth of every event when the bodies have moved on for a time
        let events = |t: f64| {
            let moved = [0, 1].map(|k| {
                let (pose, body, (v, w)) = (&poses[k], [&a, &b][k], motion[k]);
                let (centre, turn) = (pose * body.centre(), UnitQuaternion::from_scaled_axis(t * w));
                let rotation = turn * pose.rotation;
                let origin = centre + t * v - rotation * body.centre().coords;
                Isometry3::from_parts(origin.coords.into(), rotation)
            });
            let mut near = Vec::new();
            spatial::gaps(&shapes[0], &moved[0], &shapes[1], &moved[1], f64::INFINITY, &mut near).unwrap();
            let grown = |gap: &spatial::Gap| {
                spatial::growth((&a, &moved[0]), (&b, &moved[1]), gap)
                    .map(|growth| (gap.feature, *gap, growth))
            };
            near.iter().filter_map(grown).collect::<Vec<_>>()
        };
        let (before, now, after) = (events(-STEP), events(0.0), events(STEP));
        let centres = [poses[0] * a.centre(), poses[1] * b.centre()];
        let metric =
            spatial::ratio((&a, &poses[0]), (&b, &poses[1]), &mut spatial::Basis::default()).unwrap();
        let least = now.iter().map(|e| e.2.r).fold(f64::INFINITY, f64::min);
        assert!(least >= metric.r - 1e-9 || metric.r < 0.2, "{least} below {}", metric.r);
        for (feature, gap, growth) in now.iter().filter(|e| e.2.r > 0.2) {
            let spatial::Growth { r, length, normal, point } = *growth;
            assert!((length * (r - 1.0) - gap.gap).abs() <= 1e-12, "{growth:?}");
            // the point is on both grown features: as far along the normal as they are
            for (k, on) in [gap.on_a, gap.on_b].iter().enumerate() {
                let grown = centres[k] + r * (on - centres[k]);
                assert!(normal.dot(&(point - grown)).abs() <= 1e-9 * (1.0 + r), "{growth:?}");
            }
            // L ∇r = [−ν, −(p − x_a) × ν, ν, (p − x_b) × ν]
            let rate: f64 = [-1.0, 1.0]
                .iter()
                .enumerate()
                .map(|(k, sign)| {
                    let (v, w) = motion[k];
                    sign * (normal.dot(&v) + (point - centres[k]).cross(&normal).dot(&w))
                })
                .sum();
            let find = |events: &[(u32, spatial::Gap, spatial::Growth)]| {
                events.iter().find(|e| e.0 == *feature).map(|e| e.2.r)
            };
            let (Some(r_before), Some(r_after)) = (find(&before), find(&after)) else { continue };
            let difference = length * (r_after - r_before) / (2.0 * STEP);
            // edges that are almost parallel change their normal fast
            let allowed = 1e-6 * (1.0 + rate.abs()) * (1.0 + (point - centres[0]).norm()).powi(3);
            assert!((rate - difference).abs() <= allowed, "{rate}, not {difference}: {growth:?}");
            let [of_a, of_b] = [(&a, feature >> 16), (&b, feature & 0xFFFF)]
                .map(|(body, code)| code as usize >= body.normals().len() + body.edges().len());
            kinds[usize::from(of_a || of_b)] += 1;
        }
    }
    assert!(kinds.iter().all(|&count| count > 100), "edges and vertices: {kinds:?}");
}

#[test]
fn grown_features_of_polygons_meet_at_the_point() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut checked = 0;
    for _ in 0..300 {
        let mut polygon = || {
            let (n, phase) = (rng.random_range(3..8), rng.random_range(0.0..1.0));
            let corner = |k: i32| {
                let angle = (f64::from(k) + phase) * std::f64::consts::TAU / f64::from(n);
                Point2::new(1.3 * angle.cos(), 0.7 * angle.sin())
            };
            planar::Polygon::new(&(0..n).map(corner).collect::<Vec<_>>()).unwrap()
        };
        let (a, b) = (polygon(), polygon());
        let shapes = [&a, &b].map(|shape| planar::Shape::Polygon(shape.clone()));
        let mut number = |most: f64| signed(&mut rng, most);
        let poses = [(); 2].map(|()| Isometry2::new(Vector2::new(number(1.0), number(1.0)), number(3.0)));
        let motion = [(); 2].map(|()| (Vector2::new(number(1.0), number(1.0)), number(1.0)));
        let events = |t: f64| {
            let moved = [0, 1].map(|k| {
                let (pose, body, (v, w)) = (&poses[k], [&a, &b][k], motion[k]);
                let rotation = nalgebra::UnitComplex::new(t * w) * pose.rotation;
                let origin = pose * body.centre() + t * v - rotation * body.centre().coords;
                Isometry2::from_parts(origin.coords.into(), rotation)
            });
            let mut near = Vec::new();
            planar::gaps(&shapes[0], &moved[0], &shapes[1], &moved[1], f64::INFINITY, &mut near).unwrap();
            let grown = |gap: &planar::Gap| {
                planar::growth((&a, &moved[0]), (&b, &moved[1]), gap)
                    .map(|growth| (gap.feature, *gap, growth))
            };
            near.iter().filter_map(grown).collect::<Vec<_>>()
        };
        let (before, now, after) = (events(-STEP), events(0.0), events(STEP));
        let centres = [poses[0] * a.centre(), poses[1] * b.centre()];
        let metric = planar::ratio((&a, &poses[0]), (&b, &poses[1]), &mut planar::Basis::default()).unwrap();
        let least = now.iter().map(|e| e.2.r).fold(f64::INFINITY, f64::min);
        assert!((least - metric.r).abs() <= 1e-9 || metric.r < 0.2, "{least}, not {}", metric.r);
        for (feature, gap, growth) in now.iter().filter(|e| e.2.r > 0.2) {
            let planar::Growth { r, length, normal, point } = *growth;
            assert!((length * (r - 1.0) - gap.gap).abs() <= 1e-12, "{growth:?}");
            let rate: f64 = [-1.0, 1.0]
                .iter()
                .enumerate()
                .map(|(k, sign)| {
                    let (v, w) = motion[k];
                    sign * (normal.dot(&v) + (point - centres[k]).perp(&normal) * w)
                })
                .sum();
            let find = |events: &[(u32, planar::Gap, planar::Growth)]| {
                events.iter().find(|e| e.0 == *feature).map(|e| e.2.r)
            };
            let (Some(r_before), Some(r_after)) = (find(&before), find(&after)) else { continue };
            let difference = length * (r_after - r_before) / (2.0 * STEP);
            assert!((rate - difference).abs() <= 1e-6 * (1.0 + rate.abs()), "{rate}, not {difference}");
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}
