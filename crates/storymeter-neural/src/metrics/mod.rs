//! One file per metric. The comment at the top of each file is the manual page of its metric.

mod bartscore;
mod baryscore;
mod bertscore;
mod blanc;
mod bleurt;
mod depthscore;
mod infolm;
mod moverscore;
mod perplexity;
mod rouge_we;
mod ruber;
mod s3;
mod summaqa;
mod supert;

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
    &supert::ENTRY,
    &blanc::ENTRY,
    &summaqa::ENTRY,
    &bartscore::ENTRY,
    &bleurt::ENTRY,
    &perplexity::ENTRY,
    &ruber::ENTRY,
];
