//! Nothing is NaN, whatever the poses: random ones, and those where a normal is not determined.

use std::f64::consts::FRAC_PI_4;

use nalgebra::{Isometry2, Isometry3, Vector2, Vector3};
use proptest::prelude::*;
use stiction_geometry::{planar, spatial};

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

fn check_planar(a: &planar::Shape, p: &Isometry2<f64>, b: &planar::Shape, q: &Isometry2<f64>) {
    if !planar::has_gap(a, b) {
        return;
    }
    let near = planar_near((a, p), (b, q));
    assert!(!near.is_empty(), "{a:?} {p:?}\n{b:?} {q:?}");
    let size = 1.0 + p.translation.vector.norm() + q.translation.vector.norm();
    for g in &near {
        assert!(g.gap.is_finite() && g.on_a.coords.iter().chain(g.on_b.coords.iter()).all(|x| x.is_finite()));
        assert!((g.normal.norm() - 1.0).abs() < 1e-12, "{g:?}");
        assert!((g.on_b - g.on_a - g.gap * g.normal).norm() < 1e-12 * size, "{g:?}");
    }
}

fn check_spatial(a: &spatial::Shape, p: &Isometry3<f64>, b: &spatial::Shape, q: &Isometry3<f64>) {
    if !spatial::has_gap(a, b) {
        return;
    }
    let near = spatial_near((a, p), (b, q));
    assert!(!near.is_empty(), "{a:?} {p:?}\n{b:?} {q:?}");
    let size = 1.0 + p.translation.vector.norm() + q.translation.vector.norm();
    for g in &near {
        assert!(g.gap.is_finite() && g.on_a.coords.iter().chain(g.on_b.coords.iter()).all(|x| x.is_finite()));
        assert!((g.normal.norm() - 1.0).abs() < 1e-12, "{g:?}");
        assert!((g.on_b - g.on_a - g.gap * g.normal).norm() < 1e-12 * size, "{g:?}");
    }
}

prop_compose! {
    /// A pose on a grid of 1/4 and 45°, or off it by less than one part in 1e12.
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
        for a in &grid_shapes() {
            for b in &grid_shapes() {
                check_planar(a, &p, b, &q);
            }
        }
    }

    #[test]
    fn planar_gaps_are_finite_anywhere(x in -1e6..1e6, y in -1e6..1e6, r in -10.0..10.0, s in -10.0..10.0) {
        let (p, q) = (Isometry2::new(Vector2::new(x, y), r), Isometry2::new(Vector2::new(y, x), s));
        for a in &planar_shapes() {
            for b in &planar_shapes() {
                check_planar(a, &p, b, &q);
            }
        }
    }

    #[test]
    fn spatial_gaps_are_finite_on_the_grid(p in grid_pose_in_space(), q in grid_pose_in_space()) {
        for a in &spatial_shapes() {
            for b in &spatial_shapes() {
                check_spatial(a, &p, b, &q);
            }
        }
    }

    #[test]
    fn spatial_gaps_are_finite_anywhere(at in prop::array::uniform3(-1e6..1e6), r in prop::array::uniform3(-3.0..3.0)) {
        let p = Isometry3::new(Vector3::from(at), Vector3::from(r));
        let q = Isometry3::new(-Vector3::from(at), Vector3::from(r).zyx());
        for a in &spatial_shapes() {
            for b in &spatial_shapes() {
                check_spatial(a, &p, b, &q);
            }
        }
    }
}

#[test]
fn distance_from_the_origin_of_the_world_costs_no_digits() {
    // places on a grid of 1/4 stay exact 2^40 m away
    let far = 2.0_f64.powi(40);
    for (k, a) in planar_shapes().iter().enumerate() {
        for b in planar_shapes().iter().filter(|b| planar::has_gap(a, b)) {
            let turn = 0.3 + k as f64;
            let (p, q) = (Isometry2::new(Vector2::new(0.25, -0.5), turn), Isometry2::rotation(2.0 * turn));
            let away = nalgebra::Translation2::new(far, -far);
            let (here, there) =
                (planar_near((a, &p), (b, &q)), planar_near((a, &(away * p)), (b, &(away * q))));
            assert_eq!(here.len(), there.len());
            for (g, k) in here.iter().zip(&there) {
                assert_eq!((g.gap, g.normal, g.feature), (k.gap, k.normal, k.feature));
            }
        }
    }
    for (k, a) in spatial_shapes().iter().enumerate() {
        for b in spatial_shapes().iter().filter(|b| spatial::has_gap(a, b)) {
            let turn = Vector3::new(0.3, 0.2, k as f64);
            let (p, q) =
                (Isometry3::new(Vector3::new(0.25, -0.5, 0.75), turn), Isometry3::rotation(turn.zxy()));
            let away = nalgebra::Translation3::new(far, -far, far);
            let (here, there) =
                (spatial_near((a, &p), (b, &q)), spatial_near((a, &(away * p)), (b, &(away * q))));
            assert_eq!(here.len(), there.len());
            for (g, k) in here.iter().zip(&there) {
                assert_eq!((g.gap, g.normal, g.feature), (k.gap, k.normal, k.feature));
            }
        }
    }
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
    let bad = Isometry2::translation(f64::NAN, 0.0);
    for a in &planar_shapes() {
        for b in planar_shapes().iter().filter(|b| planar::has_gap(a, b)) {
            assert!(planar_near((a, &bad), (b, &Isometry2::identity())).is_empty(), "{a:?} {b:?}");
        }
    }
    let bad = Isometry3::translation(f64::NAN, 0.0, 0.0);
    for a in &spatial_shapes() {
        for b in spatial_shapes().iter().filter(|b| spatial::has_gap(a, b)) {
            assert!(spatial_near((a, &bad), (b, &Isometry3::identity())).is_empty(), "{a:?} {b:?}");
        }
    }
}
