//! Rows of joints and contacts against central differences along q ⊕ εv, and the exponential map.

use crate::common::{body, built, joint_kinds, pose, starts, vector};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Attached, Body, BodyId, Joint, JointKind, Mass, Model, Motor, Shape, World};
use stiction::{
    ContactQuery, ContactRow, FrictionPoint, JointAxis, JointRow, KindOfJoint, RowKind, SearchCache, State,
    System,
};

/// Step of the differences: truncation ε² and round-off 1e-16/ε are both near 1e-10.
const EPSILON: f64 = 1e-5;

/// Both errors with room for the second derivatives of lengths of 1 m and speeds of a few m/s.
const TOLERANCE: f64 = 1e-7;

fn moved(model: &Model, state: &State, epsilon: f64) -> (f64, Vec<f64>) {
    let mut q = state.q.clone();
    model.advance(&mut q, &state.v, epsilon);
    (state.t + epsilon, q)
}

/// Every error and gap that `values` lists, differentiated along the motion.
fn rates(model: &Model, state: &State, values: impl Fn(f64, &[f64]) -> Vec<f64>) -> Vec<f64> {
    let (before, after) = (moved(model, state, -EPSILON), moved(model, state, EPSILON));
    let (before, after) = (values(before.0, &before.1), values(after.0, &after.1));
    assert_eq!(before.len(), after.len());
    after.iter().zip(before).map(|(a, b)| (a - b) / (2.0 * EPSILON)).collect()
}

fn joint_rows(model: &Model, t: f64, q: &[f64]) -> Vec<JointRow> {
    let mut rows = Vec::new();
    model.joints(t, q, &mut rows);
    rows
}

/// Rows of a kind: rigid ones, limits and drives when every coordinate has limits, a motor and friction.
fn counts(kind: JointKind) -> [usize; 3] {
    let (held, free) = match kind {
        JointKind::Spherical => (3, 2),
        JointKind::Planar => (3, 3),
        JointKind::Revolute | JointKind::Prismatic => (5, 1),
        JointKind::Screw(_) => (5, 2),
        JointKind::Cylindrical | JointKind::Universal => (4, 2),
        JointKind::Fixed => (6, 0),
        // limits hold in place of the distance
        JointKind::Distance(_) => (0, 1),
    };
    assert_eq!(kind.coordinates(), free);
    [held, 2 * free, 2 * free]
}

fn random_state(rng: &mut ChaCha8Rng, model: &Model) -> State {
    let mut state = model.state();
    state.v.iter_mut().for_each(|v| *v = rng.random_range(-2.0..2.0));
    state
}

#[test]
fn joint_rows_are_the_gradients_of_their_errors() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for kind in joint_kinds(0.4) {
        for round in 0..60 {
            // every motion against every other, but not both immobile
            let (a, b) = (round % 5, (round / 5) % 5);
            if a > 2 && b > 2 {
                continue;
            }
            let mut world = World::new(Vector3::zeros());
            world.t = rng.random_range(0.0..2.0);
            let a = world.add_body(body(&mut rng, a, "a"));
            let b = world.add_body(body(&mut rng, b, "b"));
            let frames = [pose(&mut rng, 0.4), pose(&mut rng, 0.4)];
            let mut joint = Joint::new("joint", kind, (a, frames[0]), (b, frames[1]));
            for axis in 0..kind.coordinates() {
                let motor = Motor::Position { target: 0.3, gain: 2.0, force: 5.0 };
                let (limits, motor) = (Some([0.1, 0.8]), Some(motor));
                joint = joint.axis(axis, JointAxis { limits, motor, friction: 0.1, ..Default::default() });
            }
            world.add_joint(joint);
            let model = built(world);
            let state = random_state(&mut rng, &model);
            let rows = joint_rows(&model, state.t, &state.q);
            let of = |f: fn(&RowKind) -> bool| rows.iter().filter(|r| f(&r.kind)).count();
            let found = [
                of(|k| matches!(k, RowKind::Rigid(_))),
                of(|k| matches!(k, RowKind::Limit)),
                of(|k| matches!(k, RowKind::Drive { .. })),
            ];
            assert_eq!(found, counts(kind), "{kind:?}");
            let errors = |t: f64, q: &[f64]| joint_rows(&model, t, q).iter().map(|r| r.error).collect();
            for (row, rate) in rows.iter().zip(rates(&model, &state, errors)) {
                let speed = row.row.dot(&starts(&model), &state.v) + row.drift;
                // the angle jumps by a turn at ±π, which a difference does not survive
                let jump = rate.abs() > 1e3;
                assert!(
                    jump || (speed - rate).abs() < TOLERANCE,
                    "{kind:?}: {speed} instead of {rate} in {row:?}"
                );
                assert!(!jump || (0..3).any(|axis| kind.is_angular(axis)), "{kind:?} jumps");
            }

            // and how fast their speeds change
            let (mut same, mut known) = (Vec::new(), Vec::new());
            let told = model.joint_rates(state.t, &state.q, &state.v, &mut same, &mut known);
            // the accelerations of a kinematic body are unknown
            assert_eq!(told, ![round % 5, (round / 5) % 5].contains(&3), "{kind:?}, round {round}");
            if !told {
                continue;
            }
            assert_eq!(same, rows);
            let speed = |row: &JointRow| row.row.dot(&starts(&model), &state.v) + row.drift;
            let speeds = |t: f64, q: &[f64]| joint_rows(&model, t, q).iter().map(speed).collect();
            for (row, (known, rate)) in rows.iter().zip(known.iter().zip(rates(&model, &state, speeds))) {
                let is_screw = matches!(kind, JointKind::Screw(_));
                let is_turn =
                    (0..3).any(|axis| kind.is_angular(axis)) && !matches!(row.kind, RowKind::Rigid(_));
                let open = known.is_nan() && (is_turn || is_screw);
                assert!(
                    open || (known - rate).abs() < TOLERANCE * (1.0 + rate.abs()),
                    "{kind:?}: {known} instead of {rate} in {row:?}"
                );
            }
        }
    }
}

#[test]
fn a_distance_joint_without_limits_holds_its_distance() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut world = World::new(Vector3::zeros());
    let a = world.add_body(body(&mut rng, 0, "a"));
    let b = world.add_body(body(&mut rng, 0, "b"));
    let frames = [pose(&mut rng, 0.4), pose(&mut rng, 0.4)];
    world.add_joint(Joint::new("rod", JointKind::Distance(0.4), (a, frames[0]), (b, frames[1])));
    let model = built(world);
    let state = random_state(&mut rng, &model);
    let rows = joint_rows(&model, state.t, &state.q);
    let poses = [a, b].map(|body| model.pose(&state, body).unwrap());
    let distance =
        ((poses[0] * frames[0]).translation.vector - (poses[1] * frames[1]).translation.vector).norm();
    assert_eq!(rows.len(), 1);
    assert!((rows[0].error - (distance - 0.4)).abs() < 1e-15);
    let rate = rates(&model, &state, |t, q| joint_rows(&model, t, q).iter().map(|r| r.error).collect());
    assert!((rows[0].row.dot(&starts(&model), &state.v) - rate[0]).abs() < TOLERANCE);
}

#[test]
fn a_distance_joint_of_coincident_points_is_finite() {
    let mut world = World::new(Vector3::zeros());
    let a = world.add_body(Body::point("a", 1.0));
    let b = world.add_body(Body::point("b", 1.0));
    let frame = Isometry3::identity();
    world.add_joint(Joint::new("rod", JointKind::Distance(0.2), (a, frame), (b, frame)));
    let model = built(world);
    let state = model.state();
    let rows = joint_rows(&model, state.t, &state.q);
    assert_eq!(rows[0].error, -0.2);
    let mut length = 0.0;
    rows[0].row.for_each(&starts(&model), |_, x| length += x * x);
    assert_eq!(length, 2.0);
}

fn contact_rows(model: &Model, t: f64, q: &[f64]) -> Vec<ContactRow> {
    let mut rows = Vec::new();
    model.contacts(t, q, &ContactQuery::within(f64::INFINITY), &mut SearchCache::default(), &mut rows);
    rows.sort_by_key(|row| row.id);
    rows
}

#[test]
fn normal_rows_are_the_gradients_of_their_gaps() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let shapes = |rng: &mut ChaCha8Rng, kind: usize| match kind {
        0 => Shape::Sphere { radius: rng.random_range(0.1..0.3) },
        1 => Shape::Capsule { half_length: rng.random_range(0.1..0.4), radius: rng.random_range(0.05..0.2) },
        2 => Shape::Ellipsoid { semi_axes: [0.1, 0.2, rng.random_range(0.1..0.4)] },
        _ => Shape::Cuboid { half_extents: [0.1, 0.2, rng.random_range(0.1..0.4)] },
    };
    let mut checked = 0;
    for round in 0..400 {
        let (motion_a, motion_b) = (round % 5, (round / 5) % 5);
        if motion_a > 2 && motion_b > 2 {
            continue;
        }
        let floor = round % 2 == 0;
        let kind_a = if floor { 4 } else { round % 2 };
        let kind_b = if floor { (round / 2) % 4 } else { (round / 3) % 2 };
        let shape_a = if kind_a == 4 { Shape::HalfSpace } else { shapes(&mut rng, kind_a) };
        let shape_b = shapes(&mut rng, kind_b);
        let mut world = World::new(Vector3::zeros());
        world.allow_overlap = true;
        world.t = rng.random_range(0.0..2.0);
        let (pose_a, pose_b) = (pose(&mut rng, 0.3), pose(&mut rng, 0.3));
        world.add_body(body(&mut rng, motion_a, "a").with(Attached::new(shape_a).at(pose_a)));
        world.add_body(body(&mut rng, motion_b, "b").with(Attached::new(shape_b).at(pose_b)));
        let model = built(world);
        let state = random_state(&mut rng, &model);
        let rows = contact_rows(&model, state.t, &state.q);
        let gaps = |t: f64, q: &[f64]| contact_rows(&model, t, q).iter().map(|r| r.gap).collect();
        for (row, rate) in rows.iter().zip(rates(&model, &state, gaps)) {
            let speed = row.normal.dot(&starts(&model), &state.v) + row.drift;
            assert!((speed - rate).abs() < TOLERANCE, "{speed} instead of {rate} in {row:?}");
            checked += 1;
        }
    }
    assert!(checked > 500, "only {checked} gaps");
}

/// The velocity of the surface point of a shape at a world point, from the poses alone.
fn surface_velocity(model: &Model, state: &State, id: BodyId, point: [f64; 3]) -> Vector3<f64> {
    let here = model.pose(state, id).unwrap();
    let local = here.inverse_transform_point(&point.into());
    let at = |epsilon: f64| {
        let (t, q) = moved(model, state, epsilon);
        let there = State { t, q, ..state.clone() };
        model.pose(&there, id).unwrap() * local
    };
    (at(EPSILON) - at(-EPSILON)) / (2.0 * EPSILON)
}

#[test]
fn tangent_rows_are_the_slip_of_the_surfaces() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..100 {
        let (motion_a, motion_b) = (round % 5, (round / 5) % 5);
        if motion_a > 2 && motion_b > 2 {
            continue;
        }
        let mut world = World::new(Vector3::zeros());
        world.allow_overlap = true;
        world.friction_point = FrictionPoint::Common;
        let belts = [vector(&mut rng, 1.0), vector(&mut rng, 1.0)];
        let ball = |rng: &mut ChaCha8Rng, belt: Vector3<f64>| {
            Attached::new(Shape::Sphere { radius: 0.2 }).at(pose(rng, 0.3)).surface_velocity(belt)
        };
        let (ball_a, ball_b) = (ball(&mut rng, belts[0]), ball(&mut rng, belts[1]));
        let a = world.add_body(body(&mut rng, motion_a, "a").with(ball_a));
        let b = world.add_body(body(&mut rng, motion_b, "b").with(ball_b));
        let model = built(world);
        let state = random_state(&mut rng, &model);
        for row in contact_rows(&model, state.t, &state.q) {
            let belt = |body, belt: Vector3<f64>| model.pose(&state, body).unwrap().rotation * belt;
            let slip = surface_velocity(&model, &state, row.bodies[1], row.point) + belt(b, belts[1])
                - surface_velocity(&model, &state, row.bodies[0], row.point)
                - belt(a, belts[0]);
            let (n, t) = (Vector3::from(row.direction), row.tangent_directions.map(Vector3::from));
            // a right-handed frame: first × second = n
            assert!((t[0].cross(&t[1]) - n).norm() < 1e-14);
            for (axis, tangent) in t.iter().zip(&row.tangents) {
                let speed = tangent.row.dot(&starts(&model), &state.v) + tangent.offset;
                assert!(
                    (speed - axis.dot(&slip)).abs() < TOLERANCE,
                    "{speed} instead of {}",
                    axis.dot(&slip)
                );
            }
        }
    }
}

#[test]
fn turning_is_the_exact_exponential_map() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut world = World::new(Vector3::zeros());
    world.add_body(Body::rigid("top", Mass::given(1.0, [1.0; 3])));
    let model = built(world);
    for size in [1e-9, 1e-5, 1e-3, 0.1, 1.0, 30.0] {
        let (start, turn) = (crate::common::rotation(&mut rng), vector(&mut rng, size));
        let mut q = vec![0.0, 0.0, 0.0, start.w, start.i, start.j, start.k];
        let h = 0.37;
        let v: Vec<f64> = [0.0; 3].into_iter().chain((turn / h).iter().copied()).collect();
        model.advance(&mut q, &v, h);
        let exact = start * UnitQuaternion::from_scaled_axis(turn);
        let found = Quaternion::new(q[3], q[4], q[5], q[6]);
        // round-off of the product, and of the angle itself when it is many turns
        let tolerance = 1e-15 * (1.0 + 2.0 * size);
        assert!((found - exact.quaternion()).norm() < tolerance, "{found} instead of {exact} at {size}");
    }
}

#[test]
fn quaternions_stay_of_unit_norm_over_100_000_steps() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut world = World::new(Vector3::zeros());
    world.add_body(Body::rigid("top", Mass::given(1.0, [1.0; 3])));
    let model = built(world);
    let mut q = model.state().q;
    for _ in 0..100_000 {
        let v: Vec<f64> =
            vector(&mut rng, 10.0).iter().chain(vector(&mut rng, 10.0).iter()).copied().collect();
        model.advance(&mut q, &v, 0.01);
        let norm = q[3..7].iter().map(|x| x * x).sum::<f64>().sqrt();
        // round-off of one division, not of all before it
        assert!((norm - 1.0).abs() < 5e-16);
    }
}
