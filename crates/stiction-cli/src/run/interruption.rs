//! Interruption of a run by Ctrl-C or SIGTERM: the step under way stops, and the program ends within a second.

use crate::BadInput;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stiction::RunMonitor;

/// Time after which an interrupted run ends whatever it does [ms]: one solve of a large problem does not look at the
/// monitor. Sensible from 100 to 900. Shorter: runs that would stop by themselves end without their summary. Longer:
/// the program ends later than the second that it promises.
const MAX_STOPPING_MILLISECONDS: u64 = 500;

/// Time of the last record in the journal, shared with the thread of the signal handler.
#[derive(Clone)]
pub(super) struct RecordedTime(Arc<AtomicU64>);

impl RecordedTime {
    /// Recorded time `t` [s].
    pub(super) fn new(t: f64) -> Self {
        Self(Arc::new(AtomicU64::new(t.to_bits())))
    }

    pub(super) fn set(&self, t: f64) {
        self.0.store(t.to_bits(), Ordering::Relaxed);
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Installs the handler of Ctrl-C and SIGTERM. A signal asks the run to stop. If the run has not ended a moment later,
/// the program ends here: the journal loses at most the record being written, which `--resume` makes again.
pub(super) fn install(monitor: &RunMonitor, recorded: &RecordedTime, journal: &Path) -> Result<(), BadInput> {
    let (monitor, recorded, journal) = (monitor.clone(), recorded.clone(), journal.display().to_string());
    let handler = move || {
        monitor.stop();
        std::thread::sleep(Duration::from_millis(MAX_STOPPING_MILLISECONDS));
        let t = recorded.get();
        eprintln!("\nstiction: interrupted; {journal} is complete up to {t} s, {RESUME}");
        std::process::exit(crate::INTERRUPTED.into());
    };
    let refused = |error| BadInput(format!("cannot install the handler of Ctrl-C: {error}"));
    ctrlc::set_handler(handler).map_err(refused)
}

/// Advice of an interrupted run.
pub(super) const RESUME: &str =
    "repeat the command with --resume to continue; files other than the journal are written at the end";
