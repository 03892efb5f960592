//! Jacobians of spatial forces.

use crate::common::{
    self, assert_definite, assert_exact, coincident, definite, every_force, exact, force_cases, forces,
    numbers, starts, with_forces,
};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::System;
use stiction::spatial::{Attached, Body, BodyId, Force, Mass, Model, Path, Shape, Twist, World, Wrench};

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
    let points = [vector(rng, 1.0), vector(rng, 1.0)].map(Point3::from);
    let load = move |t: f64| Wrench { force: (1.0 + t) * wrench.force, torque: wrench.torque };
    common::force(kind, [a, b], points, wrench, load, Vector3::new(0.8, -0.6, 1.1), rng)
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
    for (kind, i, j) in force_cases() {
        let model = with_forces(gravity(), bodies, force, &[(kind, i, j)], &mut rng);
        let (t, q, v) = state(&model, &mut rng);
        assert_exact(&format!("{kind} on {i}, {j}"), &model, t, &q, &v);
    }
}

#[test]
fn all_forces_together_are_exact() {
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = every_force(gravity(), bodies, force, &mut rng);
        let (t, q, v) = state(&model, &mut rng);
        assert_exact(&format!("seed {seed}"), &model, t, &q, &v);
        assert_definite(&model, t, &q, &v);
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
    let springs = [(2, 0, 1), (4, 1, 2), (4, 0, 3), (4, 2, 4), (2, 3, 5), (4, 1, 0)];
    let model = with_forces(gravity(), bodies, force, &springs, &mut rng);
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
    let model: Model = coincident(Vector3::zeros());
    for x in [0.0, 1e-200, 1e-100, 1e-17] {
        let (q, v) = ([x, 0.0, 0.0], [1.0, 2.0, 3.0]);
        let found = exact(&model, 0.0, &q, &v);
        assert_eq!(found, definite(&model, 0.0, &q, &v), "{x}");
        assert!(found.iter().flatten().all(|x| x.is_finite()));
    }
}
