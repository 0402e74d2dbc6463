//! The matrix products of training, with all threads on one product. Each task owns rows of the
//! result, and every element is one chain along the inner dimension, so that the bytes are the same
//! for any number of threads.

use crate::kernel::Isa;
use crate::kernel::gemm::{COLS, Epilogue, SidesF32, TileF32, gemm_f32, packed_len};
use crate::kernel::steps::Store;
use rayon::prelude::*;

/// The number of rows of one task: a few tiles, so that there are enough tasks for all threads.
const TASK_ROWS: usize = 48;

/// Adds tiles to a matrix.
struct Accumulate<'a> {
    out: &'a mut [f32],
    stride: usize,
}

impl Epilogue for Accumulate<'_> {
    #[inline(always)]
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32) {
        for (r, tile) in tile[..rows].iter().enumerate() {
            let out = &mut self.out[(row + r) * self.stride + col..][..cols];
            for (o, &v) in out.iter_mut().zip(tile) {
                *o += v;
            }
        }
    }
}

/// `a * b + bias` into `out`, for `a` with `k` columns and a packed `b` of `k` x `n`.
pub(super) fn product(
    isa: Isa,
    a: &[f32],
    k: usize,
    b: &[f32],
    n: usize,
    bias: &[f32],
    out: &mut [f32],
) {
    a.par_chunks(TASK_ROWS * k).zip(out.par_chunks_mut(TASK_ROWS * n)).for_each(|(a, out)| {
        let sides = SidesF32 { a, lda: k, m: a.len() / k, k, n, b, bias };
        gemm_f32(isa, sides, &mut Store { out, stride: n, activation: None });
    });
}

/// `out += a * b`, for the same shapes.
pub(super) fn add_product(isa: Isa, a: &[f32], k: usize, b: &[f32], n: usize, out: &mut [f32]) {
    a.par_chunks(TASK_ROWS * k).zip(out.par_chunks_mut(TASK_ROWS * n)).for_each(|(a, out)| {
        let sides = SidesF32 { a, lda: k, m: a.len() / k, k, n, b, bias: &[] };
        gemm_f32(isa, sides, &mut Accumulate { out, stride: n });
    });
}

/// Packs a right side panel by panel on all threads. `one` packs columns `col..col + cols` into its
/// slice.
pub(super) fn pack(k: usize, n: usize, one: impl Fn(usize, usize, &mut [f32]) + Sync) -> Vec<f32> {
    let mut packed = vec![0.0; packed_len(k, n)];
    packed.par_chunks_mut(k * COLS).enumerate().for_each(|(panel, out)| {
        let col = panel * COLS;
        one(col, COLS.min(n - col), out);
    });
    packed
}

/// The number of columns that are transposed together: squares of this side fit into the first
/// cache both ways.
const SIDE: usize = 16;

/// The transpose of a `rows` x `columns` matrix.
pub(super) fn transpose(x: &[f32], rows: usize, columns: usize, out: &mut [f32]) {
    out.chunks_mut(SIDE * rows).enumerate().for_each(|(strip, out)| {
        transpose_strip(x, rows, columns, strip * SIDE, out);
    });
}

/// The transpose of a matrix, on all threads.
pub(super) fn transpose_on_all(x: &[f32], rows: usize, columns: usize, out: &mut [f32]) {
    out.par_chunks_mut(SIDE * rows).enumerate().for_each(|(strip, out)| {
        transpose_strip(x, rows, columns, strip * SIDE, out);
    });
}

/// Turns a few columns, from `left` on, into rows.
fn transpose_strip(x: &[f32], rows: usize, columns: usize, left: usize, out: &mut [f32]) {
    let right = (left + SIDE).min(columns);
    for top in (0..rows).step_by(SIDE) {
        for i in top..(top + SIDE).min(rows) {
            for (j, &v) in x[i * columns + left..i * columns + right].iter().enumerate() {
                out[j * rows + i] = v;
            }
        }
    }
}
