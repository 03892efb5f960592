//! Parity of plane and space: a planar scene embedded in space has the same gaps. The plane is x–y; a spatial capsule
//! has its axis along z and is rotated to lie along x first.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{Isometry2, Isometry3, Point2, Translation3, UnitQuaternion, Vector2, Vector3};
use rand::RngExt;
use stiction_geometry::{planar, spatial};

use crate::scenes::{planar_near, planar_pose, rectangle, rng, spatial_near};

fn in_space(pose: &Isometry2<f64>) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), pose.rotation.angle());
    Isometry3::from_parts(Translation3::new(pose.translation.x, pose.translation.y, 0.0), turn)
}

/// Rotation that takes local z to local x.
fn along_x() -> Isometry3<f64> {
    Isometry3::rotation(FRAC_PI_2 * Vector3::y())
}

/// Rotation that takes local z to local y.
fn along_y() -> Isometry3<f64> {
    Isometry3::rotation(-FRAC_PI_2 * Vector3::x())
}

/// Planar shape and its twin in space, with the pose of the twin in the frame of the first.
fn twins() -> Vec<(planar::Shape, spatial::Shape, Isometry3<f64>)> {
    let i = Isometry3::identity();
    vec![
        (planar::Shape::Disk { radius: 0.3 }, spatial::Shape::Sphere { radius: 0.3 }, i),
        (planar::Shape::Disk { radius: 0.0 }, spatial::Shape::Sphere { radius: 0.0 }, i),
        (
            planar::Shape::Capsule { half_length: 0.6, radius: 0.1 },
            spatial::Shape::Capsule { half_length: 0.6, radius: 0.1 },
            along_x(),
        ),
        (
            planar::Shape::Ellipse { semi_axes: [0.5, 0.2] },
            spatial::Shape::Ellipsoid { semi_axes: [0.5, 0.2, 3.0] },
            i,
        ),
        (planar::Shape::HalfPlane, spatial::Shape::HalfSpace, along_y()),
    ]
}

fn flat(v: &Vector3<f64>) -> Vector2<f64> {
    // as exact as the normals are compared: that of a point 1e-5 from an axis has lost 5 digits
    assert!(v.z.abs() < 1e-10, "{v}");
    v.xy()
}

#[test]
fn twins_have_the_same_gaps() {
    let mut rng = rng(31);
    for (a, a3, place_a) in twins() {
        for (b, b3, place_b) in twins() {
            if !planar::has_gap(&a, &b) {
                assert!(!spatial::has_gap(&a3, &b3));
                continue;
            }
            let mut compared = 0;
            for k in 0..1000 {
                let p = planar_pose(&mut rng, 1.0);
                let mut q = planar_pose(&mut rng, 1.0);
                // every other pair exactly or nearly parallel
                if k % 2 == 0 {
                    let tilt = if k % 4 == 0 { 0.0 } else { rng.random_range(-0.1..0.1) };
                    q.rotation = nalgebra::UnitComplex::new(p.rotation.angle() + tilt);
                }
                let near = planar_near((&a, &p), (&b, &q));
                // crossing axes, and ellipses across them, leave each other sideways in space
                let slender = |shape: &planar::Shape| matches!(shape.kind(), "capsule" | "ellipse");
                if slender(&a) && slender(&b) && near.iter().any(|g| g.gap < -0.199) {
                    continue;
                }
                let near3 = spatial_near((&a3, &(in_space(&p) * place_a)), (&b3, &(in_space(&q) * place_b)));
                assert_eq!(near.len(), near3.len(), "{near:?}\n{near3:?}");
                for g in &near3 {
                    let same = near.iter().any(|k| {
                        (k.gap - g.gap).abs() < 1e-12
                            && (k.normal - flat(&g.normal)).norm() < 1e-10
                            && (k.on_a - Point2::from(flat(&g.on_a.coords))).norm() < 1e-10
                            && (k.on_b - Point2::from(flat(&g.on_b.coords))).norm() < 1e-10
                    });
                    assert!(same, "{g:?}\n{near:?}");
                }
                compared += 1;
            }
            assert!(compared > 500);
        }
    }
}

#[test]
fn box_on_half_space_is_a_rectangle_on_a_half_plane_twice() {
    let mut rng = rng(32);
    let cuboid = spatial::Shape::Cuboid { half_extents: [0.6, 0.3, 0.2] };
    for _ in 0..500 {
        let (p, q) = (planar_pose(&mut rng, 1.0), planar_pose(&mut rng, 1.0));
        let near = planar_near((&planar::Shape::HalfPlane, &p), (&rectangle(0.6, 0.3), &q));
        let near3 =
            spatial_near((&spatial::Shape::HalfSpace, &(in_space(&p) * along_y())), (&cuboid, &in_space(&q)));
        assert_eq!((near.len(), near3.len()), (4, 8));
        for g in &near {
            let twice = near3.iter().filter(|k| {
                (k.gap - g.gap).abs() < 1e-12
                    && (k.normal.xy() - g.normal).norm() < 1e-12
                    && (k.on_b.xy() - g.on_b).norm() < 1e-12
            });
            assert_eq!(twice.count(), 2);
        }
    }
}
