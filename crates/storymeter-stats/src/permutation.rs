//! Paired permutation test between two metrics (Deutsch, Dror & Roth 2021, "A Statistical Analysis
//! of Summarization Evaluation Metrics Using Resampling Methods").

use crate::correlation::{Coefficient, Prepared};
use crate::error::{Result, StatsError};
use crate::matrix::Matrix;
use crate::resample::swap_values;
use crate::summation::{mean, pairwise};

/// The level at which scores are correlated with ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum CorrelationLevel {
    /// One correlation between the mean scores of the systems.
    System,
    /// One correlation per item across systems, averaged over the items for which it is defined.
    Item,
    /// One correlation over all scores.
    Pooled,
}

/// What is exchanged between the two metrics as one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Exchange {
    /// Single scores (PERM-BOTH): both the systems and the items are regarded as samples.
    #[default]
    Both,
    /// All scores of a system (PERM-SYS).
    Systems,
    /// All scores of an item (PERM-INPUT).
    Items,
}

/// What the permutation test compares and how it permutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Design {
    /// The correlation coefficient.
    pub coefficient: Coefficient,
    /// The level of the correlation.
    pub level: CorrelationLevel,
    /// What is exchanged.
    pub exchange: Exchange,
}

/// Outcome of a test that exchanges two metrics at random.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RandomisationTest {
    /// The observed difference; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub difference: f64,
    /// Two-sided p-value; NaN when undefined.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_value: f64,
    /// One-sided p-value: the probability of a difference at least as large, sign included.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_greater: f64,
    /// Number of scores that the observed difference rests on.
    pub n: usize,
    /// Number of scores left out because a value is missing.
    pub dropped: usize,
    /// Whether all exchanges were tried, instead of a random sample of them.
    pub exact: bool,
    /// Number of exchanges without a difference (because a correlation was undefined, say). They
    /// count as at least as extreme as the observed difference, which can only make the p-values
    /// larger.
    pub undefined: usize,
}

/// Tests whether two metrics differ in their correlation with the ratings.
///
/// `first`, `second` and `ratings` hold one row per system and one column per item. Both metrics
/// are standardised over all their scores, so that single scores can be exchanged between them, and
/// are then exchanged at random. The difference of the correlations is compared with the observed
/// difference. If there are no more exchanges than `resamples`, all of them are tried and p is
/// exact; otherwise `p = (c + 1) / (resamples + 1)`, where `c` counts the exchanges with a
/// difference at least as large.
///
/// NaN marks a missing value. A system's score of an item counts only if the rating and the scores
/// of both metrics are present; `n` is the number of these cells and `dropped` the number of the
/// others. A system without such a cell, and at item level an item with fewer than two, is left
/// out. If a metric or the ratings are constant, the result is NaN.
///
/// ```
/// use storymeter_stats::{Coefficient, CorrelationLevel, Design, Exchange, Matrix};
/// use storymeter_stats::permutation_test;
/// let ratings = [1.0, 2.0, 2.0, 4.0, 3.0, 5.0]; // three systems, two items
/// let first = [0.1, 0.3, 0.2, 0.4, 0.4, 0.6];
/// let second = [0.5, 0.1, 0.3, f64::NAN, 0.2, 0.1];
/// let table = |values| Matrix::new(values, 3, 2);
/// let design = Design {
///     coefficient: Coefficient::Pearson,
///     level: CorrelationLevel::System,
///     exchange: Exchange::Both,
/// };
/// let test =
///     permutation_test(table(&first)?, table(&second)?, table(&ratings)?, design, 1000, 1)?;
/// assert_eq!((test.n, test.dropped, test.exact), (5, 1, true));
/// assert!(test.difference > 0.0);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the shapes differ, a value is infinite, there are no resamples, or too few
/// cells are complete for any correlation.
pub fn permutation_test(
    first: Matrix<'_>,
    second: Matrix<'_>,
    ratings: Matrix<'_>,
    design: Design,
    resamples: usize,
    seed: u64,
) -> Result<RandomisationTest> {
    let (systems, items) = (ratings.rows(), ratings.columns());
    for metric in [first, second] {
        StatsError::check_pairs(metric.rows(), systems)?;
        StatsError::check_pairs(metric.columns(), items)?;
        StatsError::check_not_infinite("metric scores", metric.values())?;
    }
    StatsError::check_not_infinite("ratings", ratings.values())?;
    StatsError::check_count("the permutation test", "resamples", 1, resamples)?;
    let tables = [first.values(), second.values(), ratings.values()];
    let complete = |cell: &usize| tables.iter().all(|values| !values[*cell].is_nan());
    let cells: Vec<usize> = (0..systems * items).filter(complete).collect();
    let take = |values: &[f64]| cells.iter().map(|&cell| values[cell]).collect::<Vec<f64>>();
    let target = Target::new(&take(ratings.values()), &cells, items, design)?;
    let (first, second) =
        (standardised(&take(first.values())), standardised(&take(second.values())));
    let (piece, pieces) = match design.exchange {
        Exchange::Both => ((0..cells.len()).collect(), cells.len()),
        Exchange::Systems => numbered(cells.iter().map(|cell| cell / items)),
        Exchange::Items => numbered(cells.iter().map(|cell| cell % items)),
    };
    let scores = |exchanged: &[bool]| {
        let pick = |own: &[f64], other: &[f64]| -> Vec<f64> {
            (0..own.len()).map(|c| if exchanged[piece[c]] { other[c] } else { own[c] }).collect()
        };
        (target.correlate(&pick(&first, &second)), target.correlate(&pick(&second, &first)))
    };
    Ok(RandomisationTest {
        n: cells.len(),
        dropped: systems * items - cells.len(),
        ..exchange_test(pieces, scores, resamples, seed)
    })
}

/// Numbers the distinct keys from 0 in order of size; gives the number of every key, and how many
/// distinct ones there are.
fn numbered(keys: impl Iterator<Item = usize>) -> (Vec<usize>, usize) {
    let keys: Vec<usize> = keys.collect();
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let number = |key: &usize| distinct.partition_point(|other| other < key);
    (keys.iter().map(number).collect(), distinct.len())
}

fn standardised(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    let variance = pairwise(values.len(), &|i| (values[i] - centre).powi(2)) / values.len() as f64;
    values.iter().map(|v| (v - centre) / variance.sqrt()).collect()
}

/// The ratings, prepared for correlation with many sets of scores of the same cells.
struct Target {
    design: Design,
    /// The cells (by position among the complete ones) of each system or item; one group if pooled.
    groups: Vec<Vec<usize>>,
    /// One vector, or one per item.
    prepared: Vec<Prepared>,
}

impl Target {
    /// `cells` are the places of the ratings in the table, in ascending order.
    fn new(ratings: &[f64], cells: &[usize], items: usize, design: Design) -> Result<Self> {
        let (group, count) = match design.level {
            CorrelationLevel::System => numbered(cells.iter().map(|cell| cell / items)),
            CorrelationLevel::Item => numbered(cells.iter().map(|cell| cell % items)),
            CorrelationLevel::Pooled => (vec![0; cells.len()], 1),
        };
        let mut groups = vec![Vec::new(); count];
        for (position, group) in group.into_iter().enumerate() {
            groups[group].push(position);
        }
        if design.level == CorrelationLevel::Item {
            groups.retain(|group| group.len() > 1);
            let counted = "items with two systems";
            StatsError::check_count("the permutation test", counted, 1, groups.len())?;
        }
        let mut target = Self { design, groups, prepared: Vec::new() };
        target.prepared = target.prepare(ratings)?;
        Ok(target)
    }

    /// The vectors that are correlated: system means, one vector per item, or everything.
    fn prepare(&self, values: &[f64]) -> Result<Vec<Prepared>> {
        let take = |group: &Vec<usize>| -> Vec<f64> { group.iter().map(|&c| values[c]).collect() };
        let vectors = self.groups.iter().map(take);
        let prepare = |vector: Vec<f64>| Prepared::new(self.design.coefficient, &vector);
        match self.design.level {
            CorrelationLevel::System => {
                Ok(vec![prepare(vectors.map(|scores| mean(&scores)).collect())?])
            }
            CorrelationLevel::Item | CorrelationLevel::Pooled => vectors.map(prepare).collect(),
        }
    }

    fn correlate(&self, values: &[f64]) -> f64 {
        // The vectors have the lengths of the prepared ratings, so that neither step can fail.
        let prepared = self.prepare(values).unwrap_or_default();
        let mut defined: Vec<f64> = prepared
            .iter()
            .zip(&self.prepared)
            .map(|(vector, target)| vector.correlate(target).unwrap_or(f64::NAN))
            .collect();
        defined.retain(|r| !r.is_nan());
        mean(&defined)
    }
}

/// The test that exchanges two metrics at `n` positions.
fn exchange_test(
    n: usize,
    scores: impl Fn(&[bool]) -> (f64, f64) + Sync,
    resamples: usize,
    seed: u64,
) -> RandomisationTest {
    let difference = |exchanged: &[bool]| {
        let (a, b) = scores(exchanged);
        a - b
    };
    let observed = difference(&vec![false; n]);
    if observed.is_nan() {
        return RandomisationTest {
            difference: f64::NAN,
            p_value: f64::NAN,
            p_greater: f64::NAN,
            n,
            dropped: 0,
            exact: false,
            undefined: resamples,
        };
    }
    let (values, exact) = swap_values(n, resamples, seed, difference);
    // Sums of the same numbers in another order may differ in the last bits; they count as equal.
    let slack = 1e-14 * observed.abs();
    let undefined = values.iter().filter(|d| d.is_nan()).count();
    let (p_value, p_greater) = shares(&values, observed, slack, exact);
    RandomisationTest { difference: observed, p_value, p_greater, n, dropped: 0, exact, undefined }
}

/// The two-sided and the one-sided p-value of an observed difference among differences by chance.
///
/// Differences up to `slack` below the observed one count as equal to it. NaN counts as extreme.
/// A random sample of differences gets the observed one added.
fn shares(values: &[f64], observed: f64, slack: f64, exact: bool) -> (f64, f64) {
    let share = |extreme: &dyn Fn(f64) -> bool| {
        let count = values.iter().filter(|&&d| d.is_nan() || extreme(d)).count();
        if exact {
            count as f64 / values.len() as f64
        } else {
            (count + 1) as f64 / (values.len() + 1) as f64
        }
    };
    (share(&|d| d.abs() >= observed.abs() - slack), share(&|d| d >= observed - slack))
}
