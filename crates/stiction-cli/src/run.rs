//! `stiction run`: steps a scene to its end time and records every step in a journal.

mod interruption;
mod intervals;
pub(crate) mod motion;
pub(crate) mod plan;
mod plot;
mod progress;
mod summary;

use crate::{BadInput, Outcome, convert, print, view, write_file};
use interruption::RecordedTime;
use plan::{EarlierRuns, OutputFiles, Overrides, RunPlan};
use progress::{RunProgress, RunTimes};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stiction::{Evidence, RunMonitor, Simulation, State, StepError, StepReport};
use stiction_journal::{FORMAT, Journal, JournalError, JournalWriter, StepRecord};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_scene::Model;
use summary::RunSummary;

const EXAMPLES: &str = "\
Examples:
  stiction run scenes/dominoes.toml
  stiction run scenes/dominoes.toml --out run.npz --plot run.svg --html run.html
  stiction run scenes/dominoes.toml --scheme st00 --h 0.002 --until 1.5
  stiction run scenes/pendulum.toml --accuracy 1e-8
  stiction run scenes/arch.toml --intervals --until 0.1
  stiction run scenes/dominoes.toml --set materials.default.friction=0.3
  stiction run scenes/dominoes.toml --out run.npz --resume";

/// Time left, relative to the step size, below which a run has reached its end: round-off of a sum of many steps.
/// Sensible from 1e-12 to 1e-3. Smaller adds a last step of round-off size; larger ends a run early.
const MIN_STEP_RELATIVE: f64 = 1e-9;

/// Run a scene. Every step is written to a journal at once, so that a crash loses at most the step being made.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
#[expect(clippy::struct_excessive_bools, reason = "options of the command line")]
pub(crate) struct RunArguments {
    /// Scene file
    scene: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Output: .journal, or .npz, .csv, .json or .parquet with a .journal of the same name. By default the journal has
    /// the name of the scene, with a number from the second run on
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw motion, heights, forces and energy
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Draw penetration and residuals too
    #[arg(long, requires = "plot")]
    quality: bool,
    /// Write a page that replays the run in any browser: one file without dependencies
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Continue from the end of the journal, bit by bit as if the run had not stopped
    #[arg(long)]
    resume: bool,
    /// Overwrite an existing journal
    #[arg(long, conflicts_with = "resume")]
    overwrite: bool,
    /// Find the least and greatest force of each contact that causes the same motion, in every step
    #[arg(long)]
    intervals: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Reason why a run ended.
pub(crate) enum RunEnd {
    Finished,
    Interrupted,
    Failed(Box<StepError>),
    NotWritten(JournalError),
}

/// Runs the command.
pub(crate) fn run(arguments: &RunArguments) -> Result<Outcome, BadInput> {
    let mut plan = RunPlan::read(&arguments.scene, &arguments.overrides)?;
    let earlier = match (arguments.resume, arguments.overwrite) {
        (true, _) => EarlierRuns::Resume,
        (_, true) => EarlierRuns::Overwrite,
        _ => EarlierRuns::Keep,
    };
    let output = OutputFiles::new(arguments.out.as_deref(), &arguments.scene, earlier)?;
    if arguments.resume {
        plan.continue_scheme(&output.journal);
    }
    for file in output.converted.iter().chain(&arguments.plot).chain(&arguments.html) {
        check_writable(file)?;
    }
    if arguments.html.is_some() {
        view::check_page()?;
    }
    let monitor = RunMonitor::default();
    let mut simulation = Simulation::from_state(plan.model.clone(), plan.start.clone())
        .with_scheme(plan.scheme)
        .with_monitor(monitor.clone());
    let observed = simulation.observe().map_err(|error| BadInput(error.to_string()))?;
    let mut summary = RunSummary::new(&plan, &observed);
    let recorded = RecordedTime::new(plan.start.t);
    interruption::install(&monitor, &recorded, &output.journal)?;
    let begun = (&mut simulation, &mut summary, &recorded);
    let (mut writer, last) = open_journal(&plan, &output.journal, arguments, begun)?;
    let from = simulation.state().t;
    let times = RunTimes { start: plan.start.t, from, until: plan.header.until };
    let mut progress = RunProgress::new(times, monitor, !arguments.json);
    let began = Instant::now();
    let report = if arguments.intervals { StepReport::with_intervals() } else { StepReport::default() };
    let end = step_to_end(&plan, report, (&mut simulation, last), |_, record| {
        writer.append(record)?;
        summary.add(&plan, record, false);
        recorded.set(record.state.t);
        progress.show(record);
        Ok(())
    });
    progress.clear();
    summary.set_wall_time(began.elapsed().as_secs_f64(), from);
    summary.journal = output.journal.display().to_string();
    let end = match (end, writer.sync()) {
        (RunEnd::Finished | RunEnd::Interrupted, Err(error)) => RunEnd::NotWritten(error),
        (end, _) => end,
    };
    summarize_end(&end, &output.journal, &mut summary)?;
    let written = match end {
        RunEnd::Interrupted | RunEnd::NotWritten(_) => Ok(()),
        _ => write_outputs(&plan, &output, arguments, &mut summary),
    };
    print(&if arguments.json { crate::to_json(&summary)? } else { summary.text() })?;
    written.map_err(|BadInput(error)| {
        let (journal, t) = (output.journal.display(), summary.end());
        BadInput(format!("{error}; {journal} has the run up to {t} s and can be converted again"))
    })?;
    match end {
        RunEnd::Finished => Ok(Outcome::Solved),
        RunEnd::Interrupted => Ok(Outcome::Interrupted),
        RunEnd::Failed(_) => Ok(Outcome::NotSolved),
        RunEnd::NotWritten(error) => {
            Err(BadInput(format!("{error}; the run stopped at {} s", summary.end())))
        }
    }
}

/// Converts the journal and draws it, as the command line asks for. An interrupted run does not: that may take longer
/// than it has, and the run that resumes it does.
fn write_outputs(
    plan: &RunPlan,
    output: &OutputFiles,
    arguments: &RunArguments,
    summary: &mut RunSummary,
) -> Result<(), BadInput> {
    if let Some(file) = &output.converted {
        let (files, _) = convert::write(&output.journal, file, None)?;
        summary.files.extend(files.iter().map(|file| file.display().to_string()));
    }
    if let Some(file) = &arguments.plot {
        write_file(file, &plot::draw(plan, &output.journal, arguments.quality)?)?;
        summary.files.push(file.display().to_string());
    }
    if let Some(file) = &arguments.html {
        write_file(file, &view::page(&output.journal)?)?;
        summary.files.push(file.display().to_string());
    }
    Ok(())
}

/// Creates the journal; with `--resume`, opens an existing one and restores the simulation from its last step.
fn open_journal(
    plan: &RunPlan,
    path: &Path,
    arguments: &RunArguments,
    (simulation, summary, recorded): (&mut Simulation<Model>, &mut RunSummary, &RecordedTime),
) -> Result<(JournalWriter, Option<LastStep>), BadInput> {
    let bad = |error: JournalError| BadInput(error.to_string());
    let new = |writer: JournalWriter| (writer, None);
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| BadInput::file(path, &error))?;
    }
    if arguments.resume && path.exists() {
        match Journal::open(path) {
            Ok(journal) => {
                check_resumable(plan, &journal)?;
                let mut last: Option<(State, StepRecord)> = None;
                let writer = JournalWriter::resume(path, plan.header.until, |record| {
                    summary.add(plan, &record, true);
                    recorded.set(record.state.t);
                    let before = last.take().map_or_else(|| plan.start.clone(), |(_, old)| old.state);
                    last = Some((before, record));
                });
                let writer = writer.map_err(bad)?;
                let last = last.map(|(before, record)| {
                    simulation.restore(record.state);
                    LastStep { before, report: record.report }
                });
                return Ok((writer, last));
            }
            // the program was killed before the first step was written
            Err(JournalError::Empty(_)) => {
                return JournalWriter::replace(path, &plan.header, &plan.start).map(new).map_err(bad);
            }
            Err(error) => return Err(bad(error)),
        }
    }
    if arguments.overwrite || may_replace(plan, path) {
        return JournalWriter::replace(path, &plan.header, &plan.start).map(new).map_err(bad);
    }
    JournalWriter::create(path, &plan.header, &plan.start).map(new).map_err(|error| match &error {
        JournalError::File { error: reason, .. } if reason.kind() == std::io::ErrorKind::AlreadyExists => {
            let message = "the journal exists; use --resume to continue it or --overwrite to start again";
            BadInput(format!("{}: {message}", path.display()))
        }
        _ => bad(error),
    })
}

/// Asks at a terminal whether a journal of the same scene may be replaced.
fn may_replace(plan: &RunPlan, path: &Path) -> bool {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return false;
    }
    let same = Journal::open(path).is_ok_and(|journal| journal.header().scene == plan.header.scene);
    if !same {
        return false;
    }
    eprint!("{} has a run of this scene. Replace it? [y/N] ", path.display());
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok()
        && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Checks that a journal is one of this run, so that resuming continues it bit by bit.
fn check_resumable(plan: &RunPlan, journal: &Journal) -> Result<(), BadInput> {
    let format = journal.format();
    let old_format = (format != FORMAT).then(|| {
        format!(
            "it has format {format} and this program appends format {FORMAT}; it can still be verified, converted \
             and viewed, but to run on, start again with --overwrite or another --out"
        )
    });
    let reason = old_format.or_else(|| plan.difference(journal.header())).or_else(|| {
        (journal.start() != &plan.start).then(|| "the scene starts in a different state".to_string())
    });
    match reason {
        Some(reason) => Err(BadInput(format!("{}: cannot resume: {reason}", journal.path().display()))),
        None => Ok(()),
    }
}

/// Last step of a run: the state before it, and its report.
pub(crate) struct LastStep {
    pub(crate) before: State,
    pub(crate) report: StepReport,
}

/// Steps to the end time, with a `report` that says what else it asks for; ends early at an error or an interrupt.
/// Controllers set inputs before every step, from the last step on. `each` takes the state before a step and its record.
pub(crate) fn step_to_end(
    plan: &RunPlan,
    report: StepReport,
    (simulation, last): (&mut Simulation<Model>, Option<LastStep>),
    mut each: impl FnMut(&State, &StepRecord) -> Result<(), JournalError>,
) -> RunEnd {
    let (h, until) = (plan.header.h, plan.header.until);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..report };
    let mut clock = StepClock::new(plan.start.t, h, simulation.state().t);
    let mut last = last.map(|last| (last.before, last.report));
    while let Some((to, size)) = clock.next_step(simulation.state().t, until) {
        let t = simulation.state().t;
        if t + size == t {
            return RunEnd::Failed(Box::new(StepError::Clock { t, h: size }));
        }
        let known = last.as_ref().map(|(before, report)| (before, report));
        if let Err(error) = plan.controls.apply(simulation, known) {
            return RunEnd::Failed(Box::new(StepError::Input { t, error }));
        }
        let before = simulation.state().clone();
        let made = match &plan.header.accuracy {
            None => simulation.step_to(to, size, &mut report).map(|()| None),
            Some(accuracy) => simulation.run_to_accuracy_into(to, accuracy, &mut report).map(Some),
        };
        let accuracy = match made {
            Ok(accuracy) => accuracy,
            Err(StepError::Stopped { .. }) => return RunEnd::Interrupted,
            Err(error) => return RunEnd::Failed(Box::new(error)),
        };
        let record = StepRecord { state: simulation.state().clone(), report: report.clone(), accuracy };
        if let Err(error) = each(&before, &record) {
            return RunEnd::NotWritten(error);
        }
        if !plan.controls.is_empty() {
            last = Some((before, record.report));
        }
    }
    RunEnd::Finished
}

/// Clock of the steps of a run: they end at t₀ + k h, multiplied and not summed, so that it does not drift and a resumed
/// run has the same times.
struct StepClock {
    start: f64,
    h: f64,
    /// Steps made since the start.
    steps: f64,
}

impl StepClock {
    /// Clock of a run that starts at `start`, is at time `t` and has steps of size `h` [s].
    fn new(start: f64, h: f64, t: f64) -> Self {
        let steps = ((t - start) / h).round();
        // journals of earlier versions may go on after a shorter step
        let is_whole = (start + steps * h - t).abs() <= MIN_STEP_RELATIVE * h;
        if is_whole { Self { start, h, steps } } else { Self { start: t, h, steps: 0.0 } }
    }

    /// End and size of the next step from time `t` [s]: a whole one, or a shorter one that ends at `until`. `None` at the
    /// end.
    fn next_step(&mut self, t: f64, until: f64) -> Option<(f64, f64)> {
        let margin = MIN_STEP_RELATIVE * self.h;
        let end = self.start + (self.steps + 1.0) * self.h;
        if end <= until + margin {
            self.steps += 1.0;
            return Some((end, self.h));
        }
        (until - t > margin).then_some((until, until - t))
    }
}

/// Writes the end of a run into its summary, and the problem of a failed step into a file.
fn summarize_end(end: &RunEnd, journal: &Path, summary: &mut RunSummary) -> Result<(), BadInput> {
    match end {
        RunEnd::Finished => {}
        RunEnd::Interrupted => {
            summary.status = "interrupted";
            summary.message = Some(interruption::RESUME.to_string());
        }
        RunEnd::NotWritten(error) => {
            summary.status = "not written";
            summary.message = Some(error.to_string());
        }
        RunEnd::Failed(error) => {
            summary.status = "failed";
            let mut message = error.to_string();
            if let StepError::Unsolved { problem, t, .. } = &**error {
                let path = journal.with_extension("failed.json");
                let name = Some(format!("{}, step at {t} s", journal.display()));
                let file = ProblemFile { name, ..AnyProblem::Step((**problem).clone()).into() };
                write_file(&path, &(file.to_json() + "\n"))?;
                let shown = path.display();
                let _ =
                    write!(message, "; the problem is in {shown}, examine it with: stiction solve {shown}");
                summary.files.push(path.display().to_string());
            }
            summary.message = Some(message);
        }
    }
    Ok(())
}

/// Checks that a file can be written, before hours are spent on a run.
fn check_writable(path: &Path) -> Result<(), BadInput> {
    if path.exists() {
        let opened = std::fs::OpenOptions::new().append(true).open(path);
        return opened.map(|_| ()).map_err(|error| BadInput::file(path, &error));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    folder.map_or(Ok(()), std::fs::create_dir_all).map_err(|error| BadInput::file(path, &error))
}
