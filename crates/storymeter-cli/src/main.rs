//! The program `storymeter`. Each verb has a file of its own under `commands/`.
//!
//! The exit codes are part of the interface: 0 after success, 1 if a check that the user asked for
//! does not hold, and 2 after an error. It is not an error if the reader of standard output goes
//! away (`| head`).
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

/// Stories are read on one thread, parsed on another and freed on a third. With the allocator of
/// glibc, these threads wait for each other thousands of times per second. With this one they do
/// not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a verb ended, if it ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The work is done.
    Done,
    /// The work is done, but a check that the user asked for (`--fail-under`) does not hold.
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

/// Prints a line on standard error.
fn note(text: &str) {
    // If standard error is closed, there is nobody to tell.
    let _ = writeln!(io::stderr(), "storymeter: {text}");
}

/// Whether the error means that the reader of standard output has gone away.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
