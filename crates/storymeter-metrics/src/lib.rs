//! Metrics of stories that need no trained weights, one file each.
//!
//! [`entries`] lists them for a [`Catalogue`]. The documentation at the top of a metric's file is
//! its manual page, which `storymeter metrics show ID` prints. Texts are looked at through views
//! ([`tokenize`]), each built once per text. A [`MetricSet`] runs any set of metrics over batches
//! of stories, whether they are from here or from elsewhere.
//!
//! ```
//! use std::sync::Arc;
//! use storymeter_core::read::Record;
//! use storymeter_core::{Place, Story};
//! use storymeter_metrics::{MetricSet, catalogue};
//!
//! let story = Story { text: "The lamp went out.".into(), ..Story::default() };
//! let metrics = MetricSet::new(&["text-length"], &catalogue(), Arc::default())?;
//! let batch = metrics.batch(&[Record { story, number: 0, place: Place::default() }])?;
//! assert_eq!(batch.values(0), [Ok(5.0)]);
//! # Ok::<(), storymeter_core::MetricError>(())
//! ```
#![forbid(unsafe_code)]

mod document_frequency;
mod in_order;
mod meteor;
mod metric_set;
mod metrics;
mod per_story;
mod rouge;
pub mod tokenize;

use storymeter_core::{Catalogue, Entry};

pub use in_order::in_order;
pub use metric_set::{Batch, CorpusSurvey, MetricSet, Part, mean};

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
