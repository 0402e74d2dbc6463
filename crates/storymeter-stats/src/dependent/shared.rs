//! The three correlations behind a comparison of two metrics, with the number of items they rest
//! on.

use super::{
    DependentTest, LEAST_ITEMS, ROUNDING, Stronger, WilliamsRules, determinant,
    meng_rosenthal_rubin, steiger, williams, williams_by_strength,
};
use crate::correlation::{Coefficient, complete_columns};
use crate::error::{Result, Undefined};
use crate::summation::mean;

/// The correlations of two metrics with the same ratings and with each other, on the same items.
///
/// ```
/// use storymeter_stats::{Coefficient, SharedCorrelations};
/// let ratings = [1.0, 4.0, 2.0, 5.0, 3.0, 3.5];
/// let first = [0.1, 0.5, 0.2, 0.6, f64::NAN, 0.4]; // NaN marks a missing score
/// let second = [0.5, 0.4, 0.1, 0.7, 0.2, 0.9];
/// let three = SharedCorrelations::from_columns(Coefficient::Pearson, &ratings, &first, &second)?;
/// assert_eq!((three.n, three.dropped), (5, 1));
/// assert!(three.williams()?.p_value < 0.2);
/// assert!(three.steiger()?.statistic > 0.0); // the first metric is ahead
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SharedCorrelations {
    /// Correlation of the first metric with the ratings; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub first: f64,
    /// Correlation of the second metric with the ratings; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub second: f64,
    /// Correlation between the two metrics; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub between: f64,
    /// Number of items that all three correlations rest on.
    pub n: usize,
    /// Number of items left out because a rating or a score is missing.
    pub dropped: usize,
}

impl SharedCorrelations {
    /// Correlates two metrics with ratings and with each other.
    ///
    /// NaN marks a missing value. An item that lacks any of the three values is left out of all
    /// three correlations and counted in `dropped`. With fewer than two complete items, or where a
    /// column is constant, the correlations are NaN and every test on them says why.
    ///
    /// # Errors
    /// Returns an error if the columns have different lengths.
    pub fn from_columns(
        coefficient: Coefficient,
        ratings: &[f64],
        first: &[f64],
        second: &[f64],
    ) -> Result<Self> {
        let kept = complete_columns(&[ratings, first, second])?;
        let value = |a: usize, b: usize| match kept.n {
            0 | 1 => Ok(f64::NAN),
            _ => coefficient.value(&kept.columns[a], &kept.columns[b]),
        };
        Ok(Self {
            first: value(0, 1)?,
            second: value(0, 2)?,
            between: value(1, 2)?,
            n: kept.n,
            dropped: kept.dropped,
        })
    }

    /// Averages the correlations of several groups, as for HANNA's story level (one group per
    /// prompt).
    ///
    /// A group in which one of the three correlations is undefined is left out of all three means,
    /// so that they rest on the same groups. `n` is the number of groups used, `dropped` the number
    /// of groups left out.
    ///
    /// ```
    /// use storymeter_stats::SharedCorrelations;
    /// let group = |first, second| SharedCorrelations {
    ///     first, second, between: 0.5, n: 10, dropped: 0,
    /// };
    /// let groups = [group(0.6, 0.2), group(0.4, 0.4), group(f64::NAN, 0.9)];
    /// let mean = SharedCorrelations::mean(&groups);
    /// assert_eq!((mean.first, mean.n, mean.dropped), (0.5, 2, 1));
    /// ```
    pub fn mean(groups: &[Self]) -> Self {
        let used: Vec<&Self> = groups
            .iter()
            .filter(|g| !(g.first.is_nan() || g.second.is_nan() || g.between.is_nan()))
            .collect();
        let average =
            |part: fn(&Self) -> f64| mean(&used.iter().map(|g| part(g)).collect::<Vec<_>>());
        Self {
            first: average(|g| g.first),
            second: average(|g| g.second),
            between: average(|g| g.between),
            n: used.len(),
            dropped: groups.len() - used.len(),
        }
    }

    /// Correlation of the first metric less that of the second.
    pub fn difference(&self) -> f64 {
        self.first - self.second
    }

    /// The same correlations after each metric was multiplied by a sign, 1 or -1.
    ///
    /// A metric where less is better is turned by -1, so that a larger correlation is always the
    /// better one.
    ///
    /// ```
    /// use storymeter_stats::SharedCorrelations;
    /// let (first, second, between) = (-0.6, 0.2, -0.3);
    /// let three = SharedCorrelations { first, second, between, n: 10, dropped: 0 };
    /// let turned = three.turned(-1.0, 1.0);
    /// assert_eq!((turned.first, turned.second, turned.between), (0.6, 0.2, 0.3));
    /// ```
    #[must_use]
    pub fn turned(&self, first: f64, second: f64) -> Self {
        Self {
            first: first * self.first,
            second: second * self.second,
            between: first * second * self.between,
            ..*self
        }
    }

    /// Whether the three correlations can occur together: their determinant is not negative.
    ///
    /// Correlations of the same items always can. Others may not: correlations that rest on
    /// different items each, that were rounded, or whose signs were changed one by one.
    ///
    /// ```
    /// use storymeter_stats::SharedCorrelations;
    /// let (first, second, between) = (0.6, 0.2, -0.7);
    /// let three = SharedCorrelations { first, second, between, n: 10, dropped: 0 };
    /// assert!(!three.are_possible());
    /// assert!(SharedCorrelations { between: 0.7, ..three }.are_possible());
    /// ```
    pub fn are_possible(&self) -> bool {
        determinant(self.first, self.second, self.between) >= -ROUNDING
    }

    /// [`williams`] on these correlations. Fewer than four items give an undefined test, no error.
    ///
    /// # Errors
    /// Returns an error if a correlation lies outside [-1, 1]; this holds for all tests of this
    /// type.
    pub fn williams(&self) -> Result<DependentTest> {
        self.test(williams)
    }

    /// [`williams_by_strength`] on these correlations.
    pub fn williams_by_strength(&self, rules: WilliamsRules) -> Result<(Stronger, DependentTest)> {
        match self.too_few() {
            Some(undefined) => Ok((Stronger::Neither, undefined)),
            None => williams_by_strength(self.first, self.second, self.between, self.n, rules),
        }
    }

    /// [`steiger`] on these correlations.
    pub fn steiger(&self) -> Result<DependentTest> {
        self.test(steiger)
    }

    /// [`meng_rosenthal_rubin`] on these correlations.
    pub fn meng_rosenthal_rubin(&self) -> Result<DependentTest> {
        self.test(meng_rosenthal_rubin)
    }

    fn test(
        &self,
        test: fn(f64, f64, f64, usize) -> Result<DependentTest>,
    ) -> Result<DependentTest> {
        match self.too_few() {
            Some(undefined) => Ok(undefined),
            None => test(self.first, self.second, self.between, self.n),
        }
    }

    /// The undefined test, if there are too few items for any test.
    pub(super) fn too_few(&self) -> Option<DependentTest> {
        let why = Undefined::TooFew { needed: LEAST_ITEMS, got: self.n };
        (self.n < LEAST_ITEMS).then(|| DependentTest::nan(self.n, why))
    }
}
