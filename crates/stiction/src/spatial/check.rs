//! All mistakes of a world at once, with names.

use super::body::{Attached, Mass, Motion};
use super::force::Force;
use super::joint::{Joint, JointKind, Motor};
use super::search::Scratch;
use super::tables::{ShapeTable, Tables};
use super::world::{ShapeId, Slot, World};
use crate::error::Mistakes;
use crate::system::PairId;
use nalgebra::{Isometry3, Matrix3, SymmetricEigen, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use stiction_geometry::spatial::{MassProperties, Shape, has_gap, size};

impl World {
    /// All mistakes at once.
    pub fn check(&self) -> Result<(), Mistakes> {
        self.check_but(&BTreeMap::new())
    }

    /// The same for a world whose shapes may overlap by as much as given [m].
    pub(super) fn check_but(&self, overlaps: &BTreeMap<PairId, f64>) -> Result<(), Mistakes> {
        let mut found = Mistakes::none();
        check_settings(self, &mut found);
        check_names(self, &mut found);
        self.bodies.values().for_each(|slot| check_body(self, slot, &mut found));
        self.joints.values().for_each(|joint| check_joint(self, joint, &mut found));
        for (id, force) in &self.forces {
            check_force(self, force, &format!("force {} ({})", id.0, force.kind()), &mut found);
        }
        for &(a, b) in &self.excluded {
            for id in [a, b].into_iter().filter(|id| self.body(*id).is_none()) {
                found.add("exclusion", format!("there is no body {}", id.0));
            }
        }
        for (pair, material) in &self.materials {
            let place = format!("material of shapes {} and {}", pair.a, pair.b);
            let known = |shape| self.bodies.values().any(|s| s.shapes.contains(&ShapeId(shape)));
            for id in [pair.a, pair.b].into_iter().filter(|id| !known(*id)) {
                found.add(&place, format!("there is no shape {id}"));
            }
            material.mistakes().for_each(|(field, what)| found.add(format!("{place}, {field}"), what));
        }
        check_pairs(self, overlaps, &mut found);
        found.result()
    }
}

fn check_settings(world: &World, found: &mut Mistakes) {
    if !world.gravity.iter().all(|g| g.is_finite()) {
        found.add("world, gravity", "must be finite");
    }
    if !world.t.is_finite() {
        found.add("world, t", "must be finite");
    }
    let directions = world.facets.map(|f| f.directions);
    if let Some(n) = directions.filter(|n| *n < 4 || !n.is_multiple_of(2)) {
        found.add("world, facets", format!("{n} directions must be an even number of at least 4"));
    }
}

fn check_names(world: &World, found: &mut Mistakes) {
    let mut report = |what: &str, names: &mut dyn Iterator<Item = &String>| {
        let mut count = BTreeMap::new();
        names.for_each(|name| *count.entry(name).or_insert(0) += 1);
        for (name, n) in count.into_iter().filter(|(_, n)| *n > 1) {
            found.add(format!("{what} {name}"), format!("{n} have this name"));
        }
    };
    report("body", &mut world.bodies.values().map(|s| &s.body.name));
    report("joint", &mut world.joints.values().map(|j| &j.name));
}

/// What is wrong with a pose, if anything.
fn pose_mistake(pose: &Isometry3<f64>) -> Option<String> {
    let norm = pose.rotation.quaternion().norm();
    if !pose.translation.vector.iter().all(|x| x.is_finite()) || !norm.is_finite() {
        return Some("must be finite".into());
    }
    // gaps and rows take rotations at their word; 1e-9 is far above the round-off of any composition
    ((norm - 1.0).abs() > 1e-9).then(|| format!("its quaternion has the norm {norm} in place of 1"))
}

fn is_finite(v: &Vector3<f64>) -> bool {
    v.iter().all(|x| x.is_finite())
}

/// `true` for a vector that gives a direction.
fn has_direction(v: &Vector3<f64>) -> bool {
    is_finite(v) && v.try_normalize(0.0).is_some_and(|u| is_finite(&u))
}

fn check_body(world: &World, slot: &Slot, found: &mut Mistakes) {
    let body = &slot.body;
    let place = format!("body {}", body.name);
    for (i, shape) in body.shapes.iter().enumerate() {
        check_shape(shape, &format!("{place}, shape {i}"), found);
    }
    let mut add = |field: &str, what: String| found.add(format!("{place}, {field}"), what);
    if let Some(what) = pose_mistake(&body.pose) {
        add("pose", what);
    }
    if !(is_finite(&body.velocity.linear) && is_finite(&body.velocity.angular)) {
        add("velocity", "must be finite".into());
    }
    if slot.shapes.len() != body.shapes.len() {
        add("shapes", "must be added and removed by attach and detach".into());
    }
    match &body.motion {
        Motion::Slider(axis) if !has_direction(axis) => {
            add("motion", "the axis must be finite and not 0".into());
        }
        Motion::Kinematic(path) => {
            let (pose, twist) = path.0(world.t);
            if let Some(what) = pose_mistake(&pose) {
                add("motion", format!("the pose of its path {what}"));
            }
            if !(is_finite(&twist.linear) && is_finite(&twist.angular)) {
                add("motion", "the velocity of its path must be finite".into());
            }
        }
        _ => {}
    }
    if body.moves() {
        let turns = matches!(body.motion, Motion::Rigid);
        match body.mass_properties() {
            Err(error) => add("mass", error.to_string()),
            Ok(MassProperties { mass, centre, inertia }) => {
                if !(mass.is_finite() && mass > 0.0) {
                    add("mass", format!("{mass} kg must be positive and finite"));
                }
                if !is_finite(&centre.coords) {
                    add("mass", "the centre of mass must be finite".into());
                }
                // inertia from a density is right by construction
                if let (true, Mass::Given { .. }, Some(what)) = (turns, body.mass, inertia_mistake(&inertia))
                {
                    add("inertia", what);
                }
            }
        }
    }
}

/// What is wrong with a tensor of inertia, if anything.
fn inertia_mistake(inertia: &Matrix3<f64>) -> Option<String> {
    if !inertia.iter().all(|x| x.is_finite()) {
        return Some("must be finite".into());
    }
    let size = inertia.amax();
    // tensors come out of sums and rotations: 1e-9 of their size is far above round-off
    let slack = 1e-9 * size;
    if (inertia - inertia.transpose()).amax() > slack {
        return Some("must be symmetric".into());
    }
    let mut moments: Vec<f64> = SymmetricEigen::new(*inertia).eigenvalues.iter().copied().collect();
    moments.sort_unstable_by(f64::total_cmp);
    let [a, b, c] = moments[..] else { return None };
    if a <= 1e-12 * size {
        return Some(format!("its least principal moment {a} kg m² must be positive"));
    }
    (a + b < c - slack).then(|| {
        format!("no body has the principal moments {a}, {b} and {c} kg m²: two of them are never less than the third")
    })
}

fn check_shape(shape: &Attached, place: &str, found: &mut Mistakes) {
    if let Err(error) = shape.shape.check() {
        found.add(place, error.to_string());
    }
    if let Some(what) = pose_mistake(&shape.pose) {
        found.add(format!("{place}, pose"), what);
    }
    shape.material.mistakes().for_each(|(field, what)| found.add(format!("{place}, {field}"), what));
    if !is_finite(&shape.surface_velocity) {
        found.add(format!("{place}, surface velocity"), "must be finite");
    }
    if let Some(grain) = &shape.grain {
        if !has_direction(&grain.direction) {
            found.add(format!("{place}, grain"), "the direction must be finite and not 0");
        }
        if !(grain.ratio.is_finite() && grain.ratio > 0.0) {
            found.add(
                format!("{place}, grain"),
                format!("the ratio {} must be positive and finite", grain.ratio),
            );
        }
    }
}

fn check_joint(world: &World, joint: &Joint, found: &mut Mistakes) {
    let place = format!("joint {}", joint.name);
    let mut add = |field: &str, what: String| found.add(format!("{place}{field}"), what);
    for id in [joint.a, joint.b].into_iter().filter(|id| world.body(*id).is_none()) {
        add("", format!("there is no body {}", id.0));
    }
    if let (Some(a), Some(b)) = (world.body(joint.a), world.body(joint.b)) {
        if joint.a == joint.b {
            add("", format!("joins body {} to itself", a.name));
        } else if !a.moves() && !b.moves() {
            add("", format!("neither {} nor {} moves", a.name, b.name));
        }
    }
    for (field, frame) in [(", frame a", &joint.frame_a), (", frame b", &joint.frame_b)] {
        if let Some(what) = pose_mistake(frame) {
            add(field, what);
        }
    }
    let not_negative = |x: f64| x.is_finite() && x >= 0.0;
    let no_coordinate = || format!("a {} joint has no coordinate for it to act on", joint.kind.name());
    let coordinate = joint.kind.has_coordinate();
    if let JointKind::Distance(d) = joint.kind {
        if !(d.is_finite() && d > 0.0) {
            add(", distance", format!("{d} m must be finite and > 0"));
        }
        if joint.limits.is_none() && (joint.motor.is_some() || joint.friction > 0.0) {
            add(", distance", "it is held, so that nothing can drive it or rub: limits would free it".into());
        }
    }
    if let Some([least, greatest]) = joint.limits {
        if !coordinate {
            add(", limits", no_coordinate());
        }
        // false for NaN too
        if !(least <= greatest && least < f64::INFINITY && greatest > f64::NEG_INFINITY) {
            add(", limits", format!("{least} to {greatest} are in the wrong order"));
        } else if joint.kind == JointKind::Revolute && (least < -PI || greatest > PI) {
            add(", limits", format!("{least} to {greatest} must lie within −π and π"));
        }
    }
    let numbers: &[(&str, f64, bool)] = match &joint.motor {
        None => &[],
        Some(Motor::Velocity { speed, force }) => &[("speed", *speed, false), ("force", *force, true)],
        Some(Motor::Position { target, gain, force }) => {
            &[("target", *target, false), ("gain", *gain, true), ("force", *force, true)]
        }
    };
    if joint.motor.is_some() && !coordinate {
        add(", motor", no_coordinate());
    }
    for (field, x, sign) in numbers {
        if !x.is_finite() || (*sign && *x < 0.0) {
            let rule = if *sign { "finite and not negative" } else { "finite" };
            add(", motor", format!("{field} = {x} must be {rule}"));
        }
    }
    if !not_negative(joint.friction) {
        add(", friction", format!("{} must be finite and not negative", joint.friction));
    } else if joint.friction > 0.0 && !coordinate {
        add(", friction", no_coordinate());
    }
    if !not_negative(joint.compliance) {
        add(", compliance", format!("{} m/N must be finite and not negative", joint.compliance));
    }
}

fn check_force(world: &World, force: &Force, place: &str, found: &mut Mistakes) {
    for id in force.bodies().filter(|id| world.body(*id).is_none()) {
        found.add(place, format!("there is no body {}", id.0));
    }
    let mut add = |field: &str, ok: bool, rule: &str| {
        if !ok {
            found.add(format!("{place}, {field}"), format!("must be {rule}"));
        }
    };
    let not_negative = |x: f64| x.is_finite() && x >= 0.0;
    match force {
        Force::Constant { point, wrench, .. } => {
            add("point", point.is_none_or(|p| is_finite(&p.coords)), "finite");
            add("force", is_finite(&wrench.force), "finite");
            add("torque", is_finite(&wrench.torque), "finite");
        }
        Force::Timed { point, load, .. } => {
            let wrench = load(world.t);
            add("point", point.is_none_or(|p| is_finite(&p.coords)), "finite");
            add("load", is_finite(&wrench.force) && is_finite(&wrench.torque), "finite");
        }
        Force::Spring { a, b, point_a, point_b, stiffness, damping, rest_length } => {
            add("bodies", a != b, "two different ones");
            add("points", is_finite(&point_a.coords) && is_finite(&point_b.coords), "finite");
            add("stiffness", not_negative(*stiffness), "finite and not negative");
            add("damping", not_negative(*damping), "finite and not negative");
            add("rest length", not_negative(*rest_length), "finite and not negative");
        }
        Force::Rail { point, axis, origin, stiffness, damping, .. } => {
            add("point", is_finite(&point.coords), "finite");
            add("axis", has_direction(axis), "finite and not 0");
            add("origin", origin.is_finite(), "finite");
            add("stiffness", not_negative(*stiffness), "finite and not negative");
            add("damping", not_negative(*damping), "finite and not negative");
        }
        Force::Custom { .. } => {}
    }
}

/// Pairs that could meet and have no gap, and shapes that overlap at the start.
fn check_pairs(world: &World, overlaps: &BTreeMap<PairId, f64>, found: &mut Mistakes) {
    let tables = Tables::new(world);
    let name = |shape: usize| {
        let id = tables.parts[tables.shapes[shape].body].id;
        world.body(id).map_or("", |body| body.name.as_str())
    };
    let place = |a: usize, b: usize| format!("bodies {} and {}", name(a), name(b));
    // shapes that have a gap with every kind there is are most, and need not be looked at in pairs
    let mut kinds: Vec<&Shape> = Vec::new();
    for ShapeTable { shape, .. } in &tables.shapes {
        if kinds.iter().all(|other| other.kind() != shape.kind()) {
            kinds.push(shape);
        }
    }
    let shape = |i: usize| &tables.shapes[i].shape;
    let lacking: Vec<usize> =
        (0..tables.shapes.len()).filter(|&i| kinds.iter().any(|kind| !has_gap(shape(i), kind))).collect();
    for sensors in [false, true] {
        for (k, &i) in lacking.iter().enumerate() {
            for &j in &lacking[k + 1..] {
                let (a, b) = (shape(i), shape(j));
                if !has_gap(a, b) && tables.may_meet(i, j) && tables.senses(i, j) == sensors {
                    let what = format!("no gap function yet between {} and {}", a.kind(), b.kind());
                    found.add(place(i, j), what);
                }
            }
        }
    }
    if world.allow_overlap {
        return;
    }
    let state = tables.state(world);
    let may_meet = |a: usize, b: usize| !tables.senses(a, b);
    Scratch::default().overlaps(&tables, (state.t, &state.q), may_meet, |pair, gap| {
        // touching shapes overlap by round-off
        let size = size(&tables.shapes[pair.a].shape).min(size(&tables.shapes[pair.b].shape));
        let allowed = overlaps.get(&pair.id).copied().unwrap_or(0.0) + 1e-9 * size;
        if -gap > allowed {
            found.add(place(pair.a, pair.b), format!("overlap by {} m at the start", -gap));
        }
    });
}
