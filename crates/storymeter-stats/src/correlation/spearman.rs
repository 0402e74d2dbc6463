//! Rank correlation.

use super::{Correlation, check, why_undefined};
use crate::distribution::student_t_two_sided;
use crate::error::Result;
use crate::rank::mid_ranks_unchecked;
use crate::summation::pairwise;

/// Spearman's rank correlation: Pearson's correlation of the mid-ranks, ties included.
///
/// The p-value is two-sided, from `t = ρ sqrt((n - 2) / ((1 + ρ)(1 - ρ)))` with `n - 2` degrees of freedom, which
/// leaves it undefined (NaN) with two pairs.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Correlation> {
    check(x, y)?;
    let n = x.len();
    if let Some(why) = why_undefined(x, y, false) {
        return Ok(Correlation::nan(n, why));
    }
    let coefficient = coefficient(x, y);
    Ok(Correlation { coefficient, p_value: p_value(coefficient, n), n, undefined: None })
}

/// The coefficient of defined pairs.
pub(super) fn coefficient(x: &[f64], y: &[f64]) -> f64 {
    CentredRanks::of(x).correlate(&CentredRanks::of(y))
}

/// Mid-ranks less their mean. They are multiples of one half, so their products add up without rounding up to
/// well over 100,000 values.
#[derive(Debug, Clone)]
pub(super) struct CentredRanks {
    ranks: Vec<f64>,
    deviation: f64,
}

impl CentredRanks {
    pub(super) fn of(values: &[f64]) -> Self {
        let mut ranks = mid_ranks_unchecked(values);
        let centre = (values.len() + 1) as f64 / 2.0;
        ranks.iter_mut().for_each(|r| *r -= centre);
        let deviation =
            (pairwise(ranks.len(), &|i| ranks[i] * ranks[i]) * Self::scale(ranks.len())).sqrt();
        Self { ranks, deviation }
    }

    fn scale(n: usize) -> f64 {
        1.0 / (n - 1) as f64
    }

    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(super) fn correlate(&self, other: &Self) -> f64 {
        let covariance =
            pairwise(self.len(), &|i| self.ranks[i] * other.ranks[i]) * Self::scale(self.len());
        (covariance / other.deviation / self.deviation).clamp(-1.0, 1.0)
    }
}

fn p_value(rho: f64, n: usize) -> f64 {
    let df = (n - 2) as f64;
    student_t_two_sided(rho * (df / ((rho + 1.0) * (1.0 - rho))).max(0.0).sqrt(), df)
}
