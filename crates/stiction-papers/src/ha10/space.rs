//! Events of the polyhedra of a spatial model, and of each with the floor.

use super::event::ShapePair;
use super::pairs::{PosedFacets, append_pairs};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction::State;
use stiction::spatial::Model;
use stiction_geometry::spatial::{Basis, Gap, Polyhedron, Shape, gaps, growth, ratio};

/// Pairs of shapes and their events. Half-spaces are floors whose centre is `depth` below their surface [m].
pub(super) fn meetings(model: &Model, state: &State, depth: f64, out: &mut Vec<ShapePair>) {
    append_pairs(
        model,
        state,
        |pose| Some(pose.rotation),
        |a, b| match (&a.attached.shape, &b.attached.shape) {
            (Shape::HalfSpace, Shape::Polyhedron(polyhedron)) => {
                Some(posed(polyhedron, &b.pose).on_floor(&a.pose, Vector3::z(), depth))
            }
            (of_a @ Shape::Polyhedron(first), of_b @ Shape::Polyhedron(second)) => {
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

fn posed<'a>(
    polyhedron: &'a Polyhedron,
    pose: &'a Isometry3<f64>,
) -> PosedFacets<'a, UnitQuaternion<f64>, 3> {
    let (facets, centre) = (polyhedron.facets(), polyhedron.centre());
    PosedFacets { facets, centre, vertices: polyhedron.vertices(), pose }
}
