//! A world laid out for stepping: places in q and v, pairs that may meet, lengths of joints.

use super::body::Grain;
use super::joint::Joint;
use super::part::{Part, matrix};
use super::world::{BodyId, JointId, ShapeId, World};
use crate::material::{Depth, Groups, Material};
use crate::state::{Memory, State};
use crate::system::PairId;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use stiction_geometry::spatial::{Shape, size};
use stiction_lcp::FrictionSet;

/// A world laid out for stepping.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// All bodies in the order of their numbers.
    pub(super) parts: Vec<Part>,
    /// The moving bodies, by their places in `parts`.
    pub(super) moving: Vec<usize>,
    /// Number of velocities of each moving body.
    pub(super) velocities: Vec<usize>,
    /// First velocity of each moving body, and their number.
    pub(super) starts: Vec<usize>,
    /// Number of coordinates.
    coordinates: usize,
    /// All shapes in the order of their numbers.
    pub(super) shapes: Vec<ShapeTable>,
    /// Bodies that a joint keeps from meeting, and those excluded by hand.
    apart: BTreeSet<(BodyId, BodyId)>,
    /// Pairs with a material of their own.
    materials: BTreeMap<PairId, Material>,
    /// The friction polygon of surfaces without grain, and whether it is turned along the slip.
    pub(super) set: FrictionSet,
    /// The same with a row for spin.
    pub(super) spin_set: FrictionSet,
    pub(super) aligned: bool,
    pub(super) joints: Vec<JointTable>,
    /// Whether two surfaces may meet, or a joint has limits.
    pub(super) has_unilateral_constraints: bool,
    /// Size of the smallest moving body [m].
    pub(super) size: f64,
    pub(super) depth: Depth,
}

#[derive(Debug, Clone)]
pub(super) struct ShapeTable {
    pub(super) id: ShapeId,
    /// Place of its body in the table.
    pub(super) body: usize,
    pub(super) shape: Shape,
    /// Its pose in the body frame.
    pub(super) pose: Isometry3<f64>,
    pub(super) surface_velocity: Vector3<f64>,
    pub(super) sensor: bool,
    groups: Groups,
    material: Material,
    grain: Option<GrainTable>,
}

/// Two shapes that meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairTable<'a> {
    pub(super) id: PairId,
    /// Places of the shapes in the table.
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) material: Material,
    pub(super) grain: Option<&'a GrainTable>,
}

/// The grain of a surface: whose it is, where it points in that body's frame, and the polygon stretched along it.
#[derive(Debug, Clone)]
pub(super) struct GrainTable {
    pub(super) body: usize,
    pub(super) direction: Vector3<f64>,
    pub(super) set: FrictionSet,
    /// The same with a row for spin.
    pub(super) spin_set: FrictionSet,
}

#[derive(Debug, Clone)]
pub(super) struct JointTable {
    pub(super) id: JointId,
    pub(super) joint: Joint,
    pub(super) a: usize,
    pub(super) b: usize,
    /// The rotations of its frames in the bodies.
    pub(super) turns: [Matrix3<f64>; 2],
    /// What rows that turn are multiplied by [m].
    pub(super) length: f64,
}

/// The bodies that a joint keeps from meeting, and those excluded by hand.
fn apart(world: &World) -> BTreeSet<(BodyId, BodyId)> {
    let joined = world.joints.values().filter(|j| !j.collide).map(|j| (j.a.min(j.b), j.a.max(j.b)));
    world.excluded.iter().copied().chain(joined).collect()
}

impl Tables {
    /// Lays a world out. What is wrong with it is left out or stands in: a check has found it.
    pub(super) fn new(world: &World) -> Self {
        let facets = world.facets.and_then(|f| FrictionSet::regular(f.directions));
        let set = facets.unwrap_or_else(FrictionSet::circle);
        let mut tables = Self {
            parts: Vec::new(),
            moving: Vec::new(),
            depth: world.depth,
            velocities: Vec::new(),
            starts: Vec::new(),
            coordinates: 0,
            shapes: Vec::new(),
            apart: apart(world),
            materials: world.materials.clone(),
            spin_set: set.with_spin(),
            set,
            aligned: world.facets.is_some_and(|f| f.aligned),
            joints: Vec::new(),
            has_unilateral_constraints: false,
            size: f64::INFINITY,
        };
        let (mut q, mut v) = (0, 0);
        for (&id, slot) in &world.bodies {
            let part = Part::new(id, slot, tables.moving.len(), q, v);
            let (coordinates, velocities) = part.freedom.counts();
            if part.moves() {
                tables.moving.push(tables.parts.len());
                tables.velocities.push(velocities);
                tables.starts.push(v);
            }
            q += coordinates;
            v += velocities;
            tables.parts.push(part);
        }
        tables.starts.push(v);
        tables.coordinates = q;
        tables.add_shapes(world);
        tables.joints = world.joints.iter().filter_map(|(&id, j)| tables.joint(id, j)).collect();
        tables.has_unilateral_constraints =
            tables.joints.iter().any(|table| table.joint.limits.is_some()) || tables.meet();
        tables
    }

    fn add_shapes(&mut self, world: &World) {
        let slots = world.bodies.values().enumerate();
        let mut all: Vec<_> =
            slots.flat_map(|(i, slot)| slot.shapes().map(move |(id, s)| (id, i, s))).collect();
        all.sort_by_key(|(id, ..)| *id);
        for (id, body, attached) in all {
            let part = &mut self.parts[body];
            let own = size(&attached.shape);
            let lever = (attached.pose.translation.vector - part.centre.coords).norm();
            part.radius = part.radius.max(lever + own);
            // a point has no size to measure by
            if part.moves() && !attached.sensor && own > 0.0 {
                self.size = self.size.min(own);
            }
            let grain = attached.grain.map(|Grain { direction, ratio }| GrainTable {
                body,
                direction,
                set: stretched(&self.set, ratio),
                spin_set: stretched(&self.spin_set, ratio),
            });
            self.shapes.push(ShapeTable {
                id,
                body,
                shape: attached.shape.clone(),
                pose: attached.pose,
                surface_velocity: attached.surface_velocity,
                sensor: attached.sensor,
                groups: attached.groups,
                material: attached.material,
                grain,
            });
        }
        if !self.size.is_finite() {
            self.size = 1.0;
        }
    }

    /// Whether two shapes may meet, as surfaces or as a sensor and what it senses.
    pub(super) fn may_meet(&self, a: usize, b: usize) -> bool {
        let (of_a, of_b) = (&self.shapes[a], &self.shapes[b]);
        let (part_a, part_b) = (&self.parts[of_a.body], &self.parts[of_b.body]);
        of_a.body != of_b.body
            && (part_a.moves() || part_b.moves())
            && of_a.groups.meet(of_b.groups)
            && !self.apart.contains(&(part_a.id.min(part_b.id), part_a.id.max(part_b.id)))
    }

    /// Whether two surfaces may meet at all.
    fn meet(&self) -> bool {
        let groups: Vec<Groups> = self.shapes.iter().map(|shape| shape.groups).collect();
        // many shapes that never meet are told by their few groups
        let kinds: BTreeSet<(u32, u32)> = groups.iter().map(|g| (g.member, g.collides)).collect();
        let kinds: Vec<Groups> =
            kinds.into_iter().map(|(member, collides)| Groups { member, collides }).collect();
        let meets = |a: usize, b: usize| self.may_meet(a, b) && !self.senses(a, b);
        let shapes = self.shapes.len();
        kinds.iter().any(|a| kinds.iter().any(|b| a.meet(*b)))
            && (0..shapes).any(|a| (a + 1..shapes).any(|b| meets(a, b)))
    }

    /// Whether one of two shapes is a sensor.
    pub(super) fn senses(&self, a: usize, b: usize) -> bool {
        self.shapes[a].sensor || self.shapes[b].sensor
    }

    /// Two shapes that may meet, the one with the smaller number first.
    pub(super) fn pair(&self, a: usize, b: usize) -> PairTable<'_> {
        let (of_a, of_b) = (&self.shapes[a], &self.shapes[b]);
        let id = PairId { a: of_a.id.0, b: of_b.id.0 };
        let material = self.materials.get(&id).copied();
        let material = material.unwrap_or_else(|| of_a.material.combined(&of_b.material));
        PairTable { id, a, b, material, grain: of_a.grain.as_ref().or(of_b.grain.as_ref()) }
    }

    /// Whether two surfaces may meet that resist what `length` is the length of.
    pub(super) fn any_pair(&self, length: impl Fn(&Material) -> f64) -> bool {
        Material::any_pair(self.shapes.iter().map(|s| &s.material), self.materials.values(), length)
    }

    /// Where a shape stands in the table.
    pub(super) fn shape(&self, id: u32) -> Option<usize> {
        self.shapes.binary_search_by_key(&id, |shape| shape.id.0).ok()
    }

    fn joint(&self, id: JointId, joint: &Joint) -> Option<JointTable> {
        let (a, b) = (self.place(joint.a)?, self.place(joint.b)?);
        // levers of bodies that move, and radii of gyration: the speeds a turn at this joint goes with
        let lengths = [(a, &joint.frame_a), (b, &joint.frame_b)].map(|(i, frame)| {
            let part = &self.parts[i];
            let lever = (frame.translation.vector - part.centre.coords).norm();
            let gyration = (part.inertia.diagonal().max() / part.mass).sqrt();
            if part.moves() { lever.max(gyration) } else { 0.0 }
        });
        let length = lengths[0].max(lengths[1]);
        let length = if length.is_finite() && length > 0.0 { length } else { 1.0 };
        let turns = [&joint.frame_a, &joint.frame_b].map(|frame| matrix(&frame.rotation));
        Some(JointTable { id, joint: joint.clone(), a, b, turns, length })
    }

    /// Where a body stands in the table.
    pub(super) fn place(&self, id: BodyId) -> Option<usize> {
        self.parts.binary_search_by_key(&id, |part| part.id).ok()
    }

    /// Number of coordinates and of velocities.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.coordinates, self.starts.last().copied().unwrap_or(0))
    }

    /// The state the bodies of the world are in.
    pub(super) fn state(&self, world: &World) -> State {
        let mut state = State { t: world.t, q: Vec::new(), v: Vec::new(), memory: Memory::default() };
        for (part, slot) in self.parts.iter().zip(world.bodies.values()) {
            part.append(slot, &mut state);
        }
        state
    }

    /// Writes a state into the bodies of the world.
    pub(super) fn load(&self, world: &mut World, state: &State) {
        world.t = state.t;
        for (part, slot) in self.parts.iter().zip(world.bodies.values_mut()) {
            part.load(slot, state);
        }
    }
}

/// A polygon with its first direction stretched.
fn stretched(set: &FrictionSet, ratio: f64) -> FrictionSet {
    match set {
        FrictionSet::Polygon(generators) => {
            FrictionSet::Polygon(generators.iter().map(|[x, y, z]| [ratio * x, *y, *z]).collect())
        }
        FrictionSet::Ellipse([x, y, z]) => FrictionSet::Ellipse([ratio * x, *y, *z]),
    }
}
