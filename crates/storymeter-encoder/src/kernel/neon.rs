//! The inner loop of the quantised matrix products with Arm NEON.
//!
//! The second of the two modules with `unsafe` code. Every Arm processor of 64 bits has these instructions; the f32
//! products need no kernel of their own there, the compiler vectorises the portable ones well.
#![allow(unsafe_code)]

use super::gemm::{COLS, PanelI8, TileF32};
use super::quantised::QuantisedRows;
use std::arch::aarch64::*;

/// Columns of a sub-tile: four registers of four sums each.
const COLS_NEON: usize = 16;

/// Up to `ROWS` quantised rows times one panel of `steps` groups of four.
///
/// NEON multiplies signed by signed: the rows are moved to -128..=127, and the move is undone with the columns' sums.
/// Products have 16 bits and are widened as they are summed, so every sum is exact.
#[inline]
pub(super) fn i8_tile(a: QuantisedRows<'_>, rows: usize, panel: &PanelI8<'_>, out: &mut TileF32) {
    let steps = panel.steps;
    assert!(
        rows > 0
            && a.q.len() >= (rows - 1) * a.stride + 4 * steps
            && panel.data.len() >= steps * COLS * 4
    );
    for (r, out) in out.iter_mut().enumerate().take(rows) {
        let mut sums = [0i32; COLS];
        for col in (0..COLS).step_by(COLS_NEON) {
            // SAFETY: NEON is part of the target's baseline; the assertion above bounds every read, and there are
            // COLS sums.
            unsafe {
                let (a, b) = (a.q.as_ptr().add(r * a.stride), panel.data.as_ptr().add(col * 4));
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
                    vst1q_s32(sums.as_mut_ptr().add(col + 4 * i), *acc);
                }
            }
        }
        let (scale, minimum) = (a.scale[r], a.minimum[r]);
        for (j, out) in out.iter_mut().enumerate() {
            let sum = sums[j] + 128 * panel.sums[j];
            *out = sum as f32 * (scale * panel.scales[j])
                + (minimum * panel.offsets[j] + panel.bias[j]);
        }
    }
}
