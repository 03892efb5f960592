//! Gap of two shapes: its normal, its witness points and the bookkeeping that the plane and space share.
//! Gap functions of `planar` and `spatial` build it; the simulator turns it into a contact row.

use nalgebra::{AbstractRotation, Isometry, Point, SVector, Translation};

/// Length [m] below which a direction cannot be normalized without losing digits to underflow: squares of smaller
/// numbers are subnormal. Sensible range 1e-150 to 1e-20; a larger value replaces true normals by fixed ones.
pub(crate) const MIN_DIRECTION_LENGTH: f64 = 1e-100;

/// Distance beyond the reach within which vertices are still followed on a half-plane or half-space, relative to the
/// size of the shape. Round-off, and facets that are flat to 1e-10 only, must not cut the way from one vertex to the
/// next. Sensible range 1e-10 to 1e-6; a larger value costs time only.
pub(crate) const VERTEX_SEARCH_RELATIVE: f64 = 1e-9;

/// Distance beyond the end of an edge or segment at which the foot of a point still counts as on it, relative to the
/// shorter of the two. Sensible range 1e-12 to 1e-6. Zero would lose both events at an end where two vertices meet to
/// round-off, as in a stack of equal boxes; a larger value shows as an error of the distance near corners.
pub(crate) const END_RELATIVE: f64 = 1e-9;

/// Gap of one feature pair of two shapes, with its witness points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap<const D: usize> {
    /// Gap [m], negative when overlapping.
    pub gap: f64,
    /// Unit normal from a to b [1], in the world.
    pub normal: SVector<f64, D>,
    /// Witness point on a, in the world [m].
    pub on_a: Point<f64, D>,
    /// Witness point on b, in the world [m].
    pub on_b: Point<f64, D>,
    /// Identifier of the feature pair, stable from step to step and unique within one call.
    ///
    /// For shapes of different kinds it does not depend on their order. On a half-plane or half-space it is the
    /// index of the vertex or cap. For two shapes of one kind the upper and lower 16 bits name the features of a
    /// and of b, and are exchanged when a and b are. No identifier can be free of the order: turning two equal
    /// boxes by 180° about their middle exchanges them.
    pub feature: u32,
}

impl<const D: usize> Gap<D> {
    /// Gap between core points `p` of a and `p + core · normal` of b, each wrapped in its radius.
    pub(crate) fn rounded(
        (p, r_a): (Point<f64, D>, f64),
        (q, r_b): (Point<f64, D>, f64),
        core: f64,
        normal: SVector<f64, D>,
        feature: u32,
    ) -> Self {
        Self { gap: core - (r_a + r_b), normal, on_a: p + normal * r_a, on_b: q - normal * r_b, feature }
    }

    /// Gap between two balls; `fallback` is the normal of concentric ones.
    pub(crate) fn of_balls(
        (p, r_a): (Point<f64, D>, f64),
        (q, r_b): (Point<f64, D>, f64),
        fallback: SVector<f64, D>,
    ) -> Self {
        let d = q - p;
        let core = d.norm();
        let normal = if core > MIN_DIRECTION_LENGTH { d / core } else { fallback };
        Self::rounded((p, r_a), (q, r_b), core, normal, 0)
    }

    /// Exchanges the roles of a and b.
    pub(crate) fn swap(&mut self) {
        self.normal = -self.normal;
        std::mem::swap(&mut self.on_a, &mut self.on_b);
    }
}

/// Appends a gap that is within reach [m]; NaN is not.
pub(crate) fn push_within<const D: usize>(gap: Gap<D>, reach: f64, out: &mut Vec<Gap<D>>) {
    if gap.gap <= reach {
        out.push(gap);
    }
}

/// Event at one end of a contact: the lesser gap of the vertex of a and of the vertex of b. Gaps within `tie` [m]
/// count as equal and `a_first` decides, so that round-off does not.
pub(crate) fn first_event<const D: usize>(
    of_a: Option<Gap<D>>,
    of_b: Option<Gap<D>>,
    tie: f64,
    a_first: bool,
) -> Option<Gap<D>> {
    let (Some(g), Some(h)) = (of_a, of_b) else { return of_a.or(of_b) };
    let a_first = if (g.gap - h.gap).abs() <= tie { a_first } else { g.gap < h.gap };
    Some(if a_first { g } else { h })
}

/// Keeps those gaps from index `first` on that pass a test, in their order.
pub(crate) fn retain_from<const D: usize>(
    out: &mut Vec<Gap<D>>,
    first: usize,
    keep: impl Fn(&Gap<D>) -> bool,
) {
    let mut kept = first;
    for i in first..out.len() {
        if keep(&out[i]) {
            out.swap(kept, i);
            kept += 1;
        }
    }
    out.truncate(kept);
}

/// Shape with its pose in the world.
type PosedShape<'a, S, R, const D: usize> = (&'a S, &'a Isometry<f64, R, D>);

/// Appends the gaps of a pair that `ordered` computes from the shape of lower rank and the other one. Poses are given
/// to it relative to the position of a, so that digits are not lost far from the origin of the world.
pub(crate) fn gaps_by_rank<S, R: AbstractRotation<f64, D>, const D: usize>(
    (a, pose_a): PosedShape<'_, S, R, D>,
    (b, pose_b): PosedShape<'_, S, R, D>,
    rank: impl Fn(&S) -> u8,
    out: &mut Vec<Gap<D>>,
    ordered: impl FnOnce(PosedShape<'_, S, R, D>, PosedShape<'_, S, R, D>, &mut Vec<Gap<D>>),
) {
    let origin = pose_a.translation.vector;
    let local_a = Isometry::from_parts(Translation::identity(), pose_a.rotation.clone());
    let local_b = Isometry::from_parts((pose_b.translation.vector - origin).into(), pose_b.rotation.clone());
    let first = out.len();
    let swapped = rank(a) > rank(b);
    if swapped {
        ordered((b, &local_b), (a, &local_a), out);
    } else {
        ordered((a, &local_a), (b, &local_b), out);
    }
    for gap in &mut out[first..] {
        gap.on_a += origin;
        gap.on_b += origin;
        if swapped {
            gap.swap();
        }
    }
}
