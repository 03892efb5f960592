//! Worlds and measures of the tests of timed steps.

use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Mass, Model, Polygon, Shape, Twist, World};
use stiction::{Accuracy, Material, Scheme, Simulation, State};

pub(crate) const G: f64 = 9.81;

/// Step sizes of the measurements [s].
pub(crate) const STEPS: [f64; 4] = [0.02, 0.01, 0.005, 0.0025];

pub(crate) fn earth() -> World {
    World::new(Vector2::new(0.0, -G))
}

pub(crate) fn surface(friction: f64, restitution: f64) -> Material {
    Material { friction, restitution, ..Material::default() }
}

pub(crate) fn floor(world: &mut World, material: Material) {
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
}

/// Homogeneous box of 1 kg with these half extents.
pub(crate) fn brick(name: &str, mass: f64, [a, b]: [f64; 2], material: Material) -> Body {
    let inertia = mass * (a * a + b * b) / 3.0;
    let shape = Attached::new(Shape::Polygon(Polygon::rectangle([a, b]).unwrap()));
    Body::rigid(name, Mass::given(mass, inertia)).with(shape.material(material))
}

/// Homogeneous disk.
pub(crate) fn disk(name: &str, mass: f64, radius: f64, material: Material) -> Body {
    let body = Body::rigid(name, Mass::given(mass, 0.5 * mass * radius * radius));
    body.with(Attached::new(Shape::Disk { radius }).material(material))
}

pub(crate) fn at(x: f64, y: f64) -> Isometry2<f64> {
    Isometry2::translation(x, y)
}

pub(crate) fn moving(x: f64, y: f64, spin: f64) -> Twist {
    Twist::new(Vector2::new(x, y), spin)
}

pub(crate) fn simulation(world: &World) -> Simulation<Model> {
    Simulation::new(world.clone().build().unwrap()).with_scheme(Scheme::default())
}

/// State after a run of the timed scheme. No step is accepted above its tolerance.
pub(crate) fn end(world: &World, h: f64, until: f64) -> State {
    let mut simulation = simulation(world);
    simulation
        .record(until, h, |_, _, report| assert_eq!(report.work.loose, 0, "a loose step at {} s", report.t))
        .unwrap();
    simulation.state().clone()
}

/// State at the end of a run to an accuracy of 1e-11.
pub(crate) fn exact(world: &World, until: f64) -> State {
    let mut simulation = Simulation::new(world.clone().build().unwrap());
    simulation.run_to_accuracy(until, &Accuracy::of(1e-11), &[], |_, _| ()).unwrap();
    simulation.state().clone()
}

/// Largest difference of coordinates.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}

/// Checks the errors at each of [`STEPS`] against those that a prototype of the scheme had, times `factor`.
pub(crate) fn check(name: &str, measured: [f64; 4], error: impl Fn(f64) -> f64, factor: f64) -> [f64; 4] {
    let errors = STEPS.map(error);
    println!("{name}: {}", listed(&errors));
    for ((error, measured), h) in errors.iter().zip(measured).zip(STEPS) {
        assert!(*error <= factor * measured, "{name} at h = {h}: error {error:e}, expected {measured:e}");
    }
    errors
}

/// Checks that the order over the last two halvings is 2 within a quarter.
pub(crate) fn check_order(name: &str, [_, a, b, c]: [f64; 4]) {
    for order in [(a / b).log2(), (b / c).log2()] {
        assert!((order - 2.0).abs() <= 0.25, "{name}: order {order}");
    }
}

/// Total energy of a state [J].
pub(crate) fn energy(simulation: &Simulation<Model>) -> f64 {
    let report = simulation.observe().unwrap();
    report.kinetic + report.potential
}

/// Numbers with three digits.
pub(crate) fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(|x| format!("{x:.2e}")).collect::<Vec<_>>().join(" / ")
}
