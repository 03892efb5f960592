//! A file as a spatial world: what is not the same in the plane.

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
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Unit, UnitQuaternion, Vector3};
use std::sync::Arc;
use stiction::spatial::{
    Attached, Body, BodyId, Facets, Force, Grain, Joint, JointKind, Mass, Motion, Motor, Path, Shape,
    ShapeId, Twist, World, Wrench,
};
use stiction_geometry::spatial::{MassProperties, Polyhedron, mass};
pub(crate) use world::assemble;
use world::{axis, missing, point};

/// Dimensions, and what both worlds of a file call by one name.
const N: usize = 3;
type Vector = Vector3<f64>;
type Point = Point3<f64>;
type Isometry = Isometry3<f64>;
type Turn = UnitQuaternion<f64>;
/// A rotation along its axis and as long as its angle, or an angular velocity.
type Spin = Vector;
/// Force and torque along x, y and z.
type Parts = [Formula; 6];

/// Variables of forces in space; t comes first.
const STATE: &[&str] = &["t", "x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];

/// How far a unit quaternion may be from unit length: what four digits have.
const UNIT: f64 = 1e-3;

/// Gravity where a file names none [m/s²].
const GRAVITY: Vector = Vector::new(0.0, 0.0, -9.81);

fn settings(root: &Reader) -> World {
    let mut world = world::settings(root);
    let Some(table) = root.table("world") else { return world };
    world.facets = table.table("facets").map(|facets| {
        let usual = Facets::default();
        let directions = facets.count("directions").unwrap_or(usual.directions);
        if !directions.is_multiple_of(2) {
            facets.error(&facets.span("directions"), format!("{directions} must be even"));
        }
        Facets { directions, aligned: facets.flag("aligned").unwrap_or(usual.aligned) }
    });
    world
}

/// The rotation by which each copy is turned from the one before.
fn turn(table: &Reader) -> Spin {
    let degrees = || table.vector::<3>("turn_deg").map(|turn| turn.map(f64::to_radians));
    table.vector::<3>("turn").or_else(degrees).map_or_else(Vector::zeros, Vector::from)
}

/// A rotation by this much.
fn turned(by: Spin) -> Turn {
    UnitQuaternion::from_scaled_axis(by)
}

/// An angular velocity in a copy that is turned.
fn carried(turn: &Turn, spin: Spin) -> Spin {
    turn * spin
}

fn angular_velocity(reader: &Reader) -> Spin {
    Vector::from(reader.vector::<3>("angular_velocity").unwrap_or_default())
}

/// The formulas of a force.
fn parts(reader: &Reader) -> Parts {
    let zero = || Formula::Number(0.0);
    let mut parts: Parts = std::array::from_fn(|_| zero());
    let (force, torque) = parts.split_at_mut(3);
    for (to, key) in [(force, "force"), (torque, "torque")] {
        for (to, node) in to.iter_mut().zip(reader.list(key)) {
            *to = reader.formula(node, STATE).unwrap_or_else(zero);
        }
    }
    parts
}

/// The pose that a table gives.
fn pose(reader: &Reader) -> Isometry {
    let at = Vector::from(reader.vector::<N>("position").unwrap_or_default());
    Isometry::from_parts(at.into(), rotation(reader).unwrap_or_else(UnitQuaternion::identity))
}

/// The rotation that a table gives, in one of three ways.
fn rotation(reader: &Reader) -> Option<UnitQuaternion<f64>> {
    if let Some([w, x, y, z]) = reader.vector::<4>("quat_wxyz") {
        let quaternion = Quaternion::new(w, x, y, z);
        let norm = quaternion.norm();
        if !((norm - 1.0).abs() <= UNIT) {
            reader.error(
                &reader.span("quat_wxyz"),
                format!("a unit quaternion must have the norm 1, not {norm}"),
            );
            return None;
        }
        return Some(UnitQuaternion::new_normalize(quaternion));
    }
    if let Some(vector) = reader.vector::<3>("rotation_vector") {
        return Some(UnitQuaternion::from_scaled_axis(Vector::from(vector)));
    }
    let [roll, pitch, yaw] = reader.vector::<3>("rpy_deg")?.map(f64::to_radians);
    Some(UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

/// What a body weighs.
fn weight(reader: &Reader, motion: &Motion, shapes: &[Attached]) -> Mass {
    if let Some(density) = reader.number("density") {
        return Mass::Density(density);
    }
    let turns = matches!(motion, Motion::Rigid);
    // stands for what is missing, and is reported
    let usual = Mass::given(1.0, [1.0; 3]);
    let Some(mass) = reader.number("mass") else {
        if !reader.has("mass") && !reader.has("density") {
            reader.error(&reader.node.span, "missing key `density` or `mass`: what the body weighs");
        }
        return usual;
    };
    let centre = point(reader, "centre").unwrap_or_default();
    if !turns {
        return Mass::Given { mass, centre, inertia: Matrix3::zeros() };
    }
    if let Some(moments) = reader.vector::<3>("inertia") {
        let mut inertia = Matrix3::from_diagonal(&Vector::from(moments));
        let [xy, xz, yz] = reader.vector::<3>("products_of_inertia").unwrap_or_default();
        for (row, column, product) in [(0, 1, xy), (0, 2, xz), (1, 2, yz)] {
            inertia[(row, column)] = product;
            inertia[(column, row)] = product;
        }
        return Mass::Given { mass, centre, inertia };
    }
    // the shapes say how the mass is spread
    if let Some(volume) = volume(shapes).filter(|_| !reader.has("centre")) {
        return Mass::Density(mass / volume);
    }
    // what is given and not right is reported
    if reader.has("inertia") || shapes.len() < reader.list("shapes").len() {
        return usual;
    }
    let message = "missing key `inertia`: the moments of inertia about the centre of mass";
    reader.error(&reader.span("mass"), message);
    usual
}

/// Volume of the shapes that weigh something [m³].
fn volume(shapes: &[Attached]) -> Option<f64> {
    let parts = shapes.iter().filter(|shape| !shape.sensor);
    let parts = parts.filter_map(|shape| mass(&shape.shape, 1.0).ok().map(|part| (shape.pose, part)));
    MassProperties::combine(parts.collect::<Vec<_>>()).ok().map(|whole| whole.mass)
}

/// A shape on a body.
fn attached(reader: &Reader, body: &Reader, materials: &Materials) -> Option<Attached> {
    let _ = reader.text("kind");
    let number = |key: &str| reader.number(key);
    let shape = match reader.text("kind")? {
        "sphere" => Shape::Sphere { radius: number("radius")? },
        "ellipsoid" => Shape::Ellipsoid { semi_axes: reader.vector("semi_axes")? },
        "capsule" => Shape::Capsule { half_length: number("half_length")?, radius: number("radius")? },
        "box" => Shape::Cuboid { half_extents: reader.vector("half_extents")? },
        "half_space" => Shape::HalfSpace,
        "polyhedron" => polyhedron(reader)?,
        _ => return None,
    };
    let (material, _) = materials.of(reader, body);
    Some(Attached {
        shape,
        pose: pose(reader),
        material,
        groups: groups(reader, body),
        sensor: reader.flag("sensor").unwrap_or(false),
        surface_velocity: Vector::from(reader.vector::<3>("surface_velocity").unwrap_or_default()),
        grain: reader.table("grain").and_then(|grain| {
            let direction = axis(&grain, "direction")?;
            Some(Grain { direction, ratio: grain.number("ratio")? })
        }),
    })
}

/// A polyhedron, or a complaint.
fn polyhedron(reader: &Reader) -> Option<Shape> {
    let (key, polyhedron) = if reader.has("facets") {
        let facet = |facet: Reader| {
            let normal = Vector::from(facet.vector::<3>("normal")?);
            Some((normal, facet.number("offset")?))
        };
        let facets: Option<Vec<_>> = reader.tables("facets").map(facet).collect();
        ("facets", Polyhedron::from_facets(&facets?))
    } else if reader.has("vertices") {
        let vertices = reader.list("vertices").iter();
        let vertices: Option<Vec<_>> =
            vertices.map(|node| crate::read::numbers::<3>(node).map(Point::from)).collect();
        ("vertices", Polyhedron::new(&vertices?))
    } else {
        missing(reader, "vertices` or `facets", "what the polyhedron is made of");
        return None;
    };
    match polyhedron {
        Ok(polyhedron) => Some(Shape::Polyhedron(Arc::new(polyhedron))),
        Err(error) => {
            reader.error(&reader.span(key), error.to_string());
            None
        }
    }
}

fn path_from(reader: &Reader, by: &Isometry) -> Path {
    let table = reader.table("path");
    let [x, y, z] = crate::track::places(table.as_ref());
    let angle = crate::track::angle(table.as_ref());
    let (start, turn) = (by * pose(reader), by.rotation);
    let about = table.filter(|table| table.has("axis")).and_then(|table| axis(&table, "axis"));
    let about = turn * Unit::new_unchecked(about.unwrap_or_else(Vector::z));
    Path::new(move |t| {
        let at = start.translation.vector + turn * Vector::new(x.at(t), y.at(t), z.at(t));
        let turned = UnitQuaternion::from_axis_angle(&about, angle.at(t)) * start.rotation;
        let linear = turn * Vector::new(x.rate(t), y.rate(t), z.rate(t));
        let velocity = Twist::new(linear, angle.rate(t) * about.into_inner());
        (Isometry::from_parts(at.into(), turned), velocity)
    })
}

/// Force and torque of formulas.
fn wrench(parts: &Parts, state: &[f64], turn: &Turn) -> Wrench {
    let [fx, fy, fz, tx, ty, tz] = parts.each_ref().map(|part| part.at(state));
    Wrench { force: turn * Vector::new(fx, fy, fz), torque: turn * Vector::new(tx, ty, tz) }
}
