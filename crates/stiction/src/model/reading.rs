//! Reading and commanding a machine of either dimension: loads of joints, distances, rays, joints set by hand, inputs.

use super::Model;
use crate::error::{InputError, ProjectError};
use crate::id::{BodyId, InputId, JointId, ShapeId};
use crate::report::StepReport;
use crate::simulate::Simulation;
use crate::state::State;
use crate::world::{JointLoad, NearPoint, RayHit};
use stiction_geometry::NoGap;

impl Model {
    /// Loads of all joints in a step that ended in this state: [`ModelIn::joint_loads`].
    pub fn joint_loads(&self, state: &State, report: &StepReport) -> Vec<JointLoad> {
        match self {
            Self::Planar(model) => model.joint_loads(state, report),
            Self::Spatial(model) => model.joint_loads(state, report),
        }
    }

    /// Nearest points of two bodies: [`ModelIn::distance`].
    pub fn distance(&self, state: &State, a: BodyId, b: BodyId) -> Result<Option<NearPoint>, NoGap> {
        match self {
            Self::Planar(model) => model.distance(state, a, b),
            Self::Spatial(model) => model.distance(state, a, b),
        }
    }

    /// Near points of two bodies with a gap up to `max_gap` [m]: [`ModelIn::near_points`].
    pub fn near_points(
        &self,
        state: &State,
        a: BodyId,
        b: BodyId,
        max_gap: f64,
    ) -> Result<Vec<NearPoint>, NoGap> {
        match self {
            Self::Planar(model) => model.near_points(state, a, b, max_gap),
            Self::Spatial(model) => model.near_points(state, a, b, max_gap),
        }
    }

    /// Shapes that contain a point [m], with their bodies: [`ModelIn::shapes_at`].
    pub fn shapes_at(&self, state: &State, point: [f64; 3]) -> Vec<(BodyId, ShapeId)> {
        match self {
            Self::Planar(model) => model.shapes_at(state, point),
            Self::Spatial(model) => model.shapes_at(state, point),
        }
    }

    /// First shape on a ray from a point [m] along a direction, up to a distance [m]: [`ModelIn::cast_ray`].
    pub fn cast_ray(
        &self,
        state: &State,
        from: [f64; 3],
        direction: [f64; 3],
        max_distance: f64,
    ) -> Option<RayHit> {
        match self {
            Self::Planar(model) => model.cast_ray(state, from, direction, max_distance),
            Self::Spatial(model) => model.cast_ray(state, from, direction, max_distance),
        }
    }
}

impl Model {
    /// Names of the couplings, in the order of their numbers, which are those of joints.
    pub fn coupling_names(&self) -> Vec<&str> {
        match self {
            Self::Planar(model) => model.world().couplings().map(|(_, own)| own.name.as_str()).collect(),
            Self::Spatial(model) => model.world().couplings().map(|(_, own)| own.name.as_str()).collect(),
        }
    }

    /// Couplings that others imply, with the names of these, joints and bodies.
    pub fn redundant_couplings(&self) -> Vec<(String, String)> {
        match self {
            Self::Planar(model) => model.world().redundant_couplings(),
            Self::Spatial(model) => model.world().redundant_couplings(),
        }
    }

    /// Names of the inputs, in the order of their numbers.
    pub fn input_names(&self) -> Vec<String> {
        match self {
            Self::Planar(model) => model.input_names(),
            Self::Spatial(model) => model.input_names(),
        }
    }

    /// Input of this name. A name that no input has is an error that suggests the nearest.
    pub fn find_input(&self, name: &str) -> Result<InputId, InputError> {
        match self {
            Self::Planar(model) => model.find_input(name),
            Self::Spatial(model) => model.find_input(name),
        }
    }

    /// Value of an input in a state; `None` for a state or an input of another model.
    pub fn input(&self, state: &State, input: InputId) -> Option<f64> {
        match self {
            Self::Planar(model) => model.input(state, input),
            Self::Spatial(model) => model.input(state, input),
        }
    }

    /// Sets an input of a state. A value that is not finite is refused.
    pub fn set_input(&self, state: &mut State, input: InputId, value: f64) -> Result<(), InputError> {
        match self {
            Self::Planar(model) => model.set_input(state, input, value),
            Self::Spatial(model) => model.set_input(state, input, value),
        }
    }
}

impl Simulation<Model> {
    /// Sets an input by its name. Steps from here on use the value until it is set again. On an error nothing is changed.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), InputError> {
        let input = self.system().find_input(name)?;
        self.set_input(input, value)
    }

    /// Sets an input by its number: [`Simulation::set`].
    pub fn set_input(&mut self, input: InputId, value: f64) -> Result<(), InputError> {
        let mut next = self.state().clone();
        self.system().set_input(&mut next, input, value)?;
        self.restore(next);
        Ok(())
    }

    /// Moves a joint to a value of its coordinate [rad; m], and all bodies so that the joints hold:
    /// [`ModelIn::with_joint`]. On an error nothing is changed.
    pub fn set_joint(&mut self, joint: JointId, value: f64) -> Result<(), ProjectError> {
        let next = match self.system() {
            Model::Planar(model) => model.with_joint(self.state(), joint, value)?,
            Model::Spatial(model) => model.with_joint(self.state(), joint, value)?,
        };
        self.restore(next);
        Ok(())
    }
}
