//! Model in the plane or in space behind one type: what a scene builds, a recorder reads and the page draws.

mod reading;

use crate::error::{Mistakes, StepError};
use crate::id::{BodyId, CoordinateId, JointId, ShapeId};
use crate::jacobian::{ForceJacobian, JacobianKind};
use crate::scheme::euler;
use crate::simulate::{InitialState, Simulation};
use crate::state::State;
use crate::system::{
    ContactId, ContactQuery, ContactRow, Forces, FreeTurn, Island, JointRow, PairId, SearchCache, System,
};
use crate::world::{Dimension, EuclideanPoint, Formulas, ModelIn, ShapeRef, WorldEdit, WorldQuery};
use crate::{planar, spatial};
use nalgebra::Matrix6;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use stiction_lcp::Row;

/// Model in the plane or in space.
#[derive(Debug, Clone)]
pub enum Model {
    /// Model in the plane.
    Planar(planar::Model),
    /// Model in space.
    Spatial(spatial::Model),
}

/// Pose in space; of the plane z is 0 and the turn is about z.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FramePose {
    /// Place of the origin [m].
    pub position: [f64; 3],
    /// Unit quaternion, w first.
    pub quat_wxyz: [f64; 4],
}

impl FramePose {
    /// Pose in space of a pose of either dimension.
    pub fn of<D: Dimension>(pose: &D::Isometry) -> Self {
        let (position, quat_wxyz) = D::pose_in_space(pose);
        Self { position, quat_wxyz }
    }
}

/// Shape on a body, with its pose in space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttachedRef<'a> {
    /// Number of the shape.
    pub id: ShapeId,
    /// Shape.
    pub shape: ShapeRef<'a>,
    /// Pose in the body frame.
    pub pose: FramePose,
    /// Sensor: it touches nothing.
    pub sensor: bool,
}

impl From<planar::Model> for Model {
    fn from(model: planar::Model) -> Self {
        Self::Planar(model)
    }
}

impl From<spatial::Model> for Model {
    fn from(model: spatial::Model) -> Self {
        Self::Spatial(model)
    }
}

impl Model {
    /// Number of dimensions: 2 in the plane, 3 in space.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Planar(model) => dimension_of(model),
            Self::Spatial(model) => dimension_of(model),
        }
    }

    /// State of the start.
    pub fn state(&self) -> State {
        match self {
            Self::Planar(model) => model.state(),
            Self::Spatial(model) => model.state(),
        }
    }

    /// Numbers of the bodies, in ascending order.
    pub fn body_ids(&self) -> Vec<BodyId> {
        match self {
            Self::Planar(model) => model.world().bodies().map(|(id, _)| id).collect(),
            Self::Spatial(model) => model.world().bodies().map(|(id, _)| id).collect(),
        }
    }

    /// Numbers of the joints, in ascending order.
    pub fn joint_ids(&self) -> Vec<JointId> {
        match self {
            Self::Planar(model) => model.world().joints().map(|(id, _)| id).collect(),
            Self::Spatial(model) => model.world().joints().map(|(id, _)| id).collect(),
        }
    }

    /// Names of the bodies, in the order of their numbers.
    pub fn body_names(&self) -> Vec<&str> {
        match self {
            Self::Planar(model) => model.world().bodies().map(|(_, body)| body.name.as_str()).collect(),
            Self::Spatial(model) => model.world().bodies().map(|(_, body)| body.name.as_str()).collect(),
        }
    }

    /// Names of the joints, in the order of their numbers.
    pub fn joint_names(&self) -> Vec<&str> {
        match self {
            Self::Planar(model) => model.world().joints().map(|(_, joint)| joint.name.as_str()).collect(),
            Self::Spatial(model) => model.world().joints().map(|(_, joint)| joint.name.as_str()).collect(),
        }
    }

    /// Body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        match self {
            Self::Planar(model) => model.world().find_body(name),
            Self::Spatial(model) => model.world().find_body(name),
        }
    }

    /// Joint of this name.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        match self {
            Self::Planar(model) => model.world().find_joint(name),
            Self::Spatial(model) => model.world().find_joint(name),
        }
    }

    /// Name of a body.
    pub fn body_name(&self, body: BodyId) -> Option<&str> {
        match self {
            Self::Planar(model) => model.world().body(body).map(|body| body.name.as_str()),
            Self::Spatial(model) => model.world().body(body).map(|body| body.name.as_str()),
        }
    }

    /// Name of a joint or coupling.
    pub fn joint_name(&self, joint: JointId) -> Option<&str> {
        match self {
            Self::Planar(model) => System::joint_name(model, joint),
            Self::Spatial(model) => System::joint_name(model, joint),
        }
    }

    /// Body that carries a shape.
    pub fn body_of(&self, shape: ShapeId) -> Option<BodyId> {
        match self {
            Self::Planar(model) => model.world().body_of(shape),
            Self::Spatial(model) => model.world().body_of(shape),
        }
    }

    /// Names of the bodies of a contact.
    pub fn contact_names(&self, contact: ContactId) -> Option<[&str; 2]> {
        let name = |shape| self.body_name(self.body_of(shape)?);
        Some([name(contact.pair.a)?, name(contact.pair.b)?])
    }

    /// Error if a state does not have the coordinates and velocities of this model.
    pub fn check_state(&self, state: &State) -> Result<(), StepError> {
        euler::check_size(self, state)
    }

    /// Indices of a body's coordinates in q; empty for bodies that do not move by themselves.
    pub fn coordinates(&self, body: BodyId) -> Option<Range<usize>> {
        match self {
            Self::Planar(model) => model.coordinates(body),
            Self::Spatial(model) => model.coordinates(body),
        }
    }

    /// Indices of a body's velocities in v; empty for bodies that do not move by themselves.
    pub fn velocities(&self, body: BodyId) -> Option<Range<usize>> {
        match self {
            Self::Planar(model) => model.velocities(body),
            Self::Spatial(model) => model.velocities(body),
        }
    }

    /// `true` for a body that moves by itself.
    pub fn moves(&self, body: BodyId) -> bool {
        self.velocities(body).is_some_and(|range| !range.is_empty())
    }

    /// Pose of a body's frame.
    pub fn pose(&self, state: &State, body: BodyId) -> Option<FramePose> {
        match self {
            Self::Planar(model) => pose_in(model, state, body),
            Self::Spatial(model) => pose_in(model, state, body),
        }
    }

    /// Angle of a body's frame in the plane [rad]; `None` in space.
    pub fn angle(&self, state: &State, body: BodyId) -> Option<f64> {
        let Self::Planar(model) = self else { return None };
        // the coordinate counts turns, the pose does not
        let angle = |range: Range<usize>| state.q.get(range.end - 1).copied();
        let turned = model.coordinates(body).filter(|range| range.len() == 3).and_then(angle);
        turned.or_else(|| model.pose(state, body).map(|pose| pose.rotation.angle()))
    }

    /// Centre of mass of a body [m]; the origin of the frame of bodies that have none.
    pub fn centre(&self, state: &State, body: BodyId) -> Option<[f64; 3]> {
        match self {
            Self::Planar(model) => centre_in(model, state, body),
            Self::Spatial(model) => centre_in(model, state, body),
        }
    }

    /// Velocity of a body's centre of mass [m/s], and its angular velocity in the world [rad/s].
    pub fn velocity(&self, state: &State, body: BodyId) -> Option<([f64; 3], [f64; 3])> {
        match self {
            Self::Planar(model) => velocity_in(model, state, body),
            Self::Spatial(model) => velocity_in(model, state, body),
        }
    }

    /// Joint coordinate [rad; m]; `None` for kinds that have none.
    pub fn joint_coordinate(&self, state: &State, joint: impl Into<CoordinateId>) -> Option<f64> {
        match self {
            Self::Planar(model) => model.joint_coordinate(state, joint),
            Self::Spatial(model) => model.joint_coordinate(state, joint),
        }
    }

    /// Speed of a joint coordinate [rad/s; m/s]; `None` for kinds that have none.
    pub fn joint_speed(&self, state: &State, joint: impl Into<CoordinateId>) -> Option<f64> {
        match self {
            Self::Planar(model) => model.joint_speed(state, joint),
            Self::Spatial(model) => model.joint_speed(state, joint),
        }
    }

    /// Factor of a joint's angular rows [m].
    pub fn joint_length(&self, joint: JointId) -> Option<f64> {
        match self {
            Self::Planar(model) => model.joint_length(joint),
            Self::Spatial(model) => model.joint_length(joint),
        }
    }

    /// Bodies of a joint.
    pub fn joined(&self, joint: JointId) -> Option<[BodyId; 2]> {
        match self {
            Self::Planar(model) => model.world().joint(joint).map(|joint| [joint.a, joint.b]),
            Self::Spatial(model) => model.world().joint(joint).map(|joint| [joint.a, joint.b]),
        }
    }

    /// Points of a joint on its first and its second body [m].
    pub fn joint_points(&self, state: &State, joint: JointId) -> Option<[[f64; 3]; 2]> {
        match self {
            Self::Planar(model) => joint_points_in(model, state, joint),
            Self::Spatial(model) => joint_points_in(model, state, joint),
        }
    }

    /// Shapes of a body.
    pub fn shapes(&self, body: BodyId) -> Vec<AttachedRef<'_>> {
        match self {
            Self::Planar(model) => shapes_in(model, body),
            Self::Spatial(model) => shapes_in(model, body),
        }
    }

    /// Pairs with a sensor that touch or overlap.
    pub fn sensed(&self, state: &State) -> Vec<PairId> {
        match self {
            Self::Planar(model) => model.sensed(state),
            Self::Spatial(model) => model.sensed(state),
        }
    }

    /// Model and state after an edit of the world in this state. Shapes may overlap by as much as they did.
    pub fn edited<E: WorldEdit>(&self, state: &State, edit: E) -> Result<(Self, State, E::Output), Mistakes> {
        match self {
            Self::Planar(model) => {
                let (model, state, answer) = model.edited(state, |world| edit.apply(world))?;
                Ok((Self::Planar(model), state, answer))
            }
            Self::Spatial(model) => {
                let (model, state, answer) = model.edited(state, |world| edit.apply(world))?;
                Ok((Self::Spatial(model), state, answer))
            }
        }
    }

    /// Answer of a query to the world, which has the poses of the start.
    pub fn query<Q: WorldQuery>(&self, query: Q) -> Q::Output {
        match self {
            Self::Planar(model) => query.apply(model.world()),
            Self::Spatial(model) => query.apply(model.world()),
        }
    }

    /// System that schemes step.
    fn system(&self) -> &dyn System {
        match self {
            Self::Planar(model) => model,
            Self::Spatial(model) => model,
        }
    }
}

impl Simulation<Model> {
    /// Edits the world between two steps, in the plane and in space alike. On a mistake nothing is changed. Shapes
    /// may overlap by as much as they did.
    pub fn edit_with<E: WorldEdit>(&mut self, edit: E) -> Result<E::Output, Mistakes> {
        let (model, state, answer) = self.system().edited(self.state(), edit)?;
        self.replace(model, state);
        Ok(answer)
    }
}

fn dimension_of<D: Formulas>(_: &ModelIn<D>) -> usize {
    D::COUNT
}

fn pose_in<D: Formulas>(model: &ModelIn<D>, state: &State, body: BodyId) -> Option<FramePose> {
    model.pose(state, body).map(|pose| FramePose::of::<D>(&pose))
}

fn centre_in<D: Formulas>(model: &ModelIn<D>, state: &State, body: BodyId) -> Option<[f64; 3]> {
    model.centre(state, body).map(|centre| D::xyz(&centre.coordinates()))
}

fn velocity_in<D: Formulas>(model: &ModelIn<D>, state: &State, body: BodyId) -> Option<([f64; 3], [f64; 3])> {
    model.velocity(state, body).map(|twist| (D::xyz(&twist.linear), D::axial(&twist.angular)))
}

fn joint_points_in<D: Formulas>(model: &ModelIn<D>, state: &State, joint: JointId) -> Option<[[f64; 3]; 2]> {
    model.joint_points(state, joint).map(|points| points.map(|point| D::xyz(&point.coordinates())))
}

fn shapes_in<D: Formulas>(model: &ModelIn<D>, body: BodyId) -> Vec<AttachedRef<'_>> {
    let attached = model.world().shapes(body).map(|(id, on)| AttachedRef {
        id,
        shape: D::shape_ref(&on.shape),
        pose: FramePose::of::<D>(&on.pose),
        sensor: on.sensor,
    });
    attached.collect()
}

impl InitialState for Model {
    fn initial_state(&self) -> State {
        self.state()
    }
}

impl System for Model {
    fn body_name(&self, body: BodyId) -> Option<&str> {
        Self::body_name(self, body)
    }

    fn body_of(&self, shape: ShapeId) -> Option<BodyId> {
        Self::body_of(self, shape)
    }

    fn joint_name(&self, joint: JointId) -> Option<&str> {
        Self::joint_name(self, joint)
    }

    fn bodies(&self) -> &[usize] {
        self.system().bodies()
    }

    fn coordinate_count(&self) -> usize {
        self.system().coordinate_count()
    }

    fn position_count(&self) -> usize {
        self.system().position_count()
    }

    fn input_count(&self) -> usize {
        self.system().input_count()
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        self.system().advance(q, v, h);
    }

    fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        self.system().rates(q, v, out);
    }

    fn normalize(&self, q: &mut [f64]) {
        self.system().normalize(q);
    }

    fn to_start_axes(&self, v: &[f64], h: f64, row: &mut Row) {
        self.system().to_start_axes(v, h, row);
    }

    fn end_step(&self, q: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        self.system().end_step(q, v, end, shift, h);
    }

    fn to_middle_axes(&self, v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        self.system().to_middle_axes(v, end, shift, h);
    }

    fn free_turn(&self, body: usize, v: &[f64], h: f64) -> Option<FreeTurn> {
        self.system().free_turn(body, v, h)
    }

    fn drift_bend(&self, body: BodyId, times: [f64; 2], point: [f64; 3], direction: [f64; 3]) -> f64 {
        self.system().drift_bend(body, times, point, direction)
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        self.system().mass(body)
    }

    fn mass_at(&self, body: usize, t: f64, q: &[f64]) -> Matrix6<f64> {
        self.system().mass_at(body, t, q)
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        self.system().forces(t, q, v, out);
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        self.system().gyroscopic(body, v)
    }

    fn add_gyroscopic(&self, body: usize, v: &[f64], k: &mut [f64]) {
        self.system().add_gyroscopic(body, v, k);
    }

    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        self.system().jacobian(t, q, v, out);
    }

    fn jacobian_kind(&self) -> JacobianKind {
        self.system().jacobian_kind()
    }

    fn definite_jacobian(&self, forces: &Forces, v: &[f64], out: &mut ForceJacobian) {
        self.system().definite_jacobian(forces, v, out);
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        self.system().joints(t, q, out);
    }

    fn joint_rates(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        out: &mut Vec<JointRow>,
        rates: &mut Vec<f64>,
    ) -> bool {
        self.system().joint_rates(t, q, v, out, rates)
    }

    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        query: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        self.system().contacts(t, q, query, cache, out);
    }

    fn gaps(
        &self,
        t: f64,
        q: &[f64],
        query: &ContactQuery,
        cache: &mut SearchCache,
        rows: &mut Vec<ContactRow>,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        self.system().gaps(t, q, query, cache, rows, out);
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        self.system().surface_speed(t, q, v)
    }

    fn surface_speeds(&self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        self.system().surface_speeds(t, q, v, out);
    }

    fn connections(&self) -> Option<Vec<[usize; 2]>> {
        self.system().connections()
    }

    fn island(&self, bodies: &[usize]) -> Option<Island> {
        self.system().island(bodies)
    }

    fn prescribed_speed(&self, t: f64) -> f64 {
        self.system().prescribed_speed(t)
    }

    fn has_unilateral_constraints(&self) -> bool {
        self.system().has_unilateral_constraints()
    }

    fn has_moment_friction(&self) -> bool {
        self.system().has_moment_friction()
    }

    fn size(&self) -> f64 {
        self.system().size()
    }

    fn gravity(&self) -> f64 {
        self.system().gravity()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        self.system().potential(t, q)
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        self.system().momentum(q, v)
    }
}
