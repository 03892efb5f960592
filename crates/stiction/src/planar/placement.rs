//! Planar body at an instant, and the rows its points and turns give.

use super::Planar;
use crate::world::{Freedom, Placement, SpeedRow};
use nalgebra::{Isometry2, Point2, UnitComplex, Vector2};
use stiction_lcp::Term;

/// Orientation of a planar body.
#[derive(Debug, Clone, Copy)]
pub struct PlanarFrame {
    /// Rotation of the body frame.
    pub(super) rotation: UnitComplex<f64>,
    /// Angle of the rotation [rad], continuous for rigid bodies.
    pub(super) angle: f64,
}

impl PlanarFrame {
    /// Frame of a body that does not turn.
    pub(super) fn still(rotation: UnitComplex<f64>) -> Self {
        Self { rotation, angle: rotation.angle() }
    }

    /// Frame at an angle [rad].
    pub(super) fn at(angle: f64) -> Self {
        Self { rotation: UnitComplex::new(angle), angle }
    }
}

impl Placement<Planar> {
    /// Place of a point given from the centre of mass along the axes of the body frame.
    pub(super) fn point(&self, from_centre: &Vector2<f64>) -> Point2<f64> {
        self.centre + self.frame.rotation * from_centre
    }

    /// Pose of a frame given from the centre of mass along the axes of the body frame.
    pub(super) fn pose(&self, from_centre: &Isometry2<f64>) -> Isometry2<f64> {
        let at = self.point(&from_centre.translation.vector);
        Isometry2::from_parts(at.into(), self.frame.rotation * from_centre.rotation)
    }

    /// Prescribed velocity of the material point at `point`.
    pub(super) fn prescribed_at(&self, point: &Point2<f64>) -> Vector2<f64> {
        let r = point - self.centre;
        self.prescribed.linear + self.prescribed.angular * Vector2::new(-r.y, r.x)
    }

    /// Adds the speed of the material point at `point` along a direction to a row.
    pub(super) fn add_speed(&self, point: &Point2<f64>, direction: &Vector2<f64>, row: &mut SpeedRow) {
        let d = direction;
        let term = match self.freedom {
            Freedom::None => {
                row.drift += d.dot(&self.prescribed_at(point));
                return;
            }
            Freedom::Rigid(body) => Term::new(body, &[d.x, d.y, (point - self.centre).perp(d)]),
            Freedom::Point(body) => Term::new(body, &[d.x, d.y]),
            Freedom::Slider(body, axis) => Term::new(body, &[axis.dot(d)]),
        };
        row.terms.push(term);
    }
}

/// Speed of b against a along a direction, each at a point of its own.
pub(super) fn relative_speed(
    (a, at_a): (&Placement<Planar>, &Point2<f64>),
    (b, at_b): (&Placement<Planar>, &Point2<f64>),
    direction: &Vector2<f64>,
) -> SpeedRow {
    let mut row = SpeedRow::default();
    a.add_speed(at_a, &-direction, &mut row);
    b.add_speed(at_b, direction, &mut row);
    row
}

/// Angular velocity of b against a, times a length [m].
pub(super) fn relative_turn(a: &Placement<Planar>, b: &Placement<Planar>, length: f64) -> SpeedRow {
    let mut row = SpeedRow::default();
    for (placement, weight) in [(a, -length), (b, length)] {
        row.drift += weight * placement.prescribed.angular;
        if let Freedom::Rigid(body) = placement.freedom {
            row.terms.push(Term::new(body, &[0.0, 0.0, weight]));
        }
    }
    row
}
