//! Applied forces.

use super::placed::{Placed, row};
use super::world::BodyId;
use crate::system::{Forces, Spring};
use nalgebra::{Point3, Vector3};
use std::fmt;
use std::sync::Arc;
use stiction_lcp::Row;

/// A force on one body or between two.
#[derive(Debug, Clone)]
pub enum Force {
    /// A force and a torque that stay as they are in the world.
    Constant {
        /// The body.
        body: BodyId,
        /// Where the force acts, in the body frame [m]; `None` is the centre of mass.
        point: Option<Point3<f64>>,
        /// The force [N] and torque [N m], in the world.
        wrench: Wrench,
    },
    /// A force and a torque that depend on time.
    Timed {
        /// The body.
        body: BodyId,
        /// Where the force acts, in the body frame [m]; `None` is the centre of mass.
        point: Option<Point3<f64>>,
        /// The force and torque as a function of time.
        load: Load,
    },
    /// A spring and damper between two points. With a rest length it acts along the line between them, and
    /// where they coincide not at all; without one it pulls and damps in every direction.
    Spring {
        /// The first body.
        a: BodyId,
        /// The point of the first body, in its frame [m].
        point_a: Point3<f64>,
        /// The second body.
        b: BodyId,
        /// The point of the second body, in its frame [m].
        point_b: Point3<f64>,
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N s/m].
        damping: f64,
        /// Length without force [m].
        rest_length: f64,
    },
    /// A spring and damper along one world axis.
    Rail {
        /// The body.
        body: BodyId,
        /// The point of the body, in its frame [m].
        point: Point3<f64>,
        /// The world axis; its length does not matter.
        axis: Vector3<f64>,
        /// Coordinate along the axis at which there is no force [m].
        origin: f64,
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N s/m].
        damping: f64,
    },
    /// Any function: time, q, v → adds to the generalized force.
    Custom(Closure),
}

/// A force and a torque, in the world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wrench {
    /// Force [N].
    pub force: Vector3<f64>,
    /// Torque [N m].
    pub torque: Vector3<f64>,
}

impl Wrench {
    /// A force [N] alone.
    pub fn force(force: Vector3<f64>) -> Self {
        Self { force, torque: Vector3::zeros() }
    }

    /// A torque [N m] alone.
    pub fn torque(torque: Vector3<f64>) -> Self {
        Self { force: Vector3::zeros(), torque }
    }
}

/// A force as a function of time [s].
#[derive(Clone)]
pub struct Load(pub Arc<LoadFunction>);

/// The function in a [`Load`].
type LoadFunction = dyn Fn(f64) -> Wrench + Send + Sync;

impl Load {
    /// A load from a function.
    pub fn new(load: impl Fn(f64) -> Wrench + Send + Sync + 'static) -> Self {
        Self(Arc::new(load))
    }
}

/// A generalized force as a function of t, q and v, added to the last argument. The places of the bodies in q
/// and v are those of [`Model::places`](super::Model::places) and change when bodies come and go.
#[derive(Clone)]
pub struct Closure(pub Arc<ClosureFunction>);

/// The function in a [`Closure`].
type ClosureFunction = dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync;

impl Closure {
    /// A generalized force from a function.
    pub fn new(f: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(f))
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Load(..)")
    }
}

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Closure(..)")
    }
}

/// One spring along one row.
struct Line {
    row: Row,
    drift: f64,
    elongation: f64,
    stiffness: f64,
    damping: f64,
}

impl Force {
    /// The bodies it acts on.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> {
        let (first, second) = match self {
            Self::Constant { body, .. } | Self::Timed { body, .. } | Self::Rail { body, .. } => {
                (Some(*body), None)
            }
            Self::Spring { a, b, .. } => (Some(*a), Some(*b)),
            Self::Custom(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Adds the force at (t, q, v). `starts` are the places in v of the moving bodies.
    pub(super) fn add(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        starts: &[usize],
        placed: impl Fn(BodyId) -> Option<Placed>,
        out: &mut Forces,
    ) {
        let mut push = |body: BodyId, point: Option<Point3<f64>>, wrench: Wrench| {
            let Some(body) = placed(body) else { return };
            let at = point.map_or(body.centre, |p| body.pose * p);
            let mut work = body.along(&wrench.force, &at);
            work.angular += wrench.torque;
            if let Some(term) = body.term(&work) {
                let (from, to) = (starts[term.body], starts[term.body + 1]);
                out.k[from..to].iter_mut().zip(term.j).for_each(|(k, j)| *k += j);
            }
        };
        match self {
            Self::Constant { body, point, wrench } => push(*body, *point, *wrench),
            Self::Timed { body, point, load } => push(*body, *point, (load.0)(t)),
            Self::Custom(closure) => (closure.0)(t, q, v, &mut out.k),
            Self::Spring { .. } | Self::Rail { .. } => self.lines(placed, |line| {
                if matches!(&line.row, Row::Bodies(terms) if terms.is_empty()) {
                    return;
                }
                let speed = line.row.dot(starts, v) + line.drift;
                let force = -line.stiffness * line.elongation - line.damping * speed;
                line.row.add_transposed(starts, force, &mut out.k);
                let Line { row, stiffness, damping, .. } = line;
                out.springs.push(Spring { row, stiffness, damping });
            }),
        }
    }

    /// Energy in the spring [J].
    pub(super) fn potential(&self, placed: impl Fn(BodyId) -> Option<Placed>) -> f64 {
        let mut energy = 0.0;
        self.lines(placed, |line| energy += 0.5 * line.stiffness * line.elongation * line.elongation);
        energy
    }

    /// The rows of a spring.
    fn lines(&self, placed: impl Fn(BodyId) -> Option<Placed>, mut visit: impl FnMut(Line)) {
        match *self {
            Self::Spring { a, point_a, b, point_b, stiffness, damping, rest_length } => {
                let (Some(a), Some(b)) = (placed(a), placed(b)) else { return };
                let (at_a, at_b) = (a.pose * point_a, b.pose * point_b);
                let d = at_b - at_a;
                let mut along = |axis: Vector3<f64>, elongation: f64| {
                    let (row, drift) = row(&a, &-a.along(&axis, &at_a), &b, &b.along(&axis, &at_b));
                    visit(Line { row, drift, elongation, stiffness, damping });
                };
                if rest_length == 0.0 {
                    // linear in d: three springs along the axes, exact at any length
                    along(Vector3::x(), d.x);
                    along(Vector3::y(), d.y);
                    along(Vector3::z(), d.z);
                } else if d.norm() > 0.0 {
                    along(d.normalize(), d.norm() - rest_length);
                }
            }
            Self::Rail { body, point, axis, origin, stiffness, damping } => {
                let Some(body) = placed(body) else { return };
                let (axis, at) = (axis.normalize(), body.pose * point);
                let gradient = body.along(&axis, &at);
                let row = Row::Bodies(body.term(&gradient).into_iter().collect());
                let drift = body.drift(&gradient);
                visit(Line { row, drift, elongation: axis.dot(&at.coords) - origin, stiffness, damping });
            }
            _ => {}
        }
    }
}
