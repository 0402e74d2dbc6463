#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod batch;
mod in_order;
mod metric_set;
mod pace;
mod rationales;

pub use batch::Batch;
pub use in_order::{Limit, in_order};
pub use metric_set::{CorpusSurvey, MetricSet, Part, mean};
pub use pace::Pace;
