//! Edits of a running simulation, and projection onto the joints.

use super::World;
use super::dimension::Dimension;
use super::formulas::Formulas;
use super::model::ModelIn;
use crate::error::{Mistakes, ProjectError};
use crate::scheme::post_stabilize;
use crate::simulate::Simulation;
use crate::state::{Memory, State};
use std::collections::BTreeMap;

/// Edit that is the same in the plane and in space, for [`Simulation::edit_with`](crate::Simulation::edit_with).
pub trait WorldEdit {
    /// Result of the edit.
    type Output;

    /// Edits a world of either dimension.
    fn apply<D: Dimension>(self, world: &mut World<D>) -> Self::Output;
}

/// Query that is the same in the plane and in space, for [`Model::query`](crate::Model::query).
pub trait WorldQuery {
    /// Answer.
    type Output;

    /// Reads a world of either dimension.
    fn apply<D: Dimension>(self, world: &World<D>) -> Self::Output;
}

impl<D: Formulas> ModelIn<D> {
    /// Model and state after an edit of the world in this state. Shapes may overlap by as much as they did.
    pub(crate) fn edited<T>(
        &self,
        state: &State,
        edit: impl FnOnce(&mut World<D>) -> T,
    ) -> Result<(Self, State, T), Mistakes> {
        let mut world = self.world().clone();
        world.load(state)?;
        let mut overlaps = BTreeMap::new();
        self.overlaps(state, false, |pair, gap| {
            overlaps.insert(pair.id, -gap);
        });

        let answer = edit(&mut world);
        world.check_with(&overlaps)?;
        // active constraints may be gone, and joint rows may have other indices
        let memory = Memory { active: None, ..state.memory.clone() };
        let next = State { memory, ..world.state() };
        let (mut model, mut next) = (Self::new(world), next);
        model.layout.keep_turns(&self.layout);
        model.take_inputs(&mut next, self, state);
        model.take_turns(&mut next, self, state);
        Ok((model, next, answer))
    }
}

impl<D: Formulas> Simulation<ModelIn<D>> {
    /// Edits the world between two steps: bodies, shapes, joints and forces may be added, removed and changed. On a
    /// mistake nothing is changed. Shapes may overlap by as much as they did.
    ///
    /// ```
    /// # use nalgebra::{Isometry2, Vector2};
    /// # use stiction::planar::{Body, Mass, World};
    /// # use stiction::{Scheme, Simulation};
    /// # let mut world = World::new(Vector2::new(0.0, -9.81));
    /// # world.add_body(Body::rigid("first", Mass::given(1.0, 1.0)));
    /// # let model = world.build()?;
    /// # let mut simulation = Simulation::new(model);
    /// simulation.step(0.01)?;
    /// simulation.edit(|world| {
    ///     world.add_body(Body::rigid("second", Mass::given(1.0, 1.0)));
    /// })?;
    /// assert_eq!(simulation.state().q.len(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit<T>(&mut self, edit: impl FnOnce(&mut World<D>) -> T) -> Result<T, Mistakes> {
        let (model, state, answer) = self.system().edited(self.state(), edit)?;
        self.replace(model, state);
        Ok(answer)
    }
}

impl<D: Formulas> World<D> {
    /// Moves the bodies by as little as possible, measured by their masses, so that all joints hold, and changes
    /// their velocities likewise. Returns an upper bound of how far a point of a surface moved [m].
    pub fn project(&mut self) -> Result<f64, ProjectError> {
        let mut loose = self.clone();
        loose.allow_overlap = true;
        let model = loose.build()?;
        let mut state = model.state();
        let moved = post_stabilize::project(&model, &mut state)?;
        self.load(&state)?;
        Ok(moved)
    }
}
