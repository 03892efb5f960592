//! Jacobians of planar forces.

use crate::common::{
    assert_close, assert_directional, assert_not_positive, definite, differences, exact, forces, numbers,
};
use nalgebra::{Isometry2, Point2, Vector2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::planar::{Attached, Body, BodyId, Force, Mass, Model, Path, Shape, Twist, World, Wrench};
use stiction::{JacobianKind, System};

/// Bodies of every kind of motion, moving bodies first.
fn bodies(world: &mut World) -> Vec<BodyId> {
    let mass = |x: f64, y: f64| Mass::Given { mass: 1.3, centre: Point2::new(x, y), inertia: 0.4 };
    let path = Path::new(|t| {
        let pose = Isometry2::new(Vector2::new(0.5 * t, (2.0 * t).sin()), 3.0 * t);
        (pose, Twist::new(Vector2::new(0.5, 2.0 * (2.0 * t).cos()), 3.0))
    });
    let disk = Attached { sensor: true, ..Attached::new(Shape::Disk { radius: 0.2 }) };
    [
        Body::rigid("a", mass(0.3, -0.2)).with(disk),
        Body::rigid("b", mass(-0.1, 0.4)),
        Body::point("c", 2.0),
        Body::slider("d", 0.7, Vector2::new(0.6, 0.8)),
        Body::kinematic("e", path),
        Body::fixed("f").at(Isometry2::new(Vector2::new(0.3, 0.1), 0.7)),
    ]
    .map(|body| world.add_body(body))
    .to_vec()
}

fn point(rng: &mut ChaCha8Rng) -> Point2<f64> {
    Point2::from_slice(&numbers(rng, 2, 1.0))
}

/// Force of one kind on these bodies.
fn force(kind: usize, a: BodyId, b: BodyId, rng: &mut ChaCha8Rng) -> Force {
    let wrench = Wrench { force: point(rng).coords, torque: rng.random_range(-1.0..1.0) };
    let (point_a, point_b) = (point(rng), point(rng));
    let (stiffness, damping) = (rng.random_range(0.0..9.0), rng.random_range(0.0..3.0));
    let spring = |stiffness, damping, rest_length| Force::Spring {
        a,
        point_a,
        b,
        point_b,
        stiffness,
        damping,
        rest_length,
    };
    match kind {
        0 => Force::Constant { body: a, point: Some(point_a), wrench },
        1 => {
            let load = move |t: f64| Wrench { force: (1.0 + t) * wrench.force, torque: t };
            Force::Timed { body: a, point: Some(point_a), load: std::sync::Arc::new(load) }
        }
        2 => spring(stiffness, 0.0, 0.0),
        3 => spring(stiffness, damping, 0.0),
        4 => spring(stiffness, 0.0, 0.6),
        5 => spring(stiffness, damping, 0.6),
        6 => spring(0.0, damping, 0.6),
        _ => {
            let axis = Vector2::new(0.28, -0.96);
            Force::Rail { body: a, point: point_a, axis, origin: 0.3, stiffness, damping }
        }
    }
}

fn state(model: &Model, rng: &mut ChaCha8Rng) -> (f64, Vec<f64>, Vec<f64>) {
    let n = model.bodies().iter().sum();
    (rng.random_range(0.0..2.0), numbers(rng, n, 2.0), numbers(rng, n, 2.0))
}

#[test]
fn every_force_on_every_motion_is_exact() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for kind in 0..8 {
        for i in 0..4 {
            for j in (0..6).filter(|&j| j != i) {
                let mut world = World::new(Vector2::new(0.0, -9.81));
                let ids = bodies(&mut world);
                world.add_force(force(kind, ids[i], ids[j], &mut rng));
                let model = world.build().unwrap();
                let (t, q, v) = state(&model, &mut rng);
                let found = exact(&model, t, &q, &v);
                assert_close(&format!("{kind} on {i}, {j}"), &found, &differences(&model, t, &q, &v));
                assert_directional(&model, t, &q, &v);
                assert_eq!(model.jacobian_kind(), JacobianKind::Exact);
                // a constant wrench depends on the rotation of a body, a damper on its position
                assert_eq!(found[0].amax() > 0.0, kind > 1 || i < 2, "{kind} on {i}, {j}");
            }
        }
    }
}

#[test]
fn all_forces_together_are_exact() {
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut world = World::new(Vector2::new(0.0, -9.81));
        let ids = bodies(&mut world);
        for kind in 0..8 {
            let a = rng.random_range(0..4);
            let b = (a + rng.random_range(1..6)) % 6;
            world.add_force(force(kind, ids[a], ids[b], &mut rng));
        }
        let model = world.build().unwrap();
        let (t, q, v) = state(&model, &mut rng);
        let (found, expected) = (exact(&model, t, &q, &v), differences(&model, t, &q, &v));
        assert_close(&format!("seed {seed}"), &found, &expected);
        assert_directional(&model, t, &q, &v);
        let [position, velocity] = definite(&model, t, &q, &v);
        assert_not_positive("k_q", &position);
        assert_not_positive("k_v", &velocity);
        assert_eq!(position, position.transpose());
        // damper entries are the same in both
        assert_close("definite", &[position.clone(), velocity], &[position, found[1].clone()]);
    }
}

#[test]
fn springs_without_dampers_have_a_symmetric_jacobian() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let ids = bodies(&mut world);
    for (kind, a, b) in [(2, 0, 1), (4, 1, 2), (4, 0, 3), (0, 1, 0), (4, 2, 4), (2, 3, 5)] {
        world.add_force(force(kind, ids[a], ids[b], &mut rng));
    }
    let model = world.build().unwrap();
    for _ in 0..20 {
        let (t, q, v) = state(&model, &mut rng);
        let [position, velocity] = exact(&model, t, &q, &v);
        // planar coordinates are flat, so k_q is minus the Hessian of the energy
        assert!((&position - position.transpose()).amax() <= 1e-13 * position.amax());
        assert_eq!(velocity.amax(), 0.0);
    }
}

#[test]
fn without_forces_the_jacobian_is_zero() {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    bodies(&mut world);
    let model = world.build().unwrap();
    let (t, q, v) = state(&model, &mut ChaCha8Rng::seed_from_u64(4));
    assert!(exact(&model, t, &q, &v).iter().all(|part| part.amax() == 0.0));
}

#[test]
fn coincident_points_leave_the_definite_part() {
    let mut world = World::new(Vector2::zeros());
    let a = world.add_body(Body::fixed("a"));
    let b = world.add_body(Body::point("b", 1.0));
    let origin = Point2::origin();
    let spring = Force::Spring {
        a,
        point_a: origin,
        b,
        point_b: origin,
        stiffness: 7.0,
        damping: 0.5,
        rest_length: 2.0,
    };
    world.add_force(spring);
    let model = world.build().unwrap();
    for x in [0.0, 1e-200, 1e-17] {
        let (q, v) = ([x, 0.0], [1.0, 2.0]);
        let found = exact(&model, 0.0, &q, &v);
        assert_eq!(found, definite(&model, 0.0, &q, &v), "{x}");
        assert!(found.iter().flatten().all(|x| x.is_finite()) && forces(&model, 0.0, &q, &v).amax() > 0.0);
    }
}
