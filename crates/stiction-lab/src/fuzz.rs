//! `stiction-lab fuzz`: random pairs of bodies, and scene files changed at random.

mod mutate;
mod ratio;
mod scenes;

use crate::{BadInput, Outcome};

/// Search for errors with random pairs of bodies or with broken scene files.
#[derive(clap::Subcommand)]
pub(crate) enum Fuzz {
    Ratio(ratio::RatioFuzzArguments),
    Scenes(scenes::SceneFuzzArguments),
}

/// Samples of a command, and the threads that judge them.
#[derive(clap::Args)]
struct SeedRange {
    /// Number of samples
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
    /// Seed of the first sample; the i-th one after it has seed + i
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; the counts do not depend on their number
    #[arg(long)]
    threads: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(fuzz: &Fuzz) -> Result<Outcome, BadInput> {
    match fuzz {
        Fuzz::Ratio(arguments) => ratio::run(arguments),
        Fuzz::Scenes(arguments) => scenes::run(arguments),
    }
}
