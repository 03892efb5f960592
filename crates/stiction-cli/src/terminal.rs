//! Terminal of a command: outcomes and their exit codes, reports on standard output, files, and numbers in words.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Exit code of a run that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Outcome of a command that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Solved,
    /// Exit code 1.
    NotSolved,
    /// Exit code 3.
    NotVerifiable,
    /// Exit code 130.
    Interrupted,
}

/// Reason why a command could not run: exit code 2.
#[derive(Debug)]
pub struct BadInput(pub String);

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl BadInput {
    /// Error about a file.
    pub fn file(path: &Path, error: &impl fmt::Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

/// Exit code of a command. Bad input is printed to standard error under the name of the program.
pub fn exit_code(program: &str, outcome: Result<Outcome, BadInput>) -> ExitCode {
    match outcome {
        Ok(Outcome::Solved) => ExitCode::SUCCESS,
        Ok(Outcome::NotSolved) => ExitCode::from(1),
        Ok(Outcome::NotVerifiable) => ExitCode::from(3),
        Ok(Outcome::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            // a closed standard error is no reason to panic
            let _ = writeln!(io::stderr(), "{program}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints a report. A pipe that its reader closed early is not an error.
pub fn print(report: &str) -> Result<(), BadInput> {
    let mut out = io::stdout().lock();
    match out.write_all(report.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(BadInput(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Report as JSON.
pub fn to_json(report: &impl serde::Serialize) -> Result<String, BadInput> {
    serde_json::to_string_pretty(report).map(|text| text + "\n").map_err(|error| BadInput(error.to_string()))
}

/// Writes a file and the folders above it.
pub fn write_file(path: &Path, text: &str) -> Result<(), BadInput> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    folder
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| BadInput::file(path, &error))
}

/// Number of things in words: `no pivots`, `1 pivot`, `2 pivots`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    match n {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

/// Residual to two digits; exact zero is `0`.
pub fn residual(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:.1e}") }
}
