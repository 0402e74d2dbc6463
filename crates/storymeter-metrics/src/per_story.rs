//! Metrics that look at one story at a time: what they have in common, written once.

use storymeter_core::{
    Description, Metric, MetricError, Prepared, Resources, Rows, Value, finite_or,
};

/// How one story is measured. [`PerStory`] makes a [`Metric`] of it.
pub(crate) trait Measure: Send + Sync {
    /// Fills the row of one story, which is all zero when it comes in.
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]);

    /// The scores of a row, one per column.
    fn scores(&self, row: &[f64], scores: &mut [f64]);

    /// The scores of a sum of rows, where the metric pools rows.
    fn pooled_scores(&self, sum: &[f64], scores: &mut [f64]) {
        self.scores(sum, scores);
    }
}

/// A metric that looks at one story at a time and never fails.
pub(crate) struct PerStory<M> {
    pub description: Description,
    pub measure: M,
}

impl<M: Measure + 'static> PerStory<M> {
    /// The metric as a trait object.
    pub fn boxed(description: Description, measure: M) -> Result<Box<dyn Metric>, MetricError> {
        Ok(Box::new(Self { description, measure }))
    }
}

impl<M: Measure> Metric for PerStory<M> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        Ok(Rows::each(stories, self.description.width, |story, row| {
            self.measure.fill(story, row);
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        fill_values(values, |scores| self.measure.scores(row, scores));
    }

    fn pooled_values(&self, sum: &[f64], values: &mut [Value]) {
        fill_values(values, |scores| self.measure.pooled_scores(sum, scores));
    }
}

/// The largest family, ROUGE-1.5.5, has this many columns.
const MOST_COLUMNS: usize = 24;

/// Fills values from plain numbers. It allocates no memory, because a bootstrap calls it very
/// often.
pub(crate) fn fill_values(values: &mut [Value], fill: impl FnOnce(&mut [f64])) {
    let mut scores = [0.0; MOST_COLUMNS];
    let scores = &mut scores[..values.len()];
    fill(scores);
    for (value, score) in values.iter_mut().zip(scores) {
        *value = finite_or(*score, "the score is not a finite number");
    }
}
