//! What a run came to.

use super::plan::Plan;
use crate::count;
use crate::residual;
use serde::Serialize;
use std::fmt::Write;
use stiction::StepReport;
use stiction_journal::Step;

/// What a run came to.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    scene: String,
    title: String,
    scheme: String,
    /// Size of a step [s]; of a stretch where an accuracy was followed.
    h: f64,
    accuracy: Option<f64>,
    /// `finished`, `interrupted`, `failed` or `not written`.
    pub(crate) status: &'static str,
    /// Why it did not finish.
    pub(crate) message: Option<String>,
    steps: usize,
    /// Steps that a journal already had.
    resumed: usize,
    /// Time at the start, at the end, and when it was to end [s].
    start: f64,
    end: f64,
    until: f64,
    energy: Energy,
    /// At the end [N s; N m s].
    linear_momentum: [f64; 3],
    angular_momentum: [f64; 3],
    /// Largest penetration or joint error [m], and when [s].
    infeasibility: Peak,
    /// Worst residual of a certificate, and when [s].
    certificate: Peak,
    /// Steps whose answer does not hold to the tolerance, but to the loosest one of the scheme.
    loose: usize,
    /// Complementarity problems solved, and for an accuracy sets of equations.
    problems: usize,
    /// Most contacts of a step.
    contacts: usize,
    events: usize,
    /// What took how long [s].
    pub(crate) wall_time: f64,
    /// Simulated time over that.
    pub(crate) real_time_factor: f64,
    pub(crate) journal: String,
    /// What was made of it.
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

/// A largest value, and when.
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

impl Summary {
    /// Of a run that has not begun.
    pub(crate) fn new(plan: &Plan, start: &StepReport) -> Self {
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
            linear_momentum,
            angular_momentum,
            infeasibility: Peak { value: start.infeasibility, t },
            certificate: Peak { value: 0.0, t },
            loose: 0,
            problems: 0,
            contacts: 0,
            events: 0,
            wall_time: 0.0,
            real_time_factor: 0.0,
            journal: String::new(),
            files: Vec::new(),
        }
    }

    /// After a step, or from a record of one.
    pub(crate) fn add(&mut self, step: &Step, resumed: bool) {
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
        (self.linear_momentum, self.angular_momentum) = (step.linear_momentum, step.angular_momentum);
        self.infeasibility.raise(step.infeasibility, step.t);
        self.certificate.raise(step.worst(), step.t);
        self.loose += usize::from(step.work.loose > 0);
        self.problems += step.work.problems + step.followed.map_or(0, |f| f.solves);
        self.problems += step.second_order.map_or(0, |s| s.solves.saturating_sub(step.work.problems));
        self.contacts = self.contacts.max(step.contacts.len());
        self.events += step.events.len();
    }

    /// Simulated time since a state that was there at the start [s].
    pub(crate) fn simulated(&self, from: f64) -> f64 {
        self.end - from
    }

    /// Time now [s].
    pub(crate) fn end(&self) -> f64 {
        self.end
    }

    /// In words.
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
        let resumed =
            if self.resumed > 0 { format!(", {} of them before", self.resumed) } else { String::new() };
        let what = if self.accuracy.is_some() { ["stretch", "stretches"] } else { ["step", "steps"] };
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
        line(
            "momentum",
            format!("{} N s, {} N m s", vector(self.linear_momentum), vector(self.angular_momentum)),
        );
        let Peak { value, t } = self.infeasibility;
        line("penetration", format!("or joint error at most {} m, at {} s", residual(value), number(t)));
        let Peak { value, t } = self.certificate;
        line("certificate", format!("at worst {}, at {} s", residual(value), number(t)));
        if self.loose > 0 {
            line("", format!("{} above the tolerance", count(self.loose, "step is", "steps are")));
        }
        let problems = count(self.problems, "problem", "problems");
        // where an accuracy was followed, contacts come and go within a stretch and are not counted
        let contacts = match self.accuracy {
            Some(_) => String::new(),
            None => format!(", {} at most in one step", count(self.contacts, "contact", "contacts")),
        };
        let events = if self.events > 0 {
            format!(", {} located", count(self.events, "event", "events"))
        } else {
            String::new()
        };
        line("solved", format!("{problems}{contacts}{events}"));
        line(
            "took",
            format!("{:.3} s, {:.2} times as fast as real time", self.wall_time, self.real_time_factor),
        );
        line("journal", self.journal.clone());
        for file in &self.files {
            line("written", file.clone());
        }
        text
    }
}

/// A time with no more digits than it has.
fn number(x: f64) -> String {
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn vector(v: [f64; 3]) -> String {
    // what is rounded to zero has no sign
    let [x, y, z] = v.map(|x| format!("{x:.4}").replace("-0.0000", "0.0000"));
    format!("({x}, {y}, {z})")
}
