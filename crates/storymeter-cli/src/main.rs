//! The `storymeter` binary: one verb, one file under `commands/`.
//!
//! Exit codes are part of the interface: 0 fine, 1 a check the user asked for did not hold, 2 an error.
//! A reader that goes away (`| head`) is not an error.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod input;
mod output;
mod progress;
mod side_by_side;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;

/// Stories are read on one thread, parsed on another and let go on a third: an allocator whose threads do not wait for each
/// other over that. glibc's do, thousands of times a second.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
            note(&message(&error));
            ExitCode::from(2)
        }
    }
}

/// The error and its causes on one line; a cause that the error already tells is not told twice.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| {
        if told.ends_with(&cause) {
            told
        } else if told.is_empty() {
            cause
        } else {
            format!("{told}: {cause}")
        }
    })
}

/// Says something on stderr. Where stderr itself is gone, nothing sensible is left to do.
fn note(text: &str) {
    let _ = writeln!(io::stderr(), "storymeter: {text}");
}

/// Whether the error comes from a closed pipe at the other end of standard output.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
