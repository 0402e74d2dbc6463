//! The inner loop of the quantised matrix products with Arm NEON.
//!
//! Every Arm processor of 64 bits has these instructions. The f32 products need no kernel of their
//! own there: the compiler vectorises the portable ones well.

use super::gemm::{COLS, PanelI8, TileF32, rows_fit};
use super::quantised::QuantisedRows;
use std::arch::aarch64::*;

/// The columns of a sub-tile: four registers of four sums each.
const COLS_NEON: usize = 16;

/// Multiplies up to `ROWS` quantised rows with one panel of `steps` groups of four.
///
/// NEON multiplies signed by signed numbers: the rows are moved to -128..=127, and the move is
/// undone with the sums of the columns. Products have 16 bits and are widened as they are summed,
/// so that every sum is exact.
#[expect(unsafe_code, reason = "reads and writes whole registers through pointers")]
#[inline]
pub(super) fn i8_tile(a: QuantisedRows<'_>, rows: usize, panel: &PanelI8<'_>, out: &mut TileF32) {
    let steps = panel.steps;
    assert!(panel.data.len() / (4 * COLS) >= steps);
    assert!(rows_fit(a.q.len(), rows, a.stride, 4 * steps));
    for (r, out) in out.iter_mut().enumerate().take(rows) {
        let mut sums = [0i32; COLS];
        for col in (0..COLS).step_by(COLS_NEON) {
            // SAFETY: NEON is a part of every target of this architecture. By the assertions above,
            // row r < rows has four bytes for each step p < steps, and the panel 4 * COLS, of which
            // 64 from column `col` on are read. There are COLS sums.
            unsafe {
                let (a, b) = (a.q.as_ptr().add(r * a.stride), panel.data.as_ptr().add(col * 4));
                let mut acc = [vdupq_n_s32(0); 4];
                for p in 0..steps {
                    let four = a.add(4 * p).cast::<u32>().read_unaligned() ^ 0x8080_8080;
                    let v = vreinterpret_s8_u32(vdup_n_u32(four));
                    for (i, acc) in acc.iter_mut().enumerate() {
                        // Four columns: the eight products of each half are summed by pairs, then
                        // by fours.
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
