//! The events of two polyhedra: every vertex of one against a facet of the other and every pair of crossing
//! edges, where the two face each other. HA10 section 4.2.
//!
//! Resting bodies touch in many points, and the ratio metric knows only one of them. So b is first moved along
//! the line of the centroids until the two just touch, which is what r tells. There the plane of the metric
//! separates them, and near its point each body has a *cap*: the facets that lie almost along the plane. Seen
//! along the normal, vertices of one cap inside a facet of the other and crossings of their edges are the
//! events. Each of them then has its own gap, in the true pose: the distance of vertex and facet along the
//! normal of the facet, or of the edges along their common perpendicular. Those are exact functions of the pose
//! with exact rows, whatever the plane was.

use std::cell::Cell;

use nalgebra::{Isometry3, Point3, Vector2, Vector3};

use super::gap::{Gap, push};
use super::ratio::{Basis, Ratio, solid_ratio};
use super::solid::Solid;

/// Least cosine of the angle between the plane and a facet of a cap, 18°. Closer to 1 loses the far corners of a
/// body that tips over until they are near; smaller gives rounded bodies idle events.
const CAP: f64 = 0.95;

/// Least cosine of the angle between the normal of an edge-edge event and the plane, 26°. Edges of tilted facets
/// cross with normals far off, and such events are about passing by, not about touching.
const CROSSING: f64 = 0.9;

/// Sine of the angle below which edges do not cross: their normal would be round-off, and the vertices at their
/// ends bear. HA10 prints none.
const PARALLEL: f64 = 1e-3;

/// How far outside a facet a vertex still is on it, relative to the size. Zero would lose the corners of equal
/// boxes on each other.
const SLACK: f64 = 1e-9;

/// Distance along the plane within which two events are one, relative to the size: the corners of equal boxes
/// on each other are vertices on facets and crossings of edges at once.
const MERGE: f64 = 1e-6;

/// A vertex near the plane.
struct Corner {
    name: u32,
    /// Along the plane, where the bodies touch [m].
    at: Vector2<f64>,
    /// Above the plane on the own side, <= 0 [m].
    height: f64,
    /// In the true pose [m].
    place: Point3<f64>,
    /// Whether it touches or belongs to a facet of the cap; others were only looked at.
    bears: bool,
}

/// The part of a body near the plane.
#[derive(Default)]
struct Cap {
    corners: Vec<Corner>,
    /// Edges, with the places of their ends in `corners`.
    edges: Vec<(u32, [usize; 2])>,
    /// Facets, with the range of `outlines` that holds the places of their corners.
    facets: Vec<(usize, [usize; 2])>,
    outlines: Vec<usize>,
    front: Vec<usize>,
    /// Facets, vertices and edges seen, each marked by the number of the query.
    seen: [Vec<u32>; 3],
    /// Where a vertex stands in `corners`.
    slots: Vec<usize>,
    query: u32,
}

/// An event before merging.
struct Event {
    gap: Gap,
    at: Vector2<f64>,
    /// Smaller is kept: vertices before crossings, then the smaller code of the vertex.
    order: (u8, u32),
}

#[derive(Default)]
struct Scratch {
    caps: [Cap; 2],
    events: Vec<Event>,
}

thread_local! {
    /// Storage kept from call to call.
    static SCRATCH: Cell<Scratch> = Cell::default();
}

/// A body in its pose, seen along the normal.
struct View<'a> {
    solid: &'a Solid<'a>,
    pose: &'a Isometry3<f64>,
    /// Outward normal of the plane: towards the other body.
    normal: Vector3<f64>,
    /// Directions along the plane, the same for both bodies.
    along: [Vector3<f64>; 2],
    /// The point of the plane.
    origin: Point3<f64>,
    /// Displacement to where the bodies touch.
    shift: Vector3<f64>,
    /// Greatest distance below the plane that is of interest [m].
    depth: f64,
}

impl View<'_> {
    fn corner(&self, name: u32) -> Corner {
        let place = self.pose * self.solid.vertices[name as usize];
        let d = place + self.shift - self.origin;
        let at = Vector2::new(self.along[0].dot(&d), self.along[1].dot(&d));
        Corner { name, at, height: self.normal.dot(&d), place, bears: false }
    }

    fn unit_normal(&self, facet: usize) -> Vector3<f64> {
        (self.pose.rotation * self.solid.facets[facet]).normalize()
    }

    /// Cosine of the angle between a facet and the plane.
    fn cosine(&self, facet: usize) -> f64 {
        self.unit_normal(facet).dot(&self.normal)
    }
}

impl Cap {
    fn mark(&mut self, kind: usize, index: usize) -> bool {
        let new = self.seen[kind][index] != self.query;
        self.seen[kind][index] = self.query;
        new
    }

    fn slot(&mut self, view: &View<'_>, vertex: u32) -> usize {
        if self.mark(1, vertex as usize) {
            self.slots[vertex as usize] = self.corners.len();
            self.corners.push(view.corner(vertex));
        }
        self.slots[vertex as usize]
    }

    /// Finds the facets along the plane, and all that touches it.
    fn gather(&mut self, view: &View<'_>, basis: impl Iterator<Item = usize>, slack: f64) {
        let topology = view.solid.topology;
        self.corners.clear();
        self.edges.clear();
        self.facets.clear();
        self.outlines.clear();
        self.front.clear();
        self.query = self.query.wrapping_add(1);
        for (seen, count) in
            self.seen.iter_mut().zip([topology.facets(), topology.vertices, topology.edges.len()])
        {
            if self.query == 0 {
                seen.clear();
            }
            if seen.len() < count {
                seen.resize(count, self.query.wrapping_sub(1));
            }
        }
        self.slots.resize(self.slots.len().max(topology.vertices), 0);

        // all facets with a vertex on the plane, from those of the basis on
        let touching = |cap: &mut Self, f: usize| {
            topology.range(f).any(|i| {
                let slot = cap.slot(view, topology.corners[i]);
                cap.corners[slot].height >= -slack
            })
        };
        self.front.extend(basis);
        if !(0..self.front.len()).any(|i| touching(self, self.front[i])) {
            self.front.extend(0..topology.facets());
        }
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        let mut kept = 0;
        while let Some(f) = self.front.pop() {
            if !self.mark(0, f) || !touching(self, f) {
                continue;
            }
            let cosine = view.cosine(f);
            // the first of the most aligned ones, whatever their order
            if cosine > best.0 + 1e-12 || (cosine > best.0 - 1e-12 && f < best.1) {
                best = (cosine, f);
            }
            for i in topology.range(f) {
                self.front.push(topology.neighbours[i] as usize);
                // an edge along the plane bears whatever its facets do
                let ends = [i, if i + 1 == topology.range(f).end { topology.range(f).start } else { i + 1 }];
                let ends = ends.map(|i| self.slot(view, topology.corners[i]));
                if ends.iter().all(|&e| self.corners[e].height >= -slack) {
                    self.edge(topology.sides[i], ends);
                }
            }
            if cosine >= CAP {
                self.facets.push((f, [0, 0]));
                kept += 1;
            }
        }
        if best.1 != usize::MAX && best.0 < CAP {
            self.facets.push((best.1, [0, 0]));
        }

        for corner in &mut self.corners {
            corner.bears = corner.height >= -slack;
        }

        // further facets along the plane
        self.front.extend(self.facets.iter().take(kept).map(|f| f.0));
        while let Some(f) = self.front.pop() {
            for i in topology.range(f) {
                let next = topology.neighbours[i] as usize;
                let ends = [
                    topology.corners[i],
                    topology.corners
                        [if i + 1 == topology.range(f).end { topology.range(f).start } else { i + 1 }],
                ];
                let near = ends.iter().any(|&v| {
                    let slot = self.slot(view, v);
                    self.corners[slot].height >= -view.depth
                });
                if near && self.mark(0, next) && view.cosine(next) >= CAP {
                    self.facets.push((next, [0, 0]));
                    self.front.push(next);
                }
            }
        }

        // their outlines and edges
        for k in 0..self.facets.len() {
            let range = topology.range(self.facets[k].0);
            let start = self.outlines.len();
            for i in range.clone() {
                let slot = self.slot(view, topology.corners[i]);
                self.corners[slot].bears = true;
                self.outlines.push(slot);
            }
            self.facets[k].1 = [start, self.outlines.len()];
            for i in range.clone() {
                let (from, to) = (start + i - range.start, start + (i + 1 - range.start) % range.len());
                self.edge(topology.sides[i], [self.outlines[from], self.outlines[to]]);
            }
        }
    }

    fn edge(&mut self, side: u32, ends: [usize; 2]) {
        if self.mark(2, side as usize) {
            self.edges.push((side, ends));
        }
    }

    /// The facet that a point along the plane lies in, deepest inside; `sign` is 1 for outlines that run
    /// counter-clockwise and −1 for others.
    fn facet_at(&self, at: &Vector2<f64>, sign: f64, slack: f64) -> Option<usize> {
        let mut best = None;
        for &(facet, [start, end]) in &self.facets {
            let mut inside = f64::INFINITY;
            for i in start..end {
                let p = self.corners[self.outlines[i]].at;
                let q = self.corners[self.outlines[if i + 1 == end { start } else { i + 1 }]].at;
                let e = q - p;
                let length = e.norm();
                // a side along the normal has no length here and bounds nothing
                if length > slack {
                    inside = inside.min(sign * e.perp(&(at - p)) / length);
                }
                if inside < -slack {
                    break;
                }
            }
            if inside >= -slack && inside < f64::INFINITY && best.is_none_or(|(_, b)| inside > b) {
                best = Some((facet, inside));
            }
        }
        best.map(|(facet, _)| facet)
    }
}

/// Appends every event with a gap <= `reach`.
pub(super) fn events(
    a: (&Solid<'_>, &Isometry3<f64>),
    b: (&Solid<'_>, &Isometry3<f64>),
    basis: &mut Basis,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let Some(ratio) = solid_ratio(a, b, basis) else { return };
    // its normal separates the bodies by its gap, so nothing is nearer
    if ratio.gap() > reach {
        return;
    }
    let mut scratch = SCRATCH.take();
    let Scratch { caps, events } = &mut scratch;
    events.clear();
    let size = a.0.size.min(b.0.size);
    let slack = SLACK * size;
    let normal = ratio.normal();
    let along = tangents(&normal);
    let origin = ratio.touching_point();
    let depth = (reach + ratio.shift().norm()) / CROSSING;
    let views = [
        View { solid: a.0, pose: a.1, normal, along, origin, shift: Vector3::zeros(), depth },
        View { solid: b.0, pose: b.1, normal: -normal, along, origin, shift: ratio.shift(), depth },
    ];
    for k in 0..2 {
        let held = ratio.multipliers.iter().filter(|m| m.body == k).map(|m| m.facet);
        caps[k].gather(&views[k], held, slack);
    }
    let [cap_a, cap_b] = caps;

    // vertices of b on facets of a
    for corner in cap_b.corners.iter().filter(|corner| corner.bears) {
        if let Some(f) = cap_a.facet_at(&corner.at, 1.0, slack) {
            let n = views[0].unit_normal(f);
            let core = n.dot(&(corner.place - views[0].pose * vertex_of(a.0, f)));
            let feature = facet_code(f) << 16 | vertex_code(b.0, corner.name);
            let gap = Gap::rounded((corner.place - core * n, 0.0), (corner.place, 0.0), core, n, feature);
            events.push(Event { gap, at: corner.at, order: (0, corner.name) });
        }
    }
    // vertices of a on facets of b
    for corner in cap_a.corners.iter().filter(|corner| corner.bears) {
        if let Some(f) = cap_b.facet_at(&corner.at, -1.0, slack) {
            let n = -views[1].unit_normal(f);
            let core = n.dot(&(views[1].pose * vertex_of(b.0, f) - corner.place));
            let feature = vertex_code(a.0, corner.name) << 16 | facet_code(f);
            let gap = Gap::rounded((corner.place, 0.0), (corner.place + core * n, 0.0), core, n, feature);
            events.push(Event { gap, at: corner.at, order: (0, corner.name) });
        }
    }
    // edges
    for (e, ends_a) in &cap_a.edges {
        for (f, ends_b) in &cap_b.edges {
            let ends = [ends_a.map(|i| &cap_a.corners[i]), ends_b.map(|i| &cap_b.corners[i])];
            if let Some((mut gap, at)) = crossing(ends, &normal) {
                gap.feature = edge_code(a.0, *e) << 16 | edge_code(b.0, *f);
                events.push(Event { gap, at, order: (1, e.min(f) << 16 | e.max(f)) });
            }
        }
    }

    deliver(events, &ratio, MERGE * size, reach, out);
    SCRATCH.set(scratch);
}

/// Merges events at one place, and appends those within reach.
fn deliver(events: &mut [Event], ratio: &Ratio, merge: f64, reach: f64, out: &mut Vec<Gap>) {
    // names are unique and settle ties; a stable sort would allocate
    events.sort_unstable_by_key(|event| (event.order, event.gap.feature));
    let first = out.len();
    for i in 0..events.len() {
        if events[..i]
            .iter()
            .all(|kept| (kept.at - events[i].at).norm_squared() > merge * merge || kept.order.0 == 2)
        {
            push(events[i].gap, reach, out);
        } else {
            events[i].order.0 = 2;
        }
    }
    // round-off has lost the event of the metric itself
    if events.is_empty() && out.len() == first {
        let [on_a, on_b] = ratio.near;
        push(Gap { gap: ratio.gap(), normal: ratio.normal(), on_a, on_b, feature: u32::MAX }, reach, out);
    }
}

/// The crossing of two edges seen along the normal, in the true pose, and where it is along the plane.
fn crossing([a, b]: [[&Corner; 2]; 2], normal: &Vector3<f64>) -> Option<(Gap, Vector2<f64>)> {
    // along the plane
    let (u, v, w) = (a[1].at - a[0].at, b[1].at - b[0].at, b[0].at - a[0].at);
    let area = u.perp(&v);
    let (s, t) = (w.perp(&v) / area, w.perp(&u) / area);
    if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
        return None;
    }
    // in the true pose
    let (u3, v3) = (a[1].place - a[0].place, b[1].place - b[0].place);
    let cross = u3.cross(&v3);
    let sine = cross.norm();
    if !(sine > PARALLEL * u3.norm() * v3.norm()) {
        return None;
    }
    let n = if cross.dot(normal) < 0.0 { -cross / sine } else { cross / sine };
    if n.dot(normal) < CROSSING {
        return None;
    }
    // nearest points of the two lines
    let w3 = b[0].place - a[0].place;
    let core = n.dot(&w3);
    let s3 = w3.cross(&v3).dot(&cross) / (sine * sine);
    let p = a[0].place + s3 * u3;
    Some((Gap::rounded((p, 0.0), (p + core * n, 0.0), core, n, 0), a[0].at + s * u))
}

/// A corner of a facet, in the local frame.
fn vertex_of(solid: &Solid<'_>, facet: usize) -> Point3<f64> {
    solid.vertices[solid.topology.corners[solid.topology.range(facet).start] as usize]
}

/// Facets first, then edges, then vertices: fewer than 2^16 together.
fn facet_code(facet: usize) -> u32 {
    u32::try_from(facet).unwrap_or(u32::MAX)
}

fn edge_code(solid: &Solid<'_>, edge: u32) -> u32 {
    facet_code(solid.topology.facets()) + edge
}

fn vertex_code(solid: &Solid<'_>, vertex: u32) -> u32 {
    facet_code(solid.topology.facets() + solid.topology.edges.len()) + vertex
}

/// A feature of a solid, by its number among those of its kind.
pub(super) enum Feature {
    Facet,
    Edge(usize),
    Vertex,
}

/// The feature that one half of the name of an event speaks of.
pub(super) fn feature(solid: &Solid<'_>, code: u32) -> Feature {
    let (facets, edges) = (solid.topology.facets(), solid.topology.edges.len());
    match code as usize {
        code if code < facets => Feature::Facet,
        code if code < facets + edges => Feature::Edge(code - facets),
        _ => Feature::Vertex,
    }
}

/// Two unit vectors u, v with u × v = n.
fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let mut axis = Vector3::zeros();
    axis[n.iamin()] = 1.0;
    let u = axis.cross(n).normalize();
    [u, n.cross(&u)]
}
