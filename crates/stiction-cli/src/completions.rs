//! `stiction completions`: what a shell needs to complete commands and options.

use crate::{BadInput, Outcome, print};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  stiction completions bash > ~/.local/share/bash-completion/completions/stiction
  stiction completions zsh > ~/.zfunc/_stiction
  stiction completions fish > ~/.config/fish/completions/stiction.fish";

/// Print a script with which a shell completes commands and options.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "stiction", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Solved)
}
