//! Kendall's tau-b in O(n log n).

use super::{Correlation, check, why_undefined};
use crate::distribution::normal_sf;
use crate::error::Result;
use crate::rank::{order_key, sorted_by_key};

/// Kendall's tau-b.
///
/// Of the `N = n(n-1)/2` pairs of observations, `C` are concordant, `D` are discordant, `T_x` are
/// tied in `x` and `T_y` in `y`: `τ_b = (C - D) / sqrt((N - T_x)(N - T_y))`.
///
/// The two-sided p-value is exact (Kendall's recursion over permutations) when there are no ties
/// and either `n <= 33` or at most one pair is out of order (or in order). Otherwise it comes from
/// the normal distribution, with the variance corrected for ties. These are the rules of scipy's
/// `kendalltau`.
///
/// Discordant pairs are counted as by Knight (1966): sort by `x`, then count the exchanges that a
/// merge sort by `y` makes.
///
/// An input that is constant or holds a NaN gives NaN with the reason. Infinities rank like any
/// other value.
///
/// ```
/// let tau = storymeter_stats::kendall(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0])?;
/// assert!((tau.coefficient - 2.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ or there are fewer than two pairs.
pub fn kendall(x: &[f64], y: &[f64]) -> Result<Correlation> {
    check(x, y)?;
    let n = x.len();
    if let Some(why) = why_undefined(x, y, false) {
        return Ok(Correlation::nan(n, why));
    }
    let counts = Counts::new(x, y);
    Ok(Correlation { coefficient: counts.tau(), p_value: counts.p_value(), n, undefined: None })
}

/// Numbers of pairs of observations by kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counts {
    n: u64,
    discordant: u64,
    tied_in_both: u64,
    x: Ties,
    y: Ties,
}

/// The sums over groups of `t` equal values that tau-b and its variance need.
#[derive(Debug, Clone, Default, PartialEq)]
struct Ties {
    /// Σ t(t-1)/2
    pairs: u64,
    /// Σ t(t-1)(t-2)
    triples: f64,
    /// Σ t(t-1)(2t+5)
    variance: f64,
}

impl Ties {
    fn add(&mut self, group: usize) {
        let t = group as u64;
        self.pairs += t * (t - 1) / 2;
        let t = t as f64;
        self.triples += t * (t - 1.0) * (t - 2.0);
        self.variance += t * (t - 1.0) * (2.0 * t + 5.0);
    }

    fn from_sorted<T: PartialEq>(sorted: &[T]) -> Self {
        let mut ties = Self::default();
        sorted.chunk_by(|a, b| a == b).filter(|g| g.len() > 1).for_each(|g| ties.add(g.len()));
        ties
    }
}

impl Counts {
    /// Counts the pairs of an input that is not constant and holds no NaN.
    pub(super) fn new(x: &[f64], y: &[f64]) -> Self {
        let pairs = x.iter().zip(y).map(|(&a, &b)| (order_key(a), order_key(b))).collect();
        let mut pairs = sorted_by_key(pairs);
        let mut x_ties = Ties::default();
        for group in pairs.chunk_by_mut(|a, b| a.0 == b.0).filter(|g| g.len() > 1) {
            group.sort_unstable_by_key(|p| p.1);
            x_ties.add(group.len());
        }
        let tied_in_both = Ties::from_sorted(&pairs).pairs;
        let mut keys: Vec<u64> = pairs.iter().map(|p| p.1).collect();
        drop(pairs);
        let discordant = sort_and_count(&mut keys, &mut vec![0; x.len()], false);
        Self { n: x.len() as u64, discordant, tied_in_both, x: x_ties, y: Ties::from_sorted(&keys) }
    }

    fn pairs(&self) -> u64 {
        self.n * (self.n - 1) / 2
    }

    fn concordant_minus_discordant(&self) -> f64 {
        let untied = self.pairs() - self.x.pairs - (self.y.pairs - self.tied_in_both);
        (untied as i128 - 2 * i128::from(self.discordant)) as f64
    }

    pub(super) fn tau(&self) -> f64 {
        let total = self.pairs();
        tau_b(self.concordant_minus_discordant(), total - self.x.pairs, total - self.y.pairs)
    }

    fn p_value(&self) -> f64 {
        let total = self.pairs();
        let rarer = self.discordant.min(total - self.discordant);
        if self.x.pairs == 0 && self.y.pairs == 0 && (self.n <= 33 || rarer <= 1) {
            exact_p_value(self.n as usize, rarer as usize)
        } else {
            let n = self.n as f64;
            let m = n * (n - 1.0);
            let variance = (m * (2.0 * n + 5.0) - self.x.variance - self.y.variance) / 18.0
                + 2.0 * self.x.pairs as f64 * self.y.pairs as f64 / m
                + self.x.triples * self.y.triples / (9.0 * m * (n - 2.0));
            2.0 * normal_sf((self.concordant_minus_discordant() / variance.sqrt()).abs())
        }
    }
}

/// Tau-b from the surplus of concordant pairs and the pairs not tied in either input.
pub(super) fn tau_b(surplus: f64, untied_x: u64, untied_y: u64) -> f64 {
    (surplus / (untied_x as f64).sqrt() / (untied_y as f64).sqrt()).clamp(-1.0, 1.0)
}

/// Two-sided probability of at most `c` pairs out of order (or in order) among `n` untied
/// observations.
///
/// The number of permutations of `n` with `k` inversions follows from the numbers for `n - 1`: the
/// new largest element can add 0 to `n - 1` inversions, so that each count is a sum over a window
/// of `n` former counts (Kendall, "Rank Correlation Methods", 1970). `c` is the smaller of the two
/// numbers of pairs.
fn exact_p_value(n: usize, c: usize) -> f64 {
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    if n == 2 || 4 * c == n * (n - 1) {
        return 1.0;
    }
    match c {
        0 => 2.0 / factorial(n),
        1 => 2.0 / factorial(n - 1),
        _ => {
            let mut counts = vec![0.0; c + 1];
            counts[..2].fill(1.0);
            for size in 3..=n {
                for k in 1..=c {
                    counts[k] += counts[k - 1];
                }
                for k in (size..=c).rev() {
                    counts[k] -= counts[k - size];
                }
            }
            (2.0 * counts.iter().sum::<f64>() / factorial(n)).clamp(0.0, 1.0)
        }
    }
}

/// Runs up to this length are sorted by insertion.
const SHORT: usize = 16;

/// Sorts `keys` in ascending order and returns the number of pairs that were out of order.
///
/// `other` is working space of the same length. The sorted keys are left there if `into_other` is
/// set.
fn sort_and_count(keys: &mut [u64], other: &mut [u64], into_other: bool) -> u64 {
    let n = keys.len();
    if n <= SHORT {
        let inversions = insertion_sort_and_count(keys);
        if into_other {
            other.copy_from_slice(keys);
        }
        return inversions;
    }
    let (left, right) = keys.split_at_mut(n / 2);
    let (other_left, other_right) = other.split_at_mut(n / 2);
    let within = sort_and_count(left, other_left, !into_other)
        + sort_and_count(right, other_right, !into_other);
    let (from, to) = if into_other { (keys, other) } else { (other, keys) };
    within + merge_and_count(from, to)
}

fn insertion_sort_and_count(keys: &mut [u64]) -> u64 {
    let mut inversions = 0;
    for i in 1..keys.len() {
        let key = keys[i];
        let mut j = i;
        while j > 0 && keys[j - 1] > key {
            keys[j] = keys[j - 1];
            j -= 1;
        }
        keys[j] = key;
        inversions += (i - j) as u64;
    }
    inversions
}

/// Merges the two sorted halves of `from` and counts the pairs that are out of order between them.
///
/// The merge runs from both ends at once, half of the elements each, without branches: neither end
/// can exhaust a half before it is done, and the two chains of loads run in parallel. Each element
/// of the right half is counted once, when it is placed. Placed from the front, it is smaller than
/// everything that remains of the left half; placed from the back, it is smaller than the part of
/// the left half that was placed at the back before.
fn merge_and_count(from: &[u64], to: &mut [u64]) -> u64 {
    let half = from.len() / 2;
    let (left, right) = from.split_at(half);
    if left[half - 1] <= right[0] {
        to.copy_from_slice(from);
        return 0;
    }
    let (mut i, mut j) = (0, 0);
    let (mut left_end, mut right_end) = (left.len(), right.len());
    let mut inversions = 0;
    let last = to.len() - 1;
    for step in 0..half {
        let (a, b) = (left[i], right[j]);
        let right_first = usize::from(b < a);
        to[step] = a.min(b);
        inversions += (right_first * (left.len() - i)) as u64;
        j += right_first;
        i += 1 - right_first;

        let (a, b) = (left[left_end - 1], right[right_end - 1]);
        let left_last = usize::from(a > b);
        to[last - step] = a.max(b);
        inversions += ((1 - left_last) * (left.len() - left_end)) as u64;
        left_end -= left_last;
        right_end -= 1 - left_last;
    }
    // An odd number of elements leaves one in the middle.
    if i < left_end {
        to[half] = left[i];
    } else if j < right_end {
        to[half] = right[j];
        inversions += (left.len() - i) as u64;
    }
    inversions
}
