//! Summary of a run: energy, worst residuals, counters and files, as text and JSON.

use super::intervals::{self, ContactBounds};
use super::plan::RunPlan;
use crate::count;
use crate::residual;
use serde::Serialize;
use std::fmt::Write;
use stiction::{EnergyLedger, StepReport};
use stiction_journal::StepRecord;

/// Summary of a run, as `--json` prints it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunSummary {
    scene: String,
    title: String,
    scheme: String,
    /// Step size, or interval between records of a run to an accuracy [s].
    h: f64,
    accuracy: Option<f64>,
    /// `finished`, `interrupted`, `failed` or `not written`.
    pub(crate) status: &'static str,
    /// Reason why it did not finish.
    pub(crate) message: Option<String>,
    steps: usize,
    /// Steps that were in the journal before.
    resumed: usize,
    /// Start time [s].
    start: f64,
    /// Time reached [s].
    end: f64,
    /// End time asked for [s].
    until: f64,
    energy: Energy,
    /// Energy ledger of all steps that have one.
    ledger: EnergyLedger,
    /// Linear momentum at the end [N s].
    linear_momentum: [f64; 3],
    /// Angular momentum about the origin at the end [N m s].
    angular_momentum: [f64; 3],
    /// Largest penetration or joint error [m].
    infeasibility: Peak,
    /// Largest penetration or joint error before post-stabilization [m].
    before_stabilization: Peak,
    /// Worst residual of a certificate.
    certificate: Peak,
    /// Steps whose residual is above the tolerance, but within the loosest one of the scheme.
    loose: usize,
    /// Steps that were made as halves, because they did not reach the tolerance.
    halved: usize,
    /// Halvings in them.
    halvings: usize,
    /// Complementarity problems solved; for second-order schemes also systems of equations.
    problems: usize,
    /// Largest number of contacts in a step.
    contacts: usize,
    events: usize,
    /// Steps of first order among them, where events could not be located.
    first_order_steps: usize,
    /// Forces of the contacts in the last step with their bounds, if they were asked for.
    intervals: Option<Vec<ContactBounds>>,
    /// Wall time [s].
    wall_time: f64,
    /// Simulated time over wall time.
    real_time_factor: f64,
    pub(crate) journal: String,
    /// Other files written.
    pub(crate) files: Vec<String>,
}

/// Energies [J].
#[derive(Debug, Clone, Copy, Serialize)]
struct Energy {
    start: f64,
    end: f64,
    kinetic: f64,
    potential: f64,
    largest: f64,
}

/// Largest value, and its time [s].
#[derive(Debug, Clone, Copy, Serialize)]
struct Peak {
    value: f64,
    t: f64,
}

impl Peak {
    fn raise(&mut self, value: f64, t: f64) {
        if !(value <= self.value) {
            *self = Self { value, t };
        }
    }
}

impl RunSummary {
    /// Summary before the first step.
    pub(crate) fn new(plan: &RunPlan, start: &StepReport) -> Self {
        let energy = start.kinetic + start.potential;
        let StepReport { t, kinetic, potential, linear_momentum, angular_momentum, .. } = *start;
        Self {
            scene: plan.header.name.clone(),
            title: plan.title.clone(),
            scheme: plan.scheme_name(),
            h: plan.header.h,
            accuracy: plan.header.accuracy.map(|a| a.tolerance),
            status: "finished",
            message: None,
            steps: 0,
            resumed: 0,
            start: t,
            end: t,
            until: plan.header.until,
            energy: Energy { start: energy, end: energy, kinetic, potential, largest: energy },
            ledger: EnergyLedger::default(),
            linear_momentum,
            angular_momentum,
            infeasibility: Peak { value: start.infeasibility, t },
            before_stabilization: Peak { value: 0.0, t },
            certificate: Peak { value: 0.0, t },
            loose: 0,
            halved: 0,
            halvings: 0,
            problems: 0,
            contacts: 0,
            events: 0,
            first_order_steps: 0,
            intervals: None,
            wall_time: 0.0,
            real_time_factor: 0.0,
            journal: String::new(),
            files: Vec::new(),
        }
    }

    /// Adds a step that was made, or one that was read from a resumed journal.
    pub(crate) fn add(&mut self, plan: &RunPlan, record: &StepRecord, resumed: bool) {
        let step = &record.report;
        self.intervals = intervals::bounds(plan, step);
        self.steps += 1;
        self.resumed += usize::from(resumed);
        self.end = step.t;
        let energy = step.kinetic + step.potential;
        self.energy = Energy {
            end: energy,
            kinetic: step.kinetic,
            potential: step.potential,
            largest: self.energy.largest.max(energy),
            ..self.energy
        };
        if let Some(ledger) = step.ledger {
            self.ledger += ledger;
        }
        (self.linear_momentum, self.angular_momentum) = (step.linear_momentum, step.angular_momentum);
        self.infeasibility.raise(step.infeasibility, step.t);
        if let Some(stabilization) = &step.stabilization {
            self.before_stabilization.raise(stabilization.before, step.t);
        }
        self.certificate.raise(step.certificate.worst(), step.t);
        self.loose += usize::from(step.work.loose > 0);
        self.halved += usize::from(step.work.halvings > 0);
        self.halvings += step.work.halvings;
        self.problems += step.work.problems + record.accuracy.as_ref().map_or(0, |a| a.solves);
        self.problems += step.second_order.map_or(0, |s| s.solves.saturating_sub(step.work.problems));
        self.contacts = self.contacts.max(step.contacts.len());
        let is_first_order = |e: &&stiction::Event| e.kind == stiction::EventKind::FirstOrder;
        let first_order = step.events.iter().filter(is_first_order).count();
        self.first_order_steps += first_order;
        self.events += step.events.len() - first_order;
    }

    /// Sets the wall time of the steps since time `from` [s].
    pub(crate) fn set_wall_time(&mut self, wall_time: f64, from: f64) {
        self.wall_time = wall_time;
        self.real_time_factor = (self.end - from) / wall_time.max(1e-9);
    }

    /// Time reached [s].
    pub(crate) fn end(&self) -> f64 {
        self.end
    }

    /// Text for the terminal.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let mut line = |label: &str, value: String| {
            let _ = writeln!(text, "  {label:<14}{value}");
        };
        let sizes = match self.accuracy {
            Some(accuracy) => format!("to an accuracy of {accuracy:e}, recorded every {} s", self.h),
            None => format!("steps of {} s", self.h),
        };
        line("scheme", format!("{}, {sizes}", self.scheme));
        let resumed = if self.resumed > 0 {
            format!(", {} of them from the resumed journal", self.resumed)
        } else {
            String::new()
        };
        let what = if self.accuracy.is_some() { ["interval", "intervals"] } else { ["step", "steps"] };
        let steps = count(self.steps, what[0], what[1]);
        line("time", format!("{} to {} s in {steps}{resumed}", number(self.start), number(self.end)));
        if self.status != "finished" {
            line("status", format!("{} at {} s of {} s", self.status, number(self.end), number(self.until)));
        }
        if let Some(message) = &self.message {
            line("", message.clone());
        }
        let Energy { start, end, kinetic, potential, .. } = self.energy;
        line(
            "energy",
            format!("{start:.6} to {end:.6} J, {kinetic:.6} J of it kinetic and {potential:.6} J potential"),
        );
        if self.ledger != EnergyLedger::default() {
            let [_, parts @ .., _] = self.ledger.entries();
            let parts = parts.map(|(name, work)| format!("{name} {work:+.6}"));
            line("work", format!("{} J", parts.join(", ")));
        }
        line(
            "momentum",
            format!("{} N s, {} N m s", vector(self.linear_momentum), vector(self.angular_momentum)),
        );
        let Peak { value, t } = self.infeasibility;
        line("penetration", format!("or joint error: at most {} m, at {} s", residual(value), number(t)));
        let Peak { value, t } = self.before_stabilization;
        if value > 0.0 {
            line("", format!("before post-stabilization at most {} m, at {} s", residual(value), number(t)));
        }
        let Peak { value, t } = self.certificate;
        line("certificate", format!("worst residual {}, at {} s", residual(value), number(t)));
        if self.loose > 0 {
            let steps = count(self.loose, "step is", "steps are");
            line("", format!("{steps} above the tolerance and within the loosest one of the scheme"));
        }
        if self.halved > 0 {
            let steps = count(self.halved, "step was", "steps were");
            let halvings = count(self.halvings, "halving", "halvings");
            line("halved", format!("{steps} made as smaller ones, to reach the tolerance: {halvings}"));
        }
        let problems = count(self.problems, "problem", "problems");
        // contacts open and close within an interval of a run to an accuracy: those at samples are counted
        let place = if self.accuracy.is_some() { "at a sample" } else { "in a step" };
        let contacts = format!(", at most {} {place}", count(self.contacts, "contact", "contacts"));
        let events = if self.events > 0 {
            format!(", {} located", count(self.events, "event", "events"))
        } else {
            String::new()
        };
        line("solved", format!("{problems}{contacts}{events}"));
        if self.first_order_steps > 0 {
            let steps = count(self.first_order_steps, "step", "steps");
            line("coarse", format!("{steps} of first order, where events could not be located"));
        }
        for (k, own) in self.intervals.iter().flat_map(|all| intervals::lines(all)).enumerate() {
            line(if k == 0 { "intervals" } else { "" }, own);
        }
        line("took", format!("{:.3} s, {:.2} times real time", self.wall_time, self.real_time_factor));
        line("journal", self.journal.clone());
        for file in &self.files {
            line("written", file.clone());
        }
        text
    }
}

/// Time without trailing zeros.
fn number(x: f64) -> String {
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn vector(v: [f64; 3]) -> String {
    // no minus sign in front of a value that rounds to zero
    let [x, y, z] = v.map(|x| format!("{x:.4}").replace("-0.0000", "0.0000"));
    format!("({x}, {y}, {z})")
}
