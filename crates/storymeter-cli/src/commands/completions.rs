//! `storymeter completions SHELL`.

use std::io;

use clap::{Args, CommandFactory};

use crate::Outcome;
use crate::args::Cli;

/// Arguments of `storymeter completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to write a script for
    pub shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "storymeter", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(Outcome::Done)
}
