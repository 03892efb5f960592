//! Edits of the world of a live simulation: materials, and bodies that are dropped into it.

use super::command::{CommandError, DroppedShape};
use stiction::{
    Attached, Body, Dimension, EuclideanVector, Mass, Material, Mistakes, Model, RigidPose, State, World,
    WorldEdit, WorldQuery,
};
use stiction_geometry::ShapeError;

/// Number of times that a dropped body is raised by its size to find room. Range 10 to 1000: below it crowded scenes
/// refuse bodies, above it a refusal takes long.
const MAX_RAISES: u32 = 60;

/// Edit of every material.
struct EditMaterials<F>(F);

impl<F: Fn(&mut Material)> WorldEdit for EditMaterials<F> {
    type Output = ();

    fn apply<D: Dimension>(self, world: &mut World<D>) {
        let bodies: Vec<_> = world.bodies().map(|(id, _)| id).collect();
        for id in bodies {
            if let Some(body) = world.body_mut(id) {
                body.shapes.iter_mut().for_each(|shape| self.0(&mut shape.material));
            }
        }
    }
}

/// Model and state after a change of every material.
pub(super) fn with_material(
    model: &Model,
    state: &State,
    change: impl Fn(&mut Material),
) -> Result<(Model, State), Mistakes> {
    model.edited(state, EditMaterials(change)).map(|(model, state, ())| (model, state))
}

/// Number of a material that all surfaces may share.
struct CommonValue<F>(F);

impl<F: Fn(&Material) -> f64> WorldQuery for CommonValue<F> {
    type Output = Option<f64>;

    fn apply<D: Dimension>(self, world: &World<D>) -> Option<f64> {
        let mut values =
            world.bodies().flat_map(|(_, body)| &body.shapes).map(|shape| self.0(&shape.material));
        let first = values.next()?;
        values.all(|x| x == first).then_some(first)
    }
}

/// Value that all surfaces share, if they do.
pub(super) fn common(model: &Model, value: impl Fn(&Material) -> f64) -> Option<f64> {
    model.query(CommonValue(value))
}

/// Direction against gravity; along the last axis where there is none.
struct Up;

impl WorldQuery for Up {
    type Output = [f64; 3];

    fn apply<D: Dimension>(self, world: &World<D>) -> [f64; 3] {
        let last = || std::array::from_fn(|i| if i + 1 == D::COUNT { 1.0 } else { 0.0 });
        (-world.gravity).direction().map_or_else(last, |up| D::xyz(&up))
    }
}

/// Body that is dropped into the world.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DroppedBody {
    pub(super) name: String,
    pub(super) shape: DroppedShape,
    /// Place where it should begin [m].
    pub(super) at: [f64; 3],
    /// Radius, or half the diagonal [m].
    pub(super) size: f64,
    /// Mass [kg].
    pub(super) mass: f64,
    pub(super) material: Material,
}

/// Density of a body that is dropped.
struct DensityOf<'a>(&'a DroppedBody);

impl WorldQuery for DensityOf<'_> {
    type Output = Result<f64, CommandError>;

    fn apply<D: Dimension>(self, _: &World<D>) -> Result<f64, CommandError> {
        let shape = self.0.shape_in::<D>().map_err(|error| CommandError::new(error.to_string()))?;
        let whole = D::mass_of(std::iter::once((&shape, &D::Isometry::identity())), 1.0);
        whole.map(|unit| self.0.mass / unit.mass).map_err(|error| CommandError::new(error.to_string()))
    }
}

/// Addition of a body at a place [m], with its density.
struct AddDropped<'a> {
    body: &'a DroppedBody,
    at: [f64; 3],
    density: f64,
}

impl WorldEdit for AddDropped<'_> {
    type Output = Result<(), ShapeError>;

    fn apply<D: Dimension>(self, world: &mut World<D>) -> Result<(), ShapeError> {
        let DroppedBody { name, material, .. } = self.body;
        let shape = Attached::new(self.body.shape_in::<D>()?).material(*material);
        let pose = D::Isometry::new(D::vector(self.at), D::Isometry::identity().turn());
        world.add_body(Body::<D>::rigid(name.clone(), Mass::Density(self.density)).at(pose).with(shape));
        Ok(())
    }
}

impl DroppedBody {
    /// Half the length of an edge of a box whose half diagonal is the size [m].
    pub(super) fn half(&self, dimension: usize) -> f64 {
        self.size / (dimension as f64).sqrt()
    }

    fn shape_in<D: Dimension>(&self) -> Result<D::Shape, ShapeError> {
        match self.shape {
            DroppedShape::Ball => Ok(D::ball(self.size)),
            DroppedShape::Box => D::cube(self.half(D::COUNT)),
        }
    }

    /// Density [kg/m² in the plane, kg/m³ in space].
    pub(super) fn density(&self, model: &Model) -> Result<f64, CommandError> {
        model.query(DensityOf(self))
    }

    /// Model and state with it, and the place where it found room [m].
    pub(super) fn dropped(
        &self,
        model: &Model,
        state: &State,
    ) -> Result<(Model, State, [f64; 3]), CommandError> {
        let density = self.density(model)?;
        let up = model.query(Up);
        let mut refused = None;
        for k in 0..MAX_RAISES {
            let lift = f64::from(k) * self.size;
            let at: [f64; 3] = std::array::from_fn(|i| self.at[i] + lift * up[i]);
            match model.edited(state, AddDropped { body: self, at, density }) {
                Ok((model, state, added)) => {
                    added.map_err(|error| CommandError::new(error.to_string()))?;
                    return Ok((model, state, at));
                }
                Err(mistakes) => refused = Some(mistakes),
            }
        }
        let why = refused.map_or_else(String::new, |mistakes| mistakes.to_string());
        Err(CommandError(format!("there is no room for {}: {why}", self.name)))
    }
}
