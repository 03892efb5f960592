//! Progress line of a run, drawn on a terminal only: time, events, contacts, residual, and an estimate of the time left.

use crate::{count, residual};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use stiction::RunMonitor;
use stiction_journal::StepRecord;

/// Time between two redraws.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Width of the bar in characters.
const BAR_WIDTH: usize = 24;

/// Wall time before which no estimate of the time left is shown [s]. Sensible from 0.2 to 10: earlier estimates jump.
const MIN_ESTIMATE_TIME: f64 = 1.0;

/// Wall time after which a long run is announced: its first steps are made.
const FIRST_STEPS: Duration = Duration::from_secs(2);

/// Estimate from which a run counts as long [s]. Sensible from 10 to 120: shorter ones are waited for.
const LONG_RUN: f64 = 20.0;

/// Progress line; draws nothing unless standard error is a terminal. A thread redraws it, so that it moves within the
/// long intervals of a run to an accuracy too.
pub(crate) struct RunProgress {
    bar: Option<ProgressBar>,
    /// Thread that says once, without a terminal, that a run will take long; it ends with its channel.
    _notice: Option<Sender<()>>,
    last: Arc<Mutex<LastRecord>>,
}

/// Figures of the records so far.
#[derive(Debug, Clone, Copy, Default)]
struct LastRecord {
    worst: f64,
    contacts: usize,
}

/// Times of a run [s].
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunTimes {
    /// Start of the scene.
    pub(crate) start: f64,
    /// Time at which this process began or resumed.
    pub(crate) from: f64,
    /// End.
    pub(crate) until: f64,
}

impl RunProgress {
    pub(crate) fn new(times: RunTimes, monitor: RunMonitor, wanted: bool) -> Self {
        let last = Arc::new(Mutex::new(LastRecord::default()));
        let (shared, began) = (last.clone(), Instant::now());
        let terminal = std::io::stderr().is_terminal();
        let notice = (wanted && !terminal).then(|| announce(times, monitor.clone()));
        let bar = (wanted && terminal).then(|| {
            let write = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                let last = *shared.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = out.write_str(&line(times, &monitor, last, began.elapsed().as_secs_f64()));
            };
            let bar = ProgressBar::no_length();
            if let Ok(style) = ProgressStyle::with_template("{line}") {
                bar.set_style(style.with_key("line", write));
            }
            bar.enable_steady_tick(REDRAW_INTERVAL);
            bar
        });
        Self { bar, _notice: notice, last }
    }

    /// Notes the figures of a record.
    pub(crate) fn show(&mut self, record: &StepRecord) {
        let report = &record.report;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.worst = last.worst.max(report.certificate.worst());
        last.contacts = report.contacts.len();
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Starts a thread that prints one line if the first steps tell that the run will take long.
fn announce(times: RunTimes, monitor: RunMonitor) -> Sender<()> {
    let (sender, receiver) = channel();
    let began = Instant::now();
    thread::spawn(move || {
        // the end of the run ends the wait
        while receiver.recv_timeout(FIRST_STEPS) == Err(RecvTimeoutError::Timeout) {
            let elapsed = began.elapsed().as_secs_f64();
            if let Some(left) = time_left(times, monitor.time(), elapsed) {
                if left > LONG_RUN {
                    eprintln!("{}", notice(times, monitor.time(), left, elapsed));
                }
                return;
            }
        }
    });
    sender
}

/// Line about a long run.
fn notice(times: RunTimes, t: f64, left: f64, elapsed: f64) -> String {
    format!(
        "this run takes about {} more: it is at {t:.3} of {} s after {}; Ctrl-C ends it, and --resume continues it",
        duration(left),
        times.until,
        duration(elapsed)
    )
}

/// Estimate of the wall time left [s], once there is one.
fn time_left(times: RunTimes, t: f64, elapsed: f64) -> Option<f64> {
    let speed = (t.max(times.from) - times.from) / elapsed;
    (speed > 0.0 && elapsed >= MIN_ESTIMATE_TIME).then(|| (times.until - t).max(0.0) / speed)
}

/// Progress line after `elapsed` seconds.
fn line(times: RunTimes, monitor: &RunMonitor, last: LastRecord, elapsed: f64) -> String {
    let RunTimes { start, from, until } = times;
    let t = monitor.time().max(from);
    let part = ((t - start) / (until - start)).clamp(0.0, 1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and BAR_WIDTH")]
    let done = (part * BAR_WIDTH as f64) as usize;
    let bar: String = (0..BAR_WIDTH).map(|k| if k < done { '=' } else { ' ' }).collect();
    let left = match time_left(times, t, elapsed) {
        Some(left) => format!("about {} left", duration(left)),
        None => "time left not known yet".to_string(),
    };
    let events = count(monitor.events(), "event", "events");
    let contacts = count(last.contacts, "contact", "contacts");
    format!("[{bar}] {t:.3} of {until} s  {events}  {contacts}  residual {}  {left}", residual(last.worst))
}

/// Duration in words, to two digits or so.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction::Simulation;
    use stiction::planar::{Body, Mass, World};

    #[test]
    fn the_line_has_time_events_and_the_time_left() {
        let times = RunTimes { start: 0.0, from: 1.0, until: 4.0 };
        let monitor = RunMonitor::default();
        let last = LastRecord { worst: 2e-9, contacts: 3 };
        let before = line(times, &monitor, last, 0.1);
        assert_eq!(
            before,
            "[======                  ] 1.000 of 4 s  no events  3 contacts  residual 2.0e-9  time left not known yet"
        );
        // half of the rest took one minute
        let mut world = World::new(nalgebra::Vector2::zeros());
        world.add_body(Body::rigid(
            "bob",
            Mass::Given { mass: 1.0, centre: nalgebra::Point2::origin(), inertia: 1.0 },
        ));
        let mut simulation = Simulation::new(world.build().unwrap()).with_monitor(monitor.clone());
        simulation.step(2.5).unwrap();
        let halfway = line(times, &monitor, last, 60.0);
        assert_eq!(
            halfway,
            "[===============         ] 2.500 of 4 s  no events  3 contacts  residual 2.0e-9  about 60 s left"
        );
    }

    #[test]
    fn a_long_run_says_so() {
        let times = RunTimes { start: 0.0, from: 0.0, until: 10.0 };
        assert_eq!(time_left(times, 0.0, 5.0), None, "no step yet");
        // .1 s of the run in 2 s
        let left = time_left(times, 0.1, 2.0).unwrap();
        assert!((left - 198.0).abs() < 1e-9);
        assert_eq!(
            notice(times, 0.1, left, 2.0),
            "this run takes about 3 min more: it is at 0.100 of 10 s after 2.0 s; Ctrl-C ends it, and --resume continues it"
        );
    }

    #[test]
    fn durations_are_short() {
        let shown = [0.34, 12.2, 340.0, 20_000.0, 1e6].map(duration);
        assert_eq!(shown, ["0.3 s", "12 s", "6 min", "6 h", "12 days"]);
    }
}
