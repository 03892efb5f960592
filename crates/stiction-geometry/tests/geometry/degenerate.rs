//! Degenerate poses: gaps are finite numbers, also where a normal is not determined.

use std::f64::consts::FRAC_PI_4;

use nalgebra::{Isometry2, Isometry3, Translation, Vector2, Vector3};
use proptest::prelude::*;
use stiction_geometry::{planar, spatial};

use crate::dimension::{Dimension, Plane, PoseIn, Space, near, pairs};
use crate::scenes::{planar_near, planar_shapes, polygon, rectangle, spatial_near, spatial_shapes};

/// Shapes with vertices on a grid of 1/2, so that poses on the same grid coincide exactly.
pub(crate) fn grid_shapes() -> Vec<planar::Shape> {
    use planar::Shape::{Capsule, Disk, Ellipse, HalfPlane};
    vec![
        Disk { radius: 0.5 },
        Disk { radius: 0.0 },
        Ellipse { semi_axes: [1.0, 0.5] },
        Capsule { half_length: 0.5, radius: 0.5 },
        Capsule { half_length: 1.0, radius: 0.0 },
        rectangle(0.5, 0.5),
        rectangle(1.0, 0.5),
        polygon(&[[-0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]),
        polygon(&[[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]]),
        HalfPlane,
    ]
}

/// Checks that every pair of shapes has gaps of finite numbers that satisfy their contract.
fn check_finite<S: Dimension<D>, const D: usize>(shapes: &[S::Shape], p: &PoseIn<S, D>, q: &PoseIn<S, D>) {
    let size = 1.0 + p.translation.vector.norm() + q.translation.vector.norm();
    for a in shapes {
        for b in shapes.iter().filter(|b| S::has_gap(a, b)) {
            let near = near::<S, D>((a, p), (b, q));
            assert!(!near.is_empty(), "{a:?} {p:?}\n{b:?} {q:?}");
            for g in &near {
                let numbers = g.on_a.coords.iter().chain(g.on_b.coords.iter());
                assert!(g.gap.is_finite() && numbers.into_iter().all(|x| x.is_finite()));
                assert!((g.normal.norm() - 1.0).abs() < 1e-12, "{g:?}");
                assert!((g.on_b - g.on_a - g.normal * g.gap).norm() < 1e-12 * size, "{g:?}");
            }
        }
    }
}

/// Checks that gaps far from the origin of the world are bit by bit equal to those near it.
fn check_far<S: Dimension<D>, const D: usize>(
    poses: impl Fn(usize) -> [PoseIn<S, D>; 2],
    far: Translation<f64, D>,
) {
    for (k, a) in S::shapes().iter().enumerate() {
        let [p, q] = poses(k);
        for b in S::shapes().iter().filter(|b| S::has_gap(a, b)) {
            let here = near::<S, D>((a, &p), (b, &q));
            let there = near::<S, D>((a, &(far * p)), (b, &(far * q)));
            assert_eq!(here.len(), there.len());
            for (g, k) in here.iter().zip(&there) {
                assert_eq!((g.gap, g.normal, g.feature), (k.gap, k.normal, k.feature));
            }
        }
    }
}

/// Checks that a pose that is not finite gives no gap.
fn check_refused<S: Dimension<D>, const D: usize>() {
    let good = PoseIn::<S, D>::identity();
    let mut bad = good;
    bad.translation.vector[0] = f64::NAN;
    for (a, b) in pairs::<S, D>() {
        assert!(near::<S, D>((&a, &bad), (&b, &good)).is_empty(), "{a:?} {b:?}");
    }
}

prop_compose! {
    /// Pose on a grid of 1/4 and 45°, or off it by less than one part in 1e12.
    fn grid_pose()(x in -4..=4, y in -4..=4, turn in 0..8, off in prop_oneof![Just(0.0), 1e-20..1e-12],
                   sign in prop::array::uniform3(-1.0..1.0)) -> Isometry2<f64> {
        let [u, v, w]: [f64; 3] = sign;
        let at = Vector2::new(f64::from(x) / 4.0 + off * u, f64::from(y) / 4.0 + off * v);
        Isometry2::new(at, f64::from(turn) * FRAC_PI_4 + off * w)
    }
}

prop_compose! {
    fn grid_pose_in_space()(at in prop::array::uniform3(-4..=4), turn in prop::array::uniform3(-2..=2),
                            off in prop_oneof![Just(0.0), 1e-20..1e-12]) -> Isometry3<f64> {
        let at = Vector3::from(at.map(|x: i32| f64::from(x) / 4.0 + off));
        let turn = Vector3::from(turn.map(|x: i32| f64::from(x) * 2.0 * FRAC_PI_4));
        Isometry3::new(at, turn)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn planar_gaps_are_finite_on_the_grid(p in grid_pose(), q in grid_pose()) {
        check_finite::<Plane, 2>(&grid_shapes(), &p, &q);
    }

    #[test]
    fn planar_gaps_are_finite_anywhere(x in -1e6..1e6, y in -1e6..1e6, r in -10.0..10.0, s in -10.0..10.0) {
        let (p, q) = (Isometry2::new(Vector2::new(x, y), r), Isometry2::new(Vector2::new(y, x), s));
        check_finite::<Plane, 2>(&planar_shapes(), &p, &q);
    }

    #[test]
    fn spatial_gaps_are_finite_on_the_grid(p in grid_pose_in_space(), q in grid_pose_in_space()) {
        check_finite::<Space, 3>(&spatial_shapes(), &p, &q);
    }

    #[test]
    fn spatial_gaps_are_finite_anywhere(at in prop::array::uniform3(-1e6..1e6), r in prop::array::uniform3(-3.0..3.0)) {
        let p = Isometry3::new(Vector3::from(at), Vector3::from(r));
        let q = Isometry3::new(-Vector3::from(at), Vector3::from(r).zyx());
        check_finite::<Space, 3>(&spatial_shapes(), &p, &q);
    }
}

#[test]
fn distance_from_the_origin_of_the_world_costs_no_digits() {
    // positions on a grid of 1/4 stay exact 2^40 m away
    let far = 2.0_f64.powi(40);
    let poses = |k: usize| {
        let turn = 0.3 + k as f64;
        [Isometry2::new(Vector2::new(0.25, -0.5), turn), Isometry2::rotation(2.0 * turn)]
    };
    check_far::<Plane, 2>(poses, Translation::from([far, -far]));
    let poses = |k: usize| {
        let turn = Vector3::new(0.3, 0.2, k as f64);
        [Isometry3::new(Vector3::new(0.25, -0.5, 0.75), turn), Isometry3::rotation(turn.zxy())]
    };
    check_far::<Space, 3>(poses, Translation::from([far, -far, far]));
}

#[test]
fn coincident_shapes_take_the_documented_normals() {
    let i = Isometry2::translation(3.0, 4.0);
    let disk = planar::Shape::Disk { radius: 0.5 };
    let concentric = planar_near((&disk, &i), (&disk, &i));
    assert_eq!((concentric[0].gap, concentric[0].normal), (-1.0, Vector2::y()));

    let i = Isometry3::translation(3.0, 4.0, 5.0);
    let sphere = spatial::Shape::Sphere { radius: 0.5 };
    let concentric = spatial_near((&sphere, &i), (&sphere, &i));
    assert_eq!((concentric[0].gap, concentric[0].normal), (-1.0, Vector3::z()));

    let capsule = spatial::Shape::Capsule { half_length: 1.0, radius: 0.25 };
    let on_axis = spatial_near((&capsule, &i), (&sphere, &i));
    assert_eq!((on_axis[0].gap, on_axis[0].normal), (-0.75, Vector3::x()));

    let turned = i * Isometry3::rotation(std::f64::consts::FRAC_PI_2 * Vector3::x());
    let crossing = spatial_near((&capsule, &i), (&capsule, &turned));
    assert_eq!(crossing.len(), 1);
    assert_eq!(crossing[0].gap, -0.5);
    assert!((crossing[0].normal.x.abs() - 1.0).abs() < 1e-15);
}

#[test]
fn nearly_concentric_disks_do_not_underflow() {
    let disk = planar::Shape::Disk { radius: 0.5 };
    for x in [1e-320, 1e-200, 1e-160, 1e-120, 1e-90, 1e-30] {
        let near = planar_near((&disk, &Isometry2::identity()), (&disk, &Isometry2::translation(x, x)));
        assert!((near[0].normal.norm() - 1.0).abs() < 1e-12, "{x}");
    }
}

#[test]
fn centre_on_a_vertex_or_an_edge_takes_a_normal_of_the_polygon() {
    let square = rectangle(1.0, 1.0);
    let disk = planar::Shape::Disk { radius: 0.25 };
    for at in [[1.0, 1.0], [1.0, 0.3], [-1.0, -1.0], [0.0, 1.0]] {
        let pose = Isometry2::translation(at[0], at[1]);
        let near = planar_near((&square, &Isometry2::identity()), (&disk, &pose));
        assert_eq!(near.len(), 1);
        assert_eq!(near[0].gap, -0.25);
        assert!(near[0].normal.dot(&Vector2::from(at)) >= 1.0);
    }
}

#[test]
fn poses_that_are_not_finite_give_no_gap() {
    check_refused::<Plane, 2>();
    check_refused::<Space, 3>();
}
