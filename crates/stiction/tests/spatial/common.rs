//! Random poses and small worlds.

use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Attached, Body, BodyId, JointKind, Mass, Model, Path, Shape, Twist, World};
use stiction::{Material, Scheme, Simulation, StepReport, System};

/// Every kind of joint; the distance joint has this length [m].
pub(crate) fn joint_kinds(length: f64) -> [JointKind; 9] {
    [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Screw(0.3),
        JointKind::Universal,
        JointKind::Planar,
        JointKind::Fixed,
        JointKind::Distance(length),
    ]
}

pub(crate) fn vector(rng: &mut ChaCha8Rng, size: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-size..size))
}

/// Any rotation, far from the identity as often as not.
pub(crate) fn rotation(rng: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(vector(rng, 3.0))
}

pub(crate) fn pose(rng: &mut ChaCha8Rng, size: f64) -> Isometry3<f64> {
    Isometry3::from_parts(vector(rng, size).into(), rotation(rng))
}

/// Mass properties of no symmetry, with the centre of mass off the origin.
pub(crate) fn mass(rng: &mut ChaCha8Rng) -> Mass {
    let r = rotation(rng).to_rotation_matrix();
    let [a, b] = [rng.random_range(0.2..1.0), rng.random_range(0.2..1.0)];
    let moments = Vector3::new(a, b, rng.random_range(0.6..0.95) * (a + b));
    let mut inertia = r * Matrix3::from_diagonal(&moments) * r.transpose();
    // exactly symmetric, so that the mass matrix is
    inertia = 0.5 * (inertia + inertia.transpose());
    Mass::Given { mass: rng.random_range(0.5..2.0), centre: Point3::from(vector(rng, 0.3)), inertia }
}

/// A path that moves and turns, with its exact velocity.
pub(crate) fn path(rng: &mut ChaCha8Rng) -> Path {
    let (start, velocity, spin) = (pose(rng, 0.5), vector(rng, 1.0), vector(rng, 2.0));
    Path::new(move |t| {
        let turn = UnitQuaternion::from_scaled_axis(t * spin);
        let at: Vector3<f64> =
            start.translation.vector + t * velocity + Vector3::x() * (0.3 * (2.0 * t).sin());
        let linear = velocity + Vector3::x() * (0.6 * (2.0 * t).cos());
        (Isometry3::from_parts(at.into(), turn * start.rotation), Twist::new(linear, spin))
    })
}

/// A body of one of the five motions, by number.
pub(crate) fn body(rng: &mut ChaCha8Rng, motion: usize, name: &str) -> Body {
    let body = match motion {
        0 => Body::rigid(name, mass(rng)),
        1 => Body::point(name, 1.5),
        2 => Body::slider(name, 0.7, vector(rng, 1.0)),
        3 => Body::kinematic(name, path(rng)),
        _ => Body::fixed(name),
    };
    body.at(pose(rng, 0.5))
}

pub(crate) fn gravity() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -9.81)
}

/// A floor at z = 0 of this friction.
pub(crate) fn floor(world: &mut World, friction: f64) -> BodyId {
    let material = Material { friction, restitution: 0.0, ..Material::default() };
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(material)))
}

pub(crate) fn slippery(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

pub(crate) fn built(world: World) -> Model {
    world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

pub(crate) fn simulation(world: World, scheme: Scheme) -> Simulation<Model> {
    let model = built(world);
    Simulation::new(model).with_scheme(scheme)
}

pub(crate) fn step(simulation: &mut Simulation<Model>, h: f64) -> StepReport {
    simulation.step(h).unwrap_or_else(|error| panic!("{error}"))
}

/// First velocity of each moving body, and their number.
pub(crate) fn starts(model: &Model) -> Vec<usize> {
    let mut starts = vec![0];
    for n in model.bodies() {
        starts.push(starts[starts.len() - 1] + n);
    }
    starts
}

pub(crate) fn pose_of(simulation: &Simulation<Model>, body: BodyId) -> Isometry3<f64> {
    simulation.system().pose(simulation.state(), body).expect("a body of the world")
}

pub(crate) fn twist_of(simulation: &Simulation<Model>, body: BodyId) -> Twist {
    simulation.system().velocity(simulation.state(), body).expect("a body of the world")
}

/// Ball of 0.1 m on the floor at x [m].
pub(crate) fn ball(name: &str, x: f64) -> Body {
    let shape = Attached::new(Shape::Sphere { radius: 0.1 });
    Body::rigid(name, Mass::Density(500.0)).with(shape).at(Isometry3::translation(x, 0.0, 0.1))
}
