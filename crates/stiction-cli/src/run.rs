//! `stiction run`: a scene, step by step, into a journal.

pub(crate) mod motion;
pub(crate) mod plan;
mod plot;
mod progress;
mod summary;

use crate::{BadInput, Outcome, convert, print, view, write_file};
use plan::{Output, Overrides, Plan};
use progress::Progress;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stiction::{Evidence, Simulation, StepError, StepReport};
use stiction_journal::{AccuracyRun, Journal, JournalError, Step, Writer};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_scene::Model;
use summary::Summary;

const EXAMPLES: &str = "\
Examples:
  stiction run scenes/dominoes.toml
  stiction run scenes/dominoes.toml --out run.npz --plot run.svg --html run.html
  stiction run scenes/dominoes.toml --scheme st00 --h 0.002 --until 1.5
  stiction run scenes/pendulum.toml --accuracy 1e-8
  stiction run scenes/dominoes.toml --out run.npz --resume";

/// Run a scene. Every step goes to a journal at once; what kills the program takes nothing but the step under way.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct Arguments {
    /// The scene
    scene: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// What the run is written to: .journal, or .npz, .csv, .json or .parquet with a .journal beside it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw energy, infeasibility, certificate and motion
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Write a page that replays the run in any browser, one file that needs no other
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Go on where the journal ends, bit by bit as if the run had never stopped
    #[arg(long)]
    resume: bool,
    /// Begin anew where there is a journal already
    #[arg(long, conflicts_with = "resume")]
    overwrite: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Why a run ended before its time.
pub(crate) enum Ended {
    Finished,
    Interrupted,
    Failed(Box<StepError>),
    NotWritten(JournalError),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let plan = Plan::read(&arguments.scene, &arguments.overrides)?;
    let output = Output::new(arguments.out.as_deref(), &arguments.scene)?;
    for file in output.converted.iter().chain(&arguments.plot).chain(&arguments.html) {
        check_writable(file)?;
    }
    if arguments.html.is_some() {
        view::check_page()?;
    }
    let mut simulation =
        Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(plan.scheme);
    let mut summary = Summary::new(&plan, &simulation.observe());
    let mut writer = open(&plan, &output.journal, arguments, &mut simulation, &mut summary)?;
    let from = simulation.state().t;
    let interrupted = interruptions()?;
    let mut progress = Progress::new(plan.start.t, from, plan.header.until, !arguments.json);
    let began = Instant::now();
    let ended = go_on(&plan, &mut simulation, &mut writer, interrupted, |step| {
        summary.add(step, false);
        progress.show(step);
    });
    progress.end();
    summary.wall_time = began.elapsed().as_secs_f64();
    summary.real_time_factor = summary.simulated(from) / summary.wall_time.max(1e-9);
    summary.journal = output.journal.display().to_string();
    // what could not be written before cannot be synced either, and is told below
    let synced = writer.sync();
    let ended = match (ended, synced) {
        (Ended::Finished | Ended::Interrupted, Err(error)) => Ended::NotWritten(error),
        (ended, _) => ended,
    };
    tell(&ended, &output.journal, &mut summary)?;
    if let Some(file) = &output.converted {
        let (files, _) = convert::write(&output.journal, file, None)?;
        summary.files.extend(files.iter().map(|file| file.display().to_string()));
    }
    if let Some(file) = &arguments.plot {
        write_file(file, &plot::draw(&plan, &output.journal)?)?;
        summary.files.push(file.display().to_string());
    }
    if let Some(file) = &arguments.html {
        write_file(file, &view::page(&output.journal)?)?;
        summary.files.push(file.display().to_string());
    }
    print(&if arguments.json { crate::to_json(&summary)? } else { summary.text() })?;
    match ended {
        Ended::Finished => Ok(Outcome::Solved),
        Ended::Interrupted => Ok(Outcome::Interrupted),
        Ended::Failed(_) => Ok(Outcome::NotSolved),
        Ended::NotWritten(error) => Err(BadInput(format!("{error}; the run stopped at {} s", summary.end()))),
    }
}

/// Begins a journal, or goes on with one.
fn open(
    plan: &Plan,
    path: &Path,
    arguments: &Arguments,
    simulation: &mut Simulation<Model>,
    summary: &mut Summary,
) -> Result<Writer, BadInput> {
    let said = |error: JournalError| BadInput(error.to_string());
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| BadInput::file(path, &error))?;
    }
    if arguments.resume && path.exists() {
        match Journal::open(path) {
            Ok(journal) => {
                let why = plan.differs(journal.header());
                let why = why.or_else(|| {
                    (journal.start() != &plan.start).then(|| "the scene starts in another state".to_string())
                });
                if let Some(why) = why {
                    return Err(BadInput(format!("{}: cannot go on: {why}", path.display())));
                }
                let mut last = None;
                let writer = Writer::resume(path, |step| {
                    summary.add(&step, true);
                    last = Some(step);
                });
                let writer = writer.map_err(said)?;
                if let Some(step) = last {
                    simulation.restore(step.state());
                }
                return Ok(writer);
            }
            // killed before anything was written
            Err(JournalError::Empty(_)) => {
                return Writer::replace(path, &plan.header, &plan.start).map_err(said);
            }
            Err(error) => return Err(said(error)),
        }
    }
    if arguments.overwrite {
        return Writer::replace(path, &plan.header, &plan.start).map_err(said);
    }
    Writer::create(path, &plan.header, &plan.start).map_err(|error| match &error {
        JournalError::File { error: reason, .. } if reason.kind() == std::io::ErrorKind::AlreadyExists => {
            let what = "a journal is there already: go on with it by --resume, or begin anew by --overwrite";
            BadInput(format!("{}: {what}", path.display()))
        }
        _ => said(error),
    })
}

/// Steps until the end, or until something ends it.
pub(crate) fn go_on(
    plan: &Plan,
    simulation: &mut Simulation<Model>,
    writer: &mut Writer,
    interrupted: &AtomicBool,
    mut each: impl FnMut(&Step),
) -> Ended {
    let (h, until) = (plan.header.h, plan.header.until);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    // a rest below this is round-off of the sum of many steps
    while until - simulation.state().t > 1e-9 * h {
        if interrupted.load(Ordering::Relaxed) {
            return Ended::Interrupted;
        }
        let rest = until - simulation.state().t;
        let size = if rest < (1.0 + 1e-9) * h { rest } else { h };
        let made = match &plan.header.accuracy {
            None => simulation.step_into(size, &mut report).map(|()| Step::new(simulation.state(), &report)),
            Some(accuracy) => {
                let to = if size < h { until } else { simulation.state().t + h };
                simulation.run_to_accuracy_into(to, accuracy, &mut report).map(|followed| {
                    report.h = size;
                    let mut step = Step::new(simulation.state(), &report);
                    step.followed = Some(AccuracyRun::from(&followed));
                    step
                })
            }
        };
        let step = match made {
            Ok(step) => step,
            Err(error) => return Ended::Failed(Box::new(error)),
        };
        if let Err(error) = writer.add(&step) {
            return Ended::NotWritten(error);
        }
        each(&step);
    }
    Ended::Finished
}

/// Says why a run ended; the problem of a step that failed is saved.
fn tell(ended: &Ended, journal: &Path, summary: &mut Summary) -> Result<(), BadInput> {
    match ended {
        Ended::Finished => {}
        Ended::Interrupted => {
            summary.status = "interrupted";
            summary.message = Some("go on by the same command with --resume".to_string());
        }
        Ended::NotWritten(error) => {
            summary.status = "not written";
            summary.message = Some(error.to_string());
        }
        Ended::Failed(error) => {
            summary.status = "failed";
            let mut message = error.to_string();
            if let StepError::Unsolved { problem, t, .. } = &**error {
                let path = journal.with_extension("failed.json");
                let name = Some(format!("{}, the step at {t} s", journal.display()));
                let file = ProblemFile { name, ..AnyProblem::Step((**problem).clone()).into() };
                write_file(&path, &(file.to_json() + "\n"))?;
                let shown = path.display();
                let _ = write!(message, "; its problem is in {shown}: stiction solve {shown}");
                summary.files.push(path.display().to_string());
            }
            summary.message = Some(message);
        }
    }
    Ok(())
}

/// Whether a file can be written is told before hours are spent.
fn check_writable(path: &Path) -> Result<(), BadInput> {
    if path.exists() {
        let opened = std::fs::OpenOptions::new().append(true).open(path);
        return opened.map(|_| ()).map_err(|error| BadInput::file(path, &error));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    folder.map_or(Ok(()), std::fs::create_dir_all).map_err(|error| BadInput::file(path, &error))
}

/// Set by Ctrl-C; a second one ends the program where it is, and the journal is whole all the same.
fn interruptions() -> Result<&'static AtomicBool, BadInput> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(crate::INTERRUPTED.into());
        }
    })
    .map_err(|error| BadInput(format!("signals: {error}")))?;
    Ok(&INTERRUPTED)
}
