//! What there is: bodies, joints and forces, each with a number that is never given again.

use super::body::{Attached, Body};
use super::force::Force;
use super::joint::Joint;
use super::part::{self, Loaded};
use crate::error::Mistakes;
use crate::material::{Depth, FrictionPoint, Material};
use crate::state::{Memory, State};
use crate::system::PairId;
use nalgebra::Vector2;
use std::collections::{BTreeMap, BTreeSet};

/// Number of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// Number of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(pub u32);

/// Number of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub u32);

/// Number of a force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForceId(pub u32);

/// A planar world before it is built.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// Time [s].
    pub t: f64,
    /// Gravity [m/s²].
    pub gravity: Vector2<f64>,
    /// Where friction acts while surfaces are apart or overlap.
    pub friction_point: FrictionPoint,
    /// How the gap between polygons is measured.
    pub depth: Depth,
    /// Shapes that overlap at the start are no mistake.
    pub allow_overlap: bool,
    pub(super) bodies: BTreeMap<BodyId, Slot>,
    pub(super) joints: BTreeMap<JointId, Joint>,
    pub(super) forces: BTreeMap<ForceId, Force>,
    pub(super) excluded: BTreeSet<(BodyId, BodyId)>,
    pub(super) materials: BTreeMap<PairId, Material>,
    next: Next,
}

/// A body of a world.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) body: Body,
    /// Numbers of its shapes, in their order.
    pub(super) shapes: Vec<ShapeId>,
    /// The state its pose and velocity were last written from.
    pub(super) loaded: Option<Loaded>,
}

/// The next number of each kind.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    body: u32,
    shape: u32,
    joint: u32,
    force: u32,
}

fn take(next: &mut u32) -> u32 {
    let number = *next;
    *next += 1;
    number
}

impl World {
    /// An empty world with this gravity [m/s²].
    pub fn new(gravity: Vector2<f64>) -> Self {
        Self { gravity, ..Self::default() }
    }

    /// Adds a body with its shapes.
    pub fn add_body(&mut self, body: Body) -> BodyId {
        let id = BodyId(take(&mut self.next.body));
        let shapes = body.shapes.iter().map(|_| ShapeId(take(&mut self.next.shape))).collect();
        self.bodies.insert(id, Slot { body, shapes, loaded: None });
        id
    }

    /// Removes a body with its shapes, and the joints and forces on it.
    pub fn remove_body(&mut self, id: BodyId) -> Option<Body> {
        let slot = self.bodies.remove(&id)?;
        self.joints.retain(|_, j| j.a != id && j.b != id);
        self.forces.retain(|_, f| !f.bodies().any(|b| b == id));
        self.excluded.retain(|&(a, b)| a != id && b != id);
        slot.shapes.iter().for_each(|&s| self.forget_pairs(s));
        Some(slot.body)
    }

    /// Adds a shape to a body; `None` if there is no such body.
    pub fn add_shape(&mut self, body: BodyId, shape: Attached) -> Option<ShapeId> {
        let slot = self.bodies.get_mut(&body)?;
        let id = ShapeId(take(&mut self.next.shape));
        slot.body.shapes.push(shape);
        slot.shapes.push(id);
        Some(id)
    }

    /// Removes a shape from its body.
    pub fn remove_shape(&mut self, id: ShapeId) -> Option<Attached> {
        for slot in self.bodies.values_mut() {
            let place = slot.shapes.iter().position(|&s| s == id);
            if let Some(i) = place.filter(|&i| i < slot.body.shapes.len()) {
                slot.shapes.remove(i);
                let shape = slot.body.shapes.remove(i);
                self.forget_pairs(id);
                return Some(shape);
            }
        }
        None
    }

    fn forget_pairs(&mut self, shape: ShapeId) {
        self.materials.retain(|p, _| p.a != shape.0 && p.b != shape.0);
    }

    /// Adds a joint.
    pub fn add_joint(&mut self, joint: Joint) -> JointId {
        let id = JointId(take(&mut self.next.joint));
        self.joints.insert(id, joint);
        id
    }

    /// Removes a joint.
    pub fn remove_joint(&mut self, id: JointId) -> Option<Joint> {
        self.joints.remove(&id)
    }

    /// Adds a force.
    pub fn add_force(&mut self, force: Force) -> ForceId {
        let id = ForceId(take(&mut self.next.force));
        self.forces.insert(id, force);
        id
    }

    /// Removes a force.
    pub fn remove_force(&mut self, id: ForceId) -> Option<Force> {
        self.forces.remove(&id)
    }

    /// Lets two bodies pass through each other.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.excluded.insert((a.min(b), a.max(b)));
    }

    /// Gives two shapes in contact a material of their own, in place of the combined one.
    pub fn pair_material(&mut self, a: ShapeId, b: ShapeId, material: Material) {
        self.materials.insert(PairId { a: a.0.min(b.0), b: a.0.max(b.0) }, material);
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(&id).map(|slot| &slot.body)
    }

    /// A body, to be changed. Shapes are added and removed with [`World::add_shape`] and [`World::remove_shape`].
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.bodies.get_mut(&id).map(|slot| &mut slot.body)
    }

    /// The bodies, in the order of their numbers.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.bodies.iter().map(|(&id, slot)| (id, &slot.body))
    }

    /// The shapes of a body; none if there is no such body.
    pub fn shapes(&self, body: BodyId) -> impl Iterator<Item = (ShapeId, &Attached)> {
        self.bodies.get(&body).into_iter().flat_map(Slot::shapes)
    }

    /// A joint.
    pub fn joint(&self, id: JointId) -> Option<&Joint> {
        self.joints.get(&id)
    }

    /// A joint, to be changed.
    pub fn joint_mut(&mut self, id: JointId) -> Option<&mut Joint> {
        self.joints.get_mut(&id)
    }

    /// The joints, in the order of their numbers.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, &Joint)> {
        self.joints.iter().map(|(&id, joint)| (id, joint))
    }

    /// A force.
    pub fn force(&self, id: ForceId) -> Option<&Force> {
        self.forces.get(&id)
    }

    /// A force, to be changed.
    pub fn force_mut(&mut self, id: ForceId) -> Option<&mut Force> {
        self.forces.get_mut(&id)
    }

    /// The forces, in the order of their numbers.
    pub fn forces(&self) -> impl Iterator<Item = (ForceId, &Force)> {
        self.forces.iter().map(|(&id, force)| (id, force))
    }

    /// The body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        self.bodies().find(|(_, body)| body.name == name).map(|(id, _)| id)
    }

    /// The joint of this name.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.joints().find(|(_, joint)| joint.name == name).map(|(id, _)| id)
    }

    /// The state that the poses and velocities of the bodies describe.
    pub fn state(&self) -> State {
        let mut state = State { t: self.t, q: Vec::new(), v: Vec::new(), memory: Memory::default() };
        for (part, slot) in part::parts(self).iter().zip(self.bodies.values()) {
            part.append(slot, &mut state);
        }
        state
    }

    /// Writes a state into the poses and velocities of the bodies. [`World::state`] then gives it back bit by
    /// bit, but for what schemes remember.
    pub fn load(&mut self, state: &State) -> Result<(), Mistakes> {
        let parts = part::parts(self);
        let (q, v) = part::sizes(&parts);
        if (state.q.len(), state.v.len()) != (q, v) {
            let mut mistakes = Mistakes::none();
            let (given_q, given_v) = (state.q.len(), state.v.len());
            mistakes.add("state", format!("{given_q} coordinates and {given_v} velocities, not {q} and {v}"));
            return Err(mistakes);
        }
        self.t = state.t;
        for (part, slot) in parts.iter().zip(self.bodies.values_mut()) {
            part.load(slot, state);
        }
        Ok(())
    }
}

impl Slot {
    pub(super) fn shapes(&self) -> impl Iterator<Item = (ShapeId, &Attached)> {
        self.shapes.iter().copied().zip(&self.body.shapes)
    }
}
