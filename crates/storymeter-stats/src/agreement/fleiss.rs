//! Fleiss' kappa.

use crate::error::{Result, StatsError, Undefined};
use crate::matrix::Matrix;

/// Fleiss' kappa and its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FleissKappa {
    /// 1 for full agreement, 0 for agreement by chance; NaN when only one category is ever used.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub kappa: f64,
    /// Share of agreeing pairs of raters.
    pub observed: f64,
    /// Share of agreeing pairs expected by chance.
    pub expected: f64,
    /// Number of subjects.
    pub subjects: usize,
    /// Number of raters.
    pub raters: usize,
    /// The reason why kappa is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Computes Fleiss' kappa (1971) of categories, with one row per subject and one column per rater.
///
/// `n_ic` of the `m` raters put subject `i` into category `c`, and `p_c` is the overall share of
/// category `c`: `P_o = mean_i (Σ_c n_ic² - m) / (m (m-1))`, `P_e = Σ_c p_c²`,
/// `κ = (P_o - P_e) / (1 - P_e)`.
///
/// Any number can name a category. A missing rating (NaN) is an error, because kappa needs the same
/// number of ratings for every subject. Leave such subjects out first
/// ([`CompleteRows`](crate::CompleteRows)), or use
/// [`krippendorff_alpha`](super::krippendorff_alpha), which needs no complete rows.
///
/// ```
/// use storymeter_stats::{Matrix, agreement::fleiss_kappa};
/// let ratings = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0];
/// let found = fleiss_kappa(Matrix::new(&ratings, 4, 3)?)?;
/// assert!((found.kappa - 1.0 / 3.0).abs() < 1e-12);
/// assert_eq!((found.subjects, found.raters), (4, 3));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are no subjects, fewer than two raters, or a rating is NaN or
/// infinite.
pub fn fleiss_kappa(ratings: Matrix<'_>) -> Result<FleissKappa> {
    let (subjects, raters) = (ratings.rows(), ratings.columns());
    StatsError::check_count("Fleiss' kappa", "subjects", 1, subjects)?;
    StatsError::check_count("Fleiss' kappa", "raters", 2, raters)?;
    StatsError::check_finite("ratings", ratings.values())?;
    let m = raters as f64;
    let agreeing: f64 =
        (0..subjects).map(|i| (squares(ratings.row(i)) - m) / (m * (m - 1.0))).sum();
    let observed = agreeing / subjects as f64;
    let total = (subjects * raters) as f64;
    let expected = squares(ratings.values()) / (total * total);
    let undefined = (expected == 1.0).then_some(Undefined::NoVariation);
    let kappa =
        if undefined.is_some() { f64::NAN } else { (observed - expected) / (1.0 - expected) };
    Ok(FleissKappa { kappa, observed, expected, subjects, raters, undefined })
}

/// Sum over all categories of the squared number of ratings in the category.
fn squares(ratings: &[f64]) -> f64 {
    let mut sorted = ratings.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64).powi(2)).sum()
}
