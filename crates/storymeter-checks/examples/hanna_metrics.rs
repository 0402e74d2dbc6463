//! Prints how each of our columns compares with the values that HANNA published:
//! `cargo run --release -p storymeter-checks --example hanna_metrics [FILE]`.
//!
//! FILE is another file of the same layout. METEOR is compared if `STORYMETER_METEOR_DATA` names
//! the folder of its tables.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use storymeter_checks::hanna_metrics::{columns, compare};
use storymeter_checks::{Result, shared};

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hanna_metrics: {error}");
            ExitCode::from(2)
        }
    }
}

fn print() -> Result {
    let path = match std::env::args_os().nth(1) {
        Some(named) => PathBuf::from(named),
        None => shared("data/annotated/hanna/stories_first48.jsonl.gz")?,
    };
    println!(
        "{:<28} {:>8} {:>9} {:>12} {:>12}  note",
        "metric", "stories", "equal", "largest", "correlation"
    );
    for row in compare(&path, &columns())? {
        println!(
            "{:<28} {:>8} {:>8.2}% {:>12.2e} {:>12.9}  {}",
            row.expectation.key,
            row.stories,
            100.0 * row.share(),
            row.largest,
            row.correlation,
            if row.share() < 1.0 { row.expectation.note } else { "" },
        );
    }
    Ok(())
}
