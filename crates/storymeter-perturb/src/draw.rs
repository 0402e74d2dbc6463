//! The random choices that techniques make.

use rand_chacha::rand_core::Rng;
use storymeter_core::rng::ChaCha8Rng;

/// Random choices from one stream.
///
/// They are written here and not taken from a library, so that the next version of a library cannot
/// change the samples of a seed.
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// Choices from this stream.
    pub fn new(stream: ChaCha8Rng) -> Self {
        Self(stream)
    }

    /// The stream itself, for samplers that need one.
    pub fn stream(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }

    /// A uniform number of `0..n`, or 0 if `n` is 0. The bias is below 2^-32 for every `n` that
    /// occurs here.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// A uniform number of `low..=high`, or `low` if the range is empty.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below((high + 1).saturating_sub(low))
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        ((self.0.next_u64() >> 11) as f64) * (-53f64).exp2() < p
    }

    /// A uniformly chosen element.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }

    /// An index with a probability in proportion to its weight; `None` if all weights are zero.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        let mut rest = ((self.0.next_u64() >> 11) as f64) * (-53f64).exp2() * total;
        for (index, &weight) in weights.iter().enumerate() {
            if weight > 0.0 && rest < weight {
                return Some(index);
            }
            rest -= weight;
        }
        // Rounding can leave a small remainder after the last weight.
        weights.iter().rposition(|&weight| weight > 0.0)
    }

    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// `k` distinct numbers of `0..n` in random order, or all of them if `k` is larger than `n`.
    pub fn distinct(&mut self, n: usize, k: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        let k = k.min(n);
        for i in 0..k {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(k);
        all
    }
}
