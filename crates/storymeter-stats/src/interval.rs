//! Confidence intervals and how they are read off resampled statistics.

use crate::distribution::{normal_cdf, normal_quantile, student_t_quantile};
use crate::error::{Result, StatsError};
use crate::summation::mean;

/// A confidence interval; its ends are NaN where the statistic is undefined.
///
/// ```
/// let interval = storymeter_stats::Interval { low: 0.2, high: 0.4 };
/// assert!(interval.contains(0.4) && !interval.contains(0.1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interval {
    /// Lower end.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub low: f64,
    /// Upper end.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub high: f64,
}

impl Interval {
    /// The interval of a statistic that is undefined: both ends are NaN.
    pub const UNDEFINED: Self = Self { low: f64::NAN, high: f64::NAN };

    /// Whether a value lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether both ends are numbers.
    pub fn is_defined(&self) -> bool {
        !self.low.is_nan() && !self.high.is_nan()
    }
}

/// Interval between the `α/2` and `1 - α/2` quantiles of resampled statistics.
///
/// Quantiles between two values are interpolated linearly. Without any value the interval is
/// undefined; a NaN among the values should be left out first.
///
/// ```
/// let resampled: Vec<f64> = (0..=100).map(f64::from).collect();
/// let interval = storymeter_stats::percentile_interval(&resampled, 0.9)?;
/// assert!((interval.low - 5.0).abs() < 1e-9 && (interval.high - 95.0).abs() < 1e-9);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the confidence does not lie strictly between 0 and 1.
pub fn percentile_interval(resampled: &[f64], confidence: f64) -> Result<Interval> {
    StatsError::check_open_unit("confidence", confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    Ok(quantiles(resampled, tail, 1.0 - tail))
}

/// Bias-corrected and accelerated interval (Efron 1987).
///
/// It needs the resampled statistics, the statistic of the sample itself, and the statistics of the
/// samples that leave out one item each (the jackknife).
///
/// The bias is `z0 = Φ⁻¹(share of resamples below the estimate, ties counted half)`. The
/// acceleration is `a = Σ d³ / (6 (Σ d²)^{3/2})`, where `d` is the mean of the jackknife values
/// less each of them. The ends are the quantiles at `Φ(z0 + (z0 + z_α) / (1 - a (z0 + z_α)))`. They
/// are NaN when all resamples lie on one side of the estimate, or all jackknife values are equal.
///
/// # Errors
/// Returns an error if the confidence does not lie strictly between 0 and 1.
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

/// Interval `estimate ± t s` of Student's t. Without any spread it is undefined: values that are
/// all equal do not show how far values vary.
pub(crate) fn student_interval(estimate: f64, error: f64, df: f64, confidence: f64) -> Interval {
    let rounding = 1e-13 * estimate.abs();
    if error.is_nan() || error.is_infinite() || error <= rounding || df.is_nan() || df <= 0.0 {
        return Interval::UNDEFINED;
    }
    let reach = student_t_quantile(0.5 + confidence / 2.0, df) * error;
    Interval { low: estimate - reach, high: estimate + reach }
}

fn quantiles(values: &[f64], low: f64, high: f64) -> Interval {
    let mut values = values.to_vec();
    let mut at = |level: f64| {
        if values.is_empty() || level.is_nan() {
            return f64::NAN;
        }
        let position = level * (values.len() - 1) as f64;
        // Only two of the values must be in their places.
        let (_, below, others) =
            values.select_nth_unstable_by(position.floor() as usize, f64::total_cmp);
        let below = *below;
        if position.fract() == 0.0 {
            return below;
        }
        let next = others.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
        below + (next - below) * position.fract()
    };
    Interval { low: at(low), high: at(high) }
}
