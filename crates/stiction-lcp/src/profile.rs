//! Where the time of a step goes, for those who ask.

use serde::Serialize;
use std::time::Instant;

/// A part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Forces, momentum and what surfaces sweep.
    Forces,
    /// The search for contacts.
    Detection,
    /// Joint rows.
    Joints,
    /// Contacts that follow from others.
    Reduction,
    /// Rows and impulses of the last step become a step problem.
    Assembly,
    /// The check of the problem, the masses factored, the mobility of its rows.
    Preparation,
    /// Velocities and residuals of candidates.
    Certificate,
    /// The methods that solve it, but for factorizations.
    Methods,
    /// Factorizations of the structured methods, with the assembly of their matrices.
    Factorization,
    /// Positions mended after the step, all told.
    PostStabilization,
    /// The state advanced and the report written.
    Report,
}

impl Phase {
    /// All of them, in the order of a step.
    pub const ALL: [Self; 11] = [
        Self::Forces,
        Self::Detection,
        Self::Joints,
        Self::Reduction,
        Self::Assembly,
        Self::Preparation,
        Self::Certificate,
        Self::Methods,
        Self::Factorization,
        Self::PostStabilization,
        Self::Report,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forces => "forces",
            Self::Detection => "detection",
            Self::Joints => "joint rows",
            Self::Reduction => "reduction",
            Self::Assembly => "assembly",
            Self::Preparation => "preparation",
            Self::Certificate => "certificate",
            Self::Methods => "methods",
            Self::Factorization => "factorization",
            Self::PostStabilization => "post-stabilization",
            Self::Report => "report",
        }
    }
}

/// The time spent in each phase. One that is not running, which is the default, reads no clock.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    running: Option<Running>,
    seconds: [f64; Phase::ALL.len()],
}

#[derive(Debug, Clone, Copy)]
struct Running {
    /// Since when the phase is under way.
    since: Instant,
    phase: Phase,
    /// Whether what the phase does is all its own.
    held: bool,
}

impl Profile {
    /// Starts to measure, from nothing.
    pub fn start(&mut self) {
        self.seconds = [0.0; Phase::ALL.len()];
        self.running = Some(Running { since: Instant::now(), phase: Phase::Report, held: false });
    }

    /// Ends the measurement.
    pub fn stop(&mut self) {
        self.enter(Phase::Report);
        self.running = None;
    }

    /// `true` between start and stop.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The time spent in a phase [s].
    pub fn seconds(&self, phase: Phase) -> f64 {
        self.seconds[phase as usize]
    }

    /// What follows belongs to this phase; returns the one before.
    pub fn enter(&mut self, phase: Phase) -> Phase {
        let Some(running) = &mut self.running else { return phase };
        let before = running.phase;
        if !running.held {
            let now = Instant::now();
            self.seconds[before as usize] += (now - running.since).as_secs_f64();
            (running.since, running.phase) = (now, phase);
        }
        before
    }

    /// What follows belongs to this phase, whatever it enters, until it is released.
    pub fn hold(&mut self, phase: Phase) {
        self.enter(phase);
        self.set_held(true);
    }

    /// The end of what was held; the report follows.
    pub fn release(&mut self) {
        self.set_held(false);
        self.enter(Phase::Report);
    }

    fn set_held(&mut self, held: bool) {
        if let Some(running) = &mut self.running {
            running.held = held;
        }
    }

    /// Time [s] that was measured elsewhere as part of the phase under way belongs to another.
    pub(crate) fn reassign(&mut self, phase: Phase, seconds: f64) {
        if let Some(running) = self.running.filter(|r| !r.held) {
            self.seconds[running.phase as usize] -= seconds;
            self.seconds[phase as usize] += seconds;
        }
    }
}
