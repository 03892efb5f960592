//! Springs, rails and forces of a scene file.

use super::{Assembly, BoundForce, SceneDimension, axis, copies, point};
use crate::controls::ControlSpec;
use crate::expression::Formula;
use crate::read::Reader;
use std::sync::Arc;
use stiction::{BodyId, EuclideanVector, Force, ModelIn, RigidPose};

/// Force on a body as formulas of its state.
pub(super) struct StateForce<D: SceneDimension> {
    body: BodyId,
    /// Point where it acts, in the body frame [m]; `None` is the centre of mass.
    point: Option<D::Point>,
    formulas: Vec<Formula>,
    /// Rotation of the copy that it acts on.
    rotation: D::Rotation,
}

impl<D: SceneDimension> Assembly<'_, D> {
    pub(super) fn forces(&mut self) {
        for (k, reader) in self.root.tables("springs").enumerate() {
            self.springs(k, &reader);
        }
        for (k, reader) in self.root.tables("rails").enumerate() {
            self.rails(k, &reader);
        }
        for (k, reader) in self.root.tables("forces").enumerate() {
            self.wrenches(k, &reader);
        }
    }

    fn springs(&mut self, k: usize, reader: &Reader) {
        let _ = reader.text("name");
        let number = |key: &str| reader.number(key).unwrap_or(0.0);
        for copy in copies::<D>(reader) {
            let [a, b] = self.two(reader, &copy.index);
            let (Some(a), Some(b)) = (a, b) else { continue };
            let spring = Force::Spring {
                a,
                point_a: point::<D>(reader, "point_a").unwrap_or_default(),
                b,
                point_b: point::<D>(reader, "point_b").unwrap_or_default(),
                stiffness: number("stiffness"),
                damping: number("damping"),
                rest_length: number("rest_length"),
            };
            self.push("springs", k, spring);
        }
    }

    fn rails(&mut self, k: usize, reader: &Reader) {
        let _ = reader.text("name");
        let number = |key: &str| reader.number(key).unwrap_or(0.0);
        let axis = axis::<D>(reader, "axis");
        for copy in copies::<D>(reader) {
            let (Some(body), Some(axis)) = (self.one(reader, &copy.index), axis) else { continue };
            let axis = copy.moved.turned(&axis);
            let rail = Force::Rail {
                body,
                point: point::<D>(reader, "point").unwrap_or_default(),
                axis,
                origin: number("origin") + axis.dot(&copy.moved.origin()),
                stiffness: number("stiffness"),
                damping: number("damping"),
            };
            self.push("rails", k, rail);
        }
    }

    fn wrenches(&mut self, k: usize, reader: &Reader) {
        let at = point::<D>(reader, "point");
        let base = reader.text("name").map_or_else(|| format!("f{k}"), str::to_string);
        let before = self.controls.len();
        for copy in copies::<D>(reader) {
            self.commanded(k, reader, (&copy.name(&base), &copy.index, &copy.moved.turn()), at);
        }
        let formulas = D::wrench_formulas(reader);
        if let Some(input) = reader.text("input") {
            return self.scaled(k, reader, input, (&formulas, at));
        }
        if formulas.iter().all(Formula::is_zero) && self.controls.len() > before {
            return;
        }
        for copy in copies::<D>(reader) {
            let Some(body) = self.one(reader, &copy.index) else { continue };
            if self.world.body(body).is_some_and(|body| !body.moves()) {
                let message = "this body does not move by itself: no force acts on it";
                reader.error(&reader.span("body"), message);
                break;
            }
            let rotation = copy.moved.turn();
            let formulas = formulas.clone();
            if formulas.iter().any(|part| (1..D::STATE.len()).any(|variable| part.uses(variable))) {
                self.state_forces.push((k, StateForce { body, point: at, formulas, rotation }));
            } else if formulas.iter().any(|part| part.uses(0)) {
                let load = Arc::new(move |t: f64| D::wrench(&formulas, &[t], &rotation));
                self.push("forces", k, Force::Timed { body, point: at, load });
            } else {
                let wrench = D::wrench(&formulas, &[], &rotation);
                self.push("forces", k, Force::Constant { body, point: at, wrench });
            }
        }
    }

    /// Forces of the components that are formulas of quantities of the run: each has an input, which a controller sets.
    fn commanded(
        &mut self,
        k: usize,
        reader: &Reader,
        (name, index, rotation): (&str, &[usize], &D::Rotation),
        point: Option<D::Point>,
    ) {
        let Some(body) = self.one(reader, index) else { return };
        let forces = reader.list("force").iter().zip(["x", "y", "z"]).enumerate();
        let turn = reader.get("torque").into_iter().flat_map(|node| match node.items() {
            [] => std::slice::from_ref(node).iter(),
            items => items.iter(),
        });
        let turns = turn.zip(["torque_x", "torque_y", "torque_z"]).enumerate();
        let offset = D::COUNT;
        for (part, (node, letter)) in forces.chain(turns.map(|(i, own)| (offset + i, own))) {
            let Some(control) = ControlSpec::new(reader, node, &self.signal_names, index) else { continue };
            let input = format!("{name}.{letter}");
            let count = D::wrench_formulas(reader).len();
            let unit: Vec<Formula> =
                (0..count).map(|i| Formula::Number(if i == part { 1.0 } else { 0.0 })).collect();
            let wrench = D::wrench(&unit, &[], rotation);
            self.controls.push(control.of(input.clone()));
            self.push("forces", k, Force::Commanded { body, point, wrench, input, value: 0.0 });
        }
    }

    /// Force that an input multiplies.
    fn scaled(
        &mut self,
        k: usize,
        reader: &Reader,
        input: &str,
        (formulas, point): (&[Formula], Option<D::Point>),
    ) {
        if formulas.iter().any(|formula| !formula.is_number()) {
            let message = "the force has an input: force and torque are numbers, which it multiplies";
            reader.error(&reader.span("input"), message);
            return;
        }
        for copy in copies::<D>(reader) {
            let Some(body) = self.one(reader, &copy.index) else { continue };
            let wrench = D::wrench(formulas, &[], &copy.moved.turn());
            let input = copy.name(input);
            self.push("forces", k, Force::Commanded { body, point, wrench, input, value: 1.0 });
        }
    }

    fn push(&mut self, list: &'static str, k: usize, force: Force<D>) {
        self.world.add_force(force);
        self.places.force(list, k);
    }

    /// Adds the forces of the state. They need the places of their bodies in q and v, so they come last.
    pub(super) fn state_forces(&mut self) {
        if self.state_forces.is_empty() {
            return;
        }
        let mut loose = self.world.clone();
        loose.allow_overlap = true;
        // a world with mistakes is reported when it is built
        let Ok(model) = loose.build() else { return };
        for (k, force) in std::mem::take(&mut self.state_forces) {
            if let Some(force) = force.bind(&model) {
                self.push("forces", k, force);
            }
        }
    }
}

impl<D: SceneDimension> StateForce<D> {
    /// Force of all coordinates; `None` for a body that does not move by itself.
    fn bind(self, model: &ModelIn<D>) -> Option<Force<D>> {
        let Self { body, point, formulas, rotation } = self;
        let start = model.state();
        let (pose, centre) = (model.pose(&start, body)?, model.centre(&start, body)?);
        let (q_at, v_at) = (model.coordinates(body)?, model.velocities(body)?);
        let bound = BoundForce {
            formulas,
            rotation,
            motion: model.world().body(body)?.motion.clone(),
            pose,
            centre,
            lever: point.map_or_else(D::Vector::default, |point| point - pose.local(&centre)),
            start: start.q.get(q_at.start).copied().unwrap_or(0.0),
        };
        Some(Force::custom(move |t, q, v, k| {
            D::add_state_force(&bound, t, &q[q_at.clone()], &v[v_at.clone()], &mut k[v_at.clone()]);
        }))
    }
}
