//! Forces besides gravity.

use super::dimension::Dimension;
use crate::id::BodyId;
use crate::jacobian::ForceJacobian;
use std::fmt;
use std::sync::Arc;

/// Force and torque, in the world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wrench<D: Dimension> {
    /// Force [N].
    pub force: D::Vector,
    /// Torque [N m], in the plane counter-clockwise.
    pub torque: D::Angular,
}

impl<D: Dimension> Wrench<D> {
    /// Wrench times a number.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self { force: self.force * factor, torque: self.torque * factor }
    }
}

/// Function of time: t [s] to a wrench.
pub type Load<D> = dyn Fn(f64) -> Wrench<D> + Send + Sync;

/// Force of the state: adds to the generalized force k [N; N m] at t [s], q and v.
pub type Law = dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync;

/// Jacobian of a force of the state: adds to k_q and k_v at t [s], q and v. The blocks are numbered like the
/// moving bodies, in the order of their velocities.
pub type LawJacobian = dyn Fn(f64, &[f64], &[f64], &mut ForceJacobian) + Send + Sync;

/// Force on one body or between two.
#[derive(Clone)]
pub enum Force<D: Dimension> {
    /// Constant force and torque in the world.
    Constant {
        /// Body it acts on.
        body: BodyId,
        /// Point where it acts, in the body frame [m]; `None` is the centre of mass.
        point: Option<D::Point>,
        /// Force and torque.
        wrench: Wrench<D>,
    },
    /// Force and torque that depend on time.
    Timed {
        /// Body it acts on.
        body: BodyId,
        /// Point where it acts, in the body frame [m]; `None` is the centre of mass.
        point: Option<D::Point>,
        /// Force and torque at a time.
        load: Arc<Load<D>>,
    },
    /// Force and torque that an input multiplies, as [`Simulation::set`](crate::Simulation::set) sets it.
    Commanded {
        /// Body it acts on.
        body: BodyId,
        /// Point where it acts, in the body frame [m]; `None` is the centre of mass.
        point: Option<D::Point>,
        /// Force and torque at the value 1.
        wrench: Wrench<D>,
        /// Name of the input.
        input: String,
        /// Value of the input at the start.
        value: f64,
    },
    /// Spring with a damper between points of two bodies. With a rest length both act along the line between the
    /// points; without one they act on the whole displacement.
    Spring {
        /// First body.
        a: BodyId,
        /// Point of the first body, in its frame [m].
        point_a: D::Point,
        /// Second body.
        b: BodyId,
        /// Point of the second body, in its frame [m].
        point_b: D::Point,
        /// Stiffness [N/m], ≥ 0.
        stiffness: f64,
        /// Damping [N s/m], ≥ 0.
        damping: f64,
        /// Length without force [m], ≥ 0.
        rest_length: f64,
    },
    /// Spring with a damper along one axis of the world.
    Rail {
        /// Body.
        body: BodyId,
        /// Point of the body, in its frame [m].
        point: D::Point,
        /// Axis of the world; in the plane a unit vector.
        axis: D::Vector,
        /// Coordinate along the axis without force [m].
        origin: f64,
        /// Stiffness [N/m], ≥ 0.
        stiffness: f64,
        /// Damping [N s/m], ≥ 0.
        damping: f64,
    },
    /// Function of time and state, treated explicitly. Coordinates and velocities are in the order of
    /// [`ModelIn::coordinates`](super::ModelIn::coordinates) and [`ModelIn::velocities`](super::ModelIn::velocities).
    Custom {
        /// Function.
        law: Arc<Law>,
        /// Jacobian; by central differences if `None`.
        jacobian: Option<Arc<LawJacobian>>,
    },
}

impl<D: Dimension> Force<D> {
    /// Constant force [N] at the centre of mass.
    pub fn constant(body: BodyId, force: D::Vector) -> Self {
        Self::Constant { body, point: None, wrench: Wrench { force, torque: D::Angular::default() } }
    }

    /// Force at the centre of mass that depends on time.
    pub fn timed(body: BodyId, load: impl Fn(f64) -> Wrench<D> + Send + Sync + 'static) -> Self {
        Self::Timed { body, point: None, load: Arc::new(load) }
    }

    /// Function of time and state.
    pub fn custom(law: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self::Custom { law: Arc::new(law), jacobian: None }
    }

    /// Function of time and state with its Jacobian.
    pub fn custom_with(
        law: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
        jacobian: impl Fn(f64, &[f64], &[f64], &mut ForceJacobian) + Send + Sync + 'static,
    ) -> Self {
        Self::Custom { law: Arc::new(law), jacobian: Some(Arc::new(jacobian)) }
    }

    /// Bodies it acts on.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> + use<D> {
        let (a, b) = match *self {
            Self::Constant { body, .. }
            | Self::Timed { body, .. }
            | Self::Commanded { body, .. }
            | Self::Rail { body, .. } => (Some(body), None),
            Self::Spring { a, b, .. } => (Some(a), Some(b)),
            Self::Custom { .. } => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// Name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "constant",
            Self::Timed { .. } => "timed",
            Self::Commanded { .. } => "commanded",
            Self::Spring { .. } => "spring",
            Self::Rail { .. } => "rail",
            Self::Custom { .. } => "custom",
        }
    }
}

impl<D: Dimension> fmt::Debug for Force<D> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let bodies: Vec<_> = self.bodies().map(|b| b.0).collect();
        write!(f, "Force({}, bodies {bodies:?})", self.kind())
    }
}
