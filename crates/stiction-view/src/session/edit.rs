//! Changes of the world of a live simulation.

use super::command::{CommandError, DroppedShape};
use nalgebra::{Isometry2, Isometry3, Vector2, Vector3};
use stiction::{Material, Mistakes, Simulation, State, planar, spatial};
use stiction_geometry as geometry;
use stiction_scene::Model;

/// How often something new is raised by its size to find room.
const RAISES: u32 = 60;

/// A change of either world.
pub(super) fn edited<T>(
    model: &Model,
    state: &State,
    plane: impl FnOnce(&mut planar::World) -> T,
    space: impl FnOnce(&mut spatial::World) -> T,
) -> Result<(Model, State, T), Mistakes> {
    match model {
        Model::Planar(model) => {
            let mut simulation = Simulation::from_state(model.clone(), state.clone());
            let answer = simulation.edit(plane)?;
            Ok((Model::Planar(simulation.system().clone()), simulation.state().clone(), answer))
        }
        Model::Spatial(model) => {
            let mut simulation = Simulation::from_state(model.clone(), state.clone());
            let answer = simulation.edit(space)?;
            Ok((Model::Spatial(simulation.system().clone()), simulation.state().clone(), answer))
        }
    }
}

/// The material that a change leaves every surface with.
pub(super) fn with_material(
    model: &Model,
    state: &State,
    change: impl Fn(&mut Material),
) -> Result<(Model, State), Mistakes> {
    let plane = |world: &mut planar::World| {
        let numbers: Vec<_> = world.bodies().map(|(id, _)| id).collect();
        for id in numbers {
            if let Some(body) = world.body_mut(id) {
                body.shapes.iter_mut().for_each(|shape| change(&mut shape.material));
            }
        }
    };
    let space = |world: &mut spatial::World| {
        let numbers: Vec<_> = world.bodies().map(|(id, _)| id).collect();
        for id in numbers {
            if let Some(body) = world.body_mut(id) {
                body.shapes.iter_mut().for_each(|shape| change(&mut shape.material));
            }
        }
    };
    edited(model, state, plane, space).map(|(model, state, ())| (model, state))
}

/// The value that all surfaces share, if they do.
pub(super) fn common(model: &Model, value: impl Fn(&Material) -> f64) -> Option<f64> {
    let all: Vec<f64> = match model {
        Model::Planar(model) => {
            let shapes = model.world().bodies().flat_map(|(_, body)| &body.shapes);
            shapes.map(|shape| value(&shape.material)).collect()
        }
        Model::Spatial(model) => {
            let shapes = model.world().bodies().flat_map(|(_, body)| &body.shapes);
            shapes.map(|shape| value(&shape.material)).collect()
        }
    };
    let first = *all.first()?;
    all.iter().all(|x| *x == first).then_some(first)
}

/// Something new in the world.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fresh {
    pub(super) name: String,
    pub(super) shape: DroppedShape,
    /// Where it should begin [m].
    pub(super) at: [f64; 3],
    /// Radius, or half the diagonal [m].
    pub(super) size: f64,
    /// [kg]
    pub(super) mass: f64,
    pub(super) material: Material,
}

impl Fresh {
    /// Half the length of an edge of a box whose half diagonal is the size [m].
    pub(super) fn half(&self, dimension: usize) -> f64 {
        self.size / (dimension as f64).sqrt()
    }

    fn planar(&self) -> Result<planar::Attached, CommandError> {
        let half = self.half(2);
        let shape = match self.shape {
            DroppedShape::Ball => planar::Shape::Disk { radius: self.size },
            DroppedShape::Box => planar::Polygon::rectangle([half, half])
                .map(planar::Shape::Polygon)
                .map_err(|error| CommandError::new(error.to_string()))?,
        };
        Ok(planar::Attached::new(shape).material(self.material))
    }

    fn spatial(&self) -> spatial::Attached {
        let half = self.half(3);
        let shape = match self.shape {
            DroppedShape::Ball => spatial::Shape::Sphere { radius: self.size },
            DroppedShape::Box => spatial::Shape::Cuboid { half_extents: [half; 3] },
        };
        spatial::Attached::new(shape).material(self.material)
    }

    /// Its density [kg/m² in the plane, kg/m³ in space].
    pub(super) fn density(&self, dimension: usize) -> Result<f64, CommandError> {
        let unit = if dimension == 2 {
            geometry::planar::mass(&self.planar()?.shape, 1.0).map(|m| m.mass)
        } else {
            geometry::spatial::mass(&self.spatial().shape, 1.0).map(|m| m.mass)
        };
        unit.map(|volume| self.mass / volume).map_err(|error| CommandError::new(error.to_string()))
    }

    /// The model with it, and where it found room [m].
    pub(super) fn dropped(
        &self,
        model: &Model,
        state: &State,
    ) -> Result<(Model, State, [f64; 3]), CommandError> {
        let d = model.dimension();
        let density = self.density(d)?;
        let (plane, space) = (self.planar()?, self.spatial());
        let up = up(model);
        let mut complaint = None;
        for k in 0..RAISES {
            let lift = f64::from(k) * self.size;
            let at: [f64; 3] = std::array::from_fn(|i| self.at[i] + lift * up[i]);
            let added = edited(
                model,
                state,
                |world| {
                    let body = planar::Body::rigid(self.name.clone(), planar::Mass::Density(density));
                    world.add_body(body.at(Isometry2::translation(at[0], at[1])).with(plane.clone()));
                },
                |world| {
                    let body = spatial::Body::rigid(self.name.clone(), spatial::Mass::Density(density));
                    world.add_body(body.at(Isometry3::translation(at[0], at[1], at[2])).with(space.clone()));
                },
            );
            match added {
                Ok((model, state, ())) => return Ok((model, state, at)),
                Err(mistakes) => complaint = Some(mistakes),
            }
        }
        let why = complaint.map_or_else(String::new, |mistakes| mistakes.to_string());
        Err(CommandError(format!("there is no room for {}: {why}", self.name)))
    }
}

/// Against gravity; along the last axis where there is none.
fn up(model: &Model) -> [f64; 3] {
    match model {
        Model::Planar(model) => {
            let up = (-model.world().gravity).try_normalize(0.0).unwrap_or_else(Vector2::y);
            [up.x, up.y, 0.0]
        }
        Model::Spatial(model) => {
            (-model.world().gravity).try_normalize(0.0).unwrap_or_else(Vector3::z).into()
        }
    }
}
