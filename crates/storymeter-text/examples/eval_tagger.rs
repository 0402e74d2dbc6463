//! Prints the accuracy and speed of the embedded tagger.
//!
//! ```text
//! cargo run --release -p storymeter-text --example eval_tagger -- FILE.tsv.gz...
//! ```
#![allow(clippy::print_stdout)]

#[path = "support/tagged.rs"]
mod tagged;

use std::error::Error;
use std::path::Path;

use storymeter_text::tagger::Tagger;

fn main() -> Result<(), Box<dyn Error>> {
    let tagger = Tagger::embedded();
    println!(
        "{:<28} {:>8} {:>9} {:>12} {:>14}",
        "file", "tokens", "accuracy", "lower-cased", "tokens/second"
    );
    for argument in std::env::args().skip(1) {
        let path = Path::new(&argument);
        let sentences = tagged::read(path)?;
        let score = tagged::evaluate(tagger, &sentences, 9);
        let lower = tagged::evaluate(tagger, &tagged::lower_cased(&sentences), 1);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!(
            "{name:<28} {:>8} {:>8.2}% {:>11.2}% {:>14.0}",
            score.total,
            score.percent(),
            lower.percent(),
            score.speed()
        );
    }
    Ok(())
}
