//! The inner loop of the quantised matrix products with Arm NEON.
//!
//! The second of the two modules with `unsafe` code. Every Arm processor of 64 bits has these instructions; the f32
//! products need no kernel of their own there, the compiler vectorises the portable ones well.
#![allow(unsafe_code)]

use super::gemm::{COLS, TileI32};
use std::arch::aarch64::*;

/// Columns of a sub-tile: four registers of four sums each.
const COLS_NEON: usize = 16;

/// Up to `ROWS` quantised rows times one panel of `steps` groups of four.
///
/// NEON multiplies signed by signed: the rows are moved to -128..=127, and the move is undone with the columns' sums.
/// Products have 16 bits and are widened as they are summed, so every sum is exact.
#[inline]
pub(super) fn i8_tile(
    a: &[u8],
    lda: usize,
    rows: usize,
    panel: &[i8],
    sums: &[i32],
    steps: usize,
    out: &mut TileI32,
) {
    assert!(rows > 0 && a.len() >= (rows - 1) * lda + 4 * steps);
    assert!(panel.len() >= steps * COLS * 4 && sums.len() >= COLS);
    for (r, out) in out.iter_mut().enumerate().take(rows) {
        for col in (0..COLS).step_by(COLS_NEON) {
            // SAFETY: NEON is part of the target's baseline; the assertions above bound every read, and a row of
            // the tile has COLS elements.
            unsafe {
                let (a, b) = (a.as_ptr().add(r * lda), panel.as_ptr().add(col * 4));
                let mut acc = [vdupq_n_s32(0); 4];
                for p in 0..steps {
                    let four = a.add(4 * p).cast::<u32>().read_unaligned() ^ 0x8080_8080;
                    let v = vreinterpret_s8_u32(vdup_n_u32(four));
                    for (i, acc) in acc.iter_mut().enumerate() {
                        // Four columns: eight products in each half, summed by pairs, then by fours.
                        let w = vld1q_s8(b.add(p * COLS * 4 + 16 * i));
                        let low = vpaddlq_s16(vmull_s8(v, vget_low_s8(w)));
                        let high = vpaddlq_s16(vmull_s8(v, vget_high_s8(w)));
                        *acc = vaddq_s32(*acc, vpaddq_s32(low, high));
                    }
                }
                for (i, acc) in acc.iter().enumerate() {
                    let shift = vshlq_n_s32::<7>(vld1q_s32(sums.as_ptr().add(col + 4 * i)));
                    vst1q_s32(out.as_mut_ptr().add(col + 4 * i), vaddq_s32(*acc, shift));
                }
            }
        }
    }
}
