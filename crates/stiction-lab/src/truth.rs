//! `stiction-lab truth`: random scenes run in many ways, and every disagreement between the answers.

mod generate;
mod judge;

use crate::{BadInput, Outcome, print, write_file};
use generate::RandomScene;
use judge::{FindingKind, Judge, Verdict};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Random small scenes, run to three accuracies, by `accurate` and by `first-order` at three step sizes.
///
/// Reports every disagreement beyond what orders and sensitivity explain, every run that fails though another scheme
/// solves the scene, every run above the time limit and every run that `verify` does not accept. Each such scene is
/// shrunk and saved.
#[derive(clap::Args)]
pub(crate) struct TruthArguments {
    /// Number of scenes
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// Seed of the first scene
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seeds to leave out
    #[arg(long, value_delimiter = ',')]
    except: Vec<u64>,
    /// Longest run [s]
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Judge these scene files instead of random ones
    #[arg(long, num_args = 1..)]
    scenes: Vec<PathBuf>,
    /// Program to judge; by default `stiction` beside this one
    #[arg(long)]
    program: Option<PathBuf>,
    /// Folder for scenes with findings
    #[arg(long, default_value = "out/truth")]
    out: PathBuf,
    /// Save scenes as they are, without shrinking them
    #[arg(long)]
    whole: bool,
}

/// Counts over all scenes.
#[derive(Default)]
struct Counts {
    refused: usize,
    chaotic: usize,
    bounces: usize,
    clean: usize,
    wrong: usize,
    failed: usize,
    slow: usize,
    unverified: usize,
}

/// Judges all scenes and prints the findings.
pub(crate) fn run(arguments: &TruthArguments) -> Result<Outcome, BadInput> {
    let program = program(arguments)?;
    let work = std::env::temp_dir().join(format!("stiction-truth-{}", std::process::id()));
    let judge = |name: &str| -> Result<Judge, BadInput> {
        let folder = work.join(name);
        std::fs::create_dir_all(&folder).map_err(|e| BadInput(format!("{}: {e}", folder.display())))?;
        Ok(Judge { program: program.clone(), folder, limit: Duration::from_secs(arguments.seconds) })
    };
    let judged: Vec<(String, Verdict)> = if arguments.scenes.is_empty() {
        let seeds = arguments.seed..arguments.seed + arguments.count;
        let one = |seed: u64| {
            let judge = judge(&seed.to_string())?;
            let scene = RandomScene::new(seed);
            let verdict = judge.verdict(&scene.text());
            save(arguments, seed, scene, &verdict, &judge)?;
            let _ = std::fs::remove_dir_all(&judge.folder);
            Ok((format!("seed {seed}"), verdict))
        };
        let seeds: Vec<u64> = seeds.filter(|seed| !arguments.except.contains(seed)).collect();
        seeds.into_par_iter().map(one).collect::<Result<_, BadInput>>()?
    } else {
        let one = |path: &PathBuf| {
            let text =
                std::fs::read_to_string(path).map_err(|e| BadInput(format!("{}: {e}", path.display())))?;
            let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Ok((name.clone(), judge(&name)?.verdict(&text)))
        };
        arguments.scenes.par_iter().map(one).collect::<Result<_, BadInput>>()?
    };
    let _ = std::fs::remove_dir_all(&work);
    report(&judged)
}

fn program(arguments: &TruthArguments) -> Result<PathBuf, BadInput> {
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("stiction"));
    let program = arguments.program.clone().or_else(beside).filter(|program| program.exists());
    program.ok_or_else(|| {
        BadInput("the program stiction is not there: build it, or name it with --program".to_string())
    })
}

fn report(judged: &[(String, Verdict)]) -> Result<Outcome, BadInput> {
    let mut counts = Counts::default();
    let mut text = String::new();
    for (name, verdict) in judged {
        counts.add(verdict);
        for finding in &verdict.findings {
            let _ = writeln!(
                text,
                "{name:12} {:?}: {} (growth {:.0e})",
                finding.kind, finding.text, verdict.sensitivity
            );
        }
    }
    let _ = writeln!(text, "\n{:6} scenes", judged.len());
    for (count, what) in [
        (counts.refused, "refused before they ran: bodies overlap at the start"),
        (counts.clean, "without a finding"),
        (counts.wrong, "wrong: answers disagree"),
        (counts.failed, "with a run that fails though the scene was solved"),
        (counts.slow, "with a run above the time limit"),
        (counts.unverified, "with a run that verify does not accept"),
        (counts.chaotic, "too sensitive to be compared with fixed steps"),
        (counts.bounces, "with restitution, which `first-order` treats by another law: not compared with it"),
    ] {
        let _ = writeln!(text, "{count:6} {what}");
    }
    let ratios = judged.iter().flat_map(|(_, verdict)| &verdict.ratios);
    let worst = ratios.fold(0.0, |worst: f64, ratio| worst.max(*ratio));
    let _ = writeln!(text, "largest error over allowed error: {worst:.2}");
    print(&text)?;
    let bad = counts.wrong + counts.failed + counts.slow + counts.unverified;
    Ok(if bad == 0 { Outcome::Solved } else { Outcome::NotSolved })
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        let has =
            |kind: FindingKind| usize::from(verdict.findings.iter().any(|finding| finding.kind == kind));
        self.refused += usize::from(verdict.refused);
        self.chaotic += usize::from(verdict.chaotic);
        self.bounces += usize::from(verdict.bounces);
        self.clean += usize::from(!verdict.refused && verdict.findings.is_empty());
        self.wrong += has(FindingKind::Wrong);
        self.failed += has(FindingKind::Failed);
        self.slow += has(FindingKind::Slow);
        self.unverified += has(FindingKind::Unverified);
    }
}

/// Saves a scene with findings, as small as it can be with a finding of the same kind.
fn save(
    arguments: &TruthArguments,
    seed: u64,
    mut scene: RandomScene,
    verdict: &Verdict,
    judge: &Judge,
) -> Result<(), BadInput> {
    let Some(first) = verdict.findings.first() else { return Ok(()) };
    let mut found = first.clone();
    loop {
        if arguments.whole {
            break;
        }
        let smaller = scene.smaller().find_map(|smaller| {
            let findings = judge.verdict(&smaller.text()).findings;
            findings.into_iter().find(|finding| finding.kind == first.kind).map(|finding| (smaller, finding))
        });
        let Some((smaller, finding)) = smaller else { break };
        (scene, found) = (smaller, finding);
    }
    let path: &Path = &arguments.out.join(format!("{seed}.toml"));
    write_file(path, &format!("# {:?}: {}\n{}", found.kind, found.text, scene.text()))
}
