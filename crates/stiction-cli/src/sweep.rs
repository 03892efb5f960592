//! `stiction sweep`: runs a scene for many values of its keys and measures each run; finds thresholds by bisection.

use crate::run::plan::{Overrides, RunPlan};
use crate::run::{RunEnd, step_to_end};
use crate::{BadInput, Outcome, plot, print, write_file};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use stiction::{Simulation, StepReport};
use stiction_papers::{Axis, Curve, Figure, FigureContent};
use stiction_scene::{Measure, Sample};

const EXAMPLES: &str = "\
Examples:
  stiction sweep scenes/gripper.toml --set materials.rubber.friction=0.1:0.8:8 --measure \"max(force(part, jaw))\"
  stiction sweep scene.toml --set bodies.crate.mass=1,2,5 --set run.step=0.01,0.005 --measure \"last(x(crate))\" --out t.csv
  stiction sweep scene.toml --set materials.default.friction=0.1:0.8 --bisect \"max(slip(crate, ramp)) < 1e-3\"

Values: from:to:count, or from:to:count:log, or a list with commas. Several keys make a grid.
Measures: max, min, mean, first, last or integral of a quantity; `stiction plot --help` lists the quantities.
A threshold is the value at which a comparison of a measure with a number changes.";

/// Number of bisections at most: an interval is then a billionth of the first one.
const MAX_BISECTIONS: usize = 60;

/// Most runs of a sweep.
const MAX_RUNS: usize = 100_000;

/// Run a scene for many values of its keys, on all cores, and measure each run.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct SweepArguments {
    /// Scene file
    scene: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Measure of a run, as max(force(part, jaw)); may be given several times
    #[arg(long = "measure", value_name = "MEASURE", allow_hyphen_values = true)]
    measures: Vec<String>,
    /// Comparison whose threshold is sought between the two values of the one key that is varied
    #[arg(long, value_name = "COMPARISON", allow_hyphen_values = true)]
    bisect: Option<String>,
    /// Width of the interval that bisection ends with, relative to the first
    #[arg(long, default_value_t = 1e-6)]
    tolerance: f64,
    /// Table as CSV
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Draw the measures over the first key
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Number of runs at a time [default: one per core]
    #[arg(long, value_name = "COUNT")]
    jobs: Option<usize>,
}

/// Key of a scene with its values.
struct SweptKey {
    key: String,
    values: Vec<f64>,
}

/// Result of a run: its measures, or why it failed.
type Measured = Result<Vec<f64>, String>;

/// Runs the command.
pub(crate) fn run(arguments: &SweepArguments) -> Result<Outcome, BadInput> {
    let (fixed, keys) = arguments.overrides.split_values(|value| swept(value, arguments.bisect.is_some()))?;
    if keys.is_empty() {
        return Err(BadInput(
            "nothing is varied; write --set KEY=from:to:count, or a list with commas".into(),
        ));
    }
    match &arguments.bisect {
        Some(comparison) => bisect(arguments, &fixed, &keys, comparison),
        None => grid(arguments, &fixed, &keys),
    }
}

/// Runs all combinations of values, and writes the table.
fn grid(arguments: &SweepArguments, fixed: &Overrides, keys: &[SweptKey]) -> Result<Outcome, BadInput> {
    if arguments.measures.is_empty() {
        return Err(BadInput("nothing is measured; write --measure \"max(energy)\", for example".into()));
    }
    let points = combinations(keys);
    if points.len() > MAX_RUNS {
        return Err(BadInput(format!("{} runs are more than {MAX_RUNS}: vary fewer values", points.len())));
    }
    // mistakes of keys and measures are reported before hours are spent
    let plan = plan(arguments, fixed, keys, &points[0])?;
    measures(&plan, &arguments.measures)?;
    let results = run_all(arguments, fixed, keys, &points);
    let table = table(keys, &arguments.measures, &points, &results);
    print(&aligned(&table))?;
    if let Some(file) = &arguments.out {
        let lines = table.iter().map(|row| row.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(","));
        write_file(file, &lines.fold(String::new(), |all, line| all + &line + "\n"))?;
    }
    if let Some(file) = &arguments.plot {
        write_file(file, &draw(&plan.title, keys, &arguments.measures, &points, &results)?)?;
    }
    Ok(if results.iter().all(Result::is_ok) { Outcome::Solved } else { Outcome::NotSolved })
}

/// Runs all points on all cores, in the order of the points.
fn run_all(
    arguments: &SweepArguments,
    fixed: &Overrides,
    keys: &[SweptKey],
    points: &[Vec<f64>],
) -> Vec<Measured> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(cores).clamp(1, points.len().max(1));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(vec![Err("not run".to_string()); points.len()]));
    let bar = ProgressBar::new(points.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some(point) = points.get(k) else { return };
                    let made = plan(arguments, fixed, keys, point)
                        .and_then(|plan| measured(&plan, &arguments.measures))
                        .unwrap_or_else(|BadInput(error)| Err(error));
                    if let Ok(mut done) = done.lock() {
                        done[k] = made;
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    done.into_inner().unwrap_or_default()
}

/// Plan of the run at a point.
fn plan(
    arguments: &SweepArguments,
    fixed: &Overrides,
    keys: &[SweptKey],
    point: &[f64],
) -> Result<RunPlan, BadInput> {
    let values = keys.iter().zip(point).map(|(key, value)| format!("{}={value}", key.key));
    RunPlan::read(&arguments.scene, &fixed.with_values(values))
}

fn measures(plan: &RunPlan, texts: &[String]) -> Result<Vec<Measure>, BadInput> {
    let read = |text: &String| {
        Measure::parse(text, &plan.model, &plan.sensors)
            .map_err(|what| BadInput(format!("--measure {text}: {what}")))
    };
    texts.iter().map(read).collect()
}

/// Runs a plan and measures it.
fn measured(plan: &RunPlan, texts: &[String]) -> Result<Measured, BadInput> {
    let mut measures = measures(plan, texts)?;
    let mut simulation =
        Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(plan.scheme);
    let model = &plan.model;
    let start = Sample { model, before: None, state: &plan.start, report: None };
    measures.iter_mut().for_each(|measure| measure.add(&start));
    let end = step_to_end(plan, StepReport::default(), (&mut simulation, None), |before, record| {
        let sample =
            Sample { model, before: Some(before), state: &record.state, report: Some(&record.report) };
        measures.iter_mut().for_each(|measure| measure.add(&sample));
        Ok(())
    });
    Ok(match end {
        RunEnd::Finished => Ok(measures.iter().map(Measure::value).collect()),
        RunEnd::Failed(error) => Err(error.to_string()),
        RunEnd::Interrupted => Err("interrupted".to_string()),
        RunEnd::NotWritten(error) => Err(error.to_string()),
    })
}

/// Finds the value at which a comparison changes.
fn bisect(
    arguments: &SweepArguments,
    fixed: &Overrides,
    keys: &[SweptKey],
    comparison: &str,
) -> Result<Outcome, BadInput> {
    let [key] = keys else { return Err(BadInput("--bisect: vary one key alone".into())) };
    let [mut low, mut high] = key.values[..] else {
        let message = format!("--bisect: {} has {} values; write KEY=from:to", key.key, key.values.len());
        return Err(BadInput(message));
    };
    let unclear = || BadInput(format!("--bisect {comparison}: write a measure, < or >, and a number"));
    let (text, limit, is_less) = match (comparison.rsplit_once('<'), comparison.rsplit_once('>')) {
        (Some((text, limit)), None) => (text, limit, true),
        (None, Some((text, limit))) => (text, limit, false),
        _ => return Err(unclear()),
    };
    let limit: f64 = limit.trim().parse().map_err(|_| unclear())?;
    let text = vec![text.trim().to_string()];
    let holds = |value: f64| -> Result<(bool, f64), BadInput> {
        let plan = plan(arguments, fixed, keys, &[value])?;
        let made = measured(&plan, &text)?.map_err(|error| {
            BadInput(format!("--bisect: the run with {} = {value} failed: {error}", key.key))
        })?;
        Ok((if is_less { made[0] < limit } else { made[0] > limit }, made[0]))
    };
    let (first, last) = (holds(low)?, holds(high)?);
    if first.0 == last.0 {
        let both = if first.0 { "holds" } else { "does not hold" };
        return Err(BadInput(format!(
            "--bisect: {comparison} {both} at both ends: {} at {low}, {} at {high}; write a wider range",
            first.1, last.1
        )));
    }
    let width = arguments.tolerance * (high - low).abs();
    let mut count = 2;
    while (high - low).abs() > width && count < MAX_BISECTIONS {
        let middle = 0.5 * (low + high);
        if holds(middle)?.0 == first.0 {
            low = middle;
        } else {
            high = middle;
        }
        count += 1;
    }
    let (holding, failing) = if first.0 { (low, high) } else { (high, low) };
    print(&format!(
        "{comparison}\n  holds at        {} = {holding}\n  does not hold at {} = {failing}\n  threshold       {} ± {:.1e}, \
         {count} runs\n",
        key.key,
        key.key,
        0.5 * (low + high),
        0.5 * (high - low).abs()
    ))?;
    Ok(Outcome::Solved)
}

/// Values of a key that is varied: a range or a list; `None` for a single value.
fn swept(value: &str, is_bisection: bool) -> Result<Option<SweptKey>, BadInput> {
    let Some((key, values)) = value.split_once('=') else { return Ok(None) };
    let bad = |what: &str| BadInput(format!("--set {value}: {what}"));
    let numbers =
        |parts: &[&str]| parts.iter().map(|part| part.trim().parse::<f64>().ok()).collect::<Option<Vec<_>>>();
    let made = |values: Vec<f64>| Ok(Some(SweptKey { key: key.trim().to_string(), values }));
    let parts: Vec<&str> = values.split(':').collect();
    if parts.len() > 1 && !values.contains(['"', '[', '{']) {
        let range = numbers(&parts[..2]).ok_or_else(|| bad("the ends of a range are numbers"))?;
        if is_bisection && parts.len() == 2 {
            return made(range);
        }
        let count = parts.get(2).and_then(|count| count.parse::<u32>().ok()).filter(|count| *count >= 2);
        let count = count.ok_or_else(|| bad("write from:to:count with a count of at least 2"))?;
        let is_log = match parts.get(3) {
            None => false,
            Some(&"log") => true,
            Some(_) => return Err(bad("after the count only `log` may stand")),
        };
        let (low, high) = (range[0], range[1]);
        if is_log && !(low > 0.0 && high > 0.0) {
            return Err(bad("a logarithmic range has positive ends"));
        }
        let at = |k: u32| {
            let s = f64::from(k) / f64::from(count - 1);
            if is_log { low * (high / low).powf(s) } else { low + s * (high - low) }
        };
        return made((0..count).map(at).collect());
    }
    let parts: Vec<&str> = values.split(',').collect();
    if parts.len() > 1 && !values.contains(['"', '[', '{', '(']) {
        return made(numbers(&parts).ok_or_else(|| bad("the values of a list are numbers"))?);
    }
    Ok(None)
}

/// All combinations of values, the last key fastest.
fn combinations(keys: &[SweptKey]) -> Vec<Vec<f64>> {
    keys.iter().fold(vec![Vec::new()], |points, key| {
        let with = |point: &Vec<f64>| {
            let point = point.clone();
            key.values.iter().map(move |value| point.iter().copied().chain([*value]).collect::<Vec<f64>>())
        };
        points.iter().flat_map(with).collect()
    })
}

/// Table with a head: keys, measures, and a column for failures where there are any.
fn table(
    keys: &[SweptKey],
    measures: &[String],
    points: &[Vec<f64>],
    results: &[Measured],
) -> Vec<Vec<String>> {
    let has_failures = results.iter().any(Result::is_err);
    let mut head: Vec<String> =
        keys.iter().map(|key| key.key.clone()).chain(measures.iter().cloned()).collect();
    head.extend(has_failures.then(|| "failure".to_string()));
    let mut table = vec![head];
    for (point, result) in points.iter().zip(results) {
        let mut row: Vec<String> = point.iter().map(f64::to_string).collect();
        match result {
            Ok(values) => {
                row.extend(
                    values.iter().map(|value| if value.is_nan() { String::new() } else { value.to_string() }),
                );
                row.extend(has_failures.then(String::new));
            }
            Err(error) => {
                row.extend(measures.iter().map(|_| String::new()));
                row.push(error.clone());
            }
        }
        table.push(row);
    }
    table
}

/// Table in columns of equal width.
fn aligned(table: &[Vec<String>]) -> String {
    let columns = table.first().map_or(0, Vec::len);
    let width = |k: usize| table.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|k| width(k).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in table {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

/// Cell of a CSV file.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

/// Figure of the measures over the first key; further keys give a curve for each of their values.
fn draw(
    title: &str,
    keys: &[SweptKey],
    measures: &[String],
    points: &[Vec<f64>],
    results: &[Measured],
) -> Result<String, BadInput> {
    let mut curves: Vec<Curve> = Vec::new();
    for (point, result) in points.iter().zip(results) {
        let Ok(values) = result else { continue };
        let others = keys.iter().zip(point).skip(1).map(|(key, value)| format!("{} = {value}", key.key));
        let others = others.collect::<Vec<_>>().join(", ");
        for (measure, value) in measures.iter().zip(values).filter(|(_, value)| value.is_finite()) {
            let parts = [measure.as_str(), others.as_str()].into_iter().filter(|part| !part.is_empty());
            let label = parts.collect::<Vec<_>>().join(", ");
            let place = curves.iter().position(|curve| curve.label == label).unwrap_or_else(|| {
                curves.push(Curve { label, points: Vec::new() });
                curves.len() - 1
            });
            curves[place].points.push([point[0], *value]);
        }
    }
    let y = if let [one] = measures { one.clone() } else { "measures".to_string() };
    let axes = [Axis::linear(&keys[0].key), Axis::linear(&y)];
    let content = FigureContent::Curves { axes, curves };
    plot::draw(&Figure { name: String::new(), title: title.to_string(), content }).map_err(BadInput)
}

#[cfg(test)]
mod tests {
    use super::{combinations, swept};

    #[test]
    fn values_are_ranges_and_lists() {
        let values = |text: &str| swept(text, false).ok().flatten().map(|key| key.values);
        assert_eq!(values("a.b=0:3:4"), Some(vec![0.0, 1.0, 2.0, 3.0]));
        assert_eq!(values("a=1:100:3:log"), Some(vec![1.0, 10.0, 100.0]));
        assert_eq!(values("a=3,1,2"), Some(vec![3.0, 1.0, 2.0]));
        assert_eq!(values("a=0.3"), None);
        assert_eq!(values("a=[1, 2]"), None);
        assert!(
            swept("a=1:2", false).is_err()
                && swept("a=1:2:1", false).is_err()
                && swept("a=x:2:3", false).is_err()
        );
        assert_eq!(swept("a=1:2", true).unwrap().unwrap().values, [1.0, 2.0]);
        let keys = [swept("a=1,2", false), swept("b=3,4", false)].map(|key| key.unwrap().unwrap());
        assert_eq!(combinations(&keys), [[1.0, 3.0], [1.0, 4.0], [2.0, 3.0], [2.0, 4.0]]);
    }
}
