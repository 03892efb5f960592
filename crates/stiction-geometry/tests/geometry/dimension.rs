//! Plane and space behind one trait, so that one test checks the contract of both.

use std::f64::consts::PI;
use std::fmt::Debug;

use nalgebra::{
    AbstractRotation, Isometry, Isometry2, Isometry3, Point, Point2, Point3, SVector, Translation3,
    UnitComplex, UnitQuaternion, Vector2, Vector3,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction_geometry::{Gap, Gradient, NoGap, Ratio, RatioCertificate, planar, spatial};

use crate::scenes::{planar_shapes, spatial_shapes};

/// Pose in a dimension.
pub(crate) type PoseIn<S, const D: usize> = Isometry<f64, <S as Dimension<D>>::Rotation, D>;

/// Plane or space, as far as the shared tests need it.
pub(crate) trait Dimension<const D: usize> {
    type Shape: Clone + Debug + PartialEq;
    type Rotation: AbstractRotation<f64, D> + Copy + Debug;
    /// Half-plane or half-space, whose normal is the last axis.
    const HALF_SPACE: Self::Shape;
    /// Directions that a pose can move in: D translations, then rotations.
    const DIRECTIONS: usize;

    fn shapes() -> Vec<Self::Shape>;
    fn kind(shape: &Self::Shape) -> &'static str;
    fn has_gap(a: &Self::Shape, b: &Self::Shape) -> bool;
    fn gaps(
        a: (&Self::Shape, &PoseIn<Self, D>),
        b: (&Self::Shape, &PoseIn<Self, D>),
        reach: f64,
        out: &mut Vec<Gap<D>>,
    ) -> Result<(), NoGap>;
    /// Radius around the core of a shape, zero when the shape is its own core.
    fn radius(shape: &Self::Shape) -> f64;
    /// Gap of the ratio metric, if the pair has one.
    fn ratio_gap(a: (&Self::Shape, &PoseIn<Self, D>), b: (&Self::Shape, &PoseIn<Self, D>)) -> Option<f64>;
    /// Random pose within a spread [m].
    fn pose(rng: &mut ChaCha8Rng, spread: f64) -> PoseIn<Self, D>;
    /// Small rotation about one axis, `axis` counted from 0.
    fn rotation(axis: usize, angle: f64) -> Self::Rotation;
    /// Number of poses of a pair in tests of rows: fewer of the many pairs that share one method.
    fn poses(a: &Self::Shape, b: &Self::Shape) -> usize;
    /// Velocity of a material point at `arm` from the origin of its pose for unit angular speed about one axis.
    fn turning(axis: usize, arm: &SVector<f64, D>) -> SVector<f64, D>;
}

/// Marker of the plane.
pub(crate) struct Plane;

/// Marker of space.
pub(crate) struct Space;

impl Dimension<2> for Plane {
    type Shape = planar::Shape;
    type Rotation = UnitComplex<f64>;
    const HALF_SPACE: planar::Shape = planar::Shape::HalfPlane;
    const DIRECTIONS: usize = 3;

    fn shapes() -> Vec<planar::Shape> {
        planar_shapes()
    }

    fn kind(shape: &planar::Shape) -> &'static str {
        shape.kind()
    }

    fn has_gap(a: &planar::Shape, b: &planar::Shape) -> bool {
        planar::has_gap(a, b)
    }

    fn gaps(
        (a, p): (&planar::Shape, &Isometry2<f64>),
        (b, q): (&planar::Shape, &Isometry2<f64>),
        reach: f64,
        out: &mut Vec<planar::Gap>,
    ) -> Result<(), NoGap> {
        planar::gaps(a, p, b, q, reach, out)
    }

    fn radius(shape: &planar::Shape) -> f64 {
        match shape {
            planar::Shape::Disk { radius }
            | planar::Shape::Capsule { radius, .. }
            | planar::Shape::Rounded { radius, .. } => *radius,
            _ => 0.0,
        }
    }

    fn ratio_gap(
        (a, p): (&planar::Shape, &Isometry2<f64>),
        (b, q): (&planar::Shape, &Isometry2<f64>),
    ) -> Option<f64> {
        let (planar::Shape::Polygon(a), planar::Shape::Polygon(b)) = (a, b) else { return None };
        planar::ratio((a, p), (b, q), &mut planar::Basis::default()).map(|ratio| ratio.gap())
    }

    fn pose(rng: &mut ChaCha8Rng, spread: f64) -> Isometry2<f64> {
        let mut x = || rng.random_range(-spread..spread);
        let at = Vector2::new(x(), x());
        Isometry2::new(at, rng.random_range(-PI..PI))
    }

    fn rotation(_: usize, angle: f64) -> UnitComplex<f64> {
        UnitComplex::new(angle)
    }

    fn poses(_: &planar::Shape, _: &planar::Shape) -> usize {
        400
    }

    fn turning(_: usize, arm: &Vector2<f64>) -> Vector2<f64> {
        Vector2::new(-arm.y, arm.x)
    }
}

impl Dimension<3> for Space {
    type Shape = spatial::Shape;
    type Rotation = UnitQuaternion<f64>;
    const HALF_SPACE: spatial::Shape = spatial::Shape::HalfSpace;
    const DIRECTIONS: usize = 6;

    fn shapes() -> Vec<spatial::Shape> {
        spatial_shapes()
    }

    fn kind(shape: &spatial::Shape) -> &'static str {
        shape.kind()
    }

    fn has_gap(a: &spatial::Shape, b: &spatial::Shape) -> bool {
        spatial::has_gap(a, b)
    }

    fn gaps(
        (a, p): (&spatial::Shape, &Isometry3<f64>),
        (b, q): (&spatial::Shape, &Isometry3<f64>),
        reach: f64,
        out: &mut Vec<spatial::Gap>,
    ) -> Result<(), NoGap> {
        spatial::gaps(a, p, b, q, reach, out)
    }

    fn radius(shape: &spatial::Shape) -> f64 {
        match shape {
            spatial::Shape::Sphere { radius }
            | spatial::Shape::Capsule { radius, .. }
            | spatial::Shape::Rounded { radius, .. } => *radius,
            _ => 0.0,
        }
    }

    fn ratio_gap(
        (a, p): (&spatial::Shape, &Isometry3<f64>),
        (b, q): (&spatial::Shape, &Isometry3<f64>),
    ) -> Option<f64> {
        let solid = |shape: &spatial::Shape| match shape {
            spatial::Shape::Cuboid { half_extents } => spatial::Polyhedron::cuboid(*half_extents).ok(),
            spatial::Shape::Polyhedron(polyhedron) => Some((**polyhedron).clone()),
            _ => None,
        };
        let (a, b) = (solid(a)?, solid(b)?);
        spatial::ratio((&a, p), (&b, q), &mut spatial::Basis::default()).map(|ratio| ratio.gap())
    }

    fn pose(rng: &mut ChaCha8Rng, spread: f64) -> Isometry3<f64> {
        let mut x = |r: f64| rng.random_range(-r..r);
        let at = Translation3::new(x(spread), x(spread), x(spread));
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(x(PI), x(PI), x(PI)));
        Isometry3::from_parts(at, turn)
    }

    fn rotation(axis: usize, angle: f64) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(unit::<3>(axis) * angle)
    }

    fn poses(a: &spatial::Shape, b: &spatial::Shape) -> usize {
        use spatial::Shape::{Cone, Cylinder, Ellipsoid, Rounded};
        let is_curved = |s: &spatial::Shape| {
            matches!(s, Cylinder { .. } | Cone { .. } | Ellipsoid { .. } | Rounded { .. })
        };
        if is_curved(a) || is_curved(b) { 60 } else { 400 }
    }

    fn turning(axis: usize, arm: &Vector3<f64>) -> Vector3<f64> {
        unit::<3>(axis).cross(arm)
    }
}

/// Unit vector along an axis.
pub(crate) fn unit<const D: usize>(axis: usize) -> SVector<f64, D> {
    SVector::from_fn(|i, _| if i == axis { 1.0 } else { 0.0 })
}

/// All gaps of a pair, however far.
pub(crate) fn near<S: Dimension<D>, const D: usize>(
    a: (&S::Shape, &PoseIn<S, D>),
    b: (&S::Shape, &PoseIn<S, D>),
) -> Vec<Gap<D>> {
    let mut out = Vec::new();
    S::gaps(a, b, f64::INFINITY, &mut out).unwrap();
    out
}

/// All ordered pairs of the test shapes that have a gap function.
pub(crate) fn pairs<S: Dimension<D>, const D: usize>() -> Vec<(S::Shape, S::Shape)> {
    let shapes = S::shapes();
    let all = shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a.clone(), b.clone())));
    all.filter(|(a, b)| S::has_gap(a, b)).collect()
}

/// Pose after a small step in one direction; rotations are about the origin of the pose.
pub(crate) fn moved<S: Dimension<D>, const D: usize>(
    pose: &PoseIn<S, D>,
    direction: usize,
    step: f64,
) -> PoseIn<S, D> {
    let mut pose = *pose;
    if direction < D {
        pose.translation.vector[direction] += step;
    } else {
        pose.rotation = S::rotation(direction - D, step) * pose.rotation;
    }
    pose
}

/// Velocity of the material point at `p` for unit speed in one direction.
pub(crate) fn velocity<S: Dimension<D>, const D: usize>(
    pose: &PoseIn<S, D>,
    direction: usize,
    p: &Point<f64, D>,
) -> SVector<f64, D> {
    if direction < D {
        unit(direction)
    } else {
        S::turning(direction - D, &(p.coords - pose.translation.vector))
    }
}

/// Facets of a basis in ascending order, to see whether it has changed.
pub(crate) fn active<const D: usize, const N: usize>(ratio: &Ratio<D, N>) -> [(usize, usize); N] {
    let mut facets = ratio.multipliers.map(|m| (m.body, m.facet));
    facets.sort_unstable();
    facets
}

/// Checks the gradients of r, ρ and the gap against central differences of step `h`; `moved` gives the metric after a
/// motion by a length or angle. `row` gives the component of a gradient that belongs to the motion, and its scale.
/// Returns `false` where the active facets change, so that the metric is not differentiable.
pub(crate) fn agrees_with_differences<const D: usize, const N: usize, A>(
    at: &Ratio<D, N>,
    h: f64,
    moved: impl Fn(f64) -> Ratio<D, N>,
    gradients: &[Gradient<D, A>; 3],
    row: impl Fn(&Gradient<D, A>) -> (f64, f64),
) -> bool {
    let (plus, minus) = (moved(h), moved(-h));
    if active(&plus) != active(at) || active(&minus) != active(at) {
        return false;
    }
    let changes = [plus.r - minus.r, plus.rho() - minus.rho(), plus.gap() - minus.gap()];
    for (k, (change, gradient)) in changes.into_iter().zip(gradients).enumerate() {
        let (difference, (row, scale)) = (change / (2.0 * h), row(gradient));
        assert!((difference - row).abs() <= 1e-6 * scale, "{k}: {difference} {row}\n{at:?}");
    }
    true
}

/// Checks that a certificate proves a factor r to round-off.
pub(crate) fn assert_proves(proof: &RatioCertificate, r: f64) {
    assert!(proof.least >= -1e-12 && (proof.sum - 1.0).abs() < 1e-12, "{proof:?}");
    assert!(proof.balance < 1e-12 && (proof.bound - r).abs() < 1e-12, "{proof:?} {r}");
    assert!(proof.violation <= 1e-12, "{proof:?}");
}

/// Points from coordinates.
pub(crate) fn points2(list: &[[f64; 2]]) -> Vec<Point2<f64>> {
    list.iter().map(|p| Point2::from(*p)).collect()
}

/// Points from coordinates.
pub(crate) fn points3(list: &[[f64; 3]]) -> Vec<Point3<f64>> {
    list.iter().map(|p| Point3::from(*p)).collect()
}
