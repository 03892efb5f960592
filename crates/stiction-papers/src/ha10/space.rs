//! Events of the polyhedra of a spatial model, and of each with the floor.

use super::event::{BodyCentre, MAX_POINT_DISTANCE, PairSide, RatioEvent, ShapePair, is_near};
use nalgebra::{Isometry3, Point3, Vector3};
use stiction::spatial::{Attached, Model};
use stiction::{Material, PairId, State};
use stiction_geometry::spatial::{Basis, Gap, Growth, Polyhedron, Shape, gaps, growth, ratio};

/// Shape of a body at its pose.
struct PlacedSpatialShape<'a> {
    shape: stiction::ShapeId,
    side: PairSide,
    material: Material,
    attached: &'a Attached,
    pose: Isometry3<f64>,
}

/// Pairs of shapes and their events. Half-spaces are floors whose centre is `depth` below their surface [m].
pub(super) fn meetings(model: &Model, state: &State, depth: f64, out: &mut Vec<ShapePair>) {
    let pieces = pieces(model, state);
    let mut near = Vec::new();
    for (i, a) in pieces.iter().enumerate() {
        for b in &pieces[i + 1..] {
            if a.side.place.is_none() && b.side.place.is_none() {
                continue;
            }
            let (r, events) = match (&a.attached.shape, &b.attached.shape) {
                (Shape::HalfSpace, Shape::Polyhedron(polyhedron)) => {
                    floor(&a.pose, depth, (polyhedron, &b.pose))
                }
                (Shape::Polyhedron(of_a), Shape::Polyhedron(of_b)) => {
                    let pair = [(&**of_a, &a.pose), (&**of_b, &b.pose)];
                    let Some(metric) = ratio(pair[0], pair[1], &mut Basis::default()) else { continue };
                    near.clear();
                    if is_near(metric.r) {
                        let shapes = (&a.attached.shape, &b.attached.shape);
                        // polyhedra have a gap function
                        let _ = gaps(shapes.0, &a.pose, shapes.1, &b.pose, f64::INFINITY, &mut near);
                    }
                    let grown = |gap: &Gap| {
                        let growth = growth(pair[0], pair[1], gap)?;
                        pair.iter().all(|body| holds(*body, &growth)).then(|| event(gap.feature, &growth))
                    };
                    (metric.r, near.iter().filter_map(grown).collect())
                }
                _ => continue,
            };
            out.push(ShapePair {
                pair: PairId { a: a.shape, b: b.shape },
                sides: [a.side, b.side],
                material: a.material.combined(&b.material),
                r,
                events,
            });
        }
    }
}

fn pieces<'a>(model: &'a Model, state: &State) -> Vec<PlacedSpatialShape<'a>> {
    let mut pieces = Vec::new();
    let mut number = 0;
    for (id, _) in model.world().bodies() {
        let (Some(pose), Some(centre)) = (model.pose(state, id), model.centre(state, id)) else { continue };
        let moves = model.velocities(id).is_some_and(|range| !range.is_empty());
        let place = moves.then_some(BodyCentre { number, centre, axes: Some(pose.rotation) });
        number += usize::from(moves);
        for (shape, attached) in model.world().shapes(id) {
            pieces.push(PlacedSpatialShape {
                shape,
                side: PairSide { body: id, place },
                material: attached.material,
                attached,
                pose: pose * attached.pose,
            });
        }
    }
    pieces
}

/// Whether a scaled body contains the point of an event, to [`MAX_POINT_DISTANCE`].
fn holds((polyhedron, pose): (&Polyhedron, &Isometry3<f64>), growth: &Growth) -> bool {
    let local = pose.inverse_transform_point(&growth.point) - polyhedron.centre();
    polyhedron.facets().iter().all(|a| a.dot(&local) <= growth.r + MAX_POINT_DISTANCE * a.norm())
}

/// Events of every vertex of a polyhedron with a floor: r = (z + H)/L with z the height of the centre and L = H + z − that of
/// the vertex.
fn floor(
    floor: &Isometry3<f64>,
    depth: f64,
    (polyhedron, pose): (&Polyhedron, &Isometry3<f64>),
) -> (f64, Vec<RatioEvent>) {
    let normal = floor.rotation * Vector3::z();
    let height = |p: &Point3<f64>| normal.dot(&(p.coords - floor.translation.vector));
    let centre = pose * polyhedron.centre();
    let of_vertex = |(feature, vertex): (u32, &Point3<f64>)| {
        let vertex = pose * vertex;
        let length = depth + height(&centre) - height(&vertex);
        let r = (height(&centre) + depth) / length;
        event(feature, &Growth { r, length, normal, point: centre + r * (vertex - centre) })
    };
    let events: Vec<RatioEvent> =
        (0..).zip(polyhedron.vertices()).map(of_vertex).filter(|e| e.length > 0.0 && e.r > 0.0).collect();
    // a body below the centre of the floor has no events
    (events.iter().map(|e| e.r).reduce(f64::min).unwrap_or(0.0), events)
}

fn event(feature: u32, growth: &Growth) -> RatioEvent {
    let Growth { r, length, normal, point } = *growth;
    RatioEvent { feature, r, length, normal, point }
}
