//! Bad input that is refused, steps with too many events, and runs that continue.

use crate::common::{G, run, spatial, step};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Force, Joint, Mass, Model, Shape, Twist, World, Wrench};
use stiction::{ConstraintId, ContactId, Level, Material, Scheme, Simulation, StepError, Trapezoidal};

fn bouncy(restitution: f64) -> Material {
    Material { friction: 0.0, restitution, ..Material::default() }
}

/// Half-space with this normal, at a distance `at` along it.
fn wall(name: &str, normal: Vector3<f64>, at: f64, material: Material) -> Body {
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &normal);
    let turn =
        turn.unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI));
    let pose = Isometry3::from_parts((at * normal).into(), turn);
    Body::fixed(name).at(pose).with(Attached::new(Shape::HalfSpace).material(material))
}

fn ball(radius: f64, material: Material, speed: Vector3<f64>) -> Body {
    let shape = Attached::new(Shape::Sphere { radius }).material(material);
    Body::rigid("ball", Mass::given(1.0, [0.004; 3])).with(shape).moving(Twist::new(speed, Vector3::zeros()))
}

#[test]
fn restitution_beyond_one_is_a_mistake_with_a_name() {
    for e in [-0.1, 1.1, f64::NAN] {
        let mut world = World::new(Vector3::zeros());
        world.add_body(wall("floor", Vector3::z(), 0.0, bouncy(e)));
        let mistakes = world.build().expect_err("a wrong coefficient").to_string();
        assert!(mistakes.contains("floor") && mistakes.contains("restitution"), "{mistakes}");
    }
}

#[test]
fn hundreds_of_bounces_in_a_step_stop_location_and_are_reported() {
    let mut world = World::new(Vector3::zeros());
    world.add_body(wall("left", Vector3::x(), -0.1 - 5e-5, bouncy(1.0)));
    world.add_body(wall("right", -Vector3::x(), -0.1 - 5e-5, bouncy(1.0)));
    let ball = world.add_body(ball(0.1, bouncy(1.0), Vector3::new(10.0, 0.0, 0.0)));
    let mut simulation = spatial(world);
    for k in 0..5 {
        let report = step(&mut simulation, 0.01);
        let how = report.second_order.expect("a step of second order");
        // the rest of the first step has no restitution, since no velocity returns from both walls
        assert_eq!(how.cut, k == 0, "{how:?}");
        assert!(report.impacts.len() <= 70, "{}", report.impacts.len());
        assert!(report.kinetic <= 50.0 * (1.0 + 1e-9), "{}", report.kinetic);
        // the rest without location is reported, and does not end inside a wall
        assert_eq!((how.coarse > 0.009, report.stabilization.is_some()), (how.cut, how.cut));
        assert!(report.certificate.passes(1e-10), "{:?}", report.certificate);
        let x = simulation.system().centre(simulation.state(), ball).expect("the ball").x;
        assert!(x.abs() - 5e-5 < 1e-9, "{x}");
        assert!(report.infeasibility < 1e-9, "{}", report.infeasibility);
    }
}

/// Twelve balls between walls, with an event limit below the number of impacts: no ball ends inside a wall or another ball
/// by more than a millionth of its size.
#[test]
fn a_storm_ends_outside_its_walls() {
    let mut world = World::new(-G * Vector3::z());
    for (i, normal) in
        [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y(), Vector3::z()].iter().enumerate()
    {
        let at = if i == 4 { 0.0 } else { -0.5 };
        world.add_body(wall(&format!("wall {i}"), *normal, at, bouncy(0.9)));
    }
    for i in 0..12u32 {
        let [x, y, z] = [i % 2, (i / 2) % 2, i / 4].map(|k| 0.4 * f64::from(k) - 0.2);
        let speed = 8.0 * Vector3::new(f64::from(i).sin(), (2.0 * f64::from(i)).cos(), -1.0);
        let mut body = ball(0.1, bouncy(0.9), speed).at(Isometry3::translation(x, y, z + 0.35));
        body.name = format!("ball {i}");
        world.add_body(body);
    }
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let settings = Trapezoidal { event_limit: 1, ..Trapezoidal::default() };
    let mut simulation = Simulation::new(model).with_scheme(Scheme::of(Level::Trapezoidal(settings)));
    let mut coarse = 0;
    for k in 0..50 {
        let report = step(&mut simulation, 0.02);
        assert!(report.infeasibility <= 1e-7, "step {k}: {} m", report.infeasibility);
        assert!(report.certificate.passes(1e-10), "step {k}: {:?}", report.certificate);
        coarse += usize::from(report.second_order.expect("a step of second order").coarse > 0.0);
    }
    println!("{coarse} of 50 steps");
    assert!(coarse > 5);
}

#[test]
fn a_graze_within_a_step_is_found() {
    for depth in [1e-4, 1e-8] {
        // up to a ceiling and back within one step
        let (h, rise): (f64, f64) = (0.1, 0.003);
        let speed = (2.0 * G * (rise + depth)).sqrt();
        let mut world = World::new(-G * Vector3::z());
        world.add_body(wall("ceiling", -Vector3::z(), -0.1 - rise, bouncy(0.5)));
        world.add_body(ball(0.1, bouncy(0.5), Vector3::new(0.3, 0.2, speed)));
        let report = step(&mut spatial(world), h);
        assert_eq!(report.impacts.len(), 1, "depth {depth}");
        let closing = (2.0 * G * depth).sqrt();
        let t = (speed - closing) / G;
        assert!((report.impacts[0].t - t).abs() < 1e-8, "{} not {t}", report.impacts[0].t);
        assert!((report.impacts[0].approaches[0].1 - closing).abs() < 1e-6);
    }
}

#[test]
fn a_force_that_is_not_finite_leaves_the_state_unchanged() {
    let mut world = World::new(-G * Vector3::z());
    let body = world.add_body(ball(0.1, bouncy(0.0), Vector3::zeros()));
    world.add_force(Force::timed(body, |t| Wrench {
        force: Vector3::new(if t > 0.105 { f64::NAN } else { 1.0 }, 0.0, 0.0),
        torque: Vector3::zeros(),
    }));
    let mut simulation = spatial(world);
    for _ in 0..10 {
        step(&mut simulation, 0.01);
    }
    let before = simulation.state().clone();
    let error = simulation.step(0.01).expect_err("not a number");
    assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
    assert_eq!(*simulation.state(), before);
}

/// Pendulum on a ball joint with a position error and a speed along its rows.
fn pendulum(apart: f64, speed: f64) -> World {
    let mut world = World::new(-G * Vector3::z());
    let ground = world.add_body(Body::fixed("ground"));
    let bob = Body::rigid("bob", Mass::given(1.0, [0.01; 3])).at(Isometry3::translation(1.0, 0.0, 0.0));
    let bob = world.add_body(bob.with(Attached::new(Shape::Sphere { radius: 0.1 })));
    let joint = Joint::spherical("hook", &world, ground, bob, Point3::origin());
    world.add_joint(joint);
    let body = world.body_mut(bob).expect("the bob");
    body.pose.translation.vector.x += apart;
    body.velocity.linear.x = speed;
    world
}

#[test]
fn a_start_with_joint_errors_is_refused_until_it_is_projected() {
    for (apart, speed) in [(1e-3, 0.0), (0.0, 0.2)] {
        let mut world = pendulum(apart, speed);
        let error = spatial(world.clone()).step(0.01).expect_err("a joint that does not hold");
        assert!(error.to_string().contains("joint 0 (hook)"), "{error}");
        let StepError::Apart { joint, error: off, speed: fast, .. } = error else { panic!("{error}") };
        assert!((off.abs() - apart).abs() < 1e-12 && (fast.abs() - speed).abs() < 1e-12);
        assert_eq!(joint, stiction::JointId(0));
        world.project().expect("a world that can be projected");
        step(&mut spatial(world), 0.01);
    }
}

#[test]
fn an_active_contact_that_no_features_have_is_named_by_its_bodies() {
    let mut world = World::new(-G * Vector3::z());
    world.add_body(wall("floor", Vector3::z(), -0.1, bouncy(0.0)));
    world.add_body(ball(0.1, bouncy(0.0), Vector3::zeros()));
    let mut simulation = spatial(world);
    step(&mut simulation, 0.01);
    let mut state = simulation.state().clone();
    let active = state.memory.active.as_mut().expect("an active set");
    let Some(ConstraintId::Contact(id)) = active.first().map(|c| c.constraint) else { panic!("{active:?}") };
    active[0].constraint = ConstraintId::Contact(ContactId { feature: 77, ..id });
    simulation.restore(state);
    let error = simulation.step(0.01).expect_err("no such features");
    assert!(matches!(error, StepError::Lost { .. }), "{error}");
    assert!(error.to_string().contains("contact 77 (floor–ball)"), "{error}");
}

/// Bouncing ball, a block under an oscillating force, and a pendulum.
fn scene() -> (Simulation<Model>, BodyId) {
    let mut world = pendulum(0.0, 0.0);
    let rough = Material { friction: 0.3, restitution: 0.6, ..Material::default() };
    world.add_body(wall("floor", Vector3::z(), -2.0, rough));
    let mut thrown = ball(0.1, rough, Vector3::new(0.5, 0.3, 0.0));
    thrown.pose = Isometry3::translation(2.0, 0.0, -1.5);
    world.add_body(thrown);
    let shape = Attached::new(Shape::Sphere { radius: 0.1 }).material(rough);
    let block = Body::point("block", 1.0).with(shape).at(Isometry3::translation(-2.0, 0.0, -1.9));
    let block = world.add_body(block);
    world.add_force(Force::timed(block, |t| Wrench {
        force: Vector3::new(5.0 * (6.0 * t).cos(), 1.0, 0.0),
        torque: Vector3::zeros(),
    }));
    (spatial(world), block)
}

#[test]
fn a_snapshot_continues_bit_by_bit() {
    let (mut simulation, _) = scene();
    run(&mut simulation, 0.01, 0.6);
    let snapshot = simulation.state().clone();
    let summary = run(&mut simulation, 0.01, 0.6);
    assert!(!summary.events.is_empty());
    let end = simulation.state().clone();
    let (mut other, _) = scene();
    other.restore(snapshot.clone());
    run(&mut other, 0.01, 0.6);
    assert_eq!(*other.state(), end);
    simulation.restore(snapshot);
    run(&mut simulation, 0.01, 0.6);
    assert_eq!(*simulation.state(), end);
}

#[test]
fn an_edited_world_continues() {
    let (mut simulation, block) = scene();
    run(&mut simulation, 0.01, 0.5);
    let floor = simulation.system().world().find_body("floor").expect("the floor");
    simulation.edit(|world| world.remove_body(floor)).expect("no mistake");
    run(&mut simulation, 0.01, 0.3);
    let z = simulation.system().centre(simulation.state(), block).expect("the block").z;
    // free fall for 0.3 s
    assert!((z - (-1.9 - 0.5 * G * 0.09)).abs() < 1e-9, "{z}");
    let bob = simulation.system().world().find_body("bob").expect("the bob");
    simulation.edit(|world| world.remove_body(bob)).expect("no mistake");
    run(&mut simulation, 0.01, 0.1);
}
