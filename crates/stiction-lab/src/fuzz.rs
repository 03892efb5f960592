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

/// Runs the command.
pub(crate) fn run(fuzz: &Fuzz) -> Result<Outcome, BadInput> {
    match fuzz {
        Fuzz::Ratio(arguments) => ratio::run(arguments),
        Fuzz::Scenes(arguments) => scenes::run(arguments),
    }
}
