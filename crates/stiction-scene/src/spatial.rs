//! Spatial worlds of scene files: poses by quaternion, shapes of space, formulas of x, y, z and ω.

use crate::assembly::{BoundForce, JointAt, SceneDimension, axis, missing};
use crate::expression::Formula;
use crate::read::{Reader, numbers};
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Unit, UnitQuaternion, Vector3};
use std::sync::Arc;
use stiction::spatial::{
    Facets, Grain, Joint, JointKind, Motion, Path, Shape, Spatial, Twist, World, Wrench,
};
use stiction_geometry::spatial::Polyhedron;

/// Largest difference of the norm of a quaternion in a file from 1: the round-off of four digits. Range 1e-6 to
/// 1e-2: below it rounded quaternions are refused, above it typing errors pass.
const ROUNDED_QUATERNION: f64 = 1e-3;

/// Sine of the angle below which two axes count as parallel: a frame of them would be round-off. Range 1e-10 to 1e-3.
const PARALLEL_AXES: f64 = 1e-6;

impl SceneDimension for Spatial {
    const STATE: &'static [&'static str] = &["t", "x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];

    fn default_gravity() -> Vector3<f64> {
        Vector3::new(0.0, 0.0, -9.81)
    }

    fn read_settings(table: &Reader, world: &mut World) {
        world.facets = table.table("facets").map(|facets| {
            let default = Facets::default();
            let directions = facets.count("directions").unwrap_or(default.directions);
            if !directions.is_multiple_of(2) {
                facets.error(&facets.span("directions"), format!("{directions} must be even"));
            }
            Facets { directions, aligned: facets.flag("aligned").unwrap_or(default.aligned) }
        });
    }

    fn copy_turn(table: &Reader) -> Vector3<f64> {
        let degrees = || table.vector::<3>("turn_deg").map(|turn| turn.map(f64::to_radians));
        table.vector::<3>("turn").or_else(degrees).map_or_else(Vector3::zeros, Vector3::from)
    }

    fn rotation(turn: Vector3<f64>) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(turn)
    }

    fn turned(rotation: &UnitQuaternion<f64>, angular: Vector3<f64>) -> Vector3<f64> {
        rotation * angular
    }

    fn read_angular_velocity(reader: &Reader) -> Vector3<f64> {
        Vector3::from(reader.vector::<3>("angular_velocity").unwrap_or_default())
    }

    fn read_pose(reader: &Reader) -> Isometry3<f64> {
        let at = Vector3::from(reader.vector::<3>("position").unwrap_or_default());
        Isometry3::from_parts(at.into(), rotation(reader).unwrap_or_else(UnitQuaternion::identity))
    }

    fn inertia(reader: &Reader) -> Option<Matrix3<f64>> {
        let moments = reader.vector::<3>("inertia")?;
        let mut inertia = Matrix3::from_diagonal(&Vector3::from(moments));
        let [xy, xz, yz] = reader.vector::<3>("products_of_inertia").unwrap_or_default();
        for (row, column, product) in [(0, 1, xy), (0, 2, xz), (1, 2, yz)] {
            inertia[(row, column)] = product;
            inertia[(column, row)] = product;
        }
        Some(inertia)
    }

    fn unit_inertia() -> Matrix3<f64> {
        Matrix3::identity()
    }

    fn shape(reader: &Reader) -> Option<Shape> {
        let number = |key: &str| reader.number(key);
        let shape = match reader.text("kind")? {
            "sphere" => Shape::Sphere { radius: number("radius")? },
            "ellipsoid" => Shape::Ellipsoid { semi_axes: reader.vector("semi_axes")? },
            "capsule" => Shape::Capsule { half_length: number("half_length")?, radius: number("radius")? },
            "box" => Shape::Cuboid { half_extents: reader.vector("half_extents")? },
            "half_space" => Shape::HalfSpace,
            "cylinder" => Shape::Cylinder { half_length: number("half_length")?, radius: number("radius")? },
            "cone" => Shape::Cone { half_length: number("half_length")?, radius: number("radius")? },
            "polyhedron" => polyhedron(reader)?,
            _ => return None,
        };
        let rounding = number("rounding").filter(|radius| *radius > 0.0);
        Some(match rounding {
            Some(radius) => Shape::Rounded { core: Box::new(shape), radius },
            None => shape,
        })
    }

    fn surface_velocity(reader: &Reader) -> Vector3<f64> {
        Vector3::from(reader.vector::<3>("surface_velocity").unwrap_or_default())
    }

    fn grain(reader: &Reader) -> Option<Grain> {
        let grain = reader.table("grain")?;
        Some(Grain { direction: axis::<Self>(&grain, "direction")?, ratio: grain.number("ratio")? })
    }

    fn path(reader: &Reader, moved: &Isometry3<f64>) -> Path {
        let table = reader.table("path");
        let [x, y, z] = crate::track::places(table.as_ref());
        let angle = crate::track::angle(table.as_ref());
        let (start, turn) = (moved * Self::read_pose(reader), moved.rotation);
        let about = table.filter(|table| table.has("axis")).and_then(|table| axis::<Self>(&table, "axis"));
        let about = turn * Unit::new_unchecked(about.unwrap_or_else(Vector3::z));
        Path::new(move |t| {
            let at = start.translation.vector + turn * Vector3::new(x.at(t), y.at(t), z.at(t));
            let turned = UnitQuaternion::from_axis_angle(&about, angle.at(t)) * start.rotation;
            let linear = turn * Vector3::new(x.rate(t), y.rate(t), z.rate(t));
            let velocity = Twist::new(linear, angle.rate(t) * about.into_inner());
            (Isometry3::from_parts(at.into(), turned), velocity)
        })
    }

    /// Force and torque along x, y and z.
    fn wrench_formulas(reader: &Reader) -> Vec<Formula> {
        let zero = || Formula::Number(0.0);
        let mut formulas: Vec<Formula> = (0..6).map(|_| zero()).collect();
        let (force, torque) = formulas.split_at_mut(3);
        for (to, key) in [(force, "force"), (torque, "torque")] {
            for (to, node) in to.iter_mut().zip(reader.list(key)) {
                *to = reader.formula(node, Self::STATE).unwrap_or_else(zero);
            }
        }
        formulas
    }

    fn wrench(formulas: &[Formula], variables: &[f64], rotation: &UnitQuaternion<f64>) -> Wrench {
        let at = |i: usize| formulas[i].at(variables);
        Wrench {
            force: rotation * Vector3::new(at(0), at(1), at(2)),
            torque: rotation * Vector3::new(at(3), at(4), at(5)),
        }
    }

    fn add_state_force(force: &BoundForce<Self>, t: f64, q: &[f64], v: &[f64], k: &mut [f64]) {
        let wrench = |at: &[f64], speed: &[f64], spin: &Vector3<f64>| {
            let variables = [t, at[0], at[1], at[2], speed[0], speed[1], speed[2], spin.x, spin.y, spin.z];
            Self::wrench(&force.formulas, &variables, &force.rotation)
        };
        match force.motion {
            Motion::Rigid => {
                let turned = UnitQuaternion::new_unchecked(Quaternion::new(q[3], q[4], q[5], q[6]));
                let wrench = wrench(q, v, &(turned * Vector3::new(v[3], v[4], v[5])));
                // torques are measured along the axes of the body, as its angular velocities are
                let torque = turned.inverse() * (wrench.torque + (turned * force.lever).cross(&wrench.force));
                k.iter_mut().zip(wrench.force.iter().chain(&torque)).for_each(|(k, x)| *k += x);
            }
            Motion::Point => {
                let wrench = wrench(q, v, &Vector3::zeros());
                k.iter_mut().zip(&wrench.force).for_each(|(k, x)| *k += x);
            }
            Motion::Slider(axis) => {
                let axis = axis.normalize();
                let at = force.centre + axis * (q[0] - force.start);
                let speed = axis * v[0];
                let wrench = wrench(at.coords.as_slice(), speed.as_slice(), &Vector3::zeros());
                k[0] += axis.dot(&wrench.force);
            }
            Motion::Fixed | Motion::Kinematic(_) => {}
        }
    }

    fn joint_kind(name: &str, reader: &Reader) -> Option<JointKind> {
        Some(match name {
            "spherical" => JointKind::Spherical,
            "revolute" => JointKind::Revolute,
            "prismatic" => JointKind::Prismatic,
            "cylindrical" => JointKind::Cylindrical,
            "screw" => {
                let pitch = reader.number("pitch");
                if pitch.is_none() && !reader.has("pitch") {
                    missing(reader, "pitch", "the advance of the screw per turn");
                }
                // one that is missing is reported
                JointKind::Screw(pitch.unwrap_or(1.0))
            }
            "universal" => JointKind::Universal,
            "planar" => JointKind::Planar,
            "fixed" => JointKind::Fixed,
            _ => return None,
        })
    }

    fn joint_at(
        world: &World,
        reader: &Reader,
        joint: JointAt<Self>,
        moved: &Isometry3<f64>,
    ) -> Option<Joint> {
        let JointAt { kind, name, bodies: [a, b], point } = joint;
        let along = |key: &str| -> Option<Vector3<f64>> {
            if !reader.has(key) {
                missing(reader, key, "what the joint turns about or slides along");
            }
            Some(moved.rotation * axis::<Self>(reader, key)?)
        };
        Some(match Self::joint_kind(kind, reader)? {
            JointKind::Spherical => Joint::spherical(name, world, a, b, point),
            JointKind::Fixed => Joint::fixed(name, world, a, b, point),
            JointKind::Revolute => Joint::revolute(name, world, a, b, point, along("axis")?),
            JointKind::Prismatic => Joint::prismatic(name, world, a, b, point, along("axis")?),
            JointKind::Cylindrical => Joint::cylindrical(name, world, a, b, point, along("axis")?),
            JointKind::Screw(pitch) => Joint::screw(name, world, [a, b], point, along("axis")?, pitch),
            JointKind::Planar => Joint::planar(name, world, a, b, point, along("axis")?),
            JointKind::Universal => {
                let (axis_a, axis_b) = (along("axis")?, along("axis_b")?);
                if axis_a.cross(&axis_b).norm() < PARALLEL_AXES {
                    reader.error(&reader.span("axis_b"), "the two axes of a cross must not be parallel");
                    return None;
                }
                Joint::universal(name, world, (a, axis_a), (b, axis_b), point)
            }
            JointKind::Distance(_) => return None,
        })
    }
}

/// Rotation that a table gives, in one of three ways.
fn rotation(reader: &Reader) -> Option<UnitQuaternion<f64>> {
    if let Some([w, x, y, z]) = reader.vector::<4>("quat_wxyz") {
        let quaternion = Quaternion::new(w, x, y, z);
        let norm = quaternion.norm();
        if !((norm - 1.0).abs() <= ROUNDED_QUATERNION) {
            let message = format!("a unit quaternion must have the norm 1, not {norm}");
            reader.error(&reader.span("quat_wxyz"), message);
            return None;
        }
        return Some(UnitQuaternion::new_normalize(quaternion));
    }
    if let Some(vector) = reader.vector::<3>("rotation_vector") {
        return Some(UnitQuaternion::from_scaled_axis(Vector3::from(vector)));
    }
    let [roll, pitch, yaw] = reader.vector::<3>("rpy_deg")?.map(f64::to_radians);
    Some(UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

/// Polyhedron; a complaint where the facets or vertices describe none.
fn polyhedron(reader: &Reader) -> Option<Shape> {
    let (key, polyhedron) = if reader.has("facets") {
        let facet = |facet: Reader| {
            let normal = Vector3::from(facet.vector::<3>("normal")?);
            Some((normal, facet.number("offset")?))
        };
        let facets: Option<Vec<_>> = reader.tables("facets").map(facet).collect();
        ("facets", Polyhedron::from_facets(&facets?))
    } else if reader.has("vertices") {
        let vertices = reader.list("vertices").iter();
        let vertices: Option<Vec<_>> = vertices.map(|node| numbers::<3>(node).map(Point3::from)).collect();
        ("vertices", Polyhedron::new(&vertices?))
    } else {
        missing(reader, "vertices` or `facets", "what the polyhedron is made of");
        return None;
    };
    let refuse = |error: &stiction_geometry::ShapeError| reader.error(&reader.span(key), error.to_string());
    polyhedron.inspect_err(refuse).ok().map(|polyhedron| Shape::Polyhedron(Arc::new(polyhedron)))
}
