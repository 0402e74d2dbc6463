//! `disscore`: how likely a human wrote the story, and not a machine.
//!
//! The judge is a discriminator: a model that was trained to tell human stories from stories that
//! machines wrote (Kannan and Vinyals, 2017). It is a baseline in Table 5 of the UNION paper (Guan
//! and Huang, EMNLP 2020), where it hardly agrees with readers: it learns the habits of the
//! machines that it saw, and not what makes a story good. On ROCStories its Pearson, Spearman and
//! Kendall correlations with readers are 0.041, 0.063 and 0.046 there.
//!
//! Definition: an encoder of the BERT family reads `[CLS] story [SEP]`, and a linear layer on the
//! vector of the story gives a logit. The score is the sigmoid of the logit divided by a
//! temperature that was fitted on held-out stories.
//!
//! Needs: the story. Long stories are read in windows, as by the metric `union`.
//!
//! Model: a folder that `storymeter train --kind disscore` wrote, or a model file packed from it.
//! There is no published model of this metric.
//!
//! Direction: higher is better. Range: 0 to 1.

use std::sync::Arc;

use storymeter_core::{
    Description, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Resources, Rows,
    Story, Value, finite_or,
};

use crate::metric::{metric_error, open};
use crate::{Kind, Scorer};

/// The entry of the metric `disscore` in the catalogue.
///
/// Its model is the one that [`Settings::weights`](storymeter_core::Settings::weights) names under
/// `disscore`.
pub static ENTRY: Entry = Entry {
    ids: &["disscore"],
    choices: &[],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("disscore.rs"),
    build: |request| {
        let scorer = open(request, Kind::DisScore)?;
        let description = request.describe().in_batches().signature(scorer.signature());
        Ok(Box::new(DisScore { scorer, description }))
    },
};

struct DisScore {
    scorer: Arc<Scorer>,
    description: Description,
}

impl Metric for DisScore {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let stories: Vec<&Story> = stories.iter().map(|story| story.story).collect();
        let scores = self.scorer.score(&stories);
        let scores = scores.map_err(|error| metric_error(&self.description.key, error))?;
        let probabilities = scores.iter().map(|score| score.probability).collect();
        Ok(Rows::from_values(1, probabilities))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        values[0] = finite_or(row[0], "the model gives no finite number");
    }
}
