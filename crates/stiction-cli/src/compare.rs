//! `stiction compare`: runs schemes and step sizes on one scene and tabulates work against error.

mod advice;
mod reference;

use crate::residual;
use crate::run::plan::{Overrides, RunPlan, scheme_of};
use crate::{BadInput, Outcome, plot, print, write_file};
use advice::Advice;
use cpu_time::ProcessTime;
use reference::ReferenceMotion;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::{Model, Scheme, Simulation, State, StepReport, System};
use stiction_papers::{Axis, Curve, Figure, FigureContent};

const EXAMPLES: &str = "\
Examples:
  stiction compare scenes/falling-rod.toml
  stiction compare scenes/falling-rod.toml --schemes default,st00,accurate --h 0.01,0.005,0.0025
  stiction compare scenes/two-carts.toml --schemes ah04,accurate --h 0.02,0.01 --plot two-carts.svg --json

The error of a run is the largest error of any moving body at up to forty times: the distance of its centre from the
reference, or its angle from the reference times the size of the smallest body.

The second table has the cheapest scheme and step for each size of error: a measured run, or the step that follows from
the observed order of the smallest measured ones.";

/// Schemes that are compared unless others are asked for.
const DEFAULT_SCHEMES: [&str; 2] = ["default", "accurate"];

/// Step sizes that are compared unless others are asked for, relative to that of the scene.
const DEFAULT_SIZES: [f64; 4] = [2.0, 1.0, 0.5, 0.25];

/// Largest number of times at which runs are compared.
const MAX_SAMPLES: u32 = 40;

/// Compare schemes and step sizes on a scene: work, error and penetration.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct CompareArguments {
    /// Scene file
    scene: PathBuf,
    /// Names of schemes; by default `default` and `accurate`
    #[arg(long, value_delimiter = ',')]
    schemes: Vec<String>,
    /// Step sizes [s]; by default 2, 1, 1/2 and 1/4 times that of the scene
    #[arg(long, value_delimiter = ',', value_name = "SECONDS")]
    h: Vec<f64>,
    /// End time [s], instead of the scene's duration
    #[arg(long, value_name = "SECONDS")]
    until: Option<f64>,
    /// Draw error over work and over step size
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

/// Result of the comparison, as `--json` prints it.
#[derive(Serialize)]
struct ComparisonReport {
    scene: String,
    until: f64,
    /// Description of the reference motion.
    reference: String,
    /// Distance between the reference and a less accurate one [m]: smaller errors are not significant.
    reference_error: f64,
    runs: Vec<ComparisonRow>,
    /// Cheapest scheme and step for each size of error.
    advice: Vec<Advice>,
}

/// Run of one scheme at one step size.
#[derive(Clone, Serialize)]
struct ComparisonRow {
    scheme: String,
    h: f64,
    steps: usize,
    /// Complementarity problems solved; for second-order schemes also systems of equations.
    problems: usize,
    /// CPU time [s].
    cpu_time: f64,
    /// Largest error at the samples [m]; `None` for a run that failed.
    error: Option<f64>,
    /// Observed order of convergence, from the next larger step size of the same scheme.
    order: Option<f64>,
    /// Largest penetration or joint error [m].
    infeasibility: f64,
    /// Worst residual of a certificate.
    certificate: f64,
    /// Reason of a failure.
    failed: Option<String>,
}

/// Centres and orientations of all moving bodies at a time.
pub(super) struct MotionSample(Vec<BodySample>);

/// Centre and orientation of a body.
struct BodySample {
    /// Centre of mass [m].
    centre: [f64; 3],
    /// Unit quaternion, w first.
    quat_wxyz: [f64; 4],
}

impl MotionSample {
    pub(super) fn new(model: &Model, state: &State) -> Self {
        let bodies = model.body_ids().into_iter();
        let moving = bodies.filter(|&body| model.moves(body));
        let sample = |body| {
            let (centre, pose) = (model.centre(state, body)?, model.pose(state, body)?);
            Some(BodySample { centre, quat_wxyz: pose.quat_wxyz })
        };
        Self(moving.filter_map(sample).collect())
    }

    /// Largest distance of a body from its counterpart [m]; angles count times `size` [m].
    pub(super) fn distance(&self, other: &Self, size: f64) -> f64 {
        let body = |(a, b): (&BodySample, &BodySample)| {
            let apart = (0..3).map(|k| (a.centre[k] - b.centre[k]).powi(2)).sum::<f64>().sqrt();
            // the smaller of |q − p| and |q + p| is 2 sin(angle / 4)
            let (q, p) = (&a.quat_wxyz, &b.quat_wxyz);
            let [minus, plus] =
                [-1.0, 1.0].map(|s| (0..4).map(|k| (q[k] + s * p[k]).powi(2)).sum::<f64>().sqrt());
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
pub(crate) fn run(arguments: &CompareArguments) -> Result<Outcome, BadInput> {
    let plan = RunPlan::read(&arguments.scene, &Overrides::until(arguments.until))?;
    let mut names = arguments.schemes.clone();
    if names.is_empty() {
        names.extend(DEFAULT_SCHEMES.map(String::from));
    }
    let schemes: Vec<(&String, Scheme)> =
        names.iter().map(|name| Ok((name, scheme_of(name)?))).collect::<Result<_, BadInput>>()?;
    let mut sizes = arguments.h.clone();
    if sizes.is_empty() {
        sizes.extend(DEFAULT_SIZES.map(|part| part * plan.header.h));
    }
    if let Some(h) = sizes.iter().find(|h| !(h.is_finite() && **h > 0.0)) {
        return Err(BadInput(format!("--h {h}: must be positive and finite")));
    }
    sizes.sort_by(|a, b| b.total_cmp(a));
    let (start, until) = (plan.start.t, plan.header.until);
    if !(until > start) {
        return Err(BadInput(format!(
            "--until {until}: must be later than {start} s, where the scene starts"
        )));
    }
    let times = samples(start, until, sizes.first().copied().unwrap_or(until - start));
    let finest = sizes.last().copied().unwrap_or(until - start);
    let reference = ReferenceMotion::new(&plan, &times, finest, &schemes).map_err(|failed| {
        BadInput(format!("{}: no reference motion could be computed: {failed}", arguments.scene.display()))
    })?;
    let mut rows: Vec<ComparisonRow> = Vec::new();
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
    let advice = advice::advice(&rows, until - start, reference.error);
    let report = ComparisonReport {
        scene: plan.title.clone(),
        until,
        reference: reference.name.clone(),
        reference_error: reference.error,
        runs: rows,
        advice,
    };
    if let Some(path) = &arguments.plot {
        write_file(path, &report.draw().map_err(BadInput)?)?;
    }
    print(&if arguments.json { crate::to_json(&report)? } else { report.text() })?;
    Ok(if failed { Outcome::NotSolved } else { Outcome::Solved })
}

/// Times at which runs are compared: multiples of the largest step size, so that only the last step is shortened.
fn samples(start: f64, until: f64, largest: f64) -> Vec<f64> {
    let stride = largest * ((until - start) / (largest * f64::from(MAX_SAMPLES))).ceil().max(1.0);
    let inside = (1..MAX_SAMPLES).map(|k| start + stride * f64::from(k));
    inside.take_while(|t| until - t > 1e-9 * stride).chain([until]).collect()
}

/// Runs one scheme at one step size.
fn measure(
    plan: &RunPlan,
    name: &str,
    scheme: Scheme,
    h: f64,
    times: &[f64],
    reference: &ReferenceMotion,
) -> ComparisonRow {
    let mut simulation = Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(scheme);
    let mut row = ComparisonRow {
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
        error =
            error.max(MotionSample::new(simulation.system(), simulation.state()).distance(expected, size));
    }
    row.cpu_time = began.elapsed().as_secs_f64();
    row.error = row.failed.is_none().then_some(error);
    row
}

impl ComparisonReport {
    fn text(&self) -> String {
        let mut text = format!("{}, to {} s\nreference: {}\n", self.scene, self.until, self.reference);
        let _ = writeln!(
            text,
            "it differs by {} m from a less accurate one: smaller errors are not significant\n",
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
        text + &advice::text(&self.advice)
    }

    /// Draws error over work and over step size.
    fn draw(&self) -> Result<String, String> {
        let mut names: Vec<&String> = self.runs.iter().map(|row| &row.scheme).collect();
        names.dedup();
        let curves = |x: &dyn Fn(&ComparisonRow) -> f64| -> Vec<Curve> {
            let points = |name: &String| {
                let own = self.runs.iter().filter(|row| row.scheme == *name);
                own.filter_map(|row| Some([x(row), row.error?])).collect()
            };
            names.iter().map(|name| Curve { label: (*name).clone(), points: points(name) }).collect()
        };
        let figure = |title: &str, axis: &str, curves: Vec<Curve>| Figure {
            name: String::new(),
            title: title.into(),
            content: FigureContent::Curves {
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
