//! Events of the polygons of a planar model, and of each with the floor.

use super::event::ShapePair;
use super::pairs::{PosedFacets, append_pairs};
use nalgebra::{Isometry2, UnitComplex, Vector2};
use stiction::State;
use stiction::planar::Model;
use stiction_geometry::planar::{Basis, Gap, Polygon, Shape, gaps, growth, ratio};

/// Pairs of shapes and their events. Half-planes are floors whose centre is `depth` below their surface [m].
pub(super) fn meetings(model: &Model, state: &State, depth: f64, out: &mut Vec<ShapePair>) {
    append_pairs(
        model,
        state,
        |_| None,
        |a, b| match (&a.attached.shape, &b.attached.shape) {
            (Shape::HalfPlane, Shape::Polygon(polygon)) => {
                Some(posed(polygon, &b.pose).on_floor(&a.pose, Vector2::y(), depth))
            }
            (of_a @ Shape::Polygon(first), of_b @ Shape::Polygon(second)) => {
                let r = ratio((first, &a.pose), (second, &b.pose), &mut Basis::default())?.r;
                let gaps = |near: &mut _| gaps(of_a, &a.pose, of_b, &b.pose, f64::INFINITY, near);
                let growth = |gap: &Gap| growth((first, &a.pose), (second, &b.pose), gap);
                Some(posed(first, &a.pose).with_other(&posed(second, &b.pose), r, gaps, growth))
            }
            _ => None,
        },
        out,
    );
}

fn posed<'a>(polygon: &'a Polygon, pose: &'a Isometry2<f64>) -> PosedFacets<'a, UnitComplex<f64>, 2> {
    PosedFacets { facets: polygon.facets(), centre: polygon.centre(), vertices: polygon.vertices(), pose }
}
