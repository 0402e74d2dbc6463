//! Two runs on the same items: did the scores change, and did the agreement with people change?
//!
//! Runs on the same stories are not independent samples. These comparisons use the pairing, which
//! makes them much more sensitive than a test for independent samples such as
//! [`fisher_difference`](crate::fisher_difference).

use crate::bootstrap::BootstrapOptions;
use crate::correlation::{Coefficient, complete_columns};
use crate::dependent::{DependentTest, SharedCorrelations};
use crate::error::{Result, StatsError};
use crate::summation::{mean, pairwise};
use crate::systems::{PairedBootstrap, RandomisationTest, exchange_test, paired_bootstrap};

/// Comparison of two columns of scores of the same items.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScoreComparison {
    /// Mean of the first column over the shared items.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub first: f64,
    /// Mean of the second column over the shared items.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub second: f64,
    /// Number of items that both columns have a score for.
    pub n: usize,
    /// Number of items left out because one of the scores is missing.
    pub dropped: usize,
    /// Interval of the difference of the means, and who wins how often.
    pub bootstrap: PairedBootstrap,
    /// Test that the means are equal.
    pub randomisation: RandomisationTest,
}

/// Compares the means of two columns of scores of the same items.
///
/// NaN marks a missing score. Items that lack one of the scores are left out and counted.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, compare_scores};
/// let before = [0.3, 0.5, 0.2, 0.6, 0.4, f64::NAN];
/// let after = [0.4, 0.6, 0.4, 0.6, 0.5, 0.9];
/// let found = compare_scores(&after, &before, &BootstrapOptions::default())?;
/// assert_eq!((found.n, found.dropped), (5, 1));
/// assert!(found.bootstrap.interval.low > 0.0);
/// assert_eq!(found.randomisation.p_value, 0.125); // exact: all 32 exchanges
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// If the lengths differ, there is no shared item, or the options are out of range.
pub fn compare_scores(
    first: &[f64],
    second: &[f64],
    options: &BootstrapOptions,
) -> Result<ScoreComparison> {
    let kept = complete_columns(&[first, second])?;
    StatsError::check_count("a comparison of scores", "shared items", 1, kept.n)?;
    let (a, b) = (&kept.columns[0], &kept.columns[1]);
    let items = kept.n as f64;
    // The jackknife draws one item less.
    let at = |values: &[f64], drawn: &[usize]| {
        pairwise(drawn.len(), &|k| values[drawn[k]]) / drawn.len() as f64
    };
    let bootstrap = paired_bootstrap(kept.n, |drawn| (at(a, drawn), at(b, drawn)), options)?;
    // Sums order the exchanges as means do. A mean of the smallest numbers would be rounded so
    // coarsely that different exchanges become equal.
    let exchanged_sums = |exchanged: &[bool]| {
        let pick = |own: &[f64], other: &[f64]| {
            pairwise(kept.n, &|i| if exchanged[i] { other[i] } else { own[i] })
        };
        (pick(a, b), pick(b, a))
    };
    let test = exchange_test(kept.n, exchanged_sums, options.resamples, options.seed);
    let randomisation =
        RandomisationTest { difference: test.difference / items, dropped: kept.dropped, ..test };
    Ok(ScoreComparison {
        first: mean(a),
        second: mean(b),
        n: kept.n,
        dropped: kept.dropped,
        bootstrap,
        randomisation,
    })
}

/// Comparison of the correlations of two columns of scores with the same ratings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CorrelationComparison {
    /// The correlations, with the number of items they rest on.
    pub correlations: SharedCorrelations,
    /// Williams' test; its statistic is positive when the first correlation is the larger one.
    pub williams: DependentTest,
    /// Steiger's test of the same difference.
    pub steiger: DependentTest,
    /// Bootstrap interval of the difference between the correlations.
    pub bootstrap: PairedBootstrap,
}

/// Compares how well two columns of scores correlate with the same ratings.
///
/// The two columns may be two metrics, or one metric in two runs. NaN marks a missing value. Items
/// that lack a rating or one of the scores are left out of all correlations and counted.
///
/// Williams' and Steiger's tests assume Pearson correlations of normal variables; for ranks, and
/// whenever in doubt, look at the bootstrap interval of the difference.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, Coefficient, compare_correlations};
/// let ratings = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
/// let before = [4.0, 2.0, 3.0, 5.0, 1.0, 9.0, 2.0, 6.0];
/// let after = [1.0, 2.0, 2.5, 4.5, 5.0, 6.5, 7.0, 9.0];
/// let options = BootstrapOptions { resamples: 1000, ..BootstrapOptions::default() };
/// let found = compare_correlations(Coefficient::Pearson, &ratings, &after, &before, &options)?;
/// assert!(found.correlations.difference() > 0.4 && found.correlations.n == 8);
/// assert!(found.williams.p_two_sided < 0.05);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// If the lengths differ, there are fewer than two shared items, or the options are out of range.
pub fn compare_correlations(
    coefficient: Coefficient,
    ratings: &[f64],
    first: &[f64],
    second: &[f64],
    options: &BootstrapOptions,
) -> Result<CorrelationComparison> {
    let correlations = SharedCorrelations::from_columns(coefficient, ratings, first, second)?;
    let kept = complete_columns(&[ratings, first, second])?;
    StatsError::check_count("a comparison of correlations", "shared items", 2, kept.n)?;
    let [ratings, first, second] = [0, 1, 2].map(|column| kept.columns[column].as_slice());
    let both = |drawn: &[usize]| {
        (coefficient.value_at(ratings, first, drawn), coefficient.value_at(ratings, second, drawn))
    };
    Ok(CorrelationComparison {
        correlations,
        williams: correlations.williams()?,
        steiger: correlations.steiger()?,
        bootstrap: paired_bootstrap(kept.n, both, options)?,
    })
}
