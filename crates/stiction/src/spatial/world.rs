//! The world: bodies, shapes, joints and forces under stable numbers.

use super::body::{Attached, Body, Motion};
use super::force::Force;
use super::joint::Joint;
use super::tables::Loaded;
use crate::error::Mistakes;
use crate::material::{FrictionPoint, Material};
use crate::system::PairId;
use nalgebra::{Isometry3, Vector3};
use std::collections::{BTreeMap, BTreeSet};

/// A body's number in its world, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// A shape's number in its world, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(pub u32);

/// A joint's number in its world, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub u32);

/// A force's number in its world, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForceId(pub u32);

/// The polygon that stands for the friction circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facets {
    /// Number of directions, even and at least 4. With n of them friction is too small by up to the factor
    /// cos(π/n) where the polygon is not aligned.
    pub directions: usize,
    /// The first direction is along the slip of the free velocity, so that straight sliding meets the circle.
    pub aligned: bool,
}

impl Default for Facets {
    fn default() -> Self {
        Self { directions: 8, aligned: true }
    }
}

/// Bodies, shapes, joints and forces in space.
#[derive(Debug, Clone)]
pub struct World {
    /// Acceleration of gravity [m/s²].
    pub gravity: Vector3<f64>,
    /// Time [s].
    pub t: f64,
    /// The polygon that stands for the friction circle.
    pub facets: Facets,
    /// Where friction acts.
    pub friction_point: FrictionPoint,
    /// Shapes may overlap at the start.
    pub allow_overlap: bool,
    pub(super) bodies: BTreeMap<BodyId, Body>,
    pub(super) shapes: BTreeMap<ShapeId, (BodyId, Attached)>,
    pub(super) joints: BTreeMap<JointId, Joint>,
    pub(super) forces: BTreeMap<ForceId, Force>,
    /// Pairs of bodies that never meet, lower number first.
    pub(super) excluded: BTreeSet<(BodyId, BodyId)>,
    /// Materials of pairs of shapes, lower number first.
    pub(super) materials: BTreeMap<PairId, Material>,
    /// What was loaded last, so that loading a state and asking for it again gives the same bits.
    pub(super) loaded: BTreeMap<BodyId, Loaded>,
    next: Next,
}

/// The numbers to give next.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    body: u32,
    shape: u32,
    joint: u32,
    force: u32,
}

/// A number, and the next one after it.
fn take(next: &mut u32) -> u32 {
    let number = *next;
    *next += 1;
    number
}

impl World {
    /// An empty world with this gravity [m/s²].
    pub fn new(gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            t: 0.0,
            facets: Facets::default(),
            friction_point: FrictionPoint::default(),
            allow_overlap: false,
            bodies: BTreeMap::new(),
            shapes: BTreeMap::new(),
            joints: BTreeMap::new(),
            forces: BTreeMap::new(),
            excluded: BTreeSet::new(),
            materials: BTreeMap::new(),
            loaded: BTreeMap::new(),
            next: Next::default(),
        }
    }

    /// Adds a body; its shapes are numbered in their order.
    pub fn add(&mut self, mut body: Body) -> BodyId {
        let id = BodyId(take(&mut self.next.body));
        for shape in std::mem::take(&mut body.shapes) {
            self.shapes.insert(ShapeId(take(&mut self.next.shape)), (id, shape));
        }
        self.bodies.insert(id, body);
        id
    }

    /// Takes a body out with its shapes; its joints and forces go too.
    pub fn remove(&mut self, id: BodyId) -> Option<Body> {
        let mut body = self.bodies.remove(&id)?;
        let shapes: Vec<ShapeId> = self.shapes(id).map(|(shape, _)| shape).collect();
        body.shapes = shapes.into_iter().filter_map(|shape| self.detach(shape)).collect();
        self.joints.retain(|_, joint| joint.a != id && joint.b != id);
        self.forces.retain(|_, force| force.bodies().all(|body| body != id));
        self.excluded.retain(|&(a, b)| a != id && b != id);
        self.loaded.remove(&id);
        Some(body)
    }

    /// Adds a shape to a body.
    pub fn attach(&mut self, body: BodyId, shape: Attached) -> ShapeId {
        let id = ShapeId(take(&mut self.next.shape));
        self.shapes.insert(id, (body, shape));
        id
    }

    /// Takes a shape off its body.
    pub fn detach(&mut self, id: ShapeId) -> Option<Attached> {
        self.materials.retain(|pair, _| pair.a != id.0 && pair.b != id.0);
        self.shapes.remove(&id).map(|(_, shape)| shape)
    }

    /// Adds a joint.
    pub fn join(&mut self, joint: Joint) -> JointId {
        let id = JointId(take(&mut self.next.joint));
        self.joints.insert(id, joint);
        id
    }

    /// Takes a joint out.
    pub fn unjoin(&mut self, id: JointId) -> Option<Joint> {
        self.joints.remove(&id)
    }

    /// Adds a force.
    pub fn push(&mut self, force: Force) -> ForceId {
        let id = ForceId(take(&mut self.next.force));
        self.forces.insert(id, force);
        id
    }

    /// Takes a force out.
    pub fn unpush(&mut self, id: ForceId) -> Option<Force> {
        self.forces.remove(&id)
    }

    /// Two bodies never meet.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.excluded.insert((a.min(b), a.max(b)));
    }

    /// Two shapes meet with this material in place of the combined one.
    pub fn pair_material(&mut self, a: ShapeId, b: ShapeId, material: Material) {
        self.materials.insert(pair(a, b), material);
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(&id)
    }

    /// A body, to be changed.
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body> {
        self.bodies.get_mut(&id)
    }

    /// All bodies in the order of their numbers.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.bodies.iter().map(|(&id, body)| (id, body))
    }

    /// The body of this name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().find(|(_, body)| body.name == name).map(|(&id, _)| id)
    }

    /// A shape.
    pub fn shape(&self, id: ShapeId) -> Option<&Attached> {
        self.shapes.get(&id).map(|(_, shape)| shape)
    }

    /// A shape, to be changed.
    pub fn shape_mut(&mut self, id: ShapeId) -> Option<&mut Attached> {
        self.shapes.get_mut(&id).map(|(_, shape)| shape)
    }

    /// The shapes of a body in the order of their numbers.
    pub fn shapes(&self, body: BodyId) -> impl Iterator<Item = (ShapeId, &Attached)> {
        self.shapes.iter().filter(move |(_, (owner, _))| *owner == body).map(|(&id, (_, shape))| (id, shape))
    }

    /// The body that carries a shape.
    pub fn owner(&self, shape: ShapeId) -> Option<BodyId> {
        self.shapes.get(&shape).map(|(owner, _)| *owner)
    }

    /// A joint.
    pub fn joint(&self, id: JointId) -> Option<&Joint> {
        self.joints.get(&id)
    }

    /// A joint, to be changed.
    pub fn joint_mut(&mut self, id: JointId) -> Option<&mut Joint> {
        self.joints.get_mut(&id)
    }

    /// All joints in the order of their numbers.
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

    /// All mistakes at once.
    pub fn check(&self) -> Result<(), Mistakes> {
        super::check::mistakes(self, &BTreeSet::new()).result()
    }

    /// Where a body's frame is now; the origin for a body that is not there.
    pub(super) fn placed(&self, id: BodyId) -> Isometry3<f64> {
        match self.bodies.get(&id) {
            Some(Body { motion: Motion::Kinematic(path), .. }) => (path.0)(self.t).0,
            Some(body) => body.pose,
            None => Isometry3::identity(),
        }
    }
}

/// Two shapes, lower number first.
pub(super) fn pair(a: ShapeId, b: ShapeId) -> PairId {
    PairId { a: a.0.min(b.0), b: a.0.max(b.0) }
}
