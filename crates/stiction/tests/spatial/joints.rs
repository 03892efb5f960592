//! Joints at work: pendulums, loops, limits, motors and friction.

use crate::common::{built, gravity, joint_kinds, pose_of, simulation, step, twist_of};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{Body, BodyId, Joint, JointId, JointKind, Mass, Model, Motor, Path, Twist, World};
use stiction::{ProjectError, Scheme, Simulation};

fn bar(name: &str, x: f64) -> Body {
    Body::rigid(name, Mass::given(1.0, [0.02, 0.1, 0.11])).at(Isometry3::translation(x, 0.0, 0.0))
}

/// A bar hung from a wall by a joint of a kind, its frame turned so that every axis matters, in motion that the
/// joint allows.
fn pendulum(kind: JointKind, scheme: Scheme) -> (Simulation<Model>, BodyId, JointId) {
    let mut world = World::new(gravity());
    let wall = world.add_body(Body::fixed("wall").at(Isometry3::translation(0.3, -0.1, 0.2)));
    let mut body = bar("bar", 0.5);
    if matches!(kind, JointKind::Spherical | JointKind::Universal | JointKind::Distance(_)) {
        body.velocity = Twist::new(Vector3::new(0.0, 0.5, 0.0), Vector3::new(0.0, 0.0, 1.0));
    }
    let body = world.add_body(body);
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(1.0, 0.4, 0.2));
    let joint = match kind {
        JointKind::Distance(_) => Joint::distance(
            "joint",
            &world,
            (wall, Point3::new(-0.5, 0.0, 0.3)),
            (body, Point3::new(0.1, 0.0, 0.05)),
        ),
        _ => Joint::between(
            "joint",
            kind,
            &world,
            wall,
            body,
            Isometry3::from_parts(Vector3::zeros().into(), turn),
        ),
    };
    let joint = world.add_joint(joint);
    (simulation(world, scheme), body, joint)
}

/// The largest infeasibility of 0.4 s.
fn worst(kind: JointKind, steps: u32) -> f64 {
    let h = 0.4 / f64::from(steps);
    let (mut run, _, _) = pendulum(kind, Scheme::ah04());
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        worst = worst.max(step(&mut run, h).infeasibility);
    }
    worst
}

#[test]
fn pendulums_on_every_joint_hold_to_second_order() {
    for kind in joint_kinds(1.0) {
        let (coarse, fine) = (worst(kind, 40), worst(kind, 80));
        // v²h² of 4 m/s at most; those that only slide or are held have no curvature to miss
        assert!(coarse < 20.0 * 0.01 * 0.01, "{kind:?}: {coarse}");
        assert!(coarse < 1e-12 || coarse / fine > 3.0, "{kind:?}: {coarse} and {fine}");
        let curved = matches!(
            kind,
            JointKind::Spherical | JointKind::Revolute | JointKind::Universal | JointKind::Distance(_)
        );
        assert!(!curved || coarse > 1e-8, "{kind:?} does not move");
    }
}

#[test]
fn post_stabilized_pendulums_are_exact() {
    for kind in joint_kinds(1.0) {
        let (mut run, _, _) = pendulum(kind, Scheme::default());
        for _ in 0..50 {
            let report = step(&mut run, 0.01);
            // six passes of Newton's method end at round-off of metres
            assert!(report.infeasibility < 1e-11, "{kind:?}: {}", report.infeasibility);
        }
    }
}

#[test]
fn joints_leave_free_what_they_say() {
    let moved = |kind: JointKind| {
        let (mut run, body, _) = pendulum(kind, Scheme::default());
        let start = pose_of(&run, body);
        (0..20).for_each(|_| drop(step(&mut run, 0.01)));
        let end = pose_of(&run, body);
        ((end.translation.vector - start.translation.vector).norm(), end.rotation.angle_to(&start.rotation))
    };
    let (slid, turned) = moved(JointKind::Fixed);
    assert!(slid < 1e-12 && turned < 1e-11, "{slid}, {turned}");
    let (slid, turned) = moved(JointKind::Prismatic);
    assert!(slid > 0.01 && turned < 1e-11, "{slid}, {turned}");
    let (slid, turned) = moved(JointKind::Revolute);
    assert!(slid > 0.01 && turned > 0.01);
}

/// A four-bar linkage in a tilted plane: crank, coupler and rocker on revolute joints.
fn four_bar() -> (World, [JointId; 4]) {
    let tilt = Isometry3::from_parts(
        Vector3::new(0.2, 0.1, 0.0).into(),
        UnitQuaternion::from_scaled_axis(Vector3::new(1.3, 0.2, 0.4)),
    );
    let mut world = World::new(gravity());
    let ground = world.add_body(Body::fixed("ground"));
    let corners =
        [[0.0, 0.0], [0.2, 0.4], [1.0, 0.7], [1.1, 0.0]].map(|[x, y]| tilt * Point3::new(x, y, 0.0));
    let links =
        ["crank", "coupler", "rocker"].map(|name| Body::rigid(name, Mass::given(1.0, [0.02, 0.1, 0.11])));
    let mut ids = vec![ground];
    for (k, link) in links.into_iter().enumerate() {
        let middle = nalgebra::center(&corners[k], &corners[k + 1]);
        ids.push(world.add_body(link.at(Isometry3::from_parts(middle.into(), tilt.rotation))));
    }
    let axis = tilt * Vector3::z();
    let joints = std::array::from_fn(|k| {
        let joint = Joint::revolute(format!("pin {k}"), &world, ids[k], ids[(k + 1) % 4], corners[k], axis);
        world.add_joint(joint)
    });
    (world, joints)
}

#[test]
fn a_closed_loop_of_revolute_joints_runs() {
    for scheme in [Scheme::default(), Scheme::ah04(), Scheme::st00()] {
        run_four_bar(scheme);
    }
}

fn run_four_bar(scheme: Scheme) {
    let (world, joints) = four_bar();
    let mut run = simulation(world, scheme);
    let mut swept: f64 = 0.0;
    for _ in 0..200 {
        let report = step(&mut run, 0.01);
        // 18 velocities, one freedom, 20 rows: three follow from the others
        assert_eq!(report.work.redundant_joints.len(), 3);
        // v²h² of a few m/s without post-stabilization
        let most = if scheme.passes > 0 { 1e-11 } else { 1e-2 };
        assert!(report.infeasibility < most, "{} with {scheme:?}", report.infeasibility);
        let angle = run.system().joint_coordinate(run.state(), joints[0]).unwrap();
        swept = swept.max(angle.abs());
    }
    assert!(swept > 0.3, "the crank moved by {swept} only");
}

#[test]
fn a_closed_loop_runs_at_small_steps() {
    // redundant rows disagree by 1e-16 m, which over such a step is more than the tolerance of ‖g‖h
    for h in [1e-4, 1e-6] {
        let (world, _) = four_bar();
        let mut run = simulation(world, Scheme::ah04());
        for _ in 0..100 {
            assert!(step(&mut run, h).infeasibility < 1e-8);
        }
    }
}

#[test]
fn duplicated_joints_change_nothing() {
    let run = |copies: usize| {
        let mut world = World::new(gravity());
        let wall = world.add_body(Body::fixed("wall"));
        let body = world.add_body(bar("bar", 0.5));
        for k in 0..copies {
            let axis = Vector3::new(0.1, 1.0, 0.3);
            let joint = Joint::revolute(format!("pin {k}"), &world, wall, body, Point3::origin(), axis);
            world.add_joint(joint);
        }
        let mut run = simulation(world, Scheme::ah04());
        (0..50).for_each(|_| drop(step(&mut run, 0.01)));
        pose_of(&run, body)
    };
    let (one, three) = (run(1), run(3));
    // round-off of 50 solves
    assert!((one.translation.vector - three.translation.vector).norm() < 1e-12);
    assert!(one.rotation.angle_to(&three.rotation) < 1e-12);
}

/// A wheel on a revolute joint without gravity, of moment 0.11 kg m² about the axis.
fn wheel(change: impl Fn(Joint) -> Joint, spin: f64) -> (Simulation<Model>, BodyId, JointId) {
    let mut world = World::new(Vector3::zeros());
    let wall = world.add_body(Body::fixed("wall"));
    let body = bar("wheel", 0.0).moving(Twist::new(Vector3::zeros(), Vector3::z() * spin));
    let body = world.add_body(body);
    let joint = Joint::revolute("axle", &world, wall, body, Point3::origin(), Vector3::z());
    let joint = world.add_joint(change(joint));
    (simulation(world, Scheme::ah04()), body, joint)
}

#[test]
fn a_motor_turns_with_its_torque_up_to_its_speed() {
    let motor = Motor::Velocity { speed: 3.0, force: 0.55 };
    let (mut run, body, _) = wheel(|joint| joint.motor(motor), 0.0);
    for k in 1..=100 {
        step(&mut run, 0.01);
        // 0.55 N m on 0.11 kg m²: 5 rad/s²
        let exact = (5.0 * 0.01 * f64::from(k)).min(3.0);
        let found = twist_of(&run, body).angular.z;
        assert!((found - exact).abs() < 1e-12, "{found} instead of {exact}");
    }
}

#[test]
fn a_servo_goes_to_its_target() {
    let motor = Motor::Position { target: -1.2, gain: 8.0, force: 1000.0 };
    let (mut run, _, joint) = wheel(|joint| joint.motor(motor), 0.0);
    let mut exact = 0.0;
    for _ in 0..100 {
        step(&mut run, 0.01);
        // strong enough to have its speed at once
        exact += 0.01 * 8.0 * (-1.2 - exact);
        let found = run.system().joint_coordinate(run.state(), joint).unwrap();
        assert!((found - exact).abs() < 1e-12, "{found} instead of {exact}");
    }
    assert!((exact + 1.2).abs() < 1e-3);
}

#[test]
fn dry_friction_brakes_and_holds() {
    let (mut run, body, _) = wheel(|joint| joint.friction(0.22), 1.0);
    for k in 1..=100 {
        let report = step(&mut run, 0.01);
        // 0.22 N m on 0.11 kg m²: 2 rad/s²
        let exact = (1.0 - 0.02 * f64::from(k)).max(0.0);
        assert!((twist_of(&run, body).angular.z - exact).abs() < 1e-12);
        assert!(report.infeasibility < 1e-12);
    }
}

#[test]
fn a_motor_against_dry_friction_has_what_is_left() {
    let motor = Motor::Velocity { speed: 3.0, force: 0.55 };
    let (mut run, body, _) = wheel(|joint| joint.motor(motor).friction(0.22), 0.0);
    for k in 1..=50 {
        step(&mut run, 0.01);
        assert!((twist_of(&run, body).angular.z - 3.0 * 0.01 * f64::from(k)).abs() < 1e-12);
    }
}

#[test]
fn limits_stop_a_joint_on_both_sides() {
    for scheme in [Scheme::ah04(), Scheme::default(), Scheme::st00(), Scheme::ap97()] {
        for (spin, end) in [(2.0, 0.5), (-2.0, -0.4)] {
            let (world_run, body, joint) = wheel(|joint| joint.limits(-0.4, 0.5), spin);
            let mut run = Simulation::from_state(world_run.system().clone(), world_run.state().clone())
                .with_scheme(scheme);
            let mut reached = false;
            for _ in 0..100 {
                step(&mut run, 0.01);
                let angle = run.system().joint_coordinate(run.state(), joint).unwrap();
                let spinning = twist_of(&run, body).angular.z.abs() > 1e-9;
                assert!(spinning || !reached || (angle - end).abs() < 0.02);
                reached |= (angle - end).abs() < 0.02;
                // the velocity level sees the limit only once it is passed
                let slack = if scheme == Scheme::ap97() { 0.0201 } else { 1e-12 };
                assert!((-0.4 - slack..=0.5 + slack).contains(&angle), "{angle} with {scheme:?}");
            }
            assert!(reached, "stuck with {scheme:?}");
            assert!(twist_of(&run, body).angular.z.abs() < 1e-12);
        }
    }
}

#[test]
fn a_rope_is_slack_and_then_taut() {
    let mut world = World::new(gravity());
    let ceiling = world.add_body(Body::fixed("ceiling"));
    let weight = world.add_body(Body::point("weight", 2.0).at(Isometry3::translation(0.0, 0.0, -0.5)));
    let frame = Isometry3::identity();
    let rope = Joint::new("rope", JointKind::Distance(1.0), (ceiling, frame), (weight, frame));
    let rope = world.add_joint(rope.limits(0.0, 1.0));
    let mut run = simulation(world, Scheme::ah04());
    let mut v = 0.0;
    for _ in 0..100 {
        let report = step(&mut run, 0.01);
        v -= 9.81 * 0.01;
        let length = run.system().joint_coordinate(run.state(), rope).unwrap();
        if length < 1.0 - 1e-9 {
            assert!((twist_of(&run, weight).linear.z - v).abs() < 1e-12);
        }
        assert!(length < 1.0 + 1e-12 && report.infeasibility < 1e-12);
    }
    assert!((pose_of(&run, weight).translation.z + 1.0).abs() < 1e-12);
}

#[test]
fn a_compliant_joint_gives_way_by_compliance_times_force() {
    for scheme in [Scheme::ah04(), Scheme::first_order()] {
        let mut world = World::new(gravity());
        let ceiling = world.add_body(Body::fixed("ceiling"));
        let weight = world.add_body(Body::point("weight", 2.0));
        let joint = Joint::spherical("soft", &world, ceiling, weight, Point3::origin()).compliance(1e-3);
        world.add_joint(joint);
        let mut run = simulation(world, scheme);
        (0..2000).for_each(|_| drop(step(&mut run, 0.01)));
        let sag = -pose_of(&run, weight).translation.z;
        // backward Euler damps the oscillation of 22 rad/s by 1/(1 + 0.05) a step
        assert!((sag - 1e-3 * 2.0 * 9.81).abs() < 1e-12, "{sag}");
    }
}

#[test]
fn a_crank_moves_what_is_joined_to_it() {
    // a kinematic crank and a slider on a rod: the slider is where the geometry has it
    let mut world = World::new(Vector3::zeros());
    let spin = Twist::new(Vector3::zeros(), Vector3::z() * 2.0);
    let path = Path::new(move |t: f64| {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 2.0 * t);
        (Isometry3::from_parts(Vector3::zeros().into(), turn), spin)
    });
    let crank = world.add_body(Body::kinematic("crank", path));
    let slider = Body::slider("slider", 1.0, Vector3::x()).at(Isometry3::translation(1.2, 0.0, 0.0));
    let slider = world.add_body(slider);
    let ends = ((crank, Point3::new(0.2, 0.0, 0.0)), (slider, Point3::new(1.2, 0.0, 0.0)));
    world.add_joint(Joint::distance("rod", &world, ends.0, ends.1));
    let mut run = simulation(world, Scheme::default());
    for _ in 0..300 {
        let report = step(&mut run, 0.01);
        assert!(report.infeasibility < 1e-11);
        let angle = 2.0 * run.state().t;
        let exact = 0.2 * angle.cos() + (1.0 - (0.2 * angle.sin()).powi(2)).sqrt();
        assert!((pose_of(&run, slider).translation.x - exact).abs() < 1e-11);
    }
}

#[test]
fn projection_closes_the_joints_and_their_speeds() {
    let (mut world, _) = four_bar();
    let bodies: Vec<BodyId> = world.bodies().map(|(id, _)| id).collect();
    for (k, &id) in bodies.iter().enumerate().skip(1) {
        let body = world.body_mut(id).unwrap();
        let nudge = 0.03 * k as f64;
        body.pose.translation.vector += Vector3::new(nudge, -nudge, 0.5 * nudge);
        body.velocity = Twist::new(Vector3::new(1.0, nudge, 0.3), Vector3::new(0.1, 0.2, 1.0));
    }
    let moved = world.project().unwrap();
    assert!(moved > 0.01 && moved < 1.0, "{moved}");
    let mut run = simulation(world, Scheme::ah04());
    let before = run.state().clone();
    // with closed positions and velocities a tiny step errs by v²h² alone
    let report = step(&mut run, 1e-6);
    assert!(report.infeasibility < 1e-11, "{}", report.infeasibility);
    let change = before.v.iter().zip(&run.state().v).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(change < 1e-4, "{change}");

    // two points at two places
    let mut world = World::new(Vector3::zeros());
    let wall = world.add_body(Body::fixed("wall"));
    let body = world.add_body(bar("bar", 0.0));
    for (name, x) in [("left", -1.0), ("right", 1.0)] {
        let frame = Isometry3::translation(x, 0.0, 0.0);
        world.add_joint(Joint::new(name, JointKind::Spherical, (wall, frame), (body, Isometry3::identity())));
    }
    assert!(matches!(world.project(), Err(ProjectError::Apart(error)) if error > 0.9));
    let _ = built(world);
}
