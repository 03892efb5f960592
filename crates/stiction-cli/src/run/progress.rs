//! The progress bar, where somebody looks.

use crate::residual;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use stiction_journal::Step;

/// How often the bar is drawn: as often as eyes follow.
const DRAWN: Duration = Duration::from_millis(100);

/// Parts of the bar.
const PARTS: u64 = 1000;

/// A bar on a terminal, and nothing elsewhere.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    drawn: Option<Instant>,
    /// Time of the run at its start, where it went on, and at its end [s].
    times: [f64; 3],
    worst: f64,
}

impl Progress {
    pub(crate) fn new(start: f64, from: f64, until: f64, wanted: bool) -> Self {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(PARTS);
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        let began = Instant::now();
        Self { bar, began, drawn: None, times: [start, from, until], worst: 0.0 }
    }

    /// After a step.
    pub(crate) fn show(&mut self, step: &Step) {
        self.worst = self.worst.max(step.worst());
        let Some(bar) = &self.bar else { return };
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < DRAWN) {
            return;
        }
        self.drawn = Some(Instant::now());
        let [start, from, until] = self.times;
        let part = ((step.t - start) / (until - start)).clamp(0.0, 1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and PARTS")]
        bar.set_position((part * PARTS as f64) as u64);
        let speed = (step.t - from) / self.began.elapsed().as_secs_f64().max(1e-9);
        bar.set_message(format!(
            "{:.3} of {until} s  {speed:.2} x real time  {} contacts  worst certificate {}",
            step.t,
            step.contacts.len(),
            residual(self.worst)
        ));
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
