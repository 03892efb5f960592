//! Layout of a world for stepping: places in q and v, shapes, pairs that may meet, lengths of joints.

use super::body::{Attached, Motion, Path, Twist};
use super::dimension::{Dimension, EuclideanPoint, EuclideanVector, MassProperties, RigidPose};
use super::formulas::Formulas;
use super::joint::Joint;
use super::placement::{Freedom, Placement};
use super::{BodyEntry, World};
use crate::id::{BodyId, JointId, ShapeId};
use crate::material::{Depth, FrictionPoint, Groups, Material};
use crate::state::State;
use crate::system::{MotionBound, PairId};
use arrayvec::ArrayVec;
use nalgebra::Matrix6;
use std::collections::{BTreeMap, BTreeSet};

/// Body with its place in q and v.
#[derive(Debug, Clone)]
pub struct BodyLayout<D: Formulas> {
    /// Number of the body.
    pub id: BodyId,
    /// How its pose follows from time and coordinates.
    source: PoseSource<D>,
    /// How its velocities enter a row.
    pub freedom: Freedom<D>,
    /// Index of its first coordinate.
    pub q: usize,
    /// Index of its first velocity.
    pub v: usize,
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass in the body frame [m]; the origin for a body without velocities.
    pub centre: D::Point,
    /// Inertia about the centre of mass [kg m²].
    pub inertia: D::Inertia,
    /// Farthest point of its shapes from `centre` [m]; infinite with a half-plane or half-space.
    pub radius: f64,
}

/// How the pose of a body follows from time and coordinates.
#[derive(Debug, Clone)]
enum PoseSource<D: Dimension> {
    Fixed(D::Isometry),
    Kinematic(Path<D>),
    Rigid,
    Point(D::Rotation),
    /// The centre of mass is at `origin` + q · `axis`.
    Slider {
        axis: D::Vector,
        origin: D::Point,
        rotation: D::Rotation,
    },
}

/// State that was written into the pose and velocity of a body, which do not hold it to the last bit.
#[derive(Debug, Clone)]
pub(crate) struct LoadedState<D: Dimension> {
    pose: D::Isometry,
    velocity: Twist<D>,
    centre: D::Point,
    axis: D::Vector,
    origin: D::Point,
    q: ArrayVec<f64, 7>,
    v: ArrayVec<f64, 6>,
}

impl<D: Formulas> LoadedState<D> {
    /// `true` when the body has not been changed since.
    fn is_current(&self, entry: &BodyEntry<D>, centre: &D::Point) -> bool {
        let (axis, velocities) = match entry.body.motion {
            Motion::Rigid => (D::Vector::default(), D::RIGID.1),
            Motion::Point => (D::Vector::default(), D::COUNT),
            Motion::Slider(axis) => (D::unit_axis(&axis), 1),
            Motion::Fixed | Motion::Kinematic(_) => return false,
        };
        (self.pose, self.velocity) == (entry.body.pose, entry.body.velocity)
            && (self.centre, self.axis, self.v.len()) == (*centre, axis, velocities)
    }
}

/// Bodies of a world in the order of their numbers.
pub(crate) fn bodies<D: Formulas>(world: &World<D>) -> Vec<BodyLayout<D>> {
    let (mut number, mut q, mut v) = (0, 0, 0);
    let mut bodies = Vec::with_capacity(world.bodies.len());
    for (&id, entry) in &world.bodies {
        let body = BodyLayout::new(id, entry, number, [q, v]);
        let (coordinates, velocities) = body.freedom.counts();
        number += usize::from(body.moves());
        q += coordinates;
        v += velocities;
        bodies.push(body);
    }
    bodies
}

/// Number of coordinates and of velocities.
pub(crate) fn sizes<D: Formulas>(bodies: &[BodyLayout<D>]) -> (usize, usize) {
    let counts = bodies.iter().map(|body| body.freedom.counts());
    counts.fold((0, 0), |(q, v), (coordinates, velocities)| (q + coordinates, v + velocities))
}

impl<D: Formulas> BodyLayout<D> {
    /// Layout of a body; `number` is that of the next moving body, `at` the next free places in q and v.
    fn new(id: BodyId, entry: &BodyEntry<D>, number: usize, at: [usize; 2]) -> Self {
        let body = &entry.body;
        let origin = || D::Point::from(D::Vector::default());
        let standing = || MassProperties { mass: 1.0, centre: origin(), inertia: D::Inertia::default() };
        // a mistake in the mass is reported by the check
        let moving = body.moves().then(|| body.mass_properties().ok()).flatten();
        let MassProperties { mass, centre, inertia } = moving.unwrap_or_else(standing);
        let rotation = body.pose.turn();
        let (source, freedom) = match &body.motion {
            Motion::Rigid => (PoseSource::Rigid, Freedom::Rigid(number)),
            Motion::Point => (PoseSource::Point(rotation), Freedom::Point(number)),
            Motion::Slider(axis) => {
                let axis = D::unit_axis(axis);
                let at = body.pose.point(&centre);
                let origin = match &entry.loaded {
                    Some(loaded) if loaded.is_current(entry, &centre) => loaded.origin,
                    _ => at - axis * axis.dot(&at.coordinates()),
                };
                (PoseSource::Slider { axis, origin, rotation }, Freedom::Slider(number, axis))
            }
            Motion::Fixed => (PoseSource::Fixed(body.pose), Freedom::None),
            Motion::Kinematic(path) => (PoseSource::Kinematic(path.clone()), Freedom::None),
        };
        let radius = body.shapes.iter().map(|s| D::extent(&s.shape, &s.pose, &centre)).fold(0.0, f64::max);
        Self { id, source, freedom, q: at[0], v: at[1], mass, centre, inertia, radius }
    }

    /// `true` when it has velocities.
    pub(crate) fn moves(&self) -> bool {
        self.freedom != Freedom::None
    }

    /// `true` when its motion is prescribed: its accelerations are unknown.
    pub(crate) fn is_kinematic(&self) -> bool {
        matches!(self.source, PoseSource::Kinematic(_))
    }

    /// Indices of its coordinates.
    pub(crate) fn coordinates(&self) -> std::ops::Range<usize> {
        self.q..self.q + self.freedom.counts().0
    }

    /// Indices of its velocities.
    pub(crate) fn velocities(&self) -> std::ops::Range<usize> {
        self.v..self.v + self.freedom.counts().1
    }

    /// Body at an instant.
    pub(crate) fn place(&self, t: f64, q: &[f64]) -> Placement<D> {
        let own = &q[self.q.min(q.len())..];
        let standing = |pose: &D::Isometry, prescribed: Twist<D>| Placement {
            centre: pose.origin().into(),
            frame: D::standing_frame(pose),
            freedom: self.freedom,
            prescribed,
        };
        let moving = |centre: D::Point, frame: D::Frame| Placement {
            centre,
            frame,
            freedom: self.freedom,
            prescribed: Twist::default(),
        };
        match &self.source {
            PoseSource::Fixed(pose) => standing(pose, Twist::default()),
            PoseSource::Kinematic(path) => {
                let (pose, velocity) = path.0(t);
                standing(&pose, velocity)
            }
            PoseSource::Rigid => {
                let centre = D::Point::from(leading::<D>(own));
                moving(centre, D::rigid_frame(&centre, &own[D::COUNT..], self))
            }
            PoseSource::Point(rotation) => {
                let centre = D::Point::from(leading::<D>(own));
                moving(centre, D::moving_frame(&centre, *rotation, self))
            }
            PoseSource::Slider { axis, origin, rotation } => {
                let centre = *origin + *axis * own[0];
                moving(centre, D::moving_frame(&centre, *rotation, self))
            }
        }
    }

    /// Velocity of the centre.
    pub(crate) fn twist(&self, t: f64, q: &[f64], v: &[f64]) -> Twist<D> {
        let own = &v[self.v.min(v.len())..];
        match &self.source {
            PoseSource::Fixed(_) => Twist::default(),
            PoseSource::Kinematic(path) => path.0(t).1,
            PoseSource::Rigid => {
                let angular = D::angular_velocity(&q[self.q + D::COUNT..], &own[D::COUNT..]);
                Twist::new(leading::<D>(own), angular)
            }
            PoseSource::Point(_) => Twist::new(leading::<D>(own), D::Angular::default()),
            PoseSource::Slider { axis, .. } => Twist::new(*axis * own[0], D::Angular::default()),
        }
    }

    /// Largest speed of a point of its shapes at this velocity of its centre [m/s].
    pub(crate) fn surface_speed(&self, twist: &Twist<D>) -> f64 {
        let turning = twist.angular.norm();
        // the radius of a half-plane is infinite: one that does not turn is as fast as its body
        twist.linear.norm() + if turning == 0.0 { 0.0 } else { turning * self.radius }
    }

    /// Largest distance that a point of its shapes moves within a step [m].
    pub(crate) fn travel(&self, q: &[f64], motion: &MotionBound) -> f64 {
        let MotionBound { t, h, v } = motion;
        let fastest = if self.moves() {
            let speed = |v: &Vec<f64>| self.surface_speed(&self.twist(*t, q, v));
            speed(&v[0]).max(speed(&v[1]))
        } else {
            let speed = |t: f64| self.surface_speed(&self.twist(t, q, &[]));
            speed(*t).max(speed(t + h))
        };
        h * fastest
    }

    /// `q ← q ⊕ h v`.
    pub(crate) fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        let (q, v) = (&mut q[self.coordinates()], &v[self.velocities()]);
        q.iter_mut().zip(v).take(D::COUNT).for_each(|(q, v)| *q += h * v);
        if self.freedom.is_rigid() {
            D::advance_angular(&mut q[D::COUNT..], &v[D::COUNT..], h);
        }
    }

    /// dq/dt, appended.
    pub(crate) fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        let (q, v) = (&q[self.coordinates()], &v[self.velocities()]);
        out.extend(&v[..v.len().min(D::COUNT)]);
        if self.freedom.is_rigid() {
            D::angular_rates(&q[D::COUNT..], &v[D::COUNT..], out);
        }
    }

    /// Coordinates back on their manifold: quaternions to unit length.
    pub(crate) fn normalize(&self, q: &mut [f64]) {
        if self.freedom.is_rigid() {
            D::normalize_angular(&mut q[self.coordinates()][D::COUNT..]);
        }
    }

    /// Block of the mass matrix.
    pub(crate) fn mass_block(&self) -> Matrix6<f64> {
        let mut block = Matrix6::zeros();
        (0..self.velocities().len().min(D::COUNT)).for_each(|i| block[(i, i)] = self.mass);
        if self.freedom.is_rigid() {
            D::add_inertia(self, &mut block);
        }
        block
    }

    /// Appends the state that the pose and velocity of the body describe.
    pub(crate) fn append(&self, entry: &BodyEntry<D>, state: &mut State) {
        if let Some(loaded) = entry.loaded.as_ref().filter(|loaded| loaded.is_current(entry, &self.centre)) {
            state.q.extend(&loaded.q);
            state.v.extend(&loaded.v);
            return;
        }
        let (pose, velocity) = (&entry.body.pose, &entry.body.velocity);
        let centre = pose.point(&self.centre).coordinates();
        match self.source {
            PoseSource::Fixed(_) | PoseSource::Kinematic(_) => {}
            PoseSource::Rigid | PoseSource::Point(_) => {
                state.q.extend(centre.components());
                state.v.extend(velocity.linear.components());
                if self.freedom.is_rigid() {
                    D::append_angular(pose, &velocity.angular, &mut state.q, &mut state.v);
                }
            }
            PoseSource::Slider { axis, .. } => {
                state.q.push(axis.dot(&centre));
                state.v.push(axis.dot(&velocity.linear));
            }
        }
    }

    /// Writes a state into the pose and velocity of the body.
    pub(crate) fn load(&self, entry: &mut BodyEntry<D>, state: &State) {
        if !self.moves() {
            return;
        }
        let (axis, origin) = match self.source {
            PoseSource::Slider { axis, origin, .. } => (axis, origin),
            _ => (D::Vector::default(), D::Point::from(D::Vector::default())),
        };
        entry.body.pose = D::pose(self, &self.place(state.t, &state.q));
        entry.body.velocity = self.twist(state.t, &state.q, &state.v);
        entry.loaded = Some(LoadedState {
            pose: entry.body.pose,
            velocity: entry.body.velocity,
            centre: self.centre,
            axis,
            origin,
            q: state.q[self.coordinates()].iter().copied().collect(),
            v: state.v[self.velocities()].iter().copied().collect(),
        });
    }
}

/// First coordinates or velocities of a body as a vector.
fn leading<D: Dimension>(own: &[f64]) -> D::Vector {
    D::vector(std::array::from_fn(|i| if i < D::COUNT { own[i] } else { 0.0 }))
}

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

/// Joint with its bodies.
#[derive(Debug, Clone)]
pub struct JointLayout<D: Formulas> {
    /// Number of the joint.
    pub id: JointId,
    /// Joint.
    pub joint: Joint<D>,
    /// Indices of its bodies.
    pub bodies: [usize; 2],
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
    /// Number of coordinates.
    pub(crate) coordinates: usize,
    /// Shapes in the order of their numbers.
    pub shapes: Vec<ShapeLayout<D>>,
    /// Joints in the order of their numbers.
    pub(crate) joints: Vec<JointLayout<D>>,
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
        let (coordinates, count) = sizes(&bodies);
        let moving: Vec<usize> = (0..bodies.len()).filter(|&i| bodies[i].moves()).collect();
        let mut starts: Vec<usize> = moving.iter().map(|&i| bodies[i].v).collect();
        starts.push(count);
        let mut layout = Self {
            velocities: moving.iter().map(|&i| bodies[i].velocities().len()).collect(),
            bodies,
            moving,
            starts,
            coordinates,
            shapes: Vec::new(),
            joints: Vec::new(),
            friction: D::friction_sets(world),
            friction_point: world.friction_point,
            depth: world.depth,
            has_unilateral_constraints: false,
            size: 1.0,
            apart: apart(world),
            materials: world.materials.clone(),
        };
        layout.add_shapes(world);
        layout.joints = world.joints.iter().filter_map(|(&id, joint)| layout.joint(id, joint)).collect();
        layout.has_unilateral_constraints =
            layout.joints.iter().any(|joint| joint.joint.limits.is_some()) || layout.has_pairs();
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

    fn joint(&self, id: JointId, joint: &Joint<D>) -> Option<JointLayout<D>> {
        let bodies = [self.body(joint.a)?, self.body(joint.b)?];
        let lever = |i: usize, frame: &D::Isometry| {
            let body = &self.bodies[i];
            let lever = (frame.origin() - body.centre.coordinates()).norm();
            if body.moves() { lever.max(D::gyration(body)) } else { 0.0 }
        };
        let length = lever(bodies[0], &joint.frame_a).max(lever(bodies[1], &joint.frame_b));
        let length = if length.is_finite() && length > 0.0 { length } else { 1.0 };
        let frames = D::joint_frames(joint, bodies.map(|i| &self.bodies[i]));
        Some(JointLayout { id, joint: joint.clone(), bodies, frames, length })
    }
}
