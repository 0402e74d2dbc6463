//! Trains the part-of-speech tagger.
//!
//! ```text
//! cargo run --release -p storymeter-text --example train_tagger -- TRAIN.tsv.gz DEV.tsv.gz -o MODEL [--NAME VALUE]...
//! ```
//!
//! The files have a token, a tab and a tag a line, and a blank line between sentences. Options: `--epochs`, `--runs`,
//! `--margin`, `--min-count`, `--dictionary-count`, `--class-count`, `--seed`, `--scale`. The same data and options give the
//! same bytes.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "support/tagged.rs"]
mod tagged;

use std::error::Error;

use storymeter_text::tagger::Tagger;
use storymeter_text::tagger::train::{Options, train};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut scale = None;
    let mut out = None;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "-o" => out = Some(value()?),
            "--epochs" => options.epochs = value()?.parse()?,
            "--runs" => options.runs = value()?.parse()?,
            "--margin" => options.margin = value()?.parse()?,
            "--min-count" => options.min_count = value()?.parse()?,
            "--dictionary-count" => options.dictionary_count = value()?.parse()?,
            "--class-count" => options.class_count = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--scale" => scale = Some(value()?.parse::<f32>()?),
            option if option.starts_with('-') => return Err(format!("unknown option {option}").into()),
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
    // The finest rounding is not always the best: the development set chooses.
    let scales = scale.map_or(vec![1.0, 2.0, 3.0, 4.0, 6.0], |scale| vec![scale]);
    let mut best = (-1.0, Vec::new());
    for scale in scales {
        let bytes = trained.pack(scale);
        let score = tagged::evaluate(&Tagger::from_bytes(&bytes)?, &dev);
        let lower = tagged::evaluate(&Tagger::from_bytes(&bytes)?, &tagged::lower_cased(&dev));
        println!(
            "scale {scale}: {} bytes, {:.2}% of the development tags right, {:.2}% lower-cased",
            bytes.len(),
            score.percent(),
            lower.percent()
        );
        if score.percent() + lower.percent() > best.0 {
            best = (score.percent() + lower.percent(), bytes);
        }
    }
    std::fs::write(&out, best.1)?;
    Ok(())
}
