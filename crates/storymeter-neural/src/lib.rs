#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! - [`entries`] lists the metrics of this crate for a catalogue. The comment at the top of a
//!   metric's file is its manual page ([`Entry::manual`](storymeter_core::Entry::manual)).
//! - The module `models` finds and opens models: where the user said, in the folders of the
//!   environment variable `STORYMETER_MODELS`, and in the local cache of Hugging Face.
//! - The module `states` computes hidden states once for all metrics that use the same model, and
//!   `idf` counts document frequencies over the whole input.
//! - [`ruber`] has the parts of RUBER-BERT that its training needs too.
#![forbid(unsafe_code)]

mod absent;
mod depth;
mod distances;
mod idf;
mod legacy_random;
mod masked;
mod matching;
mod metrics;
mod models;
mod own_files;
mod recent;
pub mod ruber;
mod soft_overlap;
mod states;
#[cfg(test)]
#[path = "../tests/neural/support.rs"]
mod support;
mod windows;
mod word_vectors;
mod words;

use storymeter_core::Entry;

/// All metrics of this crate, in the order of the catalogue.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    metrics::ENTRIES.iter().copied()
}
