//! Joints of space with several coordinates, turns beyond π, screws, and couplings that move or yield, against closed forms.

use nalgebra::{Isometry3, Matrix3, Point2, Point3, Vector2, Vector3};
use stiction::spatial::{Body, BodyId, Joint, JointId, Mass, Motor, World};
use stiction::{
    Accuracy, Coupling, Evidence, JointAxis, JointSpring, Scheme, Simulation, StepReport, planar, spatial,
    verify, verify_accuracy_run,
};

const FREE: f64 = f64::INFINITY;

fn schemes() -> [Scheme; 3] {
    [Scheme::ah04(), Scheme::accurate(), Scheme::pagt06()]
}

fn torque(torque: f64) -> Motor {
    Motor::Torque { torque, force: FREE }
}

/// World without gravity, and its frame.
fn machine() -> (World, BodyId) {
    let mut world = World::new(Vector3::zeros());
    let frame = world.add_body(Body::fixed("frame"));
    (world, frame)
}

/// Body of 2 kg with these moments of inertia about its axes, at x.
fn body(world: &mut World, name: &str, moments: [f64; 3], x: f64) -> BodyId {
    let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
    let mass = Mass::Given { mass: 2.0, centre: Point3::origin(), inertia };
    world.add_body(Body::rigid(name, mass).at(Isometry3::translation(x, 0.0, 0.0)))
}

/// Steps of 0.01 s, each verified.
fn verified(simulation: &mut Simulation<spatial::Model>, steps: usize) {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    for _ in 0..steps {
        let before = simulation.state().clone();
        simulation.step_into(0.01, &mut report).unwrap();
        let verdict = verify(simulation.system(), &simulation.scheme, &before, simulation.state(), &report);
        assert!(verdict.holds(), "{verdict:?}");
    }
}

/// Two gears of space on skew hinges: their angles count turns, so that the mesh holds beyond half a turn.
#[test]
fn gears_in_space_turn_many_times() {
    let build = |scheme| {
        let (mut world, frame) = machine();
        let first = body(&mut world, "first", [0.3, 0.2, 0.1], 0.0);
        let second = body(&mut world, "second", [0.8, 0.5, 0.4], 1.0);
        let first = Joint::revolute("pinion", &world, frame, first, Point3::origin(), Vector3::z());
        let second = Joint::revolute("gear", &world, frame, second, Point3::new(1.0, 0.0, 0.0), Vector3::x());
        let first = world.add_joint(first.motor(torque(40.0)));
        let second = world.add_joint(second);
        world.add_coupling(Coupling::new("mesh", [(first, 1.0), (second, 3.0)]));
        (Simulation::new(world.build().unwrap()).with_scheme(scheme), [first, second])
    };
    let alpha = 40.0 / (0.1 + 0.8 / 9.0);
    let angles = |simulation: &Simulation<spatial::Model>, joints: [JointId; 2]| {
        joints.map(|joint| simulation.system().joint_coordinate(simulation.state(), joint).unwrap())
    };
    for scheme in schemes() {
        let (mut simulation, joints) = build(scheme);
        verified(&mut simulation, 60);
        let speeds = joints.map(|joint| simulation.system().joint_speed(simulation.state(), joint).unwrap());
        assert!((speeds[0] / (0.6 * alpha) - 1.0).abs() < 1e-9, "{speeds:?}");
        assert!((speeds[0] + 3.0 * speeds[1]).abs() < 1e-8, "{speeds:?}");
        let [first, second] = angles(&simulation, joints);
        assert!(
            first > 5.0 * std::f64::consts::TAU && (first + 3.0 * second).abs() < 1e-6,
            "{first} {second}"
        );
    }
    // and in a run to an accuracy, verified as one record with many turns
    let (mut simulation, joints) = build(Scheme::accurate());
    let before = simulation.state().clone();
    let accuracy = Accuracy::of(1e-9);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let made = simulation.run_to_accuracy_into(0.6, &accuracy, &mut report).unwrap();
    let [first, second] = angles(&simulation, joints);
    assert!((first - 0.18 * alpha).abs() < 1e-7 && (first + 3.0 * second).abs() < 1e-9, "{first} {second}");
    let verdict = verify_accuracy_run(
        simulation.system(),
        &simulation.scheme,
        &accuracy,
        &before,
        simulation.state(),
        &report,
        &made,
    );
    assert!(verdict.holds(), "{verdict:?}");
}

/// Nut that a motor turns on a thread: (I + m (p/2π)²) α = τ, and it advances by the pitch per turn.
#[test]
fn a_screw_advances_by_its_pitch_per_turn() {
    let pitch = 0.05;
    let lead = pitch / std::f64::consts::TAU;
    for scheme in schemes() {
        let (mut world, frame) = machine();
        let nut = body(&mut world, "nut", [0.01, 0.02, 0.03], 0.0);
        let axis = Vector3::new(1.0, 2.0, 2.0) / 3.0;
        let thread = Joint::screw("thread", &world, [frame, nut], Point3::origin(), axis, pitch);
        let thread = world.add_joint(thread.motor(torque(0.3)));
        let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(scheme);
        verified(&mut simulation, 120);
        let model = simulation.system();
        let [turned, travelled] =
            [0, 1].map(|axis| model.joint_coordinate(simulation.state(), thread.axis(axis)).unwrap());
        assert!(turned > std::f64::consts::TAU && (travelled - lead * turned).abs() < 1e-9, "{turned} rad");
        let inertia = (0.01 + 4.0 * 0.02 + 4.0 * 0.03) / 9.0;
        let speed = model.joint_speed(simulation.state(), thread).unwrap();
        let expected = 1.2 * 0.3 / (inertia + 2.0 * lead * lead);
        // the axis is no principal one: the thread also carries gyroscopic moments
        assert!((speed / expected - 1.0).abs() < 1e-6, "{speed} rad/s, not {expected}");
    }
}

/// Ball in a socket that falls to the edge of its cone and stays there.
#[test]
fn a_cone_limits_the_bend_of_a_ball_joint() {
    for scheme in [Scheme::ah04(), Scheme::accurate()] {
        let (mut world, frame) = machine();
        world.gravity = Vector3::new(4.0, 3.0, -1.0);
        let arm = body(&mut world, "arm", [0.1; 3], 0.0);
        world.body_mut(arm).unwrap().pose = Isometry3::translation(0.0, 0.0, -0.5);
        let socket = Joint::spherical("socket", &world, frame, arm, Point3::origin());
        let spring = Some(JointSpring { stiffness: 0.0, damping: 0.5, rest: 0.0 });
        let twist = JointAxis { spring, ..JointAxis::default() };
        let socket = world.add_joint(socket.limits(0.0, 0.4).axis(1, twist));
        let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(scheme);
        (0..300).for_each(|_| drop(simulation.step(0.01).unwrap()));
        let bend = simulation.system().joint_coordinate(simulation.state(), socket).unwrap();
        assert!((bend - 0.4).abs() < 1e-6, "{scheme:?}: {bend} rad");
    }
}

/// Cross whose second axis has a spring, and a planar joint whose three coordinates have one each: oscillators.
#[test]
fn every_coordinate_has_its_own_spring() {
    let spring = |stiffness: f64| {
        let spring = Some(JointSpring { stiffness, damping: 0.0, rest: 0.1 });
        JointAxis { spring, ..JointAxis::default() }
    };
    let (mut world, frame) = machine();
    let yoke = body(&mut world, "yoke", [0.2, 0.3, 0.4], 0.0);
    let cross =
        Joint::universal("cross", &world, (frame, Vector3::z()), (yoke, Vector3::x()), Point3::origin());
    let cross = world.add_joint(cross.friction(10.0).axis(1, spring(5.0)));
    let slab = body(&mut world, "slab", [0.2, 0.3, 0.4], 2.0);
    let table = Joint::planar("table", &world, frame, slab, Point3::new(2.0, 0.0, 0.0), Vector3::z());
    let table = (0..3).fold(table, |table, k| table.axis(k, spring([3.0, 7.0, 2.0][k])));
    let table = world.add_joint(table);
    let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(Scheme::accurate());
    let mut report = StepReport::default();
    simulation.run_to_accuracy_into(1.3, &Accuracy::of(1e-10), &mut report).unwrap();
    let model = simulation.system();
    // moments of inertia and masses of the coordinates: about x, along two directions, about z
    let cases = [
        (cross.axis(1), 5.0, 0.2),
        (table.axis(0), 3.0, 2.0),
        (table.axis(1), 7.0, 2.0),
        (table.axis(2), 2.0, 0.4),
    ];
    for (id, stiffness, inertia) in cases {
        let expected = 0.1 * (1.0 - (1.3 * f64::sqrt(stiffness / inertia)).cos());
        let value = model.joint_coordinate(simulation.state(), id).unwrap();
        assert!((value - expected).abs() < 1e-8, "{id:?}: {value}, not {expected}");
    }
    let held = model.joint_coordinate(simulation.state(), cross).unwrap();
    assert!(held.abs() < 1e-9, "{held}");
    // loads along the coordinates
    let report = simulation.clone().with_scheme(Scheme::default()).step(1e-3).unwrap();
    let loads = model.joint_loads(simulation.state(), &report);
    assert_eq!(loads[1].further.iter().map(|(axis, _)| *axis).collect::<Vec<_>>(), [1, 2]);
}

/// Wheel in the plane on a hinge.
fn wheel(world: &mut planar::World, frame: BodyId, name: &str, inertia: f64) -> JointId {
    let body =
        world.add_body(planar::Body::rigid(format!("{name} wheel"), planar::Mass::given(1.0, inertia)));
    let hinge = planar::Joint::revolute(name, world, frame, body, Point2::origin());
    world.add_joint(hinge)
}

fn plane() -> (planar::World, BodyId) {
    let mut world = planar::World::new(Vector2::zeros());
    let frame = world.add_body(planar::Body::fixed("frame"));
    (world, frame)
}

/// Coupling whose sum is a function of time: a cam that leads its follower.
#[test]
fn a_coupling_follows_its_path() {
    for scheme in schemes() {
        let (mut world, frame) = plane();
        let [first, second] =
            [("cam", 0.1), ("follower", 0.3)].map(|(name, i)| wheel(&mut world, frame, name, i));
        let path = |t: f64| [0.2 - 0.2 * (3.0 * t).cos(), 0.6 * (3.0 * t).sin()];
        world.add_coupling(Coupling::new("profile", [(second, 1.0), (first, -1.0)]).path(path));
        let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(scheme);
        (0..1000).for_each(|_| drop(simulation.step(0.001).unwrap()));
        let q = &simulation.state().q;
        let error = q[5] - q[2] - path(1.0)[0];
        assert!(error.abs() < 1e-4, "{scheme:?}: {error:e}");
        // without other torques the momentum stays that of the start
        let momentum = 0.1 * simulation.state().v[2] + 0.3 * simulation.state().v[5];
        assert!(momentum.abs() < 1e-10, "{momentum:e}");
    }
}

/// Elastic shaft: two wheels that turn against each other with ω² = (1/I₁ + 1/I₂)/C.
#[test]
fn a_compliant_coupling_is_a_spring() {
    let compliance = 0.02;
    let (mut world, frame) = plane();
    let [first, second] = [("near", 0.1), ("far", 0.3)].map(|(name, i)| wheel(&mut world, frame, name, i));
    world.add_coupling(
        Coupling::new("shaft", [(first, 1.0), (second, -1.0)]).compliance(compliance).offset(0.3),
    );
    let w = f64::sqrt((1.0 / 0.1 + 1.0 / 0.3) / compliance);
    let exact = |t: f64| 0.3 * (1.0 - (w * t).cos());
    let apart = |simulation: &Simulation<planar::Model>| simulation.state().q[2] - simulation.state().q[5];
    let start = Simulation::new(world.build().unwrap());
    let mut accurate = start.clone().with_scheme(Scheme::accurate());
    accurate.run_to_accuracy_into(0.5, &Accuracy::of(1e-10), &mut StepReport::default()).unwrap();
    assert!((apart(&accurate) - exact(0.5)).abs() < 1e-8, "{:e}", apart(&accurate) - exact(0.5));
    // phase error of the trapezoidal method: (w h)² w t / 12 = 1e-3
    let mut simulation = start.with_scheme(Scheme::accurate());
    (0..500).for_each(|_| drop(simulation.step(0.001).unwrap()));
    assert!((apart(&simulation) - exact(0.5)).abs() < 5e-4, "{:e}", apart(&simulation) - exact(0.5));
}

#[test]
fn couplings_that_contradict_limits_or_others_are_named() {
    let (mut world, frame) = plane();
    let names = ["sun", "arm", "ring"];
    let [sun, arm, ring] = names.map(|name| wheel(&mut world, frame, name, 0.1));
    world.add_coupling(Coupling::new("first", [(sun, 1.0), (arm, 2.0)]));
    world.add_coupling(Coupling::new("second", [(arm, 1.0), (ring, -1.0)]).offset(0.5));
    let mut implied = world.clone();
    implied.add_coupling(Coupling::new("third", [(sun, 3.0), (ring, 6.0)]).offset(-3.0));
    assert_eq!(implied.check(), Ok(()));
    let redundant = implied.redundant_couplings();
    assert_eq!(redundant.len(), 1);
    let (name, what) = &redundant[0];
    assert_eq!(name, "third");
    let expected =
        "redundant: couplings first, second imply it (joints sun, ring; bodies sun wheel, ring wheel)";
    assert_eq!(what, expected);
    let mut wrong = world.clone();
    wrong.add_coupling(Coupling::new("third", [(sun, 3.0), (ring, 6.0)]));
    let text = wrong.check().unwrap_err().to_string();
    assert!(text.contains("coupling third: infeasible: couplings first, second set the same sum"), "{text}");
    assert!(text.contains("bodies sun wheel, ring wheel"), "{text}");
    world.joint_mut(sun).unwrap().limits = Some([0.0, 1.0]);
    world.joint_mut(arm).unwrap().limits = Some([0.1, 0.2]);
    let text = world.check().unwrap_err().to_string();
    assert!(
        text.contains("coupling first: infeasible: the limits of its joints allow sums from 0.2 to 1.4"),
        "{text}"
    );
}
