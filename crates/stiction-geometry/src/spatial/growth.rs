//! An event of two polyhedra by itself: how far both must grow for its vertex to meet its facet, or for its edges
//! to meet. HA10 section 4.2.

use nalgebra::{Isometry3, Point3, Vector3};

use super::events::{Feature, feature};
use super::ratio::{Basis, ratio};
use super::solid::Solid;
use super::{Gap, Polyhedron};

/// The growth at which the two features of an event meet, whether or not the polyhedra touch there first: at
/// least the ratio r of the pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The factor at which they meet [1].
    pub r: f64,
    /// Extent L of both along the normal [m]; the gap of the event is L (r − 1).
    pub length: f64,
    /// Unit normal from a to b [1].
    pub normal: Vector3<f64>,
    /// Where they meet, in the world [m].
    pub point: Point3<f64>,
}

/// The growth of an event that [`gaps`](super::gaps) found of these polyhedra in these poses; `None` when its
/// features do not meet however far both grow.
pub fn growth(
    (a, pose_a): (&Polyhedron, &Isometry3<f64>),
    (b, pose_b): (&Polyhedron, &Isometry3<f64>),
    event: &Gap,
) -> Option<Growth> {
    let centres = [pose_a * a.centre(), pose_b * b.centre()];
    let apart = centres[1] - centres[0];
    let normal = event.normal;
    let along = normal.dot(&apart);
    // L = h_a(ν) + h_b(−ν) of the two features
    let length = along - event.gap;
    let r = along / length;
    if !(length > 0.0 && r > 0.0) {
        return None;
    }
    let on_a = centres[0] + r * (event.on_a - centres[0]);
    let on_b = centres[1] + r * (event.on_b - centres[1]);
    let of_a = feature(&Solid::from(a), event.feature >> 16);
    let of_b = feature(&Solid::from(b), event.feature & 0xFFFF);
    let point = match (of_a, of_b) {
        _ if event.feature == u32::MAX => ratio((a, pose_a), (b, pose_b), &mut Basis::default())?.point,
        (Feature::Vertex, _) => on_a,
        (_, Feature::Vertex) => on_b,
        (Feature::Edge(e), Feature::Edge(f)) => {
            // the two lines, grown, cross
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
    Some(Growth { r, length, normal, point })
}
