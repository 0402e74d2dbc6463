//! `union`: how likely the story is a whole one, by a model trained to tell human stories from damaged ones.
//!
//! **Definition.** An encoder of the BERT family reads `[CLS] story [SEP]`; a linear layer on the story's vector gives a
//! logit, and its calibrated sigmoid is the score (Guan & Huang, EMNLP 2020, equations 1 and 2):
//!
//! ```text
//! union = sigmoid((w . h + b - bias) / temperature - repetition * repeated)
//! ```
//!
//! Temperature and bias are fitted on held-out stories after training, because the raw sigmoid saturates (the embedded model's
//! temperature is twice the fitted one: `storymeter model pack --soften`). `repeated` is the
//! share of a window's pieces that occur in it before, beyond 0.25; what it costs stands in the model's card (0 unless `storymeter model
//! pack --repetition` says otherwise; 2 for the embedded model). Stories longer
//! than the model's window are read in overlapping windows that end at sentence ends; the logit is their mean, weighted by
//! tokens.
//!
//! **Direction** higher is better. **Range** 0 to 1. **Needs** the story; its prompt is read too, before it, by models that were trained on
//! stories with prompts; the embedded one was not, and agrees better with readers without (docs/experiments.md, section 6).
//!
//! A story without a letter or digit scores 0.
//!
//! The story is made alike before it is read, as far as the model's card says so: quotes, words cut by tokenisers, names.
//!
//! **Model** the one that is part of the program (`storymeter model show union-compact`), or `--model`: a folder written by
//! `storymeter train`, a model file, or the name of an installed model.

use std::sync::{Arc, OnceLock};

use storymeter_core::{Direction, Metric, Needs, Prepared, Signature, Story};

use crate::{Error, Explanation, Score, Scorer};

/// The learned metric behind the [`Metric`] trait.
pub struct UnionMetric {
    scorer: Arc<Scorer>,
    columns: Vec<String>,
    failure: Arc<OnceLock<Error>>,
}

impl UnionMetric {
    /// This file's documentation, which is the metric's page.
    pub const PAGE: &'static str = include_str!("metric.rs");

    /// The metric under the key its user typed.
    pub fn new(key: &str, scorer: impl Into<Arc<Scorer>>) -> Self {
        Self { scorer: scorer.into(), columns: vec![key.to_owned()], failure: Arc::default() }
    }

    /// Where the first error of a device is kept; the scores since then are NaN.
    pub fn failure(&self) -> Arc<OnceLock<Error>> {
        Arc::clone(&self.failure)
    }

    fn probabilities(&self, stories: &[&Story]) -> Vec<f64> {
        self.scorer.score(stories).map_or_else(
            |error| {
                let _ = self.failure.set(error);
                vec![f64::NAN; stories.len()]
            },
            |scores: Vec<Score>| scores.iter().map(|score| score.probability).collect(),
        )
    }

    /// The rows of statistics of stories that were explained: their scores are known.
    pub fn stats_of_explained(explanations: &[Explanation]) -> Vec<f64> {
        explanations.iter().map(|explanation| explanation.union).collect()
    }

    /// The scorer behind it.
    pub fn scorer(&self) -> &Scorer {
        &self.scorer
    }
}

impl Metric for UnionMetric {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        Direction::Higher
    }

    fn needs(&self) -> Needs {
        Needs::STORY
    }

    fn signature(&self) -> Signature {
        self.scorer.signature()
    }

    fn width(&self) -> usize {
        1
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        row[0] = self.probabilities(&[story.story])[0];
    }

    fn stats_of_all(&self, stories: &[Prepared<'_>]) -> Option<Vec<f64>> {
        Some(self.probabilities(&stories.iter().map(|story| story.story).collect::<Vec<_>>()))
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = row[0];
    }
}
