//! What a metric is: statistics of one story, and what they amount to for one story or for many.
//!
//! Every metric first boils a story down to a short row of numbers, its *sufficient statistics*: n-gram matches
//! and lengths for BLEU, one number for a length. Sentence scores, corpus scores, bootstrap intervals and paired
//! tests all start from these rows, so a text is read and tokenised once and never kept.

use crate::{Direction, Prepared, Result, Signature};

/// What a metric must be given besides the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// At least one reference story.
    pub reference: bool,
    /// The prompt.
    pub prompt: bool,
    /// A first pass over the whole input (see [`Metric::survey`]).
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

/// How the rows of many stories become one number a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of the stories' scores.
    Mean,
    /// [`Metric::pooled_score`] of the sum of the stories' rows, as corpus BLEU does it.
    Sum,
}

/// A metric with all its parameters fixed.
pub trait Metric: Send + Sync {
    /// The keys its scores have in the output: one, or one a column for a family such as ROUGE.
    fn columns(&self) -> &[String];

    /// Which way its columns point.
    fn direction(&self) -> Direction;

    /// What it must be given.
    fn needs(&self) -> Needs;

    /// Every parameter that shapes its numbers.
    fn signature(&self) -> Signature;

    /// How many numbers a story's row of statistics has.
    fn width(&self) -> usize;

    /// Fills one story's row, which is `width` zeros when it comes in.
    ///
    /// What [`Metric::needs`] asks for is there: whoever calls has checked.
    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]);

    /// The rows of many stories, one after the other, from a metric that works better on many stories at once,
    /// such as an encoder; `None` from all others, whose stories are taken one by one.
    fn stats_of_all(&self, _stories: &[Prepared<'_>]) -> Option<Vec<f64>> {
        None
    }

    /// The story's scores, one a column, from its row.
    fn score(&self, row: &[f64], scores: &mut [f64]);

    /// How rows of many stories become one score a column.
    fn pooling(&self) -> Pooling {
        Pooling::Mean
    }

    /// The scores of a sum of rows; only called where [`Metric::pooling`] says [`Pooling::Sum`].
    fn pooled_score(&self, sum: &[f64], scores: &mut [f64]) {
        self.score(sum, scores);
    }

    /// The scores of all stories together. An empty set of stories scores NaN.
    fn aggregate(&self, rows: &[&[f64]], scores: &mut [f64]) {
        if rows.is_empty() {
            scores.fill(f64::NAN);
            return;
        }
        match self.pooling() {
            Pooling::Sum => {
                let mut sum = vec![0.0; self.width()];
                for row in rows {
                    sum.iter_mut().zip(*row).for_each(|(total, x)| *total += x);
                }
                self.pooled_score(&sum, scores);
            }
            Pooling::Mean => {
                let mut one = vec![0.0; scores.len()];
                scores.fill(0.0);
                for row in rows {
                    self.score(row, &mut one);
                    scores.iter_mut().zip(&one).for_each(|(total, x)| *total += x);
                }
                scores.iter_mut().for_each(|total| *total /= rows.len() as f64);
            }
        }
    }

    /// The first pass of a metric that needs the corpus; `None` for all others.
    fn survey(&self) -> Option<Box<dyn Survey>> {
        None
    }
}

/// A first pass over the whole input: document frequencies, a sample of stories.
///
/// Stories come from several threads in any order, so what is gathered must not depend on the order.
pub trait Survey: Send + Sync {
    /// Takes in one story.
    fn add(&self, story: &Prepared<'_>);

    /// The metric that knows the corpus; an error where what was gathered could not be put aside or read back.
    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>>;
}
