//! Krippendorff's alpha.

use crate::error::{Result, StatsError, Undefined};
use crate::matrix::Matrix;
use crate::rank::mid_ranks_unchecked;
use crate::summation::{mean, pairwise};

/// What the values mean, and so how far apart two of them are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scale {
    /// Names: distance 0 or 1.
    Nominal,
    /// Ranks: squared number of values in between, both ends counted half.
    Ordinal,
    /// Numbers with a unit: `(a - b)²`.
    Interval,
    /// Numbers with a zero: `((a - b) / (a + b))²`.
    Ratio,
}

/// Krippendorff's alpha and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KrippendorffAlpha {
    /// 1 for full agreement, 0 for what chance gives; NaN when all values are equal.
    pub alpha: f64,
    /// Observed disagreement.
    pub observed: f64,
    /// Disagreement expected by chance.
    pub expected: f64,
    /// Ratings used.
    pub values: usize,
    /// Units with at least two ratings.
    pub units: usize,
    /// Units left out because they have fewer than two ratings.
    pub units_skipped: usize,
    /// Why alpha is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Krippendorff's alpha of ratings with one row per unit and one column per rater; NaN marks a missing rating.
///
/// `α = 1 - D_o / D_e`. Over the `n` ratings of units with at least two, `m_u` of them in unit `u`, and with the
/// squared distance `δ²` of the scale: `D_o = 1/n Σ_u 1/(m_u - 1) Σ_{i≠j in u} δ²`,
/// `D_e = 1/(n(n-1)) Σ_{i≠j} δ²` (Krippendorff 2004, ch. 11). Raters may differ from unit to unit.
///
/// An infinite rating, and for the ratio scale a negative one, is an error. Time grows with the number of ratings, for
/// the ratio scale with the square of the number of distinct ones.
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
        // Half the ends plus all in between is the distance of the mid-ranks.
        pooled = mid_ranks_unchecked(&pooled);
        let mut rest = pooled.as_slice();
        for unit in &mut units {
            let (own, others) = rest.split_at(unit.len());
            unit.copy_from_slice(own);
            rest = others;
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

/// Sum of the squared distances over all ordered pairs.
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

/// Distinct values, ascending, with how often each occurs.
fn groups(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len() as f64)).collect()
}
