//! Softmax over rows of scores, either in place or from the tiles of a product straight into bytes.
//!
//! Neither divides by the sum of a row. The product with the values does so later, because it has
//! fewer columns.

use super::gemm::{COLS, Epilogue, TileF32};
use super::quantised::nearest;
use super::steps::{LANES, fold, join_lanes, larger, map_fold};
use super::{math, vectorised};

/// The relative position bias of one head: `table[centre + j - i]` is added for query `i` and key
/// `j`.
#[derive(Clone, Copy)]
pub(crate) struct RelativeBias<'a> {
    pub(crate) table: &'a [f32],
    pub(crate) centre: usize,
}

vectorised! {
    /// Turns rows of scores into `exp(scale * score + bias - largest)`. `inverse` gets one over the
    /// sum of each row.
    ///
    /// Row `r` belongs to query `first + r`, which sees only the keys up to its own if `causal`.
    /// The sums are divided out after the product with the values, which has fewer columns.
    pub(crate) fn softmax_rows(
        scores: &mut [f32],
        keys: usize,
        scale: f32,
        bias: Option<RelativeBias<'_>>,
        first: usize,
        causal: bool,
        inverse: &mut [f32],
    ) {
        for (r, (row, inverse)) in scores.chunks_exact_mut(keys).zip(inverse).enumerate() {
            let (row, hidden) = row.split_at_mut(visible(keys, first + r, causal));
            hidden.fill(0.0);
            let sum = match bias {
                Some(bias) => {
                    let from = bias.centre - (first + r);
                    for (s, &b) in row.iter_mut().zip(&bias.table[from..][..keys]) {
                        *s = *s * scale + b;
                    }
                    let top = fold(row, f32::NEG_INFINITY, larger, larger);
                    map_fold(row, |s| math::exp_down(s - top), 0.0, |a, b| a + b)
                }
                None => {
                    // The largest score is also the largest after scaling, so that scaling can wait
                    // for the second pass.
                    let top = scale * fold(row, f32::NEG_INFINITY, larger, larger);
                    map_fold(row, |s| math::exp_down(s * scale - top), 0.0, |a, b| a + b)
                }
            };
            *inverse = 1.0 / sum;
        }
    }
}

/// How many of `keys` keys a query sees.
#[inline(always)]
fn visible(keys: usize, query: usize, causal: bool) -> usize {
    if causal { keys.min(query + 1) } else { keys }
}

/// Keeps the tiles of a product with at most [`ROWS`](super::gemm::ROWS) rows side by side, where
/// they were written.
pub(crate) struct KeepTiles<'a>(pub(crate) &'a mut [TileF32]);

impl Epilogue for KeepTiles<'_> {
    #[inline(always)]
    fn place<'t>(
        &'t mut self,
        _row: usize,
        col: usize,
        _spare: &'t mut TileF32,
    ) -> &'t mut TileF32 {
        &mut self.0[col / COLS]
    }

    #[inline(always)]
    fn tile(&mut self, _row: usize, _rows: usize, _col: usize, _cols: usize, _tile: &mut TileF32) {}
}

vectorised! {
    /// Turns the first `rows` rows of `tiles`, the scores of `keys` keys, into two bytes per score:
    /// 65,280 times `exp(scale * score + bias - largest)`, rounded to the nearest integer.
    /// `inverse` gets one over the sum of the integers of each row, once for the high bytes and
    /// once for the low ones.
    ///
    /// One byte would lose keys with less than a 510th of the largest probability. In a long story
    /// these may be most of the keys, and hold half of the attention.
    ///
    /// Row `r` belongs to query `first + r`, which sees only the keys up to its own if `causal`.
    /// Its high bytes are row `2 * r` of `bytes`, and its low bytes are row `2 * r + 1`.
    pub(crate) fn softmax_bytes(
        tiles: &mut [TileF32],
        rows: usize,
        keys: usize,
        scale: f32,
        bias: Option<RelativeBias<'_>>,
        first: usize,
        causal: bool,
        bytes: &mut [u8],
        inverse: &mut [f32],
    ) {
        // Powers of two instead of e: the factor goes into the scale.
        let scale = scale * std::f32::consts::LOG2_E;
        let stride = tiles.len() * COLS;
        let pairs = bytes.chunks_exact_mut(2 * stride).zip(inverse.as_chunks_mut::<2>().0);
        for (r, (bytes, inverse)) in pairs.enumerate().take(rows) {
            if let Some(bias) = bias {
                let biases = &bias.table[bias.centre - (first + r)..][..keys];
                for (tile, biases) in tiles.iter_mut().zip(biases.chunks(COLS)) {
                    for (s, &b) in tile[r].iter_mut().zip(biases) {
                        *s = *s * scale + b * std::f32::consts::LOG2_E;
                    }
                }
            }
            let seen = visible(keys, first + r, causal);
            for (t, tile) in tiles.iter_mut().enumerate().skip(seen / COLS) {
                tile[r][seen.saturating_sub(t * COLS)..].fill(f32::NEG_INFINITY);
            }
            let top = largest(tiles, r);
            let sum = match bias {
                Some(_) => to_bytes(tiles, r, bytes, |s| s - top),
                None => {
                    let top = scale * top;
                    to_bytes(tiles, r, bytes, |s| s * scale - top)
                }
            };
            *inverse = [256.0 / sum as f32, 1.0 / sum as f32];
        }
    }
}

/// The largest number of row `r`.
#[inline(always)]
fn largest(tiles: &[TileF32], r: usize) -> f32 {
    /// A function of its own, because inside the loop the compiler would join the lanes too early.
    #[inline(never)]
    fn join(lanes: &[f32; LANES]) -> f32 {
        join_lanes(*lanes, larger)
    }
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for tile in tiles {
        for chunk in tile[r].as_chunks::<LANES>().0 {
            lanes = std::array::from_fn(|i| larger(lanes[i], chunk[i]));
        }
    }
    join(&lanes)
}

/// Writes row `r` of the tiles as 65,280 times two to the power that `power` gives, the high bytes
/// first, and returns the sum.
///
/// It works step by step over whole arrays, which lets the compiler keep each of them in registers.
#[inline(always)]
fn to_bytes(tiles: &[TileF32], r: usize, bytes: &mut [u8], power: impl Fn(f32) -> f32) -> i32 {
    let mut sums = [0i32; COLS];
    let (high, low) = bytes.split_at_mut(bytes.len() / 2);
    let bytes = high.as_chunks_mut::<COLS>().0.iter_mut().zip(low.as_chunks_mut::<COLS>().0);
    for (tile, (high, low)) in tiles.iter().zip(bytes) {
        let mut q = [0i32; COLS];
        for i in 0..COLS {
            q[i] = nearest(math::power_of_two_65280(power(tile[r][i])));
        }
        // With weights that make no sense, numbers can be too large. The score is then not a
        // number, whatever this sum is.
        for i in 0..COLS {
            sums[i] = sums[i].wrapping_add(q[i]);
        }
        let (mut above, mut below) = ([0u8; COLS], [0u8; COLS]);
        for i in 0..COLS {
            above[i] = (q[i] >> 8) as u8;
        }
        for i in 0..COLS {
            below[i] = q[i] as u8;
        }
        (*high, *low) = (above, below);
    }
    sums.into_iter().fold(0, i32::wrapping_add)
}

/// Writes tiles into a matrix. Each pair of rows, the high and the low bytes of one row, becomes
/// their sum.
pub(crate) struct AddPairs<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
}

impl Epilogue for AddPairs<'_> {
    #[inline(always)]
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32) {
        for (r, [high, low]) in tile[..rows].as_chunks::<2>().0.iter().enumerate() {
            let out = &mut self.out[(row / 2 + r) * self.stride + col..][..cols];
            for ((out, high), low) in out.iter_mut().zip(high).zip(low) {
                *out = high + low;
            }
        }
    }
}
