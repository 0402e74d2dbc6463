//! Random streams that belong to a resample and not to a thread.
//!
//! Resample `i` always sees the same random numbers, whichever thread computes it and in whatever
//! order. Results are therefore the same for any number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// The random stream of one resample.
///
/// ```
/// use storymeter_stats::resample::{draw_with_replacement, stream};
/// let mut drawn = [0; 5];
/// draw_with_replacement(&mut stream(7, 0), &mut drawn);
/// assert!(drawn.iter().all(|&index| index < 5));
/// ```
pub fn stream(seed: u64, resample: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(resample);
    rng
}

/// Fills `indices` with draws with replacement from `0..indices.len()`.
pub fn draw_with_replacement(rng: &mut ChaCha8Rng, indices: &mut [usize]) {
    draw_from(rng, indices.len(), indices);
}

/// Fills `indices` with draws with replacement from `0..n`.
pub(crate) fn draw_from(rng: &mut ChaCha8Rng, n: usize, indices: &mut [usize]) {
    for index in indices {
        *index = below(rng, n as u64) as usize;
    }
}

/// Uniform in `0..n`, without bias: Lemire's multiplication, drawing again in the uneven remainder.
pub(crate) fn below(rng: &mut ChaCha8Rng, n: u64) -> u64 {
    let uneven = n.wrapping_neg() % n;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        if product as u64 >= uneven {
            return (product >> 64) as u64;
        }
    }
}

/// As [`below`], with half the random bits. The two give different numbers.
pub(crate) fn below_u32(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    let uneven = n.wrapping_neg() % n;
    loop {
        let product = u64::from(rng.next_u32()) * u64::from(n);
        if product as u32 >= uneven {
            return (product >> 32) as u32;
        }
    }
}

/// Fills `coins` with fair coin flips.
pub fn flip(rng: &mut ChaCha8Rng, coins: &mut [bool]) {
    for word in coins.chunks_mut(64) {
        let bits = rng.next_u64();
        for (i, coin) in word.iter_mut().enumerate() {
            *coin = bits >> i & 1 == 1;
        }
    }
}

/// `statistic` of `resamples` draws with replacement from `0..n`, in the order of the resamples.
pub(crate) fn bootstrap_values<T: Send>(
    n: usize,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&[usize]) -> T + Sync,
) -> Vec<T> {
    (0..resamples)
        .into_par_iter()
        .map_init(
            || vec![0; n],
            |indices, resample| {
                draw_with_replacement(&mut stream(seed, resample as u64), indices);
                statistic(indices)
            },
        )
        .collect()
}

/// `statistic` of coin flips for `n` positions, and whether all patterns of flips were tried.
///
/// All `2^n` patterns are tried when there are at most `resamples` of them, and otherwise
/// `resamples` random ones.
pub(crate) fn swap_values<T: Send>(
    n: usize,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&[bool]) -> T + Sync,
) -> (Vec<T>, bool) {
    let exact = n < 64 && 1u64 << n <= resamples as u64;
    let rounds = if exact { 1 << n } else { resamples };
    let values = (0..rounds)
        .into_par_iter()
        .map_init(
            || vec![false; n],
            |coins, round| {
                if exact {
                    coins.iter_mut().enumerate().for_each(|(i, coin)| *coin = round >> i & 1 == 1);
                } else {
                    flip(&mut stream(seed, round as u64), coins);
                }
                statistic(coins)
            },
        )
        .collect();
    (values, exact)
}
