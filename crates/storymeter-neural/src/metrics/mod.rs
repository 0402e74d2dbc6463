//! One file per metric. The comment at the top of each file is the manual page of its metric.

mod bertscore;
mod rouge_we;
mod s3;
mod supert;

use storymeter_core::Entry;

/// All metrics, in the order of the catalogue.
pub(crate) static ENTRIES: &[&Entry] =
    &[&bertscore::ENTRY, &rouge_we::ENTRY, &s3::ENTRY, &supert::ENTRY];
