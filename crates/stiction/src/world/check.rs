//! Check of a world: all mistakes at once, with names.

use super::actuators::inputs;
use super::body::{Attached, Mass, Motion, Twist};
use super::dimension::{Dimension, EuclideanPoint, EuclideanVector, KindOfJoint, MassProperties};
use super::force::{Force, Wrench};
use super::formulas::Formulas;
use super::joint::{Joint, JointSpring, Motor};
use super::layout::Layout;
use super::search::SearchWorkspace;
use super::turns;
use super::{BodyEntry, World};
use crate::error::Mistakes;
use crate::id::{BodyId, ShapeId};
use crate::system::PairId;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

/// Overlap at the start that counts as none, relative to the smaller shape: the round-off of poses written with
/// ten digits. Range 1e-12 to 1e-6: below it touching shapes are refused, above it real overlaps pass.
const START_OVERLAP_RELATIVE: f64 = 1e-9;

impl<D: Formulas> World<D> {
    /// All mistakes of the world at once, with names.
    pub fn check(&self) -> Result<(), Mistakes> {
        self.check_with(&BTreeMap::new())
    }

    /// Mistakes of a world whose shapes may overlap by as much as given [m].
    pub(super) fn check_with(&self, overlaps: &BTreeMap<PairId, f64>) -> Result<(), Mistakes> {
        let mut found = Mistakes::none();
        if !self.gravity.all_finite() {
            found.add("world, gravity", "must be finite");
        }
        if !self.t.is_finite() {
            found.add("world, time", "must be finite");
        }
        D::check_settings(self, &mut found);
        check_names("body", self.bodies.values().map(|entry| entry.body.name.as_str()), &mut found);
        let names = self.joints.values().map(|joint| joint.name.as_str());
        let names = names.chain(self.couplings().map(|(_, coupling)| coupling.name.as_str()));
        check_names("joint", names, &mut found);
        let inputs: Vec<String> = inputs(self).map(|input| input.name).collect();
        check_names("input", inputs.iter().map(String::as_str), &mut found);
        self.bodies.values().for_each(|entry| self.check_body(entry, &mut found));
        self.joints.values().for_each(|joint| self.check_joint(joint, &mut found));
        self.check_couplings(&mut found);
        for (id, force) in &self.forces {
            self.check_force(&format!("force {} ({})", id.0, force.kind()), force, &mut found);
        }
        for &(a, b) in &self.excluded {
            for id in [a, b].into_iter().filter(|id| self.body(*id).is_none()) {
                found.add("exclusion", format!("there is no body {}", id.0));
            }
        }
        self.check_materials(&mut found);
        self.check_pairs(overlaps, &mut found);
        found.result()
    }

    fn check_body(&self, entry: &BodyEntry<D>, found: &mut Mistakes) {
        let body = &entry.body;
        for (i, shape) in body.shapes.iter().enumerate() {
            let place = format!("body {}, shape {i}", body.name);
            check_shape(shape, &place, found);
            D::check_attached(body, shape, &place, found);
        }
        let mut add = |field: &str, what: String| found.add(format!("body {}, {field}", body.name), what);
        if let Some(what) = D::pose_mistake(&body.pose) {
            add("pose", what);
        }
        if !is_finite(&body.velocity) {
            add("velocity", "must be finite".into());
        } else if let Some(what) = D::velocity_mistake(body) {
            add("velocity", what);
        }
        if entry.shapes.len() != body.shapes.len() {
            add("shapes", "must be added and removed with add_shape and remove_shape".into());
        }
        match &body.motion {
            Motion::Slider(axis) => {
                if let Some(what) = D::axis_mistake(axis) {
                    add("axis", what);
                }
            }
            Motion::Kinematic(path) => {
                let (pose, velocity) = path.0(self.t);
                if let Some(what) = D::pose_mistake(&pose) {
                    add("path", format!("the pose at t = {} s {what}", self.t));
                }
                if !is_finite(&velocity) {
                    add("path", format!("the velocity at t = {} s must be finite", self.t));
                }
            }
            Motion::Rigid | Motion::Point | Motion::Fixed => {}
        }
        if !body.moves() {
            return;
        }
        match body.mass_properties() {
            Err(error) => add("mass", error.to_string()),
            Ok(MassProperties { mass, centre, inertia }) => {
                if !(mass.is_finite() && mass > 0.0) {
                    add("mass", format!("{mass} kg must be finite and > 0"));
                }
                if !centre.coordinates().all_finite() {
                    add("mass", "the centre of mass must be finite".into());
                }
                if let (Motion::Rigid, Some(what)) = (&body.motion, D::inertia_mistake(body, &inertia)) {
                    add("inertia", what);
                }
            }
        }
    }

    fn check_joint(&self, joint: &Joint<D>, found: &mut Mistakes) {
        self.check_ends(joint.a, joint.b, &format!("joint {}, bodies", joint.name), found);
        let mut add = |field: &str, what: String| found.add(format!("joint {}, {field}", joint.name), what);
        for (field, frame) in [("frame a", &joint.frame_a), ("frame b", &joint.frame_b)] {
            if let Some(what) = D::pose_mistake(frame) {
                add(field, what);
            }
        }
        let kind = joint.kind;
        if let Some(length) = kind.length() {
            if !(length.is_finite() && length > 0.0) {
                add("distance", format!("{length} m must be finite and > 0"));
            }
            let acts = joint.motor.is_some() || joint.spring.is_some() || joint.friction > 0.0;
            if joint.limits.is_none() && acts {
                add(
                    "distance",
                    "it is held: a motor or dry friction acts on a distance that has limits".into(),
                );
            }
        }
        if let Some(pitch) = kind.pitch().filter(|pitch| !(pitch.is_finite() && *pitch != 0.0)) {
            add("pitch", format!("{pitch} m per turn must be finite and not 0"));
        }
        if !is_not_negative(joint.compliance) {
            add("compliance", format!("{} must be finite and not negative", joint.compliance));
        }
        let further = joint.further.len();
        if further >= kind.coordinates().max(1) {
            let has = kind.coordinates();
            add("coordinates", format!("a {} joint has {has} of them, not {}", kind.name(), further + 1));
        }
        for axis in 0..=further {
            self.check_axis(&joint.seen_from(axis), axis, found);
        }
    }

    /// Settings of one coordinate of a joint, which are the first ones of `joint`.
    fn check_axis(&self, joint: &Joint<D>, axis: usize, found: &mut Mistakes) {
        let kind = joint.kind;
        let mut add = |field: &str, what: String| found.add(format!("joint {}, {field}", joint.name), what);
        let is_driven = [
            ("limits", joint.limits.is_some()),
            ("motor", joint.motor.is_some()),
            ("spring", joint.spring.is_some()),
        ];
        for (field, _) in is_driven.into_iter().chain([("friction", joint.friction > 0.0)]).filter(|d| d.1) {
            if !kind.has_coordinate() {
                add(field, format!("a {} joint has no coordinate for it to act on", kind.name()));
            }
        }
        if let Some([lower, upper]) = joint.limits {
            // false for NaN too
            if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
                add("limits", format!("{lower} to {upper} are in the wrong order"));
            } else if kind.is_angular(axis) && (lower < -PI || upper > PI) && !turns::may_count(self, joint) {
                let what = "must lie within −π and π: on a kinematic body the angle counts no turns";
                add("limits", format!("{lower} to {upper} {what}"));
            } else if kind.length().is_some() && upper <= 0.0 {
                add("limits", format!("the greatest length {upper} m must be > 0"));
            }
        }
        joint.motor.iter().flat_map(motor_mistakes).for_each(|what| add("motor", what));
        if joint.motor.is_none() && (joint.input.is_some() || joint.command.is_some()) {
            add("motor", "there is none for an input or a command to act on".into());
        }
        if let Some(JointSpring { stiffness, damping, rest }) = joint.spring
            && !(is_not_negative(stiffness) && is_not_negative(damping) && rest.is_finite())
        {
            let what = "stiffness and damping must be finite and not negative, and rest finite";
            add("spring", format!("{stiffness}, {damping}, {rest}: {what}"));
        }
        if !is_not_negative(joint.friction) {
            add("friction", format!("{} must be finite and not negative", joint.friction));
        }
    }

    /// Two bodies that a joint or spring acts between.
    fn check_ends(&self, a: BodyId, b: BodyId, place: &str, found: &mut Mistakes) {
        let missing = |id: &BodyId| self.body(*id).is_none();
        let unknown: BTreeSet<_> = [a, b].into_iter().filter(missing).collect();
        for id in &unknown {
            found.add(place, format!("there is no body {}", id.0));
        }
        let (Some(of_a), Some(of_b)) = (self.body(a), self.body(b)) else { return };
        if a == b {
            found.add(place, format!("{} on both sides", of_a.name));
        } else if !of_a.moves() && !of_b.moves() {
            found.add(place, format!("neither {} nor {} moves", of_a.name, of_b.name));
        }
    }

    /// Body that a force acts on.
    fn check_target(&self, id: BodyId, place: &str, found: &mut Mistakes) {
        match self.body(id) {
            None => found.add(place, format!("there is no body {}", id.0)),
            Some(body) if !body.moves() => found.add(place, format!("{} does not move by itself", body.name)),
            Some(_) => {}
        }
    }

    fn check_force(&self, place: &str, force: &Force<D>, found: &mut Mistakes) {
        match force {
            Force::Spring { a, b, .. } => self.check_ends(*a, *b, &format!("{place}, bodies"), found),
            Force::Rail { body, .. }
            | Force::Constant { body, .. }
            | Force::Timed { body, .. }
            | Force::Commanded { body, .. } => {
                self.check_target(*body, &format!("{place}, body"), found);
            }
            Force::Custom { .. } => {}
        }
        let mut add = |field: &str, what: String| found.add(format!("{place}, {field}"), what);
        let is_point = |point: &D::Point| point.coordinates().all_finite();
        let constants = match force {
            Force::Spring { point_a, point_b, stiffness, damping, rest_length, .. } => {
                if !(is_point(point_a) && is_point(point_b)) {
                    add("points", "must be finite".into());
                }
                vec![("stiffness", stiffness), ("damping", damping), ("rest length", rest_length)]
            }
            Force::Rail { point, axis, origin, stiffness, damping, .. } => {
                if !(is_point(point) && origin.is_finite()) {
                    add("point", "point and origin must be finite".into());
                }
                if let Some(what) = D::axis_mistake(axis) {
                    add("axis", what);
                }
                vec![("stiffness", stiffness), ("damping", damping)]
            }
            Force::Constant { point, wrench, .. } => {
                wrench_mistakes(point.as_ref(), wrench).for_each(|(field, what)| add(field, what.into()));
                Vec::new()
            }
            Force::Commanded { point, wrench, input, value, .. } => {
                wrench_mistakes(point.as_ref(), wrench).for_each(|(field, what)| add(field, what.into()));
                if input.is_empty() || !value.is_finite() {
                    add("input", format!("{value} must be finite, and its input must have a name"));
                }
                Vec::new()
            }
            Force::Timed { point, load, .. } => {
                wrench_mistakes(point.as_ref(), &load(self.t))
                    .for_each(|(field, what)| add(field, format!("{what} at t = {} s", self.t)));
                Vec::new()
            }
            Force::Custom { .. } => Vec::new(),
        };
        for (field, value) in constants {
            if !is_not_negative(*value) {
                add(field, format!("{value} must be finite and not negative"));
            }
        }
    }

    fn check_materials(&self, found: &mut Mistakes) {
        let owner = |shape: ShapeId| self.body(self.body_of(shape)?);
        let name =
            |shape: ShapeId| owner(shape).map_or_else(|| format!("shape {shape}"), |body| body.name.clone());
        for (pair, material) in &self.materials {
            let place = format!("material of {} and {}", name(pair.a), name(pair.b));
            for id in [pair.a, pair.b].into_iter().filter(|id| owner(*id).is_none()) {
                found.add(&place, format!("there is no shape {}", id.0));
            }
            material.mistakes().for_each(|(field, what)| found.add(format!("{place}, {field}"), what));
        }
    }

    /// Pairs that may meet and have no gap function, and shapes that overlap at the start.
    fn check_pairs(&self, overlaps: &BTreeMap<PairId, f64>, found: &mut Mistakes) {
        let layout = Layout::new(self);
        let name = |shape: usize| {
            let id = layout.bodies[layout.shapes[shape].body].id;
            self.body(id).map_or("", |body| body.name.as_str())
        };
        let place = |a: usize, b: usize| format!("bodies {} and {}", name(a), name(b));
        let shape = |i: usize| &layout.shapes[i].shape;
        for (i, j) in pairs_without_gap(&layout) {
            let (a, b) = (D::shape_kind(shape(i)), D::shape_kind(shape(j)));
            found.add(place(i, j), format!("no gap function yet between {a} and {b}"));
        }
        if self.allow_overlap {
            return;
        }
        let state = self.state();
        let is_wanted = |a: usize, b: usize| !layout.senses(a, b) && D::has_gap(shape(a), shape(b));
        SearchWorkspace::default().overlaps(&layout, (state.t, &state.q), is_wanted, |pair, gap| {
            let sizes = [pair.a, pair.b].map(|i| D::size(shape(i))).into_iter();
            let least = sizes.filter(|&size| size > 0.0).fold(f64::MAX, f64::min);
            let known = overlaps.get(&pair.id).copied().unwrap_or(0.0);
            if -gap > known + START_OVERLAP_RELATIVE * least {
                found.add(place(pair.a, pair.b), format!("overlap by {} m at the start", -gap));
            }
        });
    }
}

/// Pairs of surfaces that may meet and have no gap function, by their indices.
fn pairs_without_gap<D: Formulas>(layout: &Layout<D>) -> Vec<(usize, usize)> {
    let shape = |i: usize| &layout.shapes[i].shape;
    // most shapes have a gap with every kind there is, and need not be looked at in pairs
    let mut kinds: Vec<&D::Shape> = Vec::new();
    for i in 0..layout.shapes.len() {
        if kinds.iter().all(|other| D::shape_kind(other) != D::shape_kind(shape(i))) {
            kinds.push(shape(i));
        }
    }
    let lacking: Vec<usize> =
        (0..layout.shapes.len()).filter(|&i| kinds.iter().any(|kind| !D::has_gap(shape(i), kind))).collect();
    let mut pairs = Vec::new();
    for (k, &i) in lacking.iter().enumerate() {
        let others = lacking[k + 1..].iter().filter(|&&j| !D::has_gap(shape(i), shape(j)));
        pairs.extend(others.filter(|&&j| layout.may_meet(i, j) && !layout.senses(i, j)).map(|&j| (i, j)));
    }
    pairs
}

fn check_names<'a>(what: &str, names: impl Iterator<Item = &'a str>, found: &mut Mistakes) {
    let mut count = BTreeMap::new();
    names.for_each(|name| *count.entry(name).or_insert(0) += 1);
    for (name, n) in count.into_iter().filter(|&(_, n)| n > 1) {
        found.add(format!("{what} {name}"), format!("{n} have this name"));
    }
}

fn check_shape<D: Formulas>(shape: &Attached<D>, place: &str, found: &mut Mistakes) {
    if let Err(error) = D::check_shape(&shape.shape) {
        found.add(place, error.to_string());
    }
    if let Some(what) = D::pose_mistake(&shape.pose) {
        found.add(format!("{place}, pose"), what);
    }
    if !shape.surface_velocity.all_finite() {
        found.add(format!("{place}, surface velocity"), "must be finite");
    }
    shape.material.mistakes().for_each(|(field, what)| found.add(format!("{place}, {field}"), what));
}

/// Mistakes of a motor.
fn motor_mistakes(motor: &Motor) -> Vec<String> {
    let numbers = match *motor {
        Motor::Torque { torque, force } => {
            vec![("torque", torque, false), ("force", force.min(f64::MAX), true)]
        }
        Motor::Servo { target, speed, torque, stiffness, damping, force } => vec![
            ("target", target, false),
            ("speed", speed, false),
            ("torque", torque, false),
            ("stiffness", stiffness, true),
            ("damping", damping, true),
            ("force", force.min(f64::MAX), true),
        ],
        Motor::Velocity { speed, force } => vec![("speed", speed, false), ("force", force, true)],
        Motor::Position { target, gain, force } => {
            vec![("target", target, false), ("gain", gain, true), ("force", force, true)]
        }
    };
    let wrong = |(_, x, signed): &(&str, f64, bool)| !x.is_finite() || (*signed && *x < 0.0);
    let text = |(field, x, signed): (&str, f64, bool)| {
        let rule = if signed { "finite and not negative" } else { "finite" };
        format!("{field} = {x} must be {rule}")
    };
    numbers.into_iter().filter(wrong).map(text).collect()
}

/// Fields of a wrench at a point that are not finite.
fn wrench_mistakes<D: Dimension>(
    point: Option<&D::Point>,
    wrench: &Wrench<D>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let fields = [
        ("point", point.is_none_or(|p| p.coordinates().all_finite())),
        ("force", wrench.force.all_finite()),
        ("torque", wrench.torque.all_finite()),
    ];
    fields.into_iter().filter(|(_, finite)| !finite).map(|(field, _)| (field, "must be finite"))
}

fn is_finite<D: Dimension>(twist: &Twist<D>) -> bool {
    twist.linear.all_finite() && twist.angular.all_finite()
}

fn is_not_negative(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}

/// `true` when the mass properties of a body were given by hand.
pub(crate) fn is_given<D: Dimension>(mass: &Mass<D>) -> bool {
    matches!(mass, Mass::Given { .. })
}
