//! Checks on real data, one module per topic.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod encoder;
mod flags;
mod hanna;
mod lexicon;
mod meteor;
mod metrics;
mod models;
mod perturb;
mod readers;
mod report;
mod rouge;
mod slop;
mod stem;
mod suite;
mod text;
mod union;
mod weights;
mod williams;
mod word_metrics;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut files = vec![
        ("encoder", encoder::CHECKS),
        ("flags", flags::CHECKS),
        ("hanna", hanna::CHECKS),
        ("lexicon", lexicon::CHECKS),
        ("meteor", meteor::CHECKS),
        ("metrics", metrics::CHECKS),
        ("perturb", perturb::CHECKS),
        ("readers", readers::CHECKS),
        ("report", report::CHECKS),
        ("rouge", rouge::CHECKS),
        ("slop", slop::CHECKS),
        ("stem", stem::CHECKS),
        ("suite", suite::CHECKS),
        ("text", text::CHECKS),
        ("union", union::CHECKS),
        ("williams", williams::CHECKS),
        ("word_metrics", word_metrics::CHECKS),
    ];
    files.extend(models::CHECKS);
    files.extend(weights::CHECKS);
    storymeter_checks::main(&files)
}
