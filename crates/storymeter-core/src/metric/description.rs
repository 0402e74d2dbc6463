//! Everything that is known about a metric without a story.

use crate::{Column, Direction, Key, Norms, Range, Signature, Validity};

/// What a metric needs besides the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// At least one reference story.
    pub reference: bool,
    /// The prompt.
    pub prompt: bool,
    /// A first pass over the whole input (see [`Metric::survey`](crate::Metric::survey)).
    pub corpus: bool,
}

impl Needs {
    /// The story alone.
    pub const STORY: Self = Self { reference: false, prompt: false, corpus: false };
    /// The story and at least one reference.
    pub const REFERENCE: Self = Self { reference: true, ..Self::STORY };
    /// The story and its prompt.
    pub const PROMPT: Self = Self { prompt: true, ..Self::STORY };
}

/// How the rows of many stories are combined into one score per column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The score is the mean of the values of the stories that have one.
    #[default]
    Mean,
    /// The rows are added up, and the score is computed from the sum, as in corpus BLEU.
    Sum,
}

/// The number of stories that a metric is given at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Batching {
    /// One story at a time. The caller shares the stories among the threads.
    #[default]
    Single,
    /// A whole batch. The metric shares the work among the threads itself.
    Whole,
    /// A part of a batch, as large as a limit on the text of its stories allows. The metric shares
    /// the work among the threads itself. This is for metrics that keep much about each text, such
    /// as the hidden states of all its tokens.
    Portion,
}

impl Batching {
    /// About how many bytes of text the stories of a [`Portion`](Self::Portion) have, with their
    /// prompts and references. One story alone may have more.
    pub const PORTION_BYTES: usize = 128 << 10;
}

/// One column of a metric.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScoreColumn {
    /// The key in tables and files.
    pub key: Key,
    /// Whether a larger value means a better story.
    pub direction: Direction,
    /// The possible values.
    pub range: Range,
    /// How far the numbers can be trusted, if the metric is learned and its card says so.
    pub validity: Option<Validity>,
    /// The numbers that human stories get, if the metric knows them.
    pub norms: Option<Norms>,
}

/// Everything that is known about a metric without a story.
///
/// [`Request::describe`](crate::Request::describe) fills it from the catalogue. A metric changes
/// only what is special about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// What the user typed.
    pub key: String,
    /// One column, or several for a family such as ROUGE.
    pub columns: Vec<ScoreColumn>,
    /// What the metric needs besides the story.
    pub needs: Needs,
    /// The number of values in the row of a story.
    pub width: usize,
    /// How the rows of many stories are combined.
    pub pooling: Pooling,
    /// The number of stories that the metric is given at once.
    pub batching: Batching,
    /// Whether it can explain its scores ([`Metric::explain`](crate::Metric::explain)).
    pub explains: bool,
    /// All parameters that can change its values, without the version.
    pub signature: Signature,
}

impl From<&Column> for ScoreColumn {
    fn from(column: &Column) -> Self {
        Self {
            key: column.key.clone(),
            direction: column.direction,
            range: column.range,
            validity: column.validity.clone(),
            norms: column.norms.clone(),
        }
    }
}

impl From<&ScoreColumn> for Column {
    fn from(column: &ScoreColumn) -> Self {
        Self::metric(column.key.clone(), column.direction).with(|it| {
            it.range = column.range;
            it.validity.clone_from(&column.validity);
            it.norms.clone_from(&column.norms);
        })
    }
}

impl Description {
    /// The same metric with rows of this width.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// The same metric, which scores many stories by the sum of their rows.
    #[must_use]
    pub fn pooled(mut self) -> Self {
        self.pooling = Pooling::Sum;
        self
    }

    /// The same metric, which is given whole batches.
    #[must_use]
    pub fn in_batches(mut self) -> Self {
        self.batching = Batching::Whole;
        self
    }

    /// The same metric, which is given parts of batches.
    #[must_use]
    pub fn in_portions(mut self) -> Self {
        self.batching = Batching::Portion;
        self
    }

    /// The same metric, which can explain its scores.
    #[must_use]
    pub fn explains(mut self) -> Self {
        self.explains = true;
        self
    }

    /// The same metric with values in this range.
    #[must_use]
    pub fn range(mut self, range: Range) -> Self {
        self.columns.iter_mut().for_each(|column| column.range = range);
        self
    }

    /// The same metric with one column per member, all with the direction and range of the
    /// catalogue.
    #[must_use]
    pub fn family<T: AsRef<str>>(mut self, members: impl IntoIterator<Item = T>) -> Self {
        let template = self.columns.remove(0);
        self.columns = members
            .into_iter()
            .map(|member| ScoreColumn {
                key: Key::member(&self.key, member.as_ref()),
                ..template.clone()
            })
            .collect();
        self
    }

    /// The same metric with this signature.
    #[must_use]
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }
}
