//! Gaps between capsules and spheres: segments and points wrapped in a radius.
//!
//! Two segments have a nearest pair of points, in the interior of both when they cross, but parallel capsules
//! need a gap at each end of their overlap to rest on each other. So at each end where the segments face, the
//! end point of one against the other segment is an event too, as in the plane. Crossing segments have one
//! gap, unless they are so nearly parallel that the ends bear as well.

use nalgebra::{Isometry3, Point3, Vector3};

use super::Shape;
use super::gap::{Gap, TINY, push};

/// How far beyond the end of a segment, relative to the shorter of the two, the foot of a point still counts
/// as on it. Zero would lose both events at an end where two ends meet to round-off; more than 1e-6 would show
/// as an error of the distance near the ends.
const END_SLACK: f64 = 1e-9;

/// Sine of the angle below which segments have no nearest interior points, only ends. Round-off moves the
/// crossing point along the segments by 1e-16 · distance / sine², 1e-6 of the distance here and more for a
/// smaller value; the gaps at the ends exceed the least one by at most length² sine² / (2 distance).
const PARALLEL: f64 = 1e-5;

/// Sine of the angle below which the ends of crossing segments bear too. Smaller lets a capsule that lies
/// along another rock before its ends are seen; larger gives plainly crossing capsules idle gaps.
const NEARLY_PARALLEL: f64 = 0.1;

/// Feature code of the interior of a segment; its ends are 0 and 1.
const INTERIOR: u32 = 2;

/// A segment in the world, wrapped in a radius.
pub(super) struct Segment {
    pub(super) ends: [Point3<f64>; 2],
    pub(super) tangent: Vector3<f64>,
    pub(super) length: f64,
    pub(super) radius: f64,
    /// Unit vector across the segment, the normal for a point on it.
    across: Vector3<f64>,
}

impl Segment {
    /// The axis of a capsule.
    pub(super) fn of(shape: &Shape, pose: &Isometry3<f64>) -> Option<Self> {
        let Shape::Capsule { half_length: l, radius } = shape else { return None };
        Some(Self {
            ends: [pose * Point3::new(0.0, 0.0, -l), pose * Point3::new(0.0, 0.0, *l)],
            tangent: pose.rotation * Vector3::z(),
            length: 2.0 * l,
            radius: *radius,
            across: pose.rotation * Vector3::x(),
        })
    }

    /// Place of the foot of a point, measured from the first end [m].
    fn along(&self, point: &Point3<f64>) -> f64 {
        self.tangent.dot(&(point - self.ends[0]))
    }

    fn faces(&self, point: &Point3<f64>, slack: f64) -> bool {
        (-slack..=self.length + slack).contains(&self.along(point))
    }

    /// Direction along the segment out of an end.
    fn outward(&self, end: usize) -> Vector3<f64> {
        if end == 0 { -self.tangent } else { self.tangent }
    }

    /// Foot of a point on the line of the segment, distance, and unit vector from the foot to the point.
    fn foot(&self, point: &Point3<f64>) -> (Point3<f64>, f64, Vector3<f64>) {
        let foot = self.ends[0] + self.along(point) * self.tangent;
        let d = point - foot;
        let distance = d.norm();
        if distance <= TINY { (foot, 0.0, self.across) } else { (foot, distance, d / distance) }
    }
}

/// A capsule against a sphere: the nearest point of the segment.
pub(super) fn sphere_gaps(a: &Segment, centre: Point3<f64>, radius: f64, reach: f64, out: &mut Vec<Gap>) {
    let along = a.along(&centre);
    let end = usize::from(along > 0.0);
    let d = centre - a.ends[end];
    let beyond = (along < 0.0 || along > a.length) && d.norm() > TINY;
    let gap = if beyond {
        let core = d.norm();
        Gap::rounded((a.ends[end], a.radius), (centre, radius), core, d / core, code(end))
    } else {
        let (foot, core, n) = a.foot(&centre);
        Gap::rounded((foot, a.radius), (centre, radius), core, n, INTERIOR)
    };
    push(gap, reach, out);
}

/// Two capsules: where they cross, and the ends where they face.
pub(super) fn capsule_gaps(a: &Segment, b: &Segment, reach: f64, out: &mut Vec<Gap>) {
    // where they cross
    let cross = a.tangent.cross(&b.tangent);
    let sine = cross.norm();
    if sine > PARALLEL
        && let Some(gap) = crossing(a, b, cross / sine)
    {
        push(gap, reach, out);
        if sine > NEARLY_PARALLEL {
            return;
        }
    }
    let slack = END_SLACK * a.length.min(b.length);

    // two ends as the nearest features
    if let Some((i, j)) = nearest_ends(a, b, slack) {
        let d = b.ends[j] - a.ends[i];
        let core = d.norm();
        let feature = code(i) << 16 | code(j);
        push(Gap::rounded((a.ends[i], a.radius), (b.ends[j], b.radius), core, d / core, feature), reach, out);
    }

    // one event per end of the overlap
    let against = a.tangent.dot(&b.tangent) < 0.0;
    for i in 0..2 {
        let j = if against { 1 - i } else { i };
        let of_b = a.faces(&b.ends[j], slack).then(|| {
            let (foot, core, n) = a.foot(&b.ends[j]);
            Gap::rounded((foot, a.radius), (b.ends[j], b.radius), core, n, INTERIOR << 16 | code(j))
        });
        let of_a = b.faces(&a.ends[i], slack).then(|| {
            let (foot, core, n) = b.foot(&a.ends[i]);
            Gap::rounded((a.ends[i], a.radius), (foot, b.radius), core, -n, code(i) << 16 | INTERIOR)
        });
        let event = match (of_a, of_b) {
            (Some(g), Some(h)) => {
                let tie = (g.gap - h.gap).abs() <= slack;
                let a_first = if tie { i <= j } else { g.gap < h.gap };
                Some(if a_first { g } else { h })
            }
            (g, h) => g.or(h),
        };
        if let Some(gap) = event {
            push(gap, reach, out);
        }
    }
}

fn code(end: usize) -> u32 {
    u32::from(end != 0)
}

/// The nearest points of two segments when both are interior, `n` being the unit common perpendicular.
fn crossing(a: &Segment, b: &Segment, n: Vector3<f64>) -> Option<Gap> {
    let w = b.ends[0] - a.ends[0];
    let (u, v) = (a.tangent, b.tangent);
    let cosine = u.dot(&v);
    // s u − t v = w − (n·w) n, against the two tangents
    let sine2 = u.cross(&v).norm_squared();
    let s = (w.dot(&u) - cosine * w.dot(&v)) / sine2;
    let t = (cosine * w.dot(&u) - w.dot(&v)) / sine2;
    if !((0.0..=a.length).contains(&s) && (0.0..=b.length).contains(&t)) {
        return None;
    }
    // along the perpendicular and not along the difference of the points: that is round-off when they touch
    let distance = n.dot(&w);
    let (n, core) = if distance < 0.0 { (-n, -distance) } else { (n, distance) };
    let p = a.ends[0] + s * u;
    let feature = INTERIOR << 16 | INTERIOR;
    Some(Gap::rounded((p, a.radius), (p + core * n, b.radius), core, n, feature))
}

/// The ends that are the nearest points of two segments, if two ends are: each lies beyond the other.
fn nearest_ends(a: &Segment, b: &Segment, slack: f64) -> Option<(usize, usize)> {
    [(0, 1), (1, 0), (0, 0), (1, 1)].into_iter().find(|&(i, j)| {
        let d = b.ends[j] - a.ends[i];
        d.dot(&a.outward(i)) > slack && -d.dot(&b.outward(j)) > slack
    })
}
