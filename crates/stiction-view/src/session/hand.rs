//! The hand that pulls a body: a spring from a point of it to the cursor.
//!
//! The cursor is a body of the world that stands where the page has it. It has no shape and is not drawn; that it
//! jumps between two steps is what a mouse does.

use nalgebra::{Isometry2, Isometry3, Point2, Point3};
use std::sync::{Arc, Mutex, PoisonError};
use stiction::{State, System, planar, spatial};
use stiction_scene::Model;

/// Name of the body that is the cursor; scene files cannot write it.
const NAME: &str = "\u{1}cursor";
/// A body that hangs on the hand sinks by at most this part of the size of the smallest body.
const SAG: f64 = 0.2;
/// Least frequency of the spring [rad/s]: a hand that moves a body in about a third of a second.
const SLOWEST: f64 = 12.0;
/// Part of critical damping: the body arrives without swinging for long.
const DAMPING: f64 = 0.8;

/// Where the cursor is [m].
#[derive(Debug, Clone, Default)]
pub(super) struct Cursor(Arc<Mutex<[f64; 3]>>);

impl Cursor {
    pub(super) fn set(&self, at: [f64; 3]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn get(&self) -> [f64; 3] {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the cursor to a world; its number.
    pub(super) fn planar(&self, world: &mut planar::World) -> u32 {
        let cursor = self.clone();
        let path = planar::Path::new(move |_| {
            let [x, y, _] = cursor.get();
            (Isometry2::translation(x, y), planar::Twist::default())
        });
        world.add_body(planar::Body::kinematic(NAME, path)).0
    }

    /// Adds the cursor to a world; its number.
    pub(super) fn spatial(&self, world: &mut spatial::World) -> u32 {
        let cursor = self.clone();
        let path = spatial::Path::new(move |_| {
            let [x, y, z] = cursor.get();
            (Isometry3::translation(x, y, z), spatial::Twist::default())
        });
        world.add_body(spatial::Body::kinematic(NAME, path)).0
    }
}

/// The mass of a body that moves [kg].
pub(super) fn mass(model: &Model, body: u32) -> Option<f64> {
    let first = model.velocities(body).filter(|range| !range.is_empty())?.start;
    let mut start = 0;
    for (i, &n) in model.bodies().iter().enumerate() {
        if start == first {
            return Some(model.mass(i)[(0, 0)]);
        }
        start += n;
    }
    None
}

/// A model in which the cursor pulls a point of a body; the point is given in the world [m].
pub(super) fn pulled(model: &Model, state: &State, cursor: u32, body: u32, point: [f64; 3]) -> Option<Model> {
    let mass = mass(model, body)?;
    let omega = (model.gravity() / (SAG * model.size())).sqrt().max(SLOWEST);
    let (stiffness, damping) = (mass * omega * omega, 2.0 * DAMPING * mass * omega);
    // what was checked stays right with one more spring, and overlaps that the run has made stay
    match model {
        Model::Planar(model) => {
            let body = planar::BodyId(body);
            let local = model.pose(state, body)?.inverse_transform_point(&Point2::new(point[0], point[1]));
            let mut simulation = stiction::Simulation::from_state(model.clone(), state.clone());
            let spring = planar::Force::Spring {
                a: planar::BodyId(cursor),
                point_a: Point2::origin(),
                b: body,
                point_b: local,
                stiffness,
                damping,
                rest_length: 0.0,
            };
            simulation.edit(|world| world.add_force(spring)).ok()?;
            Some(Model::Planar(simulation.system().clone()))
        }
        Model::Spatial(model) => {
            let body = spatial::BodyId(body);
            let local = model.pose(state, body)?.inverse_transform_point(&Point3::from(point));
            let mut simulation = stiction::Simulation::from_state(model.clone(), state.clone());
            let spring = spatial::Force::Spring {
                a: spatial::BodyId(cursor),
                point_a: Point3::origin(),
                b: body,
                point_b: local,
                stiffness,
                damping,
                rest_length: 0.0,
            };
            simulation.edit(|world| world.add_force(spring)).ok()?;
            Some(Model::Spatial(simulation.system().clone()))
        }
    }
}
