//! `stiction-lab bench profile`: time of each phase of a step.

use super::chains;
use super::timing::{ResultFile, measured_or_printed};
use crate::heaps;
use crate::{BadInput, Outcome, write_file};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::spatial::Model;
use stiction::{Phase, Simulation, StepReport};

/// Time of each phase of a step, with the default scheme, on a stack, a wall, a pile, a chain and balls.
///
/// The clock is read between phases only while a profile runs.
#[derive(clap::Args)]
pub(crate) struct ProfileArguments {
    /// Timed steps of each scene; a tenth as many are made before
    #[arg(long, default_value_t = 50)]
    steps: usize,
    /// Threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Draw the profile as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    results: ResultFile,
}

/// Step [s].
const PROFILE_STEP: f64 = 0.01;

/// Time of a phase in the steps of a scene.
#[derive(Serialize)]
struct PhaseTime {
    scene: &'static str,
    phase: Phase,
    /// Median over the steps [µs].
    us_per_step: f64,
    /// Relative to the whole step.
    share: f64,
}

/// Runs the command.
pub(crate) fn run(arguments: &ProfileArguments) -> Result<Outcome, BadInput> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.max(1)).build();
    let pool = pool.map_err(|error| BadInput(error.to_string()))?;
    let scenes = [
        ("stack of 10", PROFILE_STEP, heaps::towers(1, 10, 1).build()),
        ("wall of 100", PROFILE_STEP, heaps::wall(10, 10).build()),
        ("pile of 100", PROFILE_STEP, heaps::pile(100, 1).build()),
        ("chain of 100", chains::step_size(100), chains::open(100)),
        ("216 balls", PROFILE_STEP, heaps::balls(216, 1).build()),
        ("100 stacks of 10", PROFILE_STEP, heaps::towers(100, 10, 1).build()),
    ];
    let mut measurements = Vec::new();
    for (scene, h, model) in scenes {
        let model = model.map_err(|error| BadInput(error.to_string()))?;
        let measured = pool.install(|| measure(scene, model, h, arguments.steps.max(1)));
        let Some(found) = measured_or_printed(scene, measured)? else { return Ok(Outcome::NotSolved) };
        measurements.extend(found);
    }
    if let Some(path) = &arguments.svg {
        write_file(path, &picture(&measurements))?;
    }
    arguments.results.publish(&measurements, &table(&measurements, arguments.threads.max(1)))?;
    Ok(Outcome::Solved)
}

fn measure(
    scene: &'static str,
    model: Model,
    h: f64,
    steps: usize,
) -> Result<Vec<PhaseTime>, stiction::StepError> {
    let mut simulation = Simulation::new(model);
    let mut report = StepReport::default();
    for _ in 0..steps.div_ceil(10) {
        simulation.step_into(h, &mut report)?;
    }
    let mut times = Phase::ALL.map(|_| Vec::new());
    for _ in 0..steps {
        simulation.profile().start();
        simulation.step_into(h, &mut report)?;
        simulation.profile().stop();
        for (times, phase) in times.iter_mut().zip(Phase::ALL) {
            times.push(1e6 * simulation.profile().seconds(phase));
        }
    }
    // the median of each phase: other processes disturb single steps
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let all = medians.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let row = |(phase, us_per_step): (Phase, f64)| PhaseTime {
        scene,
        phase,
        us_per_step,
        share: us_per_step / all,
    };
    Ok(Phase::ALL.into_iter().zip(medians).map(row).collect())
}

/// Rows of each scene.
fn by_scene(measurements: &[PhaseTime]) -> impl Iterator<Item = &[PhaseTime]> {
    measurements.chunk_by(|a, b| a.scene == b.scene)
}

fn table(measurements: &[PhaseTime], threads: usize) -> String {
    let threads = if threads == 1 { "one thread".to_string() } else { format!("{threads} threads") };
    let mut text = format!(
        "Where the time of a step goes, h = {PROFILE_STEP} s and 0.003 s for the chain, {threads}, the median of the steps\n\n{:<20}",
        ""
    );
    for scene in by_scene(measurements) {
        let _ = write!(text, "{:>20}", scene[0].scene);
    }
    text += "\n";
    for (k, phase) in Phase::ALL.into_iter().enumerate() {
        let _ = write!(text, "{:<20}", phase.name());
        for scene in by_scene(measurements) {
            let _ = write!(text, "{:>9.1} µs {:>5.1} %", scene[k].us_per_step, 100.0 * scene[k].share);
        }
        text += "\n";
    }
    let _ = write!(text, "{:<20}", "all");
    for scene in by_scene(measurements) {
        let _ = write!(text, "{:>9.1} µs        ", scene.iter().map(|m| m.us_per_step).sum::<f64>());
    }
    text + "\n"
}

/// One bar per scene and a legend, as SVG.
fn picture(measurements: &[PhaseTime]) -> String {
    const COLOURS: [&str; 11] = [
        "#b0b0b0", "#1b7837", "#762a83", "#7fbf7b", "#e7d4e8", "#c7b37f", "#d6604d", "#4393c3", "#2166ac",
        "#f4a582", "#dddddd",
    ];
    const WIDTH: f64 = 520.0;
    const ROW: f64 = 34.0;
    const LEFT: f64 = 110.0;
    let scenes = by_scene(measurements).count() as f64;
    let height = ROW * scenes + 130.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"760\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">Where the time of a step goes</text>\n"
    );
    for (k, scene) in by_scene(measurements).enumerate() {
        let y = 36.0 + ROW * k as f64;
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 17.0,
            scene[0].scene
        );
        let mut x = LEFT;
        for (m, colour) in scene.iter().zip(COLOURS) {
            let width = WIDTH * m.share;
            let _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"24\" fill=\"{colour}\"><title>{}: {:.1} µs, {:.0} %</title></rect>",
                m.phase.name(),
                m.us_per_step,
                100.0 * m.share
            );
            x += width;
        }
        let total = scene.iter().map(|m| m.us_per_step).sum::<f64>();
        let _ = writeln!(text, "<text x=\"{}\" y=\"{}\">{total:.0} µs</text>", LEFT + WIDTH + 10.0, y + 17.0);
    }
    for (k, (phase, colour)) in Phase::ALL.into_iter().zip(COLOURS).enumerate() {
        let (column, row) = ((k % 4) as f64, (k / 4) as f64);
        let (x, y) = (LEFT + 150.0 * column, 52.0 + ROW * scenes + 22.0 * row);
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 18.0,
            y + 11.0,
            phase.name()
        );
    }
    text + "</svg>\n"
}
