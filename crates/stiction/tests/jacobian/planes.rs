//! Jacobians of planar forces.

use crate::common::{
    self, assert_close, assert_definite, assert_exact, coincident, definite, every_force, exact, force_cases,
    forces, numbers, with_forces,
};
use nalgebra::{Isometry2, Point2, Vector2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::System;
use stiction::planar::{Attached, Body, BodyId, Force, Mass, Model, Path, Shape, Twist, World, Wrench};

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
    let points = [point(rng), point(rng)];
    let load = move |t: f64| Wrench { force: (1.0 + t) * wrench.force, torque: t };
    common::force(kind, [a, b], points, wrench, load, Vector2::new(0.28, -0.96), rng)
}

fn state(model: &Model, rng: &mut ChaCha8Rng) -> (f64, Vec<f64>, Vec<f64>) {
    let n = model.bodies().iter().sum();
    (rng.random_range(0.0..2.0), numbers(rng, n, 2.0), numbers(rng, n, 2.0))
}

#[test]
fn every_force_on_every_motion_is_exact() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (kind, i, j) in force_cases() {
        let model = with_forces(Vector2::new(0.0, -9.81), bodies, force, &[(kind, i, j)], &mut rng);
        let (t, q, v) = state(&model, &mut rng);
        let found = assert_exact(&format!("{kind} on {i}, {j}"), &model, t, &q, &v);
        // a constant wrench depends on the rotation of a body, a damper on its position
        assert_eq!(found[0].amax() > 0.0, kind > 1 || i < 2, "{kind} on {i}, {j}");
    }
}

#[test]
fn all_forces_together_are_exact() {
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = every_force(Vector2::new(0.0, -9.81), bodies, force, &mut rng);
        let (t, q, v) = state(&model, &mut rng);
        let found = assert_exact(&format!("seed {seed}"), &model, t, &q, &v);
        let [position, velocity] = assert_definite(&model, t, &q, &v);
        // damper entries are the same in both
        assert_close("definite", &[position.clone(), velocity], &[position, found[1].clone()]);
    }
}

#[test]
fn springs_without_dampers_have_a_symmetric_jacobian() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let loads = [(2, 0, 1), (4, 1, 2), (4, 0, 3), (0, 1, 0), (4, 2, 4), (2, 3, 5)];
    let model = with_forces(Vector2::new(0.0, -9.81), bodies, force, &loads, &mut rng);
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
    let model: Model = coincident(Vector2::zeros());
    for x in [0.0, 1e-200, 1e-17] {
        let (q, v) = ([x, 0.0], [1.0, 2.0]);
        let found = exact(&model, 0.0, &q, &v);
        assert_eq!(found, definite(&model, 0.0, &q, &v), "{x}");
        assert!(found.iter().flatten().all(|x| x.is_finite()) && forces(&model, 0.0, &q, &v).amax() > 0.0);
    }
}
