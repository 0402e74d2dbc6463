//! One file per metric. The comment at the top of each file is the manual page of its metric.

mod bertscore;
mod blanc;
mod infolm;
mod rouge_we;
mod s3;

use storymeter_core::Entry;

/// All metrics, in the order of the catalogue.
#[rustfmt::skip]
pub(crate) static ENTRIES: &[&Entry] = &[
    &bertscore::ENTRY,
    &infolm::ENTRY,
    &blanc::ENTRY,
    &rouge_we::ENTRY,
    &s3::ENTRY,
];
