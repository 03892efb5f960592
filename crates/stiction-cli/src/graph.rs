//! `stiction plot`: draws quantities of a recorded run over time, or over another quantity.

use crate::run::plan::RunPlan;
use crate::{BadInput, Outcome, plot, print, write_file};
use std::path::PathBuf;
use stiction::State;
use stiction_journal::{Journal, JournalError, StepRecord};
use stiction_papers::{Axis, Curve, Figure, FigureContent};
use stiction_scene::{Sample, Signal};

const EXAMPLES: &str = "\
Examples:
  stiction plot run.journal --y \"torque(hinge)\" --y \"force(gate, box)\"
  stiction plot run.journal --y \"x(ball)\" --y \"y(ball)\" --out path.svg
  stiction plot run.journal --x \"angle(crank)\" --y \"reaction('left pin')\"

Quantities: of joints angle, speed, torque, spring, friction, limit, reaction, reaction_x, moment, moment_z, …; of bodies
x, y, z, vx, …, ax, …, wz, angle, speed, of a point x(arm, 0.5, 0); of two bodies force, force_x, normal, slip, contacts,
distance, overlap; input(elbow); t, energy, kinetic, potential, infeasibility; sensors of the scene by their names.
Expressions combine them: 1e3*torque(hinge)*speed(hinge). A name with spaces or brackets stands in single quotes.
Forces of fixed steps are means over a step.";

/// Draw quantities of a recorded run: coordinates, forces, sensors.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct PlotArguments {
    /// Journal
    journal: PathBuf,
    /// Quantity to draw; may be given several times
    #[arg(long = "y", value_name = "QUANTITY", required = true, allow_hyphen_values = true)]
    curves: Vec<String>,
    /// Quantity along the other axis
    #[arg(long = "x", value_name = "QUANTITY", default_value = "t", allow_hyphen_values = true)]
    across: String,
    /// Title [default: that of the scene]
    #[arg(long)]
    title: Option<String>,
    /// Output file [default: the name of the journal with .svg]
    #[arg(long, value_name = "FILE.svg")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &PlotArguments) -> Result<Outcome, BadInput> {
    let bad = |error: JournalError| BadInput(error.to_string());
    let out = arguments.out.clone().unwrap_or_else(|| arguments.journal.with_extension("svg"));
    if out.extension().is_none_or(|ending| ending != "svg") {
        return Err(BadInput(format!("--out {}: the name must end in .svg", out.display())));
    }
    let mut journal = Journal::open(&arguments.journal).map_err(bad)?;
    let plan = RunPlan::of_journal(&arguments.journal, journal.header())?;
    let across = signal(&plan, "--x", &arguments.across)?;
    let signals: Vec<Signal> =
        arguments.curves.iter().map(|text| signal(&plan, "--y", text)).collect::<Result<_, _>>()?;
    let mut curves: Vec<Curve> =
        signals.iter().map(|signal| Curve { label: signal.text().to_string(), points: Vec::new() }).collect();
    let mut add = |sample: &Sample| {
        let x = across.at(sample);
        for (curve, signal) in curves.iter_mut().zip(&signals) {
            let y = signal.at(sample);
            if x.is_finite() && y.is_finite() {
                curve.points.push([x, y]);
            }
        }
    };
    let mut before: State = plan.start.clone();
    add(&Sample { model: &plan.model, before: None, state: &before, report: None });
    for record in &mut journal {
        let StepRecord { state, report, .. } = record.map_err(bad)?;
        let sample =
            Sample { model: &plan.model, before: Some(&before), state: &state, report: Some(&report) };
        add(&sample);
        before = state;
    }
    if let Some(curve) = curves.iter().find(|curve| curve.points.is_empty()) {
        return Err(BadInput(format!("--y {}: it has no value at any time of this run", curve.label)));
    }
    let axes = [axis(&across, "t", "time [s]"), y_axis(&signals)];
    let title = arguments.title.clone().unwrap_or_else(|| plan.title.clone());
    let figure = Figure { name: String::new(), title, content: FigureContent::Curves { axes, curves } };
    write_file(&out, &plot::draw(&figure).map_err(BadInput)?)?;
    print(&format!("{}\n", out.display()))?;
    Ok(Outcome::Solved)
}

/// Signal of the command line.
fn signal(plan: &RunPlan, option: &str, text: &str) -> Result<Signal, BadInput> {
    Signal::parse(text, &plan.model, &plan.sensors)
        .map_err(|what| BadInput(format!("{option} {text}: {what}")))
}

/// Axis of one signal.
fn axis(signal: &Signal, known: &str, label: &str) -> Axis {
    if signal.text().trim() == known {
        return Axis::linear(label);
    }
    let unit = signal.unit().map_or_else(String::new, |unit| format!(" [{unit}]"));
    Axis::linear(format!("{}{unit}", signal.text()))
}

/// Axis of several signals: the name of a single one, or the unit that all of them have.
fn y_axis(signals: &[Signal]) -> Axis {
    if let [one] = signals {
        return axis(one, "", "");
    }
    let mut units: Vec<&str> = signals.iter().filter_map(Signal::unit).collect();
    units.sort_unstable();
    units.dedup();
    Axis::linear(if units.is_empty() { String::new() } else { format!("[{}]", units.join("; ")) })
}
