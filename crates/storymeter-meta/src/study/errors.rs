//! What makes a story bad: error types that raters named, and edits of a model.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;

use super::Estimate;
use crate::outcome::{Outcome, written};

/// Which error types unreasonable stories have (UNION Table 2 and section 3.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorTypeShares {
    /// The number of stories.
    pub stories: usize,
    /// The number of stories that at least one rater calls unreasonable.
    pub unreasonable: usize,
    /// One entry per error type: the stories for which at least one rater names it.
    pub types: Vec<ErrorShare>,
    /// How many stories have 0, 1, 2, ... of the specific error types.
    pub by_number_of_types: Vec<ErrorShare>,
    /// Error types that stand for nothing in particular, such as "Others".
    pub others: Vec<String>,
    /// Spearman correlations between the error types.
    pub correlations: Vec<ErrorCorrelation>,
}

/// A number of unreasonable stories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorShare {
    /// The error type, or the number of types.
    pub name: String,
    /// The number of stories.
    pub stories: usize,
    /// The share of the unreasonable stories, in percent.
    #[serde(with = "written")]
    pub percent: Outcome<f64>,
}

/// The Spearman correlation of two error types, each 0 or 1 per story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorCorrelation {
    /// One error type.
    pub first: String,
    /// The other.
    pub second: String,
    /// Over the unreasonable stories.
    #[serde(with = "written")]
    pub unreasonable: Outcome<Estimate>,
    /// Over all stories.
    #[serde(with = "written")]
    pub all: Outcome<Estimate>,
}

/// Correlations by error type (UNION Table 7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorTypesTable {
    /// The criterion.
    pub criterion: Key,
    /// The number of stories that all raters found reasonable. They are part of every set.
    pub reasonable: usize,
    /// The number of raters who must name an error type.
    pub raters_needed: usize,
    /// The sets: all stories, then one per error type, each with the number of stories that have
    /// it.
    pub sets: Vec<(String, usize)>,
    /// One row per metric.
    pub rows: Vec<ErrorTypesRow>,
}

/// One metric's Pearson correlation on each set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorTypesRow {
    /// The metric.
    pub metric: Key,
    /// The correlation on each set.
    #[serde(with = "written::list")]
    pub values: Vec<Outcome<f64>>,
    /// The number of stories behind each correlation.
    pub n: Vec<usize>,
}

/// Whether a model edits the stories that people find bad (UNION appendix D).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edits {
    /// The number of stories.
    pub stories: usize,
    /// The number of stories that the model changed.
    pub edited: usize,
    /// One row per set of stories.
    pub rows: Vec<EditsRow>,
}

/// The Spearman correlation of "edited" with the human scores on one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EditsRow {
    /// The set: `All`, or an error type.
    pub set: String,
    /// The correlation.
    #[serde(with = "written")]
    pub value: Outcome<Estimate>,
    /// The number of stories.
    pub n: usize,
}
