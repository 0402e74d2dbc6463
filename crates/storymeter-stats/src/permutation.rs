//! Paired permutation test between two metrics (Deutsch, Dror & Roth 2021, "A Statistical Analysis of Summarization
//! Evaluation Metrics Using Resampling Methods").

use crate::correlation::{Coefficient, Prepared};
use crate::error::{Result, StatsError};
use crate::matrix::Matrix;
use crate::summation::{mean, pairwise};
use crate::systems::{RandomisationTest, exchange_test};

/// At which level scores are correlated with ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// One correlation between the systems' mean scores.
    System,
    /// One correlation per item across systems, averaged over the items where it is defined.
    Item,
    /// One correlation over all outputs pooled.
    Pooled,
}

/// What is exchanged between the two metrics as one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exchange {
    /// Single scores (PERM-BOTH): systems and items are both taken as samples.
    #[default]
    Both,
    /// All scores of a system (PERM-SYS).
    Systems,
    /// All scores of an item (PERM-INPUT).
    Items,
}

/// Do two metrics differ in their correlation with the ratings?
///
/// `first`, `second` and `ratings` hold one row per system and one column per item. Both metrics are standardised
/// over all their scores, so that single scores can be exchanged, and exchanged at random; the difference of the
/// correlations is compared with the one observed. p-values as in
/// [`approximate_randomisation`](crate::approximate_randomisation). NaN scores are an error;
/// constant ones leave the result NaN.
pub fn permutation_test(
    first: Matrix<'_>,
    second: Matrix<'_>,
    ratings: Matrix<'_>,
    design: Design,
    resamples: usize,
    seed: u64,
) -> Result<RandomisationTest> {
    let (systems, items) = (ratings.rows(), ratings.columns());
    for metric in [first, second] {
        StatsError::check_pairs(metric.rows(), systems)?;
        StatsError::check_pairs(metric.columns(), items)?;
        StatsError::check_finite("metric scores", metric.values())?;
    }
    StatsError::check_finite("ratings", ratings.values())?;
    StatsError::check_count("the permutation test", "resamples", 1, resamples)?;
    let target = Target::new(ratings, design)?;
    let (first, second) = (standardised(first.values()), standardised(second.values()));
    let piece = |cell: usize| match design.exchange {
        Exchange::Both => cell,
        Exchange::Systems => cell / items,
        Exchange::Items => cell % items,
    };
    let pieces = match design.exchange {
        Exchange::Both => systems * items,
        Exchange::Systems => systems,
        Exchange::Items => items,
    };
    let scores = |exchanged: &[bool]| {
        let pick = |own: &[f64], other: &[f64]| -> Vec<f64> {
            (0..own.len()).map(|c| if exchanged[piece(c)] { other[c] } else { own[c] }).collect()
        };
        (target.correlate(&pick(&first, &second)), target.correlate(&pick(&second, &first)))
    };
    Ok(exchange_test(pieces, scores, resamples, seed))
}

/// What the permutation test compares and how it permutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Design {
    /// The correlation.
    pub coefficient: Coefficient,
    /// Its level.
    pub level: Level,
    /// What is exchanged.
    pub exchange: Exchange,
}

fn standardised(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    let variance = pairwise(values.len(), &|i| (values[i] - centre).powi(2)) / values.len() as f64;
    values.iter().map(|v| (v - centre) / variance.sqrt()).collect()
}

/// The ratings, prepared for correlation with many score matrices.
struct Target {
    design: Design,
    systems: usize,
    items: usize,
    /// One vector, or one per item.
    prepared: Vec<Prepared>,
}

impl Target {
    fn new(ratings: Matrix<'_>, design: Design) -> Result<Self> {
        let (systems, items) = (ratings.rows(), ratings.columns());
        let prepared = Self::vectors(ratings.values(), systems, items, design.level)
            .map(|v| Prepared::new(design.coefficient, &v))
            .collect::<Result<Vec<_>>>()?;
        StatsError::check_count("the permutation test", "items", 1, prepared.len())?;
        Ok(Self { design, systems, items, prepared })
    }

    /// The vectors that are correlated: system means, one vector per item, or everything.
    fn vectors(
        cells: &[f64],
        systems: usize,
        items: usize,
        level: Level,
    ) -> impl Iterator<Item = Vec<f64>> {
        let count = if level == Level::Item { items } else { 1 };
        (0..count).map(move |k| match level {
            Level::System => cells.chunks_exact(items).map(mean).collect(),
            Level::Item => (0..systems).map(|s| cells[s * items + k]).collect(),
            Level::Pooled => cells.to_vec(),
        })
    }

    fn correlate(&self, cells: &[f64]) -> f64 {
        let mut defined: Vec<f64> =
            Self::vectors(cells, self.systems, self.items, self.design.level)
                .zip(&self.prepared)
                .map(|(vector, target)| {
                    // Same length by construction, so neither step can fail.
                    Prepared::new(self.design.coefficient, &vector)
                        .and_then(|v| v.correlate(target))
                        .unwrap_or(f64::NAN)
                })
                .collect();
        defined.retain(|r| !r.is_nan());
        mean(&defined)
    }
}
