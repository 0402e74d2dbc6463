//! Pearson, Spearman and Kendall correlation with the p-values scipy gives.
//!
//! NaN policy, the same for all three: unequal lengths or too few pairs are an error; an input that is constant
//! or holds a NaN gives a NaN coefficient and p-value together with the reason ([`Correlation::undefined`]). No
//! pair is ever dropped silently; [`drop_nan_pairs`] drops them and says how many.
//!
//! Many correlations among few vectors (a matrix between metrics, one coefficient per prompt) should go through
//! [`Prepared`]: each vector is centred, ranked or cut into pair signs once.

mod kendall;
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

/// A correlation, the probability of one at least as strong without association, and the pairs it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// The coefficient in [-1, 1]; NaN when undefined.
    pub coefficient: f64,
    /// Two-sided p-value; NaN when undefined (for Spearman also with two pairs).
    pub p_value: f64,
    /// Number of pairs.
    pub n: usize,
    /// Why the coefficient is NaN, if it is.
    pub undefined: Option<Undefined>,
}

impl Correlation {
    fn nan(n: usize, why: Undefined) -> Self {
        Self { coefficient: f64::NAN, p_value: f64::NAN, n, undefined: Some(why) }
    }
}

/// Which correlation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Coefficient {
    /// Product-moment correlation.
    Pearson,
    /// Pearson correlation of mid-ranks.
    Spearman,
    /// Tau-b.
    Kendall,
}

impl Coefficient {
    /// All three, in the order the papers print them.
    pub const ALL: [Self; 3] = [Self::Pearson, Self::Spearman, Self::Kendall];

    /// The correlation with its p-value.
    pub fn compute(self, x: &[f64], y: &[f64]) -> Result<Correlation> {
        match self {
            Self::Pearson => pearson(x, y),
            Self::Spearman => spearman(x, y),
            Self::Kendall => kendall(x, y),
        }
    }

    /// The coefficient alone, without the p-value; NaN when undefined.
    pub fn value(self, x: &[f64], y: &[f64]) -> Result<f64> {
        check(x, y)?;
        if why_undefined(x, y, self == Self::Pearson).is_some() {
            return Ok(f64::NAN);
        }
        Ok(match self {
            Self::Pearson => pearson::coefficient(x, y),
            Self::Spearman => spearman::coefficient(x, y),
            Self::Kendall => kendall::Counts::of(x, y).tau(),
        })
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

/// Paired values with every pair that holds a NaN left out.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanPairs {
    /// First values of the pairs kept.
    pub x: Vec<f64>,
    /// Second values of the pairs kept.
    pub y: Vec<f64>,
    /// How many pairs were left out.
    pub dropped: usize,
}

/// Leaves out every pair of which at least one value is NaN, and counts them.
///
/// ```
/// let pairs = storymeter_stats::drop_nan_pairs(&[1.0, f64::NAN, 3.0], &[4.0, 5.0, 6.0])?;
/// assert_eq!((pairs.x, pairs.y, pairs.dropped), (vec![1.0, 3.0], vec![4.0, 6.0], 1));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
pub fn drop_nan_pairs(x: &[f64], y: &[f64]) -> Result<CleanPairs> {
    StatsError::check_pairs(x.len(), y.len())?;
    let (x_kept, y_kept): (Vec<f64>, Vec<f64>) =
        x.iter().zip(y).filter(|(a, b)| !a.is_nan() && !b.is_nan()).map(|(&a, &b)| (a, b)).unzip();
    let dropped = x.len() - x_kept.len();
    Ok(CleanPairs { x: x_kept, y: y_kept, dropped })
}

fn check(x: &[f64], y: &[f64]) -> Result<()> {
    StatsError::check_pairs(x.len(), y.len())?;
    StatsError::check_count("a correlation", "pairs", 2, x.len())
}

/// Why these pairs have no correlation; infinities only matter where the values themselves are added up.
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
