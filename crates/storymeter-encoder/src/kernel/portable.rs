//! The inner loops of the matrix products in plain Rust, for processors without a kernel of their
//! own.

use super::gemm::{COLS, Columns, PanelI8, TileF32};
use super::quantised::QuantisedRows;

/// Multiplies up to `ROWS` rows of `a` with one panel.
#[inline(always)]
pub(super) fn f32_tile(
    a: &[f32],
    lda: usize,
    rows: usize,
    panel: &[f32],
    bias: &Columns,
    out: &mut TileF32,
) {
    let k = panel.len() / COLS;
    for (r, out) in out.iter_mut().enumerate().take(rows) {
        let mut sums = *bias;
        for (&v, b) in a[r * lda..][..k].iter().zip(panel.chunks_exact(COLS)) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum += v * b;
            }
        }
        *out = sums;
    }
}

/// Multiplies up to `ROWS` quantised rows with one panel.
#[inline(always)]
pub(super) fn i8_tile(a: QuantisedRows<'_>, rows: usize, panel: &PanelI8<'_>, out: &mut TileF32) {
    for (r, out) in out.iter_mut().enumerate().take(rows) {
        let mut sums = [0i32; COLS];
        let row = &a.q[r * a.stride..][..panel.steps * 4];
        for (v, b) in row.chunks_exact(4).zip(panel.data.chunks_exact(COLS * 4)) {
            let v = [v[0], v[1], v[2], v[3]].map(i32::from);
            for (sum, b) in sums.iter_mut().zip(b.chunks_exact(4)) {
                let b = [b[0], b[1], b[2], b[3]].map(i32::from);
                *sum += v[0] * b[0] + v[1] * b[1] + v[2] * b[2] + v[3] * b[3];
            }
        }
        let (scale, minimum) = (a.scale[r], a.minimum[r]);
        for (j, out) in out.iter_mut().enumerate() {
            *out = sums[j] as f32 * (scale * panel.scales[j])
                + (minimum * panel.offsets[j] + panel.bias[j]);
        }
    }
}
