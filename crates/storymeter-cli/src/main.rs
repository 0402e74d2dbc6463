//! The `storymeter` binary: one verb, one file under `commands/`.
//!
//! Exit codes are part of the interface: 0 fine, 1 a check that the user asked for did not hold, 2
//! an error. A reader that goes away (`| head`) is not an error.
#![forbid(unsafe_code)]

mod advice;
mod args;
mod commands;
mod input;
mod output;
mod progress;
mod side_by_side;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;

/// Stories are read on one thread, parsed on another and freed on a third. With glibc's allocator
/// the threads wait for each other over that, thousands of times per second; with this one not.
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
            let advice = advice::advice(&error).map(|advice| format!(" ({advice})"));
            note(&format!("{}{}", message(&error), advice.unwrap_or_default()));
            ExitCode::from(2)
        }
    }
}

/// The error and its causes on one line. A cause that the error already names is not repeated.
fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| {
        if message.ends_with(&cause) {
            message
        } else if message.is_empty() {
            cause
        } else {
            format!("{message}: {cause}")
        }
    })
}

/// Says something on stderr. Where stderr is gone, nobody can be told.
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
