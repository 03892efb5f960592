//! Spatial body at an instant, and the rows its points and axes give.

use super::Spatial;
use crate::world::{Freedom, Placement, SpeedRow};
use arrayvec::ArrayVec;
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};
use stiction_lcp::Term;

/// Angle up to which sin(x/2)/x is taken from its series [rad]: with three terms that is exact to round-off below
/// about 1e-2. Below 1e-8 the quotient loses digits, so the range is 1e-8 to 1e-2.
const MAX_SERIES_ANGLE: f64 = 1e-3;

/// Orientation of a spatial body.
#[derive(Debug, Clone, Copy)]
pub struct SpatialFrame {
    /// Body frame in the world.
    pub(super) pose: Isometry3<f64>,
    /// Rotation of that frame as a matrix.
    pub(super) rotation: Matrix3<f64>,
}

impl SpatialFrame {
    /// Frame of a body at a pose.
    pub(super) fn still(pose: &Isometry3<f64>) -> Self {
        Self { pose: *pose, rotation: matrix(&pose.rotation) }
    }

    /// Frame of a body with its centre of mass at `centre`; `from_origin` goes there in the body frame [m].
    pub(super) fn at(
        centre: &Point3<f64>,
        rotation: UnitQuaternion<f64>,
        from_origin: &Vector3<f64>,
    ) -> Self {
        let turn = matrix(&rotation);
        let origin = centre - turn * from_origin;
        Self { pose: Isometry3::from_parts(Translation3::from(origin), rotation), rotation: turn }
    }
}

/// Gradient of a speed with respect to the velocity of one body: linear · v_centre + angular · ω, in the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gradient {
    pub(super) linear: Vector3<f64>,
    pub(super) angular: Vector3<f64>,
}

impl Gradient {
    /// Gradient of the angular velocity about `axis`.
    #[inline]
    pub(super) fn turning(axis: Vector3<f64>) -> Self {
        Self { linear: Vector3::zeros(), angular: axis }
    }
}

impl std::ops::Neg for Gradient {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { linear: -self.linear, angular: -self.angular }
    }
}

impl std::ops::Mul<Gradient> for f64 {
    type Output = Gradient;

    #[inline]
    fn mul(self, g: Gradient) -> Gradient {
        Gradient { linear: self * g.linear, angular: self * g.angular }
    }
}

impl Placement<Spatial> {
    /// Gradient of the speed of the material point at `point` along `direction`.
    #[inline]
    pub(super) fn along(&self, direction: &Vector3<f64>, point: &Point3<f64>) -> Gradient {
        Gradient { linear: *direction, angular: (point - self.centre).cross(direction) }
    }

    /// Term of the body in a row with this gradient; `None` without velocities.
    #[inline]
    pub(super) fn term(&self, gradient: &Gradient) -> Option<Term> {
        let l = &gradient.linear;
        match self.freedom {
            Freedom::None => None,
            Freedom::Rigid(body) => {
                let a = self.frame.rotation.tr_mul(&gradient.angular);
                Some(Term { body, j: [l.x, l.y, l.z, a.x, a.y, a.z] })
            }
            Freedom::Point(body) => Some(Term { body, j: [l.x, l.y, l.z, 0.0, 0.0, 0.0] }),
            Freedom::Slider(body, axis) => Some(Term { body, j: [axis.dot(l), 0.0, 0.0, 0.0, 0.0, 0.0] }),
        }
    }

    /// Speed of the prescribed motion in a row with this gradient.
    #[inline]
    pub(super) fn drift(&self, gradient: &Gradient) -> f64 {
        gradient.linear.dot(&self.prescribed.linear) + gradient.angular.dot(&self.prescribed.angular)
    }
}

/// Row with the gradients of two bodies.
pub(super) fn row(
    (a, of_a): (&Placement<Spatial>, &Gradient),
    (b, of_b): (&Placement<Spatial>, &Gradient),
) -> SpeedRow {
    let mut terms = ArrayVec::new();
    add_terms((a, of_a), (b, of_b), &mut terms);
    SpeedRow { terms, drift: a.drift(of_a) + b.drift(of_b) }
}

/// Appends the terms of a row with the gradients of two bodies.
#[inline]
pub(super) fn add_terms(
    (a, of_a): (&Placement<Spatial>, &Gradient),
    (b, of_b): (&Placement<Spatial>, &Gradient),
    terms: &mut ArrayVec<Term, 2>,
) {
    a.term(of_a).into_iter().for_each(|term| terms.push(term));
    b.term(of_b).into_iter().for_each(|term| terms.push(term));
}

/// Speed of b against a along a direction, each at a point of its own.
pub(super) fn relative_speed(
    (a, at_a): (&Placement<Spatial>, &Point3<f64>),
    (b, at_b): (&Placement<Spatial>, &Point3<f64>),
    direction: &Vector3<f64>,
) -> SpeedRow {
    row((a, &-a.along(direction, at_a)), (b, &b.along(direction, at_b)))
}

/// Angular velocity of b against a about an axis, times a length [m].
pub(super) fn relative_turn(
    a: &Placement<Spatial>,
    b: &Placement<Spatial>,
    axis: &Vector3<f64>,
    length: f64,
) -> SpeedRow {
    let gradient = length * Gradient::turning(*axis);
    row((a, &-gradient), (b, &gradient))
}

/// Rotation as a matrix.
pub(super) fn matrix(rotation: &UnitQuaternion<f64>) -> Matrix3<f64> {
    rotation.to_rotation_matrix().into_inner()
}

/// R exp(ω): rotation turned exactly by the body-frame vector `turn` [rad].
pub(super) fn turned(rotation: &UnitQuaternion<f64>, turn: &Vector3<f64>) -> UnitQuaternion<f64> {
    let angle = turn.norm();
    if angle == 0.0 {
        // not even round-off of the norm may move a body at rest
        return *rotation;
    }
    // sin(angle / 2) / angle
    let sinc = if angle < MAX_SERIES_ANGLE {
        let a2 = angle * angle;
        0.5 - a2 / 48.0 + a2 * a2 / 3840.0
    } else {
        (0.5 * angle).sin() / angle
    };
    let step = nalgebra::Quaternion::from_parts((0.5 * angle).cos(), sinc * turn);
    UnitQuaternion::new_normalize(rotation.quaternion() * step)
}
