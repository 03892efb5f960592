//! Small planar worlds that several tests share.

use nalgebra::{Isometry2, Point2, Vector2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::planar::{Attached, Body, BodyId, Joint, Mass, Model, Twist, World};
use stiction::{Material, Scheme, Simulation, StepReport, System};
use stiction_geometry::planar::{Polygon, Shape};

pub(crate) const G: f64 = 9.81;

pub(crate) fn earth() -> World {
    World::new(Vector2::new(0.0, -G))
}

pub(crate) fn space() -> World {
    World::new(Vector2::zeros())
}

pub(crate) fn at(x: f64, y: f64) -> Isometry2<f64> {
    Isometry2::translation(x, y)
}

pub(crate) fn disk(radius: f64) -> Attached {
    Attached::new(Shape::Disk { radius })
}

/// A rectangle with these half extents [m].
pub(crate) fn rectangle(x: f64, y: f64) -> Attached {
    Attached::new(Shape::Polygon(Polygon::rectangle([x, y]).unwrap()))
}

pub(crate) fn floor() -> Body {
    Body::fixed("floor").with(Attached::new(Shape::HalfPlane))
}

pub(crate) fn friction(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

pub(crate) fn moving(x: f64, y: f64, angular: f64) -> Twist {
    Twist::new(Vector2::new(x, y), angular)
}

pub(crate) fn start(world: World, scheme: Scheme) -> Simulation<Model> {
    let model = world.build().unwrap();
    Simulation::new(model).with_scheme(scheme)
}

/// Steps `n` times and shows each report.
pub(crate) fn run(
    simulation: &mut Simulation<Model>,
    h: f64,
    n: usize,
    mut each: impl FnMut(usize, &Simulation<Model>, &StepReport),
) {
    for k in 1..=n {
        let report = simulation.step(h).unwrap_or_else(|e| panic!("step {k}: {e}"));
        each(k, simulation, &report);
    }
}

/// A pendulum of `links` equal bars hinged in a row, the first to the ground, all level at the start.
pub(crate) fn chain(links: usize) -> (World, Vec<BodyId>) {
    let mut world = earth();
    let mut last = world.add_body(Body::fixed("ground"));
    let mut bars = Vec::new();
    for i in 0..links {
        let x = i as f64;
        let bar = Body::rigid(format!("bar {i}"), Mass::given(1.0, 1.0 / 12.0)).at(at(x + 0.5, 0.0));
        let bar = world.add_body(bar);
        world.add_joint(Joint::revolute(format!("hinge {i}"), &world, last, bar, Point2::new(x, 0.0)));
        bars.push(bar);
        last = bar;
    }
    (world, bars)
}

pub(crate) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Numbers between −size and size.
pub(crate) fn numbers(rng: &mut ChaCha8Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-size..size)).collect()
}

/// ½ vᵀ M v.
pub(crate) fn kinetic(model: &Model, v: &[f64]) -> f64 {
    let mut start = 0;
    let mut energy = 0.0;
    for (i, &n) in model.bodies().iter().enumerate() {
        let mass = model.mass(i);
        energy += (0..n).map(|r| 0.5 * mass[(r, r)] * v[start + r] * v[start + r]).sum::<f64>();
        start += n;
    }
    energy
}

/// Index in v of each moving body's first velocity, and one more entry.
pub(crate) fn starts(model: &Model) -> Vec<usize> {
    let mut starts = vec![0];
    for n in model.bodies() {
        starts.push(starts[starts.len() - 1] + n);
    }
    starts
}
