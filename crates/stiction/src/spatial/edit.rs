//! Changes of a running simulation, and projection onto the joints.

use super::model::Model;
use super::world::World;
use crate::error::{Mistakes, ProjectError};
use crate::scheme::post_stabilize;
use crate::simulate::Simulation;
use std::collections::BTreeMap;

impl Simulation<Model> {
    /// Changes the world between two steps: bodies, shapes, joints and forces may come, go and be altered.
    /// On a mistake nothing is changed. Shapes may overlap by as much as they did.
    ///
    /// ```
    /// # use nalgebra::Vector3;
    /// # use stiction::spatial::{Body, Mass, World};
    /// # use stiction::Simulation;
    /// # let mut world = World::new(Vector3::new(0.0, 0.0, -9.81));
    /// # world.add_body(Body::rigid("first", Mass::given(1.0, [1.0; 3])));
    /// # let model = world.build()?;
    /// # let mut simulation = Simulation::new(model);
    /// simulation.step(0.01)?;
    /// simulation.edit(|world| {
    ///     world.add_body(Body::rigid("second", Mass::given(1.0, [1.0; 3])));
    /// })?;
    /// assert_eq!(simulation.state().q.len(), 14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut World) -> T) -> Result<T, Mistakes> {
        let (model, state) = (self.system(), self.state());
        let mut world = model.world().clone();
        world.load(state)?;
        let mut overlaps = BTreeMap::new();
        model.overlaps(state, false, |pair, gap| {
            overlaps.insert(pair.id, -gap);
        });

        let answer = change(&mut world);
        world.check_but(&overlaps)?;
        // what bears may have gone, and rows of joints may have other places
        let memory = crate::Memory { active: None, ..state.memory.clone() };
        let next = crate::State { memory, ..world.state() };
        self.replace(Model::new(world), next);
        Ok(answer)
    }
}

impl World {
    /// Moves the bodies by as little as possible, measured by their masses, so that all joints hold, and changes
    /// their velocities likewise. Returns how far the farthest point of a surface moved, at most [m].
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
