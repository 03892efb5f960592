//! `stiction completions`: prints the completion script of a shell.

use crate::{BadInput, Outcome, print};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  stiction completions bash > ~/.local/share/bash-completion/completions/stiction
  stiction completions zsh > ~/.zfunc/_stiction
  stiction completions fish > ~/.config/fish/completions/stiction.fish";

/// Print the completion script of a shell.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Outcome, BadInput> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::CommandLine::command(), "stiction", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Solved)
}
