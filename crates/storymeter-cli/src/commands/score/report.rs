//! What is known after all stories were scored, or after the scores of many files were merged: the
//! table, and the notes on standard error.

use std::io::Write as _;
use std::path::Path;

use storymeter::{Overview, Run};

use crate::args::Common;
use crate::input::report_skipped;
use crate::output::{Output, Reader};

/// Says how to find the texts that are not like a story.
const EXPLAIN: &str = " (--explain shows which)";

/// Prints the table to a file or to standard output.
pub fn write_table(table: &Overview, path: Option<&Path>, common: &Common) -> anyhow::Result<()> {
    let mut output = Output::open(path, Reader::Person)?;
    let text = if common.quiet { table.to_brief_text() } else { table.to_text() };
    output.write_all(text.as_bytes())?;
    output.finish()
}

/// Reports on standard error how many stories are empty, were read only in part, have no value, or
/// do not look like stories. `explained` says whether each of the last was shown with a warning.
pub fn report_counts(common: &Common, run: &Run, explained: bool) {
    if !common.quiet {
        run.notes().iter().for_each(|note| crate::note(note));
    }
    report_skipped(common, run.skipped());
    let note = run.other_texts_note().filter(|_| !common.quiet);
    // A single text needs no search.
    let way = if explained || run.ledger().len() == 1 { "" } else { EXPLAIN };
    note.iter().for_each(|note| crate::note(&format!("{note}{way}")));
}
