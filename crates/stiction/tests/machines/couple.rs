//! Couplings of joints against closed forms: gears, rack, planetary train, differential, play.

use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Body, BodyId, Joint, JointId, Mass, Motor, World};
use stiction::{Accuracy, Coupling, Evidence, Scheme, Simulation, StepReport, planar, verify};

/// World without gravity, and its frame.
fn machine() -> (World, BodyId) {
    let mut world = World::new(Vector2::zeros());
    let frame = world.add_body(Body::fixed("frame"));
    (world, frame)
}

/// Wheel with this inertia on a hinge of a body, at x.
fn wheel(world: &mut World, on: BodyId, name: &str, inertia: f64, x: f64) -> (BodyId, JointId) {
    let body =
        Body::rigid(format!("{name} wheel"), Mass::given(1.0, inertia)).at(Isometry2::translation(x, 0.0));
    let body = world.add_body(body);
    let hinge = Joint::revolute(name, world, on, body, Point2::new(x, 0.0));
    (body, world.add_joint(hinge))
}

/// Adds a torque motor to a joint.
fn drive(world: &mut World, joint: JointId, torque: f64) {
    world.joint_mut(joint).unwrap().motor = Some(Motor::Torque { torque, force: f64::INFINITY });
}

/// Schemes of first and second order.
fn schemes() -> [Scheme; 4] {
    [Scheme::default(), Scheme::first_order(), Scheme::accurate(), Scheme::pagt06()]
}

/// Steps of 0.01 s, each verified.
fn verified(simulation: &mut Simulation<planar::Model>, steps: usize) {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    for _ in 0..steps {
        let before = simulation.state().clone();
        simulation.step_into(0.01, &mut report).unwrap();
        let verdict = verify(simulation.system(), &simulation.scheme, &before, simulation.state(), &report);
        assert!(verdict.holds(), "{verdict:?}");
    }
}

#[test]
fn gears_turn_by_their_ratio_and_share_the_torque_by_it() {
    let build = || {
        let (mut world, frame) = machine();
        let (_, first) = wheel(&mut world, frame, "pinion", 0.1, 0.0);
        let (_, second) = wheel(&mut world, frame, "gear", 0.8, 1.0);
        drive(&mut world, first, 2.0);
        world.add_coupling(Coupling::new("mesh", [(first, 1.0), (second, 3.0)]));
        Simulation::new(world.build().unwrap())
    };
    // at the pinion the gear weighs a ninth
    let alpha = 2.0 / (0.1 + 0.8 / 9.0);
    for scheme in schemes() {
        let mut simulation = build().with_scheme(scheme);
        verified(&mut simulation, 10);
        let v = &simulation.state().v;
        assert!((v[2] - 0.1 * alpha).abs() < 1e-12 && (v[5] + 0.1 * alpha / 3.0).abs() < 1e-12, "{v:?}");
        // of the motor's torque, what the gear takes is a third of what the gear gets
        let (taken, given) = (2.0 - 0.1 * v[2] / 0.1, -0.8 * v[5] / 0.1);
        assert!((given / taken - 3.0).abs() < 1e-11, "{given} N m for {taken} N m");
    }
    let mut simulation = build().with_scheme(Scheme::accurate());
    let mut report = StepReport::default();
    simulation.run_to_accuracy_into(1.0, &Accuracy::of(1e-10), &mut report).unwrap();
    let q = &simulation.state().q;
    assert!((q[2] - 0.5 * alpha).abs() < 1e-9 && (q[2] + 3.0 * q[5]).abs() < 1e-11, "{q:?}");
}

#[test]
fn a_rack_moves_by_the_radius_of_its_pinion() {
    for scheme in schemes() {
        let (mut world, frame) = machine();
        let (_, pinion) = wheel(&mut world, frame, "pinion", 0.1, 0.0);
        let bar =
            world.add_body(Body::rigid("bar", Mass::given(3.0, 1.0)).at(Isometry2::translation(0.0, -0.2)));
        let rack = Joint::prismatic("rack", &world, frame, bar, Point2::new(0.0, -0.2), Vector2::x());
        let rack = world.add_joint(rack);
        drive(&mut world, pinion, 1.0);
        world.add_coupling(Coupling::new("teeth", [(rack, 1.0), (pinion, -0.2)]));
        let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(scheme);
        verified(&mut simulation, 20);
        let (speed, turn) = (simulation.state().v[3], simulation.state().v[2]);
        assert!((turn - 0.2 / (0.1 + 3.0 * 0.04)).abs() < 1e-11, "{turn} rad/s");
        assert!((speed - 0.2 * turn).abs() < 1e-12, "{speed} m/s");
    }
}

/// Planetary train with a fixed ring: by Willis, the sun turns 1 + z_r/z_s times as fast as the carrier. The meshes of the
/// planet couple three bodies that move.
#[test]
fn a_planetary_train_turns_as_willis_says() {
    let (sun_teeth, planet_teeth, ring_teeth) = (20.0, 15.0, 50.0);
    for scheme in schemes() {
        let (mut world, frame) = machine();
        let (_, sun) = wheel(&mut world, frame, "sun", 0.1, 0.0);
        let (arm, carrier) = wheel(&mut world, frame, "carrier", 0.3, 0.0);
        let (_, planet) = wheel(&mut world, arm, "planet", 0.02, 0.35);
        drive(&mut world, sun, 1.0);
        let inner = [(sun, sun_teeth), (carrier, -sun_teeth), (planet, planet_teeth)];
        world.add_coupling(Coupling::new("inner mesh", inner));
        world.add_coupling(Coupling::new("outer mesh", [(carrier, ring_teeth), (planet, planet_teeth)]));
        let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(scheme);
        verified(&mut simulation, 10);
        let v = &simulation.state().v;
        let ratio = v[2] / v[5];
        assert!((ratio - (1.0 + ring_teeth / sun_teeth)).abs() < 1e-10, "{ratio}");
        // the planet turns against the ring
        let own = (v[8] - v[5]) / v[5];
        assert!((own + ring_teeth / planet_teeth).abs() < 1e-10, "{own}");
        assert!(v[2] > 0.5, "{v:?}");
    }
}

#[test]
fn a_differential_shares_the_turn_of_its_cage() {
    let (mut world, frame) = machine();
    let (_, cage) = wheel(&mut world, frame, "cage", 0.2, 0.0);
    let (_, left) = wheel(&mut world, frame, "left", 0.1, 1.0);
    let (_, right) = wheel(&mut world, frame, "right", 0.4, 2.0);
    drive(&mut world, cage, 2.0);
    world.add_coupling(Coupling::new("differential", [(left, 1.0), (right, 1.0), (cage, -2.0)]));
    let mut simulation = Simulation::new(world.build().unwrap());
    verified(&mut simulation, 10);
    let v = &simulation.state().v;
    assert!((v[5] + v[8] - 2.0 * v[2]).abs() < 1e-11, "{v:?}");
    // both sides get the same torque
    assert!((0.1 * v[5] - 0.4 * v[8]).abs() < 1e-11 && v[8] > 0.1, "{v:?}");
}

/// Gears with play: the driven one rests until the play is used up, at t² = 2 b I / τ, and then both go on together.
#[test]
fn play_is_used_up_before_the_gear_turns() {
    let (mut world, frame) = machine();
    let (_, first) = wheel(&mut world, frame, "pinion", 0.1, 0.0);
    let (_, second) = wheel(&mut world, frame, "gear", 0.8, 1.0);
    drive(&mut world, first, 2.0);
    world.add_coupling(Coupling::new("mesh", [(first, 1.0), (second, 3.0)]).backlash(0.4));
    let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(Scheme::accurate());
    let mut report = StepReport::default();
    let made = simulation.run_to_accuracy_into(0.3, &Accuracy::of(1e-10), &mut report).unwrap();
    let alpha: f64 = 2.0 / 0.1;
    let meeting = (2.0 * 0.2 / alpha).sqrt();
    let event = made.events[0];
    assert!((event.t - meeting).abs() < 1e-9, "{event:?}, not {meeting} s");
    // they meet without rebound: the momentum at the pinion is shared, then the torque turns both
    let (own, both) = (0.1, 0.1 + 0.8 / 9.0);
    let speed = own * alpha * meeting / both + 2.0 / both * (0.3 - meeting);
    let v = &simulation.state().v;
    assert!((v[2] - speed).abs() < 1e-8 && (v[2] + 3.0 * v[5]).abs() < 1e-9, "{v:?}, not {speed}");
}

#[test]
fn mistakes_of_couplings_are_named() {
    let (mut world, frame) = machine();
    let (body, first) = wheel(&mut world, frame, "pinion", 0.1, 0.0);
    let weld = Joint::fixed("weld", &world, frame, body, Point2::origin());
    let weld = world.add_joint(weld);
    world.add_coupling(Coupling::new("mesh", [(first, 0.0), (weld, 1.0), (first, 1.0), (JointId(77), 1.0)]));
    let text = world.build().unwrap_err().to_string();
    for part in [
        "coupling mesh: the factor 0 must be finite and not 0",
        "coupling mesh: joint weld is fixed: it has no coordinate",
        "coupling mesh: joint pinion is in it twice",
        "coupling mesh: there is no joint 77",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
