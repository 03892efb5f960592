//! Command `stiction`: parses the command line, calls the libraries and prints their results.
//!
//! Contains no physics. Reports go to standard output, complete and without colour. Progress and error messages go to
//! standard error.

mod bench;
mod check;
mod compare;
mod completions;
mod convert;
mod demo;
mod draw;
mod fuzz;
mod gallery;
mod heaps;
mod mode;
mod peer;
mod plot;
mod recheck;
mod report;
mod reproduce;
mod run;
mod scenes;
mod soak;
mod solve;
mod verify;
mod view;
mod wrecking;

use clap::{Parser, Subcommand};
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0    success: every problem solved and certified; run: finished; verify: every step holds
  1    failure: a problem is infeasible, unsupported by the solver, over its iteration limit or not certified;
       run: a step failed; verify: a step does not hold, or the journal is damaged
  2    bad input: a file that cannot be read or written, a scene or problem with mistakes, an unknown argument,
       or a feature that this program was built without
  3    verify: no step fails, but some steps cannot be verified
  130  run: interrupted; all steps made until then are in the journal";

/// Examples and exit codes, printed below the help of a command.
fn with_exit_codes(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Exit code of a run that was interrupted.
const INTERRUPTED: u8 = 130;

/// Simulate rigid bodies with joints, hard contact and Coulomb friction; every step has a certificate.
#[derive(Parser)]
#[command(name = "stiction", version, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(after_help = EXIT_CODES)]
    Solve(solve::SolveArguments),
    #[command(after_help = EXIT_CODES)]
    Soak(soak::Arguments),
    #[command(subcommand, after_help = EXIT_CODES)]
    Fuzz(fuzz::Fuzz),
    Check(check::CheckArguments),
    Run(run::RunArguments),
    Verify(verify::VerifyArguments),
    Convert(convert::ConvertArguments),
    View(view::ViewArguments),
    Gallery(gallery::GalleryArguments),
    Compare(compare::CompareArguments),
    Demo(demo::Arguments),
    Reproduce(reproduce::Arguments),
    Peer(peer::Arguments),
    #[command(subcommand)]
    Bench(bench::Benchmark),
    Completions(completions::CompletionsArguments),
}

/// Result of a command that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
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
struct BadInput(String);

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl BadInput {
    /// Error of a file, with its path.
    fn file(path: &std::path::Path, error: &impl fmt::Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Command::Solve(arguments) => solve::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Fuzz(fuzz) => fuzz::run(&fuzz),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Gallery(arguments) => gallery::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Peer(arguments) => peer::run(&arguments),
        Command::Bench(benchmark) => bench::run(&benchmark),
        Command::Completions(arguments) => completions::run(&arguments),
    };
    match outcome {
        Ok(Outcome::Solved) => ExitCode::SUCCESS,
        Ok(Outcome::NotSolved) => ExitCode::from(1),
        Ok(Outcome::NotVerifiable) => ExitCode::from(3),
        Ok(Outcome::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            // a closed standard error must not cause a panic
            let _ = writeln!(io::stderr(), "stiction: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints a report. A reader that closes the pipe early is not an error.
fn print(report: &str) -> Result<(), BadInput> {
    let mut out = io::stdout().lock();
    match out.write_all(report.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(BadInput(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Serializes a report as JSON.
fn to_json(report: &impl serde::Serialize) -> Result<String, BadInput> {
    serde_json::to_string_pretty(report).map(|text| text + "\n").map_err(|error| BadInput(error.to_string()))
}

/// Writes a file, and creates the folders above it.
fn write_file(path: &std::path::Path, text: &str) -> Result<(), BadInput> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    folder
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| BadInput::file(path, &error))
}

/// Count with its noun: `no pivots`, `1 pivot`, `2 pivots`.
fn count(n: usize, one: &str, many: &str) -> String {
    match n {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}
