//! Conservation laws of mechanics in random planar worlds.

use crate::common::{
    at, disk, earth, floor, friction, kinetic, moving, random, rectangle, run, space, start,
};
use nalgebra::{Isometry2, Point2, Vector2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction::planar::{Attached, Body, Joint, Mass, Twist, World};
use stiction::{Forces, Material, Scheme, System};
use stiction_geometry::planar::Shape;

#[test]
fn momentum_is_kept_in_collisions() {
    let shapes: [fn() -> Attached; 3] = [
        || disk(0.4),
        || rectangle(0.5, 0.3),
        || Attached::new(Shape::Capsule { half_length: 0.4, radius: 0.2 }),
    ];
    // ST00 takes its levers at the end of the step and post-stabilization moves bodies: they keep it to O(h)
    for scheme in [Scheme::ah04(), Scheme::ap97()] {
        for (i, first) in shapes.iter().enumerate() {
            for second in &shapes[i..] {
                let mut world = space();
                let material = Material { friction: 0.8, restitution: 0.3, ..Material::default() };
                let a = Body::rigid("a", Mass::Density(1.0)).at(Isometry2::new(Vector2::new(-1.0, 2.0), 0.3));
                let b = Body::rigid("b", Mass::Density(3.0)).at(Isometry2::new(Vector2::new(1.0, 2.2), 1.0));
                world.add_body(a.with(first().material(material)).moving(moving(2.0, 0.1, 3.0)));
                world.add_body(b.with(second().material(material)).moving(moving(-1.0, 0.0, -5.0)));
                let mut simulation = start(world, scheme);
                let model = simulation.system();
                let state = simulation.state();
                let (linear, angular) = model.momentum(&state.q, &state.v);
                let mut touched = 0;
                run(&mut simulation, 0.01, 100, |k, _, r| {
                    touched += r.contacts.iter().filter(|c| c.normal_impulse > 0.0).count();
                    for i in 0..2 {
                        assert!((r.linear_momentum[i] - linear[i]).abs() < 1e-12);
                    }
                    let error = r.angular_momentum[2] - angular[2];
                    assert!(error.abs() < 1e-12, "step {k}: {error}");
                });
                assert!(touched > 0);
            }
        }
    }
}

#[test]
fn surface_friction_points_do_not_keep_angular_momentum() {
    // the negative control: levers that differ by the gap make a torque of the friction
    let mut world = space();
    world.friction_point = stiction::FrictionPoint::Surface;
    let a = Body::rigid("a", Mass::Density(1.0)).at(at(-1.0, 0.0)).with(disk(0.4));
    let b = Body::rigid("b", Mass::Density(1.0)).at(at(1.0, 0.1)).with(disk(0.4));
    world.add_body(a.moving(moving(2.0, 0.0, 9.0)));
    world.add_body(b.moving(moving(-2.0, 0.0, 9.0)));
    let mut simulation = start(world, Scheme::ah04());
    let state = simulation.state();
    let before = simulation.system().momentum(&state.q, &state.v).1[2];
    let mut worst: f64 = 0.0;
    run(&mut simulation, 0.01, 100, |_, _, r| worst = worst.max((r.angular_momentum[2] - before).abs()));
    assert!(worst > 1e-6, "{worst}");
}

/// Bodies side by side above a floor, some hinged to the next, nothing overlapping.
fn random_scene(rng: &mut ChaCha8Rng) -> World {
    let mut world = earth();
    world.add_body(floor());
    let mut last = None;
    for i in 0..rng.random_range(1..6) {
        let x = f64::from(i);
        let shape = match rng.random_range(0..3) {
            0 => disk(rng.random_range(0.1..0.499)),
            1 => rectangle(rng.random_range(0.1..0.35), rng.random_range(0.1..0.35)),
            _ => Attached::new(Shape::Capsule { half_length: 0.25, radius: rng.random_range(0.05..0.2) }),
        };
        let material = friction(rng.random_range(0.0..1.5));
        let pose = Isometry2::new(Vector2::new(x, rng.random_range(0.5..0.6)), rng.random_range(-3.0..3.0));
        let speed = |rng: &mut ChaCha8Rng| rng.random_range(-30.0..30.0);
        let velocity = Twist::new(Vector2::new(speed(rng), speed(rng)), speed(rng));
        let body = Body::rigid(format!("body {i}"), Mass::Density(rng.random_range(0.1..10.0)));
        let body = world.add_body(body.at(pose).moving(velocity).with(shape.material(material)));
        if let Some(last) = last.filter(|_| rng.random_range(0..3) == 0) {
            let point = Point2::new(x - 0.5, rng.random_range(0.0..1.0));
            world.add_joint(
                Joint::revolute(format!("joint {i}"), &world, last, body, point)
                    .limits(-1.0, 1.0)
                    .friction(0.5),
            );
        }
        last = Some(body);
    }
    world
}

#[test]
fn no_step_gains_energy() {
    let mut rng = random(3);
    let (h, mut struck) = (0.02, 0);
    for round in 0..400 {
        let model = random_scene(&mut rng).build().unwrap();
        let state = model.state();
        // v_f = M⁻¹ b = v + h M⁻¹ k, and ½ bᵀM⁻¹b is its energy
        let mut forces = Forces::default();
        model.forces(state.t, &state.q, &state.v, &mut forces);
        let starts = crate::common::starts(&model);
        let mut free = state.v.clone();
        for (i, &n) in model.bodies().iter().enumerate() {
            let mass = model.mass(i);
            (0..n).for_each(|r| free[starts[i] + r] += h * forces.k[starts[i] + r] / mass[(r, r)]);
        }
        let allowed = kinetic(&model, &free);
        let mut simulation = stiction::Simulation::from_state(model, state).with_scheme(Scheme::ah04());
        let report = simulation.step(h).unwrap_or_else(|e| panic!("round {round}: {e}"));
        struck += usize::from(report.contacts.iter().any(|c| c.normal_impulse > 0.0));
        // the solve is certified to 1e-10
        assert!(report.kinetic <= allowed * (1.0 + 1e-9), "round {round}: {} of {allowed}", report.kinetic);
        assert!(report.certificate.worst() <= 1e-10);
    }
    assert!(struck > 200, "{struck} scenes with an impact");
}
