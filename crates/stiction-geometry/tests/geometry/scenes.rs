//! The shapes and random poses that all tests share.

use std::f64::consts::PI;
use std::sync::Arc;

use nalgebra::{Isometry2, Isometry3, Point2, Point3, Translation3, UnitQuaternion, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction_geometry::{planar, spatial};

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn polygon(vertices: &[[f64; 2]]) -> planar::Shape {
    let vertices: Vec<_> = vertices.iter().map(|v| Point2::from(*v)).collect();
    planar::Shape::Polygon(planar::Polygon::new(&vertices).unwrap())
}

pub(crate) fn rectangle(x: f64, y: f64) -> planar::Shape {
    planar::Shape::Polygon(planar::Polygon::rectangle([x, y]).unwrap())
}

/// One or two of every kind; sizes about one, none of them equal.
pub(crate) fn planar_shapes() -> Vec<planar::Shape> {
    use planar::Shape::{Capsule, Disk, Ellipse, HalfPlane};
    vec![
        Disk { radius: 0.31 },
        Disk { radius: 0.0 },
        Ellipse { semi_axes: [0.7, 0.4] },
        Capsule { half_length: 0.6, radius: 0.15 },
        Capsule { half_length: 0.45, radius: 0.0 },
        rectangle(0.6, 0.35),
        polygon(&[[-0.5, -0.3], [0.6, -0.2], [0.1, 0.7]]),
        polygon(&[[0.7, 0.0], [0.4, 0.6], [-0.3, 0.6], [-0.6, 0.1], [-0.35, -0.5], [0.3, -0.55]]),
        HalfPlane,
    ]
}

pub(crate) fn polyhedron(vertices: &[[f64; 3]]) -> spatial::Shape {
    let vertices: Vec<_> = vertices.iter().map(|v| Point3::from(*v)).collect();
    spatial::Shape::Polyhedron(Arc::new(spatial::Polyhedron::new(&vertices).unwrap()))
}

pub(crate) fn spatial_shapes() -> Vec<spatial::Shape> {
    use spatial::Shape::{Capsule, Cuboid, Ellipsoid, HalfSpace, Sphere};
    vec![
        Sphere { radius: 0.31 },
        Sphere { radius: 0.0 },
        Ellipsoid { semi_axes: [0.7, 0.4, 0.5] },
        Capsule { half_length: 0.6, radius: 0.15 },
        Capsule { half_length: 0.45, radius: 0.0 },
        Cuboid { half_extents: [0.6, 0.35, 0.45] },
        polyhedron(&[[-0.5, -0.3, -0.2], [0.6, -0.2, -0.3], [0.1, 0.7, -0.1], [0.05, 0.1, 0.6]]),
        polyhedron(&[
            [0.7, 0.1, 0.0],
            [0.0, 0.6, 0.1],
            [-0.6, 0.0, 0.1],
            [0.1, -0.5, 0.0],
            [0.0, 0.1, 0.5],
            [0.1, 0.0, -0.4],
            [0.4, 0.4, 0.2],
        ]),
        HalfSpace,
    ]
}

/// Radius around the core of a shape, zero when the shape is its own core.
pub(crate) fn planar_radius(shape: &planar::Shape) -> f64 {
    match shape {
        planar::Shape::Disk { radius } | planar::Shape::Capsule { radius, .. } => *radius,
        _ => 0.0,
    }
}

pub(crate) fn spatial_radius(shape: &spatial::Shape) -> f64 {
    match shape {
        spatial::Shape::Sphere { radius } | spatial::Shape::Capsule { radius, .. } => *radius,
        _ => 0.0,
    }
}

pub(crate) fn planar_pose(rng: &mut ChaCha8Rng, spread: f64) -> Isometry2<f64> {
    let mut x = || rng.random_range(-spread..spread);
    let at = Vector2::new(x(), x());
    Isometry2::new(at, rng.random_range(-PI..PI))
}

pub(crate) fn spatial_pose(rng: &mut ChaCha8Rng, spread: f64) -> Isometry3<f64> {
    let mut x = |r: f64| rng.random_range(-r..r);
    let at = Translation3::new(x(spread), x(spread), x(spread));
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(x(PI), x(PI), x(PI)));
    Isometry3::from_parts(at, turn)
}

/// All gaps of a pair, however far.
pub(crate) fn planar_near(
    (a, pose_a): (&planar::Shape, &Isometry2<f64>),
    (b, pose_b): (&planar::Shape, &Isometry2<f64>),
) -> Vec<planar::Gap> {
    let mut out = Vec::new();
    planar::gaps(a, pose_a, b, pose_b, f64::INFINITY, &mut out).unwrap();
    out
}

pub(crate) fn spatial_near(
    (a, pose_a): (&spatial::Shape, &Isometry3<f64>),
    (b, pose_b): (&spatial::Shape, &Isometry3<f64>),
) -> Vec<spatial::Gap> {
    let mut out = Vec::new();
    spatial::gaps(a, pose_a, b, pose_b, f64::INFINITY, &mut out).unwrap();
    out
}

/// The least gap of a pair.
pub(crate) fn least(gaps: impl IntoIterator<Item = f64>) -> f64 {
    gaps.into_iter().fold(f64::INFINITY, f64::min)
}
