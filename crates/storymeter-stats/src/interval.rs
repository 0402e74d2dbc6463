//! Confidence intervals: Fisher's z for correlations, the bootstrap for anything.

use rayon::prelude::*;

use crate::correlation::Coefficient;
use crate::distribution::{normal_cdf, normal_quantile};
use crate::error::{Result, StatsError};
use crate::resample::bootstrap_values;
use crate::summation::mean;

/// A confidence interval; its ends are NaN where the statistic is undefined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Interval for a correlation through Fisher's z: `tanh(atanh r ± z_{1-α/2} σ)`.
///
/// `σ² = 1/(n-3)` for Pearson (Fisher 1921), `(1 + ρ²/2)/(n-3)` for Spearman (Bonett & Wright 2000) and
/// `0.437/(n-4)` for Kendall (Fieller, Hartley & Pearson 1957).
pub fn fisher_interval(
    coefficient: Coefficient,
    r: f64,
    n: usize,
    confidence: f64,
) -> Result<Interval> {
    StatsError::check_open_unit("confidence", confidence)?;
    if r.abs() > 1.0 {
        return Err(StatsError::OutOfRange {
            what: "a correlation",
            value: r,
            allowed: "between -1 and 1",
        });
    }
    let needed = if coefficient == Coefficient::Kendall { 5 } else { 4 };
    StatsError::check_count("Fisher's interval", "pairs", needed, n)?;
    let n = n as f64;
    let deviation = match coefficient {
        Coefficient::Pearson => 1.0 / (n - 3.0),
        Coefficient::Spearman => (1.0 + r * r / 2.0) / (n - 3.0),
        Coefficient::Kendall => 0.437 / (n - 4.0),
    }
    .sqrt();
    let reach = normal_quantile(0.5 + confidence / 2.0) * deviation;
    let z = r.atanh();
    Ok(Interval { low: (z - reach).tanh(), high: (z + reach).tanh() })
}

/// How the ends of a bootstrap interval are read off the resampled statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BootstrapMethod {
    /// The quantiles themselves.
    Percentile,
    /// Quantiles corrected for bias and acceleration (Efron 1987).
    #[default]
    Bca,
}

/// Parameters of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapOptions {
    /// Number of resamples.
    pub resamples: usize,
    /// Confidence level of the interval.
    pub confidence: f64,
    /// How the interval is read off.
    pub method: BootstrapMethod,
    /// Seed of the random streams.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { resamples: 9999, confidence: 0.95, method: BootstrapMethod::Bca, seed: 0 }
    }
}

/// A statistic with its bootstrap interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// The statistic on the sample itself.
    pub estimate: f64,
    /// The interval.
    pub interval: Interval,
    /// Standard deviation of the resampled statistics.
    pub standard_error: f64,
    /// Resamples on which the statistic was NaN (a constant draw, say); they are left out of the interval.
    pub undefined_resamples: usize,
}

/// Bootstrap interval of any statistic of `n` items, given as a function of the indices drawn.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, bootstrap};
/// let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
/// let mean = |drawn: &[usize]| drawn.iter().map(|&i| scores[i]).sum::<f64>() / drawn.len() as f64;
/// let result = bootstrap(scores.len(), mean, &BootstrapOptions::default())?;
/// assert!(result.interval.contains(result.estimate));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
pub fn bootstrap(
    n: usize,
    statistic: impl Fn(&[usize]) -> f64 + Sync,
    options: &BootstrapOptions,
) -> Result<Bootstrap> {
    StatsError::check_count("the bootstrap", "items", 2, n)?;
    StatsError::check_count("the bootstrap", "resamples", 1, options.resamples)?;
    let all: Vec<usize> = (0..n).collect();
    let estimate = statistic(&all);
    let mut values = bootstrap_values(n, options.resamples, options.seed, &statistic);
    values.retain(|v| !v.is_nan());
    let undefined_resamples = options.resamples - values.len();
    let interval = match options.method {
        BootstrapMethod::Percentile => percentile_interval(&values, options.confidence)?,
        BootstrapMethod::Bca => {
            let without =
                |left_out: usize| -> Vec<usize> { (0..n).filter(|&i| i != left_out).collect() };
            let jackknife: Vec<f64> =
                (0..n).into_par_iter().map(|i| statistic(&without(i))).collect();
            bca_interval(&values, estimate, &jackknife, options.confidence)?
        }
    };
    let centre = mean(&values);
    let squares = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
    let standard_error = (squares / (values.len() as f64 - 1.0)).sqrt();
    Ok(Bootstrap { estimate, interval, standard_error, undefined_resamples })
}

/// Interval between the `α/2` and `1 - α/2` quantiles of resampled statistics (linear interpolation).
pub fn percentile_interval(resampled: &[f64], confidence: f64) -> Result<Interval> {
    StatsError::check_open_unit("confidence", confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    Ok(quantiles(resampled, tail, 1.0 - tail))
}

/// Bias-corrected and accelerated interval (Efron 1987) from resampled statistics, the statistic on the sample, and
/// the statistics on the samples that leave out one item each.
///
/// Bias `z0 = Φ⁻¹(share of resamples below the estimate, ties half)`, acceleration
/// `a = Σ d³ / (6 (Σ d²)^{3/2})` with `d` the mean of the jackknife values less each; quantiles at
/// `Φ(z0 + (z0 + z_α) / (1 - a (z0 + z_α)))`. NaN when all resamples lie on one side of the estimate, or the
/// jackknife values are all equal.
pub fn bca_interval(
    resampled: &[f64],
    estimate: f64,
    jackknife: &[f64],
    confidence: f64,
) -> Result<Interval> {
    StatsError::check_open_unit("confidence", confidence)?;
    let below = resampled.iter().filter(|&&v| v < estimate).count();
    let at_most = resampled.iter().filter(|&&v| v <= estimate).count();
    let bias = normal_quantile((below + at_most) as f64 / (2 * resampled.len()) as f64);
    let centre = mean(jackknife);
    let (squares, cubes) = jackknife.iter().fold((0.0, 0.0), |(squares, cubes), v| {
        let d: f64 = centre - v;
        (squares + d * d, cubes + d * d * d)
    });
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    let level = |z: f64| normal_cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
    let reach = normal_quantile((1.0 - confidence) / 2.0);
    Ok(quantiles(resampled, level(reach), level(-reach)))
}

fn quantiles(values: &[f64], low: f64, high: f64) -> Interval {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |level: f64| {
        if sorted.is_empty() || level.is_nan() {
            return f64::NAN;
        }
        let position = level * (sorted.len() - 1) as f64;
        let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
        below + (above - below) * position.fract()
    };
    Interval { low: at(low), high: at(high) }
}
