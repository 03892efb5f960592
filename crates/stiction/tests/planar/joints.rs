//! Joints hold, give way, stop, drive and brake.

use crate::common::{G, at, chain, earth, moving, run, space, start};
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Body, BodyId, Joint, JointKind, Mass, Motor, World};
use stiction::{ProjectError, Scheme};

fn bar(name: &str, x: f64, y: f64) -> Body {
    Body::rigid(name, Mass::given(1.0, 1.0 / 12.0)).at(at(x, y))
}

/// A pendulum in which this joint has something to hold that turns.
fn pendulum(kind: JointKind) -> World {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let first = world.add_body(bar("first", 0.5, 0.0));
    let joint = match kind {
        JointKind::Revolute => Joint::revolute("joint", &world, ground, first, Point2::origin()),
        JointKind::Distance(_) => {
            Joint::distance("joint", &world, (ground, Point2::origin()), (first, Point2::new(0.8, 0.0)))
        }
        _ => {
            let second = world.add_body(bar("second", 1.0, 0.2).moving(moving(0.3, 0.0, 0.0)));
            world.add_joint(Joint::revolute("hinge", &world, ground, first, Point2::origin()));
            let point = Point2::new(0.7, 0.1);
            match kind {
                JointKind::Prismatic => {
                    Joint::prismatic("joint", &world, first, second, point, Vector2::new(0.6, 0.8))
                }
                _ => Joint::fixed("joint", &world, first, second, point),
            }
        }
    };
    world.add_joint(joint);
    world
}

#[test]
fn joints_hold_to_second_order() {
    for kind in [JointKind::Revolute, JointKind::Distance(1.0), JointKind::Prismatic, JointKind::Fixed] {
        let worst = |n: u32| {
            let h = 0.5 / f64::from(n);
            let mut simulation = start(pendulum(kind), Scheme::ah04());
            let mut worst: f64 = 0.0;
            run(&mut simulation, h, n as usize, |_, _, r| worst = worst.max(r.infeasibility));
            worst
        };
        let errors = [worst(50), worst(100), worst(200)];
        for pair in errors.windows(2) {
            let slope = (pair[0] / pair[1]).log2();
            assert!((slope - 2.0).abs() < 0.2, "{kind:?}: {errors:?}");
        }
        // and post-stabilization leaves none of it
        let mut simulation = start(pendulum(kind), Scheme::default());
        run(&mut simulation, 0.01, 50, |_, _, r| assert!(r.infeasibility < 1e-11, "{kind:?}"));
    }
}

/// Four bars: ground, crank, coupler, rocker.
fn four_bar(copies: usize) -> World {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let (a, b, c, d) = ([0.0, 0.0], [0.0, 1.0], [2.0, 1.5], [2.0, 0.0]);
    let mut link = |name: &str, p: [f64; 2], q: [f64; 2]| {
        let (p, q) = (Vector2::from(p), Vector2::from(q));
        let d = q - p;
        let pose = Isometry2::new((p + q) / 2.0, d.y.atan2(d.x));
        world.add_body(Body::rigid(name, Mass::given(1.0, d.norm_squared() / 12.0)).at(pose))
    };
    let bodies = [ground, link("crank", a, b), link("coupler", b, c), link("rocker", d, c), ground];
    for copy in 0..copies {
        for (i, p) in [a, b, c, d].into_iter().enumerate() {
            let name = format!("hinge {i} {copy}");
            world.add_joint(Joint::revolute(name, &world, bodies[i], bodies[i + 1], Point2::from(p)));
        }
    }
    let crank = world.body_mut(bodies[1]).unwrap();
    crank.velocity = moving(-1.0, 0.0, 2.0);
    world
}

#[test]
fn closed_loops_and_duplicated_joints_just_work() {
    let mut once = four_bar(1);
    // the crank moves, the others follow
    once.project().unwrap();
    let mut twice = four_bar(2);
    twice.project().unwrap();
    let mut once = start(once, Scheme::default());
    let mut twice = start(twice, Scheme::default());
    for k in 0..300 {
        let report = once.step(0.005).unwrap();
        assert!(report.infeasibility < 1e-10 && report.work.redundant_joints.is_empty());
        let report = twice.step(0.005).unwrap();
        assert!(report.infeasibility < 1e-10);
        assert_eq!(report.work.redundant_joints.len(), 8);
        for (a, b) in once.state().v.iter().zip(&twice.state().v) {
            // both are certified to 1e-10; 300 steps of a swing add up
            assert!((a - b).abs() < 1e-7, "step {k}: {a} against {b}");
        }
    }
}

#[test]
fn projection_closes_joints_and_stops_what_they_forbid() {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(bar("bar", 0.55, 0.03).moving(moving(1.0, 1.0, 0.0)));
    let frame = |x: f64| at(x, 0.0);
    world.add_joint(Joint::new("hinge", JointKind::Revolute, (ground, frame(0.0)), (body, frame(-0.5))));
    let moved = world.project().unwrap();
    assert!(moved > 0.03 && moved < 0.2, "{moved}");
    let pose = world.body(body).unwrap().pose;
    let velocity = world.body(body).unwrap().velocity;
    let end = pose * Point2::new(-0.5, 0.0);
    assert!(end.coords.norm() < 1e-11, "{end}");
    let r = end.coords - pose.translation.vector;
    let speed = velocity.linear + velocity.angular * Vector2::new(-r.y, r.x);
    assert!(speed.norm() < 1e-9 && velocity.angular > 0.1, "{speed}");
    // nothing is left to do
    assert_eq!(world.project(), Ok(0.0));
}

#[test]
fn joints_that_cannot_close_are_reported() {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(bar("bar", 0.5, 0.0));
    for (name, x) in [("left", -1.0), ("right", 1.0)] {
        let own = at(0.5 * x, 0.0);
        world.add_joint(Joint::new(name, JointKind::Revolute, (ground, at(3.0 * x, 0.0)), (body, own)));
    }
    let Err(ProjectError::Apart(left)) = world.project() else { panic!("6 m apart with a bar of 1 m") };
    assert!(left > 1.0);
}

/// A body of 2 kg that a joint lets travel along x, without gravity.
fn sledge(change: impl Fn(Joint) -> Joint) -> (World, BodyId) {
    let mut world = space();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(Body::rigid("sledge", Mass::given(2.0, 1.0)));
    let joint = Joint::prismatic("rail", &world, ground, body, Point2::origin(), Vector2::x());
    world.add_joint(change(joint));
    (world, body)
}

#[test]
fn a_motor_pushes_with_its_force_until_it_has_its_speed() {
    let (world, _) = sledge(|j| j.motor(Motor::Velocity { speed: 1.0, force: 3.0 }));
    let h = 0.01;
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, h, 100, |k, s, report| {
        let expected = (k as f64 * h * 3.0 / 2.0).min(1.0);
        assert!((s.state().v[0] - expected).abs() < 1e-11, "step {k}: {}", s.state().v[0]);
        // the last row is the motor's: its limit while it speeds up, nothing when it runs
        let impulse = report.joints[2].impulse;
        let force = if k <= 66 {
            3.0
        } else if k == 67 {
            2.0
        } else {
            0.0
        };
        assert!((impulse / h - force).abs() < 1e-8, "step {k}: {impulse}");
    });
}

#[test]
fn a_servo_follows_its_recurrence() {
    let (world, _) = sledge(|j| j.motor(Motor::Position { target: 0.5, gain: 20.0, force: 1e6 }));
    let h = 0.01;
    let mut simulation = start(world, Scheme::first_order());
    let mut x = 0.0;
    run(&mut simulation, h, 100, |_, s, _| {
        x += h * 20.0 * (0.5 - x);
        assert!((s.state().q[0] - x).abs() < 1e-11);
    });
    // a weak one is at its limit
    let (world, _) = sledge(|j| j.motor(Motor::Position { target: 0.5, gain: 20.0, force: 1.0 }));
    let mut simulation = start(world, Scheme::first_order());
    run(&mut simulation, h, 1, |_, s, _| assert!((s.state().v[0] - h * 1.0 / 2.0).abs() < 1e-12));
}

#[test]
fn dry_friction_stops_a_sledge_at_the_predicted_step() {
    let (mut world, body) = sledge(|j| j.friction(1.5));
    world.body_mut(body).unwrap().velocity = moving(0.2, 0.0, 0.0);
    let h = 0.01;
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, h, 60, |k, s, _| {
        // 0.2 m/s at 0.75 m/s²: 26 steps, and in the 27th it stops
        let expected = (0.2 - k as f64 * h * 0.75).max(0.0);
        assert!((s.state().v[0] - expected).abs() < 1e-12, "step {k}");
        assert_eq!(s.state().v[0].abs() < 1e-12, k >= 27);
    });
}

#[test]
fn limits_stop() {
    for sign in [1.0, -1.0] {
        let (mut world, body) = sledge(|j| j.limits(-0.255, 0.255));
        world.body_mut(body).unwrap().velocity = moving(sign, 0.0, 0.0);
        let mut simulation = start(world, Scheme::default());
        run(&mut simulation, 0.01, 60, |k, s, _| {
            let expected = (k as f64 * 0.01).min(0.255) * sign;
            assert!((s.state().q[0] - expected).abs() < 1e-12, "step {k}: {}", s.state().q[0]);
        });
    }
    // at the velocity level they act where they are reached, which is seen a step later
    let (mut world, body) = sledge(|j| j.limits(-0.255, 0.255));
    world.body_mut(body).unwrap().velocity = moving(1.0, 0.0, 0.0);
    let mut simulation = start(world, Scheme::ap97());
    run(&mut simulation, 0.01, 60, |k, s, _| {
        let expected = (k as f64 * 0.01).min(0.26);
        assert!((s.state().q[0] - expected).abs() < 1e-12, "step {k}: {}", s.state().q[0]);
    });
    // a hinge between stops: it falls onto the lower one and rests
    let (mut world, bars) = chain(1);
    let hinge = world.find_joint("hinge 0").unwrap();
    world.joint_mut(hinge).unwrap().limits = Some([-0.5, 0.5]);
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.01, 200, |_, _, r| assert!(r.infeasibility < 1e-11));
    let model = simulation.system();
    assert!((model.joint_coordinate(simulation.state(), hinge).unwrap() + 0.5).abs() < 1e-11);
    assert!(model.velocity(simulation.state(), bars[0]).unwrap().angular.abs() < 1e-9);
}

#[test]
fn a_rope_goes_taut_and_is_slack_before() {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let bob = world.add_body(Body::point("bob", 1.0).at(at(0.0, -0.5)));
    let rope = Joint::distance("rope", &world, (ground, Point2::origin()), (bob, Point2::new(0.0, -0.5)));
    world.add_joint(rope.limits(0.0, 1.0));
    let mut simulation = start(world, Scheme::first_order());
    let h = 0.01;
    let (mut y, mut v) = (-0.5, 0.0);
    run(&mut simulation, h, 100, |_, s, _| {
        v -= h * G;
        if y + h * v < -1.0 {
            v = (-1.0 - y) / h;
        }
        y += h * v;
        assert!((s.state().q[1] - y).abs() < 1e-11, "{} against {y}", s.state().q[1]);
    });
}

#[test]
fn a_compliant_joint_sags_by_its_load() {
    for scheme in [Scheme::ah04(), Scheme::first_order()] {
        let mut world = earth();
        let ground = world.add_body(Body::fixed("ground"));
        let body = world.add_body(Body::rigid("load", Mass::given(3.0, 1.0)));
        let weld = Joint::fixed("weld", &world, ground, body, Point2::origin());
        world.add_joint(weld.compliance(1e-4));
        // something else that post-stabilization has to mend
        let bar = world.add_body(bar("bar", 5.5, 0.0));
        world.add_joint(Joint::revolute("hinge", &world, ground, bar, Point2::new(5.0, 0.0)));
        let mut simulation = start(world, scheme);
        run(&mut simulation, 0.01, 300, |_, _, _| {});
        let sag = simulation.state().q[1];
        // 3 kg · g · 1e-4 m/N; the vibration is damped by the implicit treatment
        assert!((sag + 3.0 * G * 1e-4).abs() < 1e-7, "{sag}");
    }
}

#[test]
fn sliders_and_points_are_joined_too() {
    // a crank drives a slider along x through a rod
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let crank = world.add_body(bar("crank", 0.25, 0.0));
    let piston = world.add_body(Body::slider("piston", 1.0, Vector2::x()).at(at(1.5, 0.0)));
    let hinge = Joint::revolute("hinge", &world, ground, crank, Point2::origin());
    let hinge = world.add_joint(hinge.motor(Motor::Velocity { speed: 3.0, force: 1e4 }));
    let on_crank = Point2::new(0.5, 0.0);
    world.add_joint(Joint::distance("rod", &world, (crank, on_crank), (piston, Point2::new(1.5, 0.0))));
    // a slider is held across its axis already: one row of this joint says nothing
    let bead = world.add_body(Body::slider("bead", 1.0, Vector2::x()).at(at(0.0, 2.0)));
    world.add_joint(Joint::revolute("pin", &world, ground, bead, Point2::new(0.0, 2.0)));
    let mut simulation = start(world, Scheme::default());
    run(&mut simulation, 0.005, 500, |k, s, r| {
        assert!(r.infeasibility < 1e-10, "step {k}: {}", r.infeasibility);
        let angle = 3.0 * 0.005 * k as f64;
        let model = s.system();
        let turned = model.joint_coordinate(s.state(), hinge).unwrap();
        // post-stabilization turns the crank by some h² ω² of the lever each step, which adds up
        assert!((turned - angle).sin().abs() < 0.05, "{turned} against {angle}");
        let x = model.centre(s.state(), piston).unwrap().x;
        let turned = s.state().q[2];
        let expected = 0.5 * turned.cos() + (1.0 - (0.5 * turned.sin()).powi(2)).sqrt();
        assert!((x - expected).abs() < 1e-9, "{x} against {expected}");
    });
}
