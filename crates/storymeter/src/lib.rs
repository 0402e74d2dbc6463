//! Measure how good a story is, and how good a measure of stories is.
//!
//! This crate is the front door: it re-exports the parts, each of which has one job.
#![forbid(unsafe_code)]

pub use storymeter_core as core;
pub use storymeter_encoder as encoder;
pub use storymeter_meta as meta;
pub use storymeter_metrics as metrics;
pub use storymeter_perturb as perturb;
pub use storymeter_report as report;
pub use storymeter_stats as stats;
pub use storymeter_text as text;
pub use storymeter_union as union;

pub mod catalogue;
pub mod summary;
