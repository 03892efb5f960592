//! Stack of two blocks, the lower one under an oscillating force: twelve and fourteen events.

use crate::common::{Expected, G, down, floor, halved, rough, tip};
use crate::reference::{At, driven};
use nalgebra::{Isometry2, Vector2};
use stiction::planar::{Attached, Body, Force, Model, Shape, World, Wrench};
use stiction::{Groups, Trapezoidal};

const MASS: [f64; 2] = [2.0, 1.0];

/// Force on the lower block: 14 cos 2t.
fn push(t: f64) -> f64 {
    14.0 * (2.0 * t).cos()
}

pub(crate) fn stack(mu: [f64; 2]) -> Model {
    let mut world = World::new(down());
    floor(&mut world, rough(mu[0]));
    // the top of the lower block collides with the upper one only
    let (above, below) = (Groups { member: 2, collides: 4 }, Groups { member: 4, collides: 2 });
    let top = Attached::new(Shape::HalfPlane).at(Isometry2::translation(0.0, 1.0)).material(rough(mu[1]));
    let lower = Body::point("lower", MASS[0]).with(tip(0.0, 0.0, rough(mu[0]))).with(top.groups(above));
    let lower = world.add_body(lower);
    let upper = Body::point("upper", MASS[1]).at(Isometry2::translation(0.0, 1.0));
    world.add_body(upper.with(tip(0.0, 0.0, rough(mu[1])).groups(below)));
    let load = |t| Wrench { force: Vector2::new(push(t), 0.0), torque: 0.0 };
    world.add_force(Force::timed(lower, load));
    world.build().unwrap()
}

/// Accelerations with slips of these signs at the floor and between the blocks, 0 for stick, and the event function of
/// these modes.
fn slides(at: &At, mu: [f64; 2], [a, b]: [f64; 2]) -> (Vec<f64>, f64) {
    let bounds = [mu[0] * (MASS[0] + MASS[1]) * G, mu[1] * MASS[1] * G];
    let force = push(at.t) - a * bounds[0];
    let (first, second) = match (a == 0.0, b == 0.0) {
        (true, true) => (0.0, 0.0),
        (true, false) => (0.0, -b * bounds[1] / MASS[1]),
        (false, true) => (force / (MASS[0] + MASS[1]), force / (MASS[0] + MASS[1])),
        (false, false) => ((force + b * bounds[1]) / MASS[0], -b * bounds[1] / MASS[1]),
    };
    let floor = if a == 0.0 { bounds[0] - (push(at.t) - MASS[1] * second).abs() } else { a * at.v[0] };
    let between = if b == 0.0 { bounds[1] - (MASS[1] * second).abs() } else { b * (at.v[1] - at.v[0]) };
    (vec![first, second], floor.min(between))
}

#[test]
fn a_stack_that_never_sticks_to_the_floor() {
    let sequence = [
        (0.501_018_277, "S3"),
        (0.891_295_232, "L3"),
        (1.132_721_816, "R1"),
        (2.229_291_152, "S3"),
        (2.462_091_559, "L3"),
        (2.866_970_264, "R1"),
        (3.941_476_863, "S3"),
        (4.032_887_886, "L3"),
        (4.356_113_204, "R1"),
        (5.448_382_250, "S3"),
        (5.603_684_213, "L3"),
        (5.973_315_760, "R1"),
    ];
    let runs = halved(|| stack([0.15, 0.25]), Trapezoidal::default(), 4..=9, 6.0);
    Expected::of(
        &[(0, -1.894_943_267_724), (2, -1.949_085_076_032)],
        &sequence,
        &[4.39e-3, 1.16e-3, 3.00e-4, 7.59e-5, 1.91e-5, 4.78e-6],
    )
    .check("stack", &runs);
}

#[test]
fn a_stack_whose_lower_block_sticks() {
    let mu = [0.35, 0.25];
    let runs = halved(|| stack(mu), Trapezoidal::default(), 4..=9, 6.0);
    // slip of the lower and of the upper contact from event to event
    let lower = [1.0, 0.0, -1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 1.0];
    let upper = [0.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0];
    let modes: Vec<[f64; 2]> = lower.into_iter().zip(upper).map(|(a, b)| [a, b]).collect();
    let start = At { t: 0.0, q: vec![0.0; 2], v: vec![0.0; 2] };
    let (end, times) = driven(start, &modes, 6.0, |at, mode| slides(at, mu, mode));
    let summary = ["S1", "L1", "L3", "S1", "S3", "L1", "L3", "S1", "S3", "L1", "L3", "S1", "S3", "L1"];
    let sequence: Vec<(f64, &str)> = times.into_iter().zip(summary).collect();
    Expected::of(&[(0, end.q[0]), (2, end.q[1])], &sequence, &[]).check("stack that sticks", &runs);
}
