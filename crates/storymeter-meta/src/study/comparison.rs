//! Metrics against each other, and metrics as judges between systems.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;
use storymeter_stats::{Coefficient, Correction};

use crate::Level;
use crate::outcome::{Absence, Outcome, written};
use crate::systems::Method;

/// A test between two metrics that are correlated with the same ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// Williams (1959), as in HANNA.
    #[default]
    Williams,
    /// Steiger's Z (1980).
    Steiger,
    /// Meng, Rosenthal and Rubin (1992).
    Meng,
    /// PERM-BOTH of Deutsch, Dror and Roth (2021): single scores are exchanged between the two
    /// metrics at random.
    Permutation,
}

impl Test {
    /// The lower-case name: `williams`, `steiger`, `meng` or `permutation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Williams => "williams",
            Self::Steiger => "steiger",
            Self::Meng => "meng",
            Self::Permutation => "permutation",
        }
    }
}

/// Whether a test looks at differences in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// Both: which of two is better is not known before the data are seen.
    #[default]
    Two,
    /// One: whether the better one is better by chance, as in the papers. The side is chosen after
    /// looking at the data, so that such p-values are half as large as they should be.
    One,
}

impl Sides {
    /// `two-sided` or `one-sided`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Two => "two-sided",
            Self::One => "one-sided",
        }
    }

    /// The p-value of a test that these sides ask for.
    pub fn choose(self, two_sided: f64, one_sided: f64) -> f64 {
        match self {
            Self::Two => two_sided,
            Self::One => one_sided,
        }
    }

    /// A study from before tests had two sides does not name them.
    fn unnamed() -> Self {
        Self::One
    }
}

/// Tests between all pairs of metrics for one criterion at one level.
///
/// The correlations are turned by the direction of each metric (see [`Turn`](super::Turn)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestMatrix {
    /// Which test.
    pub test: Test,
    /// The criterion that the metrics are correlated with.
    pub criterion: Key,
    /// What one observation is.
    pub level: Level,
    /// Pearson, Spearman or Kendall.
    pub coefficient: Coefficient,
    /// How the p-values of this matrix are corrected for their number.
    pub correction: Correction,
    /// Whether the p-values are two-sided.
    #[serde(default = "Sides::unnamed")]
    pub sides: Sides,
    /// The metrics.
    pub metrics: Vec<Key>,
    /// The pairs `(0, 1), (0, 2), (1, 2), (0, 3), ...`; [`TestMatrix::get`] finds one.
    pub pairs: Vec<Comparison>,
}

impl TestMatrix {
    /// The test of metric `row`, which is the stronger one, against metric `column`, by their
    /// positions.
    ///
    /// `None` where the row is the weaker metric, and on the diagonal. A pair of which neither is
    /// stronger, or that could not be tested, is given in both cells.
    pub fn get(&self, row: usize, column: usize) -> Option<&Comparison> {
        if row == column {
            return None;
        }
        let pair = &self.pairs[pair_index(row.min(column), row.max(column))];
        let side = if row < column { Side::First } else { Side::Second };
        let neither = pair.stronger.is_none() && pair.p_value != Err(Absence::EquallyStrong);
        (pair.stronger == Some(side) || neither).then_some(pair)
    }

    /// The position of a metric.
    pub fn position(&self, metric: &str) -> Option<usize> {
        self.metrics.iter().position(|key| key.as_str() == metric)
    }
}

/// Where the pair `earlier < later` stands in `(0, 1), (0, 2), (1, 2), (0, 3), ...`.
pub(crate) fn pair_index(earlier: usize, later: usize) -> usize {
    later * (later - 1) / 2 + earlier
}

/// One metric of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The metric that is earlier in the list.
    First,
    /// The metric that is later in the list.
    Second,
}

/// A test between two metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Which metric has the higher correlation, after both were turned by their directions; `None`
    /// where both are equally strong or one has no correlation.
    pub stronger: Option<Side>,
    /// The p-value of the difference, or the reason why there is none.
    #[serde(with = "written")]
    pub p_value: Outcome<PValue>,
    /// The number of observations that have a rating and both scores: items, systems or stories.
    pub n: usize,
}

/// A p-value, raw and corrected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PValue {
    /// The p-value of this test alone.
    pub raw: f64,
    /// The p-value corrected for all tests of its matrix.
    pub corrected: f64,
}

/// How well metrics judge between systems, compared with people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pairwise {
    /// The number of pairs of systems.
    pub pairs: usize,
    /// Draws per pair of systems.
    pub draws: usize,
    /// The confidence of the verdicts; in the published analysis, the share of draws that a system
    /// must win.
    pub confidence: f64,
    /// The seed of the draws.
    pub seed: u64,
    /// Whether metrics where less is better were turned round first.
    pub directed: bool,
    /// How every two systems were compared; `None` in the published analysis, which counts wins in
    /// resamples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// One row per metric.
    pub rows: Vec<PairwiseRow>,
}

/// One metric as a judge between systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairwiseRow {
    /// The metric.
    pub metric: Key,
    /// The weighted F1 in percent, by criterion in the order of the table.
    #[serde(with = "written::list")]
    pub f1: Vec<Outcome<f64>>,
    /// The number of pairs of systems behind each F1.
    pub n: Vec<usize>,
}

/// How often a metric orders two stories as people do (Deutsch, Foster and Freitag 2023).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairAccuracy {
    /// The metric.
    pub metric: Key,
    /// The criterion.
    pub criterion: Key,
    /// Story: pairs within an item. Pooled: all pairs of stories.
    pub level: Level,
    /// The accuracy with calibrated ties, or the reason why there is none.
    #[serde(with = "written")]
    pub accuracy: Outcome<f64>,
    /// The accuracy without calibration: only equal scores tie.
    #[serde(with = "written")]
    pub uncalibrated: Outcome<f64>,
    /// Scores that differ by at most this much are called equal.
    #[serde(with = "written")]
    pub threshold: Outcome<f64>,
    /// The number of pairs that were compared.
    pub n: usize,
}

/// Correlations among the k best systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopSystems {
    /// The numbers of systems, k, ascending.
    pub k: Vec<usize>,
    /// The coefficient.
    pub coefficient: Coefficient,
    /// One row per criterion and metric.
    pub rows: Vec<TopSystemsRow>,
}

/// One metric against one criterion among the best systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopSystemsRow {
    /// The criterion.
    pub criterion: Key,
    /// The metric.
    pub metric: Key,
    /// The correlation for each k, turned by the direction of the metric.
    #[serde(with = "written::list")]
    pub strength: Vec<Outcome<f64>>,
}
