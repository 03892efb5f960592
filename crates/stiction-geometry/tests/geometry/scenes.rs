//! Shapes and random poses that all tests share.

use std::sync::Arc;

use nalgebra::{Isometry2, Isometry3};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction_geometry::{planar, spatial};

use crate::dimension::{Dimension, Plane, Space, near, points2, points3};

/// Planar shape in its pose.
pub(crate) type PlanarBody<'a> = (&'a planar::Shape, &'a Isometry2<f64>);

/// Spatial shape in its pose.
pub(crate) type SpatialBody<'a> = (&'a spatial::Shape, &'a Isometry3<f64>);

/// Random numbers of a seed.
pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn polygon(vertices: &[[f64; 2]]) -> planar::Shape {
    planar::Shape::Polygon(planar::Polygon::new(&points2(vertices)).unwrap())
}

pub(crate) fn rectangle(x: f64, y: f64) -> planar::Shape {
    planar::Shape::Polygon(planar::Polygon::rectangle([x, y]).unwrap())
}

pub(crate) fn rounded2(core: planar::Shape, radius: f64) -> planar::Shape {
    planar::Shape::Rounded { core: Box::new(core), radius }
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
        rounded2(rectangle(0.5, 0.3), 0.12),
        rectangle(0.6, 0.35),
        polygon(&[[-0.5, -0.3], [0.6, -0.2], [0.1, 0.7]]),
        polygon(&[[0.7, 0.0], [0.4, 0.6], [-0.3, 0.6], [-0.6, 0.1], [-0.35, -0.5], [0.3, -0.55]]),
        HalfPlane,
    ]
}

pub(crate) fn polyhedron(vertices: &[[f64; 3]]) -> spatial::Shape {
    spatial::Shape::Polyhedron(Arc::new(spatial::Polyhedron::new(&points3(vertices)).unwrap()))
}

pub(crate) fn rounded3(core: spatial::Shape, radius: f64) -> spatial::Shape {
    spatial::Shape::Rounded { core: Box::new(core), radius }
}

pub(crate) fn spatial_shapes() -> Vec<spatial::Shape> {
    use spatial::Shape::{Capsule, Cone, Cuboid, Cylinder, Ellipsoid, HalfSpace, Sphere};
    vec![
        Sphere { radius: 0.31 },
        Sphere { radius: 0.0 },
        Ellipsoid { semi_axes: [0.7, 0.4, 0.5] },
        Capsule { half_length: 0.6, radius: 0.15 },
        Capsule { half_length: 0.45, radius: 0.0 },
        Cylinder { half_length: 0.5, radius: 0.3 },
        Cone { half_length: 0.45, radius: 0.4 },
        rounded3(Cuboid { half_extents: [0.5, 0.3, 0.4] }, 0.08),
        rounded3(Cylinder { half_length: 0.0, radius: 0.5 }, 0.07),
        rounded3(Cone { half_length: 0.35, radius: 0.3 }, 0.1),
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

/// Random pose in the plane within a spread [m].
pub(crate) fn planar_pose(rng: &mut ChaCha8Rng, spread: f64) -> Isometry2<f64> {
    Plane::pose(rng, spread)
}

/// Random pose in space within a spread [m].
pub(crate) fn spatial_pose(rng: &mut ChaCha8Rng, spread: f64) -> Isometry3<f64> {
    Space::pose(rng, spread)
}

/// All gaps of a pair in the plane, however far.
pub(crate) fn planar_near(a: PlanarBody<'_>, b: PlanarBody<'_>) -> Vec<planar::Gap> {
    near::<Plane, 2>(a, b)
}

/// All gaps of a pair in space, however far.
pub(crate) fn spatial_near(a: SpatialBody<'_>, b: SpatialBody<'_>) -> Vec<spatial::Gap> {
    near::<Space, 3>(a, b)
}

/// Least of the gaps of a pair [m].
pub(crate) fn least(gaps: impl IntoIterator<Item = f64>) -> f64 {
    gaps.into_iter().fold(f64::INFINITY, f64::min)
}
