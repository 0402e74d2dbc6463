//! Prints each metric beside HANNA's published values: `cargo run --release -p storymeter-checks --example hanna_metrics`.
//!
//! Another file of the same layout may be named as the argument. METEOR is compared where `STORYMETER_METEOR_DATA` names
//! the folder of its tables.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use storymeter_checks::hanna_metrics::{columns, compare};
use storymeter_checks::shared;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let named = std::env::args_os().nth(1).map(PathBuf::from);
    let Some(path) = named.or_else(|| shared("data/annotated/hanna/stories_first48.jsonl.gz"))
    else {
        return Ok(());
    };
    println!(
        "{:<28} {:>8} {:>9} {:>12} {:>12}  note",
        "metric", "stories", "equal", "largest", "correlation"
    );
    for row in compare(&path, &columns())? {
        println!(
            "{:<28} {:>8} {:>8.2}% {:>12.2e} {:>12.9}  {}",
            row.expectation.id,
            row.stories,
            100.0 * row.share(),
            row.largest,
            row.correlation,
            if row.share() < 1.0 { row.expectation.note } else { "" },
        );
    }
    Ok(())
}
