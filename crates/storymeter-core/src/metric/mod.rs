//! The trait of all metrics.
//!
//! Every metric first reduces a story to a short row of numbers, its *sufficient statistics*: for
//! BLEU the n-gram matches and lengths, for a length the length itself. The scores of stories, the
//! score of a corpus, bootstrap intervals and paired tests are all computed from these rows. A text
//! is therefore read and tokenised once, and it is not kept.

mod catalogue;
mod corpus;
mod description;
mod error;
mod resources;
mod rows;

use std::io;

use crate::{Prepared, Value};

pub use catalogue::{Catalogue, Choice, Entry, PRESET, Request};
pub use corpus::{CorpusReader, CorpusWriter};
pub use description::{Batching, Description, Needs, Pooling, ScoreColumn};
pub use error::{DeviceProblem, MetricError};
pub use resources::{Device, Precision, Resources, Settings};
pub use rows::Rows;

/// A metric with all its parameters fixed.
pub trait Metric: Send + Sync {
    /// Everything that is known without a story: key, columns, needs and signature.
    fn description(&self) -> &Description;

    /// Computes one row of sufficient statistics per story.
    ///
    /// Stories come in batches because neural networks are faster that way. The row of a story must
    /// not depend on the other stories of its batch. The caller has checked that every story has
    /// what [`Description::needs`] asks for.
    ///
    /// # Errors
    /// Returns an error if a model, a device or a table that the metric needs fails.
    fn rows(&self, stories: &[Prepared<'_>], resources: &Resources) -> Result<Rows, MetricError>;

    /// Turns the row of one story into one value per column. An absent value says why it is absent.
    fn values(&self, row: &[f64], values: &mut [Value]);

    /// Turns the sum of many rows into one value per column.
    ///
    /// It is called only if [`Description::pooling`] is [`Pooling::Sum`].
    fn pooled_values(&self, sum: &[f64], values: &mut [Value]) {
        self.values(sum, values);
    }

    /// Computes the same rows as [`Metric::rows`], with an explanation of each score.
    ///
    /// Returns `None` if the metric cannot explain its scores. Most metrics cannot.
    ///
    /// # Errors
    /// Fails as [`Metric::rows`] does.
    fn explain(
        &self,
        _stories: &[Prepared<'_>],
        _depth: Depth,
        _resources: &Resources,
    ) -> Result<Option<Explained>, MetricError> {
        Ok(None)
    }

    /// Starts the first pass over the corpus, if the metric needs one.
    fn survey(&self) -> Option<Box<dyn Survey>> {
        None
    }

    /// Writes what the metric knows about the corpus after its first pass, so that
    /// [`Metric::with_corpus`] can take it from a file. The bytes must not depend on the order in
    /// which the stories came.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the metric cannot be saved or had no first pass, and the
    /// errors of the output.
    fn save_corpus(&self, _out: &mut CorpusWriter<'_>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The metric that knows the corpus that [`Metric::save_corpus`] wrote, as if it had come from
    /// its first pass. The description must have been the same before that pass.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the metric cannot be saved, and otherwise if the input
    /// cannot be read or is damaged.
    fn with_corpus(&self, _input: &mut CorpusReader<'_>) -> io::Result<Box<dyn Metric>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// How many sentences of a long story an explanation weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// The sentences of the parts that score lowest.
    Weakest,
    /// All sentences.
    All,
}

impl Depth {
    /// The word for it: `weakest` or `all`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weakest => "weakest",
            Self::All => "all",
        }
    }
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
    /// A few lines of text in pieces, so that a terminal can colour them.
    fn spans(&self) -> Vec<Span>;

    /// How to read [`Rationale::spans`]. It is the same for all stories of a metric, so it is shown
    /// once, before the first of them.
    fn legend(&self) -> Vec<Span> {
        Vec::new()
    }

    /// All numbers, as JSON in one line.
    fn to_json(&self) -> String;
}

/// A piece of an explanation, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Its kind.
    pub kind: SpanKind,
}

/// The kind of a piece of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Words of the explanation or of the story.
    Plain,
    /// Words of the story that would be replaced.
    Old,
    /// The words that would replace them.
    New,
    /// A part of the story that changes the score, or words about it.
    Changes(Effect),
    /// A reason to doubt the score.
    Warning,
}

/// How a part of a story changes its score, in steps that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It lowers the score a lot.
    LowersALot,
    /// It lowers the score.
    Lowers,
    /// It lowers the score a little.
    LowersALittle,
    /// It hardly changes the score.
    Neither,
    /// It raises the score a little.
    RaisesALittle,
    /// It raises the score.
    Raises,
    /// It raises the score a lot.
    RaisesALot,
}

impl Effect {
    /// The effect in words that go on a sentence: "this sentence lowers the score a lot".
    pub fn words(self) -> &'static str {
        match self {
            Self::LowersALot => "lowers the score a lot",
            Self::Lowers => "lowers the score",
            Self::LowersALittle => "lowers the score a little",
            Self::Neither => "hardly changes the score",
            Self::RaisesALittle => "raises the score a little",
            Self::Raises => "raises the score",
            Self::RaisesALot => "raises the score a lot",
        }
    }
}

/// An effect is written as its words.
impl serde::Serialize for Effect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// A first pass over the whole input, which gathers document frequencies or a sample of stories.
///
/// Stories come from several threads in any order, and the result must not depend on the order.
pub trait Survey: Send + Sync {
    /// Takes in some stories.
    ///
    /// # Errors
    /// Returns an error if what is gathered cannot be kept.
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError>;

    /// The metric that knows the corpus.
    ///
    /// # Errors
    /// Returns an error if what was gathered could not be written to a temporary file or read back
    /// from it.
    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError>;
}
