//! What the analysis of a suite begins with: the scores of originals and twins.

use storymeter_core::{Aspect, Column, Progress, Value};

use super::{LeftOut, MissingAspect, Pairing, RuleCount};

/// The scores of a whole suite.
#[derive(Debug, Clone, Default)]
pub struct SuiteScores {
    /// The metrics, with direction and signature.
    pub columns: Vec<Column>,
    /// The aspects that the suite has, each at most once.
    pub aspects: Vec<AspectScores>,
    /// The aspects that were left out altogether.
    pub missing: Vec<MissingAspect>,
    /// The scores of all originals of the suite, one list per column. Only
    /// [`SuiteOptions::compat`] reads them; they may be empty otherwise.
    pub originals: Vec<Vec<Value>>,
}

/// The scores of the texts of one aspect.
#[derive(Debug, Clone)]
pub struct AspectScores {
    /// The aspect.
    pub aspect: Aspect,
    /// The number of stories that were offered to the aspect.
    pub stories: usize,
    /// Why stories are without a pair, and how many of them.
    pub left_out: Vec<LeftOut>,
    /// Which rule made how many pairs.
    pub rules: Vec<RuleCount>,
    /// Whether originals and twins belong together.
    pub pairing: Pairing,
    /// The scores: one per column, in the order of [`SuiteScores::columns`].
    pub scores: Vec<MetricScores>,
}

/// The scores that one metric gives to the texts of one aspect.
#[derive(Debug, Clone, Default)]
pub struct MetricScores {
    /// The originals.
    pub originals: Vec<Value>,
    /// The twins. With [`Pairing::Paired`], twin `i` was made from original `i`.
    pub twins: Vec<Value>,
}

/// How a suite is analysed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SuiteOptions {
    /// Whether to repeat OpenMEVA's own reading, which does not use the pairs. See
    /// [`analyse`](super::analyse).
    pub compat: bool,
    /// The number of resamples behind each interval.
    pub resamples: usize,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The seed of all draws.
    pub seed: u64,
    /// What hears how far the work has come.
    pub progress: Progress,
}

impl SuiteOptions {
    /// The options after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for SuiteOptions {
    fn default() -> Self {
        Self {
            compat: false,
            resamples: 1000,
            confidence: 0.95,
            seed: 1,
            progress: Progress::unwatched(),
        }
    }
}
