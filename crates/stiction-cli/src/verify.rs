//! `stiction verify`: checks every step of a journal against its scene, without a solver.

mod clock;

use crate::residual;
use crate::run::plan::RunPlan;
use crate::{BadInput, Outcome, count, print};
use clock::{RunClock, StepTime};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use stiction::{
    Check, Finding, Level, NOT_CHECKED, Scheme, State, StepReport, Verdict, verify, verify_accuracy_run,
};
use stiction_journal::{Damage, Journal, JournalError, StepRecord};

const EXAMPLES: &str = "\
Examples:
  stiction verify run.journal
  stiction verify run.journal --json | jq .findings

Constraint rows, gaps and right-hand sides are rebuilt from the scene in the journal and the recorded states, and the
recorded impulses are checked against them. Nothing is solved. Residuals are judged by tolerances of this program, not by
those of the journal: 1e-8, and 1e-10 for schemes of second order and runs to an accuracy.";

/// Largest residual of steps of first order: the tolerance of the default scheme.
const TOLERANCE: f64 = 1e-8;

/// Largest residual of schemes of second order and of runs to an accuracy.
const SECOND_ORDER_TOLERANCE: f64 = 1e-10;

/// Largest value of `--tolerance`. A residual of 1 is that of no contact force at all.
const MAX_TOLERANCE: f64 = 1e-2;

/// Reason why a step is not verifiable whose inputs were set between steps.
const FOREIGN_INPUTS: &str =
    "inputs are not those of the scene: who set them, and when, is not in the journal";

/// Number of findings that the text lists; the JSON lists all.
const LISTED_FINDINGS: usize = 20;

/// Check every step of a journal without the solver: which checks fail, where and by how much.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct VerifyArguments {
    /// Journal
    journal: PathBuf,
    /// Largest residual that still counts as holding, instead of 1e-8, or of 1e-10 for second order; a journal that holds
    /// only by this gives exit code 4
    #[arg(long, value_name = "RESIDUAL", allow_negative_numbers = true)]
    tolerance: Option<f64>,
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
    /// Steps that hold only by the loosened tolerance.
    loosened: usize,
    /// Largest residual of steps that hold.
    tolerance: f64,
    /// Loosened tolerance, where one is given.
    loosened_tolerance: Option<f64>,
    /// Time of the last state [s].
    end: f64,
    /// End time that the header asks for [s].
    until: f64,
    /// End time of the scene [s].
    scene_end: f64,
    /// `true` where the journal reaches its end time.
    finished: bool,
    /// Settings of the header that neither the scene nor the command line gives.
    foreign_settings: Option<&'static str>,
    /// First input that was set from outside, in words.
    first_input: Option<String>,
    /// Parts of the records that no check covers.
    not_checked: [&'static str; NOT_CHECKED.len()],
    /// Reasons why checks could not be made, with the number of steps.
    reasons: BTreeMap<String, usize>,
    /// Steps recorded as above the tolerance of the run.
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
    let mut plan = RunPlan::of_journal(&arguments.journal, journal.header())?;
    let format = journal.format();
    let scheme = plan.scheme_name();
    let mut judge = Judge::new(&mut plan, arguments.tolerance)?;
    let mut report = VerifyReport::new(arguments.journal.display().to_string(), scheme, &plan, &judge);
    let mut clock = RunClock::new(&plan, format);
    let mut before = journal.start().clone();
    let mut last: Option<(State, StepReport)> = None;
    report.check_start(&plan, &before);
    for record in &mut journal {
        let record = record.map_err(bad)?;
        let (mut verdict, loosened) = judge.verdict(&plan, &before, &record, format);
        match clock.pass(record.state.t, record.report.h) {
            StepTime::Fits => {}
            StepTime::Wrong(what) => verdict.findings.push(record_finding(&what)),
            StepTime::NotKnown(why) => verdict.unverifiable.push(why.to_string()),
        }
        let has_none = plan.header.accuracy.is_some() || matches!(plan.scheme.level, Level::Trapezoidal(_));
        if !has_none && format >= LEDGER_FORMAT && record.report.ledger.is_none() {
            verdict.findings.push(record_finding("a step of first order without its energy ledger"));
        }
        let known = last.as_ref().map(|(before, report)| (before, report));
        if let Some(what) = plan.foreign_input((&before, &record.state), known) {
            verdict.unverifiable.push(FOREIGN_INPUTS.to_string());
            report.first_input.get_or_insert(what);
        }
        report.add(&record, verdict, loosened);
        let earlier = std::mem::replace(&mut before, record.state);
        last = (!plan.controls.is_empty()).then_some((earlier, record.report));
    }
    report.damage = journal.damage();
    report.end = clock.end;
    report.finished = clock.is_finished() && report.damage.is_none();
    print(&if arguments.json { crate::to_json(&report)? } else { report.text() })?;
    Ok(report.outcome())
}

/// Judge of a journal: its own tolerance, and a loosened one.
struct Judge {
    tolerance: f64,
    loosened: Option<f64>,
}

impl Judge {
    /// Judge of a run. The tolerances of its header are replaced.
    fn new(plan: &mut RunPlan, wanted: Option<f64>) -> Result<Self, BadInput> {
        let second_order =
            plan.header.accuracy.is_some() || matches!(plan.scheme.level, Level::Trapezoidal(_));
        let own = if second_order { SECOND_ORDER_TOLERANCE } else { TOLERANCE };
        if let Some(wanted) = wanted {
            let [least, _] = Scheme::TOLERANCES;
            if !(wanted >= least && wanted <= MAX_TOLERANCE) {
                return Err(BadInput(format!(
                    "--tolerance {wanted}: write a residual from {least:e} to {MAX_TOLERANCE:e}"
                )));
            }
        }
        let tolerance = wanted.unwrap_or(own).min(own);
        (plan.scheme.solver.tolerance, plan.scheme.solver.loosest) = (tolerance, 0.0);
        Ok(Self { tolerance, loosened: wanted.filter(|wanted| *wanted > own) })
    }

    /// Verdict on a recorded step that starts at `before`, and whether it holds only by the loosened tolerance.
    fn verdict(
        &mut self,
        plan: &RunPlan,
        before: &State,
        record: &StepRecord,
        format: u32,
    ) -> (Verdict, bool) {
        let judged = |tolerance: f64| {
            let mut scheme = plan.scheme;
            scheme.solver.tolerance = tolerance;
            let mut verdict = verify_record(plan, &scheme, before, record);
            if verdict.without_forces {
                verdict.unverifiable.push("no forces of contacts and joints are recorded".to_string());
            }
            if format < SUMMARY_FORMAT {
                // its records have no such figures
                verdict.findings.retain(|finding| finding.check != Check::Summary);
            }
            verdict
        };
        let verdict = judged(self.tolerance);
        match self.loosened {
            Some(tolerance) if !verdict.findings.is_empty() => {
                let other = judged(tolerance);
                if other.findings.is_empty() { (other, true) } else { (verdict, false) }
            }
            _ => (verdict, false),
        }
    }
}

/// First format whose records have an energy ledger.
const LEDGER_FORMAT: u32 = 5;

/// First format whose records have all the figures of a summary.
const SUMMARY_FORMAT: u32 = 3;

/// Verifies a recorded step that starts at `before`.
fn verify_record(plan: &RunPlan, scheme: &Scheme, before: &State, record: &StepRecord) -> Verdict {
    let StepRecord { state: after, report, accuracy: recorded } = record;
    match (&plan.header.accuracy, recorded) {
        (Some(accuracy), Some(recorded)) => {
            verify_accuracy_run(&plan.model, scheme, accuracy, before, after, report, recorded)
        }
        (None, None) => verify(&plan.model, scheme, before, after, report),
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
    fn new(journal: String, scheme: String, plan: &RunPlan, judge: &Judge) -> Self {
        Self {
            journal,
            scene: plan.header.name.clone(),
            scheme,
            steps: 0,
            verified: 0,
            failed: 0,
            not_verifiable: 0,
            loosened: 0,
            tolerance: judge.tolerance,
            loosened_tolerance: judge.loosened,
            end: plan.start.t,
            until: plan.header.until,
            scene_end: plan.scene_end,
            finished: false,
            foreign_settings: plan.foreign,
            first_input: None,
            not_checked: NOT_CHECKED,
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

    /// Outcome: findings first, then what cannot be judged, then what holds loosely, then a run that goes on.
    fn outcome(&self) -> Outcome {
        let damaged = self.damage.is_some_and(|d| !d.is_torn());
        if self.failed > 0 || damaged {
            Outcome::NotSolved
        } else if self.not_verifiable > 0 || self.foreign_settings.is_some() {
            Outcome::NotVerifiable
        } else if self.loosened > 0 {
            Outcome::HoldsLoosely
        } else if self.finished {
            Outcome::Solved
        } else {
            Outcome::Unfinished
        }
    }

    fn add(&mut self, record: &StepRecord, verdict: Verdict, loosened: bool) {
        self.steps += 1;
        self.loosened += usize::from(loosened);
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
        let Self { tolerance, end, until, scene_end, .. } = self;
        line(format!("judged by the tolerance {tolerance:e} of this program, whatever the journal says"));
        if let Some(loosened) = self.loosened_tolerance {
            let held = count(self.loosened, "step holds", "steps hold");
            line(format!("{held} only by the loosened tolerance {loosened:e}"));
        }
        if let Some(settings) = self.foreign_settings {
            line(format!("not verifiable: the header has {settings}"));
        }
        if !self.finished {
            line(format!("unfinished: it ends at {end} s, the run was to end at {until} s"));
        }
        if until != scene_end {
            line(format!("the run was to end at {until} s, the scene asks for {scene_end} s"));
        }
        for (reason, n) in &self.reasons {
            line(format!("not verifiable: {reason} ({})", count(*n, noun[0], noun[1])));
        }
        if let Some(what) = &self.first_input {
            line(what.clone());
        }
        if self.loose > 0 {
            let steps = count(self.loose, "step is", "steps are");
            line(format!("{steps} recorded as above the tolerance of the run"));
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
        for part in self.not_checked {
            line(format!("not checked: {part}"));
        }
        text
    }
}
