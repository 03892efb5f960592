//! Pairs of shapes of a model and their events, in either dimension.
//! `plane` and `space` bring the shapes that have a ratio metric; the rows of [`event`](super::event) follow from these.

use super::event::{BodyCentre, MAX_POINT_DISTANCE, PairSide, RatioEvent, ShapePair, is_near};
use nalgebra::{AbstractRotation, Isometry, Point, Point3, SVector, UnitQuaternion, Vector3};
use stiction::{Attached, Dimension, EuclideanPoint, Formulas, ModelIn, PairId, RigidPose, ShapeId, State};
use stiction_geometry::{Gap, Growth, NoGap};

/// Ratio r of a pair [1], and its events.
pub(super) type Metric = (f64, Vec<RatioEvent>);

/// Shape of a body at its pose.
pub(super) struct PlacedShape<'a, D: Dimension> {
    id: ShapeId,
    side: PairSide,
    pub(super) attached: &'a Attached<D>,
    pub(super) pose: D::Isometry,
}

/// Appends the pairs of shapes of which one moves. `metric` gives r and the events of a pair, if it has any; `axes` the
/// axes of the angular velocity of a body, if it is spatial.
pub(super) fn append_pairs<D: Formulas>(
    model: &ModelIn<D>,
    state: &State,
    axes: impl Fn(&D::Isometry) -> Option<UnitQuaternion<f64>>,
    mut metric: impl FnMut(&PlacedShape<'_, D>, &PlacedShape<'_, D>) -> Option<Metric>,
    out: &mut Vec<ShapePair>,
) {
    let shapes = placed_shapes(model, state, axes);
    for (i, a) in shapes.iter().enumerate() {
        for b in &shapes[i + 1..] {
            if a.side.place.is_none() && b.side.place.is_none() {
                continue;
            }
            let Some((r, events)) = metric(a, b) else { continue };
            out.push(ShapePair {
                pair: PairId { a: a.id, b: b.id },
                sides: [a.side, b.side],
                material: a.attached.material.combined(&b.attached.material),
                r,
                events,
            });
        }
    }
}

fn placed_shapes<'a, D: Formulas>(
    model: &'a ModelIn<D>,
    state: &State,
    axes: impl Fn(&D::Isometry) -> Option<UnitQuaternion<f64>>,
) -> Vec<PlacedShape<'a, D>> {
    let mut placed = Vec::new();
    let mut number = 0;
    for (body, _) in model.world().bodies() {
        let (Some(pose), Some(centre)) = (model.pose(state, body), model.centre(state, body)) else {
            continue;
        };
        let moves = model.velocities(body).is_some_and(|range| !range.is_empty());
        let centre = Point3::from(D::xyz(&centre.coordinates()));
        let place = moves.then(|| BodyCentre { number, centre, axes: axes(&pose) });
        number += usize::from(moves);
        for (id, attached) in model.world().shapes(body) {
            let side = PairSide { body, place };
            placed.push(PlacedShape { id, side, attached, pose: pose.times(&attached.pose) });
        }
    }
    placed
}

/// Polygon or polyhedron at its pose, given by its facets a · (x − centre) ≤ 1.
#[derive(Clone, Copy)]
pub(super) struct PosedFacets<'a, R, const D: usize> {
    pub(super) facets: &'a [SVector<f64, D>],
    pub(super) centre: Point<f64, D>,
    pub(super) vertices: &'a [Point<f64, D>],
    pub(super) pose: &'a Isometry<f64, R, D>,
}

impl<R: AbstractRotation<f64, D>, const D: usize> PosedFacets<'_, R, D> {
    /// Whether the scaled body contains the point of an event, to [`MAX_POINT_DISTANCE`].
    fn holds(&self, growth: &Growth<D>) -> bool {
        let local = self.pose.inverse_transform_point(&growth.point) - self.centre;
        self.facets.iter().all(|a| a.dot(&local) <= growth.r + MAX_POINT_DISTANCE * a.norm())
    }

    /// Events of every vertex with a floor whose centre is `depth` below its surface [m] and whose local normal is `up`:
    /// r = (z + H)/L with z the height of the centre and L = H + z − that of the vertex.
    pub(super) fn on_floor(&self, floor: &Isometry<f64, R, D>, up: SVector<f64, D>, depth: f64) -> Metric {
        let normal = floor.rotation.transform_vector(&up);
        let height = |p: &Point<f64, D>| normal.dot(&(p.coords - floor.translation.vector));
        let centre = self.pose.transform_point(&self.centre);
        let of_vertex = |(feature, vertex): (u32, &Point<f64, D>)| {
            let vertex = self.pose.transform_point(vertex);
            let length = depth + height(&centre) - height(&vertex);
            let r = (height(&centre) + depth) / length;
            event(feature, &Growth { r, length, normal, point: centre + (vertex - centre) * r })
        };
        let events: Vec<RatioEvent> =
            (0..).zip(self.vertices).map(of_vertex).filter(|e| e.length > 0.0 && e.r > 0.0).collect();
        // a body below the centre of the floor has no events
        (events.iter().map(|e| e.r).reduce(f64::min).unwrap_or(0.0), events)
    }

    /// Events of a pair with ratio `r`, from its gaps, if it is near enough to have any.
    pub(super) fn with_other(
        &self,
        other: &Self,
        r: f64,
        gaps: impl FnOnce(&mut Vec<Gap<D>>) -> Result<(), NoGap>,
        growth: impl Fn(&Gap<D>) -> Option<Growth<D>>,
    ) -> Metric {
        let mut near = Vec::new();
        if is_near(r) {
            // polygons and polyhedra have a gap function
            let _ = gaps(&mut near);
        }
        let grown = |gap: &Gap<D>| {
            let growth = growth(gap)?;
            (self.holds(&growth) && other.holds(&growth)).then(|| event(gap.feature, &growth))
        };
        (r, near.iter().filter_map(grown).collect())
    }
}

fn event<const D: usize>(feature: u32, growth: &Growth<D>) -> RatioEvent {
    let Growth { r, length, normal, point } = *growth;
    RatioEvent { feature, r, length, normal: in_space(&normal), point: in_space(&point.coords).into() }
}

/// Vector in space; coordinates that a planar one does not have are 0.
fn in_space<const D: usize>(v: &SVector<f64, D>) -> Vector3<f64> {
    Vector3::from_fn(|i, _| v.get(i).copied().unwrap_or(0.0))
}
