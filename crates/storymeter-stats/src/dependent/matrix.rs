//! Williams' test between all pairs of many metrics.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{DependentTest, SharedCorrelations, WilliamsRules, turn, williams_by};
use crate::correlation::{Coefficient, Prepared};
use crate::error::{Result, StatsError, Undefined};
use crate::multiple::Correction;

/// Williams' tests between all pairs of metrics, one row and one column per metric.
///
/// Cell `(i, j)` holds a test where metric `i` correlates more strongly with the ratings than
/// metric `j`. The mirrored cell and the diagonal are empty (`None`). Both cells of two equally
/// strong metrics hold the same test, whose one-sided p-value is 0.5; with
/// [`WilliamsRules::Published`] both are empty. Where a correlation is undefined or fewer than four
/// items are complete, both cells hold an undefined test with the reason.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WilliamsMatrix {
    metrics: usize,
    cells: Vec<Option<DependentTest>>,
}

impl WilliamsMatrix {
    /// Number of metrics.
    pub fn metrics(&self) -> usize {
        self.metrics
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[Option<DependentTest>] {
        &self.cells
    }

    /// The rows, one per metric.
    pub fn rows(&self) -> impl Iterator<Item = &[Option<DependentTest>]> {
        // A chunk of no cells is not allowed; without metrics there are no rows.
        self.cells.chunks(self.metrics.max(1))
    }

    /// One cell.
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn get(&self, row: usize, column: usize) -> Option<&DependentTest> {
        assert!(column < self.metrics, "column {column} of {}", self.metrics);
        self.cells[row * self.metrics + column].as_ref()
    }

    /// The one-sided p-values, row by row; `None` where a cell is empty or its test is undefined.
    pub fn p_values(&self) -> Vec<Option<f64>> {
        let defined = |cell: &Option<DependentTest>| cell.filter(|test| test.undefined.is_none());
        self.cells.iter().map(|cell| defined(cell).map(|test| test.p_value)).collect()
    }

    /// The one-sided p-values, corrected for the number of tests that were made.
    ///
    /// # Errors
    /// Never for a matrix made by this crate, whose p-values lie in [0, 1].
    pub fn corrected(&self, correction: Correction) -> Result<Vec<Option<f64>>> {
        correction.adjust_present(&self.p_values())
    }

    /// Number of tests that are undefined for the given reason.
    pub fn undefined(&self, why: Undefined) -> usize {
        self.cells.iter().flatten().filter(|test| test.undefined == Some(why)).count()
    }
}

/// Compares all pairs of metrics, given the correlations of every pair.
///
/// `correlations(i, j)` gives the correlations of metrics `i < j` with the ratings and with each
/// other, signed, and the number of items behind them. Each pair may rest on another number of
/// items.
///
/// ```
/// use storymeter_stats::{SharedCorrelations, WilliamsRules, williams_matrix};
/// let with_ratings = [0.3, -0.8, 0.5];
/// let between = [[1.0, -0.4, 0.2], [-0.4, 1.0, -0.3], [0.2, -0.3, 1.0]];
/// let matrix = williams_matrix(3, WilliamsRules::Corrected, |i, j| {
///     let (first, second) = (with_ratings[i], with_ratings[j]);
///     Ok(SharedCorrelations { first, second, between: between[i][j], n: 30, dropped: 0 })
/// })?;
/// assert!(matrix.get(1, 0).unwrap().p_value < 0.05); // metric 1 is stronger than metric 0
/// assert!(matrix.get(0, 1).is_none());
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if `correlations` does, or if a correlation is outside [-1, 1].
pub fn williams_matrix(
    metrics: usize,
    rules: WilliamsRules,
    correlations: impl Fn(usize, usize) -> Result<SharedCorrelations> + Sync,
) -> Result<WilliamsMatrix> {
    let pairs: Vec<(usize, usize)> =
        (1..metrics).flat_map(|later| (0..later).map(move |earlier| (earlier, later))).collect();
    let tests = pairs
        .par_iter()
        .map(|&(earlier, later)| compare(&correlations(earlier, later)?, earlier, rules))
        .collect::<Result<Vec<_>>>()?;
    let mut cells = vec![None; metrics * metrics];
    for (&(earlier, later), [of_earlier, of_later]) in pairs.iter().zip(tests) {
        cells[earlier * metrics + later] = of_earlier;
        cells[later * metrics + earlier] = of_later;
    }
    Ok(WilliamsMatrix { metrics, cells })
}

/// The cells in the rows of the earlier and of the later metric of a pair.
fn compare(
    three: &SharedCorrelations,
    earlier: usize,
    rules: WilliamsRules,
) -> Result<[Option<DependentTest>; 2]> {
    if let Some(undefined) = three.too_few() {
        return Ok([Some(undefined); 2]);
    }
    let (first, second) = (three.first.abs(), three.second.abs());
    let between = match rules {
        WilliamsRules::Corrected => turn(three.second) * turn(three.first) * three.between,
        WilliamsRules::Published if first == second => return Ok([None; 2]),
        WilliamsRules::Published => {
            let later_sign = if earlier > 0 { 1.0 } else { numpy_sign(three.second) };
            later_sign * numpy_sign(three.first) * three.between
        }
    };
    // Not `max` and `min`, which would hide a NaN.
    let (larger, smaller) = if second > first { (second, first) } else { (first, second) };
    let test = williams_by(larger, smaller, between, three.n, rules)?;
    Ok(match first.partial_cmp(&second) {
        Some(Ordering::Greater) if !three.between.is_nan() => [Some(test), None],
        Some(Ordering::Less) if !three.between.is_nan() => [None, Some(test)],
        _ => [Some(test); 2],
    })
}

/// -1, 0 or 1, as `numpy.sign` gives it.
fn numpy_sign(r: f64) -> f64 {
    if r == 0.0 { 0.0 } else { r.signum() }
}

/// Compares all pairs of metrics, given the ratings and the scores of every metric.
///
/// NaN marks a missing value. Each pair of metrics is compared on the items that have a rating and
/// a score of both metrics, and its test reports their number, so that a gap in one metric does not
/// affect the comparison of two others.
///
/// ```
/// use storymeter_stats::{Coefficient, Correction, WilliamsRules, williams_matrix_of_columns};
/// let ratings = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let good = [1.0, 2.5, 2.0, 4.5, 5.0, 7.0];
/// let bad = [3.0, 1.0, 2.0, 9.0, 1.0, f64::NAN];
/// let matrix = williams_matrix_of_columns(
///     Coefficient::Pearson, &ratings, &[&good, &bad], WilliamsRules::Corrected)?;
/// let test = matrix.get(0, 1).unwrap();
/// assert_eq!(test.n, 5);
/// assert_eq!(matrix.corrected(Correction::Holm)?[1], Some(test.p_value)); // a single test
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a metric does not have as many values as there are ratings.
pub fn williams_matrix_of_columns(
    coefficient: Coefficient,
    ratings: &[f64],
    metrics: &[&[f64]],
    rules: WilliamsRules,
) -> Result<WilliamsMatrix> {
    for metric in metrics {
        StatsError::check_pairs(ratings.len(), metric.len())?;
    }
    // Columns without gaps are prepared once; only pairs with a gap are computed from their values.
    let prepare = |values: &[f64]| match values.len() < 2 || values.iter().any(|v| v.is_nan()) {
        true => Ok(None),
        false => Prepared::new(coefficient, values).map(Some),
    };
    let target = prepare(ratings)?;
    let prepared = metrics.iter().map(|metric| prepare(metric)).collect::<Result<Vec<_>>>()?;
    williams_matrix(metrics.len(), rules, |i, j| match (&target, &prepared[i], &prepared[j]) {
        (Some(target), Some(first), Some(second)) => Ok(SharedCorrelations {
            first: target.correlate(first)?,
            second: target.correlate(second)?,
            between: first.correlate(second)?,
            n: ratings.len(),
            dropped: 0,
        }),
        _ => SharedCorrelations::from_columns(coefficient, ratings, metrics[i], metrics[j]),
    })
}
