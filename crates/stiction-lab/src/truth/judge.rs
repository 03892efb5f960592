//! The verdict on one scene: runs to accuracies against each other and against two fixed-step schemes.
//!
//! Runs are made by the program that users have, in a process of their own: a hang or an abort is a finding like any
//! other. Errors are the largest difference of a coordinate at any sample, relative to the smallest body.

use super::generate::SMALLEST_BODY;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Accuracies that a scene is run to, the tightest last.
pub(super) const ACCURACIES: [f64; 3] = [1e-4, 1e-6, 1e-8];

/// Step sizes of the fixed-step schemes, each half of the one before [s].
const STEPS: [f64; 3] = [5e-3, 2.5e-3, 1.25e-3];

/// Time between samples [s]: a multiple of all step sizes.
const SAMPLE: f64 = 0.05;

/// Relative change of friction and gravity that sensitivity is measured by.
const PERTURBATION: f64 = 1e-7;

/// A run may be off by this many times its accuracy times the sensitivity.
const ALLOWED_FACTOR: f64 = 10.0;

/// A scheme of first order is off by what the last halving changed; this factor allows for what is not yet asymptotic.
const HALVING_FACTOR: f64 = 4.0;

/// Beyond this sensitivity fixed steps do not converge to anything that can be compared.
const CHAOTIC: f64 = 1e4;

/// How scenes are judged.
pub(super) struct Judge {
    /// Program `stiction`.
    pub(super) program: PathBuf,
    /// Folder for scene files and journals; each thread has its own.
    pub(super) folder: PathBuf,
    /// A run that takes longer is a finding.
    pub(super) limit: Duration,
}

/// Findings on a scene, and the figures behind them.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The scene was refused before it ran.
    pub(super) refused: bool,
    /// Too sensitive to be compared with fixed steps.
    pub(super) chaotic: bool,
    /// With restitution: not compared with `first-order`, which has another law of it.
    pub(super) bounces: bool,
    pub(super) findings: Vec<Finding>,
    /// Growth κ of a perturbation.
    pub(super) sensitivity: f64,
    /// Error over allowed error of the run to each accuracy; the tightest against fixed steps.
    pub(super) ratios: Vec<f64>,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) kind: FindingKind,
    pub(super) text: String,
}

/// Kinds of findings, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingKind {
    /// Two answers disagree beyond what orders and sensitivity explain.
    Wrong,
    /// A run ended with an error though another scheme solved the scene.
    Failed,
    /// A run took longer than the limit.
    Slow,
    /// `stiction verify` did not accept a run.
    Unverified,
}

/// Samples of a run, one list of coordinates each.
type Samples = Vec<Vec<f64>>;

/// End of a run.
enum Ended {
    Samples(Samples),
    Failed(String),
    Slow,
    Refused,
}

impl Judge {
    /// Runs a scene in all ways and compares.
    pub(super) fn verdict(&self, text: &str) -> Verdict {
        let mut verdict = Verdict::default();
        let mut accurate: Vec<Option<Samples>> = Vec::new();
        let mut failures = Vec::new();
        for accuracy in ACCURACIES {
            let name = format!("accuracy {accuracy:.0e}");
            match self.run(text, &["--accuracy", &format!("{accuracy:e}")], true) {
                Ended::Refused => return Verdict { refused: true, ..verdict },
                ended => accurate.push(self.take(ended, &name, &mut verdict, &mut failures)),
            }
            if accurate.last().is_some_and(Option::is_some) {
                self.verify(&name, &mut verdict);
            }
        }
        let fixed =
            |scheme: &str, verdict: &mut Verdict, failures: &mut Vec<Finding>| -> Vec<Option<Samples>> {
                let one = |h: f64, verdict: &mut Verdict, failures: &mut Vec<Finding>| {
                    let ended = self.run(text, &["--scheme", scheme, "--h", &h.to_string()], false);
                    self.take(ended, &format!("{scheme} at h = {h}"), verdict, failures)
                };
                STEPS.iter().map(|&h| one(h, verdict, failures)).collect()
            };
        let second = fixed("accurate", &mut verdict, &mut failures);
        // the error of the default at impacts depends on the phase of its steps: one halving does not bound it
        let first = fixed("first-order", &mut verdict, &mut failures);
        // a scene that no scheme solves may have no solution
        if accurate.iter().chain(&second).chain(&first).any(Option::is_some) {
            verdict.findings.append(&mut failures);
        }
        verdict.sensitivity = self.sensitivity(text, accurate[2].as_ref());
        verdict.bounces = has_restitution(text);
        Self::compare(&accurate, [("accurate", &second), ("first-order", &first)], &mut verdict);
        verdict.findings.sort_by_key(|finding| finding.kind);
        verdict
    }

    fn compare(accurate: &[Option<Samples>], fixed: [(&str, &[Option<Samples>]); 2], verdict: &mut Verdict) {
        let Some(tightest) = accurate.last().and_then(Option::as_ref) else { return };
        let growth = verdict.sensitivity.max(1.0);
        for (accuracy, samples) in ACCURACIES.iter().zip(accurate).take(ACCURACIES.len() - 1) {
            let Some(samples) = samples else { continue };
            let (error, allowed) = (difference(samples, tightest), ALLOWED_FACTOR * accuracy * growth);
            verdict.ratios.push(error / allowed);
            if !(error <= allowed) {
                let text = format!(
                    "accuracy {accuracy:.0e} is {error:.1e} from accuracy 1e-8, allowed {allowed:.1e}"
                );
                verdict.findings.push(Finding { kind: FindingKind::Wrong, text });
            }
        }
        verdict.chaotic = verdict.sensitivity > CHAOTIC;
        if verdict.chaotic {
            return;
        }
        for (scheme, runs) in fixed {
            // Newton's law in a step against Poisson's at a located impact: with friction, and where several contacts
            // close at once, they bounce differently at any step size
            if scheme == "first-order" && verdict.bounces {
                continue;
            }
            let [Some(coarse), Some(middle), Some(fine)] = runs else { continue };
            let change = difference(middle, fine).max(0.5 * difference(coarse, middle));
            let allowed = HALVING_FACTOR * change + ALLOWED_FACTOR * ACCURACIES[2] * growth;
            let error = difference(tightest, fine);
            verdict.ratios.push(error / allowed);
            if !(error <= allowed) {
                let text = format!(
                    "accuracy 1e-8 is {error:.1e} from {scheme} at h = {}, whose last halving changed {change:.1e}",
                    STEPS[2]
                );
                verdict.findings.push(Finding { kind: FindingKind::Wrong, text });
            }
        }
    }

    /// Growth of a small change of friction and gravity, by the tightest run; 1 where that cannot be run again.
    fn sensitivity(&self, text: &str, tightest: Option<&Samples>) -> f64 {
        let Some(tightest) = tightest else { return 1.0 };
        let options = ["--accuracy", &format!("{:e}", ACCURACIES[2])];
        let mut growth: f64 = 0.0;
        for sign in [-1.0, 1.0] {
            let changed = perturbed(text, 1.0 + sign * PERTURBATION);
            if let Ended::Samples(samples) = self.run(&changed, &options, false) {
                growth = growth.max(difference(&samples, tightest) / PERTURBATION);
            }
        }
        growth
    }

    fn take(
        &self,
        ended: Ended,
        name: &str,
        verdict: &mut Verdict,
        failures: &mut Vec<Finding>,
    ) -> Option<Samples> {
        match ended {
            Ended::Samples(samples) => return Some(samples),
            Ended::Failed(why) => {
                failures.push(Finding { kind: FindingKind::Failed, text: format!("{name}: {why}") });
            }
            Ended::Slow => {
                let text = format!("{name}: more than {} s", self.limit.as_secs());
                verdict.findings.push(Finding { kind: FindingKind::Slow, text });
            }
            Ended::Refused => {}
        }
        None
    }

    fn run(&self, text: &str, options: &[&str], journal: bool) -> Ended {
        let scene = self.folder.join("scene.toml");
        let out = self.folder.join(if journal { "kept.json" } else { "run.json" });
        let text = format!("{text}\n[record]\nevery = {SAMPLE}\n");
        if std::fs::write(&scene, text).is_err() {
            return Ended::Failed("the scene file cannot be written".to_string());
        }
        let _ = std::fs::remove_file(&out);
        let mut command = Command::new(&self.program);
        command.arg("run").arg(&scene).arg("--out").arg(&out).args(["--overwrite", "--json"]).args(options);
        match self.within_limit(&mut command) {
            None => Ended::Slow,
            Some(ProgramOutput { code: Some(0), .. }) => {
                samples(&out).map_or(Ended::Failed("no samples".to_string()), Ended::Samples)
            }
            Some(ProgramOutput { code: Some(2), .. }) => Ended::Refused,
            Some(output) => Ended::Failed(output.message()),
        }
    }

    fn verify(&self, name: &str, verdict: &mut Verdict) {
        let mut command = Command::new(&self.program);
        command.arg("verify").arg(self.folder.join("kept.journal"));
        let code = self.within_limit(&mut command).and_then(|output| output.code);
        if code != Some(0) {
            let code = code.map_or("no exit code".to_string(), |code| format!("exit code {code}"));
            let text = format!("{name}: verify gives {code}");
            verdict.findings.push(Finding { kind: FindingKind::Unverified, text });
        }
    }

    /// Output of a command; `None` where it took longer than the limit and was ended.
    fn within_limit(&self, command: &mut Command) -> Option<ProgramOutput> {
        // files, because the program would wait at a full pipe
        let [summary, errors] = ["summary.json", "errors.txt"].map(|name| self.folder.join(name));
        let file = |path: &PathBuf| std::fs::File::create(path).ok();
        command.stdin(Stdio::null()).stdout(file(&summary)?).stderr(file(&errors)?);
        let mut child = command.spawn().ok()?;
        let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let begun = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => {
                    let (stdout, stderr) = (text(&summary), text(&errors));
                    return Some(ProgramOutput { code: status.code(), stdout, stderr });
                }
                Ok(None) if begun.elapsed() < self.limit => std::thread::sleep(Duration::from_millis(2)),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        }
    }
}

/// Exit code and output of a program that ended.
struct ProgramOutput {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl ProgramOutput {
    /// Reason of a failed run: the message of its summary. A program that aborts writes to standard error instead.
    fn message(&self) -> String {
        let summary: Option<serde_json::Value> = serde_json::from_str(&self.stdout).ok();
        let message = summary.as_ref().and_then(|summary| summary.get("message")?.as_str());
        let line = || self.stderr.lines().find(|line| !line.trim().is_empty());
        message.or_else(line).unwrap_or("no message").trim().to_string()
    }
}

/// Scene with friction and gravity multiplied by a factor.
fn perturbed(text: &str, factor: f64) -> String {
    let line = |line: &str| match line.split_once(" = ") {
        Some(("friction", value)) => {
            value.parse().map_or(line.to_string(), |mu: f64| format!("friction = {}", mu * factor))
        }
        Some(("gravity", list)) => {
            let numbers = list.trim_matches(['[', ']']).split(", ");
            let changed: Vec<String> =
                numbers.filter_map(|x| x.parse().ok()).map(|x: f64| (x * factor).to_string()).collect();
            format!("gravity = [{}]", changed.join(", "))
        }
        _ => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Coordinates at the samples of a converted run.
fn samples(path: &Path) -> Option<Samples> {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    let number = |x: &serde_json::Value| x.as_f64();
    let row = |row: &serde_json::Value| row.as_array()?.iter().map(number).collect::<Option<Vec<f64>>>();
    value.get("coordinates")?.as_array()?.iter().map(row).collect()
}

/// Largest difference of a coordinate, relative to the smallest body; infinite where runs do not have the same samples.
fn difference(a: &Samples, b: &Samples) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b));
    pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / SMALLEST_BODY
}

/// Whether a scene has a material with restitution.
fn has_restitution(text: &str) -> bool {
    let values = text.lines().filter_map(|line| line.trim().strip_prefix("restitution"));
    let number = |rest: &str| rest.trim_start_matches([' ', '=']).trim().parse::<f64>().ok();
    values.filter_map(number).any(|e| e > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restitution_is_read_from_materials() {
        assert!(has_restitution("[materials.default]\nfriction = 0.5\nrestitution = 0.3\n"));
        assert!(!has_restitution("[materials.default]\nfriction = 0.5\nrestitution = 0\n"));
        assert!(!has_restitution("[materials.default]\nfriction = 0.5\n"));
    }

    #[test]
    fn friction_and_gravity_are_changed_and_nothing_else() {
        let text =
            "[world]\ngravity = [0.5, -10.0]\n[materials.default]\nfriction = 0.5\n[[joints]]\nname = \"j\"";
        let expected =
            "[world]\ngravity = [1, -20]\n[materials.default]\nfriction = 1\n[[joints]]\nname = \"j\"";
        assert_eq!(perturbed(text, 2.0), expected);
    }

    #[test]
    fn a_failed_run_is_reported_with_its_message() {
        let output = |stdout: &str, stderr: &str| ProgramOutput {
            code: Some(1),
            stdout: stdout.to_string(),
            stderr: stderr.to_string(),
        };
        let summary = r#"{"status": "failed", "message": "step at t = 0.1 s: more than 3 events"}"#;
        assert_eq!(output(summary, "a warning").message(), "step at t = 0.1 s: more than 3 events");
        assert_eq!(output("", "\nthread 'main' panicked\nat x.rs").message(), "thread 'main' panicked");
        assert_eq!(output("{\"message\": null}", "").message(), "no message");
    }

    #[test]
    fn runs_with_other_samples_differ_infinitely() {
        assert_eq!(difference(&vec![vec![0.0]], &vec![vec![SMALLEST_BODY]]), 1.0);
        assert_eq!(difference(&vec![vec![0.0]], &vec![]), f64::INFINITY);
    }
}
