//! Events of limits, motors and belts, against closed forms.

use crate::common::{G, run, second_order, spatial};
use nalgebra::{Isometry3, Point3, Vector3};
use stiction::spatial::{Attached, Body, Force, Joint, Mass, Motor, Path, Shape, Twist, World, Wrench};
use stiction::{Accuracy, EventKind, Material};

/// Root of a function that changes sign between two times.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let sign = f(low).signum();
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if f(middle).signum() == sign { low = middle } else { high = middle }
    }
    low
}

/// Carriage of 1 kg on an oblique rail with a force along it.
fn carriage(
    speed: f64,
    load: impl Fn(f64) -> f64 + Send + Sync + 'static,
    fitted: impl Fn(Joint) -> Joint,
) -> World {
    let mut world = World::new(Vector3::zeros());
    let axis = Vector3::new(2.0, 1.0, -2.0) / 3.0;
    let rail = world.add_body(Body::fixed("rail"));
    let body = Body::rigid("carriage", Mass::given(1.0, [0.1, 0.2, 0.15]));
    let carriage = world.add_body(body.moving(Twist::new(speed * axis, Vector3::zeros())));
    let joint = fitted(Joint::prismatic("guide", &world, rail, carriage, Point3::origin(), axis));
    world.add_joint(joint);
    world.add_force(Force::timed(carriage, move |t| Wrench {
        force: load(t) * axis,
        torque: Vector3::zeros(),
    }));
    world
}

#[test]
fn a_carriage_reaches_its_limit_and_leaves_it() {
    // x = (1 − cos 2t)/2 until 0.1 m; it leaves the limit when the force changes its sign
    let exact = [(EventKind::Impact, 0.5 * 0.8f64.acos()), (EventKind::TakeOff, std::f64::consts::FRAC_PI_4)];
    for h in [0.02, 0.01, 0.005] {
        let mut simulation = spatial(carriage(0.0, |t| 2.0 * (2.0 * t).cos(), |j| j.limits(-1.0, 0.1)));
        let summary = run(&mut simulation, h, 1.2);
        assert_eq!(summary.events.len(), 2, "{:?}", summary.events);
        for (event, (kind, t)) in summary.events.iter().zip(exact) {
            println!("h = {h}: {kind:?} off by {:.3} h²", (event.t - t) / (h * h));
            assert_eq!(event.kind, kind);
            assert!((event.t - t).abs() <= h * h, "{event:?} not {t}");
        }
        assert!(summary.infeasibility < 1e-12);
    }
}

#[test]
fn a_motor_slips_at_its_force_limit_and_sticks_again() {
    let slips = 0.6f64.asin();
    // v' = 3 − 5 sin t from there
    let lag = |t: f64| 3.0 * (t - slips) + 5.0 * (t.cos() - slips.cos());
    let holds = root(lag, slips + 1.0, 4.5);
    for h in [0.02, 0.01, 0.005] {
        let motor = Motor::Velocity { speed: 1.0, force: 3.0 };
        let mut simulation = spatial(carriage(1.0, |t| -5.0 * t.sin(), |j| j.motor(motor)));
        let summary = run(&mut simulation, h, 4.0);
        let exact = [(EventKind::Slip, slips), (EventKind::Stick, holds)];
        println!("{:?}", summary.events);
        for (event, (kind, t)) in summary.events.iter().zip(exact) {
            println!("h = {h}: {kind:?} off by {:.3} h²", (event.t - t) / (h * h));
            assert_eq!(event.kind, kind);
            assert!((event.t - t).abs() <= h * h, "{event:?} not {t}");
        }
        assert!(summary.events.len() >= 2);
    }
}

/// No other force acts: the motor's own is the force scale.
#[test]
fn a_motor_starts_from_rest_without_gravity() {
    for tolerance in [1e-3, 1e-5, 1e-8] {
        let motor = Motor::Velocity { speed: 1.0, force: 3.0 };
        let mut simulation = spatial(carriage(0.0, |_| 0.0, |j| j.motor(motor)));
        let accurate = simulation.run_to_accuracy(1.0, &Accuracy::of(tolerance), &[], |_, _| ()).unwrap();
        let [stick] = &accurate.report.events[..] else { panic!("{:?}", accurate.report.events) };
        assert!(stick.kind == EventKind::Stick && (stick.t - 1.0 / 3.0).abs() < 1e-12, "{stick:?}");
        let position = Vector3::from_column_slice(&simulation.state().q[..3]);
        assert!((position.norm() - 5.0 / 6.0).abs() < 1e-12, "{position}");
    }
}

/// Servo strong enough to follow x' = 3 (0.5 − x).
#[test]
fn a_servo_is_of_second_order() {
    second_order("servo", 4..=8, |h| {
        let motor = Motor::Position { target: 0.5, gain: 3.0, force: 100.0 };
        let mut simulation = spatial(carriage(1.5, |_| 0.0, |j| j.motor(motor)));
        let summary = run(&mut simulation, h, 1.0);
        assert!(summary.events.is_empty(), "{:?}", summary.events);
        let position = nalgebra::Vector3::from_column_slice(&simulation.state().q[..3]);
        (position.norm() - 0.5 * (1.0 - (-3.0f64).exp())).abs()
    });
}

#[test]
fn a_block_takes_the_speed_of_a_belt_and_loses_it() {
    let mu = 0.3;
    let along = Vector3::new(0.6, 0.8, 0.0);
    let belt = |t: f64| 3.0 * (2.0 * t).sin();
    let sticks = root(|t| belt(t) - mu * G * t, 0.5, 1.1);
    let slips = 0.5 * (-mu * G / 6.0).acos();
    for h in [0.02, 0.01, 0.005] {
        let mut world = World::new(-G * Vector3::z());
        let material = Material { friction: mu, restitution: 0.0, ..Material::default() };
        let path = Path::new(move |t| {
            let at = 1.5 * (1.0 - (2.0 * t).cos()) * along;
            (Isometry3::translation(at.x, at.y, at.z), Twist::new(belt(t) * along, Vector3::zeros()))
        });
        let surface = Attached::new(Shape::HalfSpace).material(material);
        world.add_body(Body::kinematic("belt", path).with(surface));
        let shape = Attached::new(Shape::Sphere { radius: 0.1 }).material(material);
        let block = Body::point("block", 1.0).with(shape).at(Isometry3::translation(0.0, 0.0, 0.1));
        let block = world.add_body(block);
        let mut simulation = spatial(world);
        let summary = run(&mut simulation, h, 1.2);
        println!("{:?}", summary.events);
        assert_eq!(summary.events.len(), 2);
        for (event, (kind, t)) in
            summary.events.iter().zip([(EventKind::Stick, sticks), (EventKind::Slip, slips)])
        {
            println!("h = {h}: {kind:?} off by {:.3} h²", (event.t - t) / (h * h));
            assert_eq!(event.kind, kind);
            assert!((event.t - t).abs() <= h * h, "{event:?} not {t}");
        }
        let velocity = simulation.system().velocity(simulation.state(), block).expect("the block").linear;
        let exact = belt(slips) - mu * G * (1.2 - slips);
        println!("h = {h}: {:.3} h² m/s off", (velocity - exact * along).norm() / (h * h));
        assert!((velocity - exact * along).norm() <= h * h);
    }
}
