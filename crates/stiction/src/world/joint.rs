//! Joints: what they hold, and how they are limited, driven and braked.

use super::World;
use super::dimension::{Dimension, EuclideanPoint, EuclideanVector, KindOfJoint, RigidPose};
use crate::id::BodyId;

/// Joint between two bodies. Its rows are speeds [m/s]: angular rows are multiplied by the length of the joint,
/// [`ModelIn::joint_length`](super::ModelIn::joint_length).
#[derive(Debug, Clone, PartialEq)]
pub struct Joint<D: Dimension> {
    /// Name, unique among the joints.
    pub name: String,
    /// First body.
    pub a: BodyId,
    /// Second body.
    pub b: BodyId,
    /// Frame of the joint in the first body.
    pub frame_a: D::Isometry,
    /// Frame of the joint in the second body.
    pub frame_b: D::Isometry,
    /// Motions it leaves free.
    pub kind: D::JointKind,
    /// Least and greatest joint coordinate: angle [rad] within −π and π, travel or length [m]. One of them may be
    /// infinite.
    pub limits: Option<[f64; 2]>,
    /// Motor of the joint coordinate.
    pub motor: Option<Motor>,
    /// Dry friction along the joint coordinate: its largest force [N] or torque [N m], ≥ 0.
    pub friction: f64,
    /// Compliance of the rigid rows [m/N], ≥ 0; of angular rows measured at the length of the joint.
    pub compliance: f64,
    /// The joined bodies collide with each other. Default `false`.
    pub collide: bool,
}

/// Motor of a joint coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Motor {
    /// Velocity servo.
    Velocity {
        /// Target speed of the coordinate [rad/s; m/s].
        speed: f64,
        /// Largest torque or force [N m; N], ≥ 0.
        force: f64,
    },
    /// Position servo with the target speed gain · (target − coordinate).
    Position {
        /// Target value of the coordinate [rad; m].
        target: f64,
        /// Gain [1/s], ≥ 0. A gain of 1/h arrives in one step; steps longer than 2/gain diverge.
        gain: f64,
        /// Largest torque or force [N m; N], ≥ 0.
        force: f64,
    },
}

impl<D: Dimension> Joint<D> {
    /// Joint of a kind from its frames in the bodies.
    pub fn new(
        name: impl Into<String>,
        kind: D::JointKind,
        (a, frame_a): (BodyId, D::Isometry),
        (b, frame_b): (BodyId, D::Isometry),
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

    /// Joint of a kind whose frames are now one frame of the world.
    pub fn between(
        name: impl Into<String>,
        kind: D::JointKind,
        world: &World<D>,
        a: BodyId,
        b: BodyId,
        frame: D::Isometry,
    ) -> Self {
        Self::new(name, kind, (a, local(world, a, &frame)), (b, local(world, b, &frame)))
    }

    /// Joint that holds two bodies as they are now, at a point of the world.
    pub fn fixed(name: impl Into<String>, world: &World<D>, a: BodyId, b: BodyId, point: D::Point) -> Self {
        Self::between(name, D::JointKind::FIXED, world, a, b, upright::<D>(point))
    }

    /// Joint that keeps two points of the world, one on each body, as far apart as they are now.
    pub fn distance(
        name: impl Into<String>,
        world: &World<D>,
        (a, point_a): (BodyId, D::Point),
        (b, point_b): (BodyId, D::Point),
    ) -> Self {
        let on = |body, point: D::Point| (body, local(world, body, &upright::<D>(point)));
        let kind = D::JointKind::with_length((point_b - point_a).norm());
        Self::new(name, kind, on(a, point_a), on(b, point_b))
    }

    /// Sets the limits of the joint coordinate [rad; m].
    #[must_use]
    pub fn limits(self, lower: f64, upper: f64) -> Self {
        Self { limits: Some([lower, upper]), ..self }
    }

    /// Sets the motor.
    #[must_use]
    pub fn motor(self, motor: Motor) -> Self {
        Self { motor: Some(motor), ..self }
    }

    /// Sets the dry friction [N; N m].
    #[must_use]
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Sets the compliance [m/N].
    #[must_use]
    pub fn compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
    }

    /// Lets the joined bodies collide with each other.
    #[must_use]
    pub fn colliding(self) -> Self {
        Self { collide: true, ..self }
    }
}

/// Frame of the world in a body. A body that does not exist is reported when the world is checked.
fn local<D: Dimension>(world: &World<D>, body: BodyId, frame: &D::Isometry) -> D::Isometry {
    world.body(body).map_or(*frame, |b| b.pose_at(world.t).inverse_times(frame))
}

/// Frame at a point with the axes of the world.
pub(crate) fn upright<D: Dimension>(point: D::Point) -> D::Isometry {
    D::Isometry::new(point.coordinates(), D::Isometry::identity().turn())
}
