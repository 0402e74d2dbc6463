//! Rank correlation.

use super::{Correlation, check, why_undefined};
use crate::distribution::student_t_two_sided;
use crate::error::Result;
use crate::rank::mid_ranks_unchecked;
use crate::summation::pairwise;

/// Spearman's rank correlation: Pearson's correlation of the mid-ranks, ties included.
///
/// The two-sided p-value comes from `t = ρ sqrt((n - 2) / ((1 + ρ)(1 - ρ)))` with `n - 2` degrees
/// of freedom. With two pairs it is undefined (NaN).
///
/// An input that is constant or holds a NaN gives NaN with the reason. Infinities rank like any
/// other value.
///
/// ```
/// let rho = storymeter_stats::spearman(&[1.0, 2.0, 3.0, 4.0], &[10.0, 30.0, 20.0, 9000.0])?;
/// assert!((rho.coefficient - 0.8).abs() < 1e-15);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ or there are fewer than two pairs.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Correlation> {
    check(x, y)?;
    let n = x.len();
    if let Some(why) = why_undefined(x, y, false) {
        return Ok(Correlation::nan(n, why));
    }
    let coefficient = coefficient(x, y);
    Ok(Correlation { coefficient, p_value: p_value(coefficient, n), n, undefined: None })
}

/// The coefficient of pairs for which it is defined.
pub(super) fn coefficient(x: &[f64], y: &[f64]) -> f64 {
    CentredRanks::new(x).correlate(&CentredRanks::new(y))
}

/// Mid-ranks less their mean. They are multiples of one half, so that their products add up exactly
/// for well over 100,000 values.
#[derive(Debug, Clone)]
pub(super) struct CentredRanks {
    ranks: Vec<f64>,
    deviation: f64,
}

impl CentredRanks {
    pub(super) fn new(values: &[f64]) -> Self {
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
