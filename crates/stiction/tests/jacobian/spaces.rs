//! Jacobians of spatial forces.

use crate::common::{
    assert_close, assert_directional, assert_not_positive, definite, differences, exact, forces, numbers,
    starts,
};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Attached, Body, BodyId, Force, Mass, Model, Path, Shape, Twist, World, Wrench};
use stiction::{JacobianKind, System};

fn vector(rng: &mut ChaCha8Rng, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-size..size))
}

fn gravity() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -9.81)
}

/// Bodies of every kind of motion, moving bodies first.
fn bodies(world: &mut World) -> Vec<BodyId> {
    let mass = |x: f64, y: f64| {
        let inertia = Matrix3::new(0.9, 0.1, -0.05, 0.1, 0.6, 0.02, -0.05, 0.02, 0.5);
        Mass::Given { mass: 1.3, centre: Point3::new(x, y, 0.1), inertia }
    };
    let path = Path::new(|t| {
        let spin = Vector3::new(1.0, -2.0, 0.5);
        let pose = Isometry3::new(Vector3::new(0.5 * t, (2.0 * t).sin(), 0.0), t * spin);
        (pose, Twist::new(Vector3::new(0.5, 2.0 * (2.0 * t).cos(), 0.0), spin))
    });
    let ball = Attached { sensor: true, ..Attached::new(Shape::Sphere { radius: 0.2 }) };
    [
        Body::rigid("a", mass(0.3, -0.2)).with(ball),
        Body::rigid("b", mass(-0.1, 0.4)),
        Body::point("c", 2.0),
        Body::slider("d", 0.7, Vector3::new(0.6, 0.8, 0.3)),
        Body::kinematic("e", path),
        Body::fixed("f").at(Isometry3::new(Vector3::new(0.3, 0.1, 0.2), Vector3::new(0.7, 0.1, 0.2))),
    ]
    .map(|body| world.add_body(body))
    .to_vec()
}

/// Force of one kind on these bodies.
fn force(kind: usize, a: BodyId, b: BodyId, rng: &mut ChaCha8Rng) -> Force {
    let wrench = Wrench { force: vector(rng, 1.0), torque: vector(rng, 1.0) };
    let (point_a, point_b) = (Point3::from(vector(rng, 1.0)), Point3::from(vector(rng, 1.0)));
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
            let load = move |t: f64| Wrench { force: (1.0 + t) * wrench.force, torque: wrench.torque };
            Force::Timed { body: a, point: Some(point_a), load: std::sync::Arc::new(load) }
        }
        2 => spring(stiffness, 0.0, 0.0),
        3 => spring(stiffness, damping, 0.0),
        4 => spring(stiffness, 0.0, 0.6),
        5 => spring(stiffness, damping, 0.6),
        6 => spring(0.0, damping, 0.6),
        _ => {
            let axis = Vector3::new(0.8, -0.6, 1.1);
            Force::Rail { body: a, point: point_a, axis, origin: 0.3, stiffness, damping }
        }
    }
}

fn state(model: &Model, rng: &mut ChaCha8Rng) -> (f64, Vec<f64>, Vec<f64>) {
    let mut q = model.state().q;
    let n = model.bodies().iter().sum();
    // random positions and orientations
    let far = numbers(rng, n, 2.0);
    model.advance(&mut q, &far, 1.0);
    (rng.random_range(0.0..2.0), q, numbers(rng, n, 2.0))
}

#[test]
fn every_force_on_every_motion_is_exact() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for kind in 0..8 {
        for i in 0..4 {
            for j in (0..6).filter(|&j| j != i) {
                let mut world = World::new(gravity());
                let ids = bodies(&mut world);
                world.add_force(force(kind, ids[i], ids[j], &mut rng));
                let model = world.build().unwrap();
                let (t, q, v) = state(&model, &mut rng);
                let found = exact(&model, t, &q, &v);
                assert_close(&format!("{kind} on {i}, {j}"), &found, &differences(&model, t, &q, &v));
                assert_directional(&model, t, &q, &v);
                assert_eq!(model.jacobian_kind(), JacobianKind::Exact);
            }
        }
    }
}

#[test]
fn all_forces_together_are_exact() {
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut world = World::new(gravity());
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
    }
}

#[test]
fn a_free_body_has_the_gyroscopic_jacobian() {
    let mut world = World::new(gravity());
    bodies(&mut world);
    let model = world.build().unwrap();
    let (t, q, v) = state(&model, &mut ChaCha8Rng::seed_from_u64(2));
    let [position, velocity] = exact(&model, t, &q, &v);
    assert_eq!(position.amax(), 0.0);
    // f is of degree two: f' ω = 2 f
    let k = forces(&model, t, &q, &v) - forces(&model, t, &q, &vec![0.0; v.len()]);
    let product = &velocity * nalgebra::DVector::from_column_slice(&v);
    assert!((product - 2.0 * &k).amax() <= 1e-13 * k.amax() && k.amax() > 0.1);
    // and the definite part is antisymmetric, with f itself
    let [_, spin] = definite(&model, t, &q, &v);
    assert_eq!(spin, -spin.transpose());
    assert!((spin * nalgebra::DVector::from_column_slice(&v) - &k).amax() <= 1e-13 * k.amax());
}

/// Asymmetry of conservative forces: rotations do not commute, so k_q − k_qᵀ is [τ]× of the torque on each body.
#[test]
fn springs_without_dampers_are_symmetric_up_to_their_torque() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut world = World::new(gravity());
    let ids = bodies(&mut world);
    for (kind, a, b) in [(2, 0, 1), (4, 1, 2), (4, 0, 3), (4, 2, 4), (2, 3, 5), (4, 1, 0)] {
        world.add_force(force(kind, ids[a], ids[b], &mut rng));
    }
    let model = world.build().unwrap();
    for _ in 0..20 {
        let (t, q, v) = state(&model, &mut rng);
        let [position, _] = exact(&model, t, &q, &v);
        let k = forces(&model, t, &q, &vec![0.0; v.len()]);
        let mut rest = &position - position.transpose();
        for start in &starts(&model)[..2] {
            let torque = Vector3::from_column_slice(&k.as_slice()[start + 3..start + 6]);
            let mut angular = rest.fixed_view_mut::<3, 3>(start + 3, start + 3);
            angular -= torque.cross_matrix();
        }
        assert!(rest.amax() <= 1e-13 * position.amax(), "{rest}");
    }
}

#[test]
fn coincident_points_give_numbers() {
    let mut world = World::new(Vector3::zeros());
    let a = world.add_body(Body::fixed("a"));
    let b = world.add_body(Body::point("b", 1.0));
    let origin = Point3::origin();
    let (stiffness, damping, rest_length) = (7.0, 0.5, 2.0);
    world.add_force(Force::Spring {
        a,
        point_a: origin,
        b,
        point_b: origin,
        stiffness,
        damping,
        rest_length,
    });
    let model = world.build().unwrap();
    for x in [0.0, 1e-200, 1e-100, 1e-17] {
        let (q, v) = ([x, 0.0, 0.0], [1.0, 2.0, 3.0]);
        let found = exact(&model, 0.0, &q, &v);
        assert_eq!(found, definite(&model, 0.0, &q, &v), "{x}");
        assert!(found.iter().flatten().all(|x| x.is_finite()));
    }
}
