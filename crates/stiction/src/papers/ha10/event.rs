//! Near-active events and the rows of the papers' gap functions.

use crate::material::Material;
use crate::system::{ContactId, ContactRow, Moments, PairId};
use arrayvec::ArrayVec;
use nalgebra::{Point3, UnitQuaternion, Vector3};
use stiction_lcp::{FrictionSet, OffsetRow, Row, Term};

/// The paper's ε̂_t: how near the metric of a pair, and how near to it the metric of an event, must be [1].
const NEAR: f64 = 0.3;

/// The paper's ε̂_x: how far from the grown bodies the point of an event may be [m].
pub(super) const OUTSIDE: f64 = 1e-3;

/// Round-off of the metric: an event below that of its pair by more is one of a wrong face [1].
const ROUND_OFF: f64 = 1e-9;

/// The gap function that the rows of a step are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Φ = ρ = (r − 1)/r, the paper's. HA10 (3.5)
    Rho,
    /// Φ = r − 1, which has the same row and is linear where bodies do not turn.
    Ratio,
    /// The simulator's own gap, the distance of the two features in metres.
    Gap,
}

/// ρ = (r − 1)/r. HA10 (3.5)
pub(super) fn rho(r: f64) -> f64 {
    (r - 1.0) / r
}

/// Whether a pair with this r is near enough for events. HA10 (4.15)
pub(super) fn is_near(r: f64) -> bool {
    rho(r) <= NEAR
}

/// A body of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// Its number in the world.
    pub(super) body: crate::BodyId,
    /// Where its velocities stand, if it moves.
    pub(super) place: Option<Place>,
}

/// Where the velocities of a body stand and what they are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Number among the bodies that move.
    pub(super) number: usize,
    /// Centre of mass [m].
    pub(super) centre: Point3<f64>,
    /// The axes that angular velocities are measured along; `None` for a planar body.
    pub(super) axes: Option<UnitQuaternion<f64>>,
}

/// Two features that meet when both bodies have grown r times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) feature: u32,
    pub(super) r: f64,
    /// L [m]
    pub(super) length: f64,
    /// ν, from the first body to the second.
    pub(super) normal: Vector3<f64>,
    /// The point p of both grown bodies [m].
    pub(super) point: Point3<f64>,
}

/// The events of two bodies.
#[derive(Debug, Clone)]
pub(super) struct Meeting {
    pub(super) pair: PairId,
    pub(super) sides: [Side; 2],
    pub(super) material: Material,
    /// r of the pair.
    pub(super) r: f64,
    pub(super) events: Vec<Event>,
}

impl Meeting {
    /// The events that are nearly active. HA10 (4.14), with the metric of the algebraic event
    pub(super) fn near_active(&self) -> impl Iterator<Item = &Event> {
        let least = rho(self.r);
        let near = move |event: &&Event| {
            let above = rho(event.r) - least;
            is_near(self.r) && (-ROUND_OFF..=NEAR).contains(&above)
        };
        self.events.iter().filter(near)
    }

    /// The rows of an event: unit normal and friction, both at its point.
    ///
    /// L r² ∇ρ = L ∇r = [−ν, −(p − x₁) × ν, ν, (p − x₂) × ν] and the gap is multiplied alike, so that the row
    /// speaks of metres and its impulse is one. HA10 (4.5)
    pub(super) fn row(&self, event: &Event, form: Form, normalized: bool) -> ContactRow {
        let Event { feature, r, length, normal, point } = *event;
        let planar = self.sides.iter().filter_map(|side| side.place).all(|place| place.axes.is_none());
        let tangents = if planar {
            [Vector3::new(normal.y, -normal.x, 0.0), Vector3::zeros()]
        } else {
            let first = tangent(&normal);
            [first, normal.cross(&first)]
        };
        let count = if planar { 1 } else { 2 };
        let tangent_rows =
            tangents[..count].iter().map(|t| OffsetRow { row: self.along(t, &point), offset: 0.0 });
        // four directions in space, as the paper has them
        let set = if planar { None } else { FrictionSet::regular(4) };
        let scale = if normalized { 1.0 } else { length * r * r };
        ContactRow {
            id: ContactId { pair: self.pair, feature },
            bodies: self.sides.map(|side| side.body),
            gap: length * (r - 1.0) * if form == Form::Rho { r } else { 1.0 },
            normal: self.along(&normal, &point),
            drift: 0.0,
            tangents: tangent_rows.collect(),
            aligned: false,
            set: set.unwrap_or_else(FrictionSet::line),
            mu: scale * self.material.friction,
            restitution: self.material.restitution,
            point: point.into(),
            direction: normal.into(),
            tangent_directions: tangents.map(Into::into),
            moments: Moments::none(),
        }
    }

    /// The speed of the second body against the first along a direction, both at one point.
    fn along(&self, direction: &Vector3<f64>, point: &Point3<f64>) -> Row {
        let mut terms = ArrayVec::new();
        for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
            let Some(Place { number, centre, axes }) = side.place else { continue };
            let (l, turn) = (sign * direction, sign * (point - centre).cross(direction));
            terms.push(match axes {
                None => Term::new(number, &[l.x, l.y, turn.z]),
                Some(axes) => {
                    let turn = axes.inverse_transform_vector(&turn);
                    Term::new(number, &[l.x, l.y, l.z, turn.x, turn.y, turn.z])
                }
            });
        }
        Row::Bodies(terms)
    }
}

/// The first tangent: along x of the world on nearly horizontal surfaces, horizontal on all others.
fn tangent(n: &Vector3<f64>) -> Vector3<f64> {
    if n.z.abs() >= 0.9 { (Vector3::x() - n * n.x).normalize() } else { Vector3::z().cross(n).normalize() }
}
