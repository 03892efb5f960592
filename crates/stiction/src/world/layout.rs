//! Layout of a world for stepping: bodies, shapes, pairs that may meet, lengths of joints.

use super::World;
use super::actuators::{InputOwner, inputs};
use super::body::Attached;
use super::body_layout::{BodyLayout, bodies, sizes};
use super::coupling::CouplingLayout;
use super::dimension::{Dimension, EuclideanPoint, EuclideanVector, KindOfJoint, RigidPose};
use super::formulas::Formulas;
use super::joint::{Joint, JointAxis};
use super::joint_rows::SpeedRow;
use super::placement::Placement;
use super::turns;
use crate::id::{BodyId, CoordinateId, ForceId, JointId, ShapeId};
use crate::material::{Depth, FrictionPoint, Groups, Material};
use crate::system::{ContactId, ContactRow, Moments, PairId};
use arrayvec::ArrayVec;
use std::collections::{BTreeMap, BTreeSet};
use stiction_lcp::FrictionSet;

/// Shape with its body.
#[derive(Debug, Clone)]
pub struct ShapeLayout<D: Formulas> {
    /// Number of the shape.
    pub id: ShapeId,
    /// Index of its body.
    pub body: usize,
    /// Shape.
    pub shape: D::Shape,
    /// Pose on the body, see [`Formulas::shape_offset`].
    pub offset: D::Isometry,
    /// Velocity of the surface against the body [m/s].
    pub surface_velocity: D::SurfaceVelocity,
    /// Material.
    pub material: Material,
    /// Friction set of its grain.
    pub grain: D::GrainSets,
    sensor: bool,
    groups: Groups,
    /// Shape and pose are those of a real shape: others are reported by the check and have no box.
    is_sound: bool,
}

/// Two shapes that may meet, the lower number first.
#[derive(Debug, Clone, Copy)]
pub struct ShapePair {
    /// Numbers of the shapes.
    pub id: PairId,
    /// Index of the first shape.
    pub a: usize,
    /// Index of the second shape.
    pub b: usize,
    /// Material of the contact.
    pub material: Material,
}

/// Near point of two shapes, with their bodies in their places.
#[derive(Debug, Clone, Copy)]
pub struct PlacedPair<'a, D: Formulas> {
    /// Layout of the world.
    pub layout: &'a Layout<D>,
    /// Pair of shapes.
    pub pair: &'a ShapePair,
    /// Near point.
    pub gap: &'a D::Gap,
    /// Shapes of the pair.
    pub shapes: [&'a ShapeLayout<D>; 2],
    /// Bodies of the shapes.
    pub bodies: [&'a Placement<D>; 2],
}

impl<'a, D: Formulas> PlacedPair<'a, D> {
    /// Near point of a pair whose bodies are at these placements.
    pub(crate) fn new(
        layout: &'a Layout<D>,
        placements: &'a [Placement<D>],
        pair: &'a ShapePair,
        gap: &'a D::Gap,
    ) -> Self {
        let shapes = [pair.a, pair.b].map(|shape| &layout.shapes[shape]);
        Self { layout, pair, gap, shapes, bodies: shapes.map(|shape| &placements[shape.body]) }
    }

    /// Contact with this normal row and friction set; tangents, point and moments are left to the caller.
    pub(crate) fn row(&self, normal: SpeedRow, set: FrictionSet) -> ContactRow {
        let (gap, feature) = D::gap(self.gap);
        let drift = normal.drift;
        ContactRow {
            id: ContactId { pair: self.pair.id, feature },
            bodies: self.shapes.map(|shape| self.layout.bodies[shape.body].id),
            gap,
            normal: normal.into_row(),
            drift,
            tangents: ArrayVec::new(),
            aligned: false,
            set,
            mu: self.pair.material.friction,
            restitution: self.pair.material.restitution,
            point: [0.0; 3],
            direction: [0.0; 3],
            tangent_directions: [[0.0; 3]; 2],
            moments: Moments::none(),
        }
    }
}

/// Joint with its bodies, seen from one of its coordinates. A joint with settings on further coordinates has one of these
/// for each; the first has its held motions.
#[derive(Debug, Clone)]
pub struct JointLayout<D: Formulas> {
    /// Number of the joint.
    pub id: JointId,
    /// Number of the coordinate.
    pub axis: usize,
    /// Joint, whose own settings are those of this coordinate.
    pub joint: Joint<D>,
    /// Indices of its bodies.
    pub bodies: [usize; 2],
    /// Index in q of the first input of its motor.
    pub(crate) first_input: Option<usize>,
    /// Index in q of the angle at the last step, where turns are counted.
    pub(crate) turn: Option<usize>,
    /// Frames in the bodies.
    pub frames: D::JointFrames,
    /// Factor of angular rows [m]: the largest of the levers and radii of gyration of the moving bodies, so that a
    /// turn at this joint has the speeds that go with it.
    pub length: f64,
}

/// World laid out for stepping.
#[derive(Debug, Clone)]
pub struct Layout<D: Formulas> {
    /// Bodies in the order of their numbers.
    pub bodies: Vec<BodyLayout<D>>,
    /// Indices of the moving bodies.
    pub(crate) moving: Vec<usize>,
    /// Number of velocities of each moving body.
    pub(crate) velocities: Vec<usize>,
    /// Index of the first velocity of each moving body, and the number of velocities.
    pub(crate) starts: Vec<usize>,
    /// Number of coordinates that are places and turns.
    pub(crate) positions: usize,
    /// Number of coordinates that are inputs.
    pub(crate) inputs: usize,
    /// Forces that inputs multiply, with the indices of these in q.
    pub(super) commanded: Vec<(ForceId, usize)>,
    /// Number of coordinates, inputs and turns included.
    pub(crate) coordinates: usize,
    /// Shapes in the order of their numbers.
    pub shapes: Vec<ShapeLayout<D>>,
    /// Joints in the order of their numbers.
    pub(crate) joints: Vec<JointLayout<D>>,
    /// Couplings in the order of their numbers.
    pub(super) couplings: Vec<CouplingLayout>,
    /// Friction sets of contacts.
    pub friction: D::FrictionSets,
    /// Point where friction acts.
    pub friction_point: FrictionPoint,
    /// Gap function of polygons, boxes and polyhedra.
    pub(crate) depth: Depth,
    /// `true` when two surfaces may meet or a joint has limits.
    pub(crate) has_unilateral_constraints: bool,
    /// Size of the smallest moving body [m].
    pub(crate) size: f64,
    /// Bodies that never meet: joined ones and those excluded by hand.
    apart: BTreeSet<(BodyId, BodyId)>,
    /// Pairs with a material of their own.
    materials: BTreeMap<PairId, Material>,
}

/// Bodies that a joint keeps from meeting, and those excluded by hand.
fn apart<D: Dimension>(world: &World<D>) -> BTreeSet<(BodyId, BodyId)> {
    let joined = world.joints.values().filter(|j| !j.collide).map(|j| (j.a.min(j.b), j.a.max(j.b)));
    world.excluded.iter().copied().chain(joined).collect()
}

impl<D: Formulas> Layout<D> {
    /// Lays out a world. Mistakes are left out: a check reports them.
    pub(crate) fn new(world: &World<D>) -> Self {
        let bodies = bodies(world);
        let (positions, count) = sizes(&bodies);
        let inputs: Vec<InputOwner> = inputs(world).map(|input| input.owner).collect();
        let turns: Vec<CoordinateId> = turns::counted(world).collect();
        let commanded = inputs.iter().enumerate().filter_map(|(k, owner)| match owner {
            InputOwner::Force(id) => Some((*id, positions + k)),
            InputOwner::Joint(_) => None,
        });
        let moving: Vec<usize> = (0..bodies.len()).filter(|&i| bodies[i].moves()).collect();
        let mut starts: Vec<usize> = moving.iter().map(|&i| bodies[i].v).collect();
        starts.push(count);
        let mut layout = Self {
            velocities: moving.iter().map(|&i| bodies[i].velocities().len()).collect(),
            bodies,
            moving,
            starts,
            positions,
            inputs: inputs.len(),
            commanded: commanded.collect(),
            coordinates: positions + inputs.len() + turns.len(),
            shapes: Vec::new(),
            joints: Vec::new(),
            couplings: Vec::new(),
            friction: D::friction_sets(world),
            friction_point: world.friction_point,
            depth: world.depth,
            has_unilateral_constraints: false,
            size: 1.0,
            apart: apart(world),
            materials: world.materials.clone(),
        };
        layout.add_shapes(world);
        layout.joints = layout.joints(world);
        for joint in &mut layout.joints {
            let own = joint.id.axis(joint.axis);
            let is_own = |owner: &InputOwner| *owner == InputOwner::Joint(own);
            joint.first_input = inputs.iter().position(is_own).map(|k| positions + k);
            joint.turn = turns.iter().position(|id| *id == own).map(|k| positions + inputs.len() + k);
        }
        let couplings = world.couplings().filter_map(|(id, c)| CouplingLayout::new(id, c, &layout));
        layout.couplings = couplings.collect();
        layout.has_unilateral_constraints = layout.joints.iter().any(|joint| joint.joint.limits.is_some())
            || layout.couplings.iter().any(CouplingLayout::is_unilateral)
            || layout.has_pairs();
        layout
    }

    fn add_shapes(&mut self, world: &World<D>) {
        let entries = world.bodies.values().enumerate();
        let mut all: Vec<(ShapeId, usize, &Attached<D>)> =
            entries.flat_map(|(i, entry)| entry.shapes().map(move |(id, s)| (id, i, s))).collect();
        all.sort_by_key(|(id, ..)| *id);
        let mut least = f64::INFINITY;
        for (id, body, attached) in all {
            let owner = &self.bodies[body];
            if owner.moves() {
                let size = D::tolerance_size(attached, owner);
                // a point has no size to measure by
                least = if size > 0.0 { least.min(size) } else { least };
            }
            let pose = &attached.pose;
            let is_finite = pose.origin().all_finite() && D::is_finite_rotation(&pose.turn());
            self.shapes.push(ShapeLayout {
                id,
                body,
                shape: attached.shape.clone(),
                offset: D::shape_offset(pose, owner),
                surface_velocity: attached.surface_velocity,
                sensor: attached.sensor,
                groups: attached.groups,
                material: attached.material,
                grain: D::grain_sets(&self.friction, attached),
                is_sound: is_finite && D::check_shape(&attached.shape).is_ok(),
            });
        }
        if least.is_finite() {
            self.size = least;
        }
    }

    /// `true` when two shapes may meet, as surfaces or as a sensor and what it senses.
    pub(crate) fn may_meet(&self, a: usize, b: usize) -> bool {
        let (of_a, of_b) = (&self.shapes[a], &self.shapes[b]);
        let (body_a, body_b) = (&self.bodies[of_a.body], &self.bodies[of_b.body]);
        of_a.body != of_b.body
            && (body_a.moves() || body_b.moves())
            && of_a.groups.meet(of_b.groups)
            && !self.apart.contains(&(body_a.id.min(body_b.id), body_a.id.max(body_b.id)))
    }

    /// `true` when one of two shapes is a sensor.
    pub(crate) fn senses(&self, a: usize, b: usize) -> bool {
        self.shapes[a].sensor || self.shapes[b].sensor
    }

    /// `true` when two surfaces may meet.
    fn has_pairs(&self) -> bool {
        let groups: BTreeSet<(u32, u32)> =
            self.shapes.iter().map(|shape| (shape.groups.member, shape.groups.collides)).collect();
        // groups are few, however many shapes there are
        let groups: Vec<Groups> =
            groups.into_iter().map(|(member, collides)| Groups { member, collides }).collect();
        let meets = |a: usize, b: usize| self.may_meet(a, b) && !self.senses(a, b);
        let shapes = self.shapes.len();
        groups.iter().any(|a| groups.iter().any(|b| a.meet(*b)))
            && (0..shapes).any(|a| (a + 1..shapes).any(|b| meets(a, b)))
    }

    /// `true` when the box of a shape can be taken.
    pub(crate) fn is_sound(&self, shape: usize) -> bool {
        self.shapes[shape].is_sound
    }

    /// Two shapes that may meet, the lower number first.
    pub(crate) fn pair(&self, a: usize, b: usize) -> ShapePair {
        let (of_a, of_b) = (&self.shapes[a], &self.shapes[b]);
        let id = PairId { a: of_a.id, b: of_b.id };
        let material = self.materials.get(&id).copied();
        ShapePair { id, a, b, material: material.unwrap_or_else(|| of_a.material.combined(&of_b.material)) }
    }

    /// `true` when two surfaces may meet whose `length` is positive [m].
    pub(crate) fn any_pair(&self, length: impl Fn(&Material) -> f64) -> bool {
        Material::any_pair(self.shapes.iter().map(|s| &s.material), self.materials.values(), length)
    }

    /// Index of a shape.
    pub(crate) fn shape(&self, id: ShapeId) -> Option<usize> {
        self.shapes.binary_search_by_key(&id, |shape| shape.id).ok()
    }

    /// Index of a body.
    pub(crate) fn body(&self, id: BodyId) -> Option<usize> {
        self.bodies.binary_search_by_key(&id, |body| body.id).ok()
    }

    /// Lets the angles of joints count turns from where they did before an edit.
    pub(super) fn keep_turns(&mut self, before: &Self) {
        for joint in &mut self.joints {
            if let Some(old) = before.joints.iter().find(|old| old.id == joint.id) {
                D::keep_turns(&mut joint.frames, &old.frames);
            }
        }
    }

    /// Joints of a world by the coordinates that something acts on.
    fn joints(&self, world: &World<D>) -> Vec<JointLayout<D>> {
        let is_coupled = |id: CoordinateId| {
            world.couplings.values().any(|coupling| coupling.terms.iter().any(|term| term.0 == id))
        };
        let mut joints = Vec::with_capacity(world.joints.len());
        for (&id, joint) in &world.joints {
            let Some(first) = self.joint(world, id, joint) else { continue };
            for axis in 1..joint.kind.coordinates() {
                let own = joint.further.get(axis - 1);
                if own.is_some_and(|own| *own != JointAxis::default()) || is_coupled(id.axis(axis)) {
                    joints.push(JointLayout { axis, joint: joint.seen_from(axis), ..first.clone() });
                }
            }
            joints.push(first);
        }
        joints.sort_by_key(|joint| (joint.id, joint.axis));
        joints
    }

    fn joint(&self, world: &World<D>, id: JointId, joint: &Joint<D>) -> Option<JointLayout<D>> {
        let bodies = [self.body(joint.a)?, self.body(joint.b)?];
        let poses = [&world.body(joint.a)?.pose, &world.body(joint.b)?.pose];
        let lever = |i: usize, frame: &D::Isometry| {
            let body = &self.bodies[i];
            let lever = (frame.origin() - body.centre.coordinates()).norm();
            if body.moves() { lever.max(D::gyration(body)) } else { 0.0 }
        };
        let length = lever(bodies[0], &joint.frame_a).max(lever(bodies[1], &joint.frame_b));
        let length = if length.is_finite() && length > 0.0 { length } else { 1.0 };
        let frames = D::joint_frames(joint, bodies.map(|i| &self.bodies[i]), poses);
        let joint = joint.clone();
        Some(JointLayout { id, axis: 0, joint, bodies, first_input: None, turn: None, frames, length })
    }
}
