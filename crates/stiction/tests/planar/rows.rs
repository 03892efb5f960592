//! Rows are the gradients of what they hold: central differences of Θ and Φ along q ⊕ εv.

use crate::common::{at, disk, numbers, random, rectangle, space, starts};
use nalgebra::{Isometry2, Point2, Vector2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction::planar::{
    Attached, Body, BodyId, Joint, JointId, JointKind, Mass, Model, Motion, Motor, Path, World,
};
use stiction::{ContactQuery, ContactRow, FrictionPoint, JointRow, RowKind, SearchCache, System};
use stiction_geometry::planar::Shape;

/// Step of the differences [s]: ε² times third derivatives of order 10 and 1e-16/ε both stay below 1e-9.
const EPSILON: f64 = 1e-5;
const CLOSE: f64 = 1e-7;

/// A body of every motion, at random poses and with the centre of mass away from the frame.
fn bodies(world: &mut World, rng: &mut ChaCha8Rng) -> Vec<BodyId> {
    let pose = |rng: &mut ChaCha8Rng| {
        let x = numbers(rng, 3, 1.0);
        Isometry2::new(Vector2::new(x[0], x[1]), 3.0 * x[2])
    };
    let given = |rng: &mut ChaCha8Rng| Mass::Given {
        mass: rng.random_range(0.1..3.0),
        centre: Point2::from(Vector2::from_fn(|_, _| rng.random_range(-0.5..0.5))),
        inertia: rng.random_range(0.1..2.0),
    };
    let axis = {
        let angle: f64 = rng.random_range(-3.0..3.0);
        Vector2::new(angle.cos(), angle.sin())
    };
    let (place, speed) = (pose(rng), numbers(rng, 3, 2.0));
    // turns and wanders, with its own derivative
    let path = Path::new(move |t: f64| {
        let turn = place.rotation.angle() + speed[2] * t.sin();
        let move_by = Vector2::new(speed[0] * t, speed[1] * (2.0 * t).sin());
        let twist = stiction::planar::Twist::new(
            Vector2::new(speed[0], 2.0 * speed[1] * (2.0 * t).cos()),
            speed[2] * t.cos(),
        );
        (Isometry2::new(place.translation.vector + move_by, turn), twist)
    });
    let mut point = Body::point("point", 1.3).at(pose(rng));
    point.mass = given(rng);
    let mut slider = Body::slider("slider", 0.7, axis).at(pose(rng));
    slider.mass = given(rng);
    [
        Body::rigid("first", given(rng)).at(pose(rng)),
        Body::rigid("second", given(rng)).at(pose(rng)),
        point,
        slider,
        Body::fixed("fixed").at(pose(rng)),
        Body::kinematic("kinematic", path),
    ]
    .into_iter()
    .map(|body| world.add_body(body))
    .collect()
}

/// The state at t ± ε and whether a row's difference may be taken there.
fn moved(model: &Model, q: &[f64], v: &[f64], by: f64) -> Vec<f64> {
    let mut q = q.to_vec();
    model.advance(&mut q, v, by);
    q
}

fn joint_rows(model: &Model, t: f64, q: &[f64]) -> Vec<JointRow> {
    let mut rows = Vec::new();
    model.joints(t, q, &mut rows);
    rows
}

fn check_joint(model: &Model, id: JointId, rng: &mut ChaCha8Rng, expected_rows: usize) {
    let starts = starts(model);
    let n = starts[starts.len() - 1];
    let (t, q, v) = (rng.random_range(0.0..2.0), numbers(rng, n, 2.0), numbers(rng, n, 2.0));
    let rows = joint_rows(model, t, &q);
    let before = joint_rows(model, t - EPSILON, &moved(model, &q, &v, -EPSILON));
    let after = joint_rows(model, t + EPSILON, &moved(model, &q, &v, EPSILON));
    assert_eq!(rows.len(), expected_rows);
    let coordinate = |t: f64, by: f64| {
        let state = stiction::State { t, q: moved(model, &q, &v, by), v: v.clone(), ..Default::default() };
        model.joint_coordinate(&state, id).unwrap()
    };
    for (i, row) in rows.iter().enumerate() {
        let speed = row.row.dot(&starts, &v) + row.drift;
        let difference = match row.kind {
            RowKind::Rigid(_) | RowKind::Limit => (after[i].error - before[i].error) / (2.0 * EPSILON),
            RowKind::Drive { .. } => {
                let turns = model.world().joint(id).unwrap().kind == JointKind::Revolute;
                let scale = if turns { model.joint_length(id).unwrap() } else { 1.0 };
                let rate =
                    (coordinate(t + EPSILON, EPSILON) - coordinate(t - EPSILON, -EPSILON)) / (2.0 * EPSILON);
                scale * rate
            }
        };
        // an angle that passes π between the two jumps by a turn
        if (after[i].error - before[i].error).abs() < 1.0 && difference.abs() < 1e3 {
            let close = CLOSE * (1.0 + speed.abs());
            assert!((speed - difference).abs() < close, "row {i}: {speed} against {difference}");
        }
    }

    // and how fast their speeds change
    let (mut same, mut rates) = (Vec::new(), Vec::new());
    let told = model.joint_rates(t, &q, &v, &mut same, &mut rates);
    let Joint { a, b, .. } = model.world().joint(id).unwrap();
    let led =
        [a, b].iter().any(|id| matches!(model.world().body(**id).unwrap().motion, Motion::Kinematic(_)));
    // the accelerations of a kinematic body are unknown
    assert_eq!(told, !led);
    let speed = |row: &JointRow| row.row.dot(&starts, &v) + row.drift;
    for (i, rate) in rates.iter().enumerate().filter(|_| told) {
        assert_eq!(same[i], rows[i]);
        let difference = (speed(&after[i]) - speed(&before[i])) / (2.0 * EPSILON);
        let close = CLOSE * (1.0 + rate.abs());
        assert!((rate - difference).abs() < close, "row {i}: {rate} against {difference}");
    }
}

#[test]
fn joint_rows_are_gradients() {
    let mut rng = random(1);
    let mut checked = 0;
    for round in 0..200 {
        for kind in [JointKind::Revolute, JointKind::Prismatic, JointKind::Fixed, JointKind::Distance(0.7)] {
            let mut world = space();
            let bodies = bodies(&mut world, &mut rng);
            let a = bodies[rng.random_range(0..6)];
            let b = bodies[rng.random_range(0..6)];
            let frame = |rng: &mut ChaCha8Rng| {
                let x = numbers(rng, 3, 1.0);
                Isometry2::new(Vector2::new(x[0], x[1]), 3.0 * x[2])
            };
            let frames = [frame(&mut rng), frame(&mut rng)];
            let mut joint = Joint::new("joint", kind, (a, frames[0]), (b, frames[1]));
            let with_coordinate = round % 2 == 0 && kind != JointKind::Fixed;
            if with_coordinate {
                joint = joint.limits(0.5, 2.5).friction(1.0);
                joint = joint.motor(Motor::Velocity { speed: 1.0, force: 2.0 });
            }
            let id = world.add_joint(joint);
            // the same body twice, or two that do not move
            let Ok(model) = world.build() else { continue };
            let turns = [a, b]
                .iter()
                .any(|&id| matches!(model.world().body(id).unwrap().motion, stiction::planar::Motion::Rigid));
            let rigid = match kind {
                JointKind::Revolute => 2,
                JointKind::Prismatic => 1 + usize::from(turns),
                JointKind::Fixed => 2 + usize::from(turns),
                JointKind::Distance(_) => usize::from(!with_coordinate),
            };
            let coordinate = with_coordinate && (turns || kind != JointKind::Revolute);
            check_joint(&model, id, &mut rng, rigid + if coordinate { 4 } else { 0 });
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked} joints");
}

fn contacts(model: &Model, t: f64, q: &[f64]) -> Vec<ContactRow> {
    let mut rows = Vec::new();
    model.contacts(t, q, &ContactQuery::within(f64::INFINITY), &mut SearchCache::default(), &mut rows);
    rows
}

#[test]
fn contact_rows_are_gradients() {
    let mut rng = random(2);
    let mut checked = 0;
    for _ in 0..150 {
        let mut world = space();
        world.allow_overlap = true;
        let bodies = bodies(&mut world, &mut rng);
        for (i, &body) in bodies.iter().enumerate() {
            let x = numbers(&mut rng, 3, 0.5);
            let pose = Isometry2::new(Vector2::new(x[0], x[1]), 3.0 * x[2]);
            let shape = match (i, rng.random_range(0..3)) {
                (4, 0) => Attached::new(Shape::HalfPlane),
                (_, 0) => disk(0.2),
                (_, 1) => rectangle(0.3, 0.2),
                _ => Attached::new(Shape::Capsule { half_length: 0.3, radius: 0.1 }),
            };
            world.add_shape(body, shape.at(pose));
        }
        let model = world.build().unwrap();
        let starts = starts(&model);
        let n = starts[starts.len() - 1];
        let (t, q, v) = (rng.random_range(0.0..2.0), numbers(&mut rng, n, 2.0), numbers(&mut rng, n, 1.0));
        let rows = contacts(&model, t, &q);
        let before = contacts(&model, t - EPSILON, &moved(&model, &q, &v, -EPSILON));
        let after = contacts(&model, t + EPSILON, &moved(&model, &q, &v, EPSILON));
        for row in &rows {
            let find = |rows: &[ContactRow]| rows.iter().find(|r| r.id == row.id).map(|r| r.gap);
            // features come and go
            let (Some(before), Some(after)) = (find(&before), find(&after)) else { continue };
            let speed = row.normal.dot(&starts, &v) + row.drift;
            let difference = (after - before) / (2.0 * EPSILON);
            assert!((speed - difference).abs() < CLOSE * (1.0 + speed.abs()), "{speed} against {difference}");
            checked += 1;
        }
    }
    assert!(checked > 1000, "{checked} contacts");
}

#[test]
fn tangent_rows_are_slip_velocities() {
    // a disk spins on a belt that a kinematic floor carries: slip = v + ω r − floor − belt
    for point in [FrictionPoint::Common, FrictionPoint::Surface] {
        let mut world = space();
        world.friction_point = point;
        let floor = Path::new(|t| (at(3.0 * t, 0.0), crate::common::moving(3.0, 0.0, 0.0)));
        let belt = Attached::new(Shape::HalfPlane).surface_velocity(0.5);
        world.add_body(Body::kinematic("floor", floor).with(belt));
        world.add_body(Body::rigid("disk", Mass::given(1.0, 1.0)).at(at(0.0, 1.25)).with(disk(1.0)));
        let model = world.build().unwrap();
        let rows = contacts(&model, 0.0, &[0.0, 1.25, 0.0]);
        let tangent = &rows[0].tangents[0];
        let slip = tangent.row.dot(&[0, 3], &[2.0, 7.0, 0.1]) + tangent.offset;
        // the gap is 0.25: halfway between the surfaces the lever is 1.125, at the disk's own it is 1
        let lever = if point == FrictionPoint::Common { 1.125 } else { 1.0 };
        assert!((slip - (2.0 + 0.1 * lever - 3.0 - 0.5)).abs() < 1e-15);
        assert_eq!(rows[0].direction, [0.0, 1.0, 0.0]);
        assert_eq!(rows[0].tangent_directions[0], [1.0, 0.0, 0.0]);
        assert_eq!(rows[0].bodies, [BodyId(0), BodyId(1)]);
    }
}

#[test]
fn lengths_of_joints_make_turning_rows_speeds() {
    let mut world = space();
    let ground = world.add_body(Body::fixed("ground"));
    // lever 2, radius of gyration 3
    let body = world.add_body(Body::rigid("body", Mass::given(1.0, 9.0)).at(at(2.0, 0.0)));
    let joint = Joint::revolute("joint", &world, ground, body, Point2::origin());
    let joint = world.add_joint(joint.motor(Motor::Position { target: 1.0, gain: 4.0, force: 6.0 }));
    let model = world.build().unwrap();
    assert_eq!(model.joint_length(joint), Some(3.0));
    let rows = joint_rows(&model, 0.0, &[2.0, 0.0, 0.25]);
    // speed 4 · (1 − 0.25) rad/s and 6 N m at a length of 3 m
    assert_eq!(rows[2].kind, RowKind::Drive { speed: 9.0, force: 2.0 });
}

#[test]
fn coincident_points_of_a_distance_joint_give_finite_rows() {
    let mut world = space();
    let ground = world.add_body(Body::fixed("ground"));
    let body = world.add_body(Body::point("body", 1.0));
    let frame = Isometry2::identity();
    world.add_joint(Joint::new("rod", JointKind::Distance(1.0), (ground, frame), (body, frame)));
    let rope = Joint::new("rope", JointKind::Distance(1.0), (ground, frame), (body, frame));
    world.add_joint(rope.limits(0.0, 2.0));
    let model = world.build().unwrap();
    let rows = joint_rows(&model, 0.0, &[0.0, 0.0]);
    // the rope has no lower row: a length is never negative
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].error, rows[1].error), (-1.0, 2.0));
    assert!((rows[0].row.dot(&[0, 2], &[0.0, 1.0]) - 1.0).abs() < 1e-15);
}
