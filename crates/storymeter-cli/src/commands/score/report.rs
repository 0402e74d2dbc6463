//! What is known after all stories were scored, or after the scores of many files were merged: the
//! table, and the notes on standard error.

use std::io::Write as _;
use std::path::Path;

use storymeter::{Overview, Run, TextNote};

use crate::args::Common;
use crate::input::report_skipped;
use crate::output::{Output, Reader};

/// Prints the table to a file or to standard output.
pub fn write_table(table: &Overview, path: Option<&Path>) -> anyhow::Result<()> {
    let mut output = Output::open(path, Reader::Person)?;
    output.write_all(table.to_text().as_bytes())?;
    output.finish()
}

/// Reports on standard error what a reader of the scores should know: how many texts have no score,
/// what surrounds the stories, and how many stories were read only in part or have no value.
pub fn report_counts(common: &Common, run: &Run) {
    if !common.quiet {
        for note in run.text_notes() {
            let way_out = match &note {
                TextNote::NoScore(_) => " (--keep-refusals scores such texts)",
                TextNote::ToUser(_) => " (--clean removes them)",
                _ => "",
            };
            crate::note(&format!("{note}{way_out}"));
        }
        crate::notes(&run.notes());
    }
    report_skipped(common, run.skipped());
}
