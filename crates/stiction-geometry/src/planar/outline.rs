//! Gaps between polygons, capsules and disks, from outlines of straight edges wrapped in a radius. The core of a
//! capsule is a polygon of two vertices and two edges, so that one code serves all pairs.

use nalgebra::{Isometry2, Point2, Vector2};

use super::gap::Gap;
use super::{Polygon, Shape};
use crate::gap::{END_RELATIVE, MIN_DIRECTION_LENGTH, first_event, push_within};

/// Outward normals of the two sides of a capsule, below and above its axis.
const SIDES: [Vector2<f64>; 2] = [Vector2::new(0.0, -1.0), Vector2::new(0.0, 1.0)];

/// Core of an outline.
enum OutlineCore<'a> {
    Segment([Point2<f64>; 2]),
    Polygon(&'a Polygon),
}

/// Closed chain of edges in a pose, wrapped in a radius.
pub(super) struct Outline<'a> {
    core: OutlineCore<'a>,
    radius: f64,
    pose: &'a Isometry2<f64>,
}

/// Edge of an outline, in the world.
pub(super) struct OutlineEdge {
    /// Start, end.
    pub(super) ends: [Point2<f64>; 2],
    /// Vertex before the start, vertex after the end.
    beyond: [Point2<f64>; 2],
    pub(super) tangent: Vector2<f64>,
    pub(super) normal: Vector2<f64>,
    pub(super) length: f64,
    /// Feature codes of start and end: vertices are even, edges odd.
    pub(super) vertex_codes: [u32; 2],
    pub(super) code: u32,
}

impl<'a> Outline<'a> {
    /// Outline of a capsule, polygon or rounded polygon.
    pub(super) fn of(shape: &'a Shape, pose: &'a Isometry2<f64>) -> Option<Self> {
        let (core, rounding) = shape.core();
        match core {
            Shape::Capsule { half_length: l, radius } => {
                let ends = [Point2::new(-l, 0.0), Point2::new(*l, 0.0)];
                Some(Self { core: OutlineCore::Segment(ends), radius: *radius, pose })
            }
            Shape::Polygon(polygon) => {
                Some(Self { core: OutlineCore::Polygon(polygon), radius: rounding, pose })
            }
            Shape::Disk { .. } | Shape::Ellipse { .. } | Shape::Rounded { .. } | Shape::HalfPlane => None,
        }
    }

    pub(super) fn pose(&self) -> &Isometry2<f64> {
        self.pose
    }

    pub(super) fn radius(&self) -> f64 {
        self.radius
    }

    /// Point inside the core, in the world.
    pub(super) fn middle(&self) -> Point2<f64> {
        match &self.core {
            OutlineCore::Segment(_) => self.pose.translation.vector.into(),
            OutlineCore::Polygon(polygon) => self.pose * polygon.centre(),
        }
    }

    /// Index of the vertex farthest along a direction of the world.
    pub(super) fn farthest_vertex(&self, direction: &Vector2<f64>) -> usize {
        let d = self.pose.rotation.inverse_transform_vector(direction);
        match &self.core {
            OutlineCore::Segment(_) => usize::from(d.x > 0.0),
            OutlineCore::Polygon(polygon) => polygon.farthest(&d),
        }
    }

    pub(super) fn vertices(&self) -> &[Point2<f64>] {
        match &self.core {
            OutlineCore::Segment(ends) => ends,
            OutlineCore::Polygon(polygon) => polygon.vertices(),
        }
    }

    fn normals(&self) -> &[Vector2<f64>] {
        match &self.core {
            OutlineCore::Segment(_) => &SIDES,
            OutlineCore::Polygon(polygon) => polygon.normals(),
        }
    }

    pub(super) fn edge(&self, i: usize) -> OutlineEdge {
        let v = self.vertices();
        let n = v.len();
        let (j, before, after) = ((i + 1) % n, (i + n - 1) % n, (i + 2) % n);
        let normal = self.pose.rotation * self.normals()[i];
        OutlineEdge {
            ends: [self.pose * v[i], self.pose * v[j]],
            beyond: [self.pose * v[before], self.pose * v[after]],
            tangent: Vector2::new(-normal.y, normal.x),
            normal,
            length: (v[j] - v[i]).norm(),
            vertex_codes: [vertex_code(i), vertex_code(j)],
            code: vertex_code(i) + 1,
        }
    }

    /// Edge of greatest separation from a point, and that separation.
    fn facing_edge(&self, point: Point2<f64>) -> (usize, f64) {
        let local = self.pose.inverse_transform_point(&point);
        greatest(self.vertices().iter().zip(self.normals()).map(|(v, n)| n.dot(&(local - v))))
    }

    /// Edge of greatest separation from another outline, and that separation.
    fn separating_edge(&self, other: &Self) -> (usize, f64) {
        let relative = self.pose.inv_mul(other.pose);
        greatest(self.vertices().iter().zip(self.normals()).map(|(v, n)| {
            let direction = relative.rotation.inverse_transform_vector(n);
            let (_, nearest) = greatest(other.vertices().iter().map(|w| -direction.dot(&w.coords)));
            n.dot(&(relative.translation.vector - v.coords)) - nearest
        }))
    }

    /// Edge that faces a world direction most, among the two at the vertex farthest along it.
    fn incident_edge(&self, direction: Vector2<f64>) -> usize {
        let d = self.pose.rotation.inverse_transform_vector(&direction);
        let (k, _) = greatest(self.vertices().iter().map(|v| d.dot(&v.coords)));
        let before = (k + self.vertices().len() - 1) % self.vertices().len();
        if d.dot(&self.normals()[before]) > d.dot(&self.normals()[k]) { before } else { k }
    }
}

/// Even, so that the odd code next to it names the edge that starts at the vertex.
fn vertex_code(i: usize) -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "a polygon has fewer than 2^15 vertices")]
    let i = i as u32;
    2 * i
}

/// First greatest value and its index.
fn greatest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold((0, f64::NEG_INFINITY), |best, (i, x)| if x > best.1 { (i, x) } else { best })
}

/// Gap of an outline and a disk: of the nearest edge or vertex, or of the edge of least depth for a centre inside.
pub(super) fn disk_gaps(a: &Outline, centre: Point2<f64>, radius: f64, reach: f64, out: &mut Vec<Gap>) {
    let (i, separation) = a.facing_edge(centre);
    if separation - (a.radius + radius) > reach {
        return;
    }
    let edge = a.edge(i);
    let along = edge.tangent.dot(&(centre - edge.ends[0]));
    let end = usize::from(along > 0.0);
    let d = centre - edge.ends[end];
    // beyond an end of the edge of greatest separation, that end is the nearest vertex
    let beyond = (along < 0.0 || along > edge.length) && d.norm() > MIN_DIRECTION_LENGTH;
    let gap = if beyond {
        let core = d.norm();
        let ends = ((edge.ends[end], a.radius), (centre, radius));
        Gap::rounded(ends.0, ends.1, core, d / core, edge.vertex_codes[end])
    } else {
        let core = edge.normal.dot(&d);
        let foot = centre - core * edge.normal;
        Gap::rounded((foot, a.radius), (centre, radius), core, edge.normal, edge.code)
    };
    push_within(gap, reach, out);
}

/// Gaps of two outlines: the events of one pair of facing edges, at most one per end.
///
/// The pair is the edge of greatest separation and the edge of the other outline that faces it most. The contact
/// along it has two ends. At each end is an event: a vertex of one outline on an edge of the other, with the gap
/// measured along the normal of that edge. A clip point along the normal of the reference edge would give a row that
/// is not the gradient of the gap, because a clip point slides along its edge. Separated outlines may have two
/// vertices as their nearest features; that event takes the Euclidean distance.
pub(super) fn outline_gaps(a: &Outline, b: &Outline, reach: f64, out: &mut Vec<Gap>) {
    let (edge_a, separation_a) = a.separating_edge(b);
    let (edge_b, separation_b) = b.separating_edge(a);
    let separation = separation_a.max(separation_b);
    if separation - (a.radius + b.radius) > reach {
        return;
    }

    // the pair of facing edges, found from the side of greater separation
    let (e, f) = if separation_a >= separation_b {
        let e = a.edge(edge_a);
        let f = b.edge(b.incident_edge(-e.normal));
        (e, f)
    } else {
        let f = b.edge(edge_b);
        let e = a.edge(a.incident_edge(-f.normal));
        (e, f)
    };
    let slack = END_RELATIVE * e.length.min(f.length);

    // two vertices as the nearest features
    if let Some((i, j)) = nearest_corners(&e, &f, slack) {
        let d = f.ends[j] - e.ends[i];
        let core = d.norm();
        let feature = e.vertex_codes[i] << 16 | f.vertex_codes[j];
        push_within(
            Gap::rounded((e.ends[i], a.radius), (f.ends[j], b.radius), core, d / core, feature),
            reach,
            out,
        );
    }

    // an event deeper than the overlap of the outlines has its vertex beyond the body, not behind the edge
    let floor = separation - (a.radius + b.radius) - slack;

    // one vertex-edge event per end; facing edges run against each other, so start meets end
    for (i, j) in [(0, 1), (1, 0)] {
        let of_b = on_edge(&f.ends[j], &e, slack)
            .then(|| Gap::on_edge_of_a(&e, a.radius, (f.ends[j], f.vertex_codes[j]), b.radius))
            .filter(|g| g.gap >= floor);
        let of_a = on_edge(&e.ends[i], &f, slack)
            .then(|| Gap::on_edge_of_b((e.ends[i], e.vertex_codes[i]), a.radius, &f, b.radius))
            .filter(|g| g.gap >= floor);
        if let Some(gap) = first_event(of_a, of_b, slack, e.vertex_codes[i] <= f.vertex_codes[j]) {
            push_within(gap, reach, out);
        }
    }
}

impl Gap {
    /// Gap of a vertex of b and an edge of a.
    fn on_edge_of_a(edge: &OutlineEdge, r_a: f64, (vertex, code): (Point2<f64>, u32), r_b: f64) -> Self {
        let core = edge.normal.dot(&(vertex - edge.ends[0]));
        let foot = vertex - core * edge.normal;
        Self::rounded((foot, r_a), (vertex, r_b), core, edge.normal, edge.code << 16 | code)
    }

    /// Gap of a vertex of a and an edge of b.
    fn on_edge_of_b((vertex, code): (Point2<f64>, u32), r_a: f64, edge: &OutlineEdge, r_b: f64) -> Self {
        let core = edge.normal.dot(&(vertex - edge.ends[0]));
        let foot = vertex - core * edge.normal;
        Self::rounded((vertex, r_a), (foot, r_b), core, -edge.normal, code << 16 | edge.code)
    }
}

/// Whether the foot of a vertex lies on the edge.
fn on_edge(vertex: &Point2<f64>, edge: &OutlineEdge, slack: f64) -> bool {
    let along = edge.tangent.dot(&(vertex - edge.ends[0]));
    (-slack..=edge.length + slack).contains(&along)
}

/// Ends of two facing edges that are the nearest points of the whole outlines, if two vertices are: the line between
/// them lies in the normal cones of both.
fn nearest_corners(e: &OutlineEdge, f: &OutlineEdge, slack: f64) -> Option<(usize, usize)> {
    let in_cone = |edge: &OutlineEdge, i: usize, d: &Vector2<f64>| {
        let outward = if i == 0 { -edge.tangent } else { edge.tangent };
        let neighbour = edge.beyond[i] - edge.ends[i];
        // strict along this edge, which has events of its own; lenient along the neighbour, which has none here
        d.dot(&outward) > slack && d.dot(&neighbour) <= slack * neighbour.norm()
    };
    [(0, 1), (1, 0), (0, 0), (1, 1)].into_iter().find(|&(i, j)| {
        let d = f.ends[j] - e.ends[i];
        in_cone(e, i, &d) && in_cone(f, j, &-d)
    })
}
