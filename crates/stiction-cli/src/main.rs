//! The `stiction` command: solve, simulate, verify and show problems of rigid bodies in contact.
//!
//! No physics here: commands pose problems, hand them to the libraries and print what comes back. Reports go to
//! standard output as a whole and without colour; progress and complaints go to standard error.

mod check;
mod compare;
mod completions;
mod convert;
mod demo;
mod draw;
mod gallery;
mod mode;
mod report;
mod reproduce;
mod run;
mod solve;
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
  0    solved, and the answer passed its certificate; run: finished;
       verify: every step holds
  1    not solved: infeasible, out of budget, unsupported by the solver, or not certified; run: a step could not
       be made; verify: a step does not hold, or the journal is damaged
  2    bad input: a file that cannot be read or written, a scene or problem with mistakes, an unknown argument,
       or something that this program was built without
  3    verify: nothing fails, but some steps cannot be verified
  130  run: interrupted; what was made until then is in the journal";

/// Examples and exit codes, below the help of a command.
fn with_exit_codes(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Rigid bodies in contact: complementarity problems solved, and every answer certified.
#[derive(Parser)]
#[command(name = "stiction", version, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(after_help = EXIT_CODES)]
    Solve(solve::Arguments),
    Check(check::Arguments),
    Run(run::Arguments),
    Verify(verify::Arguments),
    Convert(convert::Arguments),
    View(view::Arguments),
    Gallery(gallery::Arguments),
    Compare(compare::Arguments),
    Demo(demo::DemoArguments),
    Reproduce(reproduce::ReproduceArguments),
    Completions(completions::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Solve(arguments) => solve::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Gallery(arguments) => gallery::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    };
    exit_code("stiction", outcome)
}
