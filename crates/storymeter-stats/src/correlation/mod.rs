//! Pearson, Spearman and Kendall correlation with the p-values of scipy.
//!
//! All three treat missing values in the same way. Unequal lengths or too few pairs are an error.
//! An input that is constant or holds a NaN gives a NaN coefficient and p-value together with the
//! reason ([`Correlation::undefined`]). No pair is ever dropped silently: [`drop_nan_pairs`] and
//! [`complete_columns`] drop incomplete observations and report how many.
//!
//! When few vectors have many correlations (a matrix between metrics, one coefficient per prompt),
//! use [`Prepared`]. It centres or ranks each vector once.

mod kendall;
mod partial;
mod pearson;
mod prepared;
mod spearman;

use std::fmt;
use std::str::FromStr;

pub use kendall::kendall;
pub use pearson::pearson;
pub use prepared::Prepared;
pub use spearman::spearman;

use crate::error::{Result, StatsError, Undefined};

/// A correlation with its p-value and the number of pairs it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Correlation {
    /// The coefficient in [-1, 1]; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub coefficient: f64,
    /// Two-sided p-value: the probability of a coefficient at least as strong without association.
    /// NaN when undefined (for Spearman also with two pairs).
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_value: f64,
    /// Number of pairs.
    pub n: usize,
    /// The reason why the coefficient is NaN, if it is.
    pub undefined: Option<Undefined>,
}

impl Correlation {
    fn nan(n: usize, why: Undefined) -> Self {
        Self { coefficient: f64::NAN, p_value: f64::NAN, n, undefined: Some(why) }
    }
}

/// The correlation coefficient to compute.
///
/// ```
/// use storymeter_stats::Coefficient;
/// let tau = Coefficient::Kendall.compute(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0])?;
/// assert!((tau.coefficient - 1.0 / 3.0).abs() < 1e-15);
/// assert_eq!("spearman".parse(), Ok(Coefficient::Spearman));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Coefficient {
    /// Product-moment correlation.
    Pearson,
    /// Pearson correlation of mid-ranks.
    Spearman,
    /// Tau-b.
    Kendall,
}

impl Coefficient {
    /// All three, in the order in which the papers print them.
    pub const ALL: [Self; 3] = [Self::Pearson, Self::Spearman, Self::Kendall];

    /// Whose it is: `Pearson`, `Spearman`, `Kendall`.
    pub fn author(self) -> &'static str {
        match self {
            Self::Pearson => "Pearson",
            Self::Spearman => "Spearman",
            Self::Kendall => "Kendall",
        }
    }

    /// Computes the correlation with its p-value.
    ///
    /// # Errors
    /// Returns an error if the lengths differ or there are fewer than two pairs.
    pub fn compute(self, x: &[f64], y: &[f64]) -> Result<Correlation> {
        match self {
            Self::Pearson => pearson(x, y),
            Self::Spearman => spearman(x, y),
            Self::Kendall => kendall(x, y),
        }
    }

    /// Computes the coefficient without its p-value; NaN when undefined.
    ///
    /// # Errors
    /// Returns an error if the lengths differ or there are fewer than two pairs.
    pub fn value(self, x: &[f64], y: &[f64]) -> Result<f64> {
        check(x, y)?;
        if why_undefined(x, y, self == Self::Pearson).is_some() {
            return Ok(f64::NAN);
        }
        Ok(match self {
            Self::Pearson => pearson::coefficient(x, y),
            Self::Spearman => spearman::coefficient(x, y),
            Self::Kendall => kendall::Counts::new(x, y).tau(),
        })
    }

    /// The coefficient of the pairs at these positions; NaN when undefined.
    pub(crate) fn value_at(self, x: &[f64], y: &[f64], positions: &[usize]) -> f64 {
        let take = |values: &[f64]| positions.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        self.value(&take(x), &take(y)).unwrap_or(f64::NAN)
    }

    /// Lower-case name: `pearson`, `spearman`, `kendall`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pearson => "pearson",
            Self::Spearman => "spearman",
            Self::Kendall => "kendall",
        }
    }
}

impl fmt::Display for Coefficient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Coefficient {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|c| c.name() == name)
            .ok_or_else(|| format!("unknown coefficient \"{name}\": pearson, spearman or kendall"))
    }
}

/// Pairs of values without those that hold a NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanPairs {
    /// First values of the pairs kept.
    pub x: Vec<f64>,
    /// Second values of the pairs kept.
    pub y: Vec<f64>,
    /// Number of pairs left out.
    pub dropped: usize,
}

/// Leaves out every pair that holds a NaN, and counts the pairs left out.
///
/// ```
/// let pairs = storymeter_stats::drop_nan_pairs(&[1.0, f64::NAN, 3.0], &[4.0, 5.0, 6.0])?;
/// assert_eq!((pairs.x, pairs.y, pairs.dropped), (vec![1.0, 3.0], vec![4.0, 6.0], 1));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ.
pub fn drop_nan_pairs(x: &[f64], y: &[f64]) -> Result<CleanPairs> {
    StatsError::check_pairs(x.len(), y.len())?;
    let (x_kept, y_kept): (Vec<f64>, Vec<f64>) =
        x.iter().zip(y).filter(|(a, b)| !a.is_nan() && !b.is_nan()).map(|(&a, &b)| (a, b)).unzip();
    let dropped = x.len() - x_kept.len();
    Ok(CleanPairs { x: x_kept, y: y_kept, dropped })
}

/// Columns without the observations that lack a value in any of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CompleteColumns {
    /// The columns, in the order given.
    pub columns: Vec<Vec<f64>>,
    /// Number of observations kept.
    pub n: usize,
    /// Number of observations left out.
    pub dropped: usize,
}

/// Leaves out every observation for which any of the columns holds a NaN, and counts them.
///
/// ```
/// let (ratings, bleu, chrf) = ([3.0, 1.0, 4.0], [0.2, f64::NAN, 0.3], [0.5, 0.4, 0.6]);
/// let kept = storymeter_stats::complete_columns(&[&ratings, &bleu, &chrf])?;
/// assert_eq!((kept.n, kept.dropped), (2, 1));
/// assert_eq!(kept.columns[2], [0.5, 0.6]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the columns have different lengths.
pub fn complete_columns(columns: &[&[f64]]) -> Result<CompleteColumns> {
    let rows = columns.first().map_or(0, |column| column.len());
    for column in columns {
        StatsError::check_pairs(rows, column.len())?;
    }
    let complete = |&row: &usize| columns.iter().all(|column| !column[row].is_nan());
    let kept: Vec<usize> = (0..rows).filter(complete).collect();
    let take = |column: &&[f64]| kept.iter().map(|&row| column[row]).collect();
    let (n, dropped) = (kept.len(), rows - kept.len());
    Ok(CompleteColumns { columns: columns.iter().map(take).collect(), n, dropped })
}

fn check(x: &[f64], y: &[f64]) -> Result<()> {
    StatsError::check_pairs(x.len(), y.len())?;
    StatsError::check_count("a correlation", "pairs", 2, x.len())
}

/// The reason why these pairs have no correlation, if they have none. Infinities matter only where
/// the values themselves are added up.
fn why_undefined(x: &[f64], y: &[f64], sums: bool) -> Option<Undefined> {
    let bad = |v: &f64| if sums { !v.is_finite() } else { v.is_nan() };
    if x.iter().chain(y).any(bad) {
        Some(Undefined::NotANumber)
    } else if is_constant(x) {
        Some(Undefined::ConstantFirst)
    } else if is_constant(y) {
        Some(Undefined::ConstantSecond)
    } else {
        None
    }
}

fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|&v| v == values[0])
}
