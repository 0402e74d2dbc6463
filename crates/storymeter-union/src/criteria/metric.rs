//! `criteria`: the ratings that readers would give the story, by criterion.
//!
//! The judge is a model that was trained on stories that people had rated. The embedded model
//! predicts the six criteria of HANNA (Chhun et al., COLING 2022) and one rating of the story as a
//! whole, each on HANNA's scale from 1 to 5:
//!
//! | column | what the raters were asked |
//! |---|---|
//! | `criteria/relevance` | how well the story matches its prompt |
//! | `criteria/coherence` | how much the story makes sense |
//! | `criteria/empathy` | how well the reader understood the emotions of the characters |
//! | `criteria/surprise` | how surprising the end of the story was |
//! | `criteria/engagement` | how much the reader engaged with the story |
//! | `criteria/complexity` | how elaborate the story is |
//! | `criteria/overall` | learned from all rated sets: how good the story is as a whole |
//!
//! Definition: an encoder of the BERT family reads the story in windows that end at sentence ends.
//! The mean `h` of the vectors of all tokens of all windows goes through one linear layer per
//! criterion:
//!
//! ```text
//! output        = w . h + b + share * z
//! criteria/NAME = intercept + head * output + cosine * closeness, kept within the scale
//! ```
//!
//! - `z` is the log-odds of the score of `union-compact`, in standard units. What a model learned
//!   from ratings holds best for stories like those that were rated; damage is damage anywhere. The
//!   card says how much it counts for each criterion (`share`), which may be nothing.
//! - `closeness` says how close the story is to its prompt. A small sentence encoder, which is part
//!   of the model, makes one vector of the prompt and one of each window of at most 128 tokens of
//!   the story. The highest cosine of the prompt with a window counts, plus 0.3 times the cover:
//!   how often the story mentions the rare words of the prompt.
//! - `intercept`, `head` and `cosine` were fitted by least squares on stories that the model had
//!   not seen, so the mean prediction for them is their mean rating. `cosine` is 0 for all criteria
//!   but relevance.
//!
//! Needs: the story. Relevance also needs the prompt: without one its cell is absent, with the
//! reason, and the other columns are there. All cells of a text without a letter or digit are
//! absent. Long stories are read whole.
//!
//! With `criteria:interval`, each column is followed by two more, `NAME-low` and `NAME-high`: the
//! range that held 80% of the ratings of held-out stories with such a prediction.
//!
//! The ratings are those of one pool of raters, and so are the predictions. They are useful to
//! compare systems and to find weak stories, and say little about one story alone: look at the
//! interval. docs/criteria.md says when to trust them, and `storymeter model show criteria` how
//! well they agree with readers.
//!
//! Model: the one that is part of the program, or one that the user names: a folder written by
//! `storymeter train --rated`, a model file, or an installed model. The columns are the criteria of
//! the model, in the order of its card. The columns of a model that is not calibrated are in
//! standard units: 0 is the mean of its training stories.
//!
//! Direction: higher is better. Range: the scale of the ratings, which is 1 to 5 for the embedded
//! model.

use std::sync::Arc;

use rayon::prelude::*;
use storymeter_core::{
    Absence, Choice, Depth, Description, Direction, Entry, Explained, Metric, MetricError, Needs,
    Prepared, Range, Rationale, Resources, Rows, Story, Value, finite_or,
};

use super::{CriteriaScorer, Criterion, Explanation, Predictions, Unpredicted};
use crate::Kind;
use crate::metric::{metric_error, open_model, probabilities};

/// The option that adds the ends of the interval to the columns.
const INTERVAL: &str = "interval";

/// The entry of the metric `criteria` in the catalogue.
///
/// Its model is the one that [`Settings::weights`](storymeter_core::Settings::weights) names under
/// `criteria` (a path, or the name of an installed model), and the embedded one where none is
/// named.
pub static ENTRY: Entry = Entry {
    ids: &["criteria"],
    choices: &[Choice::new(
        "columns",
        INTERVAL,
        "also NAME-low and NAME-high, the ends of the 80% interval",
    )],
    direction: Direction::Higher,
    range: Range::between(1.0, 5.0),
    needs: Needs::STORY,
    source: include_str!("metric.rs"),
    build: |request| {
        let scorer = request.resources.shared(Kind::Criteria.metric(), || {
            let model = open_model(request, Kind::Criteria)?;
            CriteriaScorer::new(model).map_err(|error| metric_error(request.key, error))
        })?;
        let intervals = request.has(INTERVAL);
        let columns: Vec<CriterionColumn> = columns_of(&scorer, intervals);
        let names = columns.iter().map(|column| column.name.as_str());
        let mut description = request
            .describe()
            .family(names)
            .in_batches()
            .explains()
            .width(columns.len() + 1)
            .signature(scorer.signature());
        for (own, column) in description.columns.iter_mut().zip(&columns) {
            own.range = column.range;
        }
        scorer.model.card.describe(&mut description.columns);
        Ok(Box::new(CriteriaMetric { scorer, columns, intervals, description }))
    },
};

/// The metric `criteria` as a [`Metric`] like any other.
///
/// The row of a story has the values of its columns, NaN where there is none, and at last whether
/// the text has words.
struct CriteriaMetric {
    scorer: Arc<CriteriaScorer>,
    columns: Vec<CriterionColumn>,
    intervals: bool,
    description: Description,
}

/// A column, and what is said where a story with words has no value in it.
struct CriterionColumn {
    name: String,
    range: Range,
    why_absent: &'static str,
}

/// The columns of a model: one per criterion, or three.
fn columns_of(scorer: &CriteriaScorer, intervals: bool) -> Vec<CriterionColumn> {
    let columns = |criterion: &Criterion| {
        let calibration = criterion.calibration.as_ref();
        let range = calibration.map_or(Range::ANY, |own| Range::between(own.low, own.high));
        let why = |measured: bool| match (criterion.needs_prompt(), measured) {
            (_, false) => "the card of the model has no residuals of held-out stories",
            (true, _) => Unpredicted::NoPrompt.reason(),
            (false, _) => "the model gives no finite number",
        };
        let measured = calibration.is_some_and(|own| !own.residuals.is_empty());
        let column = |end: &str, measured: bool| CriterionColumn {
            name: format!("{}{end}", criterion.name),
            range,
            why_absent: why(measured),
        };
        let mut columns = vec![column("", true)];
        if intervals {
            columns.extend(["-low", "-high"].map(|end| column(end, measured)));
        }
        columns
    };
    scorer.criteria().heads.iter().flat_map(columns).collect()
}

impl CriteriaMetric {
    fn failed(&self, error: crate::Error) -> MetricError {
        metric_error(&self.description.key, error)
    }

    /// Adds the row of a story.
    fn push_row(&self, predictions: &Predictions, row: &mut Vec<f64>) {
        for prediction in predictions {
            row.push(prediction.map_or(f64::NAN, |own| own.value));
            if self.intervals {
                let interval = prediction.ok().and_then(|own| own.interval);
                row.extend(interval.unwrap_or([f64::NAN; 2]));
            }
        }
        let wordless = predictions.contains(&Err(Unpredicted::NoWords));
        row.push(if wordless { 0.0 } else { 1.0 });
    }
}

impl Metric for CriteriaMetric {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let texts: Vec<&Story> = stories.iter().map(|story| story.story).collect();
        let predictions = self
            .scorer
            .score_beside(&texts, |union| probabilities(union, stories))
            .map_err(|error| self.failed(error))?;
        let mut rows = Vec::with_capacity(stories.len() * self.description.width);
        predictions.iter().for_each(|own| self.push_row(own, &mut rows));
        Ok(Rows::from_values(self.description.width, rows))
    }

    /// An explanation contains the predictions, so the model does not read the stories again for
    /// them. All sentences are weighed at any depth, because weighing them takes no further
    /// reading.
    fn explain(
        &self,
        stories: &[Prepared<'_>],
        _: Depth,
        _: &Resources,
    ) -> Result<Option<Explained>, MetricError> {
        let explained: Vec<(Explanation, Predictions)> = stories
            .par_iter()
            .map(|story| self.scorer.explained(story.story))
            .collect::<Result<_, _>>()
            .map_err(|error| self.failed(error))?;
        let mut rows = Vec::with_capacity(stories.len() * self.description.width);
        let mut rationales: Vec<Box<dyn Rationale>> = Vec::with_capacity(stories.len());
        for (explanation, predictions) in explained {
            self.push_row(&predictions, &mut rows);
            rationales.push(Box::new(explanation));
        }
        Ok(Some(Explained { rows: Rows::from_values(self.description.width, rows), rationales }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        let has_words = row.last() == Some(&1.0);
        for ((value, number), column) in values.iter_mut().zip(row).zip(&self.columns) {
            *value = match has_words {
                true => finite_or(*number, column.why_absent),
                false => Err(Absence::because(Unpredicted::NoWords.reason())),
            };
        }
    }
}
