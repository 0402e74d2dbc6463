//! Sums over random subsets of items, fast.
//!
//! A test that exchanges two systems at random needs, per draw, the sums over about half of the
//! items. The sums over all subsets of four neighbouring items are computed beforehand, so that a
//! draw adds one of them per four items, which four of its random bits choose.

use rand_chacha::rand_core::Rng;
use rayon::prelude::*;

use crate::resample::stream;

/// The number of items whose subsets share four random bits.
const NIBBLE: usize = 4;
/// The number of subsets of so many items.
const SUBSETS: usize = 1 << NIBBLE;
/// The number of items that are held as sums of subsets at a time: a whole number of words of 64
/// random bits.
const BLOCK: usize = 4096;

/// The sums over subsets of items, draw by draw.
pub(crate) struct MaskedSums {
    /// As many sums per draw as a row has numbers.
    pub sums: Vec<f64>,
    /// Whether the subsets are all there are, and not drawn.
    pub exact: bool,
}

/// The sums of rows of this width over random subsets of them, or over all subsets if there are no
/// more than `draws`. The subset of a draw is that of [`flip`](crate::resample::flip).
pub(crate) fn exchanged_sums(rows: &[f64], width: usize, draws: usize, seed: u64) -> MaskedSums {
    let n = rows.len() / width;
    let exact = n < 64 && 1u64 << n <= draws as u64;
    let draws = if exact { 1 << n } else { draws };
    let mut sums = vec![0.0; draws * width];
    for (block, rows) in rows.chunks(BLOCK * width).enumerate() {
        let subsets = subset_sums(rows, width);
        sums.par_chunks_mut(width).enumerate().for_each(|(draw, sums)| {
            let mut random = stream(seed, draw as u64);
            // A word of random bits is two words of the stream.
            random.set_word_pos((block * BLOCK / 64 * 2) as u128);
            for word in subsets.chunks(64 / NIBBLE * SUBSETS * width) {
                let mut bits = if exact { draw as u64 } else { random.next_u64() };
                for subsets in word.chunks_exact(SUBSETS * width) {
                    let start = (bits as usize % SUBSETS) * width;
                    let chosen = &subsets[start..start + width];
                    sums.iter_mut().zip(chosen).for_each(|(sum, term)| *sum += term);
                    bits >>= NIBBLE;
                }
            }
        });
    }
    MaskedSums { sums, exact }
}

/// For every four rows the sums over their 16 subsets.
fn subset_sums(rows: &[f64], width: usize) -> Vec<f64> {
    let mut all = vec![0.0; rows.len().div_ceil(NIBBLE * width) * SUBSETS * width];
    let groups = all.chunks_exact_mut(SUBSETS * width).zip(rows.chunks(NIBBLE * width));
    for (subsets, rows) in groups {
        for subset in 1..SUBSETS {
            // The subset without its last row, and that row.
            let last = subset.ilog2() as usize;
            let (before, own) = subsets.split_at_mut(subset * width);
            let rest = &before[(subset ^ (1 << last)) * width..][..width];
            let row = rows.get(last * width..(last + 1) * width);
            for (at, sum) in own[..width].iter_mut().enumerate() {
                *sum = rest[at] + row.map_or(0.0, |row| row[at]);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::flip;

    #[test]
    fn sums_are_those_of_the_flipped_items() {
        for n in [3, 64, 70, BLOCK + 130] {
            let rows: Vec<f64> = (0..2 * n).map(|i| (i * 7 % 31) as f64).collect();
            let found = exchanged_sums(&rows, 2, 9, 5);
            assert_eq!(found.exact, n == 3);
            for (draw, sums) in found.sums.chunks_exact(2).enumerate() {
                let mut coins = vec![false; n];
                match found.exact {
                    true => (0..n).for_each(|i| coins[i] = draw >> i & 1 == 1),
                    false => flip(&mut stream(5, draw as u64), &mut coins),
                }
                for (column, sum) in sums.iter().enumerate() {
                    let expected: f64 =
                        (0..n).filter(|&i| coins[i]).map(|i| rows[2 * i + column]).sum();
                    assert_eq!(*sum, expected, "{n} items, draw {draw}");
                }
            }
        }
    }
}
