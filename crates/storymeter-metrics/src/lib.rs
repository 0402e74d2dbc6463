#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! - [`catalogue`] has all metrics of this crate by name, and [`entries`] lists them for a larger
//!   catalogue. The comment at the top of a metric's file is its manual page
//!   ([`Entry::manual`](storymeter_core::Entry::manual)).
//! - [`MetricSet`] scores batches of stories with any set of metrics, whether they are from this
//!   crate or from elsewhere.
//! - [`tokenize`] has the tokenisers, and the views of a text that metrics share.
//! - [`in_order()`] works on several batches at once and takes their results in order.
#![forbid(unsafe_code)]

mod document_frequency;
mod in_order;
mod meteor;
mod metric_set;
mod metrics;
mod of_corpus;
mod pace;
mod per_story;
mod rationales;
mod rouge;
pub mod tokenize;

use storymeter_core::{Catalogue, Entry};

pub use in_order::{Limit, in_order};
pub use metric_set::{Batch, CorpusSurvey, MetricSet, Part, mean};
pub use pace::Pace;

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
