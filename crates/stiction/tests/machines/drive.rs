//! Motors, servos and springs of joints against closed forms; inputs as part of the state.

use nalgebra::{Isometry2, Isometry3, Point2, Point3, Vector2, Vector3};
use stiction::planar::{Body, Joint, JointId, Mass, Motor, World};
use stiction::{
    Accuracy, Evidence, InputError, JointSpring, Scheme, Simulation, State, StepReport, planar, spatial,
    verify, verify_accuracy_run,
};

/// Inertia of the arm about its hinge [kg m²].
const INERTIA: f64 = 0.4;

/// Arm whose centre of mass is on its hinge, with this joint.
fn arm(change: impl FnOnce(Joint) -> Joint) -> (Simulation<planar::Model>, JointId) {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let frame = world.add_body(Body::fixed("frame"));
    let arm = world.add_body(Body::rigid("arm", Mass::given(2.0, INERTIA)));
    let elbow = change(Joint::revolute("elbow", &world, frame, arm, Point2::origin()));
    let elbow = world.add_joint(elbow);
    (Simulation::new(world.build().unwrap()), elbow)
}

fn servo(stiffness: f64, damping: f64, force: f64) -> Motor {
    Motor::Servo { target: 0.0, speed: 0.0, torque: 0.0, stiffness, damping, force }
}

/// Angle and angular velocity.
fn motion(simulation: &Simulation<planar::Model>) -> [f64; 2] {
    [simulation.state().q[2], simulation.state().v[2]]
}

/// Underdamped oscillator θ̈ + 2 c θ̇ + w² θ = 0 from θ(0) = a at rest: θ and θ̇ at t.
fn oscillator(a: f64, w2: f64, c: f64, t: f64) -> [f64; 2] {
    let w = (w2 - c * c).sqrt();
    let (sin, cos) = (w * t).sin_cos();
    [a * (-c * t).exp() * (cos + c / w * sin), -a * (-c * t).exp() * w2 / w * sin]
}

#[test]
fn a_torque_motor_turns_its_arm_as_newton_says_up_to_its_limit() {
    let (mut simulation, elbow) = arm(|j| j.motor(Motor::Torque { torque: 0.0, force: 5.0 }));
    simulation.set("elbow", 3.0).unwrap();
    let mut expected = 0.0;
    for torque in [3.0, 3.0, -1.5, 80.0, 80.0] {
        simulation.set("elbow", torque).unwrap();
        let report = simulation.step(0.01).unwrap();
        expected += 0.01 * torque.min(5.0) / INERTIA;
        assert!((motion(&simulation)[1] - expected).abs() < 1e-12, "{} rad/s", motion(&simulation)[1]);
        let loads = simulation.system().joint_loads(simulation.state(), &report);
        assert_eq!((loads[0].motor, loads[0].moment[2]), (torque.min(5.0), torque.min(5.0)));
        assert_eq!(loads[0].joint, elbow);
    }
}

#[test]
fn a_servo_is_the_damped_oscillator() {
    let (k, d) = (50.0, 1.2);
    let (simulation, _) = arm(|j| j.motor(servo(k, d, f64::INFINITY)));
    let start = {
        let mut simulation = simulation.clone();
        simulation.set("elbow", 0.7).unwrap();
        simulation
    };
    let exact = |t: f64| {
        let [angle, speed] = oscillator(-0.7, k / INERTIA, 0.5 * d / INERTIA, t);
        [angle + 0.7, speed]
    };
    let error = |simulation: &Simulation<planar::Model>| {
        let (got, expected) = (motion(simulation), exact(1.0));
        (got[0] - expected[0]).abs().max((got[1] - expected[1]).abs() / 10.0)
    };
    let mut accurate = start.clone().with_scheme(Scheme::accurate());
    let mut report = StepReport::default();
    accurate.run_to_accuracy_into(1.0, &Accuracy::of(1e-11), &mut report).unwrap();
    assert!(error(&accurate) < 1e-9, "{:e}", error(&accurate));
    // the orders of the schemes of fixed steps
    for (scheme, order) in [(Scheme::first_order(), 1.0), (Scheme::default(), 2.0), (Scheme::accurate(), 2.0)]
    {
        let errors = [200, 400].map(|n: u32| {
            let mut simulation = start.clone().with_scheme(scheme);
            (0..n).for_each(|_| drop(simulation.step(1.0 / f64::from(n)).unwrap()));
            error(&simulation)
        });
        let slope = (errors[0] / errors[1]).log2();
        assert!((slope - order).abs() < 0.2, "{scheme:?}: {errors:?}");
    }
}

/// A stiffness of 1e9 N m/rad with steps of 0.01 s, under a load: the servo follows a moving target without ringing.
#[test]
fn a_stiff_servo_stays_on_its_target() {
    // the default reaches a target that jumps from rest to a speed in its second step, a scheme of first order in its first
    for (scheme, reached) in [(Scheme::first_order(), 1), (Scheme::default(), 3)] {
        let (mut simulation, elbow) = arm(|j| j.motor(servo(1e9, 0.0, f64::INFINITY)));
        simulation
            .edit(|world| world.joint_mut(elbow).unwrap().frame_b = Isometry2::translation(-0.3, 0.0))
            .unwrap();
        simulation.edit(|world| world.project().unwrap()).unwrap();
        simulation.scheme = scheme;
        simulation.set("elbow.speed", 0.5).unwrap();
        for k in 1..=300 {
            let t = 0.01 * f64::from(k - 1);
            simulation.set("elbow", 0.5 * t).unwrap();
            simulation.step(0.01).unwrap();
            let angle = simulation.system().joint_coordinate(simulation.state(), elbow).unwrap();
            let speed = simulation.system().joint_speed(simulation.state(), elbow).unwrap();
            println!("step {k}: {:e} rad, {:e} rad/s off", angle - 0.5 * (t + 0.01), speed - 0.5);
            // 29 N m accelerate it in the first step, then 6 N m carry it: 6e-9 rad
            assert!(k < reached || (angle - 0.5 * (t + 0.01)).abs() < 1e-7, "step {k}: {angle} rad");
            assert!(k < 3 || (speed - 0.5).abs() < 1e-5, "step {k}: {speed} rad/s");
        }
    }
}

#[test]
fn a_servo_at_its_limit_exerts_exactly_that() {
    for (scheme, at_end) in [(Scheme::first_order(), true), (Scheme::default(), false)] {
        let (mut simulation, _) = arm(|j| j.motor(servo(400.0, 30.0, 6.0)));
        simulation.scheme = scheme;
        simulation.set("elbow", 1.0).unwrap();
        let (mut report, mut limited) = (StepReport::default(), 0);
        for _ in 0..200 {
            let state = simulation.state().clone();
            let before = motion(&simulation);
            report.evidence = Some(Evidence::default());
            simulation.step_into(0.01, &mut report).unwrap();
            let after = motion(&simulation);
            let torque = INERTIA * (after[1] - before[1]) / 0.01;
            // the servo at the end of the step, and the mean of both ends with the middle of the step
            let force = |angle: f64, speed: f64| 400.0 * (1.0 - angle) - 30.0 * speed;
            let mean = 0.5 * (before[1] + after[1]);
            let end = force(after[0], after[1]).clamp(-6.0, 6.0);
            let own = if at_end { force(after[0], after[1]) } else { force(before[0] + 0.005 * mean, mean) };
            assert!((torque - own.clamp(-6.0, 6.0)).abs() < 1e-9, "{torque} N m, not {own} N m");
            limited += usize::from(own.abs() > 6.0);
            let loads = simulation.system().joint_loads(simulation.state(), &report);
            assert!((loads[0].motor - end).abs() < 1e-9, "{loads:?}");
            let ledger = report.ledger.unwrap();
            assert!(
                (ledger.motors - ledger.change).abs() < 1e-12 && ledger.scheme.abs() < 1e-12,
                "{ledger:?}"
            );
            let verdict =
                verify(simulation.system(), &simulation.scheme, &state, simulation.state(), &report);
            assert!(verdict.holds(), "{verdict:?}");
        }
        assert!(limited > 10, "{limited} steps at the limit");
        assert!((motion(&simulation)[0] - 1.0).abs() < 1e-3, "{:?}", motion(&simulation));
    }
    // a run to an accuracy passes the limit too: against the bang at full torque
    let mut report = StepReport::default();
    let (mut simulation, _) = arm(|j| j.motor(servo(400.0, 0.0, 6.0)));
    simulation.set("elbow", 1.0).unwrap();
    simulation.scheme = Scheme::accurate();
    simulation.run_to_accuracy_into(0.3, &Accuracy::of(1e-10), &mut report).unwrap();
    assert!((motion(&simulation)[1] - 6.0 / INERTIA * 0.3).abs() < 1e-9, "{:?}", motion(&simulation));
}

/// Two links under gravity, both joints driven: each servo hangs below its target by its load over its stiffness.
#[test]
fn servos_of_an_arm_carry_its_weight() {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let frame = world.add_body(Body::fixed("frame"));
    let link =
        |name: &str, x: f64| Body::rigid(name, Mass::given(1.5, 0.02)).at(Isometry2::translation(x, 0.0));
    let (upper, lower) = (world.add_body(link("upper", 0.2)), world.add_body(link("lower", 0.6)));
    let shoulder = Joint::revolute("shoulder", &world, frame, upper, Point2::origin());
    world.add_joint(shoulder.motor(servo(800.0, 40.0, 100.0)));
    let elbow = Joint::revolute("elbow", &world, upper, lower, Point2::new(0.4, 0.0));
    world.add_joint(elbow.motor(servo(500.0, 20.0, 100.0)));
    let mut simulation = Simulation::new(world.build().unwrap());
    let report = (0..2000).map(|_| simulation.step(0.01).unwrap()).last().unwrap();
    let (model, state) = (simulation.system(), simulation.state());
    assert_eq!(model.input_names()[3..], ["elbow", "elbow.speed", "elbow.torque"]);
    let loads = model.joint_loads(state, &report);
    let (a, b) = (state.q[2], state.q[5]);
    let weight = 1.5 * 9.81;
    let of_elbow = weight * 0.2 * b.cos();
    let of_shoulder = weight * 0.2 * a.cos() + weight * (0.4 * a.cos() + 0.2 * b.cos());
    assert!((loads[0].motor - of_shoulder).abs() < 1e-6, "{} N m, not {of_shoulder}", loads[0].motor);
    assert!((loads[1].motor - of_elbow).abs() < 1e-6, "{} N m, not {of_elbow}", loads[1].motor);
    assert!((a + of_shoulder / 800.0).abs() < 1e-8 && (b - a + of_elbow / 500.0).abs() < 1e-8, "{a} {b}");
    // a torque ahead of the load lifts the arm to its targets
    simulation.set("shoulder.torque", weight * 0.2 + weight * 0.6).unwrap();
    simulation.set("elbow.torque", weight * 0.2).unwrap();
    (0..2000).for_each(|_| drop(simulation.step(0.01).unwrap()));
    assert!(simulation.state().q[2].abs() < 1e-8 && simulation.state().q[5].abs() < 1e-8);
}

#[test]
fn a_spring_of_a_joint_keeps_its_energy() {
    let spring = JointSpring { stiffness: 50.0, damping: 0.0, rest: 0.7 };
    let (mut simulation, _) = arm(|j| j.spring(spring));
    simulation.scheme = Scheme::accurate();
    let mut report = StepReport::default();
    simulation.run_to_accuracy_into(1.0, &Accuracy::of(1e-11), &mut report).unwrap();
    let [angle, speed] = oscillator(-0.7, 50.0 / INERTIA, 0.0, 1.0);
    let got = motion(&simulation);
    assert!((got[0] - 0.7 - angle).abs() < 1e-9 && (got[1] - speed).abs() < 1e-8, "{got:?}");
    assert!((report.kinetic + report.potential - 0.5 * 50.0 * 0.49).abs() < 1e-9);
    let loads = simulation.system().joint_loads(simulation.state(), &report);
    assert!((loads[0].spring + 50.0 * angle).abs() < 1e-6 && loads[0].motor == 0.0, "{loads:?}");
}

#[test]
fn commands_are_functions_of_time() {
    // θ̇ = (1 − cos 3t) · 2 / (3 I)
    let motor = Motor::Torque { torque: 0.0, force: f64::INFINITY };
    let path = |t: f64| [2.0 * (3.0 * t).sin(), 6.0 * (3.0 * t).cos()];
    let (mut simulation, _) = arm(|j| j.motor(motor).command(path));
    assert!(simulation.system().input_names().is_empty());
    simulation.scheme = Scheme::accurate();
    let mut report = StepReport::default();
    simulation.run_to_accuracy_into(1.0, &Accuracy::of(1e-11), &mut report).unwrap();
    let expected = 2.0 / (3.0 * INERTIA) * (1.0 - 3.0_f64.cos());
    assert!((motion(&simulation)[1] - expected).abs() < 1e-9, "{:?}", motion(&simulation));
    // a velocity motor by its input
    let (mut simulation, _) = arm(|j| j.motor(Motor::Velocity { speed: 0.0, force: 1e3 }).input("drive"));
    simulation.set("drive", -2.0).unwrap();
    simulation.step(0.01).unwrap();
    assert!((motion(&simulation)[1] + 2.0).abs() < 1e-9);
}

#[test]
fn inputs_belong_to_the_state() {
    let (mut simulation, _) = arm(|j| j.motor(Motor::Torque { torque: 0.5, force: 10.0 }));
    let snapshot = simulation.state().clone();
    let mut copy = simulation.clone();
    simulation.set("elbow", 3.0).unwrap();
    for simulation in [&mut simulation, &mut copy] {
        simulation.step(0.1).unwrap();
    }
    assert!((motion(&copy)[1] - 0.05 / INERTIA).abs() < 1e-12, "a copy obeys its own controller");
    assert!((motion(&simulation)[1] - 0.3 / INERTIA).abs() < 1e-12);
    // an edit keeps the value, and a snapshot brings its own back
    simulation.edit(|world| world.add_body(Body::rigid("other", Mass::given(1.0, 1.0)))).unwrap();
    let input = simulation.system().find_input("elbow").unwrap();
    assert_eq!(simulation.system().input(simulation.state(), input), Some(3.0));
    copy.set("elbow", 7.0).unwrap();
    copy.restore(snapshot);
    assert_eq!(copy.system().input(copy.state(), input), Some(0.5));
    // refused values change nothing
    let before = copy.state().clone();
    let error = copy.set("elbow", f64::NAN).unwrap_err();
    assert_eq!(error.to_string(), "input `elbow` was set to NaN; it must be finite");
    let error = copy.set("elbo", 1.0).unwrap_err();
    assert_eq!(error, InputError::Unknown { name: "elbo".into(), nearest: Some("elbow".into()) });
    assert_eq!(*copy.state(), before);
}

/// An input that was set between two steps is verified with the value in the record, and another value is found.
#[test]
fn recorded_inputs_are_verified() {
    for scheme in [Scheme::default(), Scheme::first_order(), Scheme::accurate(), Scheme::pagt06()] {
        let (mut simulation, _) = arm(|j| j.motor(Motor::Torque { torque: 0.0, force: 10.0 }));
        simulation.scheme = scheme;
        let before = simulation.state().clone();
        simulation.set("elbow", 3.0).unwrap();
        let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
        simulation.step_into(0.01, &mut report).unwrap();
        let judge = |after: &State| verify(simulation.system(), &simulation.scheme, &before, after, &report);
        let mut after = simulation.state().clone();
        assert!(judge(&after).holds(), "{:?}", judge(&after));
        after.q[3] = 3.1;
        assert!(!judge(&after).holds());
    }
}

/// A servo in space is that of the plane, also between two bodies that both move.
#[test]
fn servos_of_space_are_those_of_the_plane() {
    let run = |scheme: Scheme| {
        let mut plane = World::new(Vector2::new(0.0, -9.81));
        let mut space = spatial::World::new(Vector3::new(0.0, -9.81, 0.0));
        let (mut a, mut b) =
            (plane.add_body(Body::fixed("frame")), space.add_body(spatial::Body::fixed("frame")));
        for k in 0..3 {
            let (x, name) = (0.2 + 0.4 * f64::from(k), format!("joint {k}"));
            let link =
                Body::rigid(format!("link {k}"), Mass::given(1.0, 0.02)).at(Isometry2::translation(x, 0.0));
            let link = plane.add_body(link);
            let motor = Motor::Servo {
                target: 0.3,
                speed: 0.0,
                torque: 1.0,
                stiffness: 60.0,
                damping: 3.0,
                force: 9.0,
            };
            let joint = Joint::revolute(name.clone(), &plane, a, link, Point2::new(x - 0.2, 0.0));
            plane.add_joint(joint.motor(motor));
            let beam = spatial::Body::rigid(format!("link {k}"), spatial::Mass::given(1.0, [0.02; 3]));
            let beam = space.add_body(beam.at(Isometry3::translation(x, 0.0, 0.0)));
            let point = Point3::new(x - 0.2, 0.0, 0.0);
            let joint = spatial::Joint::revolute(name, &space, b, beam, point, Vector3::z());
            space.add_joint(joint.motor(motor));
            (a, b) = (link, beam);
        }
        let mut plane = Simulation::new(plane.build().unwrap()).with_scheme(scheme);
        let mut space = Simulation::new(space.build().unwrap()).with_scheme(scheme);
        for _ in 0..100 {
            plane.step(0.005).unwrap();
            space.step(0.005).unwrap();
        }
        let angle = |k: usize| {
            let own = |n| planar::JointId(n);
            let n = u32::try_from(k).unwrap();
            let of_plane = plane.system().joint_coordinate(plane.state(), own(n)).unwrap();
            let of_space = space.system().joint_coordinate(space.state(), own(n)).unwrap();
            assert!(of_plane.abs() > 0.01, "{of_plane}");
            (of_plane - of_space).abs()
        };
        (0..3).map(angle).fold(0.0, f64::max)
    };
    let apart = run(Scheme::first_order());
    assert!(apart < 1e-8, "{apart:e}");
    // the Jacobian in space is taken by differences
    for scheme in [Scheme::default(), Scheme::accurate()] {
        let apart = run(scheme);
        assert!(apart < 1e-6, "{apart:e}");
    }
}

/// Two arms of one world that do not touch: a run to an accuracy goes island by island, each with its own inputs.
#[test]
fn inputs_reach_their_islands() {
    let mut world = World::new(Vector2::zeros());
    let frame = world.add_body(Body::fixed("frame"));
    for (k, stiffness) in [(0, 30.0), (1, 50.0)] {
        let at = Point2::new(f64::from(k), 0.0);
        let arm = Body::rigid(format!("arm {k}"), Mass::given(1.0, INERTIA));
        let arm = world.add_body(arm.at(Isometry2::translation(at.x, at.y)));
        let joint = Joint::revolute(format!("joint {k}"), &world, frame, arm, at);
        world.add_joint(joint.motor(servo(stiffness, 0.0, f64::INFINITY)));
    }
    let model = stiction::Model::from(world.build().unwrap());
    let mut simulation = Simulation::new(model).with_scheme(Scheme::accurate());
    simulation.set("joint 0", 0.4).unwrap();
    simulation.set("joint 1", -0.3).unwrap();
    let before = simulation.state().clone();
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let accuracy = Accuracy::of(1e-11);
    let summary = simulation.run_to_accuracy_into(0.8, &accuracy, &mut report).unwrap();
    for (k, target, stiffness) in [(0, 0.4, 30.0), (1, -0.3, 50.0)] {
        let [angle, _] = oscillator(-target, stiffness / INERTIA, 0.0, 0.8);
        let got = simulation.state().q[3 * k + 2];
        assert!((got - target - angle).abs() < 1e-9, "arm {k}: {got} rad");
    }
    let (model, scheme) = (simulation.system(), &simulation.scheme);
    let verdict =
        verify_accuracy_run(model, scheme, &accuracy, &before, simulation.state(), &report, &summary);
    assert!(verdict.holds(), "{verdict:?}");
}
