//! Impacts: bounces that end, chains of balls, mirrored boxes, and the energy of restitution with friction.

use crate::common::{G, RunSummary, planar, run, spatial, step};
use nalgebra::{Isometry2, Isometry3, Point2, Vector2, Vector3};
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Model, Shape, Twist, World};
use stiction::{ImpactReport, Level, Material, Scheme, Simulation, Trapezoidal, spatial as space};

fn material(friction: f64, restitution: f64) -> Material {
    Material { friction, restitution, ..Material::default() }
}

/// Asserts that the compression takes energy and that a participant approached.
fn closes(impact: &ImpactReport) {
    assert!(impact.compressed <= impact.before * (1.0 + 1e-12), "{impact:?}");
    assert!(impact.approaches.iter().any(|a| a.1 > 0.0), "{impact:?}");
    assert!(impact.after.is_finite() && impact.factor == 1.0, "{impact:?}");
}

#[test]
fn a_ball_bounces_at_closed_form_times_until_the_stated_speed_and_rests() {
    let (e, height): (f64, f64) = (0.5, 1.0);
    for slowest in [1e-3, 1e-5] {
        for h in [0.02, 0.005] {
            let mut world = space::World::new(-G * Vector3::z());
            let floor = space::Attached::new(space::Shape::HalfSpace).material(material(0.0, e));
            world.add_body(space::Body::fixed("floor").with(floor));
            let ball = space::Attached::new(space::Shape::Sphere { radius: 0.1 }).material(material(0.0, e));
            let ball = space::Body::rigid("ball", space::Mass::Density(1000.0)).with(ball);
            let ball = world.add_body(ball.at(Isometry3::translation(0.0, 0.0, 0.1 + height)));
            let mut simulation = spatial(world);
            simulation.scheme.restitution_speed = Some(slowest);
            let summary = run(&mut simulation, h, 1.6);

            let mut speed = (2.0 * G * height).sqrt();
            let mut t = speed / G;
            let mut exact = vec![t];
            // below that return speed there is no restitution
            while e * speed > slowest {
                speed *= e;
                t += 2.0 * speed / G;
                exact.push(t);
            }
            let times: Vec<f64> = summary.impacts.iter().map(|i| i.t).collect();
            assert_eq!(times.len(), exact.len(), "{times:?} {exact:?}");
            for (t, exact) in times.iter().zip(&exact) {
                // round-off of positions over the closing speed
                assert!((t - exact).abs() < 1e-9, "{t} not {exact}");
            }
            for impact in &summary.impacts {
                closes(impact);
                let returned = if e * impact.approaches[0].1 > slowest { e * e } else { 0.0 };
                assert!((impact.after - returned * impact.before).abs() <= 1e-10 * impact.before);
            }
            assert!(!summary.cut, "a limit of 60 events in a step is enough");
            let z = simulation.system().centre(simulation.state(), ball).expect("the ball").z;
            assert!((z - 0.1).abs() < 1e-12, "rests at {z}");
            let report = step(&mut simulation, h);
            assert!(report.kinetic < 1e-20 && report.events.is_empty());
            assert_eq!(report.contacts.len(), 1);
        }
    }
}

/// Balls of 1 kg in a row along x with a gap, the first at 2 m/s.
fn row(gap: f64) -> (Simulation<Model>, Vec<BodyId>) {
    let mut world = World::new(Vector2::zeros());
    let shape = || Attached::new(Shape::Disk { radius: 0.1 }).material(material(0.0, 1.0));
    let ball = |name: &str, x: f64, speed: f64| {
        let body = Body::rigid(name, Mass::given(1.0, 0.005)).with(shape());
        body.at(Isometry2::translation(x, 0.0)).moving(Twist::new(Vector2::new(speed, 0.0), 0.0))
    };
    let second = 0.5;
    let balls = [("one", 0.0, 2.0), ("two", second, 0.0), ("three", second + 0.2 + gap, 0.0)];
    let balls = balls.into_iter().map(|(name, x, v)| world.add_body(ball(name, x, v))).collect();
    (planar(world), balls)
}

fn speeds(simulation: &Simulation<Model>, balls: &[BodyId]) -> Vec<f64> {
    let speed = |&id| simulation.system().velocity(simulation.state(), id).expect("a ball").linear.x;
    balls.iter().map(speed).collect()
}

#[test]
fn a_ball_strikes_two_that_touch() {
    for (gap, expected) in [(0.0, [-2.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0]), (1e-6, [0.0, 0.0, 2.0])] {
        let (mut simulation, balls) = row(gap);
        let summary = run(&mut simulation, 0.01, 0.5);
        for (speed, expected) in speeds(&simulation, &balls).iter().zip(expected) {
            assert!((speed - expected).abs() < 1e-10, "gap {gap}: {:?}", speeds(&simulation, &balls));
        }
        assert!(summary.energy < 1e-12);
        assert_eq!(summary.impacts.len(), if gap > 0.0 { 2 } else { 1 });
        for impact in &summary.impacts {
            closes(impact);
            assert!((impact.after / impact.before - 1.0).abs() < 1e-12, "{impact:?}");
        }
    }
}

/// Box that lands flat on two corners.
fn flat(mirror: f64, speed: f64, spin: f64, e: f64) -> ([f64; 3], RunSummary) {
    let mut world = World::new(Vector2::new(0.0, -G));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material(0.4, e))));
    let shape = stiction::planar::Polygon::rectangle([0.3, 0.2]).expect("a box");
    let shape = Attached::new(Shape::Polygon(shape)).material(material(0.4, e));
    let twist = Twist::new(Vector2::new(mirror * speed, -1.0), mirror * spin);
    let body = Body::rigid("box", Mass::given(2.0, 0.1)).with(shape);
    let body = world.add_body(body.at(Isometry2::translation(0.0, 0.2)).moving(twist));
    let mut simulation = planar(world);
    // later impacts on one corner after the other amplify round-off
    let summary = run(&mut simulation, 1e-3, 1e-3);
    assert_eq!(summary.impacts.len(), 1);
    let twist = simulation.system().velocity(simulation.state(), body).expect("the box");
    ([mirror * twist.linear.x, twist.linear.y, mirror * twist.angular], summary)
}

#[test]
fn a_box_on_two_corners_is_its_mirror_image() {
    for e in [0.0, 0.5, 1.0] {
        for (speed, spin) in [(0.0, 0.0), (0.7, 0.0), (2.0, 0.0), (0.7, 0.4)] {
            let (one, summary) = flat(1.0, speed, spin, e);
            let (other, _) = flat(-1.0, speed, spin, e);
            for (a, b) in one.iter().zip(&other) {
                assert!((a - b).abs() < 1e-12, "e = {e}, {speed} m/s, {spin} rad/s: {one:?} {other:?}");
            }
            if speed == 0.0 && spin == 0.0 {
                assert!(one[0].abs() < 1e-12 && one[2].abs() < 1e-12, "{one:?}");
            }
            summary.impacts.iter().for_each(closes);
        }
    }
}

/// Impact of the double pendulum of Kane and Levinson, whose tip strikes a rough floor.
fn kane(
    settings: Trapezoidal,
    friction: f64,
    e: f64,
    angles: [f64; 2],
    rates: [f64; 2],
) -> Option<ImpactReport> {
    let mut world = World::new(Vector2::zeros());
    let tip = Vector2::new(angles[0].sin() + angles[1].sin(), -angles[0].cos() - angles[1].cos());
    let floor = Attached::new(Shape::HalfPlane).material(material(friction, e));
    let ground = world.add_body(Body::fixed("floor").at(Isometry2::translation(0.0, tip.y)).with(floor));
    let down = |angle: f64| Vector2::new(angle.sin(), -angle.cos());
    let across = |angle: f64| Vector2::new(angle.cos(), angle.sin());
    let rod = |name: &str, at: Vector2<f64>, angle: f64, v: Vector2<f64>, rate: f64| {
        let body = Body::rigid(name, Mass::given(1.0, 1.0 / 12.0)).moving(Twist::new(v, rate));
        body.at(Isometry2::new(at, angle))
    };
    let [a, b] = angles;
    let elbow = down(a);
    let one = world.add_body(rod("upper", 0.5 * down(a), a, 0.5 * rates[0] * across(a), rates[0]));
    let speed = rates[0] * across(a) + 0.5 * rates[1] * across(b);
    let point = Attached::new(Shape::Disk { radius: 0.0 }).material(material(friction, e));
    let point = point.at(Isometry2::translation(0.0, -0.5));
    let two = world.add_body(rod("lower", elbow + 0.5 * down(b), b, speed, rates[1]).with(point));
    let joint = Joint::revolute("shoulder", &world, ground, one, Point2::origin());
    world.add_joint(joint);
    let joint = Joint::revolute("elbow", &world, one, two, elbow.into());
    world.add_joint(joint);
    let mut simulation = planar(world);
    simulation.scheme = Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() };
    let report = step(&mut simulation, 1e-4);
    report.impacts.first().cloned()
}

/// Impact of a rod that strikes the floor with one end.
fn rod(
    settings: Trapezoidal,
    mu: f64,
    e: f64,
    angle: f64,
    v: [f64; 3],
    inertia: f64,
) -> Option<ImpactReport> {
    let mut world = World::new(Vector2::zeros());
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material(mu, e))));
    let point = Attached::new(Shape::Disk { radius: 0.0 }).material(material(mu, e));
    let body =
        Body::rigid("rod", Mass::given(1.0, inertia)).with(point.at(Isometry2::translation(0.0, -0.5)));
    let body = body.at(Isometry2::new(Vector2::new(0.0, 0.5 * angle.cos()), angle));
    world.add_body(body.moving(Twist::new(Vector2::new(v[0], v[1]), v[2])));
    let mut simulation = planar(world);
    simulation.scheme = Scheme { level: Level::Trapezoidal(settings), ..Scheme::pagt06() };
    let report = step(&mut simulation, 1e-4);
    report.impacts.first().cloned()
}

#[test]
fn restitution_with_friction_adds_no_energy_unless_it_is_printed_so() {
    let printed = Trapezoidal { printed_decompression: true, ..Trapezoidal::default() };
    let safe = Trapezoidal { energy_safe: true, ..printed };
    let strike = |settings| rod(settings, 2.0, 1.0, 0.85, [1.0, -1.0, -4.0], 0.01).expect("an impact");
    // the compression nearly stops the rod; friction not bounded by the returned impulses accelerates it again
    let gain = strike(printed);
    assert!(gain.after > 5.0 * gain.before && gain.factor == 1.0, "{gain:?}");
    let kept = strike(safe);
    assert!(kept.after <= kept.before * (1.0 + 1e-13) && kept.factor < 1.0, "{kept:?}");
    assert!(kept.after > 0.999_999 * kept.before, "as much as is allowed: {kept:?}");
    let own = strike(Trapezoidal::default());
    assert!(own.after <= own.before, "{own:?}");
    assert_eq!(own, strike(Trapezoidal { energy_safe: true, ..Trapezoidal::default() }));

    let mut strikes = 0;
    for mu in [0.1, 0.5, 2.0] {
        for angle in [-1.4, -0.9, -0.4, 0.1, 0.6, 1.1] {
            for (speed, spin) in [(-3.0, 4.0), (-0.3, -1.0), (0.0, 0.0), (0.3, 4.0), (3.0, -4.0)] {
                let struck = rod(Trapezoidal::default(), mu, 1.0, angle, [speed, -1.0, spin], 1.0 / 12.0);
                let Some(impact) = struck else { continue };
                closes(&impact);
                assert!(impact.after <= impact.before * (1.0 + 1e-13), "{impact:?}");
                strikes += 1;
            }
        }
    }
    assert!(strikes > 60, "{strikes}");
}

#[test]
fn a_pendulum_that_strikes_a_rough_floor_loses_energy() {
    let angles = [20f64.to_radians(), 30f64.to_radians()];
    for mu in [0.0, 0.3, 0.5, 1.0] {
        let strike = |settings| kane(settings, mu, 0.5, angles, [-0.1, -0.2]).expect("an impact");
        let own = strike(Trapezoidal::default());
        closes(&own);
        assert!(own.after < own.before, "{own:?}");
        let printed = strike(Trapezoidal { printed_decompression: true, ..Trapezoidal::default() });
        assert_eq!(printed.compressed, own.compressed);
        println!("μ = {mu}: {} J, {} J after, {} J as printed", own.before, own.after, printed.after);
        assert_eq!(mu == 0.0, printed.after == own.after, "the bound only matters with friction");
    }
}

#[test]
fn each_contact_has_its_own_restitution() {
    let mut world = space::World::new(-G * Vector3::z());
    let floor = space::Attached::new(space::Shape::HalfSpace).material(material(0.0, 0.0));
    world.add_body(space::Body::fixed("floor").with(floor));
    let coefficients = [0.0, 0.5, 1.0];
    let balls = coefficients.map(|e| {
        let shape = space::Attached::new(space::Shape::Sphere { radius: 0.1 }).material(material(0.0, e));
        let ball = space::Body::rigid(format!("ball {e}"), space::Mass::given(1.0, [0.004; 3])).with(shape);
        let down = space::Twist::new(-Vector3::z(), Vector3::zeros());
        world.add_body(ball.at(Isometry3::translation(e, 0.0, 0.1)).moving(down))
    });
    let mut simulation = spatial(world);
    let h = 1e-3;
    let report = step(&mut simulation, h);
    assert_eq!(report.impacts.len(), 1);
    assert_eq!(report.impacts[0].approaches.len(), 3);
    assert!((report.impacts[0].after - 0.5 * (0.25 + 1.0)).abs() < 1e-12);
    for (e, ball) in coefficients.into_iter().zip(balls) {
        let speed = simulation.system().velocity(simulation.state(), ball).expect("a ball").linear.z;
        let expected = if e > 0.0 { e - G * h } else { 0.0 };
        assert!((speed - expected).abs() < 1e-12, "e = {e}: {speed}");
    }
}

/// Mirror symmetry in the plane x = 0 of a box that falls on an edge, before and after the impact.
#[test]
fn a_box_in_space_on_two_corners_is_its_mirror_image() {
    for (e, spin) in [(0.0, 0.7), (0.5, 0.7), (1.0, 0.7), (0.5, -1.3)] {
        let mut world = space::World::new(-G * Vector3::z());
        let floor = space::Attached::new(space::Shape::HalfSpace).material(material(0.3, e));
        world.add_body(space::Body::fixed("floor").with(floor));
        let shape = space::Shape::Cuboid { half_extents: [0.3, 0.2, 0.1] };
        let tilt = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.4);
        let pose = Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.5).into(), tilt);
        let twist = space::Twist::new(Vector3::new(0.0, 0.2, 0.0), Vector3::new(spin, 0.0, 0.0));
        let body = space::Body::rigid("box", space::Mass::Density(500.0)).at(pose).moving(twist);
        world.add_body(body.with(space::Attached::new(shape).material(material(0.3, e))));
        let mut simulation = spatial(world);
        // up to a little after the first impact
        let summary = run(&mut simulation, 0.005, 0.32);
        assert_eq!(summary.impacts.first().map(|i| i.approaches.len()), Some(2), "e = {e}");
        let v = &simulation.state().v;
        // without symmetry it would move along x, or turn about y or z
        assert!([v[0], v[4], v[5]].iter().all(|x| x.abs() < 1e-12), "e = {e}: {v:?}");
        assert!(v[3].abs() > 0.1, "e = {e}: {v:?}");
    }
}
