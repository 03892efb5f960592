//! Growth of an event of two polygons: the factor at which its vertex meets its edge. HA10 section 4.2.

use nalgebra::Isometry2;

use super::events::{VertexOwner, vertex_owner};
use super::ratio::{Basis, ratio};
use super::{Gap, Polygon};
use crate::growth;

/// Growth of an event of two polygons.
pub type Growth = growth::Growth<2>;

/// Growth of an event that [`gaps`](super::gaps) found of these polygons in these poses; `None` when its features
/// never meet.
pub fn growth(
    (a, pose_a): (&Polygon, &Isometry2<f64>),
    (b, pose_b): (&Polygon, &Isometry2<f64>),
    event: &Gap,
) -> Option<Growth> {
    let centres = [pose_a * a.centre(), pose_b * b.centre()];
    let (grown, [on_a, on_b]) = Growth::of_event(centres, event)?;
    let point = match vertex_owner(event.feature) {
        VertexOwner::A => on_a,
        VertexOwner::B => on_b,
        VertexOwner::Unknown => ratio((a, pose_a), (b, pose_b), &mut Basis::default())?.point,
    };
    Some(Growth { point, ..grown })
}
