//! Gaps between a box or polyhedron and a sphere or capsule, from points and segments wrapped in a radius against
//! the nearest facet, edge or vertex.

use nalgebra::{Isometry3, Point3, Vector3};

use super::capsule::{INTERIOR, PARALLEL_SEGMENTS_SINE, Segment};
use super::gap::Gap;
use super::solid::Solid;
use crate::gap::{MIN_DIRECTION_LENGTH, push_within, retain_from};

/// Sine of the angle by which the normal at an edge may leave the normal cone between its facets, and depth relative
/// to the size by which an edge event may lie below the shortest way out. A rod on a table meets the rim at a right
/// angle to the top, on the boundary of the cone. Sensible range 1e-12 to 1e-6: zero loses that event, more adds
/// events of edges that do not face the segment.
const NORMAL_CONE_TOLERANCE: f64 = 1e-9;

/// Nearest point of a solid to a point.
struct NearestPoint {
    foot: Point3<f64>,
    distance: f64,
    normal: Vector3<f64>,
    code: u32,
}

/// Gap of a solid and a sphere: the distance of its centre, or its depth behind the nearest facet.
pub(super) fn sphere_gap(
    (solid, pose): (&Solid<'_>, &Isometry3<f64>),
    centre: Point3<f64>,
    radius: f64,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    if let Some(near) = nearest(solid, pose, centre) {
        push_within(near.gap(centre, radius, 0), reach, out);
    }
}

/// Gaps of a solid and a capsule.
///
/// The two end caps always have a gap each. Where the segment passes over an edge or a vertex that is nearest there,
/// that feature has a gap too. A segment that goes right through leaves by the shortest way: along the normal of a
/// facet or the common perpendicular with an edge.
pub(super) fn capsule_gaps(
    (solid, pose): (&Solid<'_>, &Isometry3<f64>),
    capsule: &Segment,
    reach: f64,
    out: &mut Vec<Gap>,
) {
    let (ends, radius) = (capsule.ends, capsule.radius);
    let first = out.len();
    let [Some(start), Some(end)] = ends.map(|p| nearest(solid, pose, p)) else { return };
    out.extend([start.gap(ends[0], radius, 0), end.gap(ends[1], radius, 1)]);

    // the facet that separates most, and the part of the segment below all of them
    let mut best = (f64::NEG_INFINITY, 0, 0);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (f, a) in solid.facets.iter().enumerate() {
        let height = ends.map(|p| height(solid, a, &pose.inverse_transform_point(&p)));
        let lower = usize::from(height[1] < height[0]);
        if height[lower] > best.0 {
            best = (height[lower], f, lower);
        }
        let leaves = height[0] / (height[0] - height[1]);
        if height[1] > height[0] {
            to = to.min(leaves);
        } else if height[0] > height[1] {
            from = from.max(leaves);
        } else if height[0] > 0.0 {
            to = f64::NEG_INFINITY;
        }
    }
    let inside = from < to;

    // edges that the segment crosses
    let crossings = out.len();
    let mut deepest = best.0;
    let topology = solid.topology;
    for f in 0..topology.facets() {
        let range = topology.range(f);
        for i in range.clone() {
            let across = topology.neighbours[i] as usize;
            if across < f {
                continue;
            }
            let next = if i + 1 == range.end { range.start } else { i + 1 };
            let [p, q] = [i, next].map(|i| pose * solid.vertices[topology.corners[i] as usize]);
            let normals = [f, across].map(|f| (pose.rotation * solid.facets[f]).normalize());
            if let Some(mut gap) = crossing(p, q, normals, capsule) {
                deepest = deepest.max(gap.gap + radius);
                gap.feature |= (code(topology.facets()) + topology.sides[i]) << 16;
                out.push(gap);
            }
        }
    }

    // drop edges on the far side; a segment that goes through leaves by the shortest way
    let limit = if inside { deepest } else { 0.0 } - NORMAL_CONE_TOLERANCE * solid.size;
    retain_from(out, crossings, |gap| gap.gap + radius >= limit);
    if !inside {
        out.extend(vertex_gap((solid, pose), capsule));
    }
    if inside {
        let (core, f, end) = best;
        let feature = code(f) << 16 | u32::from(end == 1);
        if core >= deepest && out[first..].iter().all(|g| g.feature != feature) {
            let n = (pose.rotation * solid.facets[f]).normalize();
            out.push(Gap::rounded((ends[end] - core * n, 0.0), (ends[end], radius), core, n, feature));
        }
    }

    retain_from(out, first, |gap| gap.gap <= reach);
}

/// Gap at the vertex nearest to the segment, if the segment passes it and no edge or facet is nearer.
fn vertex_gap((solid, pose): (&Solid<'_>, &Isometry3<f64>), capsule: &Segment) -> Option<Gap> {
    let foot = |v: &Point3<f64>| {
        let along = capsule.tangent.dot(&(v - capsule.ends[0]));
        (capsule.ends[0] + along * capsule.tangent, along)
    };
    let distance = |v: &Point3<f64>| (v - foot(v).0).norm_squared();
    let vertices = solid.vertices.iter().map(|v| pose * v).enumerate();
    let (index, v) = vertices.reduce(|u, v| if distance(&v.1) < distance(&u.1) { v } else { u })?;
    let (foot, along) = foot(&v);
    let d = foot - v;
    let core = d.norm();
    // away from every edge at the vertex
    let away = |ends: &[u32; 2]| {
        let other = if ends[0] as usize == index {
            ends[1]
        } else if ends[1] as usize == index {
            ends[0]
        } else {
            return true;
        };
        d.dot(&(pose * solid.vertices[other as usize] - v)) <= 0.0
    };
    let passes = (0.0..=capsule.length).contains(&along)
        && core > MIN_DIRECTION_LENGTH
        && solid.topology.edges.iter().all(away);
    let code = code(solid.topology.facets() + solid.topology.edges.len() + index);
    passes.then(|| Gap::rounded((v, 0.0), (foot, capsule.radius), core, d / core, code << 16 | INTERIOR))
}

impl NearestPoint {
    fn gap(&self, centre: Point3<f64>, radius: f64, end: u32) -> Gap {
        let feature = self.code << 16 | end;
        Gap::rounded((self.foot, 0.0), (centre, radius), self.distance, self.normal, feature)
    }
}

fn code(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Height of a point above a facet, in the local frame [m].
fn height(solid: &Solid<'_>, a: &Vector3<f64>, point: &Point3<f64>) -> f64 {
    (a.dot(&(point - solid.centre)) - 1.0) / a.norm()
}

/// Nearest point of the surface: over the facets that the point is above, or the one it is least below.
fn nearest(solid: &Solid<'_>, pose: &Isometry3<f64>, point: Point3<f64>) -> Option<NearestPoint> {
    let local = pose.inverse_transform_point(&point);
    if !local.coords.norm_squared().is_finite() {
        return None;
    }
    let (mut top, mut found) = ((f64::NEG_INFINITY, 0), None::<NearestPoint>);
    for (f, a) in solid.facets.iter().enumerate() {
        let h = height(solid, a, &local);
        if h > top.0 {
            top = (h, f);
        }
        if h <= 0.0 || found.as_ref().is_some_and(|near| h >= near.distance) {
            continue;
        }
        let near = nearest_of_facet(solid, f, &local, h);
        if found.as_ref().is_none_or(|best| near.distance < best.distance) {
            found = Some(near);
        }
    }
    // inside, or so near that the direction is lost
    let near = match found {
        Some(near) if near.distance > MIN_DIRECTION_LENGTH => near,
        _ => {
            let n = solid.facets[top.1].normalize();
            NearestPoint { foot: local - top.0 * n, distance: top.0, normal: n, code: code(top.1) }
        }
    };
    let (foot, normal) = (pose * near.foot, pose.rotation * near.normal);
    Some(NearestPoint { foot, normal, ..near })
}

/// Nearest point of a facet to a point at height `h` above it.
fn nearest_of_facet(solid: &Solid<'_>, facet: usize, point: &Point3<f64>, h: f64) -> NearestPoint {
    let topology = solid.topology;
    let n = solid.facets[facet].normalize();
    let range = topology.range(facet);
    let mut best: Option<NearestPoint> = None;
    for i in range.clone() {
        let next = if i + 1 == range.end { range.start } else { i + 1 };
        let (u, v) = (topology.corners[i], topology.corners[next]);
        let (p, q) = (solid.vertices[u as usize], solid.vertices[v as usize]);
        let e = q - p;
        // beyond this side
        if n.cross(&e).dot(&(point - p)) >= 0.0 {
            continue;
        }
        let t = e.dot(&(point - p)) / e.norm_squared();
        let vertices = code(topology.facets() + topology.edges.len());
        let (foot, code) = if t <= 0.0 {
            (p, vertices + u)
        } else if t >= 1.0 {
            (q, vertices + v)
        } else {
            (p + t * e, code(topology.facets()) + topology.sides[i])
        };
        let d = point - foot;
        let distance = d.norm();
        if best.as_ref().is_none_or(|b| distance < b.distance) {
            let normal = if distance > MIN_DIRECTION_LENGTH { d / distance } else { n };
            best = Some(NearestPoint { foot, distance, normal, code });
        }
    }
    best.unwrap_or_else(|| NearestPoint { foot: point - h * n, distance: h, normal: n, code: code(facet) })
}

/// Gap at the nearest points of an edge from p to q, between two facets, and a segment, if both are interior and the
/// normal points outward at the edge; the caller adds the code of the edge.
fn crossing(p: Point3<f64>, q: Point3<f64>, normals: [Vector3<f64>; 2], segment: &Segment) -> Option<Gap> {
    let e = q - p;
    let (length, u) = (e.norm(), e.normalize());
    let v = segment.tangent;
    let cross = u.cross(&v);
    let sine2 = cross.norm_squared();
    if !(sine2 > PARALLEL_SEGMENTS_SINE * PARALLEL_SEGMENTS_SINE) {
        return None;
    }
    let w = segment.ends[0] - p;
    let cosine = u.dot(&v);
    let s = (w.dot(&u) - cosine * w.dot(&v)) / sine2;
    let t = (cosine * w.dot(&u) - w.dot(&v)) / sine2;
    if !((0.0..=length).contains(&s) && (0.0..=segment.length).contains(&t)) {
        return None;
    }
    // outward: away from both facets, which lie to the left of the edge and to its right
    let into = [normals[0].cross(&u), u.cross(&normals[1])];
    let n = cross / sine2.sqrt();
    let outward = |n: &Vector3<f64>| {
        into.iter().all(|m| n.dot(m) <= NORMAL_CONE_TOLERANCE) && n.dot(&(normals[0] + normals[1])) > 0.0
    };
    let n = [n, -n].into_iter().find(outward)?;
    let core = n.dot(&w);
    let foot = p + s * u;
    Some(Gap::rounded((foot, 0.0), (foot + core * n, segment.radius), core, n, INTERIOR))
}
