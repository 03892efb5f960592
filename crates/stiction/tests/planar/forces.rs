//! Springs, dampers, and forces of time and state.

use crate::common::{G, at, earth, moving, run, space, start};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Body, BodyId, Force, Mass, Wrench};
use stiction::{Forces, Scheme, System};

fn spring(a: BodyId, b: BodyId, stiffness: f64, damping: f64, rest_length: f64) -> Force {
    let origin = Point2::origin();
    Force::Spring { a, point_a: origin, b, point_b: origin, stiffness, damping, rest_length }
}

#[test]
fn very_stiff_springs_are_stable() {
    for (stiffness, damping) in [(1e10, 0.0), (1e10, 1e8), (0.0, 1e10)] {
        let mut world = earth();
        let ground = world.add_body(Body::fixed("ground"));
        let first = world.add_body(Body::rigid("first", Mass::given(1.0, 0.1)).at(at(1.0, 0.0)));
        let second = world.add_body(Body::point("second", 2.0).at(at(2.0, 0.0)));
        world.add_force(spring(ground, first, stiffness, damping, 1.0));
        world.add_force(spring(first, second, stiffness, damping, 1.0));
        let mut simulation = start(world, Scheme::default());
        run(&mut simulation, 0.01, 300, |k, s, report| {
            // 3 kg that fall by at most 3 m
            assert!(report.kinetic < 100.0, "{stiffness}, {damping}, step {k}: {}", report.kinetic);
            let q = &s.state().q;
            let lengths = [q[0].hypot(q[1]), (q[3] - q[0]).hypot(q[4] - q[1])];
            // each step leaves the curve by h² v² / 2, at up to 8 m/s; a damper alone does not take it back
            let allowed = if stiffness > 0.0 { 0.02 } else { 0.5 };
            assert!(lengths.iter().all(|l| (l - 1.0).abs() < allowed), "{stiffness}, {damping}: {lengths:?}");
        });
    }
    // the same taken explicitly is lost within a few steps
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(Body::point("body", 1.0).at(at(1.0, 0.0)));
    world.add_force(spring(ground, body, 1e10, 0.0, 1.0));
    let mut simulation = start(world, Scheme { implicit_springs: false, ..Scheme::default() });
    let lost = (0..50).any(|_| match simulation.step(0.01) {
        Ok(report) => report.kinetic > 1e6,
        Err(_) => true,
    });
    assert!(lost);
}

#[test]
fn a_spring_is_the_linearly_implicit_recurrence() {
    // m = 2, γ = 50, δ = 3 along a line: (m + hδ + h²γ) v⁺ = m v − hγ φ
    let (h, gamma, delta) = (0.02, 50.0, 3.0);
    let mut world = space();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(Body::slider("body", 2.0, Vector2::x()).at(at(1.5, 0.0)));
    world.add_force(spring(ground, body, gamma, delta, 1.0));
    let mut simulation = start(world, Scheme::first_order());
    let (mut x, mut v) = (1.5, 0.0);
    run(&mut simulation, h, 200, |_, s, report| {
        v = (2.0 * v - h * gamma * (x - 1.0)) / (2.0 + h * delta + h * h * gamma);
        x += h * v;
        assert!((s.state().q[0] - x).abs() < 1e-12 && (s.state().v[0] - v).abs() < 1e-12);
        assert!((report.potential - 0.5 * gamma * (x - 1.0) * (x - 1.0)).abs() < 1e-12);
    });
}

#[test]
fn springs_without_length_have_a_direction() {
    let mut world = space();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(Body::point("body", 1.0).moving(moving(1.0, 2.0, 0.0)));
    world.add_force(spring(ground, body, 7.0, 0.5, 0.0));
    let model = world.build().unwrap();
    let mut forces = Forces::default();
    // at rest length 0 it is γ d and δ v in every direction, at 0 too
    model.forces(0.0, &[0.0, 0.0], &[1.0, 2.0], &mut forces);
    assert_eq!(forces.k, [-0.5, -1.0]);
    model.forces(0.0, &[3.0, -4.0], &[0.0, 0.0], &mut forces);
    assert_eq!(forces.k, [-21.0, 28.0]);
    assert_eq!(model.potential(0.0, &[3.0, -4.0]), 0.5 * 7.0 * 25.0);

    // with a rest length, coincident points are pushed apart and stay numbers
    let mut world = space();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(Body::point("body", 1.0));
    world.add_force(spring(ground, body, 7.0, 0.5, 2.0));
    let model = world.build().unwrap();
    model.forces(0.0, &[0.0, 0.0], &[0.0, 0.0], &mut forces);
    assert_eq!(forces.k, [0.0, 14.0]);
}

/// k = −∂U/∂q for springs and rails on bodies that turn, by central differences.
#[test]
fn spring_forces_are_gradients_of_their_energy() {
    let mut world = earth();
    let a = world
        .add_body(Body::rigid("a", Mass::Given { mass: 1.0, centre: Point2::new(0.1, 0.2), inertia: 0.3 }));
    let b = world.add_body(Body::rigid("b", Mass::given(2.0, 0.4)).at(at(1.0, 0.5)));
    let (point_a, point_b) = (Point2::new(0.3, -0.1), Point2::new(-0.2, 0.4));
    for rest_length in [0.0, 0.6] {
        world.add_force(Force::Spring { a, point_a, b, point_b, stiffness: 9.0, damping: 0.0, rest_length });
    }
    let axis = Vector2::new(0.8, -0.6);
    world.add_force(Force::Rail { body: b, point: point_b, axis, origin: 0.3, stiffness: 4.0, damping: 0.0 });
    let model = world.build().unwrap();
    let q = [0.2, -0.1, 0.7, 1.1, 0.4, -0.9];
    let mut forces = Forces::default();
    model.forces(0.0, &q, &[0.0; 6], &mut forces);
    for i in 0..6 {
        let shifted = |by: f64| {
            let mut q = q;
            q[i] += by;
            model.potential(0.0, &q)
        };
        let slope = -(shifted(1e-5) - shifted(-1e-5)) / 2e-5;
        // 1e-10 of truncation, 1e-10 of round-off of an energy of order 10
        assert!((forces.k[i] - slope).abs() < 1e-8, "{i}: {} against {slope}", forces.k[i]);
    }
    // 2 axes, a line and a rail
    assert_eq!(forces.springs.len(), 4);
}

#[test]
fn forces_of_time_and_state_act_where_they_should() {
    let h = 0.01;
    let mut world = space();
    let timed = world.add_body(Body::rigid("timed", Mass::given(2.0, 4.0)));
    let pushed = Mass::Given { mass: 2.0, centre: Point2::new(1.0, 0.0), inertia: 4.0 };
    let pushed =
        world.add_body(Body::rigid("pushed", pushed).at(Isometry2::new(Vector2::new(0.0, 5.0), 0.3)));
    let slider = world.add_body(Body::slider("slider", 1.0, Vector2::new(0.6, 0.8)));
    world.add_force(Force::timed(timed, |t| Wrench { force: Vector2::new(t, 0.0), torque: 2.0 * t }));
    let wrench = Wrench { force: Vector2::new(0.0, 6.0), torque: 1.0 };
    world.add_force(Force::Constant { body: pushed, point: Some(Point2::new(1.5, 0.0)), wrench });
    world.add_force(Force::constant(slider, Vector2::new(1.0, 2.0)));
    // drag on the slider, by its place in v
    world.add_force(Force::custom(|_, _, v, k| k[6] -= 0.5 * v[6]));
    let model = world.build().unwrap();
    assert_eq!(model.velocities(slider), Some(6..7));
    assert_eq!(model.coordinates(pushed), Some(3..6));
    let mut simulation = stiction::Simulation::new(model).with_scheme(Scheme::first_order());
    let (mut v, mut turned) = ([0.0; 7], 0.3f64);
    run(&mut simulation, h, 50, |k, s, _| {
        let t = (k - 1) as f64 * h;
        v[0] += h * t / 2.0;
        v[2] += h * 2.0 * t / 4.0;
        v[4] += h * 6.0 / 2.0;
        // half a metre from the centre of mass along the body's x
        v[5] += h * (1.0 + 0.5 * turned.cos() * 6.0) / 4.0;
        turned += h * v[5];
        v[6] += h * (0.6 + 1.6 - 0.5 * v[6]);
        for i in 0..7 {
            assert!((s.state().v[i] - v[i]).abs() < 1e-12, "{i}");
        }
    });
}

#[test]
fn a_force_that_is_no_number_fails_the_step_and_leaves_the_state() {
    let mut world = space();
    world.add_body(Body::point("body", 1.0));
    world.add_force(Force::custom(|t, _, _, k| k[1] = if t > 0.015 { f64::NAN } else { 1.0 }));
    let mut simulation = start(world, Scheme::default());
    simulation.step(0.01).unwrap();
    simulation.step(0.01).unwrap();
    let before = simulation.state().clone();
    assert!(matches!(simulation.step(0.01), Err(stiction::StepError::NotFinite { .. })));
    assert_eq!(simulation.state(), &before);
}

#[test]
fn a_spring_pulls_from_a_kinematic_body() {
    let h = 0.01;
    let mut world = earth();
    let path = stiction::planar::Path::new(|t| (at(2.0 * t, 0.0), moving(2.0, 0.0, 0.0)));
    let hook = world.add_body(Body::kinematic("hook", path));
    let body = world.add_body(Body::slider("body", 1.0, Vector2::x()).at(at(-1.0, 0.0)));
    world.add_force(spring(hook, body, 100.0, 5.0, 1.0));
    let mut simulation = start(world, Scheme::first_order());
    run(&mut simulation, h, 1, |_, s, _| {
        // no stretch yet, and the damper sees the hook leave at 2 m/s
        let expected = h * 5.0 * 2.0 / (1.0 + h * 5.0 + h * h * 100.0);
        assert!((s.state().v[0] - expected).abs() < 1e-14, "{}", s.state().v[0]);
    });
    run(&mut simulation, h, 1000, |_, _, _| {});
    assert!((simulation.state().v[0] - 2.0).abs() < 1e-6 && G > 0.0);
}
