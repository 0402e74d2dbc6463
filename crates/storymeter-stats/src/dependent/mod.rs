//! Tests between two correlations that share a variable.
//!
//! They answer the question whether metric 2 agrees with the human ratings (variable 1) better than
//! metric 3 does. All of them take `r12` and `r13`, the correlations of the two metrics with the
//! ratings, and `r23`, the correlation between the metrics. All three must come from the same `n`
//! items, because the tests rely on the metrics having been measured together.
//!
//! [`SharedCorrelations`] computes the three from columns with missing values, and
//! [`williams_matrix`] compares many metrics at once.

mod matrix;
mod shared;

pub use matrix::{WilliamsMatrix, williams_matrix, williams_matrix_of_columns};
pub use shared::SharedCorrelations;

use crate::distribution::{normal_sf, student_t_sf};
use crate::error::{Result, StatsError, Undefined};

/// The fewest items on which the tests are defined.
const LEAST_ITEMS: usize = 4;

/// Outcome of a test between two dependent correlations.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DependentTest {
    /// The statistic; positive when the first correlation is the larger one. NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub statistic: f64,
    /// One-sided p-value: the probability of a statistic at least this large if the first
    /// correlation is not larger than the second.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_value: f64,
    /// Two-sided p-value.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_two_sided: f64,
    /// Number of items that have a rating and a score of both metrics.
    pub n: usize,
    /// The reason why the statistic and the p-values are NaN, if they are.
    pub undefined: Option<Undefined>,
}

impl DependentTest {
    fn nan(n: usize, why: Undefined) -> Self {
        Self {
            statistic: f64::NAN,
            p_value: f64::NAN,
            p_two_sided: f64::NAN,
            n,
            undefined: Some(why),
        }
    }

    fn normal(z: f64, n: usize) -> Self {
        if z.is_nan() {
            return Self::nan(n, Undefined::PerfectCorrelation);
        }
        let (p_value, p_two_sided) = (normal_sf(z), 2.0 * normal_sf(z.abs()));
        Self { statistic: z, p_value, p_two_sided, n, undefined: None }
    }
}

/// Williams' test (Williams 1959, in the form of Graham & Baldwin 2014) with signed correlations.
///
/// `K = 1 - r12² - r13² - r23² + 2 r12 r13 r23`
///
/// `t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K (n-1)/(n-3) + ((r12+r13)/2)² (1-r23)³)`
///
/// with `n - 3` degrees of freedom. `K` is the determinant of the matrix of the three correlations.
/// If it is negative, no data have these correlations, and the result is NaN with the reason
/// [`Undefined::Contradiction`]. A correlation that is NaN gives [`Undefined::NoCorrelation`].
///
/// ```
/// use storymeter_stats::{Undefined, williams};
/// let test = williams(0.79, 0.70, 0.91, 10)?;
/// assert!(test.p_value > 0.15 && test.undefined.is_none());
/// // Two metrics that both follow the ratings closely cannot contradict each other.
/// let impossible = williams(0.9, 0.7, 0.1, 10)?;
/// assert!(impossible.p_value.is_nan());
/// assert_eq!(impossible.undefined, Some(Undefined::Contradiction));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if `n` is below 4 or a correlation lies outside [-1, 1].
pub fn williams(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    williams_by(r12, r13, r23, n, WilliamsRules::Corrected)
}

/// Williams' formula applied to any three numbers, as in the analysis published with HANNA.
///
/// Unlike [`williams`] it does not check that the three correlations can occur together. A triple
/// with a negative determinant gets a p-value all the same unless the root in the denominator is
/// imaginary. Use it only to repeat published numbers.
///
/// ```
/// use storymeter_stats::{williams, williams_published};
/// let (r12, r13, r23) = (0.6, 0.2, -0.7);
/// assert!(williams(r12, r13, r23, 10)?.p_value.is_nan());
/// assert!(williams_published(r12, r13, r23, 10)?.p_value < 0.5);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if `n` is below 4 or a correlation lies outside [-1, 1].
pub fn williams_published(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    williams_by(r12, r13, r23, n, WilliamsRules::Published)
}

/// Which rules [`williams_by_strength`] and [`williams_matrix`] follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WilliamsRules {
    /// Each pair of metrics is flipped by the signs of its own correlations, and correlations that
    /// cannot occur together have no p-value.
    #[default]
    Corrected,
    /// The rules of the matrices published with HANNA. The formula is applied to whatever comes in
    /// ([`williams_published`]), and most signs are lost: the value of a pair comes from the row of
    /// the metric that is later in the list, and in each row the correlation of that metric is
    /// overwritten by its absolute value at the first comparison, so that its sign is right in
    /// column 0 only. The rule was inferred from what is reported about one such matrix
    /// (`storymeter-checks/tests/checks/williams.rs`).
    Published,
}

fn williams_by(
    r12: f64,
    r13: f64,
    r23: f64,
    n: usize,
    rules: WilliamsRules,
) -> Result<DependentTest> {
    if let Some(undefined) = check("Williams' test", [r12, r13, r23], n)? {
        return Ok(undefined);
    }
    let mut determinant = determinant(r12, r13, r23);
    let impossible = determinant < -ROUNDING;
    if rules == WilliamsRules::Corrected {
        if impossible {
            return Ok(DependentTest::nan(n, Undefined::Contradiction));
        }
        determinant = determinant.max(0.0);
    }
    let (items, mean) = (n as f64, (r12 + r13) / 2.0);
    let variance =
        2.0 * determinant * (items - 1.0) / (items - 3.0) + mean * mean * (1.0 - r23).powi(3);
    // Without the rounding error of the determinant, nothing may be left of the variance.
    let no_variance = determinant == 0.0 && variance < ROUNDING;
    let t = (r12 - r13) * ((items - 1.0) * (1.0 + r23)).sqrt() / variance.sqrt();
    if t.is_nan() || no_variance {
        let why = if impossible { Undefined::Contradiction } else { Undefined::PerfectCorrelation };
        return Ok(DependentTest::nan(n, why));
    }
    Ok(DependentTest {
        statistic: t,
        p_value: student_t_sf(t, items - 3.0),
        p_two_sided: 2.0 * student_t_sf(t.abs(), items - 3.0),
        n,
        undefined: None,
    })
}

/// Which of two metrics correlates more strongly with the ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stronger {
    /// The first metric (correlation `r12`).
    First,
    /// The second metric (correlation `r13`).
    Second,
    /// Neither: they are equally strong, or one of them has no correlation.
    Neither,
}

/// Williams' test on the strength of two metrics, whatever their direction.
///
/// The metrics are flipped so that both correlate positively with the ratings, which turns `r23`
/// into `sign(r12) sign(r13) r23`. A correlation of exactly 0 is not flipped. The stronger metric
/// comes first. The one-sided p-value is the probability that it appears this much stronger by
/// chance; it is 0.5 for two equally strong metrics. Signs are never lost here: with
/// [`WilliamsRules::Published`] only the formula is that of [`williams_published`].
///
/// Where it is known whether more or less of a metric is better, turn the correlations by that
/// instead ([`SharedCorrelations::turned`]), and use [`williams`]: a metric that runs against its
/// direction is not strong.
///
/// ```
/// use storymeter_stats::{Stronger, WilliamsRules, williams_by_strength};
/// // The second metric is a distance: the lower, the better.
/// let (stronger, test) = williams_by_strength(0.4, -0.6, -0.5, 30, WilliamsRules::Corrected)?;
/// assert_eq!(stronger, Stronger::Second);
/// assert!(test.statistic > 0.0);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if `n` is below 4 or a correlation lies outside [-1, 1].
pub fn williams_by_strength(
    r12: f64,
    r13: f64,
    r23: f64,
    n: usize,
    rules: WilliamsRules,
) -> Result<(Stronger, DependentTest)> {
    let flipped = turn(r12) * turn(r13) * r23;
    let (first, second) = (r12.abs(), r13.abs());
    let stronger = if first > second {
        Stronger::First
    } else if second > first {
        Stronger::Second
    } else {
        Stronger::Neither
    };
    let (larger, smaller) = if second > first { (second, first) } else { (first, second) };
    Ok((stronger, williams_by(larger, smaller, flipped, n, rules)?))
}

/// Steiger's Z (Steiger 1980, eq. 14 with the pooled correlation of eq. 10).
///
/// With `r = (r12 + r13)/2` and `z = atanh`: `ψ = r23 (1 - 2r²) - r²/2 (1 - 2r² - r23²)`,
/// `s = ψ / (1 - r²)²`, `Z = (z12 - z13) sqrt(n - 3) / sqrt(2 - 2s)`.
///
/// Correlations that cannot occur together, or that are NaN, give an undefined test, as in
/// [`williams`].
///
/// ```
/// let test = storymeter_stats::steiger(0.3, 0.4, 0.5, 100)?;
/// assert!((test.p_two_sided - 0.2838).abs() < 5e-5);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if `n` is below 4 or a correlation lies outside [-1, 1].
pub fn steiger(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    if let Some(undefined) = check_possible("Steiger's test", [r12, r13, r23], n)? {
        return Ok(undefined);
    }
    let square = ((r12 + r13) / 2.0).powi(2);
    let psi = r23 * (1.0 - 2.0 * square) - 0.5 * square * (1.0 - 2.0 * square - r23 * r23);
    let covariance = psi / (1.0 - square).powi(2);
    let z = (r12.atanh() - r13.atanh()) * ((n - 3) as f64).sqrt() / (2.0 - 2.0 * covariance).sqrt();
    Ok(DependentTest::normal(z, n))
}

/// The Z of Meng, Rosenthal & Rubin (1992, eq. 1).
///
/// With `r² = (r12² + r13²)/2`, `f = min(1, (1 - r23) / (2 (1 - r²)))` and
/// `h = (1 - f r²) / (1 - r²)`: `Z = (z12 - z13) sqrt((n - 3) / (2 (1 - r23) h))`.
///
/// Correlations that cannot occur together, or that are NaN, give an undefined test, as in
/// [`williams`].
///
/// ```
/// let test = storymeter_stats::meng_rosenthal_rubin(0.63, -0.03, -0.19, 15)?;
/// assert!((test.statistic - 1.68).abs() < 5e-3);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if `n` is below 4 or a correlation lies outside [-1, 1].
pub fn meng_rosenthal_rubin(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    let name = "the test of Meng, Rosenthal and Rubin";
    if let Some(undefined) = check_possible(name, [r12, r13, r23], n)? {
        return Ok(undefined);
    }
    let square = (r12 * r12 + r13 * r13) / 2.0;
    let f = ((1.0 - r23) / (2.0 * (1.0 - square))).min(1.0);
    // For f = 1 the ratio is 1, also where both sides of it are 0.
    let h = if f == 1.0 { 1.0 } else { (1.0 - f * square) / (1.0 - square) };
    let z = (r12.atanh() - r13.atanh()) * ((n - 3) as f64 / (2.0 * (1.0 - r23) * h)).sqrt();
    Ok(DependentTest::normal(z, n))
}

/// Determinants down to this far below 0 are rounding errors of a determinant that is 0. The error
/// of correlations that were computed from the same items is a few units of 1e-16 each.
const ROUNDING: f64 = 1e-12;

/// Determinant of the matrix of three correlations; negative if they cannot occur together.
fn determinant(r12: f64, r13: f64, r23: f64) -> f64 {
    1.0 - r12 * r12 - r13 * r13 - r23 * r23 + 2.0 * r12 * r13 * r23
}

/// Checks what all tests need. The inner value is the undefined test of undefined correlations.
fn check(
    statistic: &'static str,
    correlations: [f64; 3],
    n: usize,
) -> Result<Option<DependentTest>> {
    StatsError::check_count(statistic, "items", LEAST_ITEMS, n)?;
    correlations.into_iter().try_for_each(StatsError::check_correlation)?;
    let missing = correlations.iter().any(|r| r.is_nan());
    Ok(missing.then(|| DependentTest::nan(n, Undefined::NoCorrelation)))
}

/// As [`check`]; correlations that cannot occur together give an undefined test, too.
fn check_possible(
    statistic: &'static str,
    [r12, r13, r23]: [f64; 3],
    n: usize,
) -> Result<Option<DependentTest>> {
    let undefined = check(statistic, [r12, r13, r23], n)?;
    let impossible = determinant(r12, r13, r23) < -ROUNDING;
    let contradiction = || impossible.then(|| DependentTest::nan(n, Undefined::Contradiction));
    Ok(undefined.or_else(contradiction))
}

/// What makes a correlation positive: -1 or 1. It is never 0, which would erase the correlation
/// between the two metrics.
fn turn(r: f64) -> f64 {
    if r < 0.0 { -1.0 } else { 1.0 }
}
