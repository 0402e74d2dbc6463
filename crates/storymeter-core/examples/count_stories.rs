//! Reads stories and prints their number, their length and the time that reading took:
//! `cargo run --release -p storymeter-core --example count_stories -- FILE...`.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::time::Instant;

use storymeter_core::Error;
use storymeter_core::read::{ReadOptions, open};

fn main() -> Result<(), Error> {
    let inputs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let options = ReadOptions::default().with(|it| it.skip_bad = true);
    let start = Instant::now();
    let (mut stories, mut characters) = (0u64, 0u64);
    let mut reader = open(&inputs, &options)?;
    for record in reader.by_ref() {
        stories += 1;
        characters += record?.story.text.chars().count() as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{stories} stories, {characters} characters, {} skipped, {seconds:.4} s",
        reader.skipped().count
    );
    Ok(())
}
