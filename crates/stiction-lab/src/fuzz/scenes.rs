//! `stiction-lab fuzz scenes`: reads, checks and runs scene files that are changed at random.

use super::SeedRange;
use super::mutate::sample;
use crate::seeds::{Tally, over_seeds, pool};
use crate::{BadInput, Outcome, print, write_file};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPool;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use stiction::{Accuracy, Simulation, StepReport, System};
use stiction_scene::{BuiltScene, Diagnostics, Scene};

/// Mutated scene files: each is refused with a line number or runs for a few steps; none panics or hangs.
///
/// Bytes, tokens, keys, numbers, nesting and lines of the scenes in a folder are changed at random; files are truncated
/// and spliced. A file that can be read is checked and linted, and stepped if it is small. The first file that panics,
/// hangs or is refused without a line number is saved.
#[derive(clap::Args)]
pub(crate) struct SceneFuzzArguments {
    #[command(flatten)]
    range: SeedRange,
    /// Folder of the scenes to change
    #[arg(long, default_value = "scenes")]
    scenes: PathBuf,
    /// File for the first failing scene
    #[arg(long, default_value = "out/fuzz/scene.toml")]
    out: PathBuf,
}

/// Steps that a file is run for.
const FUZZ_STEPS: usize = 3;
/// Maximum number of velocities of a file that is linted and run.
const MAX_VELOCITIES: usize = 150;
/// Maximum number of initial contacts of a file that is linted and run.
const MAX_CONTACTS: usize = 60;
/// Time after which a file counts as hanging. The slowest other file takes a hundredth of it on an idle machine.
const HANG_TIME: Duration = Duration::from_mins(1);
/// Limit on the memory that a file may take [MB].
const MAX_MEMORY: f64 = 1000.0;
/// Limit on the failing files that are printed.
const MAX_PRINTED_FILES: usize = 20;

/// Counts over some files.
#[derive(Default)]
struct FileTally {
    /// Not TOML, or against the description of the keys.
    refused: u64,
    /// Refused when the world is built.
    impossible: u64,
    /// BuiltScene, too large to run here.
    large: u64,
    /// BuiltScene, and a step failed.
    stopped: u64,
    /// BuiltScene and run.
    ran: u64,
    slowest: (Duration, u64),
    failures: Vec<(u64, String)>,
}

/// Result of a file without a failure.
enum FileOutcome {
    Refused,
    Impossible,
    Large,
    Stopped,
    Ran,
}

impl Tally for FileTally {
    fn join(&mut self, other: Self) {
        self.refused += other.refused;
        self.impossible += other.impossible;
        self.large += other.large;
        self.stopped += other.stopped;
        self.ran += other.ran;
        self.slowest = self.slowest.max(other.slowest);
        self.failures.extend(other.failures);
    }
}

impl FileTally {
    fn count(&mut self, end: &FileOutcome) {
        match end {
            FileOutcome::Refused => self.refused += 1,
            FileOutcome::Impossible => self.impossible += 1,
            FileOutcome::Large => self.large += 1,
            FileOutcome::Stopped => self.stopped += 1,
            FileOutcome::Ran => self.ran += 1,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &SceneFuzzArguments) -> Result<Outcome, BadInput> {
    let begun = Instant::now();
    let seeds = seeds(arguments)?;
    let pool = pool(arguments.range.threads)?;
    let threads = pool.current_num_threads();
    // panics are counted, not printed one by one
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally = judge_all(arguments, &seeds, &pool);
    std::panic::set_hook(hook);
    tally.failures.sort();
    let mut text = format!(
        "{} files from seed {}, made of {} scenes\n\n",
        arguments.range.count,
        arguments.range.seed,
        seeds.len()
    );
    let _ = writeln!(text, "{:9}  refused, with a line", tally.refused);
    let _ = writeln!(text, "{:9}  refused by the world, with a line", tally.impossible);
    let _ = writeln!(text, "{:9}  built, too large to run here", tally.large);
    let _ = writeln!(text, "{:9}  built, and a step was an error", tally.stopped);
    let _ = writeln!(text, "{:9}  built and run for {FUZZ_STEPS} steps", tally.ran);
    let (slowest, seed) = tally.slowest;
    let _ = writeln!(
        text,
        "\n{} failed in {:.1} s on {threads} threads; the slowest took {:.2} s (seed {seed})",
        tally.failures.len(),
        begun.elapsed().as_secs_f64(),
        slowest.as_secs_f64()
    );
    let peak = peak_memory();
    if let Some(peak) = peak {
        let _ = writeln!(text, "memory: at most {peak:.0} MB on {threads} threads");
    }
    for (seed, what) in tally.failures.iter().take(MAX_PRINTED_FILES) {
        let _ = writeln!(text, "\nstiction-lab fuzz scenes --count 1 --seed {seed}: {what}");
    }
    if let Some((seed, _)) = tally.failures.first() {
        write_file(&arguments.out, &file(&seeds, *seed))?;
        let _ = writeln!(text, "\nthe first is saved as {}", arguments.out.display());
    }
    print(&text)?;
    let modest = peak.is_none_or(|peak| peak <= MAX_MEMORY * threads as f64);
    Ok(if tally.failures.is_empty() && modest { Outcome::Solved } else { Outcome::NotSolved })
}

/// Largest memory of this process so far [MB]; `None` where the system does not report it.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1e3)
}

/// Scenes of the folder and of the folders in it, in the order of their names.
fn seeds(arguments: &SceneFuzzArguments) -> Result<Vec<String>, BadInput> {
    let (mut folders, mut paths) = (vec![arguments.scenes.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| BadInput::file(&folder, &error))?;
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(BadInput::file(&arguments.scenes, &"no scenes, *.toml"));
    }
    let read = |path: &PathBuf| std::fs::read_to_string(path).map_err(|error| BadInput::file(path, &error));
    paths.iter().map(read).collect()
}

/// File of a seed.
fn file(seeds: &[String], seed: u64) -> String {
    sample(seeds, &mut ChaCha8Rng::seed_from_u64(seed))
}

/// Seed that a thread is judging, and since when.
type Current = Mutex<Option<(u64, Instant)>>;

fn judge_all(arguments: &SceneFuzzArguments, seeds: &[String], pool: &ThreadPool) -> FileTally {
    let current: Vec<Current> = (0..pool.current_num_threads()).map(|_| Mutex::new(None)).collect();
    let note = |thread: usize, now: Option<(u64, Instant)>| *locked(&current[thread]) = now;
    let judge = |tally: &mut FileTally, i: u64, thread: usize| {
        let seed = arguments.range.seed.wrapping_add(i);
        let begun = Instant::now();
        note(thread, Some((seed, begun)));
        match catch_unwind(AssertUnwindSafe(|| judge(&file(seeds, seed)))) {
            Ok(Ok(end)) => tally.count(&end),
            Ok(Err(what)) => tally.failures.push((seed, what)),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                tally.failures.push((seed, format!("panicked: {}", text.unwrap_or_default())));
            }
        }
        tally.slowest = tally.slowest.max((begun.elapsed(), seed));
        note(thread, None);
    };
    let watch = || {
        let hanging = |(_, since): &(u64, Instant)| since.elapsed() > HANG_TIME;
        if let Some((seed, _)) = current.iter().find_map(|current| locked(current).filter(hanging)) {
            hangs(arguments, seeds, seed);
        }
    };
    over_seeds(pool, arguments.range.count, judge, watch)
}

/// Contents of a lock; a panic elsewhere leaves them as good as they were.
fn locked(current: &Current) -> MutexGuard<'_, Option<(u64, Instant)>> {
    current.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Ends the program: a thread that hangs cannot be stopped.
fn hangs(arguments: &SceneFuzzArguments, seeds: &[String], seed: u64) {
    let saved = write_file(&arguments.out, &file(seeds, seed));
    let place = saved.map_or_else(|error| error.to_string(), |()| arguments.out.display().to_string());
    eprintln!(
        "stiction-lab fuzz scenes --count 1 --seed {seed}: hangs for {} s, saved as {place}",
        HANG_TIME.as_secs()
    );
    std::process::exit(1);
}

/// Reads a file and runs it; the error describes a fault of the program.
fn judge(text: &str) -> Result<FileOutcome, String> {
    let scene = match Scene::from_toml(text, "scene.toml") {
        Ok(scene) => scene,
        Err(found) => return placed(&found, text).map(|()| FileOutcome::Refused),
    };
    let built = match scene.build() {
        Ok(built) => built,
        Err(found) => return placed(&found, text).map(|()| FileOutcome::Impossible),
    };
    let BuiltScene { model, state, scheme, h, accuracy, duration, .. } = built;
    if state.v.len() > MAX_VELOCITIES {
        return Ok(FileOutcome::Large);
    }
    let mut contacts = Vec::new();
    let near = stiction::ContactQuery::within(0.01 * model.size());
    model.contacts(state.t, &state.q, &near, &mut stiction::SearchCache::default(), &mut contacts);
    if contacts.len() > MAX_CONTACTS {
        return Ok(FileOutcome::Large);
    }
    placed(&Diagnostics(scene.lint()), text)?;
    let end = state.t + duration;
    let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
    if let Some(accuracy) = accuracy {
        // a run to the end may take any number of steps
        let (event_limit, step_limit) = (accuracy.event_limit.min(10), accuracy.step_limit.min(10_000));
        let accuracy = Accuracy { event_limit, step_limit, ..accuracy };
        if !(1e-10..=1.0).contains(&accuracy.tolerance) || accuracy.first_step < 1e-6 {
            return Ok(FileOutcome::Large);
        }
        let until = end.min(simulation.state().t + accuracy.largest_step.min(1e-3));
        return Ok(match simulation.run_to_accuracy(until, &accuracy, &[], |_, _| ()) {
            Ok(_) => FileOutcome::Ran,
            Err(_) => FileOutcome::Stopped,
        });
    }
    let mut report = StepReport::default();
    for _ in 0..FUZZ_STEPS {
        if simulation.step_into(h, &mut report).is_err() {
            return Ok(FileOutcome::Stopped);
        }
        let state = simulation.state();
        if !state.q.iter().chain(&state.v).all(|x| x.is_finite()) {
            return Err("a step without an error made a state that is not finite".into());
        }
    }
    Ok(FileOutcome::Ran)
}

/// Checks that every finding has a line of the file and a message.
fn placed(found: &Diagnostics, text: &str) -> Result<(), String> {
    let lines = text.split('\n').count();
    for finding in &found.0 {
        if finding.message.is_empty() || finding.line == 0 || finding.line > lines || finding.column == 0 {
            return Err(format!("a finding without a line: {finding:?}"));
        }
        // formatting must not panic either
        let _ = finding.to_string();
    }
    Ok(())
}
