//! The `stiction` command: solve, simulate, verify and show problems of rigid bodies in contact.
//!
//! Contains no physics. Reports go to standard output, complete and without colour. Progress and error messages go to
//! standard error.

mod check;
mod compare;
mod completions;
mod convert;
mod demo;
mod draw;
mod gallery;
mod graph;
mod mode;
mod report;
mod reproduce;
mod run;
mod solve;
mod sweep;
mod verify;
mod view;
mod wrecking;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use stiction_cli::plot;
use stiction_cli::terminal::{
    BadInput, INTERRUPTED, Outcome, count, exit_code, print, residual, to_json, write_file,
};

const EXIT_CODES: &str = "\
Exit codes:
  0    success: every problem solved and certified; run: finished; verify: every step holds
  1    failure: a problem is infeasible, unsupported by the solver, over its iteration limit or not certified;
       run: a step failed; verify: a step does not hold, or the journal is damaged
  2    bad input: a file that cannot be read or written, a scene or problem with mistakes, an unknown argument,
       or a feature that this program was built without
  3    verify: no step fails, but some steps cannot be verified
  4    verify: every step holds, but some only by a tolerance that --tolerance loosened
  5    verify: every step holds, but the journal ends before the run did
  130  run: interrupted by Ctrl-C or SIGTERM; it ends within a second, and all steps made until then are in the
       journal, which --resume continues. Other commands end at once by the signal itself, which a shell shows as
       130 for Ctrl-C and 143 for SIGTERM";

/// Examples and exit codes, printed below the help of a command.
fn with_exit_codes(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

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
    Check(check::CheckArguments),
    Run(run::RunArguments),
    Verify(verify::VerifyArguments),
    Convert(convert::ConvertArguments),
    View(view::ViewArguments),
    Gallery(gallery::GalleryArguments),
    Compare(compare::CompareArguments),
    Plot(graph::PlotArguments),
    Sweep(sweep::SweepArguments),
    Demo(demo::DemoArguments),
    Reproduce(reproduce::ReproduceArguments),
    Completions(completions::CompletionsArguments),
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().command {
        Command::Solve(arguments) => solve::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Gallery(arguments) => gallery::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Plot(arguments) => graph::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    };
    exit_code("stiction", outcome)
}
