//! The options of all verbs that read stories.

use std::path::PathBuf;

use clap::Args;
use storymeter::core::read::{Format, ReadOptions, Skipped};
use storymeter::input::Inputs;

use crate::args::Common;

/// The options of all verbs that read stories.
#[derive(Debug, Clone, Args)]
pub struct InputArgs {
    /// Files or folders of stories, or - for standard input. The formats are JSONL, CSV, TSV, plain
    /// text and the layouts of UNION and HANNA, all of them gzipped or not. The format is found
    /// from the name and the content
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The format of the stories, if it is not found from the name and the content: jsonl, csv,
    /// tsv, text (stories separated by blank lines), lines (one story per line), union, roc, wp,
    /// hanna or parquet
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<Format>,
    /// Skip bad records and report them on standard error, instead of stopping at the first one
    #[arg(long)]
    pub skip_bad: bool,
}

impl InputArgs {
    /// How the input is read.
    pub fn options(&self) -> ReadOptions {
        ReadOptions { format: self.input_format, skip_bad: self.skip_bad, ..ReadOptions::default() }
    }

    /// The inputs. A story without any text is a bad record.
    pub fn once(&self) -> Inputs {
        Inputs::new(self.files.clone(), self.options())
    }

    /// The inputs. Stories without any text are accepted.
    pub fn allowing_empty_stories(&self) -> Inputs {
        let options = ReadOptions { allow_empty: true, ..self.options() };
        Inputs::new(self.files.clone(), options)
    }
}

/// Reports on standard error how many records were skipped, and why the first ones were bad.
pub fn report_skipped(common: &Common, skipped: &Skipped) {
    if skipped.count == 0 || common.quiet {
        return;
    }
    crate::note(&match skipped.count {
        1 => "1 bad record was skipped:".to_owned(),
        count => format!("{count} bad records were skipped:"),
    });
    for message in &skipped.messages {
        crate::note(&format!("  {message}"));
    }
    let more = skipped.count - skipped.messages.len() as u64;
    if more > 0 {
        crate::note(&format!("  and {more} more"));
    }
}
