//! Force laws of users, with and without their derivatives.

use crate::common::{assert_close, assert_directional, differences, exact, numbers};
use nalgebra::{Matrix6, Point2, Vector2, Vector3};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stiction::{ForceJacobian, JacobianKind, System, planar, spatial};

/// Force law: drag on the first body, and a swirl of the second about the first. v = (x, y, θ; x, y).
fn law(t: f64, q: &[f64], v: &[f64], k: &mut [f64]) {
    k[0] -= v[0] * v[0].abs();
    k[2] -= t * (3.0 * q[2]).sin();
    k[3] -= (q[4] - q[1]).powi(3);
    k[4] += (q[3] - q[0]) * v[2];
}

fn law_jacobian(t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
    let entry = |i: usize, j: usize, x: f64| {
        let mut block = Matrix6::zeros();
        block[(i, j)] = x;
        block
    };
    out.velocity.bodies[0][(0, 0)] -= 2.0 * v[0].abs();
    out.position.bodies[0][(2, 2)] -= 3.0 * t * (3.0 * q[2]).cos();
    let cubic = 3.0 * (q[4] - q[1]).powi(2);
    out.position.add(1, 1, &entry(0, 1, -cubic));
    out.position.add(1, 0, &entry(0, 1, cubic));
    out.position.add(1, 1, &entry(1, 0, v[2]));
    out.position.add(1, 0, &entry(1, 0, -v[2]));
    out.velocity.add(1, 0, &entry(1, 2, q[3] - q[0]));
}

fn plane(force: planar::Force) -> planar::Model {
    let mut world = planar::World::new(Vector2::new(0.0, -9.81));
    let a = world.add_body(planar::Body::rigid("a", planar::Mass::given(1.0, 0.3)));
    let b = world.add_body(planar::Body::point("b", 2.0));
    world.add_force(force);
    world.add_force(planar::Force::Spring {
        a,
        point_a: Point2::new(0.2, 0.3),
        b,
        point_b: Point2::origin(),
        stiffness: 4.0,
        damping: 1.0,
        rest_length: 0.5,
    });
    world.build().unwrap()
}

#[test]
fn a_given_jacobian_is_used_and_a_missing_one_differenced() {
    let given = plane(planar::Force::custom_with(law, law_jacobian));
    let bare = plane(planar::Force::custom(law));
    assert_eq!(given.jacobian_kind(), JacobianKind::Exact);
    assert_eq!(bare.jacobian_kind(), JacobianKind::FiniteDifferences);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..50 {
        let (q, v) = (numbers(&mut rng, 5, 2.0), numbers(&mut rng, 5, 2.0));
        let expected = differences(&given, 0.7, &q, &v);
        assert_close("given", &exact(&given, 0.7, &q, &v), &expected);
        assert_close("bare", &exact(&bare, 0.7, &q, &v), &expected);
        assert_directional(&given, 0.7, &q, &v);
    }
    // the given function is the one that is called
    let other = plane(planar::Force::custom_with(law, |_, _, _, out| out.velocity.bodies[1][(0, 0)] += 1e6));
    assert!(exact(&other, 0.0, &[0.0, 0.0, 0.0, 1.0, 1.0], &[0.0; 5])[1].amax() > 9e5);
}

/// Torque that restores the attitude of a spatial body, from its quaternion w, i, j, k, in body axes.
fn upright(_: f64, q: &[f64], v: &[f64], k: &mut [f64]) {
    for i in 0..3 {
        k[3 + i] -= 2.0 * q[3] * q[4 + i] + v[3 + i];
    }
}

#[test]
fn columns_are_rotations_about_body_axes() {
    let world = |jacobian: bool| {
        let mut world = spatial::World::new(Vector3::zeros());
        world.add_body(spatial::Body::rigid("a", spatial::Mass::given(1.0, [0.3, 0.4, 0.5])));
        world.add_force(if jacobian {
            // w' = −(i, j, k)·e/2 and (i, j, k)' = (w e + (i, j, k) × e)/2 along the rotation e
            spatial::Force::custom_with(upright, |_, q, _, out| {
                let (w, u) = (q[3], Vector3::new(q[4], q[5], q[6]));
                let turn = -(u * u.transpose()) + w * (w * nalgebra::Matrix3::identity() + u.cross_matrix());
                let mut angular = out.position.bodies[0].fixed_view_mut::<3, 3>(3, 3);
                angular -= turn;
                let mut angular = out.velocity.bodies[0].fixed_view_mut::<3, 3>(3, 3);
                angular -= nalgebra::Matrix3::identity();
            })
        } else {
            spatial::Force::custom(upright)
        });
        world.build().unwrap()
    };
    let (given, bare) = (world(true), world(false));
    assert_eq!(given.jacobian_kind(), JacobianKind::Exact);
    assert_eq!(bare.jacobian_kind(), JacobianKind::FiniteDifferences);
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for _ in 0..50 {
        let (mut q, v) = (given.state().q, numbers(&mut rng, 6, 2.0));
        given.advance(&mut q, &numbers(&mut rng, 6, 2.0), 1.0);
        assert_close("given", &exact(&given, 0.0, &q, &v), &differences(&given, 0.0, &q, &v));
        assert_close("bare", &exact(&bare, 0.0, &q, &v), &exact(&given, 0.0, &q, &v));
        assert_directional(&given, 0.0, &q, &v);
    }
}

/// A small body far from the origin: rounding ε X/s and truncation (s/L)² are both 4e-7 at X = 1e4, L = 0.01.
#[test]
fn differences_of_small_bodies_far_away_are_accurate() {
    for (size, far) in [(0.01, 1e4), (1e-3, 0.0), (1e3, 1e4)] {
        let mut world = planar::World::new(Vector2::new(0.0, -9.81));
        let disk = planar::Attached::new(planar::Shape::Disk { radius: size });
        world.add_body(planar::Body::rigid("a", planar::Mass::given(1.0, 0.3)).with(disk));
        world.add_force(planar::Force::custom(move |_, q, v, k| {
            k[0] += ((q[0] - far) / size).sin() - (v[0] / (9.81 * size).sqrt()).tanh();
        }));
        let model = world.build().unwrap();
        let [position, velocity] = exact(&model, 0.0, &[far + 0.3 * size, 0.0, 0.0], &[0.0; 3]);
        assert!((position[(0, 0)] * size - 0.3f64.cos()).abs() < 4e-6, "{size}: {position}");
        assert!((velocity[(0, 0)] * (9.81 * size).sqrt() + 1.0).abs() < 1e-9, "{size}: {velocity}");
    }
}

#[test]
fn differences_of_bodies_near_rest_are_accurate() {
    // without gravity the size of the body alone sets the scale of speeds
    let mut world = planar::World::new(Vector2::zeros());
    let disk = planar::Attached::new(planar::Shape::Disk { radius: 0.1 });
    world.add_body(planar::Body::rigid("a", planar::Mass::given(1.0, 0.3)).with(disk));
    world.add_force(planar::Force::custom(|_, q, v, k| k[0] += (1.0 + q[0]).sqrt() - v[0]));
    let model = world.build().unwrap();
    for speed in [0.0, 1e-12, 1e-3] {
        let [_, velocity] = exact(&model, 0.0, &[0.3, 0.0, 0.0], &[speed, 0.0, 0.0]);
        // a step of 6e-7 against round-off 1e-16 of a force of order 1
        assert!((velocity[(0, 0)] + 1.0).abs() < 1e-9, "{speed}: {velocity}");
    }
}
