//! Questions about the bodies of a model in a state: distances, points and rays. Nothing is solved.

use super::dimension::{EuclideanPoint, EuclideanVector};
use super::formulas::Formulas;
use super::joint::upright;
use super::layout::ShapeLayout;
use super::model::ModelIn;
use crate::id::{BodyId, ShapeId};
use crate::material::Depth;
use crate::state::State;
use crate::system::PairId;
use stiction_geometry::NoGap;

/// Number of advances of a ray along which the distance is a convex function: near a smooth surface each doubles the
/// digits, and a ray that needs more grazes.
const MAX_ADVANCES: usize = 100;

/// Distance from a surface within which a ray has reached it, relative to the distances involved. Range 1e-14 to 1e-9:
/// below it round-off keeps the ray away, above it shows as an error.
const REACHED_RELATIVE: f64 = 1e-13;

/// Near point of two shapes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearPoint {
    /// Shapes, in the order of the bodies that were asked for.
    pub shapes: [ShapeId; 2],
    /// Gap [m]; negative where the shapes overlap.
    pub gap: f64,
    /// Point on each shape [m].
    pub points: [[f64; 3]; 2],
    /// Unit normal from the first shape to the second.
    pub normal: [f64; 3],
}

impl NearPoint {
    /// Pair of its shapes, as contacts name it.
    pub fn pair(&self) -> PairId {
        PairId::of(self.shapes[0], self.shapes[1])
    }
}

/// First point where a ray meets a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// Body.
    pub body: BodyId,
    /// Shape.
    pub shape: ShapeId,
    /// Distance from the start of the ray [m]; 0 where it starts inside the shape.
    pub distance: f64,
    /// Point [m].
    pub point: [f64; 3],
    /// Outward unit normal of the shape.
    pub normal: [f64; 3],
}

/// Shape in its place.
#[derive(Debug, Clone, Copy)]
struct PlacedShape<'a, D: Formulas> {
    layout: &'a ShapeLayout<D>,
    pose: D::Isometry,
}

impl<D: Formulas> ModelIn<D> {
    /// Nearest points of two bodies, by the Euclidean distance, which is negative by the depth of an overlap. `None` for
    /// bodies without shapes or of another model; an error for shapes without a gap function.
    pub fn distance(&self, state: &State, a: BodyId, b: BodyId) -> Result<Option<NearPoint>, NoGap> {
        let near = self.gaps_between(state, [a, b], Depth::Minkowski, f64::INFINITY)?;
        Ok(near.into_iter().min_by(|x, y| x.gap.total_cmp(&y.gap)))
    }

    /// Near points of two bodies with a gap up to `max_gap` [m]: where contacts are, whether or not they may collide. Of
    /// polygons, boxes and polyhedra they are those of the model's own gap function.
    pub fn near_points(
        &self,
        state: &State,
        a: BodyId,
        b: BodyId,
        max_gap: f64,
    ) -> Result<Vec<NearPoint>, NoGap> {
        self.gaps_between(state, [a, b], self.layout.depth, max_gap)
    }

    /// Shapes that contain a point [m], with their bodies; those on whose surface it lies are among them.
    pub fn shapes_at(&self, state: &State, point: [f64; 3]) -> Vec<(BodyId, ShapeId)> {
        let at = upright::<D>(D::Point::from(D::vector(point)));
        let holds = |shape: &PlacedShape<D>| shape.nearest(&at).is_some_and(|(gap, _)| gap <= 0.0);
        self.placed(state, None).into_iter().filter(holds).map(|shape| self.owner(&shape)).collect()
    }

    /// First shape on a ray from a point [m] along a direction, up to a distance [m]. Sensors are met too. `None` where
    /// the ray meets nothing, and for a direction without length. Ellipses and ellipsoids are not met: they have no
    /// distance from a point.
    pub fn cast_ray(
        &self,
        state: &State,
        from: [f64; 3],
        direction: [f64; 3],
        max_distance: f64,
    ) -> Option<RayHit> {
        let (start, along) = (D::Point::from(D::vector(from)), D::vector(direction).direction()?);
        let hit = |shape: PlacedShape<D>| {
            let (distance, normal) = shape.ray(&start, &along, max_distance)?;
            let (body, id) = self.owner(&shape);
            let point = D::xyz(&(start + along * distance).coordinates());
            Some(RayHit { body, shape: id, distance, point, normal: D::xyz(&normal) })
        };
        self.placed(state, None).into_iter().filter_map(hit).min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// Shapes of a body, or of all bodies, in their places; none for a state of another model.
    fn placed(&self, state: &State, body: Option<BodyId>) -> Vec<PlacedShape<'_, D>> {
        if !self.fits(state) {
            return Vec::new();
        }
        let wanted = |shape: &&ShapeLayout<D>| body.is_none_or(|id| self.layout.bodies[shape.body].id == id);
        let mut placed = Vec::new();
        for layout in self.layout.shapes.iter().filter(wanted) {
            let body = self.layout.bodies[layout.body].place(state.t, &state.q);
            placed.push(PlacedShape { layout, pose: D::shape_pose(layout, &body) });
        }
        placed
    }

    fn owner(&self, shape: &PlacedShape<D>) -> (BodyId, ShapeId) {
        (self.layout.bodies[shape.layout.body].id, shape.layout.id)
    }

    fn gaps_between(
        &self,
        state: &State,
        [a, b]: [BodyId; 2],
        depth: Depth,
        max_gap: f64,
    ) -> Result<Vec<NearPoint>, NoGap> {
        let (mut near, mut found) = (Vec::new(), Vec::new());
        for of_a in self.placed(state, Some(a)) {
            for of_b in self.placed(state, Some(b)) {
                found.clear();
                let shapes = [&of_a, &of_b].map(|shape| (&shape.layout.shape, &shape.pose));
                D::gaps(depth, shapes[0], shapes[1], max_gap, None, &mut found)?;
                near.extend(found.iter().map(|gap| {
                    let (points, normal) = D::witnesses(gap);
                    NearPoint {
                        shapes: [of_a.layout.id, of_b.layout.id],
                        gap: D::gap(gap).0,
                        points: points.map(|point| D::xyz(&point.coordinates())),
                        normal: D::xyz(&normal),
                    }
                }));
            }
        }
        Ok(near)
    }
}

impl<D: Formulas> PlacedShape<'_, D> {
    /// Distance from the shape to a point, negative inside, and the outward normal there.
    fn nearest(&self, point: &D::Isometry) -> Option<(f64, D::Vector)> {
        let (own, other) = ((&self.layout.shape, &self.pose), (&D::point_shape(), point));
        let mut found = Vec::new();
        D::gaps(Depth::Minkowski, own, other, f64::INFINITY, None, &mut found).ok()?;
        let nearest = found.iter().min_by(|a, b| D::gap(a).0.total_cmp(&D::gap(b).0))?;
        Some((D::gap(nearest).0, D::witnesses(nearest).1))
    }

    /// Distance at which a ray meets the shape, and the outward normal there. Along a ray the distance from a convex shape
    /// is a convex function, so that Newton's method comes from one side.
    fn ray(&self, start: &D::Point, along: &D::Vector, max_distance: f64) -> Option<(f64, D::Vector)> {
        let mut travelled = 0.0;
        for _ in 0..MAX_ADVANCES {
            let (gap, normal) = self.nearest(&upright::<D>(*start + *along * travelled))?;
            if gap <= REACHED_RELATIVE * (travelled + gap.abs()).max(start.coordinates().norm()) {
                return Some((travelled, normal));
            }
            let closing = -normal.dot(along);
            if !(closing > 0.0) {
                return None;
            }
            travelled += gap / closing;
            if !(travelled <= max_distance) {
                return None;
            }
        }
        None
    }
}
