#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! - [`catalogue`] has all metrics of this crate by name, and [`entries`] lists them for a larger
//!   catalogue. The comment at the top of a metric's file is its manual page
//!   ([`Entry::manual`](storymeter_core::Entry::manual)).
//! - `MetricSet` of `storymeter-executor` scores batches of stories with any set of them.
//! - [`tokenize`] has the tokenisers, and the views of a text that metrics share.
#![forbid(unsafe_code)]

mod document_frequency;
mod meteor;
mod metrics;
mod of_corpus;
mod per_story;
mod rouge;
mod slop;
pub mod tokenize;

use storymeter_core::{Catalogue, Entry};

/// All metrics of this crate, in the order of the catalogue.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    metrics::ENTRIES.iter().copied()
}

/// The catalogue of the metrics of this crate.
///
/// ```
/// let error = storymeter_metrics::catalogue().find("text-lenght").err().unwrap();
/// assert!(error.to_string().ends_with("did you mean \"text-length\"?"));
/// ```
pub fn catalogue() -> Catalogue {
    Catalogue::new(entries())
}
