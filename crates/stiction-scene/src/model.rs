//! A model in the plane or in space: recorders, plots and viewers need not know which.

use nalgebra::{Isometry2, Isometry3, Matrix6};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use stiction::{
    ContactId, ContactQuery, ContactRow, ForceJacobian, Forces, InitialState, JacobianKind, JointRow, PairId,
    SearchCache, State, System, planar, spatial,
};
use stiction_geometry as geometry;
use stiction_lcp::Row;

/// A model in the plane or in space.
#[derive(Debug, Clone)]
pub enum Model {
    /// In the plane.
    Planar(planar::Model),
    /// In space.
    Spatial(spatial::Model),
}

/// A pose in space; in the plane z is 0 and the turn is about z.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Place of the origin [m].
    pub position: [f64; 3],
    /// Unit quaternion, w first.
    pub quat_wxyz: [f64; 4],
}

impl From<Isometry2<f64>> for Pose {
    fn from(pose: Isometry2<f64>) -> Self {
        let (sin, cos) = (0.5 * pose.rotation.angle()).sin_cos();
        Self { position: [pose.translation.x, pose.translation.y, 0.0], quat_wxyz: [cos, 0.0, 0.0, sin] }
    }
}

impl From<Isometry3<f64>> for Pose {
    fn from(pose: Isometry3<f64>) -> Self {
        let q = pose.rotation;
        Self { position: pose.translation.vector.into(), quat_wxyz: [q.w, q.i, q.j, q.k] }
    }
}

/// A shape to be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShapeRef<'a> {
    /// In the plane.
    Planar(&'a geometry::planar::Shape),
    /// In space.
    Spatial(&'a geometry::spatial::Shape),
}

/// A shape on a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn<'a> {
    /// Number of the shape in the world.
    pub number: u32,
    /// The shape.
    pub shape: ShapeRef<'a>,
    /// Its pose in the body frame.
    pub pose: Pose,
    /// It touches nothing.
    pub sensor: bool,
}

/// The same question to either model.
macro_rules! either {
    ($self:expr, $model:ident => $answer:expr) => {
        match $self {
            Model::Planar($model) => $answer,
            Model::Spatial($model) => $answer,
        }
    };
}

/// The same question about a body or joint to either model, whose numbers are of types of their own.
macro_rules! about {
    ($self:expr, $number:ident: $id:ident, $model:ident => $answer:expr) => {
        match $self {
            Model::Planar($model) => {
                let $number = planar::$id($number);
                $answer
            }
            Model::Spatial($model) => {
                let $number = spatial::$id($number);
                $answer
            }
        }
    };
}

impl Model {
    /// 2 in the plane, 3 in space.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Planar(_) => 2,
            Self::Spatial(_) => 3,
        }
    }

    /// The state of the start.
    pub fn state(&self) -> State {
        either!(self, model => model.state())
    }

    /// Names of the bodies, in the order of their numbers 0, 1, 2, …
    pub fn body_names(&self) -> Vec<&str> {
        either!(self, model => model.world().bodies().map(|(_, body)| body.name.as_str()).collect())
    }

    /// Names of the joints, in the order of their numbers 0, 1, 2, …
    pub fn joint_names(&self) -> Vec<&str> {
        either!(self, model => model.world().joints().map(|(_, joint)| joint.name.as_str()).collect())
    }

    /// Number of the body of this name.
    pub fn body(&self, name: &str) -> Option<u32> {
        either!(self, model => model.world().find_body(name).map(|id| id.0))
    }

    /// Number of the joint of this name.
    pub fn joint(&self, name: &str) -> Option<u32> {
        either!(self, model => model.world().find_joint(name).map(|id| id.0))
    }

    /// Where a body's coordinates stand in q; empty for bodies that do not move by themselves.
    pub fn coordinates(&self, body: u32) -> Option<Range<usize>> {
        about!(self, body: BodyId, model => model.coordinates(body))
    }

    /// Where a body's velocities stand in v; empty for bodies that do not move by themselves.
    pub fn velocities(&self, body: u32) -> Option<Range<usize>> {
        about!(self, body: BodyId, model => model.velocities(body))
    }

    /// `true` for a body that moves by itself.
    pub fn moves(&self, body: u32) -> bool {
        self.velocities(body).is_some_and(|range| !range.is_empty())
    }

    /// Pose of a body's frame.
    pub fn pose(&self, state: &State, body: u32) -> Option<Pose> {
        about!(self, body: BodyId, model => model.pose(state, body).map(Pose::from))
    }

    /// Angle of a body's frame in the plane [rad]; `None` in space.
    pub fn angle(&self, state: &State, body: u32) -> Option<f64> {
        match self {
            Self::Planar(model) => {
                let id = planar::BodyId(body);
                // the coordinate counts turns, the pose does not
                let turned = model
                    .coordinates(id)
                    .filter(|range| range.len() == 3)
                    .map(|range| state.q[range.end - 1]);
                turned.or_else(|| model.pose(state, id).map(|pose| pose.rotation.angle()))
            }
            Self::Spatial(_) => None,
        }
    }

    /// Centre of mass of a body [m]; the origin of the frame of bodies that have none.
    pub fn centre(&self, state: &State, body: u32) -> Option<[f64; 3]> {
        match self {
            Self::Planar(model) => model.centre(state, planar::BodyId(body)).map(|c| [c.x, c.y, 0.0]),
            Self::Spatial(model) => model.centre(state, spatial::BodyId(body)).map(|c| c.coords.into()),
        }
    }

    /// Velocity of a body's centre of mass [m/s], and its angular velocity in the world [rad/s].
    pub fn velocity(&self, state: &State, body: u32) -> Option<([f64; 3], [f64; 3])> {
        match self {
            Self::Planar(model) => model
                .velocity(state, planar::BodyId(body))
                .map(|twist| ([twist.linear.x, twist.linear.y, 0.0], [0.0, 0.0, twist.angular])),
            Self::Spatial(model) => model
                .velocity(state, spatial::BodyId(body))
                .map(|twist| (twist.linear.into(), twist.angular.into())),
        }
    }

    /// The coordinate of a joint [rad; m]; `None` for those that have none.
    pub fn joint_coordinate(&self, state: &State, joint: u32) -> Option<f64> {
        about!(self, joint: JointId, model => model.joint_coordinate(state, joint))
    }

    /// What the turning rows of a joint are multiplied by [m].
    pub fn joint_length(&self, joint: u32) -> Option<f64> {
        about!(self, joint: JointId, model => model.joint_length(joint))
    }

    /// The numbers of the two bodies of a joint.
    pub fn joined(&self, joint: u32) -> Option<[u32; 2]> {
        about!(self, joint: JointId, model => model.world().joint(joint).map(|joint| [joint.a.0, joint.b.0]))
    }

    /// Where a joint is on its first and its second body [m].
    pub fn joint_points(&self, state: &State, joint: u32) -> Option<[[f64; 3]; 2]> {
        match self {
            Self::Planar(model) => {
                let joint = model.world().joint(planar::JointId(joint))?;
                let at = |body, frame: &Isometry2<f64>| {
                    let pose = model.pose(state, body)? * frame;
                    Some([pose.translation.x, pose.translation.y, 0.0])
                };
                Some([at(joint.a, &joint.frame_a)?, at(joint.b, &joint.frame_b)?])
            }
            Self::Spatial(model) => {
                let joint = model.world().joint(spatial::JointId(joint))?;
                let at = |body, frame: &Isometry3<f64>| {
                    Some((model.pose(state, body)? * frame).translation.vector.into())
                };
                Some([at(joint.a, &joint.frame_a)?, at(joint.b, &joint.frame_b)?])
            }
        }
    }

    /// The shapes of a body.
    pub fn shapes(&self, body: u32) -> Vec<Drawn<'_>> {
        match self {
            Self::Planar(model) => {
                let shapes = model.world().shapes(planar::BodyId(body));
                let drawn = shapes.map(|(id, on)| Drawn {
                    number: id.0,
                    shape: ShapeRef::Planar(&on.shape),
                    pose: on.pose.into(),
                    sensor: on.sensor,
                });
                drawn.collect()
            }
            Self::Spatial(model) => {
                let shapes = model.world().shapes(spatial::BodyId(body));
                let drawn = shapes.map(|(id, on)| Drawn {
                    number: id.0,
                    shape: ShapeRef::Spatial(&on.shape),
                    pose: on.pose.into(),
                    sensor: on.sensor,
                });
                drawn.collect()
            }
        }
    }

    /// Pairs of shapes of which one is a sensor and which touch or overlap.
    pub fn sensed(&self, state: &State) -> Vec<PairId> {
        either!(self, model => model.sensed(state))
    }
}

impl InitialState for Model {
    fn initial_state(&self) -> State {
        self.state()
    }
}

impl System for Model {
    fn body_name(&self, body: u32) -> Option<&str> {
        either!(self, model => model.body_name(body))
    }

    fn joint_name(&self, joint: u32) -> Option<&str> {
        either!(self, model => model.joint_name(joint))
    }

    fn bodies(&self) -> &[usize] {
        either!(self, model => model.bodies())
    }

    fn coordinate_count(&self) -> usize {
        either!(self, model => model.coordinate_count())
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        either!(self, model => model.advance(q, v, h));
    }

    fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        either!(self, model => model.rates(q, v, out));
    }

    fn normalize(&self, q: &mut [f64]) {
        either!(self, model => model.normalize(q));
    }

    fn to_start_axes(&self, v: &[f64], h: f64, row: &mut Row) {
        either!(self, model => model.to_start_axes(v, h, row));
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        either!(self, model => model.mass(body))
    }

    fn mass_at(&self, body: usize, t: f64, q: &[f64]) -> Matrix6<f64> {
        either!(self, model => model.mass_at(body, t, q))
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        either!(self, model => model.forces(t, q, v, out));
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        either!(self, model => model.gyroscopic(body, v))
    }

    fn add_gyroscopic(&self, body: usize, v: &[f64], k: &mut [f64]) {
        either!(self, model => model.add_gyroscopic(body, v, k));
    }

    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        either!(self, model => model.jacobian(t, q, v, out));
    }

    fn jacobian_kind(&self) -> JacobianKind {
        either!(self, model => model.jacobian_kind())
    }

    fn definite_jacobian(&self, forces: &Forces, v: &[f64], out: &mut ForceJacobian) {
        either!(self, model => model.definite_jacobian(forces, v, out));
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        either!(self, model => model.joints(t, q, out));
    }

    fn joint_rates(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        out: &mut Vec<JointRow>,
        rates: &mut Vec<f64>,
    ) -> bool {
        either!(self, model => model.joint_rates(t, q, v, out, rates))
    }

    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        either!(self, model => model.contacts(t, q, near, cache, out));
    }

    fn gaps(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        rows: &mut Vec<ContactRow>,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        either!(self, model => model.gaps(t, q, near, cache, rows, out));
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        either!(self, model => model.surface_speed(t, q, v))
    }

    fn prescribed_speed(&self, t: f64) -> f64 {
        either!(self, model => model.prescribed_speed(t))
    }

    fn has_unilateral_constraints(&self) -> bool {
        either!(self, model => model.has_unilateral_constraints())
    }

    fn has_moment_friction(&self) -> bool {
        either!(self, model => model.has_moment_friction())
    }

    fn size(&self) -> f64 {
        either!(self, model => model.size())
    }

    fn gravity(&self) -> f64 {
        either!(self, model => model.gravity())
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        either!(self, model => model.potential(t, q))
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        either!(self, model => model.momentum(q, v))
    }
}
