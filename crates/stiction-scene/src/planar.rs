//! Planar worlds of scene files: poses by angle, shapes of the plane, formulas of x, y and the angle.

use crate::assembly::{BoundForce, JointAt, SceneDimension, axis, missing};
use crate::expression::Formula;
use crate::read::{Reader, numbers};
use nalgebra::{Isometry2, Point2, UnitComplex, Vector2};
use stiction::planar::{Joint, JointKind, Motion, Path, Planar, Polygon, Shape, Twist, World, Wrench};
use stiction_geometry::ShapeError;

impl SceneDimension for Planar {
    const STATE: &'static [&'static str] = &["t", "x", "y", "vx", "vy", "angle", "omega"];

    fn default_gravity() -> Vector2<f64> {
        Vector2::new(0.0, -9.81)
    }

    fn copy_turn(table: &Reader) -> f64 {
        table.angle("turn").unwrap_or(0.0)
    }

    fn rotation(turn: f64) -> UnitComplex<f64> {
        UnitComplex::new(turn)
    }

    fn turned(_: &UnitComplex<f64>, angular: f64) -> f64 {
        angular
    }

    fn read_angular_velocity(reader: &Reader) -> f64 {
        reader.number("angular_velocity").unwrap_or(0.0)
    }

    fn read_pose(reader: &Reader) -> Isometry2<f64> {
        let at = reader.vector::<2>("position").unwrap_or_default();
        Isometry2::new(Vector2::from(at), reader.angle("angle").unwrap_or(0.0))
    }

    fn inertia(reader: &Reader) -> Option<f64> {
        reader.number("inertia")
    }

    fn unit_inertia() -> f64 {
        1.0
    }

    fn shape(reader: &Reader) -> Option<Shape> {
        let number = |key: &str| reader.number(key);
        let shape = match reader.text("kind")? {
            "disk" => Shape::Disk { radius: number("radius")? },
            "ellipse" => Shape::Ellipse { semi_axes: reader.vector("semi_axes")? },
            "capsule" => Shape::Capsule { half_length: number("half_length")?, radius: number("radius")? },
            "half_plane" => Shape::HalfPlane,
            "rectangle" => {
                polygon(reader, "half_extents", Polygon::rectangle(reader.vector("half_extents")?))?
            }
            "polygon" => {
                let vertices = reader.list("vertices").iter();
                let vertices: Option<Vec<_>> =
                    vertices.map(|node| numbers::<2>(node).map(Point2::from)).collect();
                polygon(reader, "vertices", Polygon::new(&vertices?))?
            }
            _ => return None,
        };
        let rounding = number("rounding").filter(|radius| *radius > 0.0);
        Some(match rounding {
            Some(radius) => Shape::Rounded { core: Box::new(shape), radius },
            None => shape,
        })
    }

    fn surface_velocity(reader: &Reader) -> f64 {
        reader.number("surface_velocity").unwrap_or(0.0)
    }

    fn grain(_: &Reader) {}

    fn path(reader: &Reader, moved: &Isometry2<f64>) -> Path {
        let table = reader.table("path");
        let [x, y] = crate::track::places(table.as_ref());
        let angle = crate::track::angle(table.as_ref());
        let (start, turn) = (moved * Self::read_pose(reader), moved.rotation);
        Path::new(move |t| {
            let at = start.translation.vector + turn * Vector2::new(x.at(t), y.at(t));
            let turned = UnitComplex::new(angle.at(t)) * start.rotation;
            let velocity = Twist::new(turn * Vector2::new(x.rate(t), y.rate(t)), angle.rate(t));
            (Isometry2::from_parts(at.into(), turned), velocity)
        })
    }

    /// Force along x and y, and the torque.
    fn wrench_formulas(reader: &Reader) -> Vec<Formula> {
        let zero = || Formula::Number(0.0);
        let mut formulas = vec![zero(), zero(), zero()];
        for (to, node) in formulas[..2].iter_mut().zip(reader.list("force")) {
            *to = reader.formula(node, Self::STATE).unwrap_or_else(zero);
        }
        let torque = reader.get("torque").and_then(|node| reader.formula(node, Self::STATE));
        formulas[2] = torque.unwrap_or_else(zero);
        formulas
    }

    fn wrench(formulas: &[Formula], variables: &[f64], rotation: &UnitComplex<f64>) -> Wrench {
        let at = |i: usize| formulas[i].at(variables);
        Wrench { force: rotation * Vector2::new(at(0), at(1)), torque: at(2) }
    }

    fn add_state_force(force: &BoundForce<Self>, t: f64, q: &[f64], v: &[f64], k: &mut [f64]) {
        let wrench = |variables: [f64; 7]| Self::wrench(&force.formulas, &variables, &force.rotation);
        let angle = || force.pose.rotation.angle();
        match force.motion {
            Motion::Rigid => {
                let wrench = wrench([t, q[0], q[1], v[0], v[1], q[2], v[2]]);
                let lever = UnitComplex::new(q[2]) * force.lever;
                k[0] += wrench.force.x;
                k[1] += wrench.force.y;
                k[2] += wrench.torque + lever.perp(&wrench.force);
            }
            Motion::Point => {
                let wrench = wrench([t, q[0], q[1], v[0], v[1], angle(), 0.0]);
                k[0] += wrench.force.x;
                k[1] += wrench.force.y;
            }
            Motion::Slider(axis) => {
                let at = force.centre + axis * (q[0] - force.start);
                let speed = axis * v[0];
                k[0] += axis.dot(&wrench([t, at.x, at.y, speed.x, speed.y, angle(), 0.0]).force);
            }
            Motion::Fixed | Motion::Kinematic(_) => {}
        }
    }

    fn joint_kind(name: &str, _: &Reader) -> Option<JointKind> {
        Some(match name {
            "revolute" => JointKind::Revolute,
            "prismatic" => JointKind::Prismatic,
            // the older name of planar files
            "fixed" | "weld" => JointKind::Fixed,
            _ => return None,
        })
    }

    fn joint_at(
        world: &World,
        reader: &Reader,
        joint: JointAt<Self>,
        moved: &Isometry2<f64>,
    ) -> Option<Joint> {
        let JointAt { kind, name, bodies: [a, b], point } = joint;
        Some(match Self::joint_kind(kind, reader)? {
            JointKind::Revolute => Joint::revolute(name, world, a, b, point),
            JointKind::Prismatic => {
                if !reader.has("axis") {
                    missing(reader, "axis", "what the joint slides along");
                    return None;
                }
                let along = moved.rotation * axis::<Self>(reader, "axis")?;
                Joint::prismatic(name, world, a, b, point, along)
            }
            JointKind::Fixed => Joint::fixed(name, world, a, b, point),
            JointKind::Distance(_) => return None,
        })
    }
}

/// Polygon; a complaint where the vertices describe none.
fn polygon(reader: &Reader, key: &str, polygon: Result<Polygon, ShapeError>) -> Option<Shape> {
    let refuse = |error: &ShapeError| reader.error(&reader.span(key), error.to_string());
    polygon.inspect_err(refuse).ok().map(Shape::Polygon)
}
