//! `storymeter completions SHELL`.

use clap::{Args, CommandFactory};

use crate::Outcome;
use crate::args::Cli;
use crate::output::Output;

/// The arguments of `storymeter completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  storymeter completions bash > ~/.local/share/bash-completion/completions/storymeter")]
pub struct CompletionsArgs {
    /// The shell that the script is for
    pub shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "storymeter", &mut script);
    Output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}
