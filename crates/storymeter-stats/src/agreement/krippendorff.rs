//! Krippendorff's alpha.

use crate::error::{Result, StatsError, Undefined};
use crate::matrix::Matrix;
use crate::rank::mid_ranks_unchecked;
use crate::summation::{mean, pairwise};

/// The meaning of the values, which decides how far apart two of them are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Scale {
    /// Names. Two values are 0 or 1 apart.
    Nominal,
    /// Ranks. The distance is the squared number of values in between, both ends counted half.
    Ordinal,
    /// Numbers with a unit. The distance is `(a - b)²`.
    Interval,
    /// Numbers with a zero. The distance is `((a - b) / (a + b))²`.
    Ratio,
}

/// Krippendorff's alpha and the numbers it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KrippendorffAlpha {
    /// 1 for full agreement, 0 for agreement by chance; NaN when all values are equal.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub alpha: f64,
    /// Observed disagreement.
    pub observed: f64,
    /// Disagreement expected by chance.
    pub expected: f64,
    /// Number of ratings used.
    pub values: usize,
    /// Number of units with at least two ratings.
    pub units: usize,
    /// Number of units left out because they have fewer than two ratings.
    pub units_skipped: usize,
    /// The reason why alpha is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Computes Krippendorff's alpha, with one row per unit and one column per rater.
///
/// NaN marks a missing rating. Units with fewer than two ratings are left out and counted. The
/// raters may differ from unit to unit.
///
/// `α = 1 - D_o / D_e`. There are `n` ratings, `m_u` of them in unit `u`, and `δ²` is the squared
/// distance of the scale: `D_o = 1/n Σ_u 1/(m_u - 1) Σ_{i≠j in u} δ²`,
/// `D_e = 1/(n(n-1)) Σ_{i≠j} δ²` (Krippendorff 2004, ch. 11).
///
/// The time grows with the number of ratings, and for the ratio scale with the square of the number
/// of distinct ratings.
///
/// ```
/// use storymeter_stats::{Matrix, agreement::{Scale, krippendorff_alpha}};
/// let ratings = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 2.0, f64::NAN];
/// let found = krippendorff_alpha(Matrix::new(&ratings, 4, 2)?, Scale::Interval)?;
/// assert_eq!((found.units, found.units_skipped, found.values), (3, 1, 6));
/// assert!((found.alpha - (1.0 - 5.0 / 29.0)).abs() < 1e-12);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if no unit has two ratings, a rating is infinite, or a rating is negative on
/// the ratio scale.
pub fn krippendorff_alpha(ratings: Matrix<'_>, scale: Scale) -> Result<KrippendorffAlpha> {
    if let Some(index) = ratings.values().iter().position(|v| v.is_infinite()) {
        return Err(StatsError::NotFinite {
            what: "ratings",
            index,
            value: ratings.values()[index],
        });
    }
    if scale == Scale::Ratio
        && let Some(&value) = ratings.values().iter().find(|&&v| v < 0.0)
    {
        let allowed = "at least 0 on a ratio scale";
        return Err(StatsError::OutOfRange { what: "a rating", value, allowed });
    }
    let mut units: Vec<Vec<f64>> = (0..ratings.rows())
        .map(|u| ratings.row(u).iter().copied().filter(|v| !v.is_nan()).collect())
        .collect();
    units.retain(|unit: &Vec<f64>| unit.len() > 1);
    let units_skipped = ratings.rows() - units.len();
    StatsError::check_count("Krippendorff's alpha", "units with two ratings", 1, units.len())?;

    let mut pooled = units.concat();
    if scale == Scale::Ordinal {
        // The distance of the mid-ranks is half of both ends plus everything in between.
        pooled = mid_ranks_unchecked(&pooled);
        let mut ranks = pooled.as_slice();
        for unit in &mut units {
            let (own, later) = ranks.split_at(unit.len());
            unit.copy_from_slice(own);
            ranks = later;
        }
    }
    let n = pooled.len() as f64;
    let observed =
        pairwise(units.len(), &|u| disagreement(&units[u], scale) / (units[u].len() as f64 - 1.0))
            / n;
    let expected = disagreement(&pooled, scale) / (n * (n - 1.0));
    let undefined = (expected == 0.0).then_some(Undefined::NoVariation);
    let alpha = if undefined.is_some() { f64::NAN } else { 1.0 - observed / expected };
    let (values, units) = (pooled.len(), units.len());
    Ok(KrippendorffAlpha { alpha, observed, expected, values, units, units_skipped, undefined })
}

/// Sum of the squared distances of all ordered pairs.
fn disagreement(values: &[f64], scale: Scale) -> f64 {
    match scale {
        Scale::Ordinal | Scale::Interval => {
            // Σ_{i≠j} (a - b)² = 2m Σ (a - mean)²
            let centre = mean(values);
            2.0 * values.len() as f64 * pairwise(values.len(), &|i| (values[i] - centre).powi(2))
        }
        Scale::Nominal => {
            let m = values.len() as f64;
            m * m - groups(values).iter().map(|&(_, count)| count * count).sum::<f64>()
        }
        Scale::Ratio => {
            let groups = groups(values);
            let apart = |(a, _): (f64, f64), (b, _): (f64, f64)| ((a - b) / (a + b)).powi(2);
            let mut sum = 0.0;
            for (i, &first) in groups.iter().enumerate() {
                for &second in &groups[i + 1..] {
                    sum += 2.0 * first.1 * second.1 * apart(first, second);
                }
            }
            sum
        }
    }
}

/// The distinct values in ascending order, each with its frequency.
fn groups(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len() as f64)).collect()
}
