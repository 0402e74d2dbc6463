//! Is system A better than system B on the items that both worked on?
//!
//! Both procedures take any score: a mean, or a corpus metric that is put together from statistics
//! of the items. The score is given as a function of what was drawn, and returns the scores of both
//! systems. [`compare_scores`](crate::compare_scores) applies both to two columns of scores.

use crate::bootstrap::{BootstrapOptions, jackknife, summarise};
use crate::error::{Result, StatsError};
use crate::interval::Interval;
use crate::resample::{bootstrap_values, swap_values};

/// Outcome of a paired bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PairedBootstrap {
    /// Score of A less score of B on all items.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub difference: f64,
    /// Interval of the difference.
    pub interval: Interval,
    /// Number of items.
    pub n: usize,
    /// Number of resamples in which A scored higher.
    pub wins_a: usize,
    /// Number of resamples in which B scored higher.
    pub wins_b: usize,
    /// Number of resamples in which both scored the same.
    pub ties: usize,
    /// Number of resamples in which a score was NaN; they are left out of the interval.
    pub undefined: usize,
}

impl PairedBootstrap {
    /// The p-value of Koehn (2004): the share of resamples in which the system that is ahead on all
    /// items is not ahead. NaN when the difference is undefined.
    pub fn p_value(&self) -> f64 {
        if self.difference.is_nan() {
            return f64::NAN;
        }
        let wins = if self.difference >= 0.0 { self.wins_a } else { self.wins_b };
        1.0 - wins as f64 / (self.wins_a + self.wins_b + self.ties + self.undefined) as f64
    }
}

/// Paired bootstrap (Koehn 2004): draws items with replacement and counts which system wins.
///
/// `scores(drawn)` gives the scores of A and of B on the items drawn (indices into `0..n`, which
/// may repeat). Both systems are scored on the same draws. The interval of the difference is the
/// percentile or the BCa interval, as `options` say.
///
/// ```
/// use storymeter_stats::{BootstrapOptions, paired_bootstrap};
/// let (a, b) = ([3.0, 4.0, 5.0, 6.0], [1.0, 3.0, 5.0, 2.0]);
/// let mean = |v: &[f64], drawn: &[usize]| {
///     drawn.iter().map(|&i| v[i]).sum::<f64>() / drawn.len() as f64
/// };
/// let options = BootstrapOptions { resamples: 1000, ..BootstrapOptions::default() };
/// let found = paired_bootstrap(4, |drawn| (mean(&a, drawn), mean(&b, drawn)), &options)?;
/// assert_eq!((found.difference, found.n), (1.75, 4));
/// assert!(found.p_value() < 0.05 && found.wins_b == 0);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// If there are no items, no resamples, or the confidence does not lie strictly between 0 and 1.
pub fn paired_bootstrap(
    n: usize,
    scores: impl Fn(&[usize]) -> (f64, f64) + Sync,
    options: &BootstrapOptions,
) -> Result<PairedBootstrap> {
    options.check(1, n)?;
    let difference = |drawn: &[usize]| {
        let (a, b) = scores(drawn);
        a - b
    };
    let all: Vec<usize> = (0..n).collect();
    let observed = difference(&all);
    let values = bootstrap_values(n, options.resamples, options.seed, difference);
    let wins_a = values.iter().filter(|&&d| d > 0.0).count();
    let wins_b = values.iter().filter(|&&d| d < 0.0).count();
    let found = summarise(n, observed, values, || jackknife(n, difference), options)?;
    let undefined = found.undefined_resamples;
    Ok(PairedBootstrap {
        difference: observed,
        interval: found.interval,
        n,
        wins_a,
        wins_b,
        ties: options.resamples - undefined - wins_a - wins_b,
        undefined,
    })
}

/// Outcome of a test that exchanges two systems or two metrics at random.
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
    /// Number of items (or scores, or pairs) that the observed difference rests on.
    pub n: usize,
    /// Number of items (or scores, or pairs) left out because a value is missing.
    pub dropped: usize,
    /// Whether all exchanges were tried, instead of a random sample of them.
    pub exact: bool,
    /// Number of exchanges without a difference (because a correlation was undefined, say). They
    /// count as at least as extreme as the observed difference, which can only make the p-values
    /// larger.
    pub undefined: usize,
}

/// Approximate randomisation (Noreen 1989; Riezler & Maxwell 2005).
///
/// It exchanges the outputs of the two systems at random, item by item, and counts how often the
/// difference becomes at least as large as the one observed. `scores(exchanged)` gives the scores
/// of A and of B when the marked items are exchanged. If all `2^n` exchanges are no more than
/// `resamples`, all of them are tried and p is exact; otherwise `p = (c + 1) / (resamples + 1)`,
/// where `c` counts the exchanges with a difference at least as large.
///
/// ```
/// use storymeter_stats::approximate_randomisation;
/// let (a, b) = ([3.0f64, 4.0, 5.0], [1.0, 3.0, 2.0]);
/// let scores = |exchanged: &[bool]| {
///     let sum = |own: &[f64], other: &[f64]| {
///         (0..3).map(|i| if exchanged[i] { other[i] } else { own[i] }).sum()
///     };
///     (sum(&a, &b), sum(&b, &a))
/// };
/// let test = approximate_randomisation(3, scores, 1000, 1)?;
/// assert!(test.exact && test.p_value == 0.25); // 2 of 8 exchanges are as extreme
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// If there are no items or no resamples.
pub fn approximate_randomisation(
    n: usize,
    scores: impl Fn(&[bool]) -> (f64, f64) + Sync,
    resamples: usize,
    seed: u64,
) -> Result<RandomisationTest> {
    StatsError::check_count("approximate randomisation", "items", 1, n)?;
    StatsError::check_count("approximate randomisation", "resamples", 1, resamples)?;
    Ok(exchange_test(n, scores, resamples, seed))
}

/// The test behind everything that exchanges two systems or metrics at `n` positions.
pub(crate) fn exchange_test(
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
pub(crate) fn shares(values: &[f64], observed: f64, slack: f64, exact: bool) -> (f64, f64) {
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
