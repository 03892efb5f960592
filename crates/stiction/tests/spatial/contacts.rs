//! Contact and friction against the scheme's recurrences.

use crate::common::{floor, gravity, pose_of, simulation, slippery, step, twist_of};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Mass, Model, Path, Shape, Twist, World};
use stiction::{FrictionPoint, Material, Mode, Scheme, Simulation};

const H: f64 = 0.01;
const G: f64 = 9.81;

fn cuboid(half: [f64; 3], friction: f64) -> Attached {
    Attached::new(Shape::Cuboid { half_extents: half }).material(slippery(friction))
}

/// A half-space that falls by `angle` towards `heading`, and that direction.
fn incline(world: &mut World, angle: f64, heading: f64, friction: f64) -> (Vector3<f64>, Vector3<f64>) {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), heading)
        * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let pose = Isometry3::from_parts(Vector3::zeros().into(), turn);
    let plane = Attached::new(Shape::HalfSpace).material(slippery(friction));
    world.add_body(Body::fixed("incline").at(pose).with(plane));
    (turn * Vector3::x(), turn * Vector3::z())
}

#[test]
fn a_sphere_on_an_incline_rolls_and_slips_as_the_recurrence_says() {
    let (angle, r): (f64, f64) = (0.5, 0.2);
    let limit = 2.0 / 7.0 * angle.tan();
    for (friction, rolls) in [(1.1 * limit, true), (0.9 * limit, false)] {
        for heading in [0.0, 0.4, 1.3, 2.9, 4.4] {
            let mut world = World::new(gravity());
            let (down, up) = incline(&mut world, angle, heading, friction);
            let ball = Attached::new(Shape::Sphere { radius: r }).material(slippery(friction));
            let ball = Body::rigid("ball", Mass::Density(300.0)).with(ball);
            let ball = world.add_body(ball.at(Isometry3::translation(r * up.x, r * up.y, r * up.z)));
            let mut run = simulation(world, Scheme::ah04());
            let (mut v, mut spin, mut x) = (0.0, 0.0, 0.0);
            for _ in 0..200 {
                let report = step(&mut run, H);
                // all steps from touching: the normal impulse is that of the weight
                if rolls {
                    v += H * 5.0 / 7.0 * G * angle.sin();
                    spin = v / r;
                } else {
                    v += H * G * (angle.sin() - friction * angle.cos());
                    // I = 2/5 m r²
                    spin += H * 2.5 * friction * G * angle.cos() / r;
                }
                x += H * v;
                let twist = twist_of(&run, ball);
                let at = pose_of(&run, ball).translation.vector - r * up;
                // round-off of 200 solves of speeds up to 10 and spins up to 50
                assert!((twist.linear - v * down).norm() < 1e-11, "{:?} instead of {v}", twist.linear);
                assert!((twist.angular - spin * up.cross(&down)).norm() < 1e-10);
                assert!((at - x * down).norm() < 1e-11);
                let mode = if rolls { Mode::Stick } else { Mode::Slip };
                assert!(report.contacts.iter().all(|c| c.mode == mode));
            }
        }
    }
}

/// How far a body moves in 2 s on the floor.
fn creep(body: Body, scheme: Scheme) -> (f64, f64, usize) {
    let mut world = World::new(gravity());
    floor(&mut world, 0.5);
    let body = world.add_body(body);
    let mut run = simulation(world, scheme);
    let start = pose_of(&run, body);
    let mut contacts = 0;
    for _ in 0..200 {
        let report = step(&mut run, H);
        contacts = report.contacts.iter().filter(|c| c.gap.abs() < 1e-9).count();
        assert!(report.infeasibility < 1e-12);
    }
    let end = pose_of(&run, body);
    let moved = (end.translation.vector - start.translation.vector).norm();
    (moved, end.rotation.angle_to(&start.rotation), contacts)
}

#[test]
fn bodies_on_the_floor_stay_put() {
    let up = |z: f64| Isometry3::translation(0.3, -0.2, z);
    let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    let cases = [
        (Body::rigid("box", Mass::Density(500.0)).with(cuboid([0.2, 0.3, 0.1], 0.5)).at(up(0.1)), 4),
        (
            Body::rigid("capsule", Mass::Density(500.0))
                .with(Attached::new(Shape::Capsule { half_length: 0.3, radius: 0.1 }))
                .at(Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.1).into(), lying)),
            2,
        ),
        (
            Body::rigid("ellipsoid", Mass::Density(500.0))
                .with(Attached::new(Shape::Ellipsoid { semi_axes: [0.3, 0.2, 0.1] }))
                .at(up(0.1)),
            1,
        ),
        (Body::point("point", 2.0).with(Attached::new(Shape::Sphere { radius: 0.1 })).at(up(0.1)), 1),
    ];
    for (body, contacts) in cases {
        for scheme in [Scheme::ah04(), Scheme::default(), Scheme::st00(), Scheme::ap97()] {
            let (moved, turned, found) = creep(body.clone(), scheme);
            // 200 solves, each to round-off of ‖g‖h, and as many displacements
            assert!(moved < 1e-12 && turned < 1e-12, "{} moves by {moved} m, {turned} rad", body.name);
            assert_eq!(found, contacts, "{}", body.name);
        }
    }
}

fn two_spheres(friction_point: FrictionPoint) -> Simulation<Model> {
    let mut world = World::new(Vector3::zeros());
    world.friction_point = friction_point;
    let ball = |name: &str, density: f64| {
        let shape = Attached::new(Shape::Sphere { radius: 0.2 });
        Body::rigid(name, Mass::Density(density)).with(shape.material(slippery(0.4)))
    };
    let spin = Vector3::new(3.0, -2.0, 9.0);
    world.add_body(ball("a", 300.0).moving(Twist::new(Vector3::x() * 2.0, spin)));
    world.add_body(ball("b", 700.0).at(Isometry3::translation(0.7, 0.15, 0.1)));
    simulation(world, Scheme::ah04())
}

/// The largest changes of linear and angular momentum of two spheres that collide.
fn momentum_changes(friction_point: FrictionPoint) -> (f64, f64, bool) {
    let mut run = two_spheres(friction_point);
    let first = step(&mut run, H);
    let (mut linear, mut angular, mut struck): (f64, f64, bool) = (0.0, 0.0, false);
    for _ in 0..60 {
        let report = step(&mut run, H);
        let change = |a: [f64; 3], b: [f64; 3]| (Vector3::from(a) - Vector3::from(b)).norm();
        linear = linear.max(change(report.linear_momentum, first.linear_momentum));
        angular = angular.max(change(report.angular_momentum, first.angular_momentum));
        struck |= report.contacts.iter().any(|c| Vector3::from(c.friction_impulse).norm() > 0.1);
    }
    (linear, angular, struck)
}

#[test]
fn momentum_is_kept_when_spheres_collide_with_friction() {
    let (linear, angular, struck) = momentum_changes(FrictionPoint::Common);
    assert!(struck);
    // of 20 N s and 10 N m s; equal moments of inertia make the gyroscopic force vanish
    assert!(linear < 1e-12 && angular < 1e-12, "{linear}, {angular}");
    // the negative control: friction at each surface is a couple while the gap is open
    let (linear, angular, _) = momentum_changes(FrictionPoint::Surface);
    assert!(linear < 1e-12 && angular > 1e-4, "{linear}, {angular}");
}

#[test]
fn restitution_is_newtons() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = World::new(gravity());
        floor(&mut world, 0.0);
        let shape = Attached::new(Shape::Sphere { radius: 0.1 });
        let shape = shape.material(Material { friction: 0.0, restitution: e, ..Material::default() });
        let ball = Body::rigid("ball", Mass::Density(500.0)).with(shape);
        let ball = world.add_body(ball.at(Isometry3::translation(0.0, 0.0, 0.6)));
        let mut run = simulation(world, Scheme::ah04());
        let mut before = 0.0;
        let after = loop {
            step(&mut run, 0.001);
            let v = twist_of(&run, ball).linear.z;
            if v > before {
                break v;
            }
            before = v;
        };
        if e > 0.0 {
            // e of the speed the step began with
            assert!((after + e * before).abs() < 1e-12, "{after} after {before}");
        } else {
            // what is left of the gap is closed, and then nothing moves
            assert!(after <= 0.0);
            step(&mut run, 0.001);
            assert!(twist_of(&run, ball).linear.z.abs() < 1e-12);
        }
    }
}

/// A box on what `carrier` is, and its velocity along x step by step.
fn carried(carrier: Body, friction: f64, steps: usize) -> (Simulation<Model>, BodyId, Vec<f64>) {
    let mut world = World::new(gravity());
    world.add_body(carrier);
    let shape = cuboid([0.2, 0.2, 0.05], friction);
    let body =
        Body::rigid("box", Mass::Density(500.0)).with(shape).at(Isometry3::translation(0.0, 0.0, 0.05));
    let body = world.add_body(body);
    let mut run = simulation(world, Scheme::default());
    let one = |_| {
        let report = step(&mut run, H);
        assert!(report.infeasibility < 1e-9, "{}", report.infeasibility);
        twist_of(&run, body).linear.x
    };
    let speeds = (0..steps).map(one).collect();
    (run, body, speeds)
}

#[test]
fn a_conveyor_takes_a_box_along() {
    let belt = Attached::new(Shape::HalfSpace).material(slippery(0.3)).surface_velocity(Vector3::x() * 1.5);
    let (_, _, speeds) = carried(Body::fixed("belt").with(belt), 0.3, 100);
    for (k, v) in speeds.iter().enumerate() {
        let exact = (0.3 * G * H * (k + 1) as f64).min(1.5);
        assert!((v - exact).abs() < 1e-12, "{v} instead of {exact}");
    }
}

#[test]
fn a_lift_and_a_shuttle_carry_a_box() {
    // a table that moves up and down and sideways; friction holds at these accelerations
    let path = Path::new(|t: f64| {
        let at = Isometry3::translation(0.2 * (1.0 - (2.0 * t).cos()), 0.0, 0.1 * (3.0 * t).sin());
        (at, Twist::new(Vector3::new(0.4 * (2.0 * t).sin(), 0.0, 0.3 * (3.0 * t).cos()), Vector3::zeros()))
    });
    let table = Attached::new(Shape::HalfSpace).material(slippery(0.5));
    let (run, body, _) = carried(Body::kinematic("table", path).with(table), 0.5, 400);
    let (t, at) = (run.state().t, pose_of(&run, body).translation.vector);
    // the velocity is that of the start of the step: half a step of acceleration, 0.9 m/s², behind in place
    let lag = 0.5 * H * 0.8;
    assert!((at.x - 0.2 * (1.0 - (2.0 * t).cos())).abs() < 2.0 * lag, "{at:?}");
    assert!((at.z - 0.05 - 0.1 * (3.0 * t).sin()).abs() < 1e-9, "{at:?}");
}

#[test]
fn a_slider_along_the_surface_has_no_contact() {
    // a kinematic capsule that turns about its own axis under a slider whose axis lies in its surface
    let path = Path::new(|t: f64| {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 2.0 * t)
            * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
        (
            Isometry3::from_parts(Vector3::zeros().into(), turn),
            Twist::new(Vector3::zeros(), Vector3::x() * 2.0),
        )
    });
    let mut world = World::new(gravity());
    let roller = Attached::new(Shape::Capsule { half_length: 1.0, radius: 0.5 }).material(slippery(1.0));
    world.add_body(Body::kinematic("roller", path).with(roller));
    let slide = Attached::new(Shape::Sphere { radius: 0.1 }).material(slippery(1.0));
    // the surface passes below at ω r = −1 m/s
    let ball = Body::slider("ball", 1.0, Vector3::y()).with(slide).at(Isometry3::translation(0.0, 0.0, 0.6));
    let ball = world.add_body(ball);
    let mut run = simulation(world, Scheme::ah04());
    step(&mut run, 0.001);
    // the normal is across the slider's axis: no push, no contact, no failure
    assert_eq!(twist_of(&run, ball).linear, Vector3::zeros());
}

#[test]
fn a_composite_body_balances_about_its_centre_of_mass() {
    // two unlike spheres on a body, the frame at the first: the dumbbell rests on both
    let mut world = World::new(gravity());
    floor(&mut world, 0.5);
    let ball =
        |x: f64, r: f64| Attached::new(Shape::Sphere { radius: r }).at(Isometry3::translation(x, 0.0, 0.0));
    let body = Body::rigid("dumbbell", Mass::Density(100.0)).with(ball(0.0, 0.1)).with(ball(1.0, 0.1));
    let body = world.add_body(body.at(Isometry3::translation(0.0, 0.0, 0.1)));
    let mut run = simulation(world, Scheme::default());
    let mass = run.system().mass_properties(body).unwrap();
    let one = 100.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    assert!((mass.mass - 2.0 * one).abs() < 1e-12 * one);
    assert!((mass.centre - Point3::new(0.5, 0.0, 0.0)).norm() < 1e-15);
    let across = 2.0 * one * (0.4 * 0.01 + 0.25);
    assert!((mass.inertia[(1, 1)] - across).abs() < 1e-12 && (mass.inertia[(2, 2)] - across).abs() < 1e-12);
    let mut impulses = Vec::new();
    for _ in 0..100 {
        impulses = step(&mut run, H).contacts.iter().map(|c| c.normal_impulse).collect();
    }
    assert!((pose_of(&run, body).translation.z - 0.1).abs() < 1e-12);
    assert!(impulses.iter().all(|p| (p - one * G * H).abs() < 1e-9 * one), "{impulses:?}");
}
