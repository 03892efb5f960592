//! Joints as values, and their frames from points and axes in the world.

use super::world::{BodyId, World};
use nalgebra::{Isometry3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// A joint between two bodies. Its rows are speeds [m/s]: those that turn are multiplied by the length of the
/// joint, [`Model::joint_length`](super::Model::joint_length).
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name, unlike those of all other joints.
    pub name: String,
    /// The first body.
    pub a: BodyId,
    /// The second body.
    pub b: BodyId,
    /// The joint's frame in the frame of a.
    pub frame_a: Isometry3<f64>,
    /// The joint's frame in the frame of b.
    pub frame_b: Isometry3<f64>,
    /// What it leaves free.
    pub kind: JointKind,
    /// Least and greatest joint coordinate: angle [rad] within −π and π, travel or length [m]. One of them may
    /// be infinite.
    pub limits: Option<[f64; 2]>,
    /// What drives the joint coordinate.
    pub motor: Option<Motor>,
    /// Dry friction: the largest force [N] or torque [N m] against motion of the joint coordinate.
    pub friction: f64,
    /// How far a rigid row gives way [m/N]; for rows that turn, measured at the joint's length.
    pub compliance: f64,
    /// The joined bodies collide. Default `false`.
    pub collide: bool,
}

/// What a joint leaves free, and which of it is the joint coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointKind {
    /// All turning, as a ball in a socket. No coordinate.
    Spherical,
    /// Turning about z of the frames. Coordinate: the angle of frame b against frame a, in (−π, π].
    Revolute,
    /// Sliding along z of the frames. Coordinate: the travel of frame b along z of frame a.
    Prismatic,
    /// Sliding along and turning about z of the frames. Coordinate: the travel.
    Cylindrical,
    /// Turning about z of frame a and about x of frame b, which stay perpendicular: the axes of its cross. No
    /// coordinate.
    Universal,
    /// Sliding in the xy plane of frame a and turning about its z. No coordinate.
    Planar,
    /// Nothing. No coordinate.
    Fixed,
    /// All but the distance [m] of the two origins, > 0. Coordinate: that distance, which is free between the
    /// limits if there are any (a rope has the limits 0 and its length) and held otherwise.
    Distance(f64),
}

impl JointKind {
    /// The name users give.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Spherical => "spherical",
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Universal => "universal",
            Self::Planar => "planar",
            Self::Fixed => "fixed",
            Self::Distance(_) => "distance",
        }
    }

    /// `true` when it has a coordinate that limits, motors and dry friction can act on.
    pub fn has_coordinate(&self) -> bool {
        matches!(self, Self::Revolute | Self::Prismatic | Self::Cylindrical | Self::Distance(_))
    }
}

/// What drives a joint coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Motor {
    /// Seeks a speed.
    Velocity {
        /// Speed [rad/s] or [m/s].
        speed: f64,
        /// Largest torque [N m] or force [N].
        force: f64,
    },
    /// Seeks a coordinate: a servo that asks for the speed gain · (target − coordinate).
    Position {
        /// Coordinate sought [rad] or [m].
        target: f64,
        /// Gain [1/s]; steps longer than 2/gain overshoot ever more.
        gain: f64,
        /// Largest torque [N m] or force [N].
        force: f64,
    },
}

impl Joint {
    /// A joint of a kind from its frames in the bodies.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        (a, frame_a): (BodyId, Isometry3<f64>),
        (b, frame_b): (BodyId, Isometry3<f64>),
    ) -> Self {
        Self {
            name: name.into(),
            a,
            b,
            frame_a,
            frame_b,
            kind,
            limits: None,
            motor: None,
            friction: 0.0,
            compliance: 0.0,
            collide: false,
        }
    }

    /// A joint of a kind whose frames are now one frame in the world.
    pub fn between(
        name: impl Into<String>,
        kind: JointKind,
        world: &World,
        a: BodyId,
        b: BodyId,
        frame: Isometry3<f64>,
    ) -> Self {
        Self::new(name, kind, (a, local(world, a, &frame)), (b, local(world, b, &frame)))
    }

    /// A ball joint at a world point.
    pub fn spherical(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
    ) -> Self {
        Self::between(name, JointKind::Spherical, world, a, b, Translation3::from(point).into())
    }

    /// A hinge about a world axis through a world point.
    pub fn revolute(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        axis: Vector3<f64>,
    ) -> Self {
        Self::between(name, JointKind::Revolute, world, a, b, frame(point, axis))
    }

    /// A slide along a world axis.
    pub fn prismatic(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        axis: Vector3<f64>,
    ) -> Self {
        Self::between(name, JointKind::Prismatic, world, a, b, frame(point, axis))
    }

    /// A slide along and hinge about a world axis.
    pub fn cylindrical(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        axis: Vector3<f64>,
    ) -> Self {
        Self::between(name, JointKind::Cylindrical, world, a, b, frame(point, axis))
    }

    /// A cross at a world point with one axis in a and one in b; what of the second is along the first does not
    /// count.
    pub fn universal(
        name: impl Into<String>,
        world: &World,
        (a, axis_a): (BodyId, Vector3<f64>),
        (b, axis_b): (BodyId, Vector3<f64>),
        point: Point3<f64>,
    ) -> Self {
        // z along the axis of a, and x along that of b
        let z = axis_a.normalize();
        let x = (axis_b - z * z.dot(&axis_b)).normalize();
        let rotation =
            Rotation3::from_matrix_unchecked(nalgebra::Matrix3::from_columns(&[x, z.cross(&x), z]));
        let frame = Isometry3::from_parts(point.into(), UnitQuaternion::from_rotation_matrix(&rotation));
        Self::between(name, JointKind::Universal, world, a, b, frame)
    }

    /// Motion in the plane through a world point with this normal.
    pub fn planar(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point3<f64>,
        normal: Vector3<f64>,
    ) -> Self {
        Self::between(name, JointKind::Planar, world, a, b, frame(point, normal))
    }

    /// Two bodies held as they are, at a world point.
    pub fn fixed(name: impl Into<String>, world: &World, a: BodyId, b: BodyId, point: Point3<f64>) -> Self {
        Self::between(name, JointKind::Fixed, world, a, b, Translation3::from(point).into())
    }

    /// Two points held at the distance they have, each given in the world.
    pub fn distance(
        name: impl Into<String>,
        world: &World,
        (a, point_a): (BodyId, Point3<f64>),
        (b, point_b): (BodyId, Point3<f64>),
    ) -> Self {
        let on = |body, point: Point3<f64>| (body, local(world, body, &Translation3::from(point).into()));
        Self::new(name, JointKind::Distance((point_b - point_a).norm()), on(a, point_a), on(b, point_b))
    }

    /// The same with limits of the joint coordinate [rad; m].
    #[must_use]
    pub fn limits(self, least: f64, greatest: f64) -> Self {
        Self { limits: Some([least, greatest]), ..self }
    }

    /// The same with a motor.
    #[must_use]
    pub fn motor(self, motor: Motor) -> Self {
        Self { motor: Some(motor), ..self }
    }

    /// The same with dry friction [N] or [N m].
    #[must_use]
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// The same with a compliance [m/N].
    #[must_use]
    pub fn compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
    }

    /// The same between bodies that collide with each other.
    #[must_use]
    pub fn colliding(self) -> Self {
        Self { collide: true, ..self }
    }
}

/// A frame of the world in a body; one in a body that does not exist is reported when the world is checked.
fn local(world: &World, body: BodyId, frame: &Isometry3<f64>) -> Isometry3<f64> {
    world.body(body).map_or(*frame, |b| b.pose_at(world.t).inv_mul(frame))
}

/// A frame at a point with its z along an axis; not a number, which a check finds, when there is no such axis.
fn frame(point: Point3<f64>, axis: Vector3<f64>) -> Isometry3<f64> {
    let z = axis.normalize();
    // any direction across: the least aligned axis of the world
    let aside = if z.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let x = (aside - z * z.dot(&aside)).normalize();
    let columns = nalgebra::Matrix3::from_columns(&[x, z.cross(&x), z]);
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(columns));
    Isometry3::from_parts(point.into(), rotation)
}
