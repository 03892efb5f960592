//! Figure of a run: motion, heights, forces and energy, and on request the quality of its steps, from its journal.

use super::motion::{self, ViewDirection};
use super::plan::RunPlan;
use crate::{BadInput, plot};
use std::path::Path;
use stiction::{BodyId, Simulation, State, StepReport};
use stiction_journal::{Journal, JournalError};
use stiction_papers::{Axis, Curve, Figure, FigureContent};

/// Number of states at which the bodies are drawn.
const MOTION_FRAMES: usize = 6;

/// Largest number of bodies or joints with a curve each: a legend of more is not read.
const MAX_CURVES: usize = 8;

/// Residuals and errors below this are round-off, which is not drawn [m; 1].
const LEAST_DRAWN: f64 = 1e-17;

/// Draws a run from its journal as SVG text; with `quality` also penetration and residuals.
pub(super) fn draw(plan: &RunPlan, journal: &Path, quality: bool) -> Result<String, BadInput> {
    let bad = |error: JournalError| BadInput(error.to_string());
    let start = Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(plan.scheme);
    let first = start.observe().map_err(|error| BadInput(error.to_string()))?;
    let mut samples = Samples::new(plan);
    samples.add(plan, &plan.start, &first);
    for record in Journal::open(journal).map_err(bad)? {
        let record = record.map_err(bad)?;
        samples.add(plan, &record.state, &record.report);
    }
    // equally spaced records, with the first and the last
    let last = samples.count - 1;
    let mut wanted: Vec<usize> = (0..MOTION_FRAMES).map(|k| k * last / (MOTION_FRAMES - 1)).collect();
    wanted.dedup();
    let mut states = vec![plan.start.clone()];
    for (k, record) in Journal::open(journal).map_err(bad)?.enumerate() {
        if wanted.contains(&(k + 1)) {
            states.push(record.map_err(bad)?.state);
        }
    }
    let title = format!("{}: {}, h = {} s", plan.title, plan.scheme_name(), plan.header.h);
    plot::draw_together(&title, &samples.figures(plan, &states, quality)).map_err(BadInput)
}

/// Curves of a run.
struct Samples {
    count: usize,
    /// Bodies with a curve.
    bodies: Vec<BodyId>,
    heights: Vec<Curve>,
    /// Normal force of all contacts, then the force of each joint.
    contacts: Curve,
    joints: Vec<Curve>,
    energy: [Curve; 3],
    depth: Curve,
    residual: Curve,
}

impl Samples {
    fn new(plan: &RunPlan) -> Self {
        let model = &plan.model;
        let named = |label: &str| Curve { label: label.into(), points: Vec::new() };
        let moving = model.body_ids().into_iter().zip(model.body_names());
        let (bodies, names): (Vec<BodyId>, Vec<&str>) =
            moving.filter(|(body, _)| model.moves(*body)).take(MAX_CURVES).unzip();
        Self {
            count: 0,
            bodies,
            heights: names.into_iter().map(named).collect(),
            contacts: named("all contacts, normal"),
            joints: Vec::new(),
            energy: ["kinetic", "potential", "total"].map(named),
            depth: named("penetration or joint error"),
            residual: named("worst residual"),
        }
    }

    fn add(&mut self, plan: &RunPlan, state: &State, report: &StepReport) {
        let (t, up) = (state.t, plan.model.dimension() - 1);
        self.count += 1;
        for (body, curve) in self.bodies.iter().zip(&mut self.heights) {
            curve.points.extend(plan.model.centre(state, *body).map(|centre| [t, centre[up]]));
        }
        let (k, p) = (report.kinetic, report.potential);
        for (curve, value) in self.energy.iter_mut().zip([k, p, k + p]) {
            curve.points.push([t, value]);
        }
        self.depth.points.push([t, report.infeasibility]);
        if !(report.h > 0.0) {
            return;
        }
        self.residual.points.push([t, report.certificate.worst()]);
        let normal: f64 = report.contacts.iter().map(|contact| contact.normal_impulse).sum();
        self.contacts.points.push([t, normal / report.h]);
        for load in plan.model.joint_loads(state, report).into_iter().take(MAX_CURVES - 1) {
            let place = self.joints.iter().position(|curve| curve.label == load.name).unwrap_or_else(|| {
                self.joints.push(Curve { label: load.name.clone(), points: Vec::new() });
                self.joints.len() - 1
            });
            let [x, y, z] = load.force;
            self.joints[place].points.push([t, x.hypot(y).hypot(z)]);
        }
    }

    /// Motion and forces first; the quality of steps on request.
    fn figures(self, plan: &RunPlan, states: &[State], quality: bool) -> Vec<Figure> {
        let time = || Axis::linear("time [s]");
        let figure = |title: &str, content: FigureContent| Figure {
            name: String::new(),
            title: title.into(),
            content,
        };
        let curves = |title: &str, axis: Axis, curves: Vec<Curve>| {
            figure(title, FigureContent::Curves { axes: [time(), axis], curves })
        };
        let seen = |title: &str, view: ViewDirection| {
            figure(title, FigureContent::Snapshots(motion::frames(&plan.model, states, view)))
        };
        let mut figures = if plan.model.dimension() == 2 {
            vec![seen("Motion", ViewDirection::Front)]
        } else {
            vec![
                seen("Motion from the front: x and z", ViewDirection::Front),
                seen("Motion from above: x and y", ViewDirection::Above),
            ]
        };
        let axis = if plan.model.dimension() == 2 { "y of the centre [m]" } else { "z of the centre [m]" };
        let bodies = plan.model.body_ids().into_iter().filter(|body| plan.model.moves(*body)).count();
        let heights = if bodies > self.heights.len() {
            format!("Height of the first {} of {bodies} bodies", self.heights.len())
        } else {
            "Height".to_string()
        };
        figures.push(curves(&heights, Axis::linear(axis), self.heights));
        let touches = self.contacts.points.iter().any(|point| point[1] > 0.0);
        let forces: Vec<Curve> = touches.then_some(self.contacts).into_iter().chain(self.joints).collect();
        if forces.iter().any(|curve| curve.points.len() > 1) {
            figures.push(curves("Forces: means over each step", Axis::linear("force [N]"), forces));
        }
        figures.push(curves("Energy", Axis::linear("energy [J]"), self.energy.into()));
        if quality {
            for (title, label, curve) in [
                ("Penetration or joint error", "infeasibility [m]", self.depth),
                ("Worst residual of the certificate", "residual", self.residual),
            ] {
                figures.push(above_round_off(title, label, curve, &curves));
            }
        }
        figures
    }
}

/// Figure of what is above round-off, on a logarithmic axis; the title says where nothing is.
fn above_round_off(
    title: &str,
    label: &str,
    mut curve: Curve,
    curves: &dyn Fn(&str, Axis, Vec<Curve>) -> Figure,
) -> Figure {
    curve.points.retain(|point| point[1] > LEAST_DRAWN);
    if curve.points.len() > 1 {
        curves(title, Axis::logarithmic(label), vec![curve])
    } else {
        curves(&format!("{title}: none above {LEAST_DRAWN:e}"), Axis::linear(label), Vec::new())
    }
}
