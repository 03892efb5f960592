//! Timed steps in space: the measurements of the plane with disks as balls, turned worlds, tops, and balls that spin.

use crate::common::{G, STEPS, check, check_order, distance, listed};
use nalgebra::{Isometry3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use stiction::spatial::{Attached, Body, Force, Joint, Mass, Model, Path, Shape, Twist, World, Wrench};
use stiction::{Accuracy, Material, Scheme, Simulation, State};

fn surface(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

fn moving(linear: [f64; 3], angular: [f64; 3]) -> Twist {
    Twist::new(linear.into(), angular.into())
}

/// World with gravity along −z, turned about the vertical by an angle.
struct Turned {
    world: World,
    turn: UnitQuaternion<f64>,
}

impl Turned {
    fn new(angle: f64) -> Self {
        let world = World::new(Vector3::new(0.0, 0.0, -G));
        Self { world, turn: UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle) }
    }

    fn add(&mut self, body: Body) -> stiction::BodyId {
        let turn = Isometry3::from_parts(Translation3::identity(), self.turn);
        let Twist { linear, angular } = body.velocity;
        let pose = turn * body.pose;
        self.world.add_body(body.at(pose).moving(Twist::new(self.turn * linear, self.turn * angular)))
    }

    fn floor(&mut self, friction: f64) {
        let shape = Attached::new(Shape::HalfSpace).material(surface(friction));
        self.world.add_body(Body::fixed("floor").with(shape));
    }
}

fn brick(name: &str, mass: f64, half: [f64; 3], friction: f64) -> Body {
    let [a, b, c] = half.map(|x| x * x);
    let inertia = [b + c, a + c, a + b].map(|sum| mass * sum / 3.0);
    let shape = Attached::new(Shape::Cuboid { half_extents: half }).material(surface(friction));
    Body::rigid(name, Mass::given(mass, inertia)).with(shape)
}

fn ball(name: &str, mass: f64, radius: f64, friction: f64) -> Body {
    let shape = Attached::new(Shape::Sphere { radius }).material(surface(friction));
    Body::rigid(name, Mass::given(mass, [0.4 * mass * radius * radius; 3])).with(shape)
}

fn run(world: &World, h: f64, until: f64) -> (Model, State) {
    let mut simulation = Simulation::new(world.clone().build().unwrap()).with_scheme(Scheme::default());
    simulation
        .record(until, h, |_, _, report| assert_eq!(report.work.loose, 0, "a loose step at {} s", report.t))
        .unwrap();
    (simulation.system().clone(), simulation.state().clone())
}

/// Place of a body at the end, turned back.
fn place(turned: &Turned, body: stiction::BodyId, h: f64, until: f64) -> Vector3<f64> {
    let (model, state) = run(&turned.world, h, until);
    turned.turn.inverse() * model.centre(&state, body).unwrap().coords
}

/// Angles of the turned worlds [rad].
const TURNS: [f64; 2] = [0.0, std::f64::consts::PI / 6.0];

#[test]
fn a_box_slides_and_stops() {
    for turn in TURNS {
        let error = |h: f64| {
            let off = [2.7, 2.85, 3.0, 3.15, 3.3].map(|v: f64| {
                let mut turned = Turned::new(turn);
                turned.floor(0.3);
                let body = brick("box", 1.0, [0.2, 0.15, 0.1], 0.3).at(at(0.0, 0.0, 0.1));
                let body = turned.add(body.moving(moving([v, 0.0, 0.0], [0.0; 3])));
                let end = place(&turned, body, h, 1.5);
                // straight on
                assert!(end.y.abs() < 1e-9, "{} m aside", end.y);
                (end.x - v * v / (2.0 * 0.3 * G)).abs()
            });
            off.into_iter().fold(0.0, f64::max)
        };
        check(&format!("slide and stop at {turn}"), [1.47e-4, 2.8e-5, 9.2e-6, 2.3e-6], error, 1.3);
    }
}

#[test]
fn a_ball_slips_until_it_rolls() {
    for turn in TURNS {
        let error = |h: f64| {
            let off = [1.8, 1.9, 2.0, 2.1, 2.2].map(|v: f64| {
                let mut turned = Turned::new(turn);
                turned.floor(0.2);
                let body = ball("ball", 1.0, 0.1, 0.2).at(at(0.0, 0.0, 0.1));
                let body = turned.add(body.moving(moving([v, 0.0, 0.0], [0.0; 3])));
                // it rolls with 5/7 of its speed
                let (a, t) = (0.2 * G, 2.0 / 7.0 * v / (0.2 * G));
                let x = v * t - 0.5 * a * t * t + 5.0 / 7.0 * v * (1.0 - t);
                (place(&turned, body, h, 1.0).x - x).abs()
            });
            off.into_iter().fold(0.0, f64::max)
        };
        let errors = check(&format!("slip to roll at {turn}"), [8.4e-5, 2.4e-5, 6.0e-6, 1.5e-6], error, 1.3);
        check_order("slip to roll", errors);
    }
}

#[test]
fn a_box_sticks_to_a_plate_that_accelerates() {
    for turn in TURNS {
        let axis = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn) * Vector3::x();
        let path = Path::new(move |t: f64| {
            let place = 0.05 * (4.0 * t).sin() * axis;
            let pose = Isometry3::from_parts(place.into(), UnitQuaternion::identity());
            (pose, Twist::new(0.2 * (4.0 * t).cos() * axis, Vector3::zeros()))
        });
        let mut turned = Turned::new(turn);
        let plate = Attached::new(Shape::HalfSpace).material(surface(0.5));
        turned.world.add_body(Body::kinematic("plate", path).with(plate));
        let body = brick("box", 3.0, [0.2, 0.15, 0.1], 0.5).at(at(0.0, 0.0, 0.1));
        let body = turned.add(body.moving(moving([0.2, 0.0, 0.0], [0.0; 3])));
        let drift = |h: f64| {
            let model = turned.world.clone().build().unwrap();
            let mut simulation = Simulation::new(model).with_scheme(Scheme::default());
            let drifts = simulation.record(5.0, h, |model, state, _| {
                let place = model.centre(state, body).unwrap().coords;
                (place - Vector3::new(0.0, 0.0, 0.1) - 0.05 * (4.0 * state.t).sin() * axis).norm()
            });
            drifts.unwrap().values.into_iter().fold(0.0, f64::max)
        };
        let errors = check(&format!("plate at {turn}"), [2.67e-5, 6.67e-6, 1.67e-6, 4.2e-7], drift, 1.3);
        check_order("plate", errors);
    }
}

/// Error of a plate of 10 kg on four balls of 1 kg, pulled by 5 cos 3t: each ball counts as (1 + 2/5)/4 kg.
#[test]
fn a_plate_rolls_on_four_balls() {
    for turn in TURNS {
        let error = |h: f64| {
            let mut turned = Turned::new(turn);
            turned.floor(0.5);
            for (x, y) in [(-0.3, -0.2), (0.3, -0.2), (-0.3, 0.2), (0.3, 0.2)] {
                turned.add(ball(&format!("ball at {x} {y}"), 1.0, 0.1, 0.5).at(at(x, y, 0.1)));
            }
            let plate = turned.add(brick("plate", 10.0, [1.0, 0.6, 0.05], 0.5).at(at(0.0, 0.0, 0.25)));
            let axis = turned.turn * Vector3::x();
            let pull = move |t: f64| Wrench { force: 5.0 * (3.0 * t).cos() * axis, torque: Vector3::zeros() };
            turned.world.add_force(Force::timed(plate, pull));
            (place(&turned, plate, h, 1.0).x - 5.0 / 11.4 * (1.0 - 3f64.cos()) / 9.0).abs()
        };
        let errors = check(&format!("four balls at {turn}"), [1.54e-5, 3.9e-6, 9.6e-7, 2.4e-7], error, 1.3);
        check_order("four balls", errors);
    }
}

#[test]
fn a_chain_of_five_falls() {
    for turn in TURNS {
        let mut turned = Turned::new(turn);
        let mut before = turned.world.add_body(Body::fixed("ground"));
        for k in 0..5 {
            let x = 0.5 * f64::from(k);
            let across = 0.25 / 12.0;
            let rod = Body::rigid(format!("rod {k}"), Mass::given(1.0, [across; 3]));
            let rod = turned.add(rod.at(at(x + 0.25, 0.0, 0.0)));
            let joint = Joint::spherical(
                format!("joint {k}"),
                &turned.world,
                before,
                rod,
                Point3::from(turned.turn * Vector3::new(x, 0.0, 0.0)),
            );
            turned.world.add_joint(joint);
            before = rod;
        }
        let mut exact = Simulation::new(turned.world.clone().build().unwrap());
        exact.run_to_accuracy(1.0, &Accuracy::of(1e-11), &[], |_, _| ()).unwrap();
        let centres = |model: &Model, state: &State| -> Vec<f64> {
            let rods = turned.world.bodies().filter(|(_, body)| body.moves());
            rods.flat_map(|(id, _)| {
                model.centre(state, id).unwrap().coords.iter().copied().collect::<Vec<_>>()
            })
            .collect()
        };
        let reference = centres(exact.system(), exact.state());
        let error = |h: f64| {
            let (model, state) = run(&turned.world, h, 1.0);
            distance(&centres(&model, &state), &reference)
        };
        let errors = check(&format!("chain at {turn}"), [9.11e-3, 2.19e-3, 4.71e-4, 1.09e-4], error, 1.3);
        check_order("chain", errors);
    }
}

/// Orientation of a free top at T = 1, and its energy and momentum over 100 s.
#[test]
fn a_free_top_keeps_energy_and_momentum() {
    let mut world = World::new(Vector3::zeros());
    let top = Body::rigid("top", Mass::given(1.0, [0.01, 0.02, 0.03]));
    let top = world.add_body(top.moving(moving([0.0; 3], [1.0, 5.0, 2.0])));
    let mut exact = Simulation::new(world.clone().build().unwrap());
    exact.run_to_accuracy(1.0, &Accuracy::of(1e-12), &[], |_, _| ()).unwrap();
    let reference = exact.system().pose(exact.state(), top).unwrap().rotation;
    let error = |h: f64| {
        let (model, state) = run(&world, h, 1.0);
        model.pose(&state, top).unwrap().rotation.angle_to(&reference)
    };
    let errors = check("top", [2.24e-3, 5.6e-4, 1.4e-4, 3.5e-5], error, 1.3);
    check_order("top", errors);
    let mut simulation = Simulation::new(world.build().unwrap()).with_scheme(Scheme::default());
    let start = simulation.observe().unwrap();
    let [mut energy, mut momentum] = [0.0f64; 2];
    simulation
        .record(100.0, 0.01, |_, _, r| {
            energy = energy.max((r.kinetic / start.kinetic - 1.0).abs());
            let off = Vector3::from(r.angular_momentum) - Vector3::from(start.angular_momentum);
            momentum = momentum.max(off.norm());
        })
        .unwrap();
    println!("top: energy {energy:e} of itself, momentum {momentum:e} N m s");
    assert!(energy <= 1e-11 && momentum <= 1e-12, "energy {energy:e}, momentum {momentum:e}");
}

/// Ball that rolls on a turntable: its contact point circles with 2/7 of the speed of the table.
#[test]
fn a_ball_rolls_on_a_turntable() {
    let spin = 3.0;
    let path = Path::new(move |t: f64| {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), spin * t);
        (Isometry3::from_parts(Translation3::identity(), turn), moving([0.0; 3], [0.0, 0.0, spin]))
    });
    let table = Attached::new(Shape::HalfSpace).material(surface(0.8));
    let mut world = World::new(Vector3::new(0.0, 0.0, -G));
    world.add_body(Body::kinematic("table", path).with(table));
    // v' = (2/7) Ω × v: a circle of radius |v| / (2Ω/7) about the centre c with v = (2/7) Ω × (x − c)
    let (radius, x, v) = (0.1, 0.5, Vector3::new(0.0, 0.3, 0.0));
    let body = ball("ball", 1.0, radius, 0.8).at(at(x, 0.0, radius));
    // no slip: v + ω × (−r z) = Ω z × x
    let slip = v - Vector3::new(0.0, spin * x, 0.0);
    let body = body.moving(moving(v.into(), [-slip.y / radius, slip.x / radius, 0.0]));
    let id = world.add_body(body);
    let rate = 2.0 / 7.0 * spin;
    let centre = Vector3::new(x, 0.0, 0.0) - Vector3::new(v.y, -v.x, 0.0) / rate;
    let end = centre
        + Rotation3::from_axis_angle(&Vector3::z_axis(), 2.0 * rate) * (Vector3::new(x, 0.0, 0.0) - centre);
    let errors = STEPS.map(|h| {
        let (model, state) = run(&world, h, 2.0);
        (model.centre(&state, id).unwrap().coords - end - Vector3::new(0.0, 0.0, radius)).norm()
    });
    println!("turntable: {}", listed(&errors));
    assert!(errors[1] <= 1e-4, "{:e} m", errors[1]);
    check_order("turntable", errors);
}

/// Error of a billiard ball with draw: it slips along a parabola until it rolls.
fn draw_error(speed: f64, h: f64) -> f64 {
    let (radius, mu, t) = (0.03, 0.2, 0.8);
    let mut world = World::new(Vector3::new(0.0, 0.0, -G));
    world.add_body(Body::fixed("table").with(Attached::new(Shape::HalfSpace).material(surface(mu))));
    let (v, w) = (Vector3::new(speed, 0.0, 0.0), Vector3::new(20.0, -15.0, 0.0));
    let body = ball("ball", 0.2, radius, mu).at(at(0.0, 0.0, radius));
    let id = world.add_body(body.moving(Twist::new(v, w)));
    // slip u = v + ω × (−r z) keeps its direction and loses (7/2) μ g
    let slip = v - w.cross(&(radius * Vector3::z()));
    let (along, stop) = (slip.normalize(), slip.norm() / (3.5 * mu * G));
    assert!(stop < 0.6);
    let push = -mu * G * along;
    let end = v * stop + 0.5 * stop * stop * push + (v + stop * push) * (t - stop);
    let (model, state) = run(&world, h, t);
    (model.centre(&state, id).unwrap().coords - end - Vector3::new(0.0, 0.0, radius)).norm()
}

#[test]
fn billiard_balls_with_draw_curve() {
    let worst = |h: f64| [1.3, 1.4, 1.5, 1.6, 1.7].map(|v| draw_error(v, h)).into_iter().fold(0.0, f64::max);
    let errors = STEPS.map(worst);
    println!("billiard: {}", listed(&errors));
    assert!(errors[1] <= 1e-4, "{:e} m", errors[1]);
    check_order("billiard", errors);
}

/// Heavy top: a body on a spherical joint that precesses and nutates.
#[test]
fn a_heavy_top_precesses() {
    let mut world = World::new(Vector3::new(0.0, 0.0, -G));
    let ground = world.add_body(Body::fixed("ground"));
    let lean = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.4);
    let arm = lean * Vector3::new(0.0, 0.0, 0.3);
    let pose = Isometry3::from_parts(arm.into(), lean);
    let spin = lean * Vector3::new(0.0, 0.0, 20.0);
    let top = Body::rigid("top", Mass::given(1.0, [0.02, 0.02, 0.03])).at(pose);
    let top = world.add_body(top.moving(Twist::new(spin.cross(&arm), spin)));
    let joint = Joint::spherical("tip", &world, ground, top, Point3::origin());
    world.add_joint(joint);
    let mut exact = Simulation::new(world.clone().build().unwrap());
    exact.run_to_accuracy(1.0, &Accuracy::of(1e-11), &[], |_, _| ()).unwrap();
    let reference = exact.system().centre(exact.state(), top).unwrap();
    let errors = STEPS.map(|h| {
        let (model, state) = run(&world, h, 1.0);
        (model.centre(&state, top).unwrap() - reference).norm()
    });
    println!("heavy top: {}", listed(&errors));
    // the oscillation of the joint speeds dies within some twenty steps, and its part of the error falls faster than h²
    let [_, a, b, c] = errors;
    assert!((a / b).log2() > 1.75 && (b / c).log2() > 1.75, "{}", listed(&errors));
    assert!(c < 1e-4, "{c:e} m");
}

/// Errors of the place of a body after 0.5 s against a run to an accuracy of 1e-11.
fn errors_in_contact(world: &World, body: stiction::BodyId) -> [f64; 4] {
    let mut exact = Simulation::new(world.clone().build().unwrap());
    exact.run_to_accuracy(0.5, &Accuracy::of(1e-11), &[], |_, _| ()).unwrap();
    let reference = exact.system().pose(exact.state(), body).unwrap();
    STEPS.map(|h| {
        let (model, state) = run(world, h, 0.5);
        let pose = model.pose(&state, body).unwrap();
        let apart = (pose.translation.vector - reference.translation.vector).norm();
        apart.max(0.1 * pose.rotation.angle_to(&reference.rotation))
    })
}

/// Friction is against the slip at the end of a step: where its direction turns, as under a box that spins while it
/// slides, steps are of first order.
#[test]
fn a_box_spins_and_slides() {
    let mut turned = Turned::new(0.3);
    turned.floor(0.3);
    let body = brick("box", 1.0, [0.2, 0.15, 0.1], 0.3).at(at(0.0, 0.0, 0.1));
    let body = turned.add(body.moving(moving([3.0, 0.0, 0.0], [0.0, 0.0, 5.0])));
    let errors = errors_in_contact(&turned.world, body);
    println!("spinning box: {}", listed(&errors));
    let [_, a, b, c] = errors;
    assert!(a <= 1e-3 && a / b > 1.75 && b / c > 1.75, "{}", listed(&errors));
}

/// Heavy top whose round tip rolls and slips on a floor.
#[test]
fn a_heavy_top_spins_on_a_floor() {
    let mut world = World::new(Vector3::new(0.0, 0.0, -G));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(surface(0.3))));
    let lean = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.3);
    let (radius, arm) = (0.02, 0.1);
    let pose =
        Isometry3::from_parts((lean * Vector3::new(0.0, 0.0, arm) + Vector3::z() * radius).into(), lean);
    let tip = Attached::new(Shape::Sphere { radius }).at(at(0.0, 0.0, -arm)).material(surface(0.3));
    let top = Body::rigid("top", Mass::given(0.5, [1.5e-3, 1.5e-3, 2e-3])).at(pose).with(tip);
    let top = world.add_body(top.moving(Twist::new(Vector3::zeros(), lean * Vector3::new(0.0, 0.0, 60.0))));
    let errors = errors_in_contact(&world, top);
    println!("top on a floor: {}", listed(&errors));
    let [_, a, b, c] = errors;
    assert!((a / b).log2() > 1.75 && (b / c).log2() > 1.75 && c < 2e-4, "{}", listed(&errors));
}
