//! Is system A better than system B on the items both worked on?
//!
//! Both procedures are generic over the score: it may be a mean, or a corpus metric put together from per-item
//! sufficient statistics. The closure gets what was drawn and gives the scores of both systems.

use crate::error::{Result, StatsError};
use crate::interval::{Interval, percentile_interval};
use crate::resample::{bootstrap_values, swap_values};

/// What a paired bootstrap found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedBootstrap {
    /// Score of A less score of B on all items.
    pub difference: f64,
    /// Percentile interval of the difference.
    pub interval: Interval,
    /// Resamples in which A scored higher.
    pub wins_a: usize,
    /// Resamples in which B scored higher.
    pub wins_b: usize,
    /// Resamples in which they scored the same.
    pub ties: usize,
    /// Resamples in which a score was NaN; they are left out of the interval.
    pub undefined: usize,
}

impl PairedBootstrap {
    /// Share of resamples in which the system that is ahead on all items is not ahead: the p-value of Koehn (2004).
    pub fn p_value(&self) -> f64 {
        let wins = if self.difference >= 0.0 { self.wins_a } else { self.wins_b };
        1.0 - wins as f64 / (self.wins_a + self.wins_b + self.ties + self.undefined) as f64
    }
}

/// Paired bootstrap (Koehn 2004): draws items with replacement, the same for both systems, and counts who wins.
///
/// `scores(drawn)` gives the scores of A and of B on the items drawn (indices into `0..n`, repeats included).
pub fn paired_bootstrap(
    n: usize,
    scores: impl Fn(&[usize]) -> (f64, f64) + Sync,
    resamples: usize,
    confidence: f64,
    seed: u64,
) -> Result<PairedBootstrap> {
    StatsError::check_count("the paired bootstrap", "items", 1, n)?;
    StatsError::check_count("the paired bootstrap", "resamples", 1, resamples)?;
    let all: Vec<usize> = (0..n).collect();
    let difference = |drawn: &[usize]| {
        let (a, b) = scores(drawn);
        a - b
    };
    let mut values = bootstrap_values(n, resamples, seed, difference);
    values.retain(|d| !d.is_nan());
    let wins_a = values.iter().filter(|&&d| d > 0.0).count();
    let wins_b = values.iter().filter(|&&d| d < 0.0).count();
    Ok(PairedBootstrap {
        difference: difference(&all),
        interval: percentile_interval(&values, confidence)?,
        wins_a,
        wins_b,
        ties: values.len() - wins_a - wins_b,
        undefined: resamples - values.len(),
    })
}

/// What a test by random exchange found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomisationTest {
    /// The difference observed.
    pub difference: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// One-sided p-value: the probability of a difference at least as large, sign included.
    pub p_greater: f64,
    /// Whether all exchanges were tried, not a sample of them.
    pub exact: bool,
    /// Exchanges that gave no number (a correlation with a constant, say); they count as at least as extreme, which
    /// can only make p larger.
    pub undefined: usize,
}

/// Approximate randomisation (Noreen 1989; Riezler & Maxwell 2005): exchanges the outputs of the two systems item by
/// item at random and counts how often the difference gets at least as large.
///
/// `scores(exchanged)` gives the scores of A and of B when the items marked are exchanged. If all `2^n` exchanges
/// are no more than `resamples` they are all tried and p is exact; otherwise `p = (c + 1) / (resamples + 1)`.
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

/// Shared by all tests that exchange two systems or metrics at `n` positions.
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
        let nan = f64::NAN;
        return RandomisationTest {
            difference: nan,
            p_value: nan,
            p_greater: nan,
            exact: false,
            undefined: resamples,
        };
    }
    let (values, exact) = swap_values(n, resamples, seed, difference);
    // Sums of the same numbers in another order may differ in the last bits; they count as equal.
    let slack = 1e-14 * observed.abs();
    let undefined = values.iter().filter(|d| d.is_nan()).count();
    let count = |extreme: &dyn Fn(f64) -> bool| {
        let count = values.iter().filter(|&&d| d.is_nan() || extreme(d)).count();
        if exact {
            count as f64 / values.len() as f64
        } else {
            (count + 1) as f64 / (values.len() + 1) as f64
        }
    };
    RandomisationTest {
        difference: observed,
        p_value: count(&|d| d.abs() >= observed.abs() - slack),
        p_greater: count(&|d| d >= observed - slack),
        exact,
        undefined,
    }
}
