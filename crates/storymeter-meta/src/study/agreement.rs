//! How columns correlate: metrics with criteria, and columns of one role with each other.

use serde::{Deserialize, Serialize};
use storymeter_core::{Key, Role};
use storymeter_stats::Coefficient;

use crate::Level;
use crate::outcome::{Outcome, written};

/// How well one metric agrees with one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The metric.
    pub metric: Key,
    /// The human criterion.
    pub criterion: Key,
    /// What one observation is.
    pub level: Level,
    /// Pearson, Spearman or Kendall.
    pub coefficient: Coefficient,
    /// The signed coefficient, or the reason why there is none. It is that of the scores as they
    /// are; [`Study::directed`](super::Study::directed) turns it by the direction of the metric.
    #[serde(with = "written")]
    pub value: Outcome<Estimate>,
    /// The number of values that were used: items, systems or stories, by level.
    pub n: usize,
    /// The number that were left out because a value is missing or a coefficient is undefined.
    pub left_out: usize,
}

/// A coefficient with what is known about its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The coefficient.
    pub value: f64,
    /// The two-sided p-value. A mean of coefficients (story level) has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The p-value corrected for the number of tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted: Option<Adjusted>,
    /// The confidence interval, where the method asked for has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The number of items, where several stories are of one item. Then p-value and interval come
    /// from resampling whole items instead of stories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
}

impl Estimate {
    /// A coefficient of observations that do not belong together.
    pub(crate) fn new(value: f64, p_value: Option<f64>) -> Self {
        Self { value, p_value, adjusted: None, interval: None, items: None }
    }
}

/// A p-value after two corrections for the number of tests of the same level and coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Adjusted {
    /// Benjamini and Hochberg (1995).
    pub benjamini_hochberg: f64,
    /// Benjamini and Yekutieli (2001), valid under any dependence.
    pub benjamini_yekutieli: f64,
}

/// A confidence interval. Both ends are finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How confidence intervals are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntervalMethod {
    /// Fisher's z transformation. Where several stories are of one item, its standard error comes
    /// from leaving out whole items. A mean of coefficients (story level) has no such interval.
    #[default]
    Fisher,
    /// Quantiles of a bootstrap over items, systems or stories, by level; over items instead of
    /// stories where several stories are of one item. The mean of coefficients of fewer than 50
    /// items has an interval of Student's t instead, because quantiles are too narrow then.
    Percentile,
    /// Bootstrap quantiles corrected for bias and acceleration (Efron 1987).
    Bca,
}

impl IntervalMethod {
    /// The lower-case name: `fisher`, `percentile` or `bca`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fisher => "fisher",
            Self::Percentile => "percentile",
            Self::Bca => "bca",
        }
    }
}

/// Correlations between all columns of one role, at one level and with one coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Between {
    /// Criteria or metrics.
    pub role: Role,
    /// What one observation is.
    pub level: Level,
    /// Pearson, Spearman or Kendall.
    pub coefficient: Coefficient,
    /// The columns.
    pub keys: Vec<Key>,
    /// The upper triangle with its diagonal, row by row; [`Between::get`] finds a pair.
    pub cells: Vec<Association>,
}

impl Between {
    /// The correlation of two columns, given by their positions among the keys.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn get(&self, a: usize, b: usize) -> &Association {
        &self.cells[triangle(self.keys.len(), a.min(b), a.max(b))]
    }
}

/// Where the pair `a <= b` stands in an upper triangle with its diagonal, stored row by row.
pub(crate) fn triangle(columns: usize, a: usize, b: usize) -> usize {
    // The rows above hold columns, columns - 1, ... cells.
    a * columns + b - a * (a + 1) / 2
}

/// The correlation of two columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Association {
    /// The signed coefficient, or the reason why there is none.
    #[serde(with = "written")]
    pub value: Outcome<f64>,
    /// The number of values that were used.
    pub n: usize,
}
