//! World: bodies, shapes, joints and forces under numbers that are never given twice.
//!
//! Written once over [`Dimension`]: [`planar`](crate::planar) and [`spatial`](crate::spatial) bring the formulas
//! behind [`Formulas`]. [`World::build`] checks a world and makes the [`ModelIn`] that schemes step.

mod actuators;
mod body;
mod body_layout;
mod check;
mod coupling;
mod dimension;
mod edit;
mod force;
mod forces;
mod formulas;
mod joint;
mod joint_loads;
mod joint_rows;
mod layout;
mod model;
mod placement;
mod placing;
mod queries;
mod search;
mod turns;

pub use body::{Attached, Body, Mass, Motion, Path, PathFunction, Twist};
pub(crate) use body_layout::BodyLayout;
pub use coupling::Coupling;
pub use dimension::{
    Dimension, EuclideanPoint, EuclideanVector, KindOfJoint, MassProperties, RigidPose, ShapeRef,
};
pub use edit::{WorldEdit, WorldQuery};
pub use force::{Force, Law, LawJacobian, Load, Wrench};
pub use formulas::Formulas;
pub use joint::{Command, CommandFunction, Joint, JointAxis, JointSpring, Motor};
pub use joint_loads::JointLoad;
pub(crate) use joint_rows::{JointCoordinate, JointMemory, JointRowWriter, SpeedRow};
pub(crate) use layout::{JointLayout, Layout, PlacedPair, ShapeLayout};
pub use model::ModelIn;
pub(crate) use placement::{Freedom, Placement};
pub use queries::{NearPoint, RayHit};

pub(crate) use check::is_given;
pub(crate) use joint::upright;

use crate::error::Mistakes;
use crate::id::{BodyId, ForceId, JointId, ShapeId};
use crate::material::{Depth, FrictionPoint, Material};
use crate::state::{Memory, State};
use crate::system::PairId;
use body_layout::LoadedState;
use std::collections::{BTreeMap, BTreeSet};

/// World before it is built.
#[derive(Debug, Clone)]
pub struct World<D: Dimension> {
    /// Time [s].
    pub t: f64,
    /// Gravity [m/s²].
    pub gravity: D::Vector,
    /// Polygon in place of the friction circle, in space. Default none: friction is isotropic.
    pub facets: D::Facets,
    /// Point where friction acts while surfaces are apart or overlap.
    pub friction_point: FrictionPoint,
    /// Gap function of polygons, boxes and polyhedra.
    pub depth: Depth,
    /// Accepts shapes that overlap at the start.
    pub allow_overlap: bool,
    bodies: BTreeMap<BodyId, BodyEntry<D>>,
    joints: BTreeMap<JointId, Joint<D>>,
    couplings: BTreeMap<JointId, Coupling>,
    forces: BTreeMap<ForceId, Force<D>>,
    /// Pairs of bodies that never meet, lower number first.
    excluded: BTreeSet<(BodyId, BodyId)>,
    /// Materials of pairs of shapes, lower number first.
    materials: BTreeMap<PairId, Material>,
    next: NextNumbers,
}

impl<D: Dimension> Default for World<D> {
    fn default() -> Self {
        Self::new(D::Vector::default())
    }
}

/// Body of a world with the numbers of its shapes.
#[derive(Debug, Clone)]
pub(crate) struct BodyEntry<D: Dimension> {
    body: Body<D>,
    /// Numbers of its shapes, in their order.
    shapes: Vec<ShapeId>,
    /// State its pose and velocity were last written from.
    loaded: Option<LoadedState<D>>,
}

/// Next number of each kind.
#[derive(Debug, Clone, Copy, Default)]
struct NextNumbers {
    body: u32,
    shape: u32,
    joint: u32,
    force: u32,
}

/// Takes a number and advances to the next.
fn take(next: &mut u32) -> u32 {
    let number = *next;
    *next += 1;
    number
}

impl<D: Dimension> World<D> {
    /// Empty world with this gravity [m/s²].
    pub fn new(gravity: D::Vector) -> Self {
        Self {
            t: 0.0,
            gravity,
            facets: D::Facets::default(),
            friction_point: FrictionPoint::default(),
            depth: Depth::default(),
            allow_overlap: false,
            bodies: BTreeMap::new(),
            joints: BTreeMap::new(),
            couplings: BTreeMap::new(),
            forces: BTreeMap::new(),
            excluded: BTreeSet::new(),
            materials: BTreeMap::new(),
            next: NextNumbers::default(),
        }
    }

    /// Adds a body with its shapes.
    pub fn add_body(&mut self, body: Body<D>) -> BodyId {
        let id = BodyId(take(&mut self.next.body));
        let shapes = body.shapes.iter().map(|_| ShapeId(take(&mut self.next.shape))).collect();
        self.bodies.insert(id, BodyEntry { body, shapes, loaded: None });
        id
    }

    /// Removes a body with its shapes, and the joints and forces on it.
    pub fn remove_body(&mut self, id: BodyId) -> Option<Body<D>> {
        let entry = self.bodies.remove(&id)?;
        self.joints.retain(|_, j| j.a != id && j.b != id);
        let joints = &self.joints;
        self.couplings.retain(|_, c| c.terms.iter().all(|term| joints.contains_key(&term.0.joint)));
        self.forces.retain(|_, f| !f.bodies().any(|b| b == id));
        self.excluded.retain(|&(a, b)| a != id && b != id);
        entry.shapes.iter().for_each(|&s| self.forget_pairs(s));
        Some(entry.body)
    }

    /// Adds a shape to a body; `None` if there is no such body.
    pub fn add_shape(&mut self, body: BodyId, shape: Attached<D>) -> Option<ShapeId> {
        let entry = self.bodies.get_mut(&body)?;
        let id = ShapeId(take(&mut self.next.shape));
        entry.body.shapes.push(shape);
        entry.shapes.push(id);
        Some(id)
    }

    /// Removes a shape from its body.
    pub fn remove_shape(&mut self, id: ShapeId) -> Option<Attached<D>> {
        for entry in self.bodies.values_mut() {
            let position = entry.shapes.iter().position(|&s| s == id);
            if let Some(i) = position.filter(|&i| i < entry.body.shapes.len()) {
                entry.shapes.remove(i);
                let shape = entry.body.shapes.remove(i);
                self.forget_pairs(id);
                return Some(shape);
            }
        }
        None
    }

    fn forget_pairs(&mut self, shape: ShapeId) {
        self.materials.retain(|p, _| p.a != shape && p.b != shape);
    }

    /// Adds a joint.
    pub fn add_joint(&mut self, joint: Joint<D>) -> JointId {
        let id = self.next_joint();
        self.joints.insert(id, joint);
        id
    }

    /// Removes a joint, and the couplings that it is in.
    pub fn remove_joint(&mut self, id: JointId) -> Option<Joint<D>> {
        self.couplings.retain(|_, coupling| coupling.terms.iter().all(|term| term.0.joint != id));
        self.joints.remove(&id)
    }

    fn next_joint(&mut self) -> JointId {
        JointId(take(&mut self.next.joint))
    }

    /// Adds a force.
    pub fn add_force(&mut self, force: Force<D>) -> ForceId {
        let id = ForceId(take(&mut self.next.force));
        self.forces.insert(id, force);
        id
    }

    /// Removes a force.
    pub fn remove_force(&mut self, id: ForceId) -> Option<Force<D>> {
        self.forces.remove(&id)
    }

    /// Lets two bodies pass through each other.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.excluded.insert((a.min(b), a.max(b)));
    }

    /// Gives two shapes in contact a material of their own, in place of the combined one.
    pub fn pair_material(&mut self, a: ShapeId, b: ShapeId, material: Material) {
        self.materials.insert(PairId::of(a, b), material);
    }

    /// Body of this number.
    pub fn body(&self, id: BodyId) -> Option<&Body<D>> {
        self.bodies.get(&id).map(|entry| &entry.body)
    }

    /// Body, to be changed. Shapes are added and removed with [`World::add_shape`] and [`World::remove_shape`].
    pub fn body_mut(&mut self, id: BodyId) -> Option<&mut Body<D>> {
        self.bodies.get_mut(&id).map(|entry| &mut entry.body)
    }

    /// Bodies, in the order of their numbers.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body<D>)> {
        self.bodies.iter().map(|(&id, entry)| (id, &entry.body))
    }

    /// Shapes of a body; none if there is no such body.
    pub fn shapes(&self, body: BodyId) -> impl Iterator<Item = (ShapeId, &Attached<D>)> {
        self.bodies.get(&body).into_iter().flat_map(BodyEntry::shapes)
    }

    /// Body that carries a shape.
    pub fn body_of(&self, shape: ShapeId) -> Option<BodyId> {
        self.bodies.iter().find(|(_, entry)| entry.shapes.contains(&shape)).map(|(&id, _)| id)
    }

    /// Joint of this number.
    pub fn joint(&self, id: JointId) -> Option<&Joint<D>> {
        self.joints.get(&id)
    }

    /// Joint, to be changed.
    pub fn joint_mut(&mut self, id: JointId) -> Option<&mut Joint<D>> {
        self.joints.get_mut(&id)
    }

    /// Joints, in the order of their numbers.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, &Joint<D>)> {
        self.joints.iter().map(|(&id, joint)| (id, joint))
    }

    /// Force of this number.
    pub fn force(&self, id: ForceId) -> Option<&Force<D>> {
        self.forces.get(&id)
    }

    /// Force, to be changed.
    pub fn force_mut(&mut self, id: ForceId) -> Option<&mut Force<D>> {
        self.forces.get_mut(&id)
    }

    /// Forces, in the order of their numbers.
    pub fn forces(&self) -> impl Iterator<Item = (ForceId, &Force<D>)> {
        self.forces.iter().map(|(&id, force)| (id, force))
    }

    /// Body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        self.bodies().find(|(_, body)| body.name == name).map(|(id, _)| id)
    }

    /// Joint of this name.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.joints().find(|(_, joint)| joint.name == name).map(|(id, _)| id)
    }

    /// Pairs of bodies that joints or forces connect; `None` with a force that depends on the whole state.
    pub(crate) fn connections(&self) -> Option<impl Iterator<Item = [BodyId; 2]>> {
        let is_whole = |force: &Force<D>| matches!(force, Force::Custom { .. });
        let pair = |force: &Force<D>| {
            let mut bodies = force.bodies();
            Some([bodies.next()?, bodies.next()?])
        };
        let joints = self.joints.values().map(|joint| [joint.a, joint.b]);
        let forces = self.forces.values();
        (!forces.clone().any(is_whole)).then(|| joints.chain(forces.filter_map(pair)).chain(self.coupled()))
    }

    /// World of some of the bodies, with the joints and forces on no others; `None` with a force that depends on the
    /// whole state.
    pub(crate) fn part(&self, kept: &BTreeSet<BodyId>) -> Option<Self> {
        let has = |id: BodyId| kept.contains(&id);
        self.connections().is_some().then_some(())?;
        let bodies = self.bodies.iter().filter(|(id, _)| has(**id));
        let joints = self.joints.iter().filter(|(_, joint)| has(joint.a) && has(joint.b));
        let forces = self.forces.iter().filter(|(_, force)| force.bodies().all(has));
        let is_kept = |id: &JointId| self.joint(*id).is_some_and(|joint| has(joint.a) && has(joint.b));
        let couplings = self
            .couplings
            .iter()
            .filter(|(_, coupling)| coupling.terms.iter().all(|term| is_kept(&term.0.joint)));
        Some(Self {
            facets: self.facets,
            bodies: bodies.map(|(id, entry)| (*id, entry.clone())).collect(),
            joints: joints.map(|(id, joint)| (*id, joint.clone())).collect(),
            couplings: couplings.map(|(id, coupling)| (*id, coupling.clone())).collect(),
            forces: forces.map(|(id, force)| (*id, force.clone())).collect(),
            excluded: self.excluded.clone(),
            materials: self.materials.clone(),
            ..*self
        })
    }

    /// State that the poses and velocities of the bodies describe.
    pub fn state(&self) -> State
    where
        D: Formulas,
    {
        let mut state = State { t: self.t, q: Vec::new(), v: Vec::new(), memory: Memory::default() };
        for (layout, entry) in body_layout::bodies(self).iter().zip(self.bodies.values()) {
            layout.append(entry, &mut state);
        }
        state.q.extend(actuators::inputs(self).map(|input| input.value));
        if turns::counted(self).next().is_some() {
            Layout::new(self).add_turns(&mut state);
        }
        state
    }

    /// Writes a state into the poses and velocities of the bodies. [`World::state`] then returns it bit by bit,
    /// without the memory of the scheme.
    pub fn load(&mut self, state: &State) -> Result<(), Mistakes>
    where
        D: Formulas,
    {
        let bodies = body_layout::bodies(self);
        let (q, v) = body_layout::sizes(&bodies);
        let q = q + actuators::inputs(self).count() + turns::counted(self).count();
        if (state.q.len(), state.v.len()) != (q, v) {
            let mut mistakes = Mistakes::none();
            let (given_q, given_v) = (state.q.len(), state.v.len());
            mistakes.add("state", format!("{given_q} coordinates and {given_v} velocities, not {q} and {v}"));
            return Err(mistakes);
        }
        self.t = state.t;
        for (layout, entry) in bodies.iter().zip(self.bodies.values_mut()) {
            layout.load(entry, state);
        }
        Ok(())
    }
}

impl<D: Dimension> BodyEntry<D> {
    fn shapes(&self) -> impl Iterator<Item = (ShapeId, &Attached<D>)> {
        self.shapes.iter().copied().zip(&self.body.shapes)
    }
}
