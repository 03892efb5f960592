//! The rows of joints: Θ, its gradient with respect to v, and how each row holds.

use super::body::Twist;
use super::joint::{Joint, JointKind, Motor};
use super::lane::Lane;
use super::part::{Part, Place};
use super::world::JointId;
use crate::system::{JointRow, RowKind};
use nalgebra::{Point2, Vector2};
use std::f64::consts::TAU;

/// Length below which a direction cannot be normalized without losing digits to underflow [m].
pub(super) const TINY: f64 = 1e-100;

/// A joint as a model sees it.
#[derive(Debug, Clone)]
pub(super) struct Hinge {
    pub(super) id: JointId,
    pub(super) joint: Joint,
    /// Indices of the bodies' parts.
    pub(super) sides: [usize; 2],
    /// Origins of the frames from the centres of mass, along the axes of the body frames [m].
    anchors: [Vector2<f64>; 2],
    /// Angles of the frames in the bodies [rad].
    angles: [f64; 2],
    /// What turning rows are multiplied by [m].
    pub(super) length: f64,
}

/// The joint coordinate.
struct Coordinate {
    /// [rad; m]
    value: f64,
    /// Metres of the row per unit of the coordinate.
    scale: f64,
    lane: Lane,
    /// How fast the speed of the lane changes at constant velocities [m/s²].
    rate: f64,
}

/// How the frames of a joint move against each other while its bodies keep their velocities.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    /// Angular velocity of the first body [rad/s].
    turn: f64,
    /// Velocity and acceleration of the second origin against the first [m/s; m/s²].
    velocity: Vector2<f64>,
    acceleration: Vector2<f64>,
}

impl Course {
    fn new(twists: [Twist; 2], places: [&Place; 2], origins: [Point2<f64>; 2]) -> Self {
        let [a, b] = std::array::from_fn(|i| {
            let (Twist { linear, angular }, lever) = (twists[i], origins[i] - places[i].centre);
            (linear + angular * left(&lever), -angular * angular * lever)
        });
        Self { turn: twists[0].angular, velocity: b.0 - a.0, acceleration: b.1 - a.1 }
    }

    /// How fast the speed of d along an axis changes that turns with the first body: n̈·d + 2 ṅ·ḋ + n·d̈.
    fn along_turning(&self, axis: &Vector2<f64>, d: &Vector2<f64>) -> f64 {
        let Self { turn, velocity, acceleration } = self;
        let turned = 2.0 * turn * left(axis).dot(velocity) - turn * turn * axis.dot(d);
        turned + axis.dot(acceleration)
    }

    /// The same of the length of d, along d.
    fn along_itself(&self, axis: &Vector2<f64>, length: f64) -> f64 {
        let across = self.velocity - axis * axis.dot(&self.velocity);
        axis.dot(&self.acceleration) + across.norm_squared() / length
    }
}

/// A vector turned by a quarter to the left.
fn left(x: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(-x.y, x.x)
}

impl Hinge {
    pub(super) fn new(id: JointId, joint: &Joint, sides: [usize; 2], parts: &[Part]) -> Self {
        let frames = [joint.frame_a, joint.frame_b];
        let anchors: [_; 2] =
            std::array::from_fn(|i| frames[i].translation.vector - parts[sides[i]].centre.coords);
        // levers of bodies that move, and radii of gyration: the speeds a turn at this joint goes with
        let own = |i: usize| {
            let part = &parts[sides[i]];
            if part.moving.is_some() { anchors[i].norm().max(part.gyration()) } else { 0.0 }
        };
        let length = own(0).max(own(1));
        Self {
            id,
            joint: joint.clone(),
            sides,
            anchors,
            angles: frames.map(|f| f.rotation.angle()),
            length: if length > 0.0 { length } else { 1.0 },
        }
    }

    /// Appends the rows: what is held, lower and upper limit, motor, dry friction.
    pub(super) fn rows(&self, parts: &[Part], places: [&Place; 2], out: &mut Vec<JointRow>) {
        self.make(parts, places, None, |row, _| out.push(row));
    }

    /// The same, and how fast the speed of each row changes at constant velocities of the bodies, which are these
    /// [m/s²].
    pub(super) fn rows_and_rates(
        &self,
        parts: &[Part],
        places: [&Place; 2],
        twists: [Twist; 2],
        (out, rates): (&mut Vec<JointRow>, &mut Vec<f64>),
    ) {
        self.make(parts, places, Some(twists), |row, rate| {
            out.push(row);
            rates.push(rate);
        });
    }

    fn make(
        &self,
        parts: &[Part],
        places: [&Place; 2],
        twists: Option<[Twist; 2]>,
        mut add: impl FnMut(JointRow, f64),
    ) {
        let [a, b] = [(&parts[self.sides[0]], places[0]), (&parts[self.sides[1]], places[1])];
        let [p, q] = std::array::from_fn(|i| places[i].point(&self.anchors[i]));
        let d = q - p;
        let course = twists.map_or_else(Course::default, |twists| Course::new(twists, places, [p, q]));
        let mut push = |lane: Lane, error: f64, kind: RowKind, rate: f64| {
            // bodies that do not turn have no say in the rows that do
            if !lane.is_empty() {
                let drift = lane.drift;
                add(JointRow { joint: self.id.0, row: lane.into_row(), error, drift, kind }, rate);
            }
        };
        let held = RowKind::Rigid(self.joint.compliance);
        let angle = wrapped(places[1].angle + self.angles[1] - places[0].angle - self.angles[0]);
        let turning = || Lane::turning(a, b, self.length);
        let coordinate = match self.joint.kind {
            JointKind::Revolute | JointKind::Weld => {
                for axis in [Vector2::x(), Vector2::y()] {
                    let lane = Lane::between((a.0, a.1, &p), (b.0, b.1, &q), &axis);
                    push(lane, axis.dot(&d), held, axis.dot(&course.acceleration));
                }
                if self.joint.kind == JointKind::Weld {
                    push(turning(), self.length * angle, held, 0.0);
                    None
                } else {
                    Some(Coordinate { value: angle, scale: self.length, lane: turning(), rate: 0.0 })
                }
            }
            JointKind::Prismatic => {
                // the axes turn with a: its material point at the other origin goes along
                let lane = |axis: &Vector2<f64>| Lane::between((a.0, a.1, &q), (b.0, b.1, &q), axis);
                let (sin, cos) = (places[0].angle + self.angles[0]).sin_cos();
                let (along, across) = (Vector2::new(cos, sin), Vector2::new(-sin, cos));
                push(lane(&across), across.dot(&d), held, course.along_turning(&across, &d));
                push(turning(), self.length * angle, held, 0.0);
                let rate = course.along_turning(&along, &d);
                Some(Coordinate { value: along.dot(&d), scale: 1.0, lane: lane(&along), rate })
            }
            JointKind::Distance(length) => {
                let value = d.norm();
                // points that coincide are parted upwards: any direction will do
                let along = if value > TINY { d / value } else { Vector2::y() };
                let lane = Lane::between((a.0, a.1, &p), (b.0, b.1, &q), &along);
                let rate = course.along_itself(&along, value);
                if self.joint.limits.is_some() {
                    Some(Coordinate { value, scale: 1.0, lane, rate })
                } else {
                    push(lane, value - length, held, rate);
                    None
                }
            }
        };
        if let Some(coordinate) = coordinate {
            self.coordinate_rows(&coordinate, &mut push);
        }
    }

    fn coordinate_rows(&self, c: &Coordinate, push: &mut impl FnMut(Lane, f64, RowKind, f64)) {
        if let Some([lower, upper]) = self.joint.limits {
            // a length is never negative, and its row has no direction at 0
            let needless = matches!(self.joint.kind, JointKind::Distance(_)) && lower <= 0.0;
            if lower.is_finite() && !needless {
                push(c.lane.clone(), c.scale * (c.value - lower), RowKind::Limit, c.rate);
            }
            if upper.is_finite() {
                push(c.lane.reversed(), c.scale * (upper - c.value), RowKind::Limit, -c.rate);
            }
        }
        let drive =
            |speed: f64, force: f64| RowKind::Drive { speed: c.scale * speed, force: force / c.scale };
        match self.joint.motor {
            Some(Motor::Velocity { speed, force }) => push(c.lane.clone(), 0.0, drive(speed, force), c.rate),
            Some(Motor::Position { target, gain, force }) => {
                push(c.lane.clone(), 0.0, drive(gain * (target - c.value), force), c.rate);
            }
            None => {}
        }
        if self.joint.friction > 0.0 {
            push(c.lane.clone(), 0.0, drive(0.0, self.joint.friction), c.rate);
        }
    }

    /// The joint coordinate [rad; m]: see [`JointKind`].
    pub(super) fn coordinate(&self, places: [&Place; 2]) -> Option<f64> {
        let [p, q] = std::array::from_fn(|i| places[i].point(&self.anchors[i]));
        match self.joint.kind {
            JointKind::Revolute => {
                Some(wrapped(places[1].angle + self.angles[1] - places[0].angle - self.angles[0]))
            }
            JointKind::Prismatic => {
                let (sin, cos) = (places[0].angle + self.angles[0]).sin_cos();
                Some(Vector2::new(cos, sin).dot(&(q - p)))
            }
            JointKind::Weld => None,
            JointKind::Distance(_) => Some((q - p).norm()),
        }
    }
}

/// The same angle between −π and π.
fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}
