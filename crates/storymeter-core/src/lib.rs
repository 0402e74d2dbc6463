//! The types every part of storymeter shares, and the files they live in.
//!
//! - [`Story`] and its [`Ratings`]: what is measured, and what people said of it;
//! - [`ScoreTable`]: system x item x column, what meta-evaluation reads;
//! - [`Signature`]: how a number came about, printed with the number;
//! - [`Metric`]: statistics of one story, and what they amount to; [`Prepared`]: its texts, tokenised once;
//! - [`read`]: stories in any of the layouts they come in, as a stream; errors name file, line and field;
//! - [`mod@write`]: stories as JSONL and CSV; [`split`]: which of them are for training;
//! - [`rng`]: random streams that belong to an item, never to a thread;
//! - [`AtomicFile`]: output that is complete or not there.
#![forbid(unsafe_code)]

mod atomic;
mod error;
mod metric;
mod prepared;
pub mod read;
pub mod rng;
mod signature;
pub mod split;
mod story;
mod table;
pub mod write;

pub use atomic::AtomicFile;
pub use error::{Error, Place, Result};
pub use metric::{Metric, Needs, Pooling, Survey};
pub use prepared::{Prepared, TextCache, View};
pub use signature::Signature;
pub use story::{Ratings, Story};
pub use table::{Column, Direction, Role, ScoreTable};
