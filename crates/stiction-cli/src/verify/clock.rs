//! Times of a journal: its steps begin and end at t₀ + k h, up to the end that the header asks for.

use crate::run::plan::RunPlan;

/// Difference of a time from t₀ + k h that is round-off, relative to the time and for each step: earlier versions summed
/// the times of steps. Smaller: their journals are refused. Larger: steps of other sizes pass.
const TIME_ROUND_OFF: f64 = 2.0 * f64::EPSILON;

/// Part of a step by which the last one may miss the end time. Earlier versions stretched it by as much.
const LAST_STEP_RELATIVE: f64 = 1e-9;

/// First format in which only the last step may be shorter than the header's.
const WHOLE_STEPS_FORMAT: u32 = 5;

/// Clock of a run: its steps as the header has them.
pub(super) struct RunClock {
    start: f64,
    /// Step size [s].
    h: f64,
    until: f64,
    /// Format of the journal.
    format: u32,
    steps: u32,
    /// End of the last step [s].
    pub(super) end: f64,
    /// A step was shorter than the header's.
    is_short: bool,
}

/// Verdict on the times of a step.
pub(super) enum StepTime {
    Fits,
    /// Wrong, in words.
    Wrong(String),
    /// As earlier versions made it; the reason in words.
    NotKnown(&'static str),
}

impl RunClock {
    /// Clock of a run in a journal of a format.
    pub(super) fn new(plan: &RunPlan, format: u32) -> Self {
        let start = plan.start.t;
        let (h, until) = (plan.header.h, plan.header.until);
        Self { start, h, until, format, steps: 0, end: start, is_short: false }
    }

    /// Passes a step that ends at time `t`, with its recorded size.
    pub(super) fn pass(&mut self, t: f64, size: f64) -> StepTime {
        let (start, wanted) = (self.end, self.start + f64::from(self.steps + 1) * self.h);
        self.steps += 1;
        self.end = t;
        let round_off = TIME_ROUND_OFF * f64::from(self.steps) * t.abs().max(self.start.abs());
        let margin = LAST_STEP_RELATIVE * self.h;
        let is_last = (t - self.until).abs() <= margin + round_off;
        let had_short = std::mem::replace(&mut self.is_short, size < self.h - margin - round_off);
        if self.format < WHOLE_STEPS_FORMAT && (had_short || self.is_short && !is_last) {
            return StepTime::NotKnown(
                "steps shorter than the header's, which earlier versions made where a run was resumed",
            );
        }
        let past = self.until + margin + round_off;
        if start >= past - 2.0 * margin && self.format >= WHOLE_STEPS_FORMAT {
            return StepTime::Wrong(format!("a step after the end time of the header, {} s", self.until));
        }
        let longest = self.h + margin + round_off;
        let on_grid = (t - wanted).abs() <= round_off && (size - self.h).abs() <= round_off;
        if on_grid || is_last && size <= longest && !had_short {
            return StepTime::Fits;
        }
        if self.format < WHOLE_STEPS_FORMAT && size <= longest {
            return StepTime::Fits;
        }
        StepTime::Wrong(format!(
            "a step of {size} s that ends at {t} s; step {} of the header's {} s ends at {wanted} s",
            self.steps, self.h
        ))
    }

    /// Whether the end time has been reached.
    pub(super) fn is_finished(&self) -> bool {
        let round_off = TIME_ROUND_OFF * f64::from(self.steps) * self.end.abs();
        self.until - self.end <= LAST_STEP_RELATIVE * self.h + round_off
    }
}
