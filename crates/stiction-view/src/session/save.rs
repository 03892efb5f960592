//! Present state as a scene file: the file it came from, with the changes of the page and the state.

use super::Session;
use super::command::{CommandError, DroppedShape};
use super::edit::DroppedBody;
use super::settings::StepSettings;
use stiction::{Level, Model};
use toml::{Table, Value};

/// Name of the material of dropped bodies.
const DROPPED_MATERIAL: &str = "dropped";

impl Session {
    /// Present state as a scene file.
    pub(super) fn saved(&self) -> Result<String, CommandError> {
        let no_scene =
            |error: &dyn std::fmt::Display| CommandError(format!("the scene cannot be saved: {error}"));
        let mut file: Table = self.source.parse().map_err(|e: toml::de::Error| no_scene(&e))?;
        change(&mut file, "run", |run| self.save_run(run));
        for fresh in &self.fresh {
            let body = entry(fresh, &self.model)?;
            change(&mut file, "materials", |materials| {
                change(materials, DROPPED_MATERIAL, |material| {
                    put(material, "friction", fresh.material.friction);
                    put(material, "restitution", fresh.material.restitution);
                });
            });
            if let Some(bodies) = file.get_mut("bodies").and_then(Value::as_array_mut) {
                bodies.push(body.into());
            }
            // other bodies may have been at its place at the start
            change(&mut file, "world", |world| put(world, "allow_overlap", true));
        }
        let StepSettings { friction, restitution, .. } = &self.settings;
        for (key, value) in [("friction", friction), ("restitution", restitution)] {
            if let Some(value) = value {
                change(&mut file, "materials", |materials| {
                    change(materials, "default", |_| ());
                    let all = materials.iter_mut().filter_map(|(_, material)| material.as_table_mut());
                    all.for_each(|material| put(material, key, *value));
                });
            }
        }
        let state = self.simulation.state();
        let list = |numbers: &[f64]| Value::Array(numbers.iter().map(|&x| x.into()).collect());
        change(&mut file, "state", |moment| {
            put(moment, "time", state.t);
            put(moment, "coordinates", list(&state.q));
            put(moment, "velocities", list(&state.v));
        });
        Ok(format!("# {}, at t = {} s\n{file}", self.description.name, state.t))
    }

    /// Writes the run settings that were changed.
    fn save_run(&self, run: &mut Table) {
        let (own, first) = (&self.settings, &self.start.settings);
        if own.h != first.h {
            put(run, "step", own.h);
            run.remove("accuracy");
        }
        if own.effective() == first.effective() {
            return;
        }
        run.remove("accuracy");
        let mut scheme = Table::new();
        match (own.stabilized, &own.scheme.level) {
            (false, _) => put(&mut scheme, "name", "ap97"),
            (true, Level::Stabilized { gamma, .. }) => {
                put(&mut scheme, "name", own.name.as_str());
                put(&mut scheme, "gamma", *gamma);
            }
            (true, _) => put(&mut scheme, "name", own.name.as_str()),
        }
        put(run, "scheme", scheme);
    }
}

fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_string(), value.into());
}

/// Changes the table of a key; makes it where there is none.
fn change(within: &mut Table, key: &str, change: impl FnOnce(&mut Table)) {
    let mut table = match within.remove(key) {
        Some(Value::Table(table)) => table,
        _ => Table::new(),
    };
    change(&mut table);
    put(within, key, table);
}

/// Entry of a body that was dropped.
fn entry(dropped: &DroppedBody, model: &Model) -> Result<Table, CommandError> {
    let dimension = model.dimension();
    let list = |x: f64| Value::Array(vec![x.into(); dimension]);
    let mut shape = Table::new();
    match (dropped.shape, dimension) {
        (DroppedShape::Ball, 2) => put(&mut shape, "kind", "disk"),
        (DroppedShape::Ball, _) => put(&mut shape, "kind", "sphere"),
        (DroppedShape::Box, 2) => put(&mut shape, "kind", "rectangle"),
        (DroppedShape::Box, _) => put(&mut shape, "kind", "box"),
    }
    match dropped.shape {
        DroppedShape::Ball => put(&mut shape, "radius", dropped.size),
        DroppedShape::Box => put(&mut shape, "half_extents", list(dropped.half(dimension))),
    }
    let mut body = Table::new();
    put(&mut body, "name", dropped.name.as_str());
    put(&mut body, "density", dropped.density(model)?);
    put(&mut body, "position", Value::Array(dropped.at[..dimension].iter().map(|&x| x.into()).collect()));
    put(&mut body, "material", DROPPED_MATERIAL);
    put(&mut body, "shapes", Value::Array(vec![shape.into()]));
    Ok(body)
}
