//! Gaps between capsules and spheres, from segments and points wrapped in a radius.

use nalgebra::{Isometry3, Point3, Vector3};

use super::Shape;
use super::gap::Gap;
use crate::gap::{END_RELATIVE, MIN_DIRECTION_LENGTH, first_event, push_within};

/// Sine of the angle below which segments have no nearest interior points, only ends. Round-off moves the
/// crossing point along the segments by 1e-16 · distance / sine²: 1e-6 of the distance here, more for a smaller
/// value. A larger value is an error: gaps at the ends exceed the least one by up to length² sine² / (2 distance).
/// Sensible range 1e-6 to 1e-4.
pub(super) const PARALLEL_SEGMENTS_SINE: f64 = 1e-5;

/// Sine of the angle below which the ends of crossing segments have gaps too. Sensible range 0.02 to 0.3. Smaller
/// lets a capsule that lies along another rock before its ends are seen; larger gives clearly crossing capsules
/// idle gaps.
const NEARLY_PARALLEL_SINE: f64 = 0.1;

/// Feature code of the interior of a segment; its ends are 0 and 1.
pub(super) const INTERIOR: u32 = 2;

/// Segment in the world, wrapped in a radius.
pub(super) struct Segment {
    pub(super) ends: [Point3<f64>; 2],
    pub(super) tangent: Vector3<f64>,
    pub(super) length: f64,
    pub(super) radius: f64,
    /// Unit vector across the segment, the normal for a point on it.
    across: Vector3<f64>,
}

impl Segment {
    /// Axis of a capsule.
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

    /// Coordinate of the foot of a point, from the first end [m].
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
        if distance <= MIN_DIRECTION_LENGTH {
            (foot, 0.0, self.across)
        } else {
            (foot, distance, d / distance)
        }
    }
}

/// Gap of a capsule and a sphere, at the nearest point of the segment.
pub(super) fn sphere_gaps(a: &Segment, centre: Point3<f64>, radius: f64, reach: f64, out: &mut Vec<Gap>) {
    let along = a.along(&centre);
    let end = usize::from(along > 0.0);
    let d = centre - a.ends[end];
    let beyond = (along < 0.0 || along > a.length) && d.norm() > MIN_DIRECTION_LENGTH;
    let gap = if beyond {
        let core = d.norm();
        Gap::rounded((a.ends[end], a.radius), (centre, radius), core, d / core, end_code(end))
    } else {
        let (foot, core, n) = a.foot(&centre);
        Gap::rounded((foot, a.radius), (centre, radius), core, n, INTERIOR)
    };
    push_within(gap, reach, out);
}

/// Gaps of two capsules: where they cross, and at the ends of their overlap.
///
/// Crossing segments have one gap, at the nearest points in the interior of both. Parallel capsules need a gap at each
/// end of their overlap to rest on each other: the end point of one against the other segment. Crossing segments
/// have those too if they are nearly parallel.
pub(super) fn capsule_gaps(a: &Segment, b: &Segment, reach: f64, out: &mut Vec<Gap>) {
    // where they cross
    let cross = a.tangent.cross(&b.tangent);
    let sine = cross.norm();
    if sine > PARALLEL_SEGMENTS_SINE
        && let Some(gap) = crossing(a, b, cross / sine)
    {
        push_within(gap, reach, out);
        if sine > NEARLY_PARALLEL_SINE {
            return;
        }
    }
    let slack = END_RELATIVE * a.length.min(b.length);

    // two ends as the nearest features
    if let Some((i, j)) = nearest_ends(a, b, slack) {
        let d = b.ends[j] - a.ends[i];
        let core = d.norm();
        let feature = end_code(i) << 16 | end_code(j);
        push_within(
            Gap::rounded((a.ends[i], a.radius), (b.ends[j], b.radius), core, d / core, feature),
            reach,
            out,
        );
    }

    // one event per end of the overlap
    let against = a.tangent.dot(&b.tangent) < 0.0;
    for i in 0..2 {
        let j = if against { 1 - i } else { i };
        let of_b = a.faces(&b.ends[j], slack).then(|| {
            let (foot, core, n) = a.foot(&b.ends[j]);
            Gap::rounded((foot, a.radius), (b.ends[j], b.radius), core, n, INTERIOR << 16 | end_code(j))
        });
        let of_a = b.faces(&a.ends[i], slack).then(|| {
            let (foot, core, n) = b.foot(&a.ends[i]);
            Gap::rounded((a.ends[i], a.radius), (foot, b.radius), core, -n, end_code(i) << 16 | INTERIOR)
        });
        if let Some(gap) = first_event(of_a, of_b, slack, i <= j) {
            push_within(gap, reach, out);
        }
    }
}

/// Feature code of an end.
fn end_code(end: usize) -> u32 {
    u32::from(end != 0)
}

/// Gap at the nearest points of two segments if both are interior; `n` is the unit common perpendicular.
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
    // along the perpendicular: the difference of the points is round-off when they touch
    let distance = n.dot(&w);
    let (n, core) = if distance < 0.0 { (-n, -distance) } else { (n, distance) };
    let p = a.ends[0] + s * u;
    let feature = INTERIOR << 16 | INTERIOR;
    Some(Gap::rounded((p, a.radius), (p + core * n, b.radius), core, n, feature))
}

/// Ends that are the nearest points of two segments, if two ends are: each lies beyond the other.
fn nearest_ends(a: &Segment, b: &Segment, slack: f64) -> Option<(usize, usize)> {
    [(0, 1), (1, 0), (0, 0), (1, 1)].into_iter().find(|&(i, j)| {
        let d = b.ends[j] - a.ends[i];
        d.dot(&a.outward(i)) > slack && -d.dot(&b.outward(j)) > slack
    })
}
