//! Intervals and tests through Fisher's z transformation of a correlation.

use crate::correlation::Coefficient;
use crate::distribution::{normal_quantile, normal_sf};
use crate::error::{Result, StatsError, Undefined};
use crate::interval::Interval;

/// Interval of a correlation through Fisher's z: `tanh(atanh r ± z_{1-α/2} σ)`.
///
/// `σ² = 1/(n-3)` for Pearson (Fisher 1921), `(1 + ρ²/2)/(n-3)` for Spearman (Bonett & Wright 2000)
/// and `0.437/(n-4)` for Kendall (Fieller, Hartley & Pearson 1957). A NaN correlation has an
/// undefined interval.
///
/// ```
/// use storymeter_stats::{Coefficient, fisher_interval};
/// let interval = fisher_interval(Coefficient::Pearson, 0.5, 30, 0.95)?;
/// assert!((interval.low - 0.170).abs() < 1e-3 && (interval.high - 0.729).abs() < 1e-3);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are fewer than 4 pairs (5 for Kendall), the correlation lies outside
/// [-1, 1], or the confidence does not lie strictly between 0 and 1.
pub fn fisher_interval(
    coefficient: Coefficient,
    r: f64,
    n: usize,
    confidence: f64,
) -> Result<Interval> {
    StatsError::check_open_unit("confidence", confidence)?;
    StatsError::check_correlation(r)?;
    StatsError::check_count("Fisher's interval", "pairs", least_pairs(coefficient), n)?;
    let deviation = variance(coefficient, r, n).sqrt();
    let reach = normal_quantile(0.5 + confidence / 2.0) * deviation;
    let z = r.atanh();
    Ok(Interval { low: (z - reach).tanh(), high: (z + reach).tanh() })
}

/// Outcome of a test between two correlations of independent samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FisherTest {
    /// The first correlation less the second.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub difference: f64,
    /// The statistic, standard normal if the correlations are equal; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub z: f64,
    /// Two-sided p-value; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_two_sided: f64,
    /// Numbers of pairs behind the first and the second correlation.
    pub n: (usize, usize),
    /// The reason why the statistic is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Fisher's z test of two correlations `(r, n)` of independent samples.
///
/// `z = (atanh r1 - atanh r2) / sqrt(σ1² + σ2²)` with the variances of [`fisher_interval`].
///
/// The test is wrong for correlations that share ratings or items; use
/// [`williams`](crate::williams) for those. A correlation that is NaN, and fewer than 4 pairs (5
/// for Kendall), give an undefined test with the reason.
///
/// ```
/// use storymeter_stats::{Coefficient, fisher_difference};
/// let test = fisher_difference(Coefficient::Pearson, (0.3, 103), (0.6, 103))?;
/// assert!((test.p_two_sided - 0.006674623395).abs() < 1e-12);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a correlation lies outside [-1, 1].
pub fn fisher_difference(
    coefficient: Coefficient,
    (first, first_n): (f64, usize),
    (second, second_n): (f64, usize),
) -> Result<FisherTest> {
    StatsError::check_correlation(first)?;
    StatsError::check_correlation(second)?;
    let (needed, got) = (least_pairs(coefficient), first_n.min(second_n));
    let why = if first.is_nan() || second.is_nan() {
        Some(Undefined::NoCorrelation)
    } else if got < needed {
        Some(Undefined::TooFew { needed, got })
    } else if first.abs() == 1.0 && first == second {
        Some(Undefined::PerfectCorrelation)
    } else {
        None
    };
    let z = match why {
        Some(_) => f64::NAN,
        None => {
            let variance =
                variance(coefficient, first, first_n) + variance(coefficient, second, second_n);
            (first.atanh() - second.atanh()) / variance.sqrt()
        }
    };
    Ok(FisherTest {
        difference: first - second,
        z,
        p_two_sided: 2.0 * normal_sf(z.abs()),
        n: (first_n, second_n),
        undefined: why,
    })
}

/// The fewest pairs for which the variance of Fisher's z is defined.
fn least_pairs(coefficient: Coefficient) -> usize {
    if coefficient == Coefficient::Kendall { 5 } else { 4 }
}

/// Variance of `atanh r`.
fn variance(coefficient: Coefficient, r: f64, n: usize) -> f64 {
    let n = n as f64;
    match coefficient {
        Coefficient::Pearson => 1.0 / (n - 3.0),
        Coefficient::Spearman => (1.0 + r * r / 2.0) / (n - 3.0),
        Coefficient::Kendall => 0.437 / (n - 4.0),
    }
}
