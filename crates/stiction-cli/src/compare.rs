//! `stiction compare`: schemes and step sizes on one scene, work against precision.

mod reference;

use crate::report::residual;
use crate::run::plan::{Overrides, Plan, scheme_of};
use crate::{BadInput, Outcome, plot, print, write_file};
use cpu_time::ProcessTime;
use reference::Reference;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::papers::{Axis, Content, Curve, Figure};
use stiction::{Model, Scheme, Simulation, State, StepReport, System};

const EXAMPLES: &str = "\
Examples:
  stiction compare scenes/falling-rod.toml --schemes default,st00,accurate --h 0.01,0.005,0.0025
  stiction compare scenes/two-carts.toml --schemes ah04,accurate --h 0.02,0.01 --plot two-carts.svg --json

The error of a run is the farthest that any moving body is from where it should be, at up to forty times: the distance of
its centre, or the angle by which it is turned times the size of the smallest body.";

/// Times at which runs are compared, at most.
const SAMPLES: u32 = 40;

/// Compare schemes and step sizes on a scene of your own: work, error, penetration.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct Arguments {
    /// The scene
    scene: PathBuf,
    /// Schemes by name
    #[arg(long, value_delimiter = ',', required = true)]
    schemes: Vec<String>,
    /// Step sizes [s]
    #[arg(long, value_delimiter = ',', required = true, value_name = "SECONDS")]
    h: Vec<f64>,
    /// When to end [s], in place of the scene's duration
    #[arg(long, value_name = "SECONDS")]
    until: Option<f64>,
    /// Draw error against work and against the step size
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

/// What was compared.
#[derive(Serialize)]
struct Report {
    scene: String,
    until: f64,
    /// What errors are measured against.
    reference: String,
    /// How far the reference is from one that is made less carefully [m]: errors below this say nothing.
    reference_error: f64,
    runs: Vec<Row>,
}

/// One scheme at one step size.
#[derive(Serialize)]
struct Row {
    scheme: String,
    h: f64,
    steps: usize,
    /// Complementarity problems, and sets of equations of second-order steps.
    problems: usize,
    /// CPU time [s].
    cpu_time: f64,
    /// The largest error at the samples [m]; none for a run that failed.
    error: Option<f64>,
    /// The order that the error falls with, from the next larger step size of the same scheme.
    order: Option<f64>,
    /// The largest penetration or joint error [m].
    infeasibility: f64,
    /// The worst residual of a certificate.
    certificate: f64,
    /// Why it failed, if it did.
    failed: Option<String>,
}

/// What is compared of a state: centres and orientations of the bodies that move.
pub(super) struct Sample(Vec<Place>);

/// A centre [m] and an orientation, w first.
type Place = ([f64; 3], [f64; 4]);

impl Sample {
    pub(super) fn new(model: &Model, state: &State) -> Self {
        let bodies = model.body_ids().into_iter();
        let moving = bodies.filter(|&body| model.moves(body));
        let pose = |body| Some((model.centre(state, body)?, model.pose(state, body)?.quat_wxyz));
        Self(moving.filter_map(pose).collect())
    }

    /// How far it is from another [m].
    pub(super) fn far(&self, other: &Self, size: f64) -> f64 {
        let body = |(a, b): (&Place, &Place)| {
            let apart = (0..3).map(|k| (a.0[k] - b.0[k]).powi(2)).sum::<f64>().sqrt();
            // |q − p| or |q + p| is twice the sine of a quarter of the angle
            let [minus, plus] =
                [-1.0, 1.0].map(|s| (0..4).map(|k| (a.1[k] + s * b.1[k]).powi(2)).sum::<f64>().sqrt());
            let angle = 4.0 * (0.5 * minus.min(plus)).min(1.0).asin();
            apart.max(size * angle)
        };
        self.0
            .iter()
            .zip(&other.0)
            .map(body)
            .fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x) })
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let plan = Plan::read(&arguments.scene, &Overrides::until(arguments.until))?;
    let schemes: Vec<(&String, Scheme)> =
        arguments.schemes.iter().map(|name| Ok((name, scheme_of(name)?))).collect::<Result<_, BadInput>>()?;
    let mut sizes = arguments.h.clone();
    if let Some(h) = sizes.iter().find(|h| !(h.is_finite() && **h > 0.0)) {
        return Err(BadInput(format!("--h {h}: must be positive and finite")));
    }
    sizes.sort_by(|a, b| b.total_cmp(a));
    let (start, until) = (plan.start.t, plan.header.until);
    if !(until > start) {
        return Err(BadInput(format!("--until {until}: the scene starts at {start} s")));
    }
    let times = samples(start, until, sizes.first().copied().unwrap_or(until - start));
    let finest = sizes.last().copied().unwrap_or(until - start);
    let reference = Reference::new(&plan, &times, finest, &schemes).map_err(|failed| {
        BadInput(format!("{}: nothing to compare with: {failed}", arguments.scene.display()))
    })?;
    let mut rows: Vec<Row> = Vec::new();
    for (name, scheme) in &schemes {
        for &h in &sizes {
            let mut row = measure(&plan, name, *scheme, h, &times, &reference);
            let larger = rows.last().filter(|last| last.scheme == row.scheme);
            row.order = larger.and_then(|last| {
                let order = (last.error? / row.error?).ln() / (last.h / h).ln();
                order.is_finite().then_some(order)
            });
            rows.push(row);
        }
    }
    let failed = rows.iter().all(|row| row.failed.is_some());
    let report = Report {
        scene: plan.title.clone(),
        until,
        reference: reference.name.clone(),
        reference_error: reference.error,
        runs: rows,
    };
    if let Some(path) = &arguments.plot {
        write_file(path, &report.draw().map_err(BadInput)?)?;
    }
    print(&if arguments.json { crate::to_json(&report)? } else { report.text() })?;
    Ok(if failed { Outcome::NotSolved } else { Outcome::Solved })
}

/// When runs are compared: after whole steps of the largest size, so that steps are cut short at the end at most.
fn samples(start: f64, until: f64, largest: f64) -> Vec<f64> {
    let stride = largest * ((until - start) / (largest * f64::from(SAMPLES))).ceil().max(1.0);
    let inside = (1..SAMPLES).map(|k| start + stride * f64::from(k));
    inside.take_while(|t| until - t > 1e-9 * stride).chain([until]).collect()
}

/// One scheme at one step size.
fn measure(plan: &Plan, name: &str, scheme: Scheme, h: f64, times: &[f64], reference: &Reference) -> Row {
    let mut simulation = Simulation::new(plan.model.clone(), plan.start.clone(), scheme);
    let mut row = Row {
        scheme: name.to_string(),
        h,
        steps: 0,
        problems: 0,
        cpu_time: 0.0,
        error: None,
        order: None,
        infeasibility: 0.0,
        certificate: 0.0,
        failed: None,
    };
    let size = plan.model.size();
    let mut error: f64 = 0.0;
    let began = ProcessTime::now();
    for (&t, expected) in times.iter().zip(&reference.samples) {
        let made = simulation.record(t, h, |_, _, report: &StepReport| {
            row.steps += 1;
            row.problems += report.second_order.map_or(report.work.problems, |s| s.solves);
            row.infeasibility = row.infeasibility.max(report.infeasibility);
            row.certificate = row.certificate.max(report.certificate.worst());
        });
        if let Err(stopped) = made {
            row.failed = Some(stopped.error.to_string());
            break;
        }
        error = error.max(Sample::new(simulation.system(), simulation.state()).far(expected, size));
    }
    row.cpu_time = began.elapsed().as_secs_f64();
    row.error = row.failed.is_none().then_some(error);
    row
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!("{}, to {} s\nreference: {}\n", self.scene, self.until, self.reference);
        let _ = writeln!(
            text,
            "it is {} m from one made less carefully: errors below that say nothing\n",
            residual(self.reference_error)
        );
        let wide = self.runs.iter().map(|row| row.scheme.chars().count()).max().unwrap_or(0).max(6);
        let _ = writeln!(
            text,
            "  {:<wide$}{:>11}{:>9}{:>10}{:>13}{:>12}{:>8}{:>17}{:>13}",
            "scheme",
            "h [s]",
            "steps",
            "problems",
            "CPU time [s]",
            "error [m]",
            "order",
            "penetration [m]",
            "certificate"
        );
        for row in &self.runs {
            let _ = write!(
                text,
                "  {:<wide$}{:>11}{:>9}{:>10}{:>13.4}",
                row.scheme, row.h, row.steps, row.problems, row.cpu_time
            );
            if let Some(failed) = &row.failed {
                let _ = writeln!(text, "  failed: {failed}");
                continue;
            }
            let order = row.order.map_or_else(String::new, |order| format!("{order:.2}"));
            let _ = writeln!(
                text,
                "{:>12}{order:>8}{:>17}{:>13}",
                row.error.map_or_else(String::new, residual),
                residual(row.infeasibility),
                residual(row.certificate)
            );
        }
        text
    }

    /// Error against work, and against the step size.
    fn draw(&self) -> Result<String, String> {
        let mut names: Vec<&String> = self.runs.iter().map(|row| &row.scheme).collect();
        names.dedup();
        let curves = |x: &dyn Fn(&Row) -> f64| -> Vec<Curve> {
            let points = |name: &String| {
                let own = self.runs.iter().filter(|row| row.scheme == *name);
                own.filter_map(|row| Some([x(row), row.error?])).collect()
            };
            names.iter().map(|name| Curve { label: (*name).clone(), points: points(name) }).collect()
        };
        let figure = |title: &str, axis: &str, curves: Vec<Curve>| Figure {
            name: String::new(),
            title: title.into(),
            content: Content::Curves {
                axes: [Axis::logarithmic(axis), Axis::logarithmic("error [m]")],
                curves,
            },
        };
        let figures = [
            figure("Work and precision", "CPU time [s]", curves(&|row| row.cpu_time)),
            figure("Order", "step size [s]", curves(&|row| row.h)),
        ];
        plot::draw_together(&format!("{}: {}", self.scene, self.reference), &figures)
    }
}
