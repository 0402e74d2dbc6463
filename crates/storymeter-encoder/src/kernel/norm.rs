//! RMS norm, and the product that closes a gated feed-forward part.

use super::gemm::{Epilogue, TileF32};
use super::steps::fold;
use super::vectorised;

vectorised! {
    /// Replaces the rows of `x` by `x / sqrt(mean(x^2) + eps) * gain`.
    pub(crate) fn rms_rows(x: &mut [f32], gain: &[f32], eps: f32) {
        for row in x.chunks_exact_mut(gain.len()) {
            let squares = fold(row, 0.0, |s, v| s + v * v, |a, b| a + b);
            let scale = 1.0 / (squares / row.len() as f32 + eps).sqrt();
            for (x, &g) in row.iter_mut().zip(gain) {
                *x = *x * scale * g;
            }
        }
    }
}

vectorised! {
    /// Adds `added` to `x`.
    pub(crate) fn add_rows(x: &mut [f32], added: &[f32]) {
        x.iter_mut().zip(added).for_each(|(x, a)| *x += a);
    }
}

/// Multiplies the numbers of a matrix by those of the tiles.
pub(crate) struct Multiply<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
}

impl Epilogue for Multiply<'_> {
    #[inline(always)]
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32) {
        for (r, tile) in tile[..rows].iter().enumerate() {
            let out = &mut self.out[(row + r) * self.stride + col..][..cols];
            out.iter_mut().zip(tile).for_each(|(out, factor)| *out *= factor);
        }
    }
}
