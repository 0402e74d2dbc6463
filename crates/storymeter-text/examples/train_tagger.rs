//! Trains the part-of-speech tagger.
//!
//! ```text
//! cargo run --release -p storymeter-text --example train_tagger -- \
//!     TRAIN.tsv.gz DEV.tsv.gz -o MODEL [--NAME VALUE]...
//! ```
//!
//! The files have one token per line, followed by a tab and its tag, and a blank line between
//! sentences. The options are `--epochs`, `--margin`, `--min-count`, `--dictionary-count`,
//! `--class-count`, `--seed` and `--scale`. The same data and options give the same bytes.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "support/tagged.rs"]
mod tagged;

/// Training shares the decoder and the features with the tagger. They are no part of the library's
/// interface, and are compiled here from the same files.
#[path = "../src/tagger"]
mod tagger {
    pub use storymeter_text::tagger::Tag;

    mod decode;
    #[allow(dead_code)]
    mod features;
    #[allow(dead_code)]
    mod model;
    mod table;
    #[path = "../../examples/support/train.rs"]
    pub mod train;
}

use std::error::Error;

use storymeter_text::tagger::Tagger;
use storymeter_text::treebank;
use tagger::train::{Options, train};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    // Weights are rounded to this fraction of the first step: coarse enough for one byte, and fine
    // enough to lose no accuracy.
    let mut scale = 8.0;
    let mut out = None;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "-o" => out = Some(value()?),
            "--epochs" => options.epochs = value()?.parse()?,
            "--margin" => options.margin = value()?.parse()?,
            "--min-count" => options.min_count = value()?.parse()?,
            "--dictionary-count" => options.dictionary_count = value()?.parse()?,
            "--class-count" => options.class_count = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--scale" => scale = value()?.parse::<f32>()?,
            option if option.starts_with('-') => {
                return Err(format!("unknown option {option}").into());
            }
            _ => files.push(argument),
        }
    }
    let [train_file, dev_file] = files.as_slice() else {
        return Err("give a training and a development file".into());
    };
    let out = out.ok_or("give the model's path with -o")?;
    let dev = tagged::read(dev_file.as_ref())?;
    let trained = train(&tagged::read(train_file.as_ref())?, &options, |epoch, accuracy| {
        eprintln!("epoch {:2}: {:.2}% of the training tags right", epoch + 1, 100.0 * accuracy);
    });
    let bytes = trained.pack(scale);
    let tagger = Tagger::from_bytes(&bytes)?;
    println!(
        "{} bytes; {:.2}% of the development tags right, {:.2}% lower-cased",
        bytes.len(),
        tagged::evaluate(&tagger, &dev, 1).percent(),
        tagged::evaluate(&tagger, &tagged::lower_cased(&dev), 1).percent()
    );
    std::fs::write(&out, bytes)?;
    Ok(())
}
