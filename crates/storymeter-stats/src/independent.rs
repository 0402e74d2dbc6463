//! Is one sample of scores higher than another that has nothing to do with it?
//!
//! This is for two systems that wrote about different items. Where they share items,
//! [`compare_scores`](crate::compare_scores) uses the pairing and finds smaller differences.

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::bootstrap::{BootstrapMethod, BootstrapOptions, LARGE_SAMPLE};
use crate::error::{Result, StatsError};
use crate::interval::{Interval, percentile_interval, student_interval};
use crate::resample::{below, draw_from, stream};
use crate::summation::{mean, pairwise, standard_deviation};
use crate::systems::{RandomisationTest, shares};

/// Comparison of two columns of scores of different items.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IndependentComparison {
    /// Mean of the first column.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub first: f64,
    /// Mean of the second column.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub second: f64,
    /// Interval of the difference of the means.
    pub interval: Interval,
    /// Test that both columns come from one distribution. Its `n` counts both columns.
    pub randomisation: RandomisationTest,
}

/// Compares the means of two columns of scores that share no items.
///
/// The test deals all scores out again at random into groups of the same sizes, and counts how
/// often the difference of the means is at least as large as the one observed. If there are no more
/// than `resamples` ways to deal them out, all are tried and p is exact; otherwise
/// `p = (c + 1) / (resamples + 1)`. The interval is the percentile interval of differences between
/// means of resamples, each column drawn from itself. With [`BootstrapMethod::Auto`] and fewer than
/// [`LARGE_SAMPLE`] scores in a column, it is Welch's interval instead, which is wide enough then.
///
/// NaN marks a missing score, which is left out.
///
/// ```
/// use storymeter_stats::{BootstrapMethod, BootstrapOptions, compare_independent_scores};
/// let method = BootstrapMethod::Percentile;
/// let options = BootstrapOptions { method, ..BootstrapOptions::default() };
/// let found = compare_independent_scores(&[5.0, 6.0, 7.0], &[1.0, 2.0], &options)?;
/// assert_eq!((found.first, found.second, found.randomisation.n), (6.0, 1.5, 5));
/// assert!(found.randomisation.exact);
/// assert_eq!(found.randomisation.p_value, 0.1); // 1 of 10 ways to deal out five scores
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// If a column has no score, the options are out of range, or they ask for the BCa interval.
pub fn compare_independent_scores(
    first: &[f64],
    second: &[f64],
    options: &BootstrapOptions,
) -> Result<IndependentComparison> {
    let present =
        |values: &[f64]| values.iter().copied().filter(|v| !v.is_nan()).collect::<Vec<f64>>();
    let dropped = [first, second].map(|v| v.iter().filter(|v| v.is_nan()).count());
    let (a, b) = (present(first), present(second));
    options.check(1, a.len().min(b.len()))?;
    let interval = match options.method {
        BootstrapMethod::Bca => return Err(StatsError::PercentileOnly),
        BootstrapMethod::Auto if a.len().min(b.len()) < LARGE_SAMPLE => {
            welch_interval(&a, &b, options.confidence)
        }
        _ => drawn_interval(&a, &b, options)?,
    };
    let test = deal_test(&a, &b, options.resamples, options.seed);
    Ok(IndependentComparison {
        first: mean(&a),
        second: mean(&b),
        interval,
        randomisation: RandomisationTest { dropped: dropped[0] + dropped[1], ..test },
    })
}

/// Welch's interval of the difference of two means.
fn welch_interval(a: &[f64], b: &[f64], confidence: f64) -> Interval {
    let [first, second] = [a, b].map(|v| standard_deviation(v).powi(2) / v.len() as f64);
    let freedom = |share: f64, n: usize| share * share / (n as f64 - 1.0);
    let df = (first + second).powi(2) / (freedom(first, a.len()) + freedom(second, b.len()));
    student_interval(mean(a) - mean(b), (first + second).sqrt(), df, confidence)
}

/// The percentile interval of the difference of two means.
fn drawn_interval(a: &[f64], b: &[f64], options: &BootstrapOptions) -> Result<Interval> {
    let values = (0..options.resamples)
        .into_par_iter()
        .map_init(
            || (vec![0; a.len()], vec![0; b.len()]),
            |(in_a, in_b), resample| {
                let mut random = stream(options.seed, resample as u64);
                draw_from(&mut random, a.len(), in_a);
                draw_from(&mut random, b.len(), in_b);
                mean_at(a, in_a) - mean_at(b, in_b)
            },
        )
        .collect::<Vec<f64>>();
    percentile_interval(&values, options.confidence)
}

/// The mean of the values at these positions.
fn mean_at(values: &[f64], positions: &[usize]) -> f64 {
    pairwise(positions.len(), &|k| values[positions[k]]) / positions.len() as f64
}

/// Deals the scores of both columns out again into groups of the same sizes.
fn deal_test(a: &[f64], b: &[f64], resamples: usize, seed: u64) -> RandomisationTest {
    // In units of the largest score, so that differences of the smallest numbers are not rounded
    // away.
    let largest = a.iter().chain(b).fold(0.0f64, |largest, value| largest.max(value.abs()));
    let unit = if largest == 0.0 { 1.0 } else { largest };
    let [a, b] = [a, b].map(|own| own.iter().map(|value| value / unit).collect::<Vec<f64>>());
    let observed = mean(&a) - mean(&b);
    let pool: Vec<f64> = a.iter().chain(&b).copied().collect();
    // The smaller group is dealt, and the other one has what is left.
    let (dealt, sign) = if a.len() <= b.len() { (a.len(), 1.0) } else { (b.len(), -1.0) };
    let total = pairwise(pool.len(), &|i| pool[i]);
    let left = (pool.len() - dealt) as f64;
    let difference = |positions: &[usize]| {
        let sum = pairwise(positions.len(), &|k| pool[positions[k]]);
        sign * (sum / dealt as f64 - (total - sum) / left)
    };
    let (values, exact): (Vec<f64>, bool) = match hands(pool.len(), dealt, resamples) {
        Some(hands) => (hands.iter().map(|hand| difference(hand)).collect(), true),
        None => {
            let round = |deck: &mut Vec<usize>, round: usize| {
                deal(&mut stream(seed, round as u64), deck, dealt);
                difference(&deck[..dealt])
            };
            let deck = || (0..pool.len()).collect::<Vec<usize>>();
            // Every round starts from a sorted deck, so that it does not depend on its thread.
            let fresh = |deck: &mut Vec<usize>, number| {
                deck.iter_mut().enumerate().for_each(|(at, card)| *card = at);
                round(deck, number)
            };
            ((0..resamples).into_par_iter().map_init(deck, fresh).collect(), false)
        }
    };
    // The total less a sum is as inexact as the largest score.
    let (p_value, p_greater) = shares(&values, observed, 1e-14, exact);
    let n = pool.len();
    RandomisationTest {
        difference: unit * observed,
        p_value,
        p_greater,
        n,
        dropped: 0,
        exact,
        undefined: 0,
    }
}

/// Moves `dealt` cards, drawn at random without replacement, to the front of the deck.
fn deal(random: &mut ChaCha8Rng, deck: &mut [usize], dealt: usize) {
    for at in 0..dealt {
        let other = at + below(random, (deck.len() - at) as u64) as usize;
        deck.swap(at, other);
    }
}

/// All ways to choose `dealt` of `cards`, where there are at most `most` of them.
fn hands(cards: usize, dealt: usize, most: usize) -> Option<Vec<Vec<usize>>> {
    let mut count = 1u128;
    for k in 0..dealt as u128 {
        count = count * (cards as u128 - k) / (k + 1);
        if count > most as u128 {
            return None;
        }
    }
    let mut hand: Vec<usize> = (0..dealt).collect();
    let mut hands = vec![hand.clone()];
    // The last card that can move up by one does so, and the cards behind it follow closely.
    while let Some(at) = (0..dealt).rev().find(|&at| hand[at] < cards - dealt + at) {
        hand[at] += 1;
        for later in at + 1..dealt {
            hand[later] = hand[later - 1] + 1;
        }
        hands.push(hand.clone());
    }
    Some(hands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hand_is_dealt_once() {
        assert_eq!(
            hands(4, 2, 6).unwrap(),
            [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]].map(|hand| hand.to_vec())
        );
        assert_eq!(hands(4, 2, 5), None);
        assert_eq!(hands(2000, 1000, usize::MAX), None, "the number does not overflow");
    }
}
