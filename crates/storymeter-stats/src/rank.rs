//! Ranks of floats, which are sorted as integers because that is faster.

use crate::error::{Result, StatsError};

/// Maps a float to an integer of the same order. Both zeros map to the same integer.
///
/// NaN sorts outside the infinities; callers that must not rank a NaN check for it first.
pub(crate) fn order_key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Computes mid-ranks: 1 for the smallest value; equal values share the mean of the ranks they
/// cover.
///
/// Infinities rank below or above all other values.
///
/// ```
/// assert_eq!(storymeter_stats::mid_ranks(&[10.0, 30.0, 20.0, 20.0])?, [1.0, 4.0, 2.5, 2.5]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a value is NaN, which has no place in an order.
pub fn mid_ranks(values: &[f64]) -> Result<Vec<f64>> {
    match values.iter().position(|v| v.is_nan()) {
        Some(index) => {
            Err(StatsError::NotFinite { what: "values to rank", index, value: f64::NAN })
        }
        None => Ok(mid_ranks_unchecked(values)),
    }
}

/// [`mid_ranks`] of values that are known to hold no NaN.
pub(crate) fn mid_ranks_unchecked(values: &[f64]) -> Vec<f64> {
    let sorted =
        sorted_by_key(values.iter().enumerate().map(|(i, &v)| (order_key(v), i as u64)).collect());
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        let rank = start as f64 + (run.len() + 1) as f64 / 2.0;
        for &(_, i) in run {
            ranks[i as usize] = rank;
        }
        start += run.len();
    }
    ranks
}

/// Sorts pairs by their first part. The sort is stable.
pub(crate) fn sorted_by_key(mut pairs: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    // Below a few thousand pairs the histograms of the radix sort cost more than comparisons.
    if pairs.len() < 2048 {
        pairs.sort_by_key(|p| p.0);
        return pairs;
    }
    radix_sort(pairs)
}

const DIGIT_BITS: usize = 8;
const DIGITS: usize = 4;
const BUCKETS: usize = 1 << DIGIT_BITS;

/// Radix sort, least significant digit first, on the 32 leading bits in which keys differ at all.
/// The few keys that agree in those bits are then compared.
fn radix_sort(mut pairs: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let first = pairs[0].0;
    let differing = pairs.iter().fold(0, |bits, p| bits | (p.0 ^ first));
    let significant = u64::BITS - differing.leading_zeros();
    let shift = significant.saturating_sub((DIGITS * DIGIT_BITS) as u32);
    let digit = |key: u64, pass: usize| (key >> shift >> (pass * DIGIT_BITS)) as usize % BUCKETS;

    let mut counts = [[0usize; BUCKETS]; DIGITS];
    for &(key, _) in &pairs {
        for (pass, count) in counts.iter_mut().enumerate() {
            count[digit(key, pass)] += 1;
        }
    }
    let mut other = vec![(0, 0); pairs.len()];
    for (pass, count) in counts.iter_mut().enumerate() {
        if count[digit(first, pass)] == pairs.len() {
            continue;
        }
        let mut start = 0;
        for slot in count.iter_mut() {
            start += std::mem::replace(slot, start);
        }
        for &pair in &pairs {
            let slot = &mut count[digit(pair.0, pass)];
            other[*slot] = pair;
            *slot += 1;
        }
        std::mem::swap(&mut pairs, &mut other);
    }
    if shift > 0 {
        for run in
            pairs.chunk_by_mut(|a, b| a.0 >> shift == b.0 >> shift).filter(|run| run.len() > 1)
        {
            run.sort_by_key(|p| p.0);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_floats_do() {
        let ascending =
            [f64::NEG_INFINITY, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e300, f64::INFINITY];
        assert!(ascending.is_sorted_by_key(|&v| order_key(v)));
        assert_eq!(order_key(-0.0), order_key(0.0));
    }

    #[test]
    fn radix_and_comparison_sorts_agree_and_are_stable() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        // Keys with ties, keys of all magnitudes, and keys that agree in their leading bits.
        let coarse = |r: u64| order_key((r % 700) as f64 - 350.0);
        let spread = |r: u64| r << 11 ^ r;
        let alike = |r: u64| ((r % 2) << 60) + r % 1000;
        for key in [&coarse as &dyn Fn(u64) -> u64, &spread, &alike] {
            let pairs: Vec<(u64, u64)> = (0..5000).map(|i| (key(random()), i)).collect();
            let mut expected = pairs.clone();
            expected.sort();
            assert_eq!(radix_sort(pairs), expected);
        }
    }

    #[test]
    fn a_nan_has_no_rank() {
        assert!(mid_ranks(&[1.0, f64::NAN]).is_err());
    }
}
