//! `stiction fuzz scenes`: broken scene files by the million.

use super::mutate::sample;
use crate::{BadInput, Outcome, print, write_file};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stiction::{Accuracy, Simulation, StepReport, System};
use stiction_scene::{BuiltScene, Diagnostics, Scene};

/// Mutated scene files: each is refused with a line, or runs for a few steps; none panics or hangs.
///
/// Bytes, tokens, keys, numbers, nesting and lines of the scenes in a folder are changed at random, files are cut off
/// and spliced. A file that can be read is checked, linted, and stepped while it is small. The first that panics, hangs
/// or is refused without a place is saved.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of files
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
    /// Seed of the first file; the i-th one after it has seed + i
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; every count is the same for any
    #[arg(long)]
    threads: Option<usize>,
    /// Folder of the scenes that are changed
    #[arg(long, default_value = "scenes")]
    scenes: PathBuf,
    /// Where the first file that fails is saved
    #[arg(long, default_value = "out/fuzz/scene.toml")]
    out: PathBuf,
}

/// Steps that a file is run for.
const STEPS: usize = 3;
/// Velocities up to which it is linted and run.
const VELOCITIES: usize = 150;
/// Contacts at the start up to which it is.
const CONTACTS: usize = 60;
/// A file that takes longer hangs: the slowest that does not takes a hundredth on an idle machine.
const HANG: Duration = Duration::from_secs(60);
/// What `--count 1` of a failure is printed for at most.
const PRINTED: usize = 20;

#[derive(Default)]
struct Tally {
    /// No TOML, or not as the keys are described.
    refused: u64,
    /// What the world refuses.
    impossible: u64,
    /// BuiltScene, and too large to be run here.
    large: u64,
    /// BuiltScene, and a step was an error.
    stopped: u64,
    /// BuiltScene, and run.
    ran: u64,
    slowest: (Duration, u64),
    failures: Vec<(u64, String)>,
}

/// How a file ended.
enum End {
    Refused,
    Impossible,
    Large,
    Stopped,
    Ran,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.refused += other.refused;
        self.impossible += other.impossible;
        self.large += other.large;
        self.stopped += other.stopped;
        self.ran += other.ran;
        self.slowest = self.slowest.max(other.slowest);
        self.failures.extend(other.failures);
    }

    fn count(&mut self, end: &End) {
        match end {
            End::Refused => self.refused += 1,
            End::Impossible => self.impossible += 1,
            End::Large => self.large += 1,
            End::Stopped => self.stopped += 1,
            End::Ran => self.ran += 1,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let begun = Instant::now();
    let seeds = seeds(arguments)?;
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.unwrap_or(available).max(1);
    // panics are counted, not printed one by one
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally = over_threads(arguments, &seeds, threads);
    std::panic::set_hook(hook);
    tally.failures.sort();
    let mut text =
        format!("{} files from seed {}, made of {} scenes\n\n", arguments.count, arguments.seed, seeds.len());
    let _ = writeln!(text, "{:9}  refused, with a line", tally.refused);
    let _ = writeln!(text, "{:9}  refused by the world, with a line", tally.impossible);
    let _ = writeln!(text, "{:9}  built, too large to run here", tally.large);
    let _ = writeln!(text, "{:9}  built, and a step was an error", tally.stopped);
    let _ = writeln!(text, "{:9}  built and run for {STEPS} steps", tally.ran);
    let (slowest, seed) = tally.slowest;
    let _ = writeln!(
        text,
        "\n{} failed in {:.1} s on {threads} threads; the slowest took {:.2} s (seed {seed})",
        tally.failures.len(),
        begun.elapsed().as_secs_f64(),
        slowest.as_secs_f64()
    );
    for (seed, what) in tally.failures.iter().take(PRINTED) {
        let _ = writeln!(text, "\nstiction fuzz scenes --count 1 --seed {seed}: {what}");
    }
    if let Some((seed, _)) = tally.failures.first() {
        write_file(&arguments.out, &file(&seeds, *seed))?;
        let _ = writeln!(text, "\nthe first is saved as {}", arguments.out.display());
    }
    print(&text)?;
    Ok(if tally.failures.is_empty() { Outcome::Solved } else { Outcome::NotSolved })
}

/// The scenes of the folder and those within it, in the order of their names.
fn seeds(arguments: &Arguments) -> Result<Vec<String>, BadInput> {
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

/// The file of a seed.
fn file(seeds: &[String], seed: u64) -> String {
    sample(seeds, &mut ChaCha8Rng::seed_from_u64(seed))
}

fn over_threads(arguments: &Arguments, seeds: &[String], threads: usize) -> Tally {
    /// Files handed out at a time.
    const CHUNK: u64 = 64;
    let next = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    // what each thread is at, and since when
    let at: Vec<Mutex<Option<(u64, Instant)>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    let work = |own: &Mutex<Option<(u64, Instant)>>| {
        let mut tally = Tally::default();
        let note = |what| *own.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = what;
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= arguments.count {
                note(None);
                return tally;
            }
            for i in first..arguments.count.min(first + CHUNK) {
                let seed = arguments.seed.wrapping_add(i);
                let begun = Instant::now();
                note(Some((seed, begun)));
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
            }
        }
    };
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = at.iter().map(|own| scope.spawn(move || work(own))).collect();
        scope.spawn(|| watch(&at, &done, |seed| hangs(arguments, seeds, seed)));
        for worker in workers {
            tally.add(worker.join().unwrap_or_default());
        }
        done.store(true, Ordering::Relaxed);
    });
    tally
}

/// Looks after the threads until all is done.
fn watch(at: &[Mutex<Option<(u64, Instant)>>], done: &AtomicBool, hangs: impl Fn(u64)) {
    while !done.load(Ordering::Relaxed) {
        for own in at {
            let now = *own.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some((seed, since)) = now
                && since.elapsed() > HANG
            {
                hangs(seed);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A thread that hangs cannot be ended: the whole command is.
fn hangs(arguments: &Arguments, seeds: &[String], seed: u64) {
    let saved = write_file(&arguments.out, &file(seeds, seed));
    let place = saved.map_or_else(|error| error.to_string(), |()| arguments.out.display().to_string());
    eprintln!(
        "stiction fuzz scenes --count 1 --seed {seed}: hangs for {} s, saved as {place}",
        HANG.as_secs()
    );
    std::process::exit(1);
}

/// Reads a file and runs it; the error is what is wrong with the program.
fn judge(text: &str) -> Result<End, String> {
    let scene = match Scene::from_toml(text, "scene.toml") {
        Ok(scene) => scene,
        Err(found) => return placed(&found, text).map(|()| End::Refused),
    };
    let built = match scene.build() {
        Ok(built) => built,
        Err(found) => return placed(&found, text).map(|()| End::Impossible),
    };
    let BuiltScene { model, state, scheme, h, accuracy, duration, .. } = built;
    if state.v.len() > VELOCITIES {
        return Ok(End::Large);
    }
    let mut contacts = Vec::new();
    let near = stiction::ContactQuery::within(0.01 * model.size());
    model.contacts(state.t, &state.q, &near, &mut stiction::SearchCache::default(), &mut contacts);
    if contacts.len() > CONTACTS {
        return Ok(End::Large);
    }
    placed(&Diagnostics(scene.lint()), text)?;
    let end = state.t + duration;
    let mut simulation = Simulation::new(model, state, scheme);
    if let Some(accuracy) = accuracy {
        // a run to the end may take any number of steps
        let (event_limit, step_limit) = (accuracy.event_limit.min(10), accuracy.step_limit.min(10_000));
        let accuracy = Accuracy { event_limit, step_limit, ..accuracy };
        if !(1e-10..=1.0).contains(&accuracy.tolerance) || accuracy.first_step < 1e-6 {
            return Ok(End::Large);
        }
        let until = end.min(simulation.state().t + accuracy.largest_step.min(1e-3));
        return Ok(match simulation.run_to_accuracy(until, &accuracy, &[], |_, _| ()) {
            Ok(_) => End::Ran,
            Err(_) => End::Stopped,
        });
    }
    let mut report = StepReport::default();
    for _ in 0..STEPS {
        if simulation.step_into(h, &mut report).is_err() {
            return Ok(End::Stopped);
        }
        let state = simulation.state();
        if !state.q.iter().chain(&state.v).all(|x| x.is_finite()) {
            return Err("a step made a state that is not finite, and said nothing".into());
        }
    }
    Ok(End::Ran)
}

/// Every finding has a line of the file, and something to say.
fn placed(found: &Diagnostics, text: &str) -> Result<(), String> {
    let lines = text.split('\n').count();
    for finding in &found.0 {
        if finding.message.is_empty() || finding.line == 0 || finding.line > lines || finding.column == 0 {
            return Err(format!("a finding without a place: {finding:?}"));
        }
        // writing it out must not fail either
        let _ = finding.to_string();
    }
    Ok(())
}
