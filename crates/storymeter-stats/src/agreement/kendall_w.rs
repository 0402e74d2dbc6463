//! Kendall's coefficient of concordance.

use crate::distribution::chi_squared_sf;
use crate::error::{Result, StatsError, Undefined};
use crate::matrix::Matrix;
use crate::rank::mid_ranks_unchecked;

/// Kendall's W with Friedman's test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KendallW {
    /// 0 for no agreement on the order, 1 for full agreement; NaN when every rater ties all items.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub w: f64,
    /// `m (n-1) W`, which is approximately chi-squared.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub chi_squared: f64,
    /// Degrees of freedom, `n - 1`.
    pub df: f64,
    /// p-value of the hypothesis that the raters do not agree.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_value: f64,
    /// Number of items.
    pub items: usize,
    /// Number of raters.
    pub raters: usize,
    /// The reason why W is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Computes Kendall's W, corrected for ties, with one row per item and one column per rater.
///
/// `R_j` is the sum over the `m` raters of the mid-ranks of item `j` of `n`, and `t` runs over the
/// sizes of all groups of ties: `W = (12 Σ R_j² - 3 m² n (n+1)²) / (m² n (n²-1) - m Σ (t³ - t))`.
///
/// A missing rating (NaN) is an error. Leave such items out first
/// ([`CompleteRows`](crate::CompleteRows)).
///
/// ```
/// use storymeter_stats::{CompleteRows, agreement::kendall_w};
/// let (anna, ben, cleo) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0], [1.0, 2.0, 3.0, 4.0]);
/// let ratings = CompleteRows::from_columns(&[&anna, &ben, &cleo])?;
/// let found = kendall_w(ratings.matrix())?;
/// assert!((found.w - 41.0 / 45.0).abs() < 1e-12);
/// assert_eq!((found.items, found.raters), (4, 3));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are fewer than two items or raters, or a rating is NaN or infinite.
pub fn kendall_w(ratings: Matrix<'_>) -> Result<KendallW> {
    let (items, raters) = (ratings.rows(), ratings.columns());
    StatsError::check_count("Kendall's W", "raters", 2, raters)?;
    StatsError::check_count("Kendall's W", "items", 2, items)?;
    StatsError::check_finite("ratings", ratings.values())?;
    let mut sums = vec![0.0; items];
    let mut ties = 0.0;
    for rater in 0..raters {
        let mut ranks = mid_ranks_unchecked(&ratings.column(rater));
        sums.iter_mut().zip(&ranks).for_each(|(sum, rank)| *sum += rank);
        ranks.sort_by(f64::total_cmp);
        for group in ranks.chunk_by(|a, b| a == b) {
            let t = group.len() as f64;
            ties += t * t * t - t;
        }
    }
    let (m, n) = (raters as f64, items as f64);
    let centre = m * (n + 1.0) / 2.0;
    let spread: f64 = sums.iter().map(|sum| (sum - centre).powi(2)).sum();
    let most = m * m * n * (n * n - 1.0) - m * ties;
    let df = n - 1.0;
    if most == 0.0 {
        let undefined = Some(Undefined::NoVariation);
        return Ok(KendallW {
            w: f64::NAN,
            chi_squared: f64::NAN,
            df,
            p_value: f64::NAN,
            items,
            raters,
            undefined,
        });
    }
    let w = 12.0 * spread / most;
    let chi_squared = m * df * w;
    let p_value = chi_squared_sf(chi_squared, df);
    Ok(KendallW { w, chi_squared, df, p_value, items, raters, undefined: None })
}
