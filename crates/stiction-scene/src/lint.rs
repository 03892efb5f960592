//! Warnings about likely mistakes in a valid scene: overlap, mass ratios, redundant joints, step sizes.

use crate::diagnostic::{Diagnostic, Finding};
use crate::node::Node;
use crate::scene::{BuiltScene, Scene};
use std::collections::BTreeMap;
use std::ops::Range;
use stiction::{
    BodyId, ContactQuery, ContactRow, Forces, JointId, JointRow, Model, RowKind, SearchCache, State, System,
};
use stiction_lcp::{Body, Condensed, Contact, Joint, OffsetRow, Pointed, StepProblem};

/// Mass ratio above which solutions lose digits. With a ratio of 10⁴ the certificate of a stack has four digits less of
/// margin. Smaller warns of scenes that solve well; larger is silent where forces are visibly wrong.
const MAX_MASS_RATIO: f64 = 1e4;

/// Overlap, gap or joint error that counts as zero, relative to the smallest body; the round-off of decimal numbers in
/// the file. Sensible from 1e-12 to 1e-6: smaller warns of bodies that just touch, larger misses real overlap.
const TOUCH_RELATIVE: f64 = 1e-9;

/// Distance from the origin, relative to the smallest body, above which gaps have fewer than eight digits.
const FAR_RELATIVE: f64 = 1e8;

/// Largest number of contacts and joint rows for which rank and friction cone are checked. A dense problem of this size
/// takes a second.
const MAX_DENSE_ROWS: usize = 400;

/// Number of steps above which a run takes hours, because a step of a single body takes microseconds.
const MAX_STEPS: f64 = 1e9;

impl Scene {
    /// Warnings about likely mistakes, without the errors of [`Scene::build`].
    ///
    /// Redundant joints and friction cones that are not pointed are checked at the start, in scenes with up to 400 joint
    /// rows and closed contacts.
    pub fn lint(&self) -> Vec<Diagnostic> {
        let mut found = self.warnings.clone();
        self.lint_run(&mut found);
        if let Ok(built) = self.build() {
            let BuiltScene { model, state, h, .. } = &built;
            let start = StartCheck { scene: self, model, state, h: *h };
            start.bodies(&mut found);
            let (contacts, joints) = start.rows();
            start.overlaps(&contacts, &mut found);
            start.joints(&joints, &mut found);
            start.problem(&joints, &contacts, &mut found);
            let redundant = model.redundant_couplings().into_iter();
            found.extend(
                redundant.map(|(name, what)| {
                    Finding::warning(&self.places.coupling_span(&self.root, &name), what)
                }),
            );
        }
        self.placed(found).0
    }

    fn lint_run(&self, found: &mut Vec<Finding>) {
        let table = self.root.get("run").map(|entry| &entry.node);
        let span = |key: &str| {
            table.map_or(0..0, |node| node.get(key).map_or(node.span.clone(), |e| e.node.span.clone()))
        };
        let run = &self.run;
        if run.duration == 0.0 {
            found.push(Finding::warning(&span("duration"), "a duration of 0 s makes no step"));
        } else if run.h > run.duration && run.accuracy.is_none() {
            let message = format!("the step size of {} s exceeds the duration of {} s", run.h, run.duration);
            found.push(Finding::warning(&span("step"), message));
        }
        let shortest = run.accuracy.map_or(run.h, |accuracy| accuracy.largest_step);
        if run.duration / shortest > MAX_STEPS {
            let key = if run.accuracy.is_some() { "accuracy" } else { "step" };
            let message = format!("the run takes at least {:.1e} steps", run.duration / shortest);
            found.push(Finding::warning(&span(key), message));
        }
        if run.accuracy.is_some_and(|accuracy| !(1e-10..=1e-2).contains(&accuracy.tolerance)) {
            let message = "accuracy outside the sensible range 1e-10 to 1e-2; below it, round-off dominates the event functions";
            found.push(Finding::warning(&span("accuracy"), message));
        }
        let record = self.root.get("record").and_then(|record| record.node.get("every"));
        if let (Some(entry), Some(every)) = (record, run.record.every)
            && every > run.duration
        {
            let message = format!(
                "a sample every {every} s exceeds the duration of {} s: nothing is recorded after the start",
                run.duration
            );
            found.push(Finding::warning(&entry.node.span, message));
        }
    }
}

/// Checks of a scene at its start.
struct StartCheck<'a> {
    scene: &'a Scene,
    model: &'a Model,
    state: &'a State,
    h: f64,
}

impl StartCheck<'_> {
    /// Span of a key of a body, or of its name.
    fn body(&self, name: &str, keys: &[&str]) -> Range<usize> {
        place(self.scene.places.body_table(&self.scene.root, name), keys)
    }

    fn joint(&self, name: &str, keys: &[&str]) -> Range<usize> {
        place(self.scene.places.joint_table(&self.scene.root, name), keys)
    }

    fn names(&self, bodies: [BodyId; 2]) -> [&str; 2] {
        bodies.map(|body| self.model.body_name(body).unwrap_or(""))
    }

    fn bodies(&self, found: &mut Vec<Finding>) {
        let (model, state) = (self.model, self.state);
        let moving: Vec<BodyId> = model.body_ids().into_iter().filter(|&body| model.moves(body)).collect();
        if moving.is_empty() {
            let bodies = self.scene.root.get("bodies").map_or(0..0, |entry| entry.span.clone());
            found.push(Finding::warning(&bodies, "no body can move: all are fixed or kinematic"));
            return;
        }
        let name = |body: BodyId| model.body_name(body).unwrap_or("");
        let masses: Vec<f64> = (0..moving.len()).map(|i| model.mass(i)[(0, 0)]).collect();
        let by_mass = |a: &usize, b: &usize| masses[*a].total_cmp(&masses[*b]);
        let (least, most) = ((0..masses.len()).min_by(by_mass), (0..masses.len()).max_by(by_mass));
        if let (Some(least), Some(most)) = (least, most)
            && masses[most] > MAX_MASS_RATIO * masses[least]
        {
            let message = format!(
                "`{}` has a mass of {:.3e} kg, {:.1e} times that of `{}`: solutions lose as many digits",
                name(moving[most]),
                masses[most],
                masses[most] / masses[least],
                name(moving[least])
            );
            found.push(Finding::warning(&self.body(name(moving[most]), &["mass", "density"]), message));
        }
        let size = model.size();
        let mut forces = Forces::default();
        model.forces(state.t, &state.q, &state.v, &mut forces);
        for &body in &moving {
            let own = model.velocities(body).and_then(|range| forces.k.get(range)).unwrap_or(&[]);
            if !own.iter().all(|k| k.is_finite()) {
                let message = format!(
                    "the force on `{}` is not finite at the start: the first step will fail",
                    name(body)
                );
                found.push(Finding::warning(&self.body(name(body), &["name"]), message));
            }
            let far = model
                .centre(state, body)
                .map_or(0.0, |c| c.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
            if far > FAR_RELATIVE * size {
                let message = format!(
                    "{far:.1e} m from the origin, with bodies of {size:.1e} m: gaps lose digits to round-off"
                );
                found.push(Finding::warning(&self.body(name(body), &["position"]), message));
            }
            if model.shapes(body).is_empty() && !self.acted_on(name(body)) {
                let message = format!("`{}` has no shapes, and no joint or force acts on it", name(body));
                found.push(Finding::warning(&self.body(name(body), &["name"]), message));
            }
        }
        if self.scene.run.accuracy.is_some() {
            return;
        }
        let speed = model.surface_speed(state.t, &state.q, &state.v).max(model.gravity() * self.h);
        if speed * self.h > size {
            let run = self.scene.root.get("run");
            let message = format!(
                "in a step of {} s a surface moves {:.2e} m, more than the size of the smallest body, {size:.2e} m",
                self.h,
                speed * self.h
            );
            found.push(Finding::warning(&place(run.map(|entry| &entry.node), &["step"]), message));
        }
    }

    /// `true` when a joint, spring, rail or force names a body or its copies.
    fn acted_on(&self, name: &str) -> bool {
        let base = name.split('[').next().unwrap_or(name);
        let lists = ["joints", "springs", "rails", "forces"].into_iter();
        let mut tables =
            lists.filter_map(|list| self.scene.root.get(list)).flat_map(|entry| entry.node.items());
        let names = |node: &Node| node.text().is_some_and(|text| text.split('[').next() == Some(base));
        tables.any(|table| {
            table.get("body").is_some_and(|entry| names(&entry.node))
                || table.get("bodies").is_some_and(|entry| entry.node.items().iter().any(names))
        })
    }

    /// Closed contacts at the start, and all joint rows.
    fn rows(&self) -> (Vec<ContactRow>, Vec<JointRow>) {
        let (model, state) = (self.model, self.state);
        let (mut contacts, mut joints) = (Vec::new(), Vec::new());
        let near = ContactQuery::within(TOUCH_RELATIVE * model.size());
        model.contacts(state.t, &state.q, &near, &mut SearchCache::default(), &mut contacts);
        model.joints(state.t, &state.q, &mut joints);
        (contacts, joints)
    }

    fn overlaps(&self, contacts: &[ContactRow], found: &mut Vec<Finding>) {
        let mut depths: BTreeMap<[BodyId; 2], f64> = BTreeMap::new();
        for contact in contacts.iter().filter(|contact| contact.gap < -TOUCH_RELATIVE * self.model.size()) {
            let depth = depths.entry(contact.bodies).or_insert(0.0);
            *depth = depth.max(-contact.gap);
        }
        for (bodies, depth) in depths {
            let [a, b] = self.names(bodies);
            let message = format!("`{a}` and `{b}` overlap by {depth:.3e} m at the start");
            found.push(Finding::warning(&self.body(b, &["position", "name"]), message));
        }
    }

    /// Joints whose positions or velocities are inconsistent at the start.
    fn joints(&self, joints: &[JointRow], found: &mut Vec<Finding>) {
        let starts = starts(self.model);
        // at rest, the speed that gravity causes in a step
        let fastest = self.model.surface_speed(self.state.t, &self.state.q, &self.state.v);
        let speed_scale = fastest.max(self.model.gravity() * self.h);
        let mut worst: BTreeMap<JointId, (f64, f64)> = BTreeMap::new();
        for row in joints {
            let Some(apart) = row.violation() else { continue };
            let held = matches!(row.kind, RowKind::Rigid(_));
            let speed = if held { (row.row.dot(&starts, &self.state.v) + row.drift).abs() } else { 0.0 };
            let worst = worst.entry(row.joint).or_insert((0.0, 0.0));
            *worst = (worst.0.max(apart), worst.1.max(speed));
        }
        for (joint, (apart, speed)) in worst {
            let name = self.model.joint_name(joint).unwrap_or("");
            if apart > TOUCH_RELATIVE * self.model.size() {
                let message = format!("joint `{name}` has an error of {apart:.3e} m at the start");
                found.push(Finding::warning(
                    &self.joint(name, &["length", "frame_a", "at", "bodies"]),
                    message,
                ));
            }
            if speed > TOUCH_RELATIVE * speed_scale {
                let message =
                    format!("the velocities of its bodies violate joint `{name}` by {speed:.3e} m/s");
                found.push(Finding::warning(&self.joint(name, &["bodies"]), message));
            }
        }
    }

    /// Redundant joints, and contacts whose impulses can cancel.
    fn problem(&self, joints: &[JointRow], contacts: &[ContactRow], found: &mut Vec<Finding>) {
        let rigid: Vec<&JointRow> =
            joints.iter().filter(|row| matches!(row.kind, RowKind::Rigid(c) if c == 0.0)).collect();
        if rigid.len() + contacts.len() > MAX_DENSE_ROWS {
            return;
        }
        let mut problem = StepProblem::default();
        for (i, &velocities) in self.model.bodies().iter().enumerate() {
            let (mass, momentum) = (self.model.mass(i), nalgebra::Vector6::zeros());
            problem.bodies.push(Body { velocities, mass, momentum });
        }
        for row in &rigid {
            let row = OffsetRow { row: row.row.clone(), offset: 0.0 };
            problem.joints.push(Joint { row, compliance: 0.0 });
        }
        if let Ok(condensed) = Condensed::new(&problem) {
            let mut redundant: BTreeMap<JointId, usize> = BTreeMap::new();
            for &row in condensed.redundant_joints() {
                *redundant.entry(rigid[row].joint).or_default() += 1;
            }
            for (joint, rows) in redundant {
                let name = self.model.joint_name(joint).unwrap_or("");
                let all = rigid.iter().filter(|row| row.joint == joint).count();
                let message = format!(
                    "{rows} of the {all} rows of joint `{name}` are redundant with other joints: its reaction force is not unique"
                );
                found.push(Finding::warning(&self.joint(name, &["kind"]), message));
            }
        }
        if contacts.is_empty() {
            return;
        }
        for contact in contacts {
            let count = if contact.mu > 0.0 { 2 } else { 0 };
            problem.contacts.push(Contact {
                normal: Some(OffsetRow { row: contact.normal.clone(), offset: 0.0 }),
                tangents: contact.tangents.iter().take(count).cloned().collect(),
                set: contact.set.clone(),
                mu: contact.mu,
                kappa: 0.0,
                bound_by: None,
            });
        }
        if let Ok(Pointed::No { impulses }) = problem.pointed() {
            let layout = problem.layout();
            // report the contact with the largest impulse
            let push = |i: usize| impulses.get(layout.contact[i]).copied().unwrap_or(0.0);
            let most = (0..contacts.len()).max_by(|a, b| push(*a).total_cmp(&push(*b))).unwrap_or(0);
            let [a, b] = self.names(contacts[most].bodies);
            let message = format!(
                "the friction cone is not pointed: impulses at `{a}` and `{b}` and other contacts can cancel, \
                 so bodies may jam and contact forces are not unique"
            );
            found.push(Finding::warning(&self.body(b, &["name"]), message));
        }
    }
}

/// First velocity of each moving body.
fn starts(model: &Model) -> Vec<usize> {
    let mut starts = vec![0];
    model.bodies().iter().for_each(|n| starts.push(starts[starts.len() - 1] + n));
    starts
}

/// Span of the first of these keys that a table has, or of the table.
fn place(table: Option<&Node>, keys: &[&str]) -> Range<usize> {
    let Some(table) = table else { return 0..0 };
    let key = keys.iter().chain(&["name"]).find_map(|key| table.get(key));
    key.map_or_else(|| table.span.clone(), |entry| entry.node.span.clone())
}
