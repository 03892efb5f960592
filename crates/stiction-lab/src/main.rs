//! The `stiction-lab` command: developer tools that measure the libraries and search for their errors.
//!
//! One file per command, and one table of them: [`Tool`]. Reports go to standard output, progress and errors to standard
//! error.

mod bench;
mod forge;
mod fuzz;
mod heaps;
mod mutate;
mod peer;
mod recheck;
mod scenes;
mod seeds;
mod soak;
mod tosses;
mod truth;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use stiction_cli::terminal::{BadInput, Outcome, exit_code, print, residual, write_file};

const EXIT_CODES: &str = "\
Exit codes:
  0  the command ran, and every check that it makes holds
  1  a problem was not solved, or a check does not hold; the report names it
  2  bad input: a file that cannot be read or written, or an unknown argument";

/// Developer commands of Stiction: benchmarks, soak and fuzz runs, runs beside other engines.
#[derive(Parser)]
#[command(name = "stiction-lab", version, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(subcommand)]
    tool: Tool,
}

/// Commands of the program. A new one is a file of its own and two lines here.
#[derive(Subcommand)]
enum Tool {
    #[command(subcommand, after_help = EXIT_CODES)]
    Bench(bench::Benchmark),
    #[command(after_help = EXIT_CODES)]
    Forge(forge::ForgeArguments),
    #[command(subcommand, after_help = EXIT_CODES)]
    Fuzz(fuzz::Fuzz),
    #[command(after_help = EXIT_CODES)]
    Mutate(mutate::MutateArguments),
    #[command(after_help = EXIT_CODES)]
    Peer(peer::PeerArguments),
    #[command(after_help = EXIT_CODES)]
    Soak(soak::SoakArguments),
    #[command(after_help = EXIT_CODES)]
    Tosses(tosses::TossArguments),
    #[command(after_help = EXIT_CODES)]
    Truth(truth::TruthArguments),
}

impl Tool {
    fn run(&self) -> Result<Outcome, BadInput> {
        match self {
            Self::Bench(benchmark) => bench::run(benchmark),
            Self::Forge(arguments) => forge::run(arguments),
            Self::Fuzz(fuzz) => fuzz::run(fuzz),
            Self::Mutate(arguments) => mutate::run(arguments),
            Self::Peer(arguments) => peer::run(arguments),
            Self::Soak(arguments) => soak::run(arguments),
            Self::Tosses(arguments) => tosses::run(arguments),
            Self::Truth(arguments) => truth::run(arguments),
        }
    }
}

fn main() -> ExitCode {
    exit_code("stiction-lab", CommandLine::parse().tool.run())
}
