//! Intraclass correlation.

use std::fmt;

use crate::distribution::{f_quantile, f_sf};
use crate::error::{Result, StatsError};
use crate::interval::Interval;
use crate::matrix::Matrix;
use crate::summation::{mean, pairwise};

/// The six forms of Shrout & Fleiss (1979).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum IccForm {
    /// Reliability of one rating when every target has other raters.
    Icc1,
    /// Absolute agreement of one rating when the same sample of raters rates all targets.
    Icc2,
    /// Consistency of one rating when these raters are the only ones of interest.
    Icc3,
    /// As `Icc1`, for the mean of all ratings of a target.
    Icc1k,
    /// As `Icc2`, for the mean of all ratings of a target.
    Icc2k,
    /// As `Icc3`, for the mean of all ratings of a target.
    Icc3k,
}

impl IccForm {
    /// All forms, in the order in which [`icc`] reports them.
    pub const ALL: [Self; 6] =
        [Self::Icc1, Self::Icc2, Self::Icc3, Self::Icc1k, Self::Icc2k, Self::Icc3k];
}

impl fmt::Display for IccForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Icc1 => "ICC1",
            Self::Icc2 => "ICC2",
            Self::Icc3 => "ICC3",
            Self::Icc1k => "ICC1k",
            Self::Icc2k => "ICC2k",
            Self::Icc3k => "ICC3k",
        })
    }
}

/// One form of the intraclass correlation with its test against zero.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Icc {
    /// The form.
    pub form: IccForm,
    /// The coefficient, which can be negative; NaN when there is no variance at all.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub value: f64,
    /// F statistic of the test against zero.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub f: f64,
    /// Degrees of freedom of the numerator.
    pub df1: f64,
    /// Degrees of freedom of the denominator.
    pub df2: f64,
    /// p-value of the F test.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_value: f64,
    /// 95% confidence interval.
    pub interval: Interval,
    /// Number of targets.
    pub targets: usize,
    /// Number of raters.
    pub raters: usize,
}

/// Mean squares of the two-way layout without replication.
struct MeanSquares {
    /// Between targets.
    targets: f64,
    /// Within targets.
    within: f64,
    /// Between raters.
    raters: f64,
    /// Residual: what neither targets nor raters explain.
    residual: f64,
}

/// Computes all six intraclass correlations, with one row per target and one column per rater.
///
/// There are `n` targets and `k` raters. The mean squares are `B` between targets, `W` within
/// targets, `J` between raters and `E` for the residual:
///
/// - `ICC1 = (B - W) / (B + (k-1) W)`, `ICC1k = (B - W) / B`;
/// - `ICC2 = (B - E) / (B + (k-1) E + k (J - E)/n)`, `ICC2k = (B - E) / (B + (J - E)/n)`;
/// - `ICC3 = (B - E) / (B + (k-1) E)`, `ICC3k = (B - E) / B`.
///
/// The intervals are those of Shrout & Fleiss (1979) and McGraw & Wong (1996). `ICC2`, `ICC3` and
/// their means need columns that each belong to one rater. With anonymous raters, only `ICC1` and
/// `ICC1k` do not depend on the arbitrary order of the columns.
///
/// A missing rating (NaN) is an error. Leave such targets out first
/// ([`CompleteRows`](crate::CompleteRows)).
///
/// ```
/// use storymeter_stats::{Matrix, agreement::{IccForm, icc}};
/// let ratings = [1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 2.0, 2.0];
/// let found = icc(Matrix::new(&ratings, 4, 2)?)?;
/// assert_eq!((found[0].form, found[0].targets, found[0].raters), (IccForm::Icc1, 4, 2));
/// assert!(found[0].value > 0.7 && found[3].value > found[0].value);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are fewer than two targets or raters, or a rating is NaN or infinite.
pub fn icc(ratings: Matrix<'_>) -> Result<[Icc; 6]> {
    let (targets, raters) = (ratings.rows(), ratings.columns());
    StatsError::check_count("the intraclass correlation", "targets", 2, targets)?;
    StatsError::check_count("the intraclass correlation", "raters", 2, raters)?;
    StatsError::check_finite("ratings", ratings.values())?;
    let ms = mean_squares(ratings);
    let (n, k) = (targets as f64, raters as f64);
    let (df1, df2_one_way, df2_two_way) = (n - 1.0, n * (k - 1.0), (n - 1.0) * (k - 1.0));
    let one_way = FTest::new(ms.targets / ms.within, df1, df2_one_way);
    let two_way = FTest::new(ms.targets / ms.residual, df1, df2_two_way);

    let icc2 = (ms.targets - ms.residual)
        / (ms.targets + (k - 1.0) * ms.residual + k * (ms.raters - ms.residual) / n);
    let agreement = agreement_interval(&ms, icc2, n, k);
    let spread = |single: Interval| {
        let stepped_up = |r: f64| r * k / (1.0 + r * (k - 1.0));
        Interval { low: stepped_up(single.low), high: stepped_up(single.high) }
    };
    Ok(IccForm::ALL.map(|form| {
        let test = if matches!(form, IccForm::Icc1 | IccForm::Icc1k) { &one_way } else { &two_way };
        let (value, interval) = match form {
            IccForm::Icc1 => (
                (ms.targets - ms.within) / (ms.targets + (k - 1.0) * ms.within),
                test.single_interval(k),
            ),
            IccForm::Icc2 => (icc2, agreement),
            IccForm::Icc3 => (
                (ms.targets - ms.residual) / (ms.targets + (k - 1.0) * ms.residual),
                test.single_interval(k),
            ),
            IccForm::Icc1k => ((ms.targets - ms.within) / ms.targets, test.mean_interval()),
            IccForm::Icc2k => (
                (ms.targets - ms.residual) / (ms.targets + (ms.raters - ms.residual) / n),
                spread(agreement),
            ),
            IccForm::Icc3k => ((ms.targets - ms.residual) / ms.targets, test.mean_interval()),
        };
        Icc {
            form,
            value,
            f: test.f,
            df1,
            df2: test.df2,
            p_value: f_sf(test.f, df1, test.df2),
            interval,
            targets,
            raters,
        }
    }))
}

fn mean_squares(ratings: Matrix<'_>) -> MeanSquares {
    let (n, k) = (ratings.rows(), ratings.columns());
    let grand = mean(ratings.values());
    let by_target: Vec<f64> = (0..n).map(|i| mean(ratings.row(i))).collect();
    let by_rater: Vec<f64> =
        (0..k).map(|j| pairwise(n, &|i| ratings.get(i, j)) / n as f64).collect();
    let between_targets = k as f64 * pairwise(n, &|i| (by_target[i] - grand).powi(2));
    let between_raters = n as f64 * pairwise(k, &|j| (by_rater[j] - grand).powi(2));
    let within = pairwise(n * k, &|c| (ratings.values()[c] - by_target[c / k]).powi(2));
    let residual = pairwise(n * k, &|c| {
        (ratings.values()[c] - by_target[c / k] - by_rater[c % k] + grand).powi(2)
    });
    let (n, k) = (n as f64, k as f64);
    MeanSquares {
        targets: between_targets / (n - 1.0),
        within: within / (n * (k - 1.0)),
        raters: between_raters / (k - 1.0),
        residual: residual / ((n - 1.0) * (k - 1.0)),
    }
}

/// An F ratio and the ends of its 95% interval.
struct FTest {
    f: f64,
    df2: f64,
    low: f64,
    high: f64,
}

const UPPER: f64 = 0.975;

impl FTest {
    fn new(f: f64, df1: f64, df2: f64) -> Self {
        Self { f, df2, low: f / f_quantile(UPPER, df1, df2), high: f * f_quantile(UPPER, df2, df1) }
    }

    fn single_interval(&self, k: f64) -> Interval {
        let single = |f: f64| if f.is_infinite() { 1.0 } else { (f - 1.0) / (f + (k - 1.0)) };
        Interval { low: single(self.low), high: single(self.high) }
    }

    fn mean_interval(&self) -> Interval {
        Interval { low: 1.0 - 1.0 / self.low, high: 1.0 - 1.0 / self.high }
    }
}

/// Interval of ICC2, with Satterthwaite's degrees of freedom for the mixed mean square (Shrout &
/// Fleiss 1979, p. 424).
fn agreement_interval(ms: &MeanSquares, icc2: f64, n: f64, k: f64) -> Interval {
    if ms.within == 0.0 && ms.targets > 0.0 {
        return Interval { low: 1.0, high: 1.0 };
    }
    let rater_part = k * icc2 * ms.raters;
    let residual_part = (n * (1.0 + (k - 1.0) * icc2) - k * icc2) * ms.residual;
    let df = (n - 1.0) * (k - 1.0) * (rater_part + residual_part).powi(2)
        / ((n - 1.0) * rater_part.powi(2) + residual_part.powi(2));
    let upper = f_quantile(UPPER, n - 1.0, df);
    let lower = f_quantile(UPPER, df, n - 1.0);
    let mixed = k * ms.raters + (k * n - k - n) * ms.residual;
    // Dividing by the quantiles works even where they are infinite, because `df` is close to 0.
    Interval {
        low: n * (ms.targets / upper - ms.residual) / (mixed + n * ms.targets / upper),
        high: n * (ms.targets - ms.residual / lower) / (mixed / lower + n * ms.targets),
    }
}
