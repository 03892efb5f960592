//! A body at an instant, and the rows its points and axes give.

use super::body::Twist;
use arrayvec::ArrayVec;
use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use stiction_lcp::{Row, Term};

/// How the velocities of a body enter a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Freedom {
    /// No velocities: its prescribed velocity is a drift.
    None,
    /// Linear in the world and angular in the body frame, by the number of the moving body.
    Rigid(usize),
    /// Linear.
    Point(usize),
    /// Along this unit axis.
    Slider(usize, Vector3<f64>),
}

impl Freedom {
    /// Number of coordinates and of velocities.
    pub(super) fn counts(self) -> (usize, usize) {
        match self {
            Self::None => (0, 0),
            Self::Rigid(_) => (7, 6),
            Self::Point(_) => (3, 3),
            Self::Slider(..) => (1, 1),
        }
    }
}

/// A body at an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// The body frame in the world.
    pub(super) pose: Isometry3<f64>,
    /// Its rotation as a matrix.
    pub(super) turn: Matrix3<f64>,
    /// The centre of mass in the world; of a kinematic body the origin of its frame.
    pub(super) centre: Point3<f64>,
    /// How its velocities enter a row.
    pub(super) freedom: Freedom,
    /// Prescribed velocity at `centre`.
    pub(super) prescribed: Twist,
}

/// How a speed depends on the velocity of one body: linear · v_centre + angular · ω, all in the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gradient {
    pub(super) linear: Vector3<f64>,
    pub(super) angular: Vector3<f64>,
}

impl Gradient {
    /// Of a speed of turning about `axis`.
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

impl Placed {
    /// Of the speed of the body's point now at `point` along `direction`.
    #[inline]
    pub(super) fn along(&self, direction: &Vector3<f64>, point: &Point3<f64>) -> Gradient {
        Gradient { linear: *direction, angular: (point - self.centre).cross(direction) }
    }

    /// The part of the body in a row with this gradient; `None` without velocities.
    #[inline]
    pub(super) fn term(&self, gradient: &Gradient) -> Option<Term> {
        let l = &gradient.linear;
        match self.freedom {
            Freedom::None => None,
            Freedom::Rigid(body) => {
                let a = self.turn.tr_mul(&gradient.angular);
                Some(Term { body, j: [l.x, l.y, l.z, a.x, a.y, a.z] })
            }
            Freedom::Point(body) => Some(Term { body, j: [l.x, l.y, l.z, 0.0, 0.0, 0.0] }),
            Freedom::Slider(body, axis) => Some(Term { body, j: [axis.dot(l), 0.0, 0.0, 0.0, 0.0, 0.0] }),
        }
    }

    /// The speed that prescribed motion has in a row with this gradient.
    #[inline]
    pub(super) fn drift(&self, gradient: &Gradient) -> f64 {
        gradient.linear.dot(&self.prescribed.linear) + gradient.angular.dot(&self.prescribed.angular)
    }
}

/// The terms of a row.
pub(super) type Terms = ArrayVec<Term, 2>;

/// A row from what it asks of two bodies, and its drift.
pub(super) fn row(a: &Placed, of_a: &Gradient, b: &Placed, of_b: &Gradient) -> (Row, f64) {
    let mut terms = Terms::new();
    add_terms(a, of_a, b, of_b, &mut terms);
    (Row::Bodies(terms), a.drift(of_a) + b.drift(of_b))
}

/// Appends the terms of such a row.
#[inline]
pub(super) fn add_terms(a: &Placed, of_a: &Gradient, b: &Placed, of_b: &Gradient, terms: &mut Terms) {
    a.term(of_a).into_iter().for_each(|term| terms.push(term));
    b.term(of_b).into_iter().for_each(|term| terms.push(term));
}

/// R exp(ω): the exact turn by the body-frame vector `turn` [rad].
pub(super) fn turned(rotation: &UnitQuaternion<f64>, turn: &Vector3<f64>) -> UnitQuaternion<f64> {
    let angle = turn.norm();
    if angle == 0.0 {
        // not even round-off of the norm may move a body at rest
        return *rotation;
    }
    // sin(angle / 2) / angle; the series is exact to round-off below 1e-3
    let sinc = if angle < 1e-3 {
        let a2 = angle * angle;
        0.5 - a2 / 48.0 + a2 * a2 / 3840.0
    } else {
        (0.5 * angle).sin() / angle
    };
    let step = nalgebra::Quaternion::from_parts((0.5 * angle).cos(), sinc * turn);
    UnitQuaternion::new_normalize(rotation.quaternion() * step)
}
