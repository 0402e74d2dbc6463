//! Corrections for many tests at once.

use crate::error::{Result, StatsError};

/// How p-values are corrected for the number of tests.
///
/// ```
/// use storymeter_stats::Correction;
/// // One cell of the matrix has no test. It is skipped and does not count as a test.
/// let matrix = [None, Some(0.01), Some(0.04), Some(0.03)];
/// let adjusted = Correction::Holm.adjust_present(&matrix)?;
/// assert_eq!(adjusted, [None, Some(0.03), Some(0.06), Some(0.06)]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Correction {
    /// [`holm`]: controls the probability of any false discovery, under any dependence.
    #[default]
    Holm,
    /// [`benjamini_hochberg`]: controls the share of false discoveries.
    BenjaminiHochberg,
    /// [`benjamini_yekutieli`]: controls the share of false discoveries, under any dependence.
    BenjaminiYekutieli,
}

impl Correction {
    /// All corrections.
    pub const ALL: [Self; 3] = [Self::Holm, Self::BenjaminiHochberg, Self::BenjaminiYekutieli];

    /// Lower-case name: `holm`, `benjamini-hochberg`, `benjamini-yekutieli`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::BenjaminiHochberg => "benjamini-hochberg",
            Self::BenjaminiYekutieli => "benjamini-yekutieli",
        }
    }

    /// Who proposed it, as a text says it: `Holm`, `Benjamini and Hochberg`,
    /// `Benjamini and Yekutieli`.
    pub fn authors(self) -> &'static str {
        match self {
            Self::Holm => "Holm",
            Self::BenjaminiHochberg => "Benjamini and Hochberg",
            Self::BenjaminiYekutieli => "Benjamini and Yekutieli",
        }
    }

    /// Corrects p-values that are all present.
    ///
    /// # Errors
    /// Returns an error if a p-value is NaN or outside [0, 1].
    pub fn adjust(self, p_values: &[f64]) -> Result<Vec<f64>> {
        match self {
            Self::Holm => holm(p_values),
            Self::BenjaminiHochberg => benjamini_hochberg(p_values),
            Self::BenjaminiYekutieli => benjamini_yekutieli(p_values),
        }
    }

    /// Corrects the p-values that are present, in a list or the cells of a matrix.
    ///
    /// An absent cell (`None`) stays absent and does not count as a test.
    ///
    /// # Errors
    /// Returns an error if a p-value is NaN or outside [0, 1].
    pub fn adjust_present(self, p_values: &[Option<f64>]) -> Result<Vec<Option<f64>>> {
        let present: Vec<f64> = p_values.iter().copied().flatten().collect();
        let mut adjusted = self.adjust(&present)?.into_iter();
        Ok(p_values.iter().map(|cell| cell.and_then(|_| adjusted.next())).collect())
    }
}

/// Holm's step-down correction (1979), valid under any dependence between the tests.
///
/// With the `m` p-values in ascending order, `q_i = max_{j <= i} p_j (m - j + 1)`, at most 1.
/// Rejecting where `q <= α` keeps the probability of even one false rejection at or below `α`.
///
/// ```
/// let q = storymeter_stats::holm(&[0.01, 0.04, 0.03])?;
/// assert_eq!(q, [0.03, 0.06, 0.06]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a p-value is NaN or outside [0, 1].
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>> {
    check(p_values)?;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (smaller, &test) in order.iter().enumerate() {
        largest = largest.max(p_values[test] * (p_values.len() - smaller) as f64).min(1.0);
        adjusted[test] = largest;
    }
    Ok(adjusted)
}

/// The correction of Benjamini & Hochberg (1995), valid for independent or positively dependent
/// tests.
///
/// With the `m` p-values in ascending order, `q_i = min_{j >= i} p_j m / j`, at most 1. Rejecting
/// where `q <= α` keeps the expected share of false discoveries at or below `α`.
///
/// ```
/// let q = storymeter_stats::benjamini_hochberg(&[0.01, 0.04, 0.03])?;
/// assert_eq!(q, [0.03, 0.04, 0.04]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a p-value is NaN or outside [0, 1].
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>> {
    step_up(p_values, 1.0)
}

/// The correction of Benjamini & Yekutieli (2001): [`benjamini_hochberg`] times `Σ 1/i`.
///
/// It is valid under any dependence between the tests.
///
/// ```
/// let q = storymeter_stats::benjamini_yekutieli(&[0.01, 0.04])?;
/// assert_eq!(q, [0.03, 0.06]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a p-value is NaN or outside [0, 1].
pub fn benjamini_yekutieli(p_values: &[f64]) -> Result<Vec<f64>> {
    step_up(p_values, (1..=p_values.len()).map(|i| 1.0 / i as f64).sum())
}

fn step_up(p_values: &[f64], factor: f64) -> Result<Vec<f64>> {
    check(p_values)?;
    let tests = p_values.len();
    let mut order: Vec<usize> = (0..tests).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let mut adjusted = vec![0.0; tests];
    let mut smallest = 1.0f64;
    for (larger, &test) in order.iter().enumerate() {
        smallest = smallest.min(p_values[test] * (tests as f64 / (tests - larger) as f64) * factor);
        adjusted[test] = smallest;
    }
    Ok(adjusted)
}

fn check(p_values: &[f64]) -> Result<()> {
    match p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        Some(&value) => {
            Err(StatsError::OutOfRange { what: "a p-value", value, allowed: "between 0 and 1" })
        }
        None => Ok(()),
    }
}
