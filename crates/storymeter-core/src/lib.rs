//! The types that every part of storymeter shares, and the files they live in.
//!
//! - [`Story`] and its [`Ratings`]: what is measured, and what people said about it.
//! - [`ScoreTable`]: what `score` makes and everything after it reads. Its [`Column`]s know their
//!   [`Key`], [`Direction`], [`Range`] and [`Signature`]; a [`Value`] is present or absent.
//! - [`Metric`]: statistics of stories, and what they amount to. [`Catalogue`]: all metrics by name.
//!   [`Resources`]: what metrics share. [`Prepared`]: a story whose texts are tokenised once.
//! - [`read`]: stories and score tables in any of their layouts. Errors name file, line and field.
//! - [`mod@write`]: stories and scores as JSONL and CSV; [`Header`]: what a score file's columns are.
//! - [`split`]: which stories are for training; [`rng`]: random streams that belong to an item and
//!   never to a thread; [`AtomicFile`]: output that is complete or not there.
#![forbid(unsafe_code)]

mod absence;
mod atomic;
mod column;
mod error;
mod header;
mod key;
mod metric;
mod nearest;
mod prepared;
pub mod read;
pub mod rng;
mod signature;
pub mod split;
mod story;
mod table;
pub mod write;

pub use absence::{Absence, Value, finite_or};
pub use atomic::AtomicFile;
pub use column::{Column, Counts, Direction, Range, Role};
pub use error::{Error, Place, Result};
pub use header::Header;
pub use key::Key;
pub use metric::{
    Batching, Catalogue, Choice, Depth, Description, Device, DeviceProblem, Entry, Explained,
    Metric, MetricError, Needs, PRESET, Pooling, Precision, Rationale, Request, Resources, Rows,
    ScoreColumn, Settings, Span, SpanKind, Survey,
};
pub use nearest::nearest;
pub use prepared::{Prepared, TextCache, View};
pub use signature::{NotASignature, Signature};
pub use story::{Ratings, Story};
pub use table::{Row, ScoreTable};
