//! One file per metric. The comment at the top of each file is the manual page of its metric.

mod baryscore;
mod bertscore;
mod blanc;
mod depthscore;
mod infolm;
mod moverscore;
mod rouge_we;
mod s3;

use storymeter_core::Entry;

/// All metrics, in the order of the catalogue.
pub(crate) static ENTRIES: &[&Entry] = &[
    &bertscore::ENTRY,
    &moverscore::ENTRY,
    &baryscore::ENTRY,
    &depthscore::ENTRY,
    &infolm::ENTRY,
    &rouge_we::ENTRY,
    &s3::ENTRY,
    &blanc::ENTRY,
];
