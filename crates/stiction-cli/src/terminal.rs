//! Terminal of a command: outcomes and their exit codes, reports on standard output, files, and numbers in words.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
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
    /// Exit code 4.
    HoldsLoosely,
    /// Exit code 5.
    Unfinished,
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
        Ok(Outcome::HoldsLoosely) => ExitCode::from(4),
        Ok(Outcome::Unfinished) => ExitCode::from(5),
        Ok(Outcome::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            // a closed standard error is no reason to panic
            let _ = writeln!(io::stderr(), "{program}: {}", printable(&error.0));
            ExitCode::from(2)
        }
    }
}

/// Text without control characters, which a title or a name of a file may have: a terminal would obey them. They are
/// written as in JSON, except for line ends and tabs; so are marks that reverse the direction of text.
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) {
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Prints a report without control characters. A pipe that its reader closed early is not an error.
pub fn print(report: &str) -> Result<(), BadInput> {
    let mut out = io::stdout().lock();
    match out.write_all(printable(report).as_bytes()).and_then(|()| out.flush()) {
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

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_terminal_obeys_nothing_in_a_text() {
        assert_eq!(printable("a title, é\n\tand a line\n"), "a title, é\n\tand a line\n");
        assert_eq!(printable("\u{1b}[31mred\u{7}\r"), "\\u001b[31mred\\u0007\\u000d");
        // the one-byte form of the same escape, and text from right to left
        assert_eq!(printable("\u{9b}2J\u{202e}txt"), "\\u009b2J\\u202etxt");
    }
}
