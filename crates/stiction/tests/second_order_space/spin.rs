//! Round bodies at any spin, by the accurate scheme with projected states: against closed forms and independent integrations.

use crate::common::{G, run, second_order, spatial};
use crate::smooth::{Chain, distance, start};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Force, Joint, Mass, Model, Path, Shape, Twist, World};
use stiction::{Accuracy, EventKind, Level, Material, Scheme, Simulation, StateProjection, Trapezoidal};

const R: f64 = 0.1;

/// Accurate scheme that projects the state after each step.
fn projected() -> Scheme {
    let settings = Trapezoidal { projection: StateProjection::Steps, ..Trapezoidal::accurate() };
    Scheme { level: Level::Trapezoidal(settings), ..Scheme::accurate() }
}

fn material(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

/// Uniform ball of 1 kg that touches z = 0 at the start.
fn ball(mu: f64, x: Vector3<f64>, v: Vector3<f64>, spin: Vector3<f64>) -> Body {
    let shape = Attached::new(Shape::Sphere { radius: R }).material(material(mu));
    let body = Body::rigid("ball", Mass::given(1.0, [0.4 * R * R; 3])).with(shape);
    body.at(Isometry3::translation(x.x, x.y, x.z + R)).moving(Twist::new(v, spin))
}

/// Ball on a half-space that moves, by the accurate scheme.
fn on_ground(ground: Body, gravity: Vector3<f64>, mu: f64, ball: Body) -> (Simulation<Model>, BodyId) {
    let mut world = World::new(gravity);
    world.add_body(ground.with(Attached::new(Shape::HalfSpace).material(material(mu))));
    let id = world.add_body(ball);
    (spatial(world).with_scheme(projected()), id)
}

fn place(simulation: &Simulation<Model>, id: BodyId) -> Vector3<f64> {
    let pose = simulation.system().pose(simulation.state(), id).expect("a body of the world");
    pose.translation.vector - R * Vector3::z()
}

/// A ball that rolls on a turntable of speed Ω moves on a circle, with the angular speed 2Ω/7: v' = (2Ω/7) z × v.
#[test]
fn a_ball_on_a_turntable_is_of_second_order_at_any_spin() {
    let (omega, until) = (3.0, 2.0);
    let (x, v) = (Vector3::new(0.5, 0.0, 0.0), Vector3::new(0.2, 0.1, 0.0));
    let k = 2.0 / 7.0 * omega;
    let (s, c) = f64::sin_cos(k * until);
    let exact = x + s / k * v + (1.0 - c) / k * Vector3::z().cross(&v);
    // v + ω × (−R z) = Ω z × x
    let rolling = Vector3::z().cross(&(v - omega * Vector3::z().cross(&x))) / R;
    let error = |h: f64, spin: f64| {
        let path = Path::new(move |t| {
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), omega * t);
            let pose = Isometry3::from_parts(Vector3::zeros().into(), turn);
            (pose, Twist::new(Vector3::zeros(), omega * Vector3::z()))
        });
        let ball = ball(0.8, x, v, rolling + spin * Vector3::z());
        let table = Body::kinematic("table", path);
        let (mut simulation, id) = on_ground(table, -G * Vector3::z(), 0.8, ball);
        let summary = run(&mut simulation, h, until);
        assert!(summary.infeasibility < 1e-12 && summary.events.is_empty(), "{summary:?}");
        (place(&simulation, id) - exact).norm()
    };
    second_order("turntable", 4..=8, |h| error(h, 0.0));
    for spin in [0.0, 30.0, -100.0] {
        // measured: 0.05 h² whatever the spin; along the axes of the ball 4.5 h² and 200 h²
        assert!(error(0.01, spin) < 1e-5, "spin {spin}: {:.2e}", error(0.01, spin));
    }
}

/// Slip of a ball keeps its direction: u' = −(7/2) μ g u/|u|. Until it ends the acceleration is constant, then none.
#[test]
fn a_billiard_ball_with_draw_is_exact_at_any_spin_and_step() {
    let (mu, until) = (0.2, 1.0);
    let v = Vector3::new(2.0, 0.0, 0.0);
    for spin in
        [Vector3::new(6.0, -30.0, 9.0), Vector3::new(6.0, -30.0, 100.0), Vector3::new(-20.0, 50.0, 0.0)]
    {
        let slip = v + spin.cross(&(-R * Vector3::z()));
        let rolls = 2.0 * slip.norm() / (7.0 * mu * G);
        assert!(rolls < until);
        let push = -mu * G * slip.normalize();
        let exact = until * v + rolls * (until - 0.5 * rolls) * push;
        for h in [0.05, 0.02, 0.01] {
            let ball = ball(mu, Vector3::zeros(), v, spin);
            let (mut simulation, id) = on_ground(Body::fixed("cloth"), -G * Vector3::z(), mu, ball);
            let summary = run(&mut simulation, h, until);
            assert_eq!(summary.events.iter().map(|e| e.kind).collect::<Vec<_>>(), [EventKind::Stick]);
            assert!((summary.events[0].t - rolls).abs() < 1e-10);
            // the end of slip is located to 1e-12 of the step, and the rest is round-off
            let error = (place(&simulation, id) - exact).norm();
            assert!(error < 1e-11, "{spin:?}, h = {h}: {error:.2e}");
        }
    }
}

/// On an incline the slip turns: the ball while it slides, by an independent integration of u' = g − (7/2) μ N u/|u|.
#[test]
fn slip_that_turns_on_an_incline_is_of_second_order_at_any_spin() {
    let (mu, until) = (0.4, 0.3);
    let gravity = G * Vector3::new(0.35_f64.sin(), 0.0, -0.35_f64.cos());
    let v = Vector3::new(1.0, 0.5, 0.0);
    let across = Vector3::new(30.0, -10.0, 0.0);
    let along = Vector3::new(gravity.x, gravity.y, 0.0);
    let bound = mu * -gravity.z;
    let exact = {
        // slip, velocity and position, by the classical Runge-Kutta method
        let rates = |[u, v, _]: &[Vector3<f64>; 3]| {
            let friction = -bound * u.normalize();
            [along + 3.5 * friction, along + friction, *v]
        };
        let add = |a: &[Vector3<f64>; 3], k: &[Vector3<f64>; 3], h: f64| [0, 1, 2].map(|i| a[i] + h * k[i]);
        let steps = 3000;
        let h = until / f64::from(steps);
        let mut at = [v + across.cross(&(-R * Vector3::z())), v, Vector3::zeros()];
        for _ in 0..steps {
            let k1 = rates(&at);
            let k2 = rates(&add(&at, &k1, 0.5 * h));
            let k3 = rates(&add(&at, &k2, 0.5 * h));
            let k4 = rates(&add(&at, &k3, h));
            for (k, part) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
                at = add(&at, &k, part * h / 6.0);
            }
        }
        at[2]
    };
    let error = |h: f64, spin: f64| {
        let ball = ball(mu, Vector3::zeros(), v, across + spin * Vector3::z());
        let (mut simulation, id) = on_ground(Body::fixed("incline"), gravity, mu, ball);
        let summary = run(&mut simulation, h, until);
        assert!(summary.events.is_empty(), "{:?}", summary.events);
        (place(&simulation, id) - exact).norm()
    };
    // steps of .3 s over powers of two
    second_order("incline", 4..=8, |h| error(0.3 * h, 5.0));
    for spin in [5.0, 100.0] {
        // measured: 0.3 h²
        assert!(error(0.01, spin) < 1e-4, "spin {spin}: {:.2e}", error(0.01, spin));
    }
}

/// A rod that hangs on a ball joint and spins about its axis: its nutation is slow, whatever the spin.
#[test]
fn a_rod_that_spins_about_its_axis_is_of_second_order() {
    let inertia = Vector3::new(2e-4, 0.08, 0.08);
    let levers = [Vector3::new(-0.5, 0.0, 0.0), Vector3::new(0.5, 0.0, 0.0)];
    let rod = |spin: f64, scheme: Scheme| {
        let mut world = World::new(-G * Vector3::z());
        let ground = world.add_body(Body::fixed("ground"));
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.4, -0.2));
        let at = turn * -levers[0];
        let angular = turn * Vector3::new(spin, 1.0, -0.5);
        let pose = Isometry3::from_parts(at.into(), turn);
        let body = Body::rigid("rod", Mass::given(1.0, inertia.into())).at(pose);
        let body = world.add_body(body.moving(Twist::new(angular.cross(&at), angular)));
        world.add_joint(Joint::spherical("pivot", &world, ground, body, Point3::origin()));
        (spatial(world).with_scheme(scheme), body)
    };
    let chain = Chain { mass: 1.0, inertia, levers: Some(levers), gravity: G };
    for spin in [0.0, 100.0] {
        let (simulation, body) = rod(spin, projected());
        let exact = chain.integrate(start(&simulation, &[body]), 1.0, 20_000);
        let error = |h: f64, scheme: Scheme| {
            let (mut simulation, body) = rod(spin, scheme);
            let summary = run(&mut simulation, h, 1.0);
            assert!(scheme == Scheme::pagt06() || summary.infeasibility < 1e-12, "{summary:?}");
            let end = start(&simulation, &[body]);
            // the angle about the axis is spin times time; positions are of interest
            (end[0].x - exact[0].x).norm()
        };
        second_order("spinning rod", 6..=9, |h| error(h, projected()));
        let (ours, printed) = (error(0.01, projected()), error(0.01, Scheme::pagt06()));
        println!("  spin {spin}: {ours:.2e}, along the axes of the rod {printed:.2e}");
        assert!(ours < 1e-3, "spin {spin}: {ours:.2e}");
        assert!(distance(&start(&rod(spin, projected()).0, &[body]), &start(&simulation, &[body])) == 0.0);
    }
}

/// Forces whose torques turn with the body: a spring with a damper at a point of a ball that spins, and of a wheel.
#[test]
fn springs_on_bodies_that_spin_are_of_second_order() {
    for inertia in [[0.4; 3], [0.3, 0.3, 0.5]] {
        let start = || {
            let mut world = World::new(Vector3::zeros());
            let wall = world.add_body(Body::fixed("wall"));
            let spin = Twist::new(Vector3::new(0.1, 0.0, 0.2), Vector3::new(1.0, -2.0, 5.0));
            let body = world.add_body(Body::rigid("body", Mass::given(1.0, inertia)).moving(spin));
            let other = Twist::new(Vector3::zeros(), Vector3::new(-3.0, 0.5, 1.0));
            let pose = Isometry3::translation(1.0, 0.3, 0.0);
            let mate = world.add_body(Body::rigid("mate", Mass::given(1.5, inertia)).at(pose).moving(other));
            let spring = |a, at_a, b, at_b| Force::Spring {
                a,
                point_a: at_a,
                b,
                point_b: at_b,
                stiffness: 20.0,
                damping: 0.4,
                rest_length: 0.3,
            };
            let point = Point3::new(0.3, 0.1, -0.2);
            world.add_force(spring(wall, Point3::new(-0.5, 0.2, 0.4), body, point));
            world.add_force(spring(body, Point3::new(-0.1, 0.3, 0.1), mate, point));
            (spatial(world).with_scheme(projected()), [body, mate])
        };
        let (mut simulation, bodies) = start();
        simulation.scheme = Scheme::accurate();
        simulation.run_to_accuracy(1.0, &Accuracy::of(1e-11), &[], |_, _| ()).expect("an explicit run");
        let exact = crate::smooth::start(&simulation, &bodies);
        second_order("springs", 6..=9, |h| {
            let (mut simulation, bodies) = start();
            run(&mut simulation, h, 1.0);
            distance(&crate::smooth::start(&simulation, &bodies), &exact)
        });
    }
}
