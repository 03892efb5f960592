//! Joints: what they hold, and how they are limited, driven and braked.

use super::world::{BodyId, World};
use nalgebra::{Isometry2, Point2, Rotation2, UnitComplex, Vector2};

/// A joint between two bodies. Its rows are speeds [m/s]: turning rows are multiplied by the length of the
/// joint, [`super::Model::joint_length`].
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Name, unique among the joints.
    pub name: String,
    /// The first body.
    pub a: BodyId,
    /// The second body.
    pub b: BodyId,
    /// Frame of the joint in the first body.
    pub frame_a: Isometry2<f64>,
    /// Frame of the joint in the second body.
    pub frame_b: Isometry2<f64>,
    /// What it holds.
    pub kind: JointKind,
    /// Least and greatest value of the joint coordinate [rad; m]: the angle of a revolute joint, between −π and
    /// π, the travel of a prismatic one, the length of a distance joint. One of them may be infinite.
    pub limits: Option<[f64; 2]>,
    /// What drives the joint coordinate.
    pub motor: Option<Motor>,
    /// Dry friction along the joint coordinate: its largest force [N] or torque [N m], ≥ 0.
    pub friction: f64,
    /// How far the joint gives way per force [m/N], ≥ 0.
    pub compliance: f64,
    /// The joined bodies collide with each other.
    pub collide: bool,
}

/// What a joint holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointKind {
    /// The origins of both frames together. Coordinate: the angle from frame a to frame b, in (−π, π].
    Revolute,
    /// The origin of frame b on the x axis of frame a, and the frames parallel. Coordinate: the travel of that
    /// origin along the axis.
    Prismatic,
    /// Both frames together. No coordinate.
    Weld,
    /// The origins of both frames this far apart [m], > 0. Coordinate: the length, which is free between the
    /// limits if there are any (a rope has the limits 0 and its length) and held otherwise.
    Distance(f64),
}

/// What drives a joint coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Motor {
    /// Seeks a speed.
    Velocity {
        /// Speed of the coordinate [rad/s; m/s].
        speed: f64,
        /// Largest torque or force [N m; N], ≥ 0.
        force: f64,
    },
    /// Seeks a place, with the speed gain · (target − coordinate).
    Position {
        /// Value of the coordinate [rad; m].
        target: f64,
        /// How fast it goes there [1/s], ≥ 0. A gain of 1/h arrives in one step, more overshoots.
        gain: f64,
        /// Largest torque or force [N m; N], ≥ 0.
        force: f64,
    },
}

impl Joint {
    /// A joint of any kind from its frames in the bodies.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        (a, frame_a): (BodyId, Isometry2<f64>),
        (b, frame_b): (BodyId, Isometry2<f64>),
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

    /// A joint that turns about a point of the world, at angle 0 now.
    pub fn revolute(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point2<f64>,
    ) -> Self {
        Self::between(name, JointKind::Revolute, world, a, b, &Isometry2::from(point.coords))
    }

    /// A joint that slides along an axis of the world through a point, at travel 0 now.
    pub fn prismatic(
        name: impl Into<String>,
        world: &World,
        a: BodyId,
        b: BodyId,
        point: Point2<f64>,
        axis: Vector2<f64>,
    ) -> Self {
        let turn = UnitComplex::from_rotation_matrix(&Rotation2::rotation_between(&Vector2::x(), &axis));
        let frame = Isometry2::from_parts(point.coords.into(), turn);
        Self::between(name, JointKind::Prismatic, world, a, b, &frame)
    }

    /// A joint that holds the bodies as they are now, at a point of the world.
    pub fn weld(name: impl Into<String>, world: &World, a: BodyId, b: BodyId, point: Point2<f64>) -> Self {
        Self::between(name, JointKind::Weld, world, a, b, &Isometry2::from(point.coords))
    }

    /// A joint that keeps two points of the world, one on each body, as far apart as they are now.
    pub fn distance(
        name: impl Into<String>,
        world: &World,
        (a, point_a): (BodyId, Point2<f64>),
        (b, point_b): (BodyId, Point2<f64>),
    ) -> Self {
        let on = |body, point: Point2<f64>| (body, local(world, body, &Isometry2::from(point.coords)));
        Self::new(name, JointKind::Distance((point_b - point_a).norm()), on(a, point_a), on(b, point_b))
    }

    /// The same with limits of the joint coordinate [rad; m].
    #[must_use]
    pub fn limits(self, lower: f64, upper: f64) -> Self {
        Self { limits: Some([lower, upper]), ..self }
    }

    /// The same with a motor.
    #[must_use]
    pub fn motor(self, motor: Motor) -> Self {
        Self { motor: Some(motor), ..self }
    }

    /// The same with dry friction [N; N m].
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

    fn between(
        name: impl Into<String>,
        kind: JointKind,
        world: &World,
        a: BodyId,
        b: BodyId,
        frame: &Isometry2<f64>,
    ) -> Self {
        Self::new(name, kind, (a, local(world, a, frame)), (b, local(world, b, frame)))
    }
}

/// A frame of the world in a body; one in a body that does not exist is reported when the world is checked.
fn local(world: &World, body: BodyId, frame: &Isometry2<f64>) -> Isometry2<f64> {
    world.body(body).map_or(*frame, |b| b.pose_at(world.t).inv_mul(frame))
}
