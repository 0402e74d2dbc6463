//! The stories that metrics misjudge most.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;

/// The stories that some metrics misjudge most (UNION appendix F, Table 11).
///
/// A story is misjudged as far as its place among the scores is from its place among the human
/// scores. Places are mid-ranks from 0, the lowest, to 1, the highest, so that metrics on different
/// scales can be compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Misjudgements {
    /// The criterion.
    pub criterion: Key,
    /// The most stories of each list.
    pub most: usize,
    /// One entry per metric.
    pub metrics: Vec<MisjudgedBy>,
}

/// The stories that one metric misjudges most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MisjudgedBy {
    /// The metric.
    pub metric: Key,
    /// The number of stories with a score.
    pub n: usize,
    /// Stories that the metric places too high, the worst first.
    pub overrated: Vec<MisjudgedStory>,
    /// Stories that the metric places too low, the worst first.
    pub underrated: Vec<MisjudgedStory>,
}

/// A story that a metric misjudges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MisjudgedStory {
    /// Its line in the file of ratings, from 1.
    pub line: usize,
    /// Its id.
    pub id: String,
    /// Its text. A very long one ends with three dots.
    pub text: String,
    /// The mean human score.
    pub human: f64,
    /// The score, as the metric gave it.
    pub score: f64,
    /// Its place among the human scores, from 0 to 1.
    pub human_place: f64,
    /// Its place among the scores, from 0 to 1, where 1 is the best.
    pub score_place: f64,
    /// The error types that raters named, with the number of raters; `None` where no rater was
    /// asked.
    pub errors: Option<Vec<(String, usize)>>,
}
