//! What is wrong with a world: all mistakes at once, with names.

use super::body::{Attached, Body, Mass, Motion, Twist};
use super::contact::{self, Membership};
use super::force::{Force, Wrench};
use super::joint::{Joint, JointKind, Motor};
use super::world::{BodyId, ShapeId, Slot, World};
use crate::error::Mistakes;
use crate::system::PairId;
use nalgebra::{Isometry2, Point2, Vector2};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;
use stiction_geometry::broad::{BroadPhase, Extent};
use stiction_geometry::planar::{Shape, bounds, gaps, has_gap, size};

/// How far a unit vector may be from unit length: what a literal with ten digits has.
const UNIT: f64 = 1e-9;

/// Overlap at the start that is none, relative to the smaller shape: what poses with ten digits have.
const OVERLAP: f64 = 1e-9;

impl World {
    /// All mistakes in the world, with names.
    pub fn check(&self) -> Result<(), Mistakes> {
        self.check_but(&BTreeMap::new())
    }

    /// The same, where these pairs may overlap by as much as is given here [m].
    pub(super) fn check_but(&self, overlaps: &BTreeMap<PairId, f64>) -> Result<(), Mistakes> {
        let mut found = Mistakes::none();
        if !(self.t.is_finite() && finite(&self.gravity)) {
            found.add("world", "time and gravity must be finite");
        }
        if !self.bodies.values().any(|slot| slot.body.moves()) {
            found.add("world", "no body moves");
        }
        duplicates("body", self.bodies.values().map(|s| s.body.name.as_str()), &mut found);
        duplicates("joint", self.joints.values().map(|j| j.name.as_str()), &mut found);
        self.bodies.values().for_each(|slot| self.check_body(slot, &mut found));
        self.joints.values().for_each(|joint| self.check_joint(joint, &mut found));
        for (id, force) in &self.forces {
            self.check_force(&format!("force {} ({})", id.0, force.kind()), force, &mut found);
        }
        for (pair, material) in &self.materials {
            let place = format!("material of {} and {}", self.owner(pair.a), self.owner(pair.b));
            let known = |shape| self.bodies.values().any(|s| s.shapes.contains(&ShapeId(shape)));
            if !(known(pair.a) && known(pair.b)) {
                found.add(&place, "there is no such shape");
            }
            material.mistakes().for_each(|(field, what)| found.add(format!("{place}, {field}"), what));
        }
        self.check_pairs(overlaps, &mut found);
        found.result()
    }

    /// The name of a shape's body.
    fn owner(&self, shape: u32) -> String {
        let slot = self.bodies.values().find(|s| s.shapes.contains(&ShapeId(shape)));
        slot.map_or_else(|| format!("shape {shape}"), |s| s.body.name.clone())
    }

    fn check_body(&self, slot: &Slot, found: &mut Mistakes) {
        let body = &slot.body;
        let place = |field: &str| format!("body {}, {field}", body.name);
        if !(finite_pose(&body.pose) && finite_twist(&body.velocity)) {
            found.add(place("pose and velocity"), "must be finite");
        }
        if let Motion::Kinematic(path) = &body.motion {
            let (pose, velocity) = path.0(self.t);
            if !(finite_pose(&pose) && finite_twist(&velocity)) {
                found.add(place("path"), format!("is not finite at t = {} s", self.t));
            }
        }
        if slot.shapes.len() != body.shapes.len() {
            found.add(place("shapes"), "must be added and removed by attach and detach");
        }
        check_velocity(body, &place("velocity"), found);
        check_mass(body, &place("mass"), found);
        for (i, attached) in body.shapes.iter().enumerate() {
            check_shape(body, attached, &place(&format!("shape {i}")), found);
        }
    }

    fn check_joint(&self, joint: &Joint, found: &mut Mistakes) {
        let place = |field: &str| format!("joint {}, {field}", joint.name);
        self.check_ends(joint.a, joint.b, &place("bodies"), found);
        if !(finite_pose(&joint.frame_a) && finite_pose(&joint.frame_b)) {
            found.add(place("frames"), "must be finite");
        }
        if let JointKind::Distance(length) = joint.kind
            && !(length.is_finite() && length > 0.0)
        {
            found.add(place("length"), format!("{length} must be finite and > 0"));
        }
        if let Some([lower, upper]) = joint.limits {
            // false for NaN too
            if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
                found.add(place("limits"), format!("{lower} to {upper} are in the wrong order"));
            }
            if joint.kind == JointKind::Revolute && (lower < -PI || upper > PI) {
                found.add(place("limits"), format!("{lower} to {upper} must lie between −π and π"));
            }
            if matches!(joint.kind, JointKind::Distance(_)) && upper <= 0.0 {
                found.add(place("limits"), format!("a length of at most {upper} is none"));
            }
        }
        if let Some(motor) = joint.motor {
            check_motor(motor, &place("motor"), found);
        }
        for (field, value) in [("friction", joint.friction), ("compliance", joint.compliance)] {
            not_negative(value, place(field), found);
        }
        let driven = joint.motor.is_some() || joint.friction > 0.0;
        match joint.kind {
            JointKind::Weld if driven || joint.limits.is_some() => {
                found.add(place("kind"), "a weld has no coordinate to limit, drive or brake");
            }
            JointKind::Distance(_) if driven && joint.limits.is_none() => {
                found.add(
                    place("kind"),
                    "a distance joint without limits has no coordinate to drive or brake",
                );
            }
            _ => {}
        }
    }

    /// Two bodies that something acts between.
    fn check_ends(&self, a: BodyId, b: BodyId, place: &str, found: &mut Mistakes) {
        let missing = |id: &BodyId| !self.bodies.contains_key(id);
        let unknown: BTreeSet<_> = [a, b].into_iter().filter(missing).collect();
        for id in &unknown {
            found.add(place, format!("there is no body {}", id.0));
        }
        if !unknown.is_empty() {
            return;
        }
        if a == b {
            let name = self.body(a).map_or("", |body| &body.name);
            found.add(place, format!("{name} on both sides"));
        } else if !self.moves(a) && !self.moves(b) {
            found.add(place, "neither body moves");
        }
    }

    fn moves(&self, id: BodyId) -> bool {
        self.body(id).is_some_and(Body::moves)
    }

    fn check_force(&self, place: &str, force: &Force, found: &mut Mistakes) {
        match force {
            Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length } => {
                self.check_ends(*a, *b, place, found);
                if !(finite(&point_a.coords) && finite(&point_b.coords)) {
                    found.add(place, "its points must be finite");
                }
                for (field, value) in
                    [("stiffness", stiffness), ("damping", damping), ("rest length", rest_length)]
                {
                    not_negative(*value, format!("{place}, {field}"), found);
                }
            }
            Force::Rail { body, point, axis, origin, stiffness, damping } => {
                self.check_target(*body, place, found);
                if !(finite(&point.coords) && origin.is_finite()) {
                    found.add(place, "point and origin must be finite");
                }
                check_unit(axis, &format!("{place}, axis"), found);
                for (field, value) in [("stiffness", stiffness), ("damping", damping)] {
                    not_negative(*value, format!("{place}, {field}"), found);
                }
            }
            Force::Constant { body, point, wrench } => {
                self.check_target(*body, place, found);
                check_wrench(point.as_ref(), wrench, place, found);
            }
            Force::Timed { body, point, load } => {
                self.check_target(*body, place, found);
                check_wrench(point.as_ref(), &load(self.t), place, found);
            }
            Force::Custom { .. } => {}
        }
    }

    fn check_target(&self, body: BodyId, place: &str, found: &mut Mistakes) {
        if !self.bodies.contains_key(&body) {
            found.add(place, format!("there is no body {}", body.0));
        } else if !self.moves(body) {
            let name = self.body(body).map_or("", |b| &b.name);
            found.add(place, format!("{name} does not move by itself"));
        }
    }

    /// Shapes that may meet: whether there is a gap between them, and whether they overlap already.
    fn check_pairs(&self, overlaps: &BTreeMap<PairId, f64>, found: &mut Mistakes) {
        let shapes = contact::shapes(self);
        let place = |i: usize, j: usize| format!("bodies {} and {}", shapes[i].2.name, shapes[j].2.name);
        let apart = contact::apart(self);
        let may_meet = |i: usize, j: usize| {
            let (a, b) = (Membership::of(&shapes[i]), Membership::of(&shapes[j]));
            !a.senses(&b) && a.may_meet(&b, &apart)
        };

        // shapes that have a gap with every kind there is are most, and need not be looked at in pairs
        let shape = |i: usize| &shapes[i].3.shape;
        let mut kinds: Vec<&Shape> = Vec::new();
        for i in 0..shapes.len() {
            if kinds.iter().all(|other| other.kind() != shape(i).kind()) {
                kinds.push(shape(i));
            }
        }
        let lacking: Vec<usize> =
            (0..shapes.len()).filter(|&i| kinds.iter().any(|kind| !has_gap(shape(i), kind))).collect();
        for (k, &i) in lacking.iter().enumerate() {
            for &j in lacking[k + 1..].iter().filter(|&&j| !has_gap(shape(i), shape(j)) && may_meet(i, j)) {
                let (a, b) = (shape(i).kind(), shape(j).kind());
                found.add(place(i, j), format!("no gap function yet between {a} and {b}"));
            }
        }

        if self.allow_overlap {
            return;
        }
        let poses: Vec<_> = shapes.iter().map(|(.., body, on)| body.pose_at(self.t) * on.pose).collect();
        // shapes that are not sound are nowhere
        let nowhere = Extent { min: [f64::NAN; 3], max: [f64::NAN; 3] };
        let boxes = shapes.iter().zip(&poses).map(|((.., on), pose)| {
            let sound = on.shape.check().is_ok() && finite_pose(pose);
            if sound { Extent::from(bounds(&on.shape, pose)) } else { nowhere }
        });
        let (mut pairs, mut near) = (Vec::new(), Vec::new());
        BroadPhase::default().overlaps(&boxes.collect::<Vec<_>>(), may_meet, &mut pairs);
        for [i, j] in pairs {
            near.clear();
            let least = [i, j].map(|i| size(shape(i))).into_iter().filter(|&s| s > 0.0).fold(1e300, f64::min);
            let known = overlaps.get(&PairId { a: shapes[i].0.0, b: shapes[j].0.0 }).copied().unwrap_or(0.0);
            let allowed = known + OVERLAP * least;
            if gaps(shape(i), &poses[i], shape(j), &poses[j], -allowed, &mut near).is_err() {
                continue;
            }
            let depth = near.iter().map(|g| -g.gap).fold(0.0, f64::max);
            if depth > allowed {
                found.add(place(i, j), format!("overlap by {depth} m at the start"));
            }
        }
    }
}

fn check_velocity(body: &Body, place: &str, found: &mut Mistakes) {
    let Twist { linear, angular } = body.velocity;
    let turns = angular != 0.0;
    match &body.motion {
        Motion::Rigid | Motion::Kinematic(_) => {}
        Motion::Point => {
            if turns {
                found.add(place, format!("a point does not turn at {angular} rad/s"));
            }
        }
        Motion::Slider(axis) => {
            check_unit(axis, &format!("body {}, axis", body.name), found);
            if turns || axis.perp(&linear).abs() > UNIT * linear.norm() {
                found.add(place, "a slider moves along its axis only");
            }
        }
        Motion::Fixed => {
            if turns || linear != Vector2::zeros() {
                found.add(place, "a fixed body has none");
            }
        }
    }
}

fn check_mass(body: &Body, place: &str, found: &mut Mistakes) {
    if !body.moves() {
        return;
    }
    let weight = match body.mass_properties() {
        Ok(weight) => weight,
        Err(error) => return found.add(place, error.to_string()),
    };
    if !(weight.mass.is_finite() && weight.mass > 0.0) {
        found.add(place, format!("{} kg must be finite and > 0", weight.mass));
    }
    if !finite(&weight.centre.coords) {
        found.add(place, "the centre of mass must be finite");
    }
    let turns = matches!(body.motion, Motion::Rigid);
    if turns && !(weight.inertia.is_finite() && weight.inertia > 0.0) {
        // a density that gives a mass gives an inertia too
        let what = if let Mass::Given { .. } = body.mass { "must be finite and > 0" } else { "is none" };
        found.add(place, format!("a moment of inertia of {} kg m² {what}", weight.inertia));
    }
}

fn check_shape(body: &Body, attached: &Attached, place: &str, found: &mut Mistakes) {
    if let Err(error) = attached.shape.check() {
        found.add(place, error.to_string());
    }
    if !finite_pose(&attached.pose) {
        found.add(place, "its pose must be finite");
    }
    if !attached.surface_velocity.is_finite() {
        found.add(place, format!("a surface velocity of {} m/s must be finite", attached.surface_velocity));
    }
    attached.material.mistakes().for_each(|(field, what)| found.add(format!("{place}, {field}"), what));
    if attached.shape == Shape::HalfPlane && matches!(body.motion, Motion::Rigid) {
        // its surface would be infinitely fast, and no contact out of reach
        found.add(place, "a half_plane cannot turn freely: a polygon can");
    }
}

fn check_motor(motor: Motor, place: &str, found: &mut Mistakes) {
    let (sought, gain, force) = match motor {
        Motor::Velocity { speed, force } => (speed, 0.0, force),
        Motor::Position { target, gain, force } => (target, gain, force),
    };
    if !sought.is_finite() {
        found.add(place, format!("what it seeks must be finite, not {sought}"));
    }
    not_negative(gain, format!("{place}, gain"), found);
    not_negative(force, format!("{place}, force"), found);
}

fn check_wrench(point: Option<&Point2<f64>>, wrench: &Wrench, place: &str, found: &mut Mistakes) {
    let at = point.is_none_or(|p| finite(&p.coords));
    if !(at && finite(&wrench.force) && wrench.torque.is_finite()) {
        found.add(place, "point, force and torque must be finite");
    }
}

fn check_unit(axis: &Vector2<f64>, place: &str, found: &mut Mistakes) {
    let length = axis.norm();
    // false for NaN too
    if !((length - 1.0).abs() <= UNIT) {
        found.add(place, format!("must be a unit vector, not of length {length}"));
    }
}

fn not_negative(value: f64, place: String, found: &mut Mistakes) {
    if !(value.is_finite() && value >= 0.0) {
        found.add(place, format!("{value} must be finite and not negative"));
    }
}

fn duplicates<'a>(what: &str, names: impl Iterator<Item = &'a str>, found: &mut Mistakes) {
    let mut seen = BTreeMap::new();
    names.for_each(|name| *seen.entry(name).or_insert(0) += 1);
    for (name, count) in seen.into_iter().filter(|&(_, count)| count > 1) {
        found.add(format!("{what} {name}"), format!("{count} have this name"));
    }
}

fn finite(v: &Vector2<f64>) -> bool {
    v.iter().all(|x| x.is_finite())
}

fn finite_pose(pose: &Isometry2<f64>) -> bool {
    finite(&pose.translation.vector) && pose.rotation.re.is_finite() && pose.rotation.im.is_finite()
}

fn finite_twist(twist: &Twist) -> bool {
    finite(&twist.linear) && twist.angular.is_finite()
}
