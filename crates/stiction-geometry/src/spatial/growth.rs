//! Growth of an event of two polyhedra: the factor at which its vertex meets its facet, or its edges meet. HA10
//! section 4.2.

use nalgebra::Isometry3;

use super::events::{Feature, feature};
use super::ratio::{Basis, ratio};
use super::solid::Solid;
use super::{Gap, Polyhedron};
use crate::growth;

/// Growth of an event of two polyhedra.
pub type Growth = growth::Growth<3>;

/// Growth of an event that [`gaps`](super::gaps) found of these polyhedra in these poses; `None` when its features
/// never meet.
pub fn growth(
    (a, pose_a): (&Polyhedron, &Isometry3<f64>),
    (b, pose_b): (&Polyhedron, &Isometry3<f64>),
    event: &Gap,
) -> Option<Growth> {
    let centres = [pose_a * a.centre(), pose_b * b.centre()];
    let (grown, [on_a, on_b]) = Growth::of_event(centres, event)?;
    let of_a = feature(&Solid::from(a), event.feature >> 16);
    let of_b = feature(&Solid::from(b), event.feature & 0xFFFF);
    let point = match (of_a, of_b) {
        _ if event.feature == u32::MAX => ratio((a, pose_a), (b, pose_b), &mut Basis::default())?.point,
        (Feature::Vertex, _) => on_a,
        (_, Feature::Vertex) => on_b,
        (Feature::Edge(e), Feature::Edge(f)) => {
            // crossing of the two lines, grown
            let direction = |body: &Polyhedron, pose: &Isometry3<f64>, edge: usize| {
                let [from, to] = body.edges()[edge].map(|v| body.vertices()[v as usize]);
                pose * (to - from)
            };
            let (u, v) = (direction(a, pose_a, e), direction(b, pose_b, f));
            let across = u.cross(&v);
            on_a + (on_b - on_a).cross(&v).dot(&across) / across.norm_squared() * u
        }
        _ => return None,
    };
    Some(Growth { point, ..grown })
}
