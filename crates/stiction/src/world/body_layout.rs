//! Layout of a body: its places in q and v, and how its pose and velocity follow from them.

use super::body::{Motion, Path, Twist};
use super::dimension::{Dimension, EuclideanPoint, EuclideanVector, MassProperties, RigidPose};
use super::formulas::Formulas;
use super::placement::{Freedom, Placement};
use super::{BodyEntry, World};
use crate::id::BodyId;
use crate::state::State;
use crate::system::MotionBound;
use arrayvec::ArrayVec;
use nalgebra::Matrix6;

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

    /// End of a timed step from `v`: moves `q` by the mean velocity and `shift`, and turns `end` into the axes at the end.
    pub(crate) fn end_step(&self, q: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        let own = self.velocities();
        let (q, v, end, shift) =
            (&mut q[self.coordinates()], &v[own.clone()], &mut end[own.clone()], &shift[own]);
        let mean = v.iter().zip(&*end).zip(shift).map(|((v, end), shift)| 0.5 * (v + end) + shift);
        q.iter_mut().zip(mean).take(D::COUNT).for_each(|(q, mean)| *q += h * mean);
        if self.freedom.is_rigid() {
            let n = D::COUNT;
            D::end_step_angular(&mut q[n..], &v[n..], &mut end[n..], &shift[n..], h);
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
