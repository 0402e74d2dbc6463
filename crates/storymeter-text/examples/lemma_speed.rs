//! Prints how many verb forms per second are traced to their base: `lemma_speed FIXTURE`.
//!
//! `benches/peers/lemmas.sh` runs it. The time is the wall time of the fastest of many rounds,
//! which on a busy machine is nearest to CPU time.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use storymeter_text::morphology::verb;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: lemma_speed FIXTURE")?;
    let text = std::fs::read_to_string(path)?;
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let forms: Vec<&str> =
        rows.flat_map(|row| row.split('\t').filter_map(|cell| cell.split('/').next())).collect();
    let mut fastest = Duration::MAX;
    for _ in 0..200 {
        let start = Instant::now();
        for form in &forms {
            black_box(verb::base(black_box(form)));
        }
        fastest = fastest.min(start.elapsed());
    }
    println!("{:.0}", forms.len() as f64 / fastest.as_secs_f64());
    Ok(())
}
