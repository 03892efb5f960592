//! `stiction verify`: a journal, checked without the solver.

use crate::residual;
use crate::run::plan::Plan;
use crate::{BadInput, Outcome, count, print};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::{Check, Finding, Verdict, verify, verify_accuracy_run};
use stiction_journal::{Damage, Journal, JournalError, Step};

const EXAMPLES: &str = "\
Examples:
  stiction verify run.journal
  stiction verify run.journal --json | jq .findings

Rows, gaps and right-hand sides are rebuilt from the scene in the journal and the recorded states; the recorded
impulses are judged against them. Nothing is solved.";

/// Findings that are printed in words; all of them are in the JSON.
const SHOWN: usize = 20;

/// Check every step of a journal without the solver: which fail which certificate, and by how much.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct Arguments {
    /// The journal
    journal: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What was found.
#[derive(Serialize)]
struct Report {
    journal: String,
    scene: String,
    scheme: String,
    steps: usize,
    /// Steps of which all holds.
    verified: usize,
    /// Steps of which something does not.
    failed: usize,
    /// Steps of which something cannot be told, and nothing else does not hold.
    not_verifiable: usize,
    /// Why, and how often.
    reasons: BTreeMap<String, usize>,
    /// Steps that are said to be above the tolerance, and are within the loosest one.
    loose: usize,
    /// Contacts that the scheme left out without proof.
    limited: usize,
    /// The worst recomputed residual.
    worst: f64,
    /// The accuracy asked for, for runs that follow one.
    accuracy: Option<f64>,
    /// Steps to that accuracy, in all stretches, with the estimate of the error of each.
    estimates: usize,
    damage: Option<Damage>,
    findings: Vec<Failure>,
}

/// A finding with its step.
#[derive(Serialize)]
struct Failure {
    /// From 1; 0 is the start.
    step: usize,
    t: f64,
    #[serde(flatten)]
    finding: Finding,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let said = |error: JournalError| BadInput(error.to_string());
    let mut journal = match Journal::open(&arguments.journal) {
        Ok(journal) => journal,
        Err(JournalError::Damaged { path, damage }) => {
            print(&format!("{}: {damage}\n", path.display()))?;
            return Ok(Outcome::NotSolved);
        }
        Err(error) => return Err(said(error)),
    };
    let plan = Plan::of_journal(&arguments.journal, journal.header())?;
    let mut report = Report {
        journal: arguments.journal.display().to_string(),
        scene: plan.header.name.clone(),
        scheme: plan.scheme_name(),
        steps: 0,
        verified: 0,
        failed: 0,
        not_verifiable: 0,
        reasons: BTreeMap::new(),
        loose: 0,
        limited: 0,
        worst: 0.0,
        damage: None,
        estimates: 0,
        accuracy: plan.header.accuracy.map(|a| a.tolerance),
        findings: Vec::new(),
    };
    let mut before = journal.start().clone();
    if before != plan.start {
        let place = "the start is not that of the scene".to_string();
        let finding = Finding { check: Check::Record, place, value: f64::NAN, limit: 0.0 };
        report.findings.push(Failure { step: 0, t: before.t, finding });
        report.failed += 1;
    }
    for step in &mut journal {
        let step = step.map_err(said)?;
        let after = step.state();
        let verdict = match (&plan.header.accuracy, &step.followed) {
            (Some(accuracy), Some(followed)) => {
                report.estimates += followed.steps;
                verify_accuracy_run(
                    &plan.model,
                    &plan.scheme,
                    accuracy,
                    &before,
                    &after,
                    &step.report(),
                    &followed.report(accuracy),
                )
            }
            (None, None) => verify(&plan.model, &plan.scheme, &before, &after, &step.report()),
            (asked, _) => {
                let asked = if asked.is_some() { "a stretch" } else { "a step of one size" };
                let place = format!("{asked} was asked for, and something else is recorded");
                let finding = Finding { check: Check::Record, place, value: f64::NAN, limit: 0.0 };
                Verdict { findings: vec![finding], ..Verdict::default() }
            }
        };
        report.add(&step, verdict);
        before = after;
    }
    report.damage = journal.damage();
    print(&if arguments.json { crate::to_json(&report)? } else { report.text() })?;
    let damaged = report.damage.is_some_and(|d| !d.is_torn());
    Ok(match report {
        Report { failed: 0, not_verifiable: 0, .. } if !damaged => Outcome::Solved,
        Report { failed: 0, .. } if !damaged => Outcome::NotVerifiable,
        _ => Outcome::NotSolved,
    })
}

impl Report {
    fn add(&mut self, step: &Step, verdict: Verdict) {
        self.steps += 1;
        self.worst = self.worst.max(verdict.certificate.worst());
        self.loose += usize::from(verdict.loose);
        self.limited += verdict.limited;
        if !verdict.findings.is_empty() {
            self.failed += 1;
        } else if verdict.unverifiable.is_empty() {
            self.verified += 1;
        } else {
            self.not_verifiable += 1;
        }
        for why in verdict.unverifiable {
            *self.reasons.entry(why).or_default() += 1;
        }
        let number = self.steps;
        let failure = |finding| Failure { step: number, t: step.t, finding };
        self.findings.extend(verdict.findings.into_iter().map(failure));
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}, {}\n", self.journal, self.scene, self.scheme);
        let what = if self.accuracy.is_some() { ["stretch", "stretches"] } else { ["step", "steps"] };
        let steps = count(self.steps, what[0], what[1]);
        if self.failed == 0 && self.not_verifiable == 0 {
            let _ = writeln!(
                text,
                "  {steps} verified without the solver, worst residual {}",
                residual(self.worst)
            );
            if let Some(accuracy) = self.accuracy {
                let made = count(self.estimates, "step", "steps");
                let _ = writeln!(
                    text,
                    "  made of {made}; the estimate of the error of each was formed again and is at most {accuracy:e}"
                );
                text.push_str("  how far estimates are from true errors is not verified\n");
            }
        } else {
            let _ = writeln!(
                text,
                "  {steps}: {} verified, {} failed, {} not verifiable",
                self.verified, self.failed, self.not_verifiable
            );
        }
        for (why, n) in &self.reasons {
            let _ = writeln!(text, "  not verifiable: {why} ({})", count(*n, what[0], what[1]));
        }
        if self.loose > 0 {
            let steps = count(self.loose, "step is", "steps are");
            let _ = writeln!(
                text,
                "  {steps} above the tolerance, as the journal says, and within the loosest one"
            );
        }
        if self.limited > 0 {
            let contacts = count(self.limited, "contact was", "contacts were");
            let _ = writeln!(
                text,
                "  {contacts} left out by the limit of the scheme, which promises nothing of them"
            );
        }
        if let Some(damage) = &self.damage {
            let _ = writeln!(text, "  {damage}");
        }
        for Failure { step, t, finding } in self.findings.iter().take(SHOWN) {
            let Finding { check, place, value, limit } = finding;
            let _ = write!(text, "  {} {step}, {t:.6} s: {check}: {place}", what[0]);
            if value.is_nan() {
                text.push('\n');
            } else {
                let _ = writeln!(text, ": {value:.3e}, at most {limit:.1e}");
            }
        }
        if self.findings.len() > SHOWN {
            let _ = writeln!(text, "  and {} more: --json lists all", self.findings.len() - SHOWN);
        }
        text
    }
}
