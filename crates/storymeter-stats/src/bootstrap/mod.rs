//! The bootstrap: intervals of any statistic from samples drawn with replacement.
//!
//! There is one driver per way in which a statistic can be given:
//!
//! - [`bootstrap`]: a function of the indices drawn;
//! - `WeightedSums`: a function of sums over items, for many columns and large inputs.
//!
//! Both draw resample `i` from the same stream ([`resample`](crate::resample)), so that the
//! same seed draws the same items everywhere.

mod sums;

pub(crate) use sums::WeightedSums;

use rayon::prelude::*;

use crate::association::jackknife_error;
use crate::correlation::{Coefficient, Correlation, complete_columns};
use crate::error::{Result, StatsError};
use crate::interval::{Interval, bca_interval, percentile_interval, student_interval};
use crate::resample::bootstrap_values;
use crate::summation::mean;

/// How the ends of a bootstrap interval are read off the resampled statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum BootstrapMethod {
    /// The quantiles themselves ([`percentile_interval`]).
    Percentile,
    /// Quantiles corrected for bias and acceleration ([`bca_interval`]).
    #[default]
    Bca,
    /// The quantiles themselves for at least [`LARGE_SAMPLE`] items, and Student's t with the
    /// standard error of the jackknife for fewer.
    ///
    /// Quantiles are too narrow for few items: a 95% interval of a mean covers it in 79% of samples
    /// of 3 and 88% of samples of 10. Items that are all equal do not show how far items vary, so
    /// that a small sample of them has no interval.
    Auto,
}

/// The number of items from which on the quantiles of [`BootstrapMethod::Auto`] are wide enough: a
/// 95% interval of a mean then covers it in more than 94% of samples.
pub const LARGE_SAMPLE: usize = 50;

/// Parameters of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BootstrapOptions {
    /// Number of resamples.
    pub resamples: usize,
    /// Confidence level of the interval.
    pub confidence: f64,
    /// How the interval is read off the resampled statistics.
    pub method: BootstrapMethod,
    /// Seed of the random streams.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { resamples: 9999, confidence: 0.95, method: BootstrapMethod::Bca, seed: 0 }
    }
}

impl BootstrapOptions {
    pub(crate) fn check(&self, least_items: usize, items: usize) -> Result<()> {
        StatsError::check_count("the bootstrap", "items", least_items, items)?;
        StatsError::check_count("the bootstrap", "resamples", 1, self.resamples)?;
        StatsError::check_open_unit("confidence", self.confidence)
    }
}

/// A statistic with its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bootstrap {
    /// The statistic of the sample itself.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub estimate: f64,
    /// The interval.
    pub interval: Interval,
    /// Standard deviation of the resampled statistics.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub standard_error: f64,
    /// Number of items.
    pub n: usize,
    /// Number of resamples on which the statistic was NaN (because the draw was constant, say).
    /// They are left out of the interval.
    pub undefined_resamples: usize,
}

/// Computes the bootstrap interval of any statistic of `n` items.
///
/// The statistic is a function of the indices drawn, which may repeat. Missing values are its own
/// concern: it sees indices only. Resamples on which it is NaN are left out and counted.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, bootstrap};
/// let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
/// let mean = |drawn: &[usize]| drawn.iter().map(|&i| scores[i]).sum::<f64>() / drawn.len() as f64;
/// let result = bootstrap(scores.len(), mean, &BootstrapOptions::default())?;
/// assert!(result.interval.contains(result.estimate));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are fewer than two items, no resamples, or the confidence does not lie
/// strictly between 0 and 1.
pub fn bootstrap(
    n: usize,
    statistic: impl Fn(&[usize]) -> f64 + Sync,
    options: &BootstrapOptions,
) -> Result<Bootstrap> {
    options.check(2, n)?;
    let all: Vec<usize> = (0..n).collect();
    let estimate = statistic(&all);
    let is_drawn = options.method != BootstrapMethod::Auto || n >= LARGE_SAMPLE;
    let draws = if is_drawn { options.resamples } else { 0 };
    let values = bootstrap_values(n, draws, options.seed, &statistic);
    summarise(n, estimate, values, || jackknife(n, &statistic), options)
}

/// The statistic on each sample that leaves out one item.
pub(crate) fn jackknife(n: usize, statistic: impl Fn(&[usize]) -> f64 + Sync) -> Vec<f64> {
    let without = |left_out: usize| -> Vec<usize> { (0..n).filter(|&i| i != left_out).collect() };
    (0..n).into_par_iter().map(|i| statistic(&without(i))).collect()
}

/// Reads interval and standard error off resampled statistics. The jackknife is computed only where
/// the method needs it, and is all there is where nothing was drawn.
pub(crate) fn summarise(
    n: usize,
    estimate: f64,
    mut values: Vec<f64>,
    jackknife: impl FnOnce() -> Vec<f64>,
    options: &BootstrapOptions,
) -> Result<Bootstrap> {
    let resamples = values.len();
    values.retain(|v| !v.is_nan());
    let interval = match options.method {
        BootstrapMethod::Auto if resamples == 0 => {
            let standard_error = jackknife_error(&jackknife());
            let df = n as f64 - 1.0;
            let interval = student_interval(estimate, standard_error, df, options.confidence);
            let undefined_resamples = 0;
            return Ok(Bootstrap { estimate, interval, standard_error, n, undefined_resamples });
        }
        BootstrapMethod::Percentile | BootstrapMethod::Auto => {
            percentile_interval(&values, options.confidence)?
        }
        BootstrapMethod::Bca => bca_interval(&values, estimate, &jackknife(), options.confidence)?,
    };
    let centre = mean(&values);
    let squares = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
    let standard_error = (squares / (values.len() as f64 - 1.0)).sqrt();
    let undefined_resamples = resamples - values.len();
    Ok(Bootstrap { estimate, interval, standard_error, n, undefined_resamples })
}

/// Computes the bootstrap interval of a mean.
///
/// NaN values are missing; they are left out, and `n` is the number of values that remain.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, mean_interval};
/// let result = mean_interval(&[3.0, 1.0, f64::NAN, 4.0, 2.0], &BootstrapOptions::default())?;
/// assert_eq!((result.estimate, result.n), (2.5, 4));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Fails as [`bootstrap`] does.
pub fn mean_interval(values: &[f64], options: &BootstrapOptions) -> Result<Bootstrap> {
    let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let statistic =
        |drawn: &[usize]| mean(&drawn.iter().map(|&i| present[i]).collect::<Vec<f64>>());
    bootstrap(present.len(), statistic, options)
}

/// A correlation with its p-value and its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CorrelationInterval {
    /// The correlation of the pairs that are complete; `n` is their number.
    pub correlation: Correlation,
    /// The bootstrap interval; its ends are NaN where the correlation is undefined.
    pub interval: Interval,
    /// Number of pairs left out because a value is missing.
    pub dropped: usize,
    /// Number of resamples without a correlation (because the draw was constant, say).
    pub undefined_resamples: usize,
}

/// Computes a correlation with its bootstrap interval, BCa by default.
///
/// NaN marks a missing value. Pairs with a missing value are left out and counted.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, Coefficient, correlation_interval};
/// let ratings = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
/// let scores = [0.2, 0.1, 0.4, f64::NAN, 0.5, 0.3, 0.8, 0.9];
/// let options = BootstrapOptions::default();
/// let found = correlation_interval(Coefficient::Spearman, &ratings, &scores, &options)?;
/// assert_eq!((found.correlation.n, found.dropped), (7, 1));
/// assert!(found.interval.contains(found.correlation.coefficient));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ, or there are fewer than two complete pairs, and those of
/// [`bootstrap`].
pub fn correlation_interval(
    coefficient: Coefficient,
    ratings: &[f64],
    scores: &[f64],
    options: &BootstrapOptions,
) -> Result<CorrelationInterval> {
    let kept = complete_columns(&[ratings, scores])?;
    let (x, y) = (&kept.columns[0], &kept.columns[1]);
    let correlation = coefficient.compute(x, y)?;
    let statistic = |drawn: &[usize]| coefficient.value_at(x, y, drawn);
    let (interval, undefined_resamples) = match correlation.undefined {
        Some(_) => (Interval::UNDEFINED, options.resamples),
        None => {
            let found = bootstrap(kept.n, statistic, options)?;
            (found.interval, found.undefined_resamples)
        }
    };
    Ok(CorrelationInterval { correlation, interval, dropped: kept.dropped, undefined_resamples })
}
