//! Events of two polyhedra: every vertex of one on a facet of the other and every pair of crossing edges where the
//! two face each other, each with its own exact gap. HA10 section 4.2.
//!
//! The ratio metric knows one point only, but resting bodies touch in many. So b is moved along the line of the
//! centroids until the two just touch. There the plane of the metric separates them, and each body has a *cap*: the
//! facets almost along that plane. Seen along the normal, vertices of one cap inside a facet of the other and
//! crossings of their edges are the events. The gap of an event is measured in the true pose.

use std::cell::Cell;

use nalgebra::{Isometry3, Vector2, Vector3};

use super::cap::{BodyView, Cap, CapCorner};
use super::gap::Gap;
use super::ratio::{Basis, Ratio, solid_ratio};
use super::solid::Solid;
use crate::events::{MERGED_EVENTS_RELATIVE, ON_FACET_RELATIVE};
use crate::gap::push_within;

/// Least cosine of the angle between the normal of an edge-edge event and the normal of the plane: 26°.
/// Sensible range 0.7 to 0.99. Edges of tilted facets cross with normals far off: such events are about passing by,
/// not about touching.
const MIN_CROSSING_COSINE: f64 = 0.9;

/// Sine of the angle below which edges do not cross: their normal would be round-off, and the vertices at their
/// ends are events. Sensible range 1e-6 to 1e-2. HA10 prints none.
const PARALLEL_EDGES_SINE: f64 = 1e-3;

/// Rank of an event when several coincide: vertices before crossings.
const VERTEX_RANK: u8 = 0;
const CROSSING_RANK: u8 = 1;
/// Rank of an event that has been merged into another.
const MERGED_RANK: u8 = 2;

/// Event before merging.
struct Event {
    gap: Gap,
    /// Coordinates along the plane [m].
    at: Vector2<f64>,
    /// Order of preference, smaller first: rank, then the smaller code of the vertex.
    order: (u8, u32),
}

/// Memory of a search, kept from call to call.
#[derive(Default)]
struct EventSearch {
    caps: [Cap; 2],
    events: Vec<Event>,
}

thread_local! {
    static EVENT_SEARCH: Cell<EventSearch> = Cell::default();
}

/// Appends every event with a gap <= `reach` [m].
pub(super) fn events(
    a: (&Solid<'_>, &Isometry3<f64>),
    b: (&Solid<'_>, &Isometry3<f64>),
    basis: &mut Basis,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let Some(ratio) = solid_ratio(a, b, basis) else { return };
    // its normal separates the bodies by its gap: no event is nearer
    if ratio.gap() > reach {
        return;
    }
    let mut search = EVENT_SEARCH.take();
    let EventSearch { caps, events } = &mut search;
    events.clear();
    let size = a.0.size.min(b.0.size);
    let slack = ON_FACET_RELATIVE * size;
    let normal = ratio.normal();
    let along = tangents(&normal);
    let origin = ratio.touching_point();
    let depth = (reach + ratio.shift().norm()) / MIN_CROSSING_COSINE;
    let views = [
        BodyView { solid: a.0, pose: a.1, normal, along, origin, shift: Vector3::zeros(), depth },
        BodyView { solid: b.0, pose: b.1, normal: -normal, along, origin, shift: ratio.shift(), depth },
    ];
    for k in 0..2 {
        let active = ratio.multipliers.iter().filter(|m| m.body == k).map(|m| m.facet);
        caps[k].gather(&views[k], active, slack);
    }
    let [cap_a, cap_b] = caps;

    // vertices of b on facets of a
    for corner in cap_b.corners.iter().filter(|corner| corner.in_cap) {
        if let Some(f) = cap_a.facet_at(&corner.at, 1.0, slack) {
            let n = views[0].unit_normal(f);
            let core = n.dot(&(corner.position - views[0].point_of_facet(f)));
            let feature = facet_code(f) << 16 | vertex_code(b.0, corner.vertex);
            let gap =
                Gap::rounded((corner.position - core * n, 0.0), (corner.position, 0.0), core, n, feature);
            events.push(Event { gap, at: corner.at, order: (VERTEX_RANK, corner.vertex) });
        }
    }
    // vertices of a on facets of b
    for corner in cap_a.corners.iter().filter(|corner| corner.in_cap) {
        if let Some(f) = cap_b.facet_at(&corner.at, -1.0, slack) {
            let n = -views[1].unit_normal(f);
            let core = n.dot(&(views[1].point_of_facet(f) - corner.position));
            let feature = vertex_code(a.0, corner.vertex) << 16 | facet_code(f);
            let gap =
                Gap::rounded((corner.position, 0.0), (corner.position + core * n, 0.0), core, n, feature);
            events.push(Event { gap, at: corner.at, order: (VERTEX_RANK, corner.vertex) });
        }
    }
    // edges
    for (e, ends_a) in &cap_a.edges {
        for (f, ends_b) in &cap_b.edges {
            let ends = [ends_a.map(|i| &cap_a.corners[i]), ends_b.map(|i| &cap_b.corners[i])];
            if let Some((mut gap, at)) = crossing(ends, &normal) {
                gap.feature = edge_code(a.0, *e) << 16 | edge_code(b.0, *f);
                events.push(Event { gap, at, order: (CROSSING_RANK, e.min(f) << 16 | e.max(f)) });
            }
        }
    }

    merge_events(events, &ratio, MERGED_EVENTS_RELATIVE * size, reach, out);
    EVENT_SEARCH.set(search);
}

/// Merges events within a distance [m] of each other, and appends the events within reach [m].
fn merge_events(events: &mut [Event], ratio: &Ratio, merge: f64, reach: f64, out: &mut Vec<Gap>) {
    // feature identifiers are unique and break ties; a stable sort would allocate
    events.sort_unstable_by_key(|event| (event.order, event.gap.feature));
    let first = out.len();
    for i in 0..events.len() {
        if events[..i].iter().all(|kept| {
            (kept.at - events[i].at).norm_squared() > merge * merge || kept.order.0 == MERGED_RANK
        }) {
            push_within(events[i].gap, reach, out);
        } else {
            events[i].order.0 = MERGED_RANK;
        }
    }
    // round-off has lost every event: take the witness points of the metric itself
    if events.is_empty() && out.len() == first {
        let [on_a, on_b] = ratio.near;
        push_within(
            Gap { gap: ratio.gap(), normal: ratio.normal(), on_a, on_b, feature: u32::MAX },
            reach,
            out,
        );
    }
}

/// Crossing of two edges seen along the normal: its gap in the true pose, and its coordinates along the plane.
fn crossing([a, b]: [[&CapCorner; 2]; 2], normal: &Vector3<f64>) -> Option<(Gap, Vector2<f64>)> {
    // along the plane
    let (u, v, w) = (a[1].at - a[0].at, b[1].at - b[0].at, b[0].at - a[0].at);
    let area = u.perp(&v);
    let (s, t) = (w.perp(&v) / area, w.perp(&u) / area);
    if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
        return None;
    }
    // in the true pose
    let (u3, v3) = (a[1].position - a[0].position, b[1].position - b[0].position);
    let cross = u3.cross(&v3);
    let sine = cross.norm();
    if !(sine > PARALLEL_EDGES_SINE * u3.norm() * v3.norm()) {
        return None;
    }
    let n = if cross.dot(normal) < 0.0 { -cross / sine } else { cross / sine };
    if n.dot(normal) < MIN_CROSSING_COSINE {
        return None;
    }
    // nearest points of the two lines
    let w3 = b[0].position - a[0].position;
    let core = n.dot(&w3);
    let s3 = w3.cross(&v3).dot(&cross) / (sine * sine);
    let p = a[0].position + s3 * u3;
    Some((Gap::rounded((p, 0.0), (p + core * n, 0.0), core, n, 0), a[0].at + s * u))
}

/// Code of a facet. Facets come first, then edges, then vertices: fewer than 2^16 together.
fn facet_code(facet: usize) -> u32 {
    u32::try_from(facet).unwrap_or(u32::MAX)
}

fn edge_code(solid: &Solid<'_>, edge: u32) -> u32 {
    facet_code(solid.topology.facets()) + edge
}

fn vertex_code(solid: &Solid<'_>, vertex: u32) -> u32 {
    facet_code(solid.topology.facets() + solid.topology.edges.len()) + vertex
}

/// Feature of a solid, by its index among those of its kind.
pub(super) enum Feature {
    Facet,
    Edge(usize),
    Vertex,
}

/// Feature that one half of an event's identifier names.
pub(super) fn feature(solid: &Solid<'_>, code: u32) -> Feature {
    let (facets, edges) = (solid.topology.facets(), solid.topology.edges.len());
    match code as usize {
        code if code < facets => Feature::Facet,
        code if code < facets + edges => Feature::Edge(code - facets),
        _ => Feature::Vertex,
    }
}

/// Unit vectors u, v with u × v = n.
fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let mut axis = Vector3::zeros();
    axis[n.iamin()] = 1.0;
    let u = axis.cross(n).normalize();
    [u, n.cross(&u)]
}
