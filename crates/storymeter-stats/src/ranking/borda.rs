//! Borda count and mean rank.

use super::numpy_order::argsort_numpy_1_23;
use crate::error::{Result, StatsError};
use crate::matrix::Matrix;
use crate::rank::mid_ranks_unchecked;

/// How equal scores in a column are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BordaTies {
    /// They share the mean of the places they cover.
    #[default]
    MidRank,
    /// They stay in the order in which numpy 1.23's unstable sort leaves them. This reproduces
    /// rankings that were published with it.
    Numpy123,
}

/// Borda scores and the ranking they give.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BordaCount {
    /// For each candidate the number of candidates ranked below it, summed over the voters.
    pub scores: Vec<f64>,
    /// The candidates, best first. Equal scores keep the order of the rows (with `Numpy123` the
    /// order of that sort).
    pub order: Vec<usize>,
    /// Number of voters.
    pub voters: usize,
}

/// Computes the Borda count: from each voter, a candidate gets one point per candidate ranked below
/// it.
///
/// ```
/// use storymeter_stats::{Matrix, ranking::{BordaTies, borda}};
/// let scores = [0.9, 0.7, 0.5, 0.7, 0.1, 0.2]; // three candidates, two columns
/// let count = borda(Matrix::new(&scores, 3, 2)?, BordaTies::MidRank)?;
/// assert_eq!((count.scores, count.order), (vec![3.5, 2.5, 0.0], vec![0, 1, 2]));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a score is NaN or infinite.
pub fn borda(scores: Matrix<'_>, ties: BordaTies) -> Result<BordaCount> {
    StatsError::check_finite("scores", scores.values())?;
    let candidates = scores.rows();
    let mut sums = vec![0.0; candidates];
    for column in 0..scores.columns() {
        let column = scores.column(column);
        match ties {
            BordaTies::MidRank => {
                sums.iter_mut()
                    .zip(mid_ranks_unchecked(&column))
                    .for_each(|(sum, rank)| *sum += rank - 1.0);
            }
            BordaTies::Numpy123 => {
                for (place, candidate) in argsort_numpy_1_23(&column).into_iter().enumerate() {
                    sums[candidate] += place as f64;
                }
            }
        }
    }
    let order = match ties {
        BordaTies::MidRank => {
            let mut order: Vec<usize> = (0..candidates).collect();
            order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
            order
        }
        BordaTies::Numpy123 => argsort_numpy_1_23(&sums).into_iter().rev().collect(),
    };
    Ok(BordaCount { scores: sums, order, voters: scores.columns() })
}

/// Computes the mean rank of each candidate over the voters. Rank 1 is the best, and equal scores
/// share the mean of their ranks.
///
/// ```
/// use storymeter_stats::{Matrix, ranking::mean_ranks};
/// let scores = [0.9, 0.7, 0.5, 0.7, 0.1, 0.2]; // three candidates, two voters
/// assert_eq!(mean_ranks(Matrix::new(&scores, 3, 2)?)?, [1.25, 1.75, 3.0]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are no voters, or a score is NaN or infinite.
pub fn mean_ranks(scores: Matrix<'_>) -> Result<Vec<f64>> {
    StatsError::check_finite("scores", scores.values())?;
    StatsError::check_count("the mean rank", "columns", 1, scores.columns())?;
    let candidates = scores.rows() as f64;
    let below = borda(scores, BordaTies::MidRank)?.scores;
    Ok(below.into_iter().map(|sum| candidates - sum / scores.columns() as f64).collect())
}
