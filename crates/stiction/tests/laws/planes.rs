//! Planar scenes whose shape pairs exist in space too, with random states of each.

use crate::common::{G, in_plane, number, random};
use nalgebra::{Isometry2, Point2, Vector2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction::planar::{
    Attached, Body, BodyId, Force, Joint, JointKind, Mass, Model, Motor, Path, Polygon, Shape, Twist, World,
    Wrench,
};
use stiction::{Material, Scheme, Simulation, State};

/// Scene: a world and its random states.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) world: World,
    /// Changes the initial state into a random one.
    pub(crate) scatter: fn(&mut ChaCha8Rng, &Model, &mut State),
}

impl Scene {
    /// Simulation in a random state.
    pub(crate) fn scattered(&self, scheme: Scheme, seed: u64) -> Simulation<Model> {
        let mut simulation = in_plane(&self.world, scheme);
        let mut state = simulation.state().clone();
        (self.scatter)(&mut random(seed), simulation.system(), &mut state);
        simulation.restore(state);
        simulation
    }

    /// Simulation in a random state, or in the initial one where joints of the random state do not hold, which
    /// second-order schemes refuse.
    pub(crate) fn scattered_with_joints(&self, scheme: Scheme, seed: u64) -> Simulation<Model> {
        let mut simulation = self.scattered(scheme, seed);
        if simulation.step(1e-6).is_err() { in_plane(&self.world, scheme) } else { simulation }
    }
}

pub(crate) fn earth() -> World {
    let mut world = World::new(Vector2::new(0.0, -G));
    // scattered bodies overlap slightly in some states, which the schemes stabilize
    world.allow_overlap = true;
    world
}

pub(crate) fn at(x: f64, y: f64) -> Isometry2<f64> {
    Isometry2::translation(x, y)
}

pub(crate) fn rough(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

pub(crate) fn disk(radius: f64) -> Attached {
    Attached::new(Shape::Disk { radius })
}

pub(crate) fn rectangle(x: f64, y: f64) -> Attached {
    Attached::new(Shape::Polygon(Polygon::rectangle([x, y]).unwrap()))
}

pub(crate) fn capsule(half_length: f64, radius: f64) -> Attached {
    Attached::new(Shape::Capsule { half_length, radius })
}

/// Half-plane at a point, with its normal at `angle` from +y.
pub(crate) fn wall(name: &str, x: f64, y: f64, angle: f64, material: Material) -> Body {
    let pose = Isometry2::new(Vector2::new(x, y), angle);
    Body::fixed(name).at(pose).with(Attached::new(Shape::HalfPlane).material(material))
}

pub(crate) fn floor(material: Material) -> Body {
    wall("floor", 0.0, 0.0, 0.0, material)
}

/// Sets the pose and the velocities of a body by its number.
fn set(model: &Model, state: &mut State, id: BodyId, q: [f64; 3], v: [f64; 3]) {
    let n = model.coordinates(id).unwrap().len();
    state.q[model.coordinates(id).unwrap()].copy_from_slice(&q[..n]);
    state.v[model.velocities(id).unwrap()].copy_from_slice(&v[..n]);
}

fn velocity(rng: &mut ChaCha8Rng, speed: f64, spin: f64) -> [f64; 3] {
    [number(rng, speed), number(rng, speed), number(rng, spin)]
}

/// Random gap from a small overlap to a small distance; zero every fifth time [m].
fn gap(rng: &mut ChaCha8Rng, size: f64) -> f64 {
    if rng.random_range(0..5) == 0 { 0.0 } else { size * rng.random_range(-0.01..0.04) }
}

/// Three disks on the floor beside each other and one on top of two of them.
fn disks() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.5)));
    for (i, radius) in [0.3, 0.2, 0.25, 0.2].into_iter().enumerate() {
        let restitution = if i == 2 { 0.5 } else { 0.0 };
        let material = Material { friction: 0.4, restitution, ..Material::default() };
        let mass = 2.0 * radius * radius;
        let body = Body::rigid(format!("disk {i}"), Mass::given(mass, 0.4 * mass * radius * radius));
        world.add_body(body.with(disk(radius).material(material)));
    }
    Scene { name: "disks", world, scatter: scatter_disks }
}

fn scatter_disks(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let radii = [0.3, 0.2, 0.25, 0.2];
    let mut centres = Vec::new();
    let mut x = 0.0;
    for (i, r) in radii.into_iter().enumerate().take(3) {
        x += if i == 0 { 0.0 } else { 0.95 * (radii[i - 1] + r) + gap(rng, 1.0) + 0.1 };
        centres.push(Vector2::new(x, r + gap(rng, 1.0)));
    }
    // above the first two, touching both or nearly
    let (a, b) = (centres[0], centres[1]);
    let (ra, rb) = (radii[0] + radii[3], radii[1] + radii[3]);
    let d = (b - a).norm();
    let along = (ra * ra - rb * rb + d * d) / (2.0 * d);
    let up = (ra * ra - along * along).max(0.0).sqrt();
    let e = (b - a) / d;
    centres.push(a + along * e + (up + gap(rng, 0.1)) * Vector2::new(-e.y, e.x));
    for (i, c) in (1..).zip(centres) {
        let v = velocity(rng, 3.0, 10.0);
        set(model, state, BodyId(i), [c.x, c.y, number(rng, 3.0)], v);
    }
}

/// Rod of ST00.
pub(crate) fn rod() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.6)));
    let body = Body::rigid("rod", Mass::given(1.0, 0.002));
    let pose = Isometry2::new(Vector2::new(0.0, 1.0), 30_f64.to_radians());
    let body = body.at(pose).moving(Twist::new(Vector2::zeros(), 4.0));
    world.add_body(body.with(capsule(0.25, 0.05).material(rough(0.6))));
    Scene { name: "rod", world, scatter: scatter_rod }
}

fn scatter_rod(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let angle = number(rng, 3.0);
    let y = 0.25 * angle.sin().abs() + 0.05 + gap(rng, 0.5);
    let v = velocity(rng, 3.0, 6.0);
    set(model, state, BodyId(1), [number(rng, 1.0), y, angle], v);
}

/// Ellipse of AH04.
pub(crate) fn ellipse() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.3)));
    let mass = 80.0 * std::f64::consts::PI;
    let shape = Attached::new(Shape::Ellipse { semi_axes: [4.0, 2.0] }).material(rough(0.3));
    let body = Body::rigid("ellipse", Mass::given(mass, 5.0 * mass)).at(at(0.0, 8.0));
    world.add_body(body.moving(Twist::new(Vector2::zeros(), 3.0)).with(shape));
    Scene { name: "ellipse", world, scatter: scatter_ellipse }
}

fn scatter_ellipse(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let angle = number(rng, 3.0);
    let y = (4.0 * angle.sin()).hypot(2.0 * angle.cos()) + gap(rng, 1.0);
    let v = velocity(rng, 5.0, 3.0);
    set(model, state, BodyId(1), [number(rng, 9.0), y, angle], v);
}

/// Box on the floor, with its centre of mass off its middle.
pub(crate) fn sliding_box() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.3)));
    let mass = Mass::Given { mass: 3.0, centre: Point2::new(0.03, -0.02), inertia: 0.02 };
    let body = Body::rigid("box", mass).at(at(0.0, 0.05));
    let body = body.moving(Twist::new(Vector2::new(2.0, 0.0), 0.0));
    world.add_body(body.with(rectangle(0.2, 0.05).material(rough(0.3))));
    Scene { name: "box", world, scatter: scatter_box }
}

fn scatter_box(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let angle = if rng.random_range(0..3) == 0 { 0.0 } else { number(rng, 3.0) };
    // height of the centre of mass above the lowest corner
    let (sin, cos) = f64::sin_cos(angle);
    let corners = [(0.17, 0.07), (-0.23, 0.07), (0.17, -0.03), (-0.23, -0.03)];
    let lowest = corners.iter().map(|(x, y)| sin * x + cos * y).fold(0.0, f64::min);
    let y = -lowest + gap(rng, 0.2);
    let v = velocity(rng, 3.0, 6.0);
    set(model, state, BodyId(1), [number(rng, 1.0), y, angle], v);
}

/// Rectangle of CP03 in its room.
fn room() -> Scene {
    let mut world = earth();
    let right = std::f64::consts::FRAC_PI_2;
    for (name, x, y, angle) in [
        ("below", 0.0, -0.2, 0.0),
        ("above", 0.0, 0.2, 2.0 * right),
        ("left", -0.3, 0.0, -right),
        ("right", 0.3, 0.0, right),
    ] {
        world.add_body(wall(name, x, y, angle, rough(0.3)));
    }
    let inertia = (0.1 * 0.1 + 0.06 * 0.06) / 12.0;
    let body = Body::rigid("rectangle", Mass::given(1.0, inertia));
    let body = world.add_body(body.with(rectangle(0.05, 0.03).material(rough(0.3))));
    world.add_force(Force::timed(body, |t| Wrench {
        force: 25.0 * Vector2::new((1.3 * t).cos(), (2.1 * t).sin()),
        torque: 0.6 * (1.7 * t).sin(),
    }));
    Scene { name: "room", world, scatter: scatter_room }
}

fn scatter_room(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    state.t = rng.random_range(0.0..10.0);
    // aligned with the room in half of the states
    let angle = if rng.random_range(0..2) == 0 { 0.0 } else { number(rng, 3.0) };
    let (sin, cos) = f64::sin_cos(angle);
    let half = [0.05 * cos.abs() + 0.03 * sin.abs(), 0.05 * sin.abs() + 0.03 * cos.abs()];
    // near a corner, or along a wall
    let (near_x, near_y) = (0.3 - half[0] - gap(rng, 0.05), 0.2 - half[1] - gap(rng, 0.05));
    let side = |rng: &mut ChaCha8Rng| if rng.random_range(0..2) == 0 { 1.0 } else { -1.0 };
    let (x, y) = match rng.random_range(0..3) {
        0 => (side(rng) * near_x, side(rng) * near_y),
        1 => (number(rng, 0.2), side(rng) * near_y),
        _ => (side(rng) * near_x, number(rng, 0.1)),
    };
    let v = velocity(rng, 2.0, 20.0);
    set(model, state, BodyId(4), [x, y, angle], v);
}

/// Two pendulums: a point mass on a massless rod and a bar on a hinge.
pub(crate) fn pendulum() -> Scene {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let bob = world.add_body(Body::point("bob", 2.0).at(at(1.0, 0.0)));
    let rod = Joint::distance("rod", &world, (ground, Point2::origin()), (bob, Point2::new(1.0, 0.0)));
    world.add_joint(rod);
    let bar = world.add_body(Body::rigid("bar", Mass::given(1.0, 1.0 / 12.0)).at(at(3.5, 0.0)));
    world.add_joint(Joint::revolute("hinge", &world, ground, bar, Point2::new(3.0, 0.0)));
    Scene { name: "pendulum", world, scatter: scatter_pendulum }
}

fn scatter_pendulum(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let (angle, other) = (number(rng, 3.0), number(rng, 3.0));
    // joint errors of a millimetre
    let off = |rng: &mut ChaCha8Rng| number(rng, 1e-3);
    let bob = [angle.cos() + off(rng), angle.sin() + off(rng), 0.0];
    let bar = [3.0 + 0.5 * other.cos() + off(rng), 0.5 * other.sin() + off(rng), other];
    let (v, w) = (velocity(rng, 3.0, 1.0), velocity(rng, 3.0, 6.0));
    set(model, state, BodyId(1), bob, v);
    set(model, state, BodyId(2), bar, w);
}

const LINKS: u32 = 6;

/// Six bars hinged in a row to the ground: bare, or with a limit, dry friction and a motor.
fn links(driven: bool) -> World {
    let mut world = earth();
    let mut last = world.add_body(Body::fixed("ground"));
    for i in 0..LINKS {
        let x = f64::from(i);
        let bar = Body::rigid(format!("bar {i}"), Mass::given(1.0, 1.0 / 12.0)).at(at(x + 0.5, 0.0));
        let bar = world.add_body(bar);
        let hinge = Joint::revolute(format!("hinge {i}"), &world, last, bar, Point2::new(x, 0.0));
        world.add_joint(match i {
            1 if driven => hinge.limits(-0.5, 1.0),
            2 if driven => hinge.friction(0.5),
            3 if driven => hinge.motor(Motor::Velocity { speed: 1.0, force: 2.0 }),
            4 if driven => hinge.motor(Motor::Position { target: 0.4, gain: 10.0, force: 30.0 }),
            _ => hinge,
        });
        last = bar;
    }
    world
}

pub(crate) fn chain() -> Scene {
    Scene { name: "chain", world: links(false), scatter: scatter_chain }
}

fn driven_chain() -> Scene {
    Scene { name: "driven chain", world: links(true), scatter: scatter_chain }
}

fn scatter_chain(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let (mut x, mut y, mut angle) = (0.0, 0.0, 0.0);
    for i in 0..LINKS {
        angle += number(rng, 1.5);
        let (sin, cos) = f64::sin_cos(angle);
        let q = [x + 0.5 * cos + number(rng, 1e-3), y + 0.5 * sin + number(rng, 1e-3), angle];
        (x, y) = (x + cos, y + sin);
        let v = velocity(rng, 2.0, 4.0);
        set(model, state, BodyId(1 + i), q, v);
    }
}

/// A sledge on a slanted rail with limits and a motor, a weight hung from it by a spring, a slider and a rail.
fn slide() -> Scene {
    let mut world = earth();
    let ground = world.add_body(Body::fixed("ground"));
    let sledge = Mass::Given { mass: 2.0, centre: Point2::new(0.1, -0.05), inertia: 0.3 };
    let sledge =
        world.add_body(Body::rigid("sledge", sledge).at(Isometry2::new(Vector2::new(0.2, 0.3), 0.4)));
    let axis = Vector2::new(0.8, 0.6);
    let rail = Joint::prismatic("rail", &world, ground, sledge, Point2::new(0.1, 0.2), axis);
    world.add_joint(rail.limits(-0.5, 0.5).motor(Motor::Position { target: 0.3, gain: 5.0, force: 40.0 }));
    let weight = world.add_body(Body::rigid("weight", Mass::given(1.0, 0.1)).at(at(0.5, -0.5)));
    world.add_force(Force::Spring {
        a: sledge,
        point_a: Point2::new(0.1, 0.0),
        b: weight,
        point_b: Point2::new(0.0, 0.2),
        stiffness: 2e4,
        damping: 30.0,
        rest_length: 0.4,
    });
    let carriage = world.add_body(Body::slider("carriage", 1.5, Vector2::new(-0.6, 0.8)).at(at(-1.0, 0.0)));
    world.add_force(Force::Rail {
        body: carriage,
        point: Point2::new(0.1, 0.1),
        axis: Vector2::y(),
        origin: 0.2,
        stiffness: 300.0,
        damping: 2.0,
    });
    let rope = JointKind::Distance(1.0);
    let here = Isometry2::identity();
    world.add_joint(Joint::new("rope", rope, (carriage, here), (weight, here)).limits(0.0, 1.6));
    let plate = world.add_body(Body::rigid("plate", Mass::given(0.5, 0.05)).at(at(0.5, -0.8)));
    world.add_joint(Joint::fixed("weld", &world, weight, plate, Point2::new(0.5, -0.7)));
    Scene { name: "slide", world, scatter: scatter_slide }
}

fn scatter_slide(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    // spatial joint rows contain the sine of an angle and planar ones the angle itself: they agree to the third power
    // of the joint error, so welds and sliders start nearly exact and rotate together
    let off = |rng: &mut ChaCha8Rng| number(rng, 1e-6);
    let axis = Vector2::new(0.8, 0.6);
    let start = model.state();
    let id = |name| model.world().find_body(name).unwrap();
    let sledge = start.q[model.coordinates(id("sledge")).unwrap()].to_vec();
    let along = number(rng, 0.6) * axis;
    let q = [sledge[0] + along.x + number(rng, 1e-3), sledge[1] + along.y, sledge[2] + off(rng)];
    let v = [number(rng, 2.0), number(rng, 2.0), off(rng)];
    set(model, state, id("sledge"), q, v);
    let (centre, angle) = (Vector2::new(0.5 + number(rng, 0.5), -0.5 + number(rng, 0.5)), number(rng, 1.0));
    let w = velocity(rng, 2.0, 3.0);
    set(model, state, id("weight"), [centre.x, centre.y, angle], w);
    let below = centre + Isometry2::rotation(angle) * Vector2::new(0.0, -0.3);
    let q = [below.x + number(rng, 1e-3), below.y + number(rng, 1e-3), angle + off(rng)];
    set(model, state, id("plate"), q, [number(rng, 2.0), number(rng, 2.0), w[2] + off(rng)]);
    let s = start.q[model.coordinates(id("carriage")).unwrap()][0];
    set(model, state, id("carriage"), [s + number(rng, 0.3), 0.0, 0.0], velocity(rng, 2.0, 1.0));
}

/// Two capsules and a disk, on the floor and on each other.
fn rods() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.4)));
    for (name, shape) in [("long", capsule(0.4, 0.1)), ("short", capsule(0.2, 0.1)), ("disk", disk(0.15))] {
        let body = Body::rigid(name, Mass::given(1.0, 0.03));
        world.add_body(body.with(shape.material(rough(0.4))));
    }
    Scene { name: "rods", world, scatter: scatter_rods }
}

fn scatter_rods(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    // the long capsule flat or nearly, the short one across or along it, the disk beside
    let tilt = if rng.random_range(0..2) == 0 { 0.0 } else { number(rng, 0.2) };
    let long = [0.0, 0.1 + 0.4 * f64::sin(tilt).abs() + gap(rng, 0.2), tilt];
    let turn = tilt + if rng.random_range(0..2) == 0 { 0.0 } else { number(rng, 1.0) };
    // height of the lowest end of the short capsule, along the normal of the long one
    let height = 0.2 + 0.2 * f64::sin(turn - tilt).abs() + gap(rng, 0.2);
    let along = number(rng, 0.15);
    let (sin, cos) = f64::sin_cos(tilt);
    let short = [long[0] + along * cos - height * sin, long[1] + along * sin + height * cos, turn];
    let v = [velocity(rng, 2.0, 5.0), velocity(rng, 2.0, 5.0), velocity(rng, 2.0, 5.0)];
    set(model, state, BodyId(1), long, v[0]);
    set(model, state, BodyId(2), short, v[1]);
    set(model, state, BodyId(3), [0.68 + gap(rng, 0.5), 0.15 + gap(rng, 0.2), 0.0], v[2]);
}

/// Disks on springs of all kinds above the floor.
fn springs() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.5)));
    let disks: Vec<BodyId> = (0..3)
        .map(|i| {
            let body = Body::rigid(format!("disk {i}"), Mass::given(0.5, 0.01));
            world.add_body(body.with(disk(0.2).material(rough(0.5))))
        })
        .collect();
    for (a, b, stiffness, damping, rest_length) in
        [(0, 1, 1e6, 10.0, 0.5), (1, 2, 50.0, 1e3, 0.0), (2, 0, 1e3, 0.0, 1.0)]
    {
        let (point_a, point_b) = (Point2::new(0.1, 0.0), Point2::new(0.0, 0.1));
        let (a, b) = (disks[a], disks[b]);
        world.add_force(Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    }
    Scene { name: "springs", world, scatter: scatter_springs }
}

fn scatter_springs(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    for i in 0..3 {
        let q = [0.5 * f64::from(i) + gap(rng, 0.5), 0.2 + gap(rng, 0.5), number(rng, 3.0)];
        let v = velocity(rng, 2.0, 5.0);
        set(model, state, BodyId(1 + i), q, v);
    }
}

/// Conveyor: a lift with a moving surface, and a ball and a rod on it.
fn conveyor() -> Scene {
    let mut world = earth();
    let lift = Path::new(|t| {
        let pose = Isometry2::new(Vector2::new(0.0, 0.1 * (3.0 * t).sin()), 0.1);
        (pose, Twist::new(Vector2::new(0.0, 0.3 * (3.0 * t).cos()), 0.0))
    });
    let belt = Attached::new(Shape::HalfPlane).material(rough(0.4)).surface_velocity(1.5);
    world.add_body(Body::kinematic("belt", lift).with(belt));
    let material = Material { friction: 0.4, restitution: 0.5, ..Material::default() };
    world.add_body(Body::rigid("ball", Mass::given(1.0, 0.01)).with(disk(0.15).material(material)));
    world.add_body(Body::rigid("rod", Mass::given(0.5, 0.02)).with(capsule(0.2, 0.1).material(rough(0.4))));
    Scene { name: "conveyor", world, scatter: scatter_conveyor }
}

fn scatter_conveyor(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    state.t = rng.random_range(0.0..2.0);
    let height = 0.1 * (3.0 * state.t).sin();
    // coordinates along and above the slanted belt
    let place = |along: f64, above: f64| {
        let (sin, cos) = f64::sin_cos(0.1);
        [along * cos - above * sin, height + along * sin + above * cos]
    };
    let (ball, rod) = (place(0.0, 0.15 + gap(rng, 0.2)), place(0.9, 0.1 + gap(rng, 0.2)));
    let (v, w) = (velocity(rng, 2.0, 5.0), velocity(rng, 2.0, 5.0));
    set(model, state, BodyId(1), [ball[0], ball[1], number(rng, 3.0)], v);
    set(model, state, BodyId(2), [rod[0], rod[1], 0.1], w);
}

/// Two bodies of several shapes each, on the floor and on each other.
fn dumbbells() -> Scene {
    let mut world = earth();
    world.add_body(floor(rough(0.4)));
    for name in ["one", "other"] {
        let body = Body::rigid(name, Mass::Given { mass: 2.0, centre: Point2::new(0.05, 0.0), inertia: 0.2 });
        let body = body.with(disk(0.2).at(at(-0.4, 0.0)).material(rough(0.3)));
        let bar = capsule(0.3, 0.1).at(Isometry2::rotation(0.1)).material(rough(0.4));
        world.add_body(body.with(bar).with(disk(0.15).at(at(0.5, 0.0)).material(rough(0.5))));
    }
    Scene { name: "dumbbells", world, scatter: scatter_dumbbells }
}

fn scatter_dumbbells(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    for (i, y) in [(1, 0.2), (2, 0.6)] {
        let angle = number(rng, 0.1);
        let v = velocity(rng, 2.0, 5.0);
        let q = [number(rng, 0.1), y + 0.4 * f64::sin(angle).abs() + gap(rng, 0.3), angle];
        set(model, state, BodyId(i), q, v);
    }
}

/// Pile of 21 disks between two slanted walls, of AH04.
fn pile() -> Scene {
    let mut world = earth();
    let third = std::f64::consts::FRAC_PI_3;
    world.add_body(floor(rough(0.2)));
    world.add_body(wall("left", -18.0, 0.0, -third, rough(0.2)));
    world.add_body(wall("right", 18.0, 0.0, third, rough(0.2)));
    let mass = 90.0 * std::f64::consts::PI;
    for row in 0..6_u32 {
        let n = 6 - row;
        for k in 0..n {
            let x = 6.0 * (f64::from(k) - 0.5 * f64::from(n - 1));
            let y = 3.0 + 3.0 * 3_f64.sqrt() * f64::from(row);
            let body = Body::rigid(format!("disk {row} {k}"), Mass::given(mass, 4.5 * mass));
            world.add_body(body.at(at(x, y)).with(disk(3.0).material(rough(0.2))));
        }
    }
    Scene { name: "21 disks", world, scatter: scatter_pile }
}

fn scatter_pile(rng: &mut ChaCha8Rng, model: &Model, state: &mut State) {
    let start = model.state();
    // small gaps, so that all 45 pairs are near and some touch
    for (q, x) in state.q.chunks_mut(3).zip(start.q.chunks(3)) {
        q.copy_from_slice(&[1.002 * x[0] + number(rng, 0.01), 1.002 * x[1] + number(rng, 0.01), x[2]]);
    }
    state.v.iter_mut().for_each(|v| *v = number(rng, 1.0));
}

/// All scenes.
pub(crate) fn all() -> Vec<Scene> {
    vec![
        disks(),
        rod(),
        ellipse(),
        sliding_box(),
        room(),
        pendulum(),
        chain(),
        driven_chain(),
        slide(),
        rods(),
        dumbbells(),
        springs(),
        conveyor(),
        pile(),
    ]
}

/// Scene with this name.
pub(crate) fn named(name: &str) -> Scene {
    all().into_iter().find(|scene| scene.name == name).unwrap()
}
