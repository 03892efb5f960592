//! A body laid out: where it stands in q and v, and how its pose follows from them.

use super::body::{Motion, Path, Twist};
use super::placed::{Freedom, Placed, turned};
use super::world::{BodyId, Slot};
use crate::state::State;
use crate::system::MotionBound;
use arrayvec::ArrayVec;
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use stiction_geometry::spatial::MassProperties;

/// A body laid out.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) id: BodyId,
    course: Course,
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
enum Course {
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

/// What was loaded into a body, kept so that the same bits come out again.
#[derive(Debug, Clone)]
pub(super) struct Loaded {
    pose: Isometry3<f64>,
    velocity: Twist,
    centre: Point3<f64>,
    axis: Vector3<f64>,
    foot: Point3<f64>,
    q: ArrayVec<f64, 7>,
    v: ArrayVec<f64, 6>,
}

impl Loaded {
    /// `true` when the body has not been changed since.
    fn holds(&self, slot: &Slot, centre: &Point3<f64>) -> bool {
        let (axis, velocities) = match slot.body.motion {
            Motion::Rigid => (Vector3::zeros(), 6),
            Motion::Point => (Vector3::zeros(), 3),
            Motion::Slider(axis) => (axis.normalize(), 1),
            Motion::Fixed | Motion::Kinematic(_) => return false,
        };
        (self.pose, self.velocity) == (slot.body.pose, slot.body.velocity)
            && (self.centre, self.axis, self.v.len()) == (*centre, axis, velocities)
    }
}

impl Part {
    /// Lays a body out. `number` is that of the next moving body; `q` and `v` are the next places.
    pub(super) fn new(id: BodyId, slot: &Slot, number: usize, q: usize, v: usize) -> Self {
        let body = &slot.body;
        let standing = MassProperties { mass: 1.0, centre: Point3::origin(), inertia: Matrix3::identity() };
        // a mass that is not right was found by the check
        let moving = body.moves().then(|| body.mass_properties().ok()).flatten();
        let MassProperties { mass, centre, inertia } = moving.unwrap_or(standing);
        let (course, freedom) = match &body.motion {
            Motion::Rigid => (Course::Rigid, Freedom::Rigid(number)),
            Motion::Point => (Course::Point(body.pose.rotation), Freedom::Point(number)),
            Motion::Slider(axis) => {
                let axis = axis.normalize();
                let at = body.pose * centre;
                let foot = match &slot.loaded {
                    Some(loaded) if loaded.holds(slot, &centre) => loaded.foot,
                    _ => at - axis.dot(&at.coords) * axis,
                };
                (Course::Slider { axis, foot, rotation: body.pose.rotation }, Freedom::Slider(number, axis))
            }
            Motion::Fixed => (Course::Fixed(body.pose), Freedom::None),
            Motion::Kinematic(path) => (Course::Path(path.clone()), Freedom::None),
        };
        Self { id, course, freedom, q, v, mass, centre, inertia, radius: 0.0 }
    }

    /// `true` when it has velocities.
    pub(super) fn moves(&self) -> bool {
        self.freedom != Freedom::None
    }

    /// Whether its motion is prescribed, so that no one knows its accelerations.
    pub(super) fn is_led(&self) -> bool {
        matches!(self.course, Course::Path(_))
    }

    /// The body at an instant.
    pub(super) fn placed(&self, t: f64, q: &[f64]) -> Placed {
        let own = &q[self.q.min(q.len())..];
        let standing = |pose: Isometry3<f64>, prescribed: Twist| {
            let (centre, turn) = (pose.translation.vector.into(), matrix(&pose.rotation));
            Placed { pose, turn, centre, freedom: self.freedom, prescribed }
        };
        let moving = |centre: Point3<f64>, rotation: UnitQuaternion<f64>| {
            let turn = matrix(&rotation);
            let origin = centre - turn * self.centre.coords;
            let pose = Isometry3::from_parts(Translation3::from(origin), rotation);
            Placed { pose, turn, centre, freedom: self.freedom, prescribed: Twist::default() }
        };
        match &self.course {
            Course::Fixed(pose) => standing(*pose, Twist::default()),
            Course::Path(path) => {
                let (pose, velocity) = path.0(t);
                standing(pose, velocity)
            }
            Course::Rigid => moving(Point3::new(own[0], own[1], own[2]), rotation(own)),
            Course::Point(rotation) => moving(Point3::new(own[0], own[1], own[2]), *rotation),
            Course::Slider { axis, foot, rotation } => moving(foot + own[0] * axis, *rotation),
        }
    }

    /// Velocity of the body's centre.
    pub(super) fn twist(&self, t: f64, q: &[f64], v: &[f64]) -> Twist {
        let own = &v[self.v.min(v.len())..];
        let linear = || Vector3::new(own[0], own[1], own[2]);
        match &self.course {
            Course::Fixed(_) => Twist::default(),
            Course::Path(path) => path.0(t).1,
            Course::Rigid => {
                Twist::new(linear(), rotation(&q[self.q..]) * Vector3::new(own[3], own[4], own[5]))
            }
            Course::Point(_) => Twist::new(linear(), Vector3::zeros()),
            Course::Slider { axis, .. } => Twist::new(own[0] * axis, Vector3::zeros()),
        }
    }

    /// The largest speed of a point of its shapes at this velocity of its centre [m/s].
    pub(super) fn surface_speed(&self, twist: &Twist) -> f64 {
        let turning = twist.angular.norm();
        // the radius of a half-space is infinite
        twist.linear.norm() + if turning > 0.0 { turning * self.radius } else { 0.0 }
    }

    /// How far a point of its shapes goes within a step, at most [m].
    pub(super) fn travel(&self, q: &[f64], sweep: &MotionBound) -> f64 {
        let MotionBound { t, h, v } = sweep;
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
    pub(super) fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        let (coordinates, velocities) = self.freedom.counts();
        let (q, v) = (&mut q[self.q..self.q + coordinates], &v[self.v..self.v + velocities]);
        q.iter_mut().zip(v).take(3).for_each(|(q, v)| *q += h * v);
        if let Freedom::Rigid(_) = self.freedom {
            let next = turned(&rotation(q), &(h * Vector3::new(v[3], v[4], v[5])));
            (q[3], q[4], q[5], q[6]) = (next.w, next.i, next.j, next.k);
        }
    }

    /// dq/dt: of the quaternion half its product with ω, which is along the axes of the body.
    pub(super) fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        let (coordinates, velocities) = self.freedom.counts();
        let (q, v) = (&q[self.q..self.q + coordinates], &v[self.v..self.v + velocities]);
        out.extend(&v[..velocities.min(3)]);
        if let Freedom::Rigid(_) = self.freedom {
            let turn = Quaternion::new(q[3], q[4], q[5], q[6]) * Quaternion::new(0.0, v[3], v[4], v[5]);
            out.extend([turn.w, turn.i, turn.j, turn.k].map(|x| 0.5 * x));
        }
    }

    /// The quaternion to unit length.
    pub(super) fn normalize(&self, q: &mut [f64]) {
        if let Freedom::Rigid(_) = self.freedom {
            let turn = &mut q[self.q + 3..self.q + 7];
            let over = 1.0 / turn.iter().map(|x| x * x).sum::<f64>().sqrt();
            turn.iter_mut().for_each(|x| *x *= over);
        }
    }

    /// (I − i) ω with the mean moment i, of a body with these velocities: the same force as that of Iω, exactly none for
    /// a sphere whose spin an impulse turns within the step, and near the true Jacobian [Iω]× − [ω]×I.
    pub(super) fn spin(&self, v: &[f64]) -> Option<Vector3<f64>> {
        let Freedom::Rigid(_) = self.freedom else { return None };
        let mean = self.inertia.trace() / 3.0;
        let omega = Vector3::new(v[3], v[4], v[5]);
        Some(self.inertia * omega - mean * omega)
    }

    /// Appends the state that the pose and velocity of the body describe.
    pub(super) fn append(&self, slot: &Slot, state: &mut State) {
        if let Some(loaded) = slot.loaded.as_ref().filter(|loaded| loaded.holds(slot, &self.centre)) {
            state.q.extend(&loaded.q);
            state.v.extend(&loaded.v);
            return;
        }
        let (pose, velocity) = (&slot.body.pose, &slot.body.velocity);
        let centre = pose * self.centre;
        match self.course {
            Course::Fixed(_) | Course::Path(_) => {}
            Course::Rigid => {
                let r = pose.rotation;
                state.q.extend(centre.iter());
                state.q.extend([r.w, r.i, r.j, r.k]);
                state.v.extend(velocity.linear.iter());
                state.v.extend(r.inverse_transform_vector(&velocity.angular).iter());
            }
            Course::Point(_) => {
                state.q.extend(centre.iter());
                state.v.extend(velocity.linear.iter());
            }
            Course::Slider { axis, .. } => {
                state.q.push(axis.dot(&centre.coords));
                state.v.push(axis.dot(&velocity.linear));
            }
        }
    }

    /// Writes a state into the pose and velocity of the body.
    pub(super) fn load(&self, slot: &mut Slot, state: &State) {
        if !self.moves() {
            return;
        }
        let (coordinates, velocities) = self.freedom.counts();
        let (axis, foot) = match self.course {
            Course::Slider { axis, foot, .. } => (axis, foot),
            _ => (Vector3::zeros(), Point3::origin()),
        };
        slot.body.pose = self.placed(state.t, &state.q).pose;
        slot.body.velocity = self.twist(state.t, &state.q, &state.v);
        slot.loaded = Some(Loaded {
            pose: slot.body.pose,
            velocity: slot.body.velocity,
            centre: self.centre,
            axis,
            foot,
            q: state.q[self.q..self.q + coordinates].iter().copied().collect(),
            v: state.v[self.v..self.v + velocities].iter().copied().collect(),
        });
    }
}

/// A rotation as a matrix.
pub(super) fn matrix(rotation: &UnitQuaternion<f64>) -> Matrix3<f64> {
    rotation.to_rotation_matrix().into_inner()
}

/// The rotation in the coordinates of a rigid body.
fn rotation(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_unchecked(Quaternion::new(q[3], q[4], q[5], q[6]))
}
