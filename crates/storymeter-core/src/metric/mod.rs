//! What a metric is: statistics of stories, and what they amount to for one story or for many.
//!
//! Every metric first boils a story down to a short row of numbers, its *sufficient statistics*:
//! n-gram matches and lengths for BLEU, one number for a length. Scores of stories, scores of a
//! corpus, bootstrap intervals and paired tests all start from these rows. A text is therefore
//! read and tokenised once, and never kept.

mod catalogue;
mod description;
mod error;
mod resources;
mod rows;

use crate::{Prepared, Value};

pub use catalogue::{Catalogue, Choice, Entry, PRESET, Request};
pub use description::{Batching, Description, Needs, Pooling, ScoreColumn};
pub use error::{DeviceProblem, MetricError};
pub use resources::{Device, Precision, Resources, Settings};
pub use rows::Rows;

/// A metric with all its parameters fixed.
pub trait Metric: Send + Sync {
    /// Key, columns, needs and signature: everything that is known without a story.
    fn description(&self) -> &Description;

    /// Computes one row of sufficient statistics per story.
    ///
    /// Stories arrive in batches because networks need them. A row must not depend on the batch
    /// it came in. Whoever calls has checked that every story has what
    /// [`Description::needs`] asks for.
    ///
    /// # Errors
    /// Where a model, a device or a table that the metric needs fails.
    fn rows(&self, stories: &[Prepared<'_>], resources: &Resources) -> Result<Rows, MetricError>;

    /// Turns the row of one story into one value per column, or says why there is none.
    fn values(&self, row: &[f64], values: &mut [Value]);

    /// Turns the sum of many rows into one value per column.
    ///
    /// It is called only where [`Description::pooling`] is [`Pooling::Sum`].
    fn pooled_values(&self, sum: &[f64], values: &mut [Value]) {
        self.values(sum, values);
    }

    /// Rows as [`Metric::rows`] gives them, with an explanation of each score.
    ///
    /// Returns `None` where the metric cannot explain itself, as most cannot.
    ///
    /// # Errors
    /// As [`Metric::rows`].
    fn explain(
        &self,
        _stories: &[Prepared<'_>],
        _depth: Depth,
        _resources: &Resources,
    ) -> Result<Option<Explained>, MetricError> {
        Ok(None)
    }

    /// Starts the first pass of a metric that needs the corpus; `None` for all others.
    fn survey(&self) -> Option<Box<dyn Survey>> {
        None
    }
}

/// How many sentences of a long story an explanation weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Those of the parts that score lowest.
    Weakest,
    /// Every one.
    All,
}

/// Rows and explanations of a batch of stories.
pub struct Explained {
    /// The rows, as [`Metric::rows`] would give them.
    pub rows: Rows,
    /// One explanation per story.
    pub rationales: Vec<Box<dyn Rationale>>,
}

/// Why a story got its score, for people and for programs.
pub trait Rationale: Send {
    /// Plain text of a few lines, without colours.
    fn to_text(&self) -> String {
        self.spans().into_iter().map(|span| span.text).collect()
    }

    /// The same text in pieces, so that a terminal can colour what would be changed.
    fn spans(&self) -> Vec<Span>;

    /// All numbers, as JSON.
    fn to_json(&self) -> serde_json::Value;
}

/// A piece of an explanation and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// What it is.
    pub kind: SpanKind,
}

/// What a piece of an explanation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Words of the explanation or of the story.
    Plain,
    /// What stands in the story and would be changed.
    Old,
    /// What would stand there instead.
    New,
}

/// A first pass over the whole input: document frequencies, or a sample of stories.
///
/// Stories come from several threads in any order, so what is gathered must not depend on it.
pub trait Survey: Send + Sync {
    /// Takes in some stories.
    ///
    /// # Errors
    /// Where what is gathered cannot be kept.
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError>;

    /// The metric that knows the corpus.
    ///
    /// # Errors
    /// Where what was gathered could not be put aside or read back.
    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError>;
}
