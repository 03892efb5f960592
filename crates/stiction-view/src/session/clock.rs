//! Playback clock: converts real time into simulated time that is due, and measures the speed that is reached.

use std::time::Duration;

/// Averaging time of the measured speed [s].
const RATE_AVERAGING_TIME: f64 = 0.5;

/// Clock of a live session.
#[derive(Debug)]
pub(super) struct PlaybackClock {
    /// `true` while the simulation runs.
    pub(super) playing: bool,
    /// Simulated seconds per second that are asked for.
    pub(super) speed: f64,
    /// Simulated seconds per second that are reached, averaged.
    pub(super) rate: f64,
    /// Simulated time that is due [s].
    pub(super) debt: f64,
}

impl Default for PlaybackClock {
    fn default() -> Self {
        Self { playing: false, speed: 1.0, rate: 0.0, debt: 0.0 }
    }
}

impl PlaybackClock {
    /// Adds real time `passed` [s] to the time that is due. Time that cannot be made up for within the `budget` is
    /// dropped: a scene too large for the machine runs slowly, not in jumps.
    pub(super) fn add_real_time(&mut self, passed: f64, budget: Duration, h: f64) {
        let most = (self.speed * budget.as_secs_f64()).max(h);
        self.debt = (self.debt + self.speed * passed).min(2.0 * most + self.speed * passed);
    }

    /// Updates the average speed after `simulated` [s] within real time `passed` [s].
    pub(super) fn measure_rate(&mut self, simulated: f64, passed: f64) {
        if passed > 0.0 {
            let share = (passed / RATE_AVERAGING_TIME).min(1.0);
            self.rate += share * (simulated / passed - self.rate);
        }
    }
}
