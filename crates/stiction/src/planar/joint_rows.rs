//! Rows of planar joints: each Θ an exact function of the configuration, each row its exact gradient.

use super::formulas::MIN_NORMALIZABLE;
use super::joint::JointKind;
use super::placement::{relative_speed, relative_turn};
use super::{Joint, Planar, Twist};
use crate::system::RowKind;
use crate::world::{
    BodyLayout, JointCoordinate, JointLayout, JointMemory, JointRowWriter, Motor, Placement, SpeedRow,
};
use nalgebra::{Isometry2, Point2, Vector2};
use std::f64::consts::TAU;

/// Frames of a planar joint in its bodies.
#[derive(Debug, Clone)]
pub struct JointFrames {
    /// Origins of the frames from the centres of mass, along the axes of the body frames [m].
    anchors: [Vector2<f64>; 2],
    /// Angles of the frames in the bodies [rad].
    angles: [f64; 2],
    /// Angle from which the joint coordinate counts [rad]: whole turns, so that it starts between −π and π. `None` with
    /// a kinematic body, whose angle does not count turns.
    turns: Option<f64>,
}

impl JointFrames {
    pub(super) fn new(joint: &Joint, bodies: [&BodyLayout<Planar>; 2], poses: [&Isometry2<f64>; 2]) -> Self {
        let frames = [joint.frame_a, joint.frame_b];
        let anchor = |i: usize| frames[i].translation.vector - bodies[i].centre.coords;
        let angles = frames.map(|f| f.rotation.angle());
        let [a, b] = poses.map(|pose| pose.rotation.angle());
        let counts = bodies.iter().all(|body| !body.is_kinematic());
        let turns = counts.then(|| whole_turns(b + angles[1] - a - angles[0]));
        Self { anchors: [anchor(0), anchor(1)], angles, turns }
    }

    /// Takes the turns from which the coordinate counts from the frames before an edit.
    pub(super) fn keep_turns(&mut self, before: &Self) {
        if self.turns.is_some() {
            self.turns = before.turns.or(self.turns);
        }
    }

    /// Origins of the frames in the world [m].
    fn origins(&self, bodies: [&Placement<Planar>; 2]) -> [Point2<f64>; 2] {
        std::array::from_fn(|i| bodies[i].point(&self.anchors[i]))
    }

    /// Angle from frame a to frame b, between −π and π [rad].
    fn angle(&self, bodies: [&Placement<Planar>; 2]) -> f64 {
        let angle = self.total_angle(bodies);
        angle - whole_turns(angle)
    }

    /// Angle from frame a to frame b [rad], which counts turns unless a body is kinematic.
    fn counted_angle(&self, bodies: [&Placement<Planar>; 2]) -> f64 {
        let angle = self.total_angle(bodies);
        angle - self.turns.unwrap_or_else(|| whole_turns(angle))
    }

    fn total_angle(&self, bodies: [&Placement<Planar>; 2]) -> f64 {
        let [a, b] = bodies.map(|body| body.frame.angle);
        b + self.angles[1] - a - self.angles[0]
    }

    /// Axes of frame a in the world: along x and along y.
    fn axes(&self, a: &Placement<Planar>) -> [Vector2<f64>; 2] {
        let (sin, cos) = (a.frame.angle + self.angles[0]).sin_cos();
        [Vector2::new(cos, sin), Vector2::new(-sin, cos)]
    }
}

/// Motion of the frames of a joint against each other at constant velocities of its bodies.
#[derive(Debug, Clone, Copy, Default)]
struct RelativeMotion {
    /// Angular velocity of the first body [rad/s].
    turn: f64,
    /// Velocity of the second origin against the first [m/s].
    velocity: Vector2<f64>,
    /// Acceleration of the second origin against the first [m/s²].
    acceleration: Vector2<f64>,
}

impl RelativeMotion {
    fn new(twists: [Twist; 2], bodies: [&Placement<Planar>; 2], origins: [Point2<f64>; 2]) -> Self {
        let [a, b] = std::array::from_fn(|i| {
            let (Twist { linear, angular }, lever) = (twists[i], origins[i] - bodies[i].centre);
            (linear + angular * left(&lever), -angular * angular * lever)
        });
        Self { turn: twists[0].angular, velocity: b.0 - a.0, acceleration: b.1 - a.1 }
    }

    /// Second derivative of d along an axis that turns with the first body: n̈·d + 2 ṅ·ḋ + n·d̈.
    fn along_turning(&self, axis: &Vector2<f64>, d: &Vector2<f64>) -> f64 {
        let Self { turn, velocity, acceleration } = self;
        let turned = 2.0 * turn * left(axis).dot(velocity) - turn * turn * axis.dot(d);
        turned + axis.dot(acceleration)
    }

    /// Second derivative of the length of d, along d.
    fn along_itself(&self, axis: &Vector2<f64>, length: f64) -> f64 {
        let across = self.velocity - axis * axis.dot(&self.velocity);
        axis.dot(&self.acceleration) + across.norm_squared() / length
    }
}

/// Vector turned by 90° to the left.
fn left(x: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(-x.y, x.x)
}

/// Writes the rows of a joint: held motions, lower and upper limit, motor, dry friction.
pub(super) fn rows(
    layout: &JointLayout<Planar>,
    bodies: [&Placement<Planar>; 2],
    twists: Option<[Twist; 2]>,
    memory: JointMemory,
    out: &mut JointRowWriter,
) {
    let JointLayout { id, joint, frames, length, .. } = layout;
    let ([a, b], [p, q]) = (bodies, frames.origins(bodies));
    let d = q - p;
    let motion =
        twists.map_or_else(RelativeMotion::default, |twists| RelativeMotion::new(twists, bodies, [p, q]));
    let mut push = |row: SpeedRow, error: f64, kind: RowKind, rate: f64| {
        // bodies that do not turn do not enter angular rows
        if !row.is_empty() {
            out.add(*id, [error, row.drift], kind, rate, |terms| terms.extend(row.terms));
        }
    };
    let rigid = RowKind::Rigid(joint.compliance);
    let angle = frames.angle(bodies);
    let turning = || relative_turn(a, b, *length);
    match joint.kind {
        JointKind::Revolute | JointKind::Fixed => {
            for axis in [Vector2::x(), Vector2::y()] {
                let row = relative_speed((a, &p), (b, &q), &axis);
                push(row, axis.dot(&d), rigid, axis.dot(&motion.acceleration));
            }
            if joint.kind == JointKind::Fixed {
                push(turning(), length * angle, rigid, 0.0);
            }
        }
        JointKind::Prismatic => {
            // the axes turn with a: its material point at the other origin goes along
            let [_, across] = frames.axes(a);
            let row = relative_speed((a, &q), (b, &q), &across);
            push(row, across.dot(&d), rigid, motion.along_turning(&across, &d));
            push(turning(), length * angle, rigid, 0.0);
        }
        JointKind::Distance(_) => {}
    }
    let Some(coordinate) = coordinate_at(layout, bodies, [p, q], &motion) else { return };
    match joint.kind {
        JointKind::Distance(length) if joint.limits.is_none() => {
            push(coordinate.row, coordinate.value - length, rigid, coordinate.rate);
        }
        _ => coordinate_rows(joint, memory.motor, &coordinate, &mut push),
    }
}

/// Joint coordinate with its row, from the origins of the frames and their motion.
fn coordinate_at(
    layout: &JointLayout<Planar>,
    [a, b]: [&Placement<Planar>; 2],
    [p, q]: [Point2<f64>; 2],
    motion: &RelativeMotion,
) -> Option<JointCoordinate> {
    let (frames, d) = (&layout.frames, q - p);
    match layout.joint.kind {
        JointKind::Revolute => {
            let (value, scale) = (frames.counted_angle([a, b]), layout.length);
            Some(JointCoordinate { value, scale, row: relative_turn(a, b, scale), rate: 0.0 })
        }
        JointKind::Prismatic => {
            let [along, _] = frames.axes(a);
            let row = relative_speed((a, &q), (b, &q), &along);
            let rate = motion.along_turning(&along, &d);
            Some(JointCoordinate { value: along.dot(&d), scale: 1.0, row, rate })
        }
        JointKind::Fixed => None,
        JointKind::Distance(_) => {
            let value = d.norm();
            // coincident points are parted upwards: any direction will do
            let along = if value > MIN_NORMALIZABLE { d / value } else { Vector2::y() };
            let row = relative_speed((a, &p), (b, &q), &along);
            Some(JointCoordinate { value, scale: 1.0, row, rate: motion.along_itself(&along, value) })
        }
    }
}

/// Rows of the joint coordinate: limits, motor, dry friction.
fn coordinate_rows(
    joint: &Joint,
    motor: Option<Motor>,
    c: &JointCoordinate,
    push: &mut impl FnMut(SpeedRow, f64, RowKind, f64),
) {
    if let Some([lower, upper]) = joint.limits {
        if joint.has_lower_limit() {
            push(c.row.clone(), c.scale * (c.value - lower), RowKind::Limit, c.rate);
        }
        if upper.is_finite() {
            push(c.row.reversed(), c.scale * (upper - c.value), RowKind::Limit, -c.rate);
        }
    }
    let drive = |speed: f64, force: f64| RowKind::Drive { speed: c.scale * speed, force: force / c.scale };
    match motor {
        Some(Motor::Velocity { speed, force }) => push(c.row.clone(), 0.0, drive(speed, force), c.rate),
        Some(Motor::Position { target, gain, force }) => {
            push(c.row.clone(), 0.0, drive(gain * (target - c.value), force), c.rate);
        }
        // forces, not rows
        Some(Motor::Torque { .. } | Motor::Servo { .. }) | None => {}
    }
    if joint.friction > 0.0 {
        push(c.row.clone(), 0.0, drive(0.0, joint.friction), c.rate);
    }
}

/// Joint coordinate with its row: see [`JointKind`].
pub(super) fn coordinate(
    layout: &JointLayout<Planar>,
    bodies: [&Placement<Planar>; 2],
) -> Option<JointCoordinate> {
    coordinate_at(layout, bodies, layout.frames.origins(bodies), &RelativeMotion::default())
}

/// Whole turns nearest to an angle [rad].
fn whole_turns(angle: f64) -> f64 {
    TAU * (angle / TAU).round()
}
