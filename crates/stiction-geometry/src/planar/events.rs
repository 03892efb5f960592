//! Events of two polygons: every vertex of one on an edge of the other where the two face each other, each with its
//! own exact gap. HA10 section 4.2.
//!
//! b is moved along the line of the centroids until the two just touch. Near the line between them each polygon has
//! a *cap*: the edges almost along that line. Vertices of one cap that lie on an edge of the other are the events.
//! The gap of an event is measured in the true pose, along the normal of its edge.

use nalgebra::{Isometry2, Vector2};

use super::Polygon;
use super::cap::BodyView;
use super::gap::Gap;
use super::ratio::{Basis, ratio};
use crate::events::{MERGED_EVENTS_RELATIVE, ON_FACET_RELATIVE};
use crate::gap::retain_from;

/// Appends every event with a gap <= `reach` [m].
pub(super) fn events(
    a: (&Polygon, &Isometry2<f64>),
    b: (&Polygon, &Isometry2<f64>),
    basis: &mut Basis,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let Some(ratio) = ratio(a, b, basis) else { return };
    // its normal separates the bodies by its gap: no event is nearer
    if ratio.gap() > reach {
        return;
    }
    let size = a.0.size().min(b.0.size());
    let slack = ON_FACET_RELATIVE * size;
    let normal = ratio.normal();
    let along = Vector2::new(-normal.y, normal.x);
    let origin = ratio.touching_point();
    let views = [
        BodyView { polygon: a.0, pose: a.1, normal, along, origin, shift: Vector2::zeros() },
        BodyView { polygon: b.0, pose: b.1, normal: -normal, along, origin, shift: ratio.shift() },
    ];
    let caps = [0, 1].map(|k| {
        let held = ratio.multipliers.iter().find(|m| m.body == k).map(|m| m.facet);
        views[k].cap(held, slack)
    });

    // vertices of one on edges of the other; where both are, the smaller code is kept
    let first = out.len();
    let mut found = false;
    for k in [0, 1] {
        let (vertices, edges) = (&views[k], &views[1 - k]);
        for i in (0..=caps[k].1.min(vertices.count() - 1)).map(|j| (caps[k].0 + j) % vertices.count()) {
            let at = vertices.at(i).0;
            let Some(e) = edges.edge_at(caps[1 - k], at, slack) else { continue };
            found = true;
            let vertex = vertices.vertex(i);
            let n = edges.edge_normal(e);
            let core = n.dot(&(vertex - edges.vertex(e)));
            let foot = vertex - core * n;
            let gap = if k == 1 {
                Gap::rounded((foot, 0.0), (vertex, 0.0), core, n, edge_code(e) << 16 | vertex_code(i))
            } else {
                Gap::rounded((vertex, 0.0), (foot, 0.0), core, -n, vertex_code(i) << 16 | edge_code(e))
            };
            // vertex of a at this point, if there is one
            let twin = out[first..].iter().position(|other| {
                let d = other.on_a + views[0].shift - origin;
                k == 1 && (along.dot(&d) - at).abs() <= MERGED_EVENTS_RELATIVE * size
            });
            match twin {
                Some(t) if vertex_code(i) < out[first + t].feature >> 16 => out[first + t] = gap,
                Some(_) => {}
                None => out.push(gap),
            }
        }
    }
    if !found {
        // round-off has lost every event: take the witness points of the metric itself
        let [on_a, on_b] = ratio.near;
        out.push(Gap { gap: ratio.gap(), normal, on_a, on_b, feature: u32::MAX });
    }

    retain_from(out, first, |gap| gap.gap <= reach);
}

/// Polygon that the vertex of an event belongs to.
pub(super) enum VertexOwner {
    A,
    B,
    /// Event of the metric itself, without named features.
    Unknown,
}

/// Polygon that the vertex of an event belongs to, from the identifier of its feature pair.
pub(super) fn vertex_owner(feature: u32) -> VertexOwner {
    if feature == u32::MAX {
        VertexOwner::Unknown
    } else if feature >> 16 & 1 == 0 {
        VertexOwner::A
    } else {
        VertexOwner::B
    }
}

/// Code of a vertex: even, so that the odd code next to it names the edge that starts there.
fn vertex_code(i: usize) -> u32 {
    u32::try_from(2 * i).unwrap_or(u32::MAX)
}

fn edge_code(i: usize) -> u32 {
    vertex_code(i) + 1
}
