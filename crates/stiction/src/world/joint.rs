//! Joints: what they hold, and how they are limited, driven and braked.

use super::World;
use super::dimension::{Dimension, EuclideanPoint, EuclideanVector, KindOfJoint, RigidPose};
use crate::id::BodyId;
use std::fmt;
use std::sync::Arc;

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
    /// Name of the input of the motor. Without one, torque motors and servos have the name of the joint, and the others
    /// have no input.
    pub input: Option<String>,
    /// Prescribed value of the motor in place of its input: speed, target or torque.
    pub command: Option<Command>,
    /// Spring and damper of the joint coordinate.
    pub spring: Option<JointSpring>,
    /// Dry friction along the joint coordinate: its largest force [N] or torque [N m], ≥ 0.
    pub friction: f64,
    /// Limits, motors, springs and dry friction of the coordinates after the first, to which those above belong.
    pub further: Vec<JointAxis>,
    /// Compliance of the rigid rows [m/N], ≥ 0; of angular rows measured at the length of the joint.
    pub compliance: f64,
    /// The joined bodies collide with each other. Default `false`.
    pub collide: bool,
}

/// Limits, motor, spring and dry friction of one coordinate of a joint with several. Fields are those of [`Joint`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JointAxis {
    /// Least and greatest value.
    pub limits: Option<[f64; 2]>,
    /// Motor.
    pub motor: Option<Motor>,
    /// Name of the input of the motor. Default: the name of the joint with the number of the coordinate, as in `cross.1`.
    pub input: Option<String>,
    /// Prescribed value of the motor in place of its input.
    pub command: Option<Command>,
    /// Spring and damper.
    pub spring: Option<JointSpring>,
    /// Dry friction [N; N m], ≥ 0.
    pub friction: f64,
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
    /// Motor that exerts a torque or force.
    Torque {
        /// Torque or force along the coordinate [N m; N].
        torque: f64,
        /// Largest torque or force [N m; N], ≥ 0; may be infinite.
        force: f64,
    },
    /// Servo: stiffness · (target − coordinate) + damping · (speed − its speed) + torque. Schemes of first order take it at
    /// the end of the step, so that it is stable with any gains and steps.
    Servo {
        /// Target of the coordinate [rad; m].
        target: f64,
        /// Speed of the target [rad/s; m/s].
        speed: f64,
        /// Torque or force without error [N m; N].
        torque: f64,
        /// Stiffness [N m/rad; N/m], ≥ 0.
        stiffness: f64,
        /// Damping [N m s/rad; N s/m], ≥ 0.
        damping: f64,
        /// Largest torque or force [N m; N], ≥ 0; may be infinite.
        force: f64,
    },
}

impl Motor {
    /// `true` where it is an applied force, `false` where it is a row with a bounded force.
    pub(crate) fn is_actuator(&self) -> bool {
        matches!(self, Self::Torque { .. } | Self::Servo { .. })
    }
}

/// Spring and damper of a joint coordinate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JointSpring {
    /// Stiffness [N m/rad; N/m], ≥ 0.
    pub stiffness: f64,
    /// Damping [N m s/rad; N s/m], ≥ 0.
    pub damping: f64,
    /// Coordinate without force [rad; m].
    pub rest: f64,
}

/// Function of time: t [s] to a value and its rate.
pub type CommandFunction = dyn Fn(f64) -> [f64; 2] + Send + Sync;

/// Prescribed value of a motor as a function of time: t [s] to the value and its rate.
#[derive(Clone)]
pub struct Command(pub Arc<CommandFunction>);

impl Command {
    /// Command from a function of time to the value and its rate.
    pub fn new(path: impl Fn(f64) -> [f64; 2] + Send + Sync + 'static) -> Self {
        Self(Arc::new(path))
    }
}

impl PartialEq for Command {
    /// Identity of the function.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Command")
    }
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
            input: None,
            command: None,
            spring: None,
            friction: 0.0,
            further: Vec::new(),
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

    /// Names the input of the motor.
    #[must_use]
    pub fn input(self, name: impl Into<String>) -> Self {
        Self { input: Some(name.into()), ..self }
    }

    /// Prescribes the speed, target or torque of the motor: t [s] to the value and its rate.
    #[must_use]
    pub fn command(self, path: impl Fn(f64) -> [f64; 2] + Send + Sync + 'static) -> Self {
        Self { command: Some(Command::new(path)), ..self }
    }

    /// Sets the spring and damper.
    #[must_use]
    pub fn spring(self, spring: JointSpring) -> Self {
        Self { spring: Some(spring), ..self }
    }

    /// Sets the dry friction [N; N m].
    #[must_use]
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Sets limits, motor, spring and friction of the coordinate with this number, from 0.
    #[must_use]
    pub fn axis(mut self, axis: usize, own: JointAxis) -> Self {
        match axis.checked_sub(1) {
            None => self.set_first(own),
            Some(k) => {
                self.further.resize(self.further.len().max(axis), JointAxis::default());
                self.further[k] = own;
            }
        }
        self
    }

    /// Gives the first coordinate these settings.
    pub(crate) fn set_first(&mut self, own: JointAxis) {
        let JointAxis { limits, motor, input, command, spring, friction } = own;
        (self.limits, self.motor, self.input) = (limits, motor, input);
        (self.command, self.spring, self.friction) = (command, spring, friction);
    }

    /// Joint whose first settings are those of one of its coordinates, for code that treats coordinates one by one.
    pub(crate) fn seen_from(&self, axis: usize) -> Self {
        let mut own = self.clone();
        if let Some(k) = axis.checked_sub(1) {
            own.set_first(self.further.get(k).cloned().unwrap_or_default());
            if own.input.is_none() && own.motor.is_some_and(|motor| motor.is_actuator()) {
                own.input = Some(format!("{}.{axis}", self.name));
            }
        }
        own
    }

    /// Sets the compliance [m/N].
    #[must_use]
    pub fn compliance(self, compliance: f64) -> Self {
        Self { compliance, ..self }
    }

    /// `true` where the lower limit has a row. A length is never negative, and its row has no direction at 0.
    pub(crate) fn has_lower_limit(&self) -> bool {
        let needless = |lower: f64| self.kind.length().is_some() && lower <= 0.0;
        self.limits.is_some_and(|[lower, _]| lower.is_finite() && !needless(lower))
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
