//! Applied forces.

use super::placed::{Placed, row};
use super::world::BodyId;
use crate::jacobian::ForceJacobian;
use crate::system::{Forces, Spring};
use nalgebra::{Point3, Vector3};
use std::fmt;
use std::sync::Arc;
use stiction_lcp::Row;

/// A force on one body or between two.
#[derive(Clone)]
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
        load: Arc<Load>,
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
    /// Any function of time and state, taken explicitly. Coordinates and velocities are in the order of
    /// [`Model::coordinates`](super::Model::coordinates) and [`Model::velocities`](super::Model::velocities).
    Custom {
        /// The function.
        law: Arc<Law>,
        /// Its derivatives; by central differences if not given.
        jacobian: Option<Arc<LawJacobian>>,
    },
}

/// A force and a torque, in the world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wrench {
    /// Force [N].
    pub force: Vector3<f64>,
    /// Torque [N m].
    pub torque: Vector3<f64>,
}

/// A force of time, t [s] to a wrench.
pub type Load = dyn Fn(f64) -> Wrench + Send + Sync;

/// A force of the state: t [s], q and v to what it adds to the generalized force k [N; N m].
pub type Law = dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync;

/// The derivatives of a force of the state: t [s], q and v to what it adds to k_q and k_v. Their blocks are
/// numbered as the bodies that move, in the order of their velocities.
pub type LawJacobian = dyn Fn(f64, &[f64], &[f64], &mut ForceJacobian) + Send + Sync;

impl fmt::Debug for Force {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let bodies: Vec<_> = self.bodies().map(|b| b.0).collect();
        write!(f, "Force({}, bodies {bodies:?})", self.kind())
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
    /// A constant force [N] at the centre of mass.
    pub fn constant(body: BodyId, force: Vector3<f64>) -> Self {
        Self::Constant { body, point: None, wrench: Wrench { force, torque: Vector3::zeros() } }
    }

    /// A force at the centre of mass that depends on time.
    pub fn timed(body: BodyId, load: impl Fn(f64) -> Wrench + Send + Sync + 'static) -> Self {
        Self::Timed { body, point: None, load: Arc::new(load) }
    }

    /// Any function of time and state.
    pub fn custom(law: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self::Custom { law: Arc::new(law), jacobian: None }
    }

    /// Any function of time and state, with its derivatives.
    pub fn custom_with(
        law: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
        jacobian: impl Fn(f64, &[f64], &[f64], &mut ForceJacobian) + Send + Sync + 'static,
    ) -> Self {
        Self::Custom { law: Arc::new(law), jacobian: Some(Arc::new(jacobian)) }
    }

    /// Name of the kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "constant",
            Self::Timed { .. } => "timed",
            Self::Spring { .. } => "spring",
            Self::Rail { .. } => "rail",
            Self::Custom { .. } => "custom",
        }
    }

    /// The bodies it acts on.
    pub(super) fn bodies(&self) -> impl Iterator<Item = BodyId> {
        let (first, second) = match self {
            Self::Constant { body, .. } | Self::Timed { body, .. } | Self::Rail { body, .. } => {
                (Some(*body), None)
            }
            Self::Spring { a, b, .. } => (Some(*a), Some(*b)),
            Self::Custom { .. } => (None, None),
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
            Self::Timed { body, point, load } => push(*body, *point, load(t)),
            Self::Custom { law, .. } => law(t, q, v, &mut out.k),
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
