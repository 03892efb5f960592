//! Closed loops of hinges, redundant in space, against the quadrature of their one degree of freedom.
//!
//! Over revolutions: rows at the mean velocity ring with speeds of O(h²). If the midpoint moves with them, they grow with
//! every revolution of these machines.

use crate::common::{G, RunSummary, run, second_order, spatial};
use nalgebra::{Isometry3, Matrix2, Point3, UnitQuaternion, Vector2, Vector3};
use stiction::spatial::{Body, BodyId, Force, Joint, Mass, Model, Twist, World, Wrench};
use stiction::{Accuracy, EventLocation, Level, Midpoint, Scheme, Simulation, Trapezoidal};

/// Moment of inertia of a rod about its centre, across its axis.
fn about_middle(length: f64, mass: f64) -> f64 {
    mass * length * length / 12.0
}

/// Rod in the plane: its centre, its angle, and their rates per rate of the crank.
#[derive(Debug, Clone, Copy)]
struct Rod {
    at: Vector2<f64>,
    angle: f64,
    rate: Vector2<f64>,
    turn: f64,
    length: f64,
    mass: f64,
}

impl Rod {
    fn inertia(&self) -> f64 {
        self.mass * self.rate.norm_squared() + about_middle(self.length, self.mass) * self.turn * self.turn
    }
}

fn polar(length: f64, angle: f64) -> Vector2<f64> {
    length * Vector2::new(angle.cos(), angle.sin())
}

/// Rate of [`polar`] at unit angular rate.
fn across(length: f64, angle: f64) -> Vector2<f64> {
    length * Vector2::new(-angle.sin(), angle.cos())
}

/// Mechanism with one degree of freedom: its parts by the angle of the crank.
type Parts = fn(f64) -> Vec<Rod>;

/// Angle after a time, from energy: dθ/dt = √(2 (E − V(θ)) / I(θ)).
fn angle(parts: Parts, start: f64, rate: f64, until: f64, steps: usize) -> f64 {
    let potential = |parts: &[Rod]| parts.iter().map(|p| p.mass * G * p.at.y).sum::<f64>();
    let inertia = |parts: &[Rod]| parts.iter().map(Rod::inertia).sum::<f64>();
    let first = parts(start);
    let energy = potential(&first) + 0.5 * inertia(&first) * rate * rate;
    let rate = |angle: f64| {
        let parts = parts(angle);
        (2.0 * (energy - potential(&parts)) / inertia(&parts)).sqrt()
    };
    let h = until / steps as f64;
    let mut angle = start;
    for _ in 0..steps {
        let a = rate(angle);
        let b = rate(angle + 0.5 * h * a);
        let c = rate(angle + 0.5 * h * b);
        let d = rate(angle + h * c);
        angle += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    angle
}

/// Rod in the plane y = 0 of space, with x and z of the world.
fn body(name: &str, rod: &Rod, rate: f64) -> Body {
    let inertia = about_middle(rod.length, rod.mass);
    let mass = Mass::given(rod.mass, [0.1 * inertia, inertia, inertia]);
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -rod.angle);
    let at = Isometry3::from_parts(Vector3::new(rod.at.x, 0.0, rod.at.y).into(), turn);
    let linear = rate * Vector3::new(rod.rate.x, 0.0, rod.rate.y);
    Body::rigid(name, mass).at(at).moving(Twist::new(linear, -rate * rod.turn * Vector3::y()))
}

fn hinge(world: &mut World, name: &str, a: BodyId, b: BodyId, at: Vector2<f64>) {
    let joint = Joint::revolute(name, world, a, b, Point3::new(at.x, 0.0, at.y), Vector3::y());
    world.add_joint(joint);
}

/// Largest distance of the centres of the parts from their exact places.
fn off(simulation: &Simulation<Model>, bodies: &[BodyId], exact: &[Rod]) -> f64 {
    let model = simulation.system();
    let off = |(&id, rod): (&BodyId, &Rod)| {
        let at = model.pose(simulation.state(), id).expect("a body of the world").translation.vector;
        (at - Vector3::new(rod.at.x, 0.0, rod.at.y)).norm()
    };
    bodies.iter().zip(exact).map(off).fold(0.0, f64::max)
}

const CRANK: f64 = 0.3;
const ROD: f64 = 1.0;

/// Crank, rod and a slider along x.
fn slider_crank(angle: f64) -> Vec<Rod> {
    let pin = polar(CRANK, angle);
    let tilt = -(pin.y / ROD).asin();
    // the slider stays at height 0: CRANK cos θ + ROD cos(tilt) tilt' = 0
    let turn = -CRANK * angle.cos() / (ROD * tilt.cos());
    let crank =
        Rod { at: 0.5 * pin, angle, rate: 0.5 * across(CRANK, angle), turn: 1.0, length: CRANK, mass: 1.0 };
    let rate = across(CRANK, angle) + 0.5 * turn * across(ROD, tilt);
    let rod = Rod { at: pin + 0.5 * polar(ROD, tilt), angle: tilt, rate, turn, length: ROD, mass: 1.0 };
    let rate = across(CRANK, angle) + turn * across(ROD, tilt);
    let slider = Rod { at: pin + polar(ROD, tilt), angle: 0.0, rate, turn: 0.0, length: 0.2, mass: 2.0 };
    vec![crank, rod, slider]
}

/// Machine of hinges in the plane y = 0 of space, turning at a rate.
struct Machine {
    name: &'static str,
    parts: Parts,
    /// Angle [rad] and rate [rad/s] of the crank at the start.
    start: [f64; 2],
    world: fn(f64, f64) -> (World, Vec<BodyId>),
}

impl Machine {
    /// Error at the end of a run, and its summary.
    fn err(&self, settings: Trapezoidal, h: f64, until: f64) -> (f64, RunSummary) {
        let [start, rate] = self.start;
        let (world, bodies) = (self.world)(start, rate);
        let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let mut simulation = Simulation::new(model).with_scheme(Scheme::of(Level::Trapezoidal(settings)));
        let summary = run(&mut simulation, h, until);
        let exact = (self.parts)(angle(self.parts, start, rate, until, 80_000));
        let off = off(&simulation, &bodies, &exact);
        let RunSummary { energy, infeasibility, .. } = summary;
        println!("  {h}: off by {off:.2e}, energy by {energy:.2e}, joints by {infeasibility:.2e}");
        (off, summary)
    }

    fn is_of_second_order(&self, powers: std::ops::RangeInclusive<i32>, until: f64) {
        second_order(&format!("{} over {until} s", self.name), powers, |h| {
            let (off, summary) = self.err(Trapezoidal::default(), h, until);
            // rows at the mean velocity keep energy to round-off
            assert!(summary.energy < 1e-12, "{}", summary.energy);
            off
        });
    }
}

const SLIDER_CRANK: Machine =
    Machine { name: "slider-crank", parts: slider_crank, start: [0.4, 8.0], world: slider_crank_of_hinges };

fn bodies(world: &mut World, parts: &[Rod], rate: f64) -> Vec<BodyId> {
    let names = ["first", "second", "third"];
    parts.iter().zip(names).map(|(part, name)| world.add_body(body(name, part, rate))).collect()
}

fn slider_crank_of_hinges(start: f64, rate: f64) -> (World, Vec<BodyId>) {
    let parts = slider_crank(start);
    let mut world = World::new(-G * Vector3::z());
    let ground = world.add_body(Body::fixed("ground"));
    let bodies = bodies(&mut world, &parts, rate);
    hinge(&mut world, "main", ground, bodies[0], Vector2::zeros());
    hinge(&mut world, "pin", bodies[0], bodies[1], polar(CRANK, start));
    hinge(&mut world, "wrist", bodies[1], bodies[2], parts[2].at);
    let at = Point3::new(parts[2].at.x, 0.0, 0.0);
    let guide = Joint::prismatic("guide", &world, ground, bodies[2], at, Vector3::x());
    world.add_joint(guide);
    (world, bodies)
}

#[test]
fn a_slider_crank_of_hinges_is_of_second_order() {
    for until in [0.25, 1.0, 4.0] {
        SLIDER_CRANK.is_of_second_order(7..=11, until);
    }
}

const BARS: [f64; 3] = [0.4, 1.0, 0.8];
const GROUND: f64 = 0.9;

/// Crank, coupler and rocker; the rocker turns about (GROUND, 0).
fn four_bar(angle: f64) -> Vec<Rod> {
    let pin = polar(BARS[0], angle);
    // intersection of the circles about the pin and about the pivot of the rocker
    let to = Vector2::new(GROUND, 0.0) - pin;
    let d = to.norm();
    let along = (d * d + BARS[1] * BARS[1] - BARS[2] * BARS[2]) / (2.0 * d);
    let up = (BARS[1] * BARS[1] - along * along).sqrt();
    let joint = pin + along / d * to + up / d * Vector2::new(-to.y, to.x);
    let coupler = (joint - pin).y.atan2((joint - pin).x);
    let arm = joint - Vector2::new(GROUND, 0.0);
    let rocker = arm.y.atan2(arm.x);
    // across(crank) + coupler' across(coupler) = rocker' across(rocker)
    let columns = Matrix2::from_columns(&[across(BARS[1], coupler), -across(BARS[2], rocker)]);
    let turns = -columns.try_inverse().expect("no dead centre") * across(BARS[0], angle);
    let crank = Rod {
        at: 0.5 * pin,
        angle,
        rate: 0.5 * across(BARS[0], angle),
        turn: 1.0,
        length: BARS[0],
        mass: 1.0,
    };
    let rate = across(BARS[0], angle) + 0.5 * turns.x * across(BARS[1], coupler);
    let middle = 0.5 * (pin + joint);
    let coupler = Rod { at: middle, angle: coupler, rate, turn: turns.x, length: BARS[1], mass: 1.5 };
    let rate = 0.5 * turns.y * across(BARS[2], rocker);
    let middle = Vector2::new(GROUND, 0.0) + 0.5 * arm;
    let rocker = Rod { at: middle, angle: rocker, rate, turn: turns.y, length: BARS[2], mass: 1.2 };
    vec![crank, coupler, rocker]
}

const FOUR_BAR: Machine =
    Machine { name: "four-bar loop", parts: four_bar, start: [0.7, 9.0], world: four_bar_of_hinges };

fn four_bar_of_hinges(start: f64, rate: f64) -> (World, Vec<BodyId>) {
    let parts = four_bar(start);
    let mut world = World::new(-G * Vector3::z());
    let ground = world.add_body(Body::fixed("ground"));
    let bodies = bodies(&mut world, &parts, rate);
    let joint = parts[1].at + 0.5 * polar(BARS[1], parts[1].angle);
    hinge(&mut world, "main", ground, bodies[0], Vector2::zeros());
    hinge(&mut world, "pin", bodies[0], bodies[1], polar(BARS[0], start));
    hinge(&mut world, "joint", bodies[1], bodies[2], joint);
    hinge(&mut world, "pivot", ground, bodies[2], Vector2::new(GROUND, 0.0));
    (world, bodies)
}

#[test]
fn a_four_bar_loop_of_hinges_is_of_second_order() {
    for until in [0.25, 1.0, 4.0] {
        FOUR_BAR.is_of_second_order(8..=12, until);
    }
}

#[test]
fn loops_are_of_second_order_without_location() {
    let settings = Trapezoidal { locate: EventLocation::Nothing, ..Trapezoidal::default() };
    for machine in [SLIDER_CRANK, FOUR_BAR] {
        second_order(machine.name, 8..=11, |h| machine.err(settings, h, 1.0).0);
    }
}

/// Control: rows at a midpoint that moves with the ringing speeds.
#[test]
fn ringing_grows_with_the_printed_midpoint() {
    let printed = Trapezoidal { middle: Midpoint::Ahead, ..Trapezoidal::default() };
    for machine in [SLIDER_CRANK, FOUR_BAR] {
        let [own, printed] =
            [Trapezoidal::default(), printed].map(|settings| machine.err(settings, 2f64.powi(-8), 1.0).0);
        println!("{}: {own:.2e}, printed {printed:.2e}", machine.name);
        assert!(printed > 20.0 * own);
    }
}

/// Loop with one degree of freedom whose parts turn about all axes: a crank about z, a rod on a ball joint and a universal
/// joint, and a slider above the plane of the crank. It starts at rest and is driven.
fn loop_in_space() -> (World, Vec<BodyId>) {
    let (start, aside, height): (f64, f64, f64) = (0.5, 0.1, 0.3);
    let mut world = World::new(-G * Vector3::y());
    let ground = world.add_body(Body::fixed("ground"));
    let pin = Vector3::new(CRANK * start.cos(), CRANK * start.sin(), 0.0);
    let along = (ROD * ROD - (pin.y - aside).powi(2) - height * height).sqrt();
    let slider = Vector3::new(pin.x + along, aside, height);
    let rigid = |name: &str, mass: f64, length: f64, at: Vector3<f64>, axis: Vector3<f64>| {
        let inertia = about_middle(length, mass);
        let turn = UnitQuaternion::rotation_between(&Vector3::x(), &axis).expect("an axis not opposite to x");
        let mass = Mass::given(mass, [0.1 * inertia, inertia, inertia]);
        Body::rigid(name, mass).at(Isometry3::from_parts(at.into(), turn))
    };
    let bodies = [
        world.add_body(rigid("first", 1.0, CRANK, 0.5 * pin, pin)),
        world.add_body(rigid("second", 1.0, ROD, 0.5 * (pin + slider), slider - pin)),
        world.add_body(rigid("third", 2.0, 0.2, slider, Vector3::x())),
    ];
    let main = Joint::revolute("main", &world, ground, bodies[0], Point3::origin(), Vector3::z());
    world.add_joint(main);
    world.add_joint(Joint::spherical("ball", &world, bodies[0], bodies[1], pin.into()));
    let across = (slider - pin).cross(&Vector3::y());
    let cross = (bodies[2], Vector3::y());
    world.add_joint(Joint::universal("cross", &world, cross, (bodies[1], across), slider.into()));
    world.add_joint(Joint::prismatic("guide", &world, ground, bodies[2], slider.into(), Vector3::x()));
    world.add_force(Force::timed(bodies[0], |_| Wrench {
        force: Vector3::zeros(),
        torque: 6.0 * Vector3::z(),
    }));
    (world, bodies.to_vec())
}

/// Order against an explicit run of order eight, to 1e-10 a step.
#[test]
fn a_loop_in_space_is_of_second_order() {
    let until = 1.0;
    let places = |simulation: &Simulation<Model>, bodies: &[BodyId]| -> Vec<Vector3<f64>> {
        let pose = |&id: &BodyId| simulation.system().pose(simulation.state(), id).expect("a body");
        bodies.iter().map(|id| pose(id).translation.vector).collect()
    };
    let (world, bodies) = loop_in_space();
    let mut simulation = spatial(world);
    simulation
        .run_to_accuracy(until, &Accuracy::of(1e-10), &[], |_, _| ())
        .unwrap_or_else(|error| panic!("{error}"));
    let exact = places(&simulation, &bodies);
    second_order("a loop in space", 8..=11, |h| {
        let (world, bodies) = loop_in_space();
        let mut simulation = spatial(world);
        run(&mut simulation, h, until);
        let off =
            places(&simulation, &bodies).iter().zip(&exact).map(|(a, b)| (a - b).norm()).collect::<Vec<_>>();
        off.into_iter().fold(0.0, f64::max)
    });
}
