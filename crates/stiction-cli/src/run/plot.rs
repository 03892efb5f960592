//! Figure of a run: energy, infeasibility, certificate and motion, from its journal.

use super::motion;
use super::plan::RunPlan;
use crate::{BadInput, plot};
use std::path::Path;
use stiction::Simulation;
use stiction_journal::{Journal, JournalError};
use stiction_papers::{Axis, Curve, Figure, FigureContent};

/// Number of states at which the bodies are drawn.
const MOTION_FRAMES: usize = 6;

/// Draws a run from its journal as SVG text.
pub(super) fn draw(plan: &RunPlan, journal: &Path) -> Result<String, BadInput> {
    let bad = |error: JournalError| BadInput(error.to_string());
    let start = Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(plan.scheme);
    let first = start.observe().map_err(|error| BadInput(error.to_string()))?;
    let [mut kinetic, mut potential, mut total] =
        ["kinetic", "potential", "total"].map(|label| Curve { label: label.into(), points: Vec::new() });
    let [mut depth, mut residual] =
        ["infeasibility", "worst residual"].map(|label| Curve { label: label.into(), points: Vec::new() });
    let mut energy = |t: f64, k: f64, p: f64| {
        kinetic.points.push([t, k]);
        potential.points.push([t, p]);
        total.points.push([t, k + p]);
    };
    energy(first.t, first.kinetic, first.potential);
    depth.points.push([first.t, first.infeasibility]);
    let mut times = vec![first.t];
    for record in Journal::open(journal).map_err(bad)? {
        let report = record.map_err(bad)?.report;
        energy(report.t, report.kinetic, report.potential);
        depth.points.push([report.t, report.infeasibility]);
        residual.points.push([report.t, report.certificate.worst()]);
        times.push(report.t);
    }
    // equally spaced records, with the first and the last
    let last = times.len() - 1;
    let mut wanted: Vec<usize> = (0..MOTION_FRAMES).map(|k| k * last / (MOTION_FRAMES - 1)).collect();
    wanted.dedup();
    let mut states = vec![plan.start.clone()];
    for (k, record) in Journal::open(journal).map_err(bad)?.enumerate() {
        if wanted.contains(&(k + 1)) {
            states.push(record.map_err(bad)?.state);
        }
    }
    let time = || Axis::linear("time [s]");
    let figure =
        |title: &str, content: FigureContent| Figure { name: String::new(), title: title.into(), content };
    let curves = |title: &str, axis: Axis, curves: Vec<Curve>| {
        figure(title, FigureContent::Curves { axes: [time(), axis], curves })
    };
    let figures = [
        curves("Energy", Axis::linear("energy [J]"), vec![kinetic, potential, total]),
        curves("Penetration or joint error", Axis::logarithmic("infeasibility [m]"), vec![depth]),
        figure("Motion", FigureContent::Snapshots(motion::frames(&plan.model, &states))),
        curves("Worst residual of the certificate", Axis::logarithmic("residual"), vec![residual]),
    ];
    let title = format!("{}: {}, h = {} s", plan.title, plan.scheme_name(), plan.header.h);
    plot::draw_together(&title, &figures).map_err(BadInput)
}
