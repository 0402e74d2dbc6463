//! What is known after all stories were scored, or after the scores of many files were merged: the
//! table, and the notes on standard error.

use storymeter::Run;
use storymeter::core::Progress;
use storymeter::ledger::Resampling;

use super::table::Table;
use super::unlike;
use crate::args::Common;
use crate::input::report_skipped;

/// The table, with its intervals and tests.
pub fn table<'a>(
    run: &'a Run,
    resampling: &Resampling,
    against: Option<&'a str>,
    progress: &Progress,
) -> anyhow::Result<Table<'a>> {
    let (ledger, metrics) = (run.ledger(), run.metrics());
    let systems = ledger.systems().len();
    progress.begin("drawing intervals");
    progress.expect(1 + systems as u64 * if against.is_some() { 2 } else { 1 });
    let comparisons = match against {
        Some(system) => ledger.against(system, metrics, resampling, progress)?,
        None => Vec::new(),
    };
    Ok(Table {
        columns: metrics.columns(),
        all: ledger.all(metrics, resampling),
        systems: ledger.by_system(metrics, resampling, progress),
        comparisons,
        against,
        signatures: run.signatures(resampling),
        confidence: resampling.confidence,
    })
}

/// Reports on standard error how many stories are empty, were read only in part, have no value, or
/// do not look like stories. `explained` says whether each of the last was shown with a warning.
pub fn report_counts(common: &Common, run: &Run, explained: bool) {
    if !common.quiet {
        let stories = run.ledger().len();
        if run.empty_stories() > 0 {
            let empty = run.empty_stories();
            crate::note(&format!("{empty} of {stories} stories have no text; they are scored too"));
        }
        let mut reported: Vec<&str> = Vec::new();
        let columns = run.columns();
        for column in &columns {
            let metric = column.key.metric();
            if reported.contains(&metric) {
                continue;
            }
            reported.push(metric);
            if column.counts.truncated > 0 {
                let cut = column.counts.truncated;
                crate::note(&format!(
                    "{metric}: of {cut} of {stories} stories only a part was read"
                ));
            }
            if column.counts.absent > 0 {
                let absent = column.counts.absent;
                crate::note(&format!("{metric}: {absent} of {stories} stories have no value"));
            }
        }
    }
    report_skipped(common, &run.skipped);
    let note = unlike::note(&run.unlike, &run.learned(), run.ledger().len(), explained);
    note.iter().filter(|_| !common.quiet).for_each(|note| crate::note(note));
}
