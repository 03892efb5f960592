//! A world laid out for stepping: places in q and v, mass properties, pairs that may meet.

use super::body::{Attached, Body, Grain, Mass, Motion, Path, Twist};
use super::placed::{Freedom, Placed, turned};
use super::world::{BodyId, JointId, ShapeId, World, pair};
use crate::material::Material;
use crate::state::{Memory, State};
use crate::system::PairId;
use arrayvec::ArrayVec;
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use std::collections::BTreeSet;
use stiction_geometry::MassError;
use stiction_geometry::spatial::{MassProperties, Shape, mass, size};
use stiction_lcp::FrictionSet;

/// A world laid out for stepping.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    /// All bodies in the order of their numbers.
    pub(super) bodies: Vec<BodyTable>,
    /// Where a body stands in `bodies`, by its number.
    places: Vec<Option<usize>>,
    /// The moving bodies, by their places in `bodies`.
    pub(super) moving: Vec<usize>,
    /// Number of velocities of each moving body.
    pub(super) velocities: Vec<usize>,
    /// First velocity of each moving body, and their number.
    pub(super) starts: Vec<usize>,
    /// All shapes in the order of their numbers.
    pub(super) shapes: Vec<ShapeTable>,
    /// Pairs that may meet, in the order of their shapes.
    pub(super) pairs: Vec<PairTable>,
    /// Pairs with a sensor in them.
    pub(super) sensors: Vec<PairTable>,
    pub(super) joints: Vec<JointTable>,
    /// Size of the smallest moving body [m].
    pub(super) size: f64,
}

#[derive(Debug, Clone)]
pub(super) struct BodyTable {
    pub(super) id: BodyId,
    pub(super) course: Course,
    pub(super) freedom: Freedom,
    /// First coordinate and first velocity.
    pub(super) q: usize,
    pub(super) v: usize,
    pub(super) mass: f64,
    /// Centre of mass in the body frame; the origin for a body without velocities.
    pub(super) centre: Point3<f64>,
    pub(super) inertia: Matrix3<f64>,
    /// Farthest point of its shapes from `centre` [m].
    pub(super) radius: f64,
}

/// How the pose of a body follows from time and coordinates.
#[derive(Debug, Clone)]
pub(super) enum Course {
    Fixed(Isometry3<f64>),
    Path(Path),
    Rigid,
    Point(UnitQuaternion<f64>),
    /// The centre of mass is at `foot` + s `axis`.
    Slider {
        axis: Vector3<f64>,
        foot: Point3<f64>,
        rotation: UnitQuaternion<f64>,
    },
}

#[derive(Debug, Clone)]
pub(super) struct ShapeTable {
    pub(super) id: ShapeId,
    /// Place of its body in the table.
    pub(super) body: usize,
    pub(super) shape: Shape,
    pub(super) pose: Isometry3<f64>,
    pub(super) surface_velocity: Vector3<f64>,
}

#[derive(Debug, Clone)]
pub(super) struct PairTable {
    pub(super) id: PairId,
    /// Places of the shapes in the table.
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) material: Material,
    pub(super) set: FrictionSet,
    pub(super) aligned: bool,
    pub(super) grain: Option<GrainTable>,
}

/// The grain of a pair: whose it is, where it points in that body's frame, and the polygon stretched along it.
#[derive(Debug, Clone)]
pub(super) struct GrainTable {
    pub(super) body: usize,
    pub(super) direction: Vector3<f64>,
    pub(super) set: FrictionSet,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct JointTable {
    pub(super) id: JointId,
    pub(super) a: usize,
    pub(super) b: usize,
    /// What rows that turn are multiplied by [m].
    pub(super) length: f64,
}

/// What was loaded into a body, kept so that the same bits come out again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loaded {
    pose: Isometry3<f64>,
    velocity: Twist,
    centre: Point3<f64>,
    axis: Vector3<f64>,
    foot: Point3<f64>,
    q: ArrayVec<f64, 7>,
    v: ArrayVec<f64, 6>,
}

/// Mass properties of a body in its frame.
pub(super) fn properties(world: &World, id: BodyId, body: &Body) -> Result<MassProperties, MassError> {
    match body.mass {
        Mass::Given { mass, centre, inertia } => Ok(MassProperties { mass, centre, inertia }),
        Mass::Density(density) => {
            let solid = world.shapes(id).filter(|(_, s)| !s.sensor);
            let part = |(_, s): (ShapeId, &Attached)| mass(&s.shape, density).map(|part| (s.pose, part));
            MassProperties::combine(solid.map(part).collect::<Result<Vec<_>, _>>()?)
        }
    }
}

/// The bodies that a joint keeps from meeting, and those excluded by hand.
fn apart(world: &World) -> BTreeSet<(BodyId, BodyId)> {
    let joined = world.joints.values().filter(|j| !j.collide).map(|j| (j.a.min(j.b), j.a.max(j.b)));
    world.excluded.iter().copied().chain(joined).collect()
}

impl Tables {
    /// Lays a world out. What is wrong with it is left out or stands in: a check has found it.
    pub(super) fn new(world: &World) -> Self {
        let mut tables = Self::default();
        let (mut q, mut v) = (0, 0);
        for (&id, body) in &world.bodies {
            let table = body_table(world, id, body, tables.moving.len(), q, v);
            let (coordinates, velocities) = table.freedom.counts();
            if velocities > 0 {
                tables.moving.push(tables.bodies.len());
                tables.velocities.push(velocities);
                tables.starts.push(v);
            }
            q += coordinates;
            v += velocities;
            tables.places.resize(id.0 as usize + 1, None);
            tables.places[id.0 as usize] = Some(tables.bodies.len());
            tables.bodies.push(table);
        }
        tables.starts.push(v);
        tables.add_shapes(world);
        tables.add_pairs(world);
        tables.joints = world.joints.iter().filter_map(|(&id, j)| tables.joint(world, id, j)).collect();
        tables
    }

    fn add_shapes(&mut self, world: &World) {
        self.size = f64::INFINITY;
        for (&id, (owner, attached)) in &world.shapes {
            let Some(body) = self.place(*owner) else { continue };
            let table = &mut self.bodies[body];
            let own = size(&attached.shape);
            table.radius =
                table.radius.max((attached.pose.translation.vector - table.centre.coords).norm() + own);
            // a point has no size to measure by
            if table.freedom != Freedom::None && !attached.sensor && own > 0.0 {
                self.size = self.size.min(own);
            }
            let Attached { shape, pose, surface_velocity, .. } = attached;
            let (shape, pose, surface_velocity) = (shape.clone(), *pose, *surface_velocity);
            self.shapes.push(ShapeTable { id, body, shape, pose, surface_velocity });
        }
        if !self.size.is_finite() {
            self.size = 1.0;
        }
    }

    fn add_pairs(&mut self, world: &World) {
        let apart = apart(world);
        let set = FrictionSet::regular(world.facets.directions).unwrap_or_else(FrictionSet::line);
        for (i, a) in self.shapes.iter().enumerate() {
            for (j, b) in self.shapes.iter().enumerate().skip(i + 1) {
                let (body_a, body_b) = (&self.bodies[a.body], &self.bodies[b.body]);
                let still = body_a.freedom == Freedom::None && body_b.freedom == Freedom::None;
                let ids = (body_a.id.min(body_b.id), body_a.id.max(body_b.id));
                let (Some(of_a), Some(of_b)) = (world.shape(a.id), world.shape(b.id)) else { continue };
                if a.body == b.body || still || apart.contains(&ids) || !of_a.groups.meet(of_b.groups) {
                    continue;
                }
                let id = pair(a.id, b.id);
                let material = world.materials.get(&id).copied();
                let grain = |body: usize, of: &Attached| {
                    let Grain { direction, ratio } = of.grain?;
                    Some(GrainTable { body, direction, set: stretched(&set, ratio) })
                };
                let table = PairTable {
                    id,
                    a: i,
                    b: j,
                    material: material.unwrap_or_else(|| of_a.material.combined(&of_b.material)),
                    set: set.clone(),
                    aligned: world.facets.aligned,
                    grain: grain(a.body, of_a).or_else(|| grain(b.body, of_b)),
                };
                let list = if of_a.sensor || of_b.sensor { &mut self.sensors } else { &mut self.pairs };
                list.push(table);
            }
        }
    }

    fn joint(&self, world: &World, id: JointId, joint: &super::Joint) -> Option<JointTable> {
        let (a, b) = (self.place(joint.a)?, self.place(joint.b)?);
        // the levers and radii of gyration of what moves
        let lengths = [(a, &joint.frame_a), (b, &joint.frame_b)].map(|(i, frame)| {
            let body = &self.bodies[i];
            let moves = world.bodies.get(&body.id).is_some_and(Body::moves);
            let lever = (frame.translation.vector - body.centre.coords).norm();
            let gyration = (body.inertia.diagonal().max() / body.mass).sqrt();
            if moves { lever.max(gyration) } else { 0.0 }
        });
        let length = lengths[0].max(lengths[1]);
        let length = if length.is_finite() && length > 0.0 { length } else { 1.0 };
        Some(JointTable { id, a, b, length })
    }

    /// Where a body stands in the table.
    pub(super) fn place(&self, id: BodyId) -> Option<usize> {
        self.places.get(id.0 as usize).copied().flatten()
    }

    /// A body at an instant.
    pub(super) fn placed(&self, body: usize, t: f64, q: &[f64]) -> Placed {
        let table = &self.bodies[body];
        let freedom = table.freedom;
        let own = &q[table.q.min(q.len())..];
        let at = |centre: Point3<f64>, rotation: UnitQuaternion<f64>| {
            let origin = centre - rotation * table.centre.coords;
            let pose = Isometry3::from_parts(Translation3::from(origin), rotation);
            Placed { pose, centre, freedom, prescribed: Twist::default() }
        };
        match &table.course {
            Course::Fixed(pose) => {
                let centre = pose.translation.vector.into();
                Placed { pose: *pose, centre, freedom, prescribed: Twist::default() }
            }
            Course::Path(path) => {
                let (pose, prescribed) = (path.0)(t);
                Placed { pose, centre: pose.translation.vector.into(), freedom, prescribed }
            }
            Course::Rigid => {
                let rotation = Quaternion::new(own[3], own[4], own[5], own[6]);
                at(Point3::new(own[0], own[1], own[2]), UnitQuaternion::new_unchecked(rotation))
            }
            Course::Point(rotation) => at(Point3::new(own[0], own[1], own[2]), *rotation),
            Course::Slider { axis, foot, rotation } => at(foot + own[0] * axis, *rotation),
        }
    }

    /// Velocity of a body's centre.
    pub(super) fn twist(&self, body: usize, t: f64, q: &[f64], v: &[f64]) -> Twist {
        let table = &self.bodies[body];
        let own = &v[table.v.min(v.len())..];
        match &table.course {
            Course::Fixed(_) => Twist::default(),
            Course::Path(path) => (path.0)(t).1,
            Course::Rigid => {
                let rotation = self.placed(body, t, q).pose.rotation;
                let angular = rotation * Vector3::new(own[3], own[4], own[5]);
                Twist { linear: Vector3::new(own[0], own[1], own[2]), angular }
            }
            Course::Point(_) => {
                Twist { linear: Vector3::new(own[0], own[1], own[2]), angular: Vector3::zeros() }
            }
            Course::Slider { axis, .. } => Twist { linear: own[0] * axis, angular: Vector3::zeros() },
        }
    }

    /// `q ← q ⊕ h v`.
    pub(super) fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        for table in self.moving.iter().map(|&i| &self.bodies[i]) {
            let (q, v) = (&mut q[table.q..], &v[table.v..]);
            let straight = if matches!(table.freedom, Freedom::Slider(..)) { 1 } else { 3 };
            q.iter_mut().zip(v).take(straight).for_each(|(q, v)| *q += h * v);
            if let Freedom::Rigid(_) = table.freedom {
                let rotation = UnitQuaternion::new_unchecked(Quaternion::new(q[3], q[4], q[5], q[6]));
                let next = turned(&rotation, &(h * Vector3::new(v[3], v[4], v[5])));
                (q[3], q[4], q[5], q[6]) = (next.w, next.i, next.j, next.k);
            }
        }
    }

    /// The state the bodies of the world are in.
    pub(super) fn state(&self, world: &World) -> State {
        let mut state = State { t: world.t, q: Vec::new(), v: Vec::new(), memory: Memory::default() };
        for table in self.moving.iter().map(|&i| &self.bodies[i]) {
            let Some(body) = world.bodies.get(&table.id) else { continue };
            if let Some(loaded) = current(world, table.id, body, &table.centre) {
                state.q.extend(&loaded.q);
                state.v.extend(&loaded.v);
                continue;
            }
            let centre = body.pose * table.centre;
            let (linear, rotation) = (body.velocity.linear, body.pose.rotation);
            match table.course {
                Course::Rigid => {
                    state.q.extend(centre.iter());
                    state.q.extend([rotation.w, rotation.i, rotation.j, rotation.k]);
                    state.v.extend(linear.iter());
                    state.v.extend(rotation.inverse_transform_vector(&body.velocity.angular).iter());
                }
                Course::Point(_) => {
                    state.q.extend(centre.iter());
                    state.v.extend(linear.iter());
                }
                Course::Slider { axis, .. } => {
                    state.q.push(axis.dot(&centre.coords));
                    state.v.push(axis.dot(&linear));
                }
                Course::Fixed(_) | Course::Path(_) => {}
            }
        }
        state
    }

    /// Writes a state into the bodies of the world.
    pub(super) fn load(&self, world: &mut World, state: &State) {
        world.t = state.t;
        for &i in &self.moving {
            let table = &self.bodies[i];
            let pose = self.placed(i, state.t, &state.q).pose;
            let velocity = self.twist(i, state.t, &state.q, &state.v);
            let (axis, foot) = match table.course {
                Course::Slider { axis, foot, .. } => (axis, foot),
                _ => (Vector3::zeros(), Point3::origin()),
            };
            let (coordinates, velocities) = table.freedom.counts();
            let q = state.q[table.q..table.q + coordinates].iter().copied().collect();
            let v = state.v[table.v..table.v + velocities].iter().copied().collect();
            if let Some(body) = world.bodies.get_mut(&table.id) {
                (body.pose, body.velocity) = (pose, velocity);
                let loaded = Loaded { pose, velocity, centre: table.centre, axis, foot, q, v };
                world.loaded.insert(table.id, loaded);
            }
        }
    }
}

/// What was loaded into a body, if it has not been changed since.
fn current<'a>(world: &'a World, id: BodyId, body: &Body, centre: &Point3<f64>) -> Option<&'a Loaded> {
    let (axis, velocities) = match body.motion {
        Motion::Rigid => (Vector3::zeros(), 6),
        Motion::Point => (Vector3::zeros(), 3),
        Motion::Slider(axis) => (axis.normalize(), 1),
        Motion::Fixed | Motion::Kinematic(_) => return None,
    };
    world.loaded.get(&id).filter(|loaded| {
        (loaded.pose, loaded.velocity) == (body.pose, body.velocity)
            && (loaded.centre, loaded.axis, loaded.v.len()) == (*centre, axis, velocities)
    })
}

fn body_table(world: &World, id: BodyId, body: &Body, number: usize, q: usize, v: usize) -> BodyTable {
    let weightless = MassProperties { mass: 1.0, centre: Point3::origin(), inertia: Matrix3::identity() };
    let MassProperties { mass, centre, inertia } =
        if body.moves() { properties(world, id, body).unwrap_or(weightless) } else { weightless };
    let (course, freedom) = match &body.motion {
        Motion::Rigid => (Course::Rigid, Freedom::Rigid(number)),
        Motion::Point => (Course::Point(body.pose.rotation), Freedom::Point(number)),
        Motion::Slider(axis) => {
            let axis = axis.normalize();
            let at = body.pose * centre;
            let foot = match current(world, id, body, &centre) {
                Some(loaded) => loaded.foot,
                None => at - axis.dot(&at.coords) * axis,
            };
            (Course::Slider { axis, foot, rotation: body.pose.rotation }, Freedom::Slider(number, axis))
        }
        Motion::Fixed => (Course::Fixed(body.pose), Freedom::None),
        Motion::Kinematic(path) => (Course::Path(path.clone()), Freedom::None),
    };
    BodyTable { id, course, freedom, q, v, mass, centre, inertia, radius: 0.0 }
}

/// A polygon with its first direction stretched.
fn stretched(set: &FrictionSet, ratio: f64) -> FrictionSet {
    match set {
        FrictionSet::Polygon(generators) => {
            FrictionSet::Polygon(generators.iter().map(|[x, y]| [ratio * x, *y]).collect())
        }
        FrictionSet::Ellipse([x, y]) => FrictionSet::Ellipse([ratio * x, *y]),
    }
}
