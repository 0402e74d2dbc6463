//! Whether a metric still agrees with people where stories are mostly bad or good, or come from
//! other data.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;

use super::Agreement;
use crate::outcome::{Outcome, written};

/// Correlations on biased sets of stories (UNION, section 4.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BiasedSets {
    /// The criterion.
    pub criterion: Key,
    /// Draws per set.
    pub draws: usize,
    /// The seed of the draws.
    pub seed: u64,
    /// The quality levels, as a reader would name them.
    pub levels: Vec<String>,
    /// The metrics.
    pub metrics: Vec<Key>,
    /// The sets.
    pub sets: Vec<BiasedSet>,
}

/// One biased set, over all its draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BiasedSet {
    /// The number of the set, from 1.
    pub index: usize,
    /// The mean number of stories drawn at each quality level.
    pub stories: Vec<f64>,
    /// Each metric's Pearson correlation with the human scores.
    pub metrics: Vec<Spread>,
}

/// A number over repeated draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean over the draws that gave a number.
    #[serde(with = "written")]
    pub mean: Outcome<f64>,
    /// The unbiased variance.
    #[serde(with = "written")]
    pub variance: Outcome<f64>,
    /// The number of draws that gave a number.
    pub n: usize,
}

/// Scores of metrics that were trained on other data, beside the scores at home (UNION Table 6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// The name of the scores.
    pub scores: String,
    /// The name of the rated set.
    pub rated: String,
    /// The number of stories of the table that have such scores.
    pub joined: usize,
    /// The number of stories of the table.
    pub stories: usize,
    /// One row per metric and criterion.
    pub rows: Vec<DriftRow>,
}

/// One metric against one criterion, trained elsewhere and at home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriftRow {
    /// The metric.
    pub metric: Key,
    /// The criterion.
    pub criterion: Key,
    /// Pearson, Spearman and Kendall of the scores of the metric that was trained elsewhere.
    pub drifted: Vec<Agreement>,
    /// The same of the metric that was trained at home, or the reason why there is none.
    #[serde(with = "written")]
    pub home: Outcome<Vec<Agreement>>,
}
