//! Worlds edited while they run, and placed on their joints before.

use super::contact;
use super::model::Model;
use super::world::World;
use crate::error::Mistakes;
use crate::simulate::Simulation;
use std::collections::BTreeSet;

impl Simulation<Model> {
    /// Edits the world as it is now. Model and state change together, and only if the world is right
    /// afterwards; shapes that overlap already may go on doing so.
    pub fn edit<T>(&mut self, edit: impl FnOnce(&mut World) -> T) -> Result<T, Mistakes> {
        let (model, state) = self.parts_mut();
        if !model.fits(state) {
            let mut mistakes = Mistakes::none();
            mistakes.add("state", "has not as many coordinates and velocities as the model");
            return Err(mistakes);
        }
        let mut world = model.world.clone();
        model.tables.load(&mut world, state);
        let mut overlapping = BTreeSet::new();
        let tables = &model.tables;
        contact::overlaps(tables, tables.pairs.iter(), state.t, &state.q, |pair, _| {
            overlapping.insert(pair.id);
        });
        let result = edit(&mut world);
        let built = world.build_after(&overlapping)?;
        let mut next = built.state();
        next.memory = state.memory.clone();
        (*model, *state) = (built, next);
        Ok(result)
    }
}
