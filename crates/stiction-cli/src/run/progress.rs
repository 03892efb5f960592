//! Progress bar of a run, drawn on a terminal only.

use crate::residual;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use stiction_journal::StepRecord;

/// Shortest time between two redraws.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Resolution of the bar.
const BAR_PARTS: u64 = 1000;

/// Progress bar; draws nothing unless standard error is a terminal.
pub(crate) struct RunProgress {
    bar: Option<ProgressBar>,
    began: Instant,
    drawn: Option<Instant>,
    /// Start time, time it was resumed at, and end time [s].
    times: [f64; 3],
    worst: f64,
}

impl RunProgress {
    pub(crate) fn new(start: f64, from: f64, until: f64, wanted: bool) -> Self {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(BAR_PARTS);
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        let began = Instant::now();
        Self { bar, began, drawn: None, times: [start, from, until], worst: 0.0 }
    }

    /// Updates the bar after a step.
    pub(crate) fn show(&mut self, record: &StepRecord) {
        let report = &record.report;
        self.worst = self.worst.max(report.certificate.worst());
        let Some(bar) = &self.bar else { return };
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW_INTERVAL) {
            return;
        }
        self.drawn = Some(Instant::now());
        let [start, from, until] = self.times;
        let part = ((report.t - start) / (until - start)).clamp(0.0, 1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and BAR_PARTS"
        )]
        bar.set_position((part * BAR_PARTS as f64) as u64);
        let speed = (report.t - from) / self.began.elapsed().as_secs_f64().max(1e-9);
        bar.set_message(format!(
            "{:.3} of {until} s  {speed:.2} x real time  {} contacts  worst certificate {}",
            report.t,
            report.contacts.len(),
            residual(self.worst)
        ));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
