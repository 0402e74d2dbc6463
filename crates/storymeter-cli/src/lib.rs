//! The program `storymeter` as a function: [`run`] takes the arguments and returns the exit code.
//! The binary and the Python package call it. Each verb has a file of its own under `commands/`.
//!
//! The exit codes are part of the interface: 0 after success, 1 if a check that the user asked for
//! does not hold, and 2 after an error. It is not an error if the reader of standard output goes
//! away (`| head`). A program that is interrupted ends by the signal.
#![deny(unsafe_code)]

mod advice;
mod args;
mod closed_stdout;
mod commands;
mod format;
mod input;
mod lexicon;
mod output;
mod progress;
mod scorer;
mod side_by_side;
mod signals;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write as _};
#[cfg(feature = "parquet")]
use std::{panic, sync::Once};

use clap::Parser;
#[cfg(feature = "parquet")]
use storymeter_core::read::catches_panics;
use storymeter_core::repeated::Repeated;
use storymeter_core::terminal;

use output::{Output, ReaderHasLeft};

/// How a verb ended, if it ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The work is done.
    Done,
    /// The work is done, but a check that the user asked for (`--fail-under`) does not hold.
    CheckFailed,
}

/// Runs the program with these arguments, of which the first is its name, and returns the exit
/// code.
///
/// A process calls it once, because it starts the worker threads of the process, and watches the
/// signals that end it. Results go to standard output, and everything else to standard error.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    signals::watch();
    #[cfg(feature = "parquet")]
    hush_caught_panics();
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match args::Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(refusal) => return refuse(&refusal, &args),
    };
    let reads_stories = cli.command.has_input_options();
    exit_code(commands::run(cli), reads_stories)
}

/// Says that standard output was closed when the process started. The program finds that out
/// itself, but a library that is loaded later cannot.
pub fn stdout_was_closed() {
    closed_stdout::remember();
}

/// Keeps panics that the reader of Parquet catches, and reports as errors, off standard error.
/// Programs call it, because libraries leave the hook for panics alone.
#[cfg(feature = "parquet")]
pub fn hush_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !catches_panics() {
                before(info);
            }
        }));
    });
}

/// What the program ends with. Options of the input are advised only to verbs that have them.
fn exit_code(result: anyhow::Result<Outcome>, reads_stories: bool) -> u8 {
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::CheckFailed) => 1,
        Err(error) if error.chain().any(|cause| cause.is::<ReaderHasLeft>()) => 0,
        Err(error) => {
            let advice = advice::advice(&error, reads_stories).map(|advice| format!(" ({advice})"));
            note(&format!("{}{}", message(&error), advice.unwrap_or_default()));
            2
        }
    }
}

/// Prints what the user asked for instead of a verb (`--help`), or why the arguments are wrong.
fn refuse(refusal: &clap::Error, args: &[OsString]) -> u8 {
    use anstream::{AutoStream, ColorChoice};
    let text = |colours: ColorChoice| match colours {
        ColorChoice::Never => refusal.render().to_string(),
        _ => refusal.render().ansi().to_string(),
    };
    if !refusal.use_stderr() {
        let shown = Output::print(&text(AutoStream::choice(&io::stdout())));
        return exit_code(shown.map(|()| Outcome::Done), false);
    }
    // The message repeats arguments, which may be hostile. Colours are then left out, because only
    // our own escape sequences may reach the terminal.
    let typed = args.iter().map(|argument| argument.to_string_lossy().into_owned());
    let harmless = |argument: String| {
        matches!(terminal::plain(&argument), Cow::Borrowed(_)) && argument.len() < LONGEST
    };
    let text = if typed.into_iter().all(harmless) {
        text(AutoStream::choice(&io::stderr()))
    } else {
        terminal::plain_lines(&shortened(&text(ColorChoice::Never))).into_owned()
    };
    let _ = io::stderr().write_all(text.as_bytes());
    2
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

/// Prints a line on standard error. Names and texts of users in it are only text there, and they
/// are not repeated without end.
fn note(text: &str) {
    // If standard error is closed, there is nobody to tell.
    progress::beside(|| {
        let _ = writeln!(io::stderr(), "storymeter: {}", terminal::plain(&shortened(text)));
    });
}

/// Prints notes. What several of them say of other files or metrics is said once.
fn notes(texts: &[impl AsRef<str>]) {
    Repeated::gathered(texts).iter().for_each(|one| note(&one.to_string()));
}

/// The number of bytes from which a message is shortened.
const LONGEST: usize = 4000;

/// A message without its middle if it is very long. Its beginning names the file, and its end says
/// what to do.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    // A character has at most four bytes, so a boundary is near.
    let boundary = |from: usize| (from..).find(|at| text.is_char_boundary(*at)).unwrap_or(from);
    let (start, end) = (boundary(LONGEST * 3 / 4), boundary(text.len() - LONGEST / 4));
    Cow::Owned(format!("{} [{} bytes left out] {}", &text[..start], end - start, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_long_message_keeps_its_beginning_and_its_end() {
        let long = format!("stories.jsonl:1: {}: say it shorter", "雨".repeat(100_000));
        let shown = shortened(&long);
        assert!(shown.len() < 4100, "{}", shown.len());
        assert!(shown.starts_with("stories.jsonl:1: 雨") && shown.ends_with("雨: say it shorter"));
        assert_eq!(shortened("short"), "short");
    }
}
