//! Near-active events and the rows of the papers' gap functions.

use arrayvec::ArrayVec;
use nalgebra::{Point3, UnitQuaternion, Vector3};
use stiction::{ContactId, ContactRow, Material, Moments, PairId};
use stiction_lcp::{FrictionSet, OffsetRow, Row, Term};

/// Limit ε̂_t of the paper on the metric of a pair, and on the metric of an event relative to its pair [1]. Smaller
/// values miss impacts, larger ones add rows.
const NEAR_ACTIVE: f64 = 0.3;

/// Limit ε̂_x of the paper on the distance of the point of an event from the grown bodies [m].
pub(super) const MAX_POINT_DISTANCE: f64 = 1e-3;

/// Round-off of the metric [1]. An event whose metric is lower than that of its pair by more belongs to a wrong face.
const METRIC_ROUND_OFF: f64 = 1e-9;

/// Gap function of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapForm {
    /// Φ = ρ = (r − 1)/r, that of the paper. HA10 (3.5)
    Rho,
    /// Φ = r − 1, which has the same row and is linear where bodies do not turn.
    Ratio,
    /// Gap of the simulator: the distance of the two features [m].
    Gap,
}

/// ρ = (r − 1)/r. HA10 (3.5)
pub(super) fn rho(r: f64) -> f64 {
    (r - 1.0) / r
}

/// Whether a pair with this r is near enough for events. HA10 (4.15)
pub(super) fn is_near(r: f64) -> bool {
    rho(r) <= NEAR_ACTIVE
}

/// Body of a pair of shapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairSide {
    /// Index in the world.
    pub(super) body: stiction::BodyId,
    /// Velocities of the body, if it moves.
    pub(super) place: Option<BodyCentre>,
}

/// Velocities of a moving body: their position in the state and their reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyCentre {
    /// Index among the moving bodies.
    pub(super) number: usize,
    /// Centre of mass [m].
    pub(super) centre: Point3<f64>,
    /// Axes of the angular velocity; `None` for a planar body.
    pub(super) axes: Option<UnitQuaternion<f64>>,
}

/// Event: two features that meet when both bodies are scaled by r.
#[derive(Debug, Clone, Copy)]
pub(super) struct RatioEvent {
    pub(super) feature: u32,
    pub(super) r: f64,
    /// Length L [m].
    pub(super) length: f64,
    /// Normal ν, from the first body to the second.
    pub(super) normal: Vector3<f64>,
    /// Common point p of both scaled bodies [m].
    pub(super) point: Point3<f64>,
}

/// Pair of shapes and its events.
#[derive(Debug, Clone)]
pub(super) struct ShapePair {
    pub(super) pair: PairId,
    pub(super) sides: [PairSide; 2],
    pub(super) material: Material,
    /// Ratio r of the pair [1].
    pub(super) r: f64,
    pub(super) events: Vec<RatioEvent>,
}

impl ShapePair {
    /// Near-active events. HA10 (4.14), with the metric of the algebraic event
    pub(super) fn near_active(&self) -> impl Iterator<Item = &RatioEvent> {
        let least = rho(self.r);
        let near = move |event: &&RatioEvent| {
            let above = rho(event.r) - least;
            is_near(self.r) && (-METRIC_ROUND_OFF..=NEAR_ACTIVE).contains(&above)
        };
        self.events.iter().filter(near)
    }

    /// Rows of an event: unit normal and friction at its point.
    ///
    /// L r² ∇ρ = L ∇r = [−ν, −(p − x₁) × ν, ν, (p − x₂) × ν] and the gap is multiplied alike, so that the row
    /// has the unit m and its multiplier is an impulse. HA10 (4.5)
    pub(super) fn row(&self, event: &RatioEvent, form: GapForm, normalized: bool) -> ContactRow {
        let RatioEvent { feature, r, length, normal, point } = *event;
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
        // four directions in space, as in the paper
        let set = if planar { None } else { FrictionSet::regular(4) };
        let scale = if normalized { 1.0 } else { length * r * r };
        ContactRow {
            id: ContactId { pair: self.pair, feature },
            bodies: self.sides.map(|side| side.body),
            gap: length * (r - 1.0) * if form == GapForm::Rho { r } else { 1.0 },
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

    /// Row of the speed of the second body relative to the first along a direction, at one point.
    fn along(&self, direction: &Vector3<f64>, point: &Point3<f64>) -> Row {
        let mut terms = ArrayVec::new();
        for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
            let Some(BodyCentre { number, centre, axes }) = side.place else { continue };
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

/// First tangent: along x of the world on nearly horizontal surfaces, horizontal on all others.
fn tangent(n: &Vector3<f64>) -> Vector3<f64> {
    if n.z.abs() >= 0.9 { (Vector3::x() - n * n.x).normalize() } else { Vector3::z().cross(n).normalize() }
}
