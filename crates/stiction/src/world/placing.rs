//! Bodies and joints set by hand between two steps: the others follow by as little as possible, so that all joints hold.

use super::dimension::KindOfJoint;
use super::formulas::Formulas;
use super::joint_rows::JointCoordinate;
use super::model::ModelIn;
use crate::error::{Mistakes, ProjectError};
use crate::id::{BodyId, CoordinateId, JointId};
use crate::scheme::post_stabilize::project_holding;
use crate::simulate::Simulation;
use crate::state::{Memory, State};
use crate::system::{JointRow, RowKind};
use std::f64::consts::TAU;
use stiction_lcp::Row;

/// Largest change of a joint coordinate that is projected at once, in radians or in lengths of the joint. Range 0.05 to
/// 0.5: larger ones may lead loops to another way of closing, smaller ones cost time.
const MAX_COORDINATE_CHANGE: f64 = 0.2;

/// Number of parts in which a joint coordinate may be moved: beyond it the value is a mistake.
const MAX_PARTS: f64 = 1e4;

impl<D: Formulas> ModelIn<D> {
    /// State with a body at this pose of its frame. The other bodies move by as little as possible, measured by their
    /// masses, so that all joints hold; velocities change likewise. An error where the joints do not allow the pose.
    pub fn with_pose(&self, state: &State, body: BodyId, pose: &D::Isometry) -> Result<State, ProjectError> {
        if let Some(what) = D::pose_mistake(pose) {
            return Err(mistake(format!("pose of body {body}"), what));
        }
        let mut world = self.world().clone();
        world.load(state)?;
        match world.body_mut(body).filter(|_| self.coordinates(body).is_some_and(|own| !own.is_empty())) {
            Some(body) => body.pose = *pose,
            None => return Err(mistake(format!("body {body}"), "it is no body that moves by itself")),
        }
        let mut next = State { memory: interrupted(state), ..world.state() };
        let number = self.moving().position(|moving| moving.id == body).unwrap_or_default();
        let count = self.velocities(body).map_or(0, |own| own.len());
        let held = |_: &State, rows: &mut Vec<JointRow>| {
            for k in 0..count {
                let unit: [f64; 6] = std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
                let row = Row::one(number, &unit[..count]);
                rows.push(JointRow {
                    joint: JointId(0),
                    row,
                    error: 0.0,
                    drift: 0.0,
                    kind: RowKind::Rigid(0.0),
                });
            }
        };
        project_holding(self, &mut next, held)?;
        Ok(next)
    }

    /// State with a joint coordinate at this value [rad; m]. All bodies move by as little as possible, measured by their
    /// masses, so that all joints hold; velocities change likewise. An error where the joints do not allow the value.
    pub fn with_joint(&self, state: &State, joint: JointId, value: f64) -> Result<State, ProjectError> {
        let coordinate = CoordinateId::from(joint);
        let Some(start) = self.coordinate_row(state, coordinate) else {
            return Err(mistake(format!("joint {joint}"), "it has no coordinate, or is not of this model"));
        };
        let limits = self.world().joint(joint).and_then(|joint| joint.limits);
        let is_angular = self.world().joint(joint).is_some_and(|joint| joint.kind.is_angular(0));
        if let Some([lower, upper]) = limits.filter(|[lower, upper]| !(*lower <= value && value <= *upper)) {
            let what = format!("{value} is not within its limits {lower} to {upper}");
            return Err(mistake(format!("coordinate of joint {joint}"), what));
        }
        let change = value - start.value;
        let unit = if is_angular { 1.0 } else { self.joint_length(joint).unwrap_or(1.0) };
        let parts = (change.abs() / (MAX_COORDINATE_CHANGE * unit)).ceil().max(1.0);
        if !(value.is_finite() && parts <= MAX_PARTS) {
            return Err(mistake(
                format!("coordinate of joint {joint}"),
                format!("{value} is no value that it can be moved to"),
            ));
        }
        let mut next = State { memory: interrupted(state), ..state.clone() };
        let mut part = 0.0;
        while part < parts {
            part += 1.0;
            let target = start.value + change * (part / parts);
            let held = |at: &State, rows: &mut Vec<JointRow>| {
                let Some(JointCoordinate { value, scale, row, .. }) = self.coordinate_row(at, coordinate)
                else {
                    return;
                };
                let apart = value - target;
                // an angle that does not count turns may have passed π
                let apart = if is_angular { apart - TAU * (apart / TAU).round() } else { apart };
                let (drift, row) = (row.drift, row.into_row());
                rows.push(JointRow { joint, row, error: scale * apart, drift, kind: RowKind::Rigid(0.0) });
            };
            project_holding(self, &mut next, held)?;
        }
        Ok(next)
    }
}

/// Memory after bodies were moved by hand: active constraints may be gone.
fn interrupted(state: &State) -> Memory {
    Memory { active: None, ..state.memory.clone() }
}

fn mistake(place: String, what: impl Into<String>) -> ProjectError {
    let mut mistakes = Mistakes::none();
    mistakes.add(place, what);
    mistakes.into()
}

impl<D: Formulas> Simulation<ModelIn<D>> {
    /// Moves a body to a pose of its frame, and all others so that the joints hold: [`ModelIn::with_pose`]. On an error
    /// nothing is changed.
    pub fn set_pose(&mut self, body: BodyId, pose: &D::Isometry) -> Result<(), ProjectError> {
        let next = self.system().with_pose(self.state(), body, pose)?;
        self.restore(next);
        Ok(())
    }

    /// Moves a joint to a value of its coordinate [rad; m], and all bodies so that the joints hold:
    /// [`ModelIn::with_joint`]. On an error nothing is changed.
    ///
    /// ```
    /// # use nalgebra::{Point2, Vector2};
    /// # use stiction::planar::{Body, Joint, Mass, World};
    /// # use stiction::Simulation;
    /// let mut world = World::new(Vector2::new(0.0, -9.81));
    /// let frame = world.add_body(Body::fixed("frame"));
    /// let arm = world.add_body(Body::rigid("arm", Mass::given(1.0, 0.1)));
    /// let hinge = world.add_joint(Joint::revolute("hinge", &world, frame, arm, Point2::new(-0.5, 0.0)));
    /// let mut simulation = Simulation::new(world.build()?);
    /// simulation.set_joint(hinge, 1.2)?;
    /// let angle = simulation.system().joint_coordinate(simulation.state(), hinge);
    /// assert!((angle.unwrap_or(0.0) - 1.2).abs() < 1e-11);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_joint(&mut self, joint: JointId, value: f64) -> Result<(), ProjectError> {
        let next = self.system().with_joint(self.state(), joint, value)?;
        self.restore(next);
        Ok(())
    }
}
