//! Everything that is known about a metric without a story.

use crate::{Direction, Key, Range, Signature};

/// What a metric must be given besides the story.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooling {
    /// The mean of the stories' values, over the stories that have one.
    #[default]
    Mean,
    /// The value of the sum of the stories' rows, as corpus BLEU does it.
    Sum,
}

/// How many stories a metric wants at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Batching {
    /// One: stories are spread over the threads, and each text is let go as soon as possible.
    #[default]
    Single,
    /// As many as there are: the metric spreads the work over the threads itself.
    Whole,
}

/// One column of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreColumn {
    /// Its key in tables and files.
    pub key: Key,
    /// Whether a larger value means a better story.
    pub direction: Direction,
    /// The possible values.
    pub range: Range,
}

/// Everything that is known about a metric without a story.
///
/// [`Request::describe`](crate::Request::describe) fills it from the catalogue; a metric then says
/// only what is special about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// What the user typed.
    pub key: String,
    /// One column, or several for a family such as ROUGE.
    pub columns: Vec<ScoreColumn>,
    /// What the metric must be given.
    pub needs: Needs,
    /// How many numbers the row of a story has.
    pub width: usize,
    /// How the rows of many stories are combined.
    pub pooling: Pooling,
    /// How many stories it wants at once.
    pub batching: Batching,
    /// Whether it can explain its scores ([`Metric::explain`](crate::Metric::explain)).
    pub explains: bool,
    /// Every parameter that shapes its numbers, without the version.
    pub signature: Signature,
}

impl Description {
    /// The same metric with rows of this width.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// The same metric, scoring many stories by the sum of their rows.
    #[must_use]
    pub fn pooled(mut self) -> Self {
        self.pooling = Pooling::Sum;
        self
    }

    /// The same metric, which wants whole batches.
    #[must_use]
    pub fn in_batches(mut self) -> Self {
        self.batching = Batching::Whole;
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
