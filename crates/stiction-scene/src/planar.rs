//! A file as a planar world: what is not the same in space.

mod joint;
// what is the same in both worlds is written once and compiled with the types of each
#[path = "either/joints.rs"]
#[allow(clippy::duplicate_mod)]
mod joints;
mod law;
#[path = "either/world.rs"]
#[allow(clippy::duplicate_mod)]
mod world;

use crate::expression::Formula;
use crate::read::Reader;
use crate::surface::{Materials, groups};
use law::StateForce;
use nalgebra::{Isometry2, Point2, UnitComplex, Vector2};
use stiction::planar::{
    Attached, Body, BodyId, Force, Joint, JointKind, Mass, Motion, Motor, Path, Polygon, Shape, ShapeId,
    Twist, World, Wrench,
};
use stiction_geometry::planar::{MassProperties, mass};
pub(crate) use world::assemble;
use world::{axis, missing, point, settings};

/// Dimensions, and what both worlds of a file call by one name.
const N: usize = 2;
type Vector = Vector2<f64>;
type Point = Point2<f64>;
type Isometry = Isometry2<f64>;
type Turn = UnitComplex<f64>;
/// An angle, or an angular velocity.
type Spin = f64;
/// Force along x and y, and the torque.
type Parts = [Formula; 3];

/// Variables of forces in the plane; t comes first.
const STATE: &[&str] = &["t", "x", "y", "vx", "vy", "angle", "omega"];

/// Gravity where a file names none [m/s²].
const GRAVITY: Vector = Vector::new(0.0, -9.81);

/// The angle by which each copy is turned from the one before.
fn turn(table: &Reader) -> Spin {
    table.angle("turn").unwrap_or(0.0)
}

/// A rotation by this much.
fn turned(by: Spin) -> Turn {
    UnitComplex::new(by)
}

/// An angular velocity in a copy that is turned: in the plane it is the same.
fn carried(_: &Turn, spin: Spin) -> Spin {
    spin
}

fn angular_velocity(reader: &Reader) -> Spin {
    reader.number("angular_velocity").unwrap_or(0.0)
}

/// The formulas of a force.
fn parts(reader: &Reader) -> Parts {
    let zero = || Formula::Number(0.0);
    let mut parts: Parts = std::array::from_fn(|_| zero());
    for (to, node) in parts[..2].iter_mut().zip(reader.list("force")) {
        *to = reader.formula(node, STATE).unwrap_or_else(zero);
    }
    parts[2] = reader.get("torque").and_then(|node| reader.formula(node, STATE)).unwrap_or_else(zero);
    parts
}

/// The pose that a table gives.
fn pose(reader: &Reader) -> Isometry {
    let at = reader.vector::<N>("position").unwrap_or_default();
    Isometry::new(Vector::from(at), reader.angle("angle").unwrap_or(0.0))
}

/// What a body weighs.
fn weight(reader: &Reader, motion: &Motion, shapes: &[Attached]) -> Mass {
    if let Some(density) = reader.number("density") {
        return Mass::Density(density);
    }
    let turns = matches!(motion, Motion::Rigid);
    // stands for what is missing, and is reported
    let usual = Mass::given(1.0, 1.0);
    let Some(mass) = reader.number("mass") else {
        if !reader.has("mass") && !reader.has("density") {
            reader.error(&reader.node.span, "missing key `density` or `mass`: what the body weighs");
        }
        return usual;
    };
    let centre = point(reader, "centre").unwrap_or_default();
    if !turns {
        return Mass::Given { mass, centre, inertia: 0.0 };
    }
    if let Some(inertia) = reader.number("inertia") {
        return Mass::Given { mass, centre, inertia };
    }
    // the shapes say how the mass is spread
    if let Some(area) = area(shapes).filter(|_| !reader.has("centre")) {
        return Mass::Density(mass / area);
    }
    // what is given and not right is reported
    if reader.has("inertia") || shapes.len() < reader.list("shapes").len() {
        return usual;
    }
    let message = "missing key `inertia`: the moment of inertia about the centre of mass";
    reader.error(&reader.span("mass"), message);
    usual
}

/// Area of the shapes that weigh something [m²].
fn area(shapes: &[Attached]) -> Option<f64> {
    let parts = shapes.iter().filter(|shape| !shape.sensor);
    let parts = parts.filter_map(|shape| mass(&shape.shape, 1.0).ok().map(|part| (shape.pose, part)));
    MassProperties::combine(parts.collect::<Vec<_>>()).ok().map(|whole| whole.mass)
}

/// A shape on a body.
fn attached(reader: &Reader, body: &Reader, materials: &Materials) -> Option<Attached> {
    let _ = reader.text("kind");
    let number = |key: &str| reader.number(key);
    let shape = match reader.text("kind")? {
        "disk" => Shape::Disk { radius: number("radius")? },
        "ellipse" => Shape::Ellipse { semi_axes: reader.vector("semi_axes")? },
        "capsule" => Shape::Capsule { half_length: number("half_length")?, radius: number("radius")? },
        "half_plane" => Shape::HalfPlane,
        "rectangle" => polygon(reader, "half_extents", Polygon::rectangle(reader.vector("half_extents")?))?,
        "polygon" => {
            let vertices: Option<Vec<_>> = reader
                .list("vertices")
                .iter()
                .map(|node| crate::read::numbers::<2>(node).map(Point::from))
                .collect();
            polygon(reader, "vertices", Polygon::new(&vertices?))?
        }
        _ => return None,
    };
    let (material, _) = materials.of(reader, body);
    Some(Attached {
        shape,
        pose: pose(reader),
        material,
        groups: groups(reader, body),
        sensor: reader.flag("sensor").unwrap_or(false),
        surface_velocity: number("surface_velocity").unwrap_or(0.0),
    })
}

/// A polygon, or a complaint.
fn polygon(
    reader: &Reader,
    key: &str,
    polygon: Result<Polygon, stiction_geometry::ShapeError>,
) -> Option<Shape> {
    match polygon {
        Ok(polygon) => Some(Shape::Polygon(polygon)),
        Err(error) => {
            reader.error(&reader.span(key), error.to_string());
            None
        }
    }
}

fn path_from(reader: &Reader, by: &Isometry) -> Path {
    let table = reader.table("path");
    let [x, y] = crate::track::places(table.as_ref());
    let angle = crate::track::angle(table.as_ref());
    let (start, turn) = (by * pose(reader), by.rotation);
    Path::new(move |t| {
        let at = start.translation.vector + turn * Vector::new(x.at(t), y.at(t));
        let turned = UnitComplex::new(angle.at(t)) * start.rotation;
        let velocity = Twist::new(turn * Vector::new(x.rate(t), y.rate(t)), angle.rate(t));
        (Isometry::from_parts(at.into(), turned), velocity)
    })
}

/// Force and torque of formulas.
fn wrench(parts: &Parts, state: &[f64], turn: &Turn) -> Wrench {
    let [x, y, torque] = parts;
    Wrench { force: turn * Vector::new(x.at(state), y.at(state)), torque: torque.at(state) }
}
