//! Hand of the page: a spring from a point of a body to the cursor.
//!
//! The cursor is a kinematic body at the place that the page gives. It has no shape and is not drawn. It jumps between
//! two steps, as a mouse does.

use std::sync::{Arc, Mutex, PoisonError};
use stiction::{
    Body, BodyId, Dimension, Force, Model, Path, RigidPose, State, System, Twist, World, WorldEdit,
};

/// Name of the body that is the cursor; scene files cannot write it.
const NAME: &str = "\u{1}cursor";

/// Sag of a body that hangs on the hand, relative to the smallest body: stiffness = m g / (sag · size). Range 0.01 to
/// 1: below it the spring is stiff and jerks, above it bodies hang far below the cursor.
const MAX_SAG: f64 = 0.2;

/// Least angular frequency of the spring [rad/s]: a body follows within about a third of a second. Range 5 to 50:
/// below it the hand feels slack, above it light bodies shoot off.
const MIN_FREQUENCY: f64 = 12.0;

/// Damping of the spring, relative to critical: the body arrives without swinging for long. Range 0.3 to 1.
const DAMPING_RATIO: f64 = 0.8;

/// Place of the cursor [m].
#[derive(Debug, Clone, Default)]
pub(super) struct Cursor(Arc<Mutex<[f64; 3]>>);

impl Cursor {
    /// Moves the cursor to a place [m].
    pub(super) fn set(&self, at: [f64; 3]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn get(&self) -> [f64; 3] {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the cursor to a world.
impl WorldEdit for &Cursor {
    type Output = BodyId;

    fn apply<D: Dimension>(self, world: &mut World<D>) -> BodyId {
        let cursor = self.clone();
        let path = move |_| {
            let pose = D::Isometry::new(D::vector(cursor.get()), D::Isometry::identity().turn());
            (pose, Twist::default())
        };
        world.add_body(Body::<D>::kinematic(NAME, Path::new(path)))
    }
}

/// Addition of the spring between the cursor and a body.
struct AddSpring {
    cursor: BodyId,
    body: BodyId,
    /// Point of the body, in the world [m].
    point: [f64; 3],
    stiffness: f64,
    damping: f64,
}

impl WorldEdit for AddSpring {
    type Output = ();

    fn apply<D: Dimension>(self, world: &mut World<D>) {
        let Self { cursor, body, point, stiffness, damping } = self;
        let point = D::Point::from(D::vector(point));
        let point_b = world.body(body).map_or(point, |body| body.pose.local(&point));
        world.add_force(Force::Spring {
            a: cursor,
            point_a: D::Point::default(),
            b: body,
            point_b,
            stiffness,
            damping,
            rest_length: 0.0,
        });
    }
}

/// Mass of a body that moves [kg].
pub(super) fn mass(model: &Model, body: BodyId) -> Option<f64> {
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

/// Model in which the cursor pulls a point of a body; the point is given in the world [m].
pub(super) fn pulled(
    model: &Model,
    state: &State,
    cursor: BodyId,
    body: BodyId,
    point: [f64; 3],
) -> Option<Model> {
    let mass = mass(model, body)?;
    let omega = (model.gravity() / (MAX_SAG * model.size())).sqrt().max(MIN_FREQUENCY);
    let (stiffness, damping) = (mass * omega * omega, 2.0 * DAMPING_RATIO * mass * omega);
    let spring = AddSpring { cursor, body, point, stiffness, damping };
    model.edited(state, spring).ok().map(|(model, ..)| model)
}
