//! The types that every part of storymeter shares, and the files that they are read from and
//! written to.
//!
//! - [`Story`] is what is scored, and its [`Ratings`] are what people said about it.
//! - [`ScoreTable`] is what `score` makes and every later step reads. Each [`Column`] knows its
//!   [`Key`], [`Direction`], [`Range`] and [`Signature`], and each [`Value`] is present or absent.
//! - [`Metric`] is the trait of all metrics. The [`Catalogue`] has them by name, they share
//!   [`Resources`], and they read a [`Prepared`] story, whose texts are tokenised once.
//! - [`read`] reads stories and score tables in all their layouts. Its errors name the file, the
//!   line and the field.
//! - [`mod@write`] writes stories and scores as JSONL and CSV. The [`Header`] of a score file says
//!   what its columns are.
//! - [`mod@file`] is how all parts treat files of the user: an [`AtomicFile`] is complete or not
//!   there. [`terminal`] keeps texts of users from being more than text, [`number`] writes numbers
//!   for people, and [`repeated`] says once what many messages say.
//! - `configuration` (feature `settings`) reads and writes settings as TOML files that explain
//!   themselves.
//! - [`split`] decides which stories are for training. [`rng`] gives random streams that belong to
//!   an item and never to a thread.
#![forbid(unsafe_code)]

/// The examples of README.md, which run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod absence;
mod aspect;
mod column;
#[cfg(feature = "settings")]
pub mod configuration;
mod error;
pub mod file;
mod header;
mod key;
mod metric;
mod nearest;
pub mod number;
mod prepared;
mod progress;
pub mod read;
pub mod repeated;
pub mod rng;
mod signature;
pub mod split;
pub mod spreadsheet;
mod story;
mod table;
pub mod terminal;
mod validity;
pub mod write;

pub use absence::{Absence, Value, finite_or};
pub use aspect::{Aspect, AspectTest};
pub use column::{Column, Counts, Direction, Range, Role};
pub use error::{Error, Missing, Place, Result};
pub use file::AtomicFile;
pub use header::{
    FileMark, FlagCounts, Header, MetricSums, MetricTotals, ShardMark, SystemFlags, SystemTotals,
    TextTotals, Totals,
};
pub use key::Key;
pub use metric::{
    Batching, Catalogue, Choice, CorpusReader, CorpusWriter, Depth, Description, Device,
    DeviceProblem, Effect, Entry, Explained, Metric, MetricError, Needs, PRESET, Pooling,
    Precision, Rationale, Request, Resources, Rows, ScoreColumn, Settings, Span, SpanKind, Survey,
};
pub use nearest::nearest;
pub use prepared::{Prepared, TextCache, View};
pub use progress::{Progress, Stage};
pub use signature::{NotASignature, Signature};
pub use story::{Ratings, Story, item_key};
pub use table::{ColumnView, Origin, Row, RowIndex, ScoreTable};
pub use validity::{LengthClass, Norms, Validity, length_range};
