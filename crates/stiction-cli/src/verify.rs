//! `stiction verify`: checks every step of a journal against its scene, without a solver.

use crate::residual;
use crate::run::plan::RunPlan;
use crate::{BadInput, Outcome, count, print};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::{Check, Finding, State, Verdict, verify, verify_accuracy_run};
use stiction_journal::{Damage, Journal, JournalError, StepRecord};

const EXAMPLES: &str = "\
Examples:
  stiction verify run.journal
  stiction verify run.journal --json | jq .findings

Constraint rows, gaps and right-hand sides are rebuilt from the scene in the journal and the recorded states, and the
recorded impulses are checked against them. Nothing is solved.";

/// Number of findings that the text lists; the JSON lists all.
const LISTED_FINDINGS: usize = 20;

/// Check every step of a journal without the solver: which checks fail, where and by how much.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct VerifyArguments {
    /// Journal
    journal: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Result of the verification, as `--json` prints it.
#[derive(Serialize)]
struct VerifyReport {
    journal: String,
    scene: String,
    scheme: String,
    steps: usize,
    /// Steps for which every check passes.
    verified: usize,
    /// Steps for which a check fails.
    failed: usize,
    /// Steps for which no check fails, but some cannot be made.
    not_verifiable: usize,
    /// Reasons why checks could not be made, with the number of steps.
    reasons: BTreeMap<String, usize>,
    /// Steps recorded as above the tolerance and within the loosest one.
    loose: usize,
    /// Contacts that the scheme left out without proof.
    limited: usize,
    /// Intervals of a run to an accuracy without recorded forces.
    without_forces: usize,
    /// Worst recomputed residual.
    worst: f64,
    /// Error tolerance of a run to an accuracy.
    accuracy: Option<f64>,
    /// Adaptive steps of a run to an accuracy, whose error estimates were recomputed.
    estimates: usize,
    damage: Option<Damage>,
    findings: Vec<StepFinding>,
}

/// Failed check of a step.
#[derive(Serialize)]
struct StepFinding {
    /// Number of the step, from 1; 0 is the start.
    step: usize,
    t: f64,
    #[serde(flatten)]
    finding: Finding,
}

/// Runs the command.
pub(crate) fn run(arguments: &VerifyArguments) -> Result<Outcome, BadInput> {
    let bad = |error: JournalError| BadInput(error.to_string());
    let mut journal = match Journal::open(&arguments.journal) {
        Ok(journal) => journal,
        Err(JournalError::Damaged { path, damage }) => {
            print(&format!("{}: {damage}\n", path.display()))?;
            return Ok(Outcome::NotSolved);
        }
        Err(error) => return Err(bad(error)),
    };
    let plan = RunPlan::of_journal(&arguments.journal, journal.header())?;
    let mut report = VerifyReport::new(arguments.journal.display().to_string(), &plan);
    let mut before = journal.start().clone();
    report.check_start(&plan, &before);
    for record in &mut journal {
        let record = record.map_err(bad)?;
        report.add(&record, verify_record(&plan, &before, &record));
        before = record.state;
    }
    report.damage = journal.damage();
    print(&if arguments.json { crate::to_json(&report)? } else { report.text() })?;
    let damaged = report.damage.is_some_and(|d| !d.is_torn());
    Ok(match report {
        VerifyReport { failed: 0, not_verifiable: 0, .. } if !damaged => Outcome::Solved,
        VerifyReport { failed: 0, .. } if !damaged => Outcome::NotVerifiable,
        _ => Outcome::NotSolved,
    })
}

/// Verifies a recorded step that starts at `before`.
fn verify_record(plan: &RunPlan, before: &State, record: &StepRecord) -> Verdict {
    let StepRecord { state: after, report, accuracy: recorded } = record;
    match (&plan.header.accuracy, recorded) {
        (Some(accuracy), Some(recorded)) => {
            verify_accuracy_run(&plan.model, &plan.scheme, accuracy, before, after, report, recorded)
        }
        (None, None) => verify(&plan.model, &plan.scheme, before, after, report),
        (Some(_), None) => {
            mismatch("the header asks for an accuracy, but the record is a step of fixed size")
        }
        (None, Some(_)) => {
            mismatch("the header asks for steps of fixed size, but the record is an adaptive one")
        }
    }
}

/// Verdict on a record that is not one of its run.
fn mismatch(place: &str) -> Verdict {
    Verdict { findings: vec![record_finding(place)], ..Verdict::default() }
}

/// Finding without a value: the record does not belong to its run.
fn record_finding(place: &str) -> Finding {
    Finding { check: Check::Record, place: place.to_string(), value: f64::NAN, limit: 0.0 }
}

impl VerifyReport {
    fn new(journal: String, plan: &RunPlan) -> Self {
        Self {
            journal,
            scene: plan.header.name.clone(),
            scheme: plan.scheme_name(),
            steps: 0,
            verified: 0,
            failed: 0,
            not_verifiable: 0,
            reasons: BTreeMap::new(),
            loose: 0,
            limited: 0,
            without_forces: 0,
            worst: 0.0,
            damage: None,
            estimates: 0,
            accuracy: plan.header.accuracy.map(|a| a.tolerance),
            findings: Vec::new(),
        }
    }

    /// Checks that the run starts as the scene does.
    fn check_start(&mut self, plan: &RunPlan, start: &State) {
        if *start != plan.start {
            let finding = record_finding("the recorded start state is not that of the scene");
            self.findings.push(StepFinding { step: 0, t: start.t, finding });
            self.failed += 1;
        }
    }

    fn add(&mut self, record: &StepRecord, verdict: Verdict) {
        self.steps += 1;
        self.worst = self.worst.max(verdict.certificate.worst());
        self.loose += usize::from(verdict.loose);
        self.limited += verdict.limited;
        self.without_forces += usize::from(verdict.without_forces);
        if self.accuracy.is_some() {
            self.estimates += record.accuracy.as_ref().map_or(0, |a| a.steps);
        }
        if !verdict.findings.is_empty() {
            self.failed += 1;
        } else if verdict.unverifiable.is_empty() {
            self.verified += 1;
        } else {
            self.not_verifiable += 1;
        }
        for reason in verdict.unverifiable {
            *self.reasons.entry(reason).or_default() += 1;
        }
        let (step, t) = (self.steps, record.state.t);
        self.findings.extend(verdict.findings.into_iter().map(|finding| StepFinding { step, t, finding }));
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}, scheme {}\n", self.journal, self.scene, self.scheme);
        let noun = if self.accuracy.is_some() { ["interval", "intervals"] } else { ["step", "steps"] };
        let mut line = |words: String| {
            let _ = writeln!(text, "  {words}");
        };
        let steps = count(self.steps, noun[0], noun[1]);
        if self.failed == 0 && self.not_verifiable == 0 {
            line(format!("{steps} verified without the solver, worst residual {}", residual(self.worst)));
            if let Some(accuracy) = self.accuracy {
                let made = count(self.estimates, "adaptive step", "adaptive steps");
                line(format!("{made}: each error estimate was recomputed and is at most {accuracy:e}"));
                line("true errors are not verified, only their estimates".to_string());
            }
        } else {
            let Self { verified, failed, not_verifiable, .. } = self;
            line(format!("{steps}: {verified} verified, {failed} failed, {not_verifiable} not verifiable"));
        }
        for (reason, n) in &self.reasons {
            line(format!("not verifiable: {reason} ({})", count(*n, noun[0], noun[1])));
        }
        if self.loose > 0 {
            let steps = count(self.loose, "step is", "steps are");
            line(format!(
                "{steps} above the tolerance, as recorded, and within the loosest one of the scheme"
            ));
        }
        if self.limited > 0 {
            let contacts = count(self.limited, "contact was", "contacts were");
            line(format!(
                "{contacts} left out by the scheme's limit on contacts, without proof and unchecked"
            ));
        }
        if self.without_forces > 0 {
            let intervals = count(self.without_forces, "interval has", "intervals have");
            line(format!("{intervals} no recorded forces of contacts and joints: none are checked"));
        }
        if let Some(damage) = &self.damage {
            line(format!("{damage}; the steps before it are complete"));
        }
        for StepFinding { step, t, finding } in self.findings.iter().take(LISTED_FINDINGS) {
            let Finding { check, place, value, limit } = finding;
            let numbers =
                if value.is_nan() { String::new() } else { format!(": {value:.3e}, at most {limit:.1e}") };
            line(format!("{} {step}, {t:.6} s: {check}: {place}{numbers}", noun[0]));
        }
        if self.findings.len() > LISTED_FINDINGS {
            line(format!("and {} more findings; --json lists all", self.findings.len() - LISTED_FINDINGS));
        }
        text
    }
}
