//! Fleiss' kappa.

use crate::error::{Result, StatsError, Undefined};
use crate::matrix::Matrix;

/// Fleiss' kappa and its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FleissKappa {
    /// 1 for full agreement, 0 for what chance gives; NaN when only one category is ever used.
    pub kappa: f64,
    /// Share of agreeing pairs of raters.
    pub observed: f64,
    /// Share expected by chance.
    pub expected: f64,
    /// Why kappa is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Fleiss' kappa (1971) of ratings by category, one row per subject and one column per rater.
///
/// With `n_ic` of the `m` raters putting subject `i` into category `c`, `p_c` the overall share of category `c`:
/// `P_o = mean_i (Σ_c n_ic² - m) / (m (m-1))`, `P_e = Σ_c p_c²`, `κ = (P_o - P_e) / (1 - P_e)`.
///
/// Any number can name a category; a missing rating (NaN) is an error, because kappa needs all subjects rated
/// equally often. Use [`krippendorff_alpha`](super::krippendorff_alpha) when some are missing.
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
    Ok(FleissKappa { kappa, observed, expected, undefined })
}

/// Sum over the categories of the squared number of ratings.
fn squares(ratings: &[f64]) -> f64 {
    let mut sorted = ratings.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64).powi(2)).sum()
}
