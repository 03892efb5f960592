//! A body as a model sees it: where its numbers stand in q and v, and where those put it.

use super::body::{Motion, Path, Twist};
use super::world::{BodyId, Slot, World};
use crate::state::State;
use crate::system::MotionBound;
use nalgebra::{Isometry2, Matrix6, Point2, UnitComplex, Vector2};
use stiction_geometry::planar::{MassProperties, Shape, size};

/// A body as a model sees it.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) id: BodyId,
    pub(super) kind: Kind,
    /// Index among the bodies that move, for those that do.
    pub(super) moving: Option<usize>,
    /// Index of its first coordinate.
    pub(super) q: usize,
    /// Index of its first velocity.
    pub(super) v: usize,
    /// Mass [kg].
    pub(super) mass: f64,
    /// Moment of inertia about the centre of mass [kg m²].
    pub(super) inertia: f64,
    /// Centre of mass in the body frame, its origin for bodies that have none [m].
    pub(super) centre: Point2<f64>,
    /// Farthest point of its bounded shapes from the centre [m]; infinite with a half-plane.
    pub(super) radius: f64,
}

/// What a model needs to know of each motion.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Rigid,
    Point(UnitComplex<f64>),
    /// The centre is at origin + q · axis.
    Slider {
        axis: Vector2<f64>,
        origin: Point2<f64>,
        rotation: UnitComplex<f64>,
    },
    Fixed(Isometry2<f64>),
    Kinematic(Path),
}

/// The state a body's pose and velocity were written from, which they do not hold to the last bit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Loaded {
    q: [f64; 3],
    v: [f64; 3],
    origin: Point2<f64>,
    pose: Isometry2<f64>,
    velocity: Twist,
    centre: Point2<f64>,
}

/// Where a body is, and how it is prescribed to move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Centre of mass [m].
    pub(super) centre: Point2<f64>,
    pub(super) rotation: UnitComplex<f64>,
    /// Angle of the rotation [rad], continuous for bodies that turn.
    pub(super) angle: f64,
    /// Prescribed velocity of the centre.
    pub(super) drift: Twist,
}

impl Place {
    /// The place of something given from the centre of mass along the axes of the body frame.
    pub(super) fn point(&self, from_centre: &Vector2<f64>) -> Point2<f64> {
        self.centre + self.rotation * from_centre
    }

    pub(super) fn pose(&self, from_centre: &Isometry2<f64>) -> Isometry2<f64> {
        let at = self.point(&from_centre.translation.vector);
        Isometry2::from_parts(at.into(), self.rotation * from_centre.rotation)
    }

    /// Prescribed velocity of the material point at `point`.
    pub(super) fn drift_at(&self, point: &Point2<f64>) -> Vector2<f64> {
        let r = point - self.centre;
        self.drift.linear + self.drift.angular * Vector2::new(-r.y, r.x)
    }
}

/// All bodies of a world, in the order of their numbers.
pub(super) fn parts(world: &World) -> Vec<Part> {
    let (mut moving, mut q, mut v) = (0, 0, 0);
    let mut parts = Vec::with_capacity(world.bodies.len());
    for (&id, slot) in &world.bodies {
        let mut part = Part::new(id, slot);
        (part.q, part.v) = (q, v);
        let n = part.velocities();
        if n > 0 {
            part.moving = Some(moving);
            moving += 1;
        }
        q += n;
        v += n;
        parts.push(part);
    }
    parts
}

/// Number of coordinates and of velocities.
pub(super) fn sizes(parts: &[Part]) -> (usize, usize) {
    let n = parts.iter().map(Part::velocities).sum();
    (n, n)
}

impl Part {
    fn new(id: BodyId, slot: &Slot) -> Self {
        let body = &slot.body;
        // what cannot be weighed is reported by the check
        let none = MassProperties { mass: f64::NAN, centre: Point2::origin(), inertia: f64::NAN };
        let weight = if body.moves() { body.mass_properties().unwrap_or(none) } else { none };
        let centre = body.pose * weight.centre;
        let rotation = body.pose.rotation;
        let kind = match &body.motion {
            Motion::Rigid => Kind::Rigid,
            Motion::Point => Kind::Point(rotation),
            Motion::Slider(axis) => {
                let start = Point2::from(centre - axis.dot(&centre.coords) * axis);
                let origin = slot.loaded(weight.centre).map_or(start, |l| l.origin);
                Kind::Slider { axis: *axis, origin, rotation }
            }
            Motion::Fixed => Kind::Fixed(body.pose),
            Motion::Kinematic(path) => Kind::Kinematic(path.clone()),
        };
        let reach = |(shape, pose): (&Shape, &Isometry2<f64>)| extent(shape, pose, &weight.centre);
        let radius = body.shapes.iter().map(|s| reach((&s.shape, &s.pose))).fold(0.0, f64::max);
        let MassProperties { mass, centre, inertia } = weight;
        Self { id, kind, moving: None, q: 0, v: 0, mass, inertia, centre, radius }
    }

    /// Number of velocities, which is that of coordinates.
    pub(super) fn velocities(&self) -> usize {
        match self.kind {
            Kind::Rigid => 3,
            Kind::Point(_) => 2,
            Kind::Slider { .. } => 1,
            Kind::Fixed(_) | Kind::Kinematic(_) => 0,
        }
    }

    pub(super) fn turns(&self) -> bool {
        matches!(self.kind, Kind::Rigid)
    }

    /// Block of the mass matrix.
    pub(super) fn block(&self) -> Matrix6<f64> {
        let mut block = Matrix6::zeros();
        for i in 0..self.velocities() {
            block[(i, i)] = if i == 2 { self.inertia } else { self.mass };
        }
        block
    }

    /// Radius of gyration [m]; 0 for bodies that do not turn.
    pub(super) fn gyration(&self) -> f64 {
        if self.turns() { (self.inertia / self.mass).sqrt() } else { 0.0 }
    }

    pub(super) fn place(&self, t: f64, q: &[f64]) -> Place {
        let still = |centre, rotation: UnitComplex<f64>| Place {
            centre,
            rotation,
            angle: rotation.angle(),
            drift: Twist::default(),
        };
        match &self.kind {
            Kind::Rigid => {
                let [x, y, angle] = [q[self.q], q[self.q + 1], q[self.q + 2]];
                Place { angle, ..still(Point2::new(x, y), UnitComplex::new(angle)) }
            }
            Kind::Point(rotation) => still(Point2::new(q[self.q], q[self.q + 1]), *rotation),
            Kind::Slider { axis, origin, rotation } => still(origin + q[self.q] * axis, *rotation),
            Kind::Fixed(pose) => still(pose.translation.vector.into(), pose.rotation),
            Kind::Kinematic(path) => {
                let (pose, drift) = path.0(t);
                Place { drift, ..still(pose.translation.vector.into(), pose.rotation) }
            }
        }
    }

    /// Velocity of the centre of mass.
    pub(super) fn velocity(&self, place: &Place, v: &[f64]) -> Twist {
        match &self.kind {
            Kind::Rigid => Twist::new(Vector2::new(v[self.v], v[self.v + 1]), v[self.v + 2]),
            Kind::Point(_) => Twist::new(Vector2::new(v[self.v], v[self.v + 1]), 0.0),
            Kind::Slider { axis, .. } => Twist::new(v[self.v] * axis, 0.0),
            Kind::Fixed(_) | Kind::Kinematic(_) => place.drift,
        }
    }

    /// The largest speed of a point of its shapes at this velocity of its centre [m/s].
    pub(super) fn surface_speed(&self, twist: &Twist) -> f64 {
        // an unbounded surface that does not turn is as fast as its body
        let turning = if twist.angular == 0.0 { 0.0 } else { twist.angular.abs() * self.radius };
        twist.linear.norm() + turning
    }

    /// How far a point of its shapes goes within a step, at most [m].
    pub(super) fn travel(&self, place: &Place, sweep: &MotionBound) -> f64 {
        let MotionBound { t, h, v } = sweep;
        let fastest = match &self.kind {
            Kind::Fixed(_) => 0.0,
            Kind::Kinematic(path) => {
                let speed = |t: f64| self.surface_speed(&path.0(t).1);
                speed(*t).max(speed(t + h))
            }
            _ => {
                let speed = |v: &Vec<f64>| self.surface_speed(&self.velocity(place, v));
                speed(&v[0]).max(speed(&v[1]))
            }
        };
        h * fastest
    }

    /// Pose of the body frame.
    pub(super) fn frame(&self, place: &Place) -> Isometry2<f64> {
        let at = place.point(&-self.centre.coords);
        Isometry2::from_parts(at.into(), place.rotation)
    }

    /// Appends the body's coordinates and velocities, as its pose and velocity have them.
    pub(super) fn append(&self, slot: &Slot, state: &mut State) {
        let body = &slot.body;
        let n = self.velocities();
        if let Some(loaded) = slot.loaded(self.centre) {
            state.q.extend(&loaded.q[..n]);
            state.v.extend(&loaded.v[..n]);
            return;
        }
        let c = body.pose * self.centre;
        let Twist { linear, angular } = body.velocity;
        if let Kind::Slider { axis, .. } = &self.kind {
            state.q.push(axis.dot(&c.coords));
            state.v.push(axis.dot(&linear));
        } else {
            state.q.extend(&[c.x, c.y, body.pose.rotation.angle()][..n]);
            state.v.extend(&[linear.x, linear.y, angular][..n]);
        }
    }

    /// Writes the body's part of a state into its pose and velocity.
    pub(super) fn load(&self, slot: &mut Slot, state: &State) {
        let place = self.place(state.t, &state.q);
        slot.body.pose = self.frame(&place);
        slot.body.velocity = self.velocity(&place, &state.v);
        let n = self.velocities();
        let three = |x: &[f64], at: usize| std::array::from_fn(|i| if i < n { x[at + i] } else { 0.0 });
        slot.loaded = Some(Loaded {
            q: three(&state.q, self.q),
            v: three(&state.v, self.v),
            origin: if let Kind::Slider { origin, .. } = self.kind { origin } else { Point2::origin() },
            pose: slot.body.pose,
            velocity: slot.body.velocity,
            centre: self.centre,
        });
    }
}

impl Slot {
    /// The state the body was loaded from, unless it has been changed since.
    fn loaded(&self, centre: Point2<f64>) -> Option<&Loaded> {
        let same =
            |l: &&Loaded| l.pose == self.body.pose && l.velocity == self.body.velocity && l.centre == centre;
        self.loaded.as_ref().filter(same)
    }
}

/// Distance from a point to the farthest point of a shape, or a little more [m].
fn extent(shape: &Shape, pose: &Isometry2<f64>, from: &Point2<f64>) -> f64 {
    let to = |p: &Point2<f64>| (pose * p - from).norm();
    match shape {
        Shape::Capsule { half_length: l, radius } => {
            to(&Point2::new(-l, 0.0)).max(to(&Point2::new(*l, 0.0))) + radius
        }
        Shape::Polygon(polygon) => polygon.vertices().iter().map(to).fold(0.0, f64::max),
        Shape::Disk { .. } | Shape::Ellipse { .. } | Shape::HalfPlane => to(&Point2::origin()) + size(shape),
    }
}
