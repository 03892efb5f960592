//! Times, memory and files of the benchmarks.

use crate::{BadInput, print, write_file};
use serde::Serialize;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Limits on the repetitions of a measurement.
const MIN_REPETITIONS: usize = 7;
const MAX_REPETITIONS: usize = 20_000;

/// Best and median time of many repetitions [µs].
#[derive(Clone, Copy, Serialize)]
pub(super) struct Times {
    pub(super) best_us: f64,
    pub(super) median_us: f64,
    repetitions: usize,
}

impl Times {
    /// Repeats `work` for this long [s], at least [`MIN_REPETITIONS`] times.
    pub(super) fn of<T>(seconds: f64, mut work: impl FnMut() -> T) -> Self {
        let begun = Instant::now();
        let budget = Duration::from_secs_f64(seconds.clamp(0.0, 60.0));
        let mut times = Vec::new();
        while times.len() < MIN_REPETITIONS || (begun.elapsed() < budget && times.len() < MAX_REPETITIONS) {
            let start = Instant::now();
            std::hint::black_box(work());
            times.push(1e6 * start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Self { best_us: times[0], median_us: times[times.len() / 2], repetitions: times.len() }
    }
}

/// Resident memory of this process [MB]; `None` where the system does not report it.
pub(super) fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1e3)
}

/// File of the results.
#[derive(clap::Args)]
pub(super) struct ResultFile {
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl ResultFile {
    /// Writes results as JSON if a file is given, and prints their table.
    pub(super) fn publish<T: Serialize>(&self, measured: &T, table: &str) -> Result<(), BadInput> {
        if let Some(path) = self.json.as_deref() {
            let text = serde_json::to_string_pretty(measured).map_err(|e| BadInput::file(path, &e))?;
            write_file(path, &(text + "\n"))?;
        }
        print(table)
    }
}

/// Measurement of a case; `None` if it failed, after the reason is printed.
pub(super) fn measured_or_printed<T>(
    case: &str,
    measured: Result<T, impl Display>,
) -> Result<Option<T>, BadInput> {
    match measured {
        Ok(measured) => Ok(Some(measured)),
        Err(error) => print(&format!("{case}: {error}\n")).map(|()| None),
    }
}
