//! What a verb that reads stories accepts.

use std::path::PathBuf;

use clap::Args;
use storymeter::core::read::{Format, ReadOptions, Skipped};
use storymeter::input::Inputs;

use crate::args::Common;

/// What a verb that reads stories accepts.
#[derive(Debug, Clone, Args)]
pub struct InputArgs {
    /// Stories: files, folders, or - for standard input. JSONL, CSV, TSV, plain text, the layouts of
    /// UNION and HANNA, and gzip of any. The format is found from name and content
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The format of the input, where it cannot be told from name and content: jsonl, csv, tsv, text
    /// (stories separated by blank lines), lines (one story per line), union, roc, wp, hanna, parquet
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<Format>,
    /// Skip bad records, count them and report them on stderr, instead of stopping at the first one
    #[arg(long)]
    pub skip_bad: bool,
}

impl InputArgs {
    /// How the input is read.
    pub fn options(&self) -> ReadOptions {
        ReadOptions { format: self.input_format, skip_bad: self.skip_bad, ..ReadOptions::default() }
    }

    /// Inputs that are read once.
    pub fn once(&self) -> Inputs {
        Inputs::new(self.files.clone(), self.options())
    }

    /// Inputs of which stories without any text are accepted.
    pub fn allowing_empty_stories(&self) -> Inputs {
        let options = ReadOptions { allow_empty: true, ..self.options() };
        Inputs::new(self.files.clone(), options)
    }
}

/// Says on stderr what was skipped.
pub fn report_skipped(common: &Common, skipped: &Skipped) {
    if skipped.count == 0 || common.quiet {
        return;
    }
    let note = crate::note;
    note(&format!("{} bad records were skipped:", skipped.count));
    for message in &skipped.messages {
        note(&format!("  {message}"));
    }
    let more = skipped.count - skipped.messages.len() as u64;
    if more > 0 {
        note(&format!("  and {more} more"));
    }
}
