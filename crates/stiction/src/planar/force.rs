//! Forces besides gravity.

use super::world::BodyId;
use crate::jacobian::ForceJacobian;
use nalgebra::{Point2, Vector2};
use std::fmt;
use std::sync::Arc;

/// A force with a torque.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wrench {
    /// Force, in the world [N].
    pub force: Vector2<f64>,
    /// Torque, counter-clockwise [N m].
    pub torque: f64,
}

/// A force of time, t [s] to a wrench.
pub type Load = dyn Fn(f64) -> Wrench + Send + Sync;

/// A force of the state: t [s], q and v to what it adds to the generalized force k [N; N m].
pub type Law = dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync;

/// The derivatives of a force of the state: t [s], q and v to what it adds to k_q and k_v. Their blocks are
/// numbered as the bodies that move, in the order of their velocities.
pub type LawJacobian = dyn Fn(f64, &[f64], &[f64], &mut ForceJacobian) + Send + Sync;

/// A force on one body, or between two.
#[derive(Clone)]
pub enum Force {
    /// A constant force.
    Constant {
        /// The body it acts on.
        body: BodyId,
        /// Where it acts, in the body frame [m]; at the centre of mass if not given.
        point: Option<Point2<f64>>,
        /// Force and torque.
        wrench: Wrench,
    },
    /// A force that depends on time.
    Timed {
        /// The body it acts on.
        body: BodyId,
        /// Where it acts, in the body frame [m]; at the centre of mass if not given.
        point: Option<Point2<f64>>,
        /// Force and torque at a time.
        load: Arc<Load>,
    },
    /// A spring with a damper between points of two bodies. With a rest length of 0 both act on the whole
    /// displacement of the points, otherwise along the line that joins them.
    Spring {
        /// The first body.
        a: BodyId,
        /// A point of it, in its frame [m].
        point_a: Point2<f64>,
        /// The second body.
        b: BodyId,
        /// A point of it, in its frame [m].
        point_b: Point2<f64>,
        /// Stiffness [N/m], ≥ 0.
        stiffness: f64,
        /// Damping [N s/m], ≥ 0.
        damping: f64,
        /// Length without force [m], ≥ 0.
        rest_length: f64,
    },
    /// A spring with a damper between a point of a body and a line of the world across an axis.
    Rail {
        /// The body.
        body: BodyId,
        /// A point of it, in its frame [m].
        point: Point2<f64>,
        /// Unit vector of the world.
        axis: Vector2<f64>,
        /// Coordinate along the axis without force [m].
        origin: f64,
        /// Stiffness [N/m], ≥ 0.
        stiffness: f64,
        /// Damping [N s/m], ≥ 0.
        damping: f64,
    },
    /// Any function of time and state, taken explicitly. Coordinates and velocities are in the order of
    /// [`super::Model::coordinates`] and [`super::Model::velocities`].
    Custom {
        /// The function.
        law: Arc<Law>,
        /// Its derivatives; by central differences if not given.
        jacobian: Option<Arc<LawJacobian>>,
    },
}

impl Force {
    /// A constant force [N] at the centre of mass.
    pub fn constant(body: BodyId, force: Vector2<f64>) -> Self {
        Self::Constant { body, point: None, wrench: Wrench { force, torque: 0.0 } }
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

    /// The bodies it acts on.
    pub(super) fn bodies(&self) -> impl Iterator<Item = BodyId> {
        let (a, b) = match *self {
            Self::Constant { body, .. } | Self::Timed { body, .. } | Self::Rail { body, .. } => {
                (Some(body), None)
            }
            Self::Spring { a, b, .. } => (Some(a), Some(b)),
            Self::Custom { .. } => (None, None),
        };
        a.into_iter().chain(b)
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
}

impl fmt::Debug for Force {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let bodies: Vec<_> = self.bodies().map(|b| b.0).collect();
        write!(f, "Force({}, bodies {bodies:?})", self.kind())
    }
}
