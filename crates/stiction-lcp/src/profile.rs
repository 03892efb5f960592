//! Profile of a step: the time spent in each phase, measured on request.

use serde::Serialize;
use std::time::Instant;

/// Phase of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Forces, momentum and motion bounds.
    Forces,
    /// The search for contacts.
    Detection,
    /// Joint rows.
    Joints,
    /// Removal of redundant contacts.
    Reduction,
    /// Assembly of the step problem and its warm start.
    Assembly,
    /// Check of the problem, factorization of masses, mobility of rows.
    Preparation,
    /// Velocities and residuals of candidates.
    Certificate,
    /// Methods that solve the problem, without factorizations.
    Methods,
    /// Factorizations of the structured methods, with the assembly of their matrices.
    Factorization,
    /// Unique forces of the solution, with everything that takes.
    UniqueForces,
    /// Post-stabilization of positions, with everything it calls.
    PostStabilization,
    /// Advance of the state, and the report.
    Report,
}

impl Phase {
    /// All phases, in the order of a step.
    pub const ALL: [Self; 12] = [
        Self::Forces,
        Self::Detection,
        Self::Joints,
        Self::Reduction,
        Self::Assembly,
        Self::Preparation,
        Self::Certificate,
        Self::Methods,
        Self::Factorization,
        Self::UniqueForces,
        Self::PostStabilization,
        Self::Report,
    ];

    /// Name of the phase.
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
            Self::UniqueForces => "unique forces",
            Self::PostStabilization => "post-stabilization",
            Self::Report => "report",
        }
    }
}

/// Time spent in each phase. A profile that is not running, the default, reads no clock.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    running: Option<CurrentPhase>,
    seconds: [f64; Phase::ALL.len()],
}

/// Phase that is being measured.
#[derive(Debug, Clone, Copy)]
struct CurrentPhase {
    /// Start of the phase.
    since: Instant,
    phase: Phase,
    /// Number of calls of [`Profile::hold`] without their release: phases entered below are counted to this one.
    held: usize,
}

impl Profile {
    /// Resets all times, and starts to measure.
    pub fn start(&mut self) {
        self.seconds = [0.0; Phase::ALL.len()];
        self.running = Some(CurrentPhase { since: Instant::now(), phase: Phase::Report, held: 0 });
    }

    /// Ends the measurement.
    pub fn stop(&mut self) {
        self.enter(Phase::Report);
        self.running = None;
    }

    /// `true` between [`Profile::start`] and [`Profile::stop`].
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Time spent in a phase [s].
    pub fn seconds(&self, phase: Phase) -> f64 {
        self.seconds[phase as usize]
    }

    /// Enters a phase; returns the one before.
    pub fn enter(&mut self, phase: Phase) -> Phase {
        let Some(running) = &mut self.running else { return phase };
        let before = running.phase;
        if running.held == 0 {
            let now = Instant::now();
            self.seconds[before as usize] += (now - running.since).as_secs_f64();
            (running.since, running.phase) = (now, phase);
        }
        before
    }

    /// Enters a phase that includes all phases entered until [`Profile::release`]. Within another such phase it is a part
    /// of that.
    pub fn hold(&mut self, phase: Phase) {
        self.enter(phase);
        if let Some(running) = &mut self.running {
            running.held += 1;
        }
    }

    /// Ends a phase entered with [`Profile::hold`]; the report follows.
    pub fn release(&mut self) {
        if let Some(running) = &mut self.running {
            running.held = running.held.saturating_sub(1);
        }
        self.enter(Phase::Report);
    }

    /// Moves time [s], measured elsewhere, from the current phase to another.
    pub(crate) fn reassign(&mut self, phase: Phase, seconds: f64) {
        if let Some(running) = self.running.filter(|r| r.held == 0) {
            self.seconds[running.phase as usize] -= seconds;
            self.seconds[phase as usize] += seconds;
        }
    }
}
