//! The `storymeter` binary: one verb, one file under `commands/`.
//!
//! Exit codes are part of the interface: 0 fine, 1 a check the user asked for did not hold, 2 an error.
//! A reader that goes away (`| head`) is not an error.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod progress;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// How a command ended, when it ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The work is done.
    Done,
    /// The work is done and a check the user asked for (`--fail-under`, ...) did not hold.
    CheckFailed,
}

fn main() -> ExitCode {
    match commands::run(args::Cli::parse()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing sensible is left to do if stderr itself is gone.
            let _ = writeln!(io::stderr(), "storymeter: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether the error comes from a closed pipe at the other end of standard output.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
