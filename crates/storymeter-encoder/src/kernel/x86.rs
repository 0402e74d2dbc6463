//! The inner loops of the matrix products with AVX2 and AVX-512 VNNI.
//!
//! A call computes one tile: up to [`ROWS`] rows of the left side times one packed panel of
//! [`COLS`] columns. Each element is one unbroken chain of multiply-adds along `k`, so that its
//! bytes depend on its row and column alone, and never on how many rows the call has.
//!
//! The two widths repeat each other's shape, and the portable kernel's signature, on purpose: their
//! registers are different types, and one generic loop would hide what each compiles to.
//!
//! The loops read through raw pointers. Each function first asserts that all rows and steps it will
//! read are within its slices.

use super::gemm::{Ahead, COLS, Columns, PanelI8, ROWS, TileF32, rows_fit};
use super::quantised::QuantisedRows;
use std::arch::x86_64::*;

/// Calls `$f::<R>` for the number of rows at hand, so that the loop over rows is unrolled.
macro_rules! by_rows {
    ($rows:expr, $f:ident $args:tt, [$($n:literal)*]) => {
        match $rows { $($n => $f::<$n>$args,)* _ => unreachable!("a tile has 1 to ROWS rows") }
    };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
pub(super) fn f32_avx512(
    a: &[f32],
    lda: usize,
    rows: usize,
    panel: &[f32],
    bias: &Columns,
    ahead: Ahead,
    out: &mut TileF32,
) {
    by_rows!(rows, f32_avx512_rows(a, lda, panel, bias, ahead, out), [1 2 3 4 5 6 7 8 9 10 11 12])
}

#[expect(unsafe_code, reason = "reads and writes whole registers through pointers")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn f32_avx512_rows<const R: usize>(
    a: &[f32],
    lda: usize,
    panel: &[f32],
    bias: &Columns,
    ahead: Ahead,
    out: &mut TileF32,
) {
    let k = panel.len() / COLS;
    assert!(R <= ROWS && rows_fit(a.len(), R, lda, k));
    // SAFETY: there are COLS = 32 biases, two registers of 16.
    let start = unsafe { [_mm512_loadu_ps(bias.as_ptr()), _mm512_loadu_ps(bias.as_ptr().add(16))] };
    let mut acc = [start; R];
    let (a, b) = (a.as_ptr(), panel.as_ptr());
    for p in 0..k {
        // SAFETY: by the assertion above, row r < R of the left side has k numbers; the panel has
        // k rows of COLS. A hint may name any address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(ahead.from.wrapping_add(p * ahead.stride).cast());
            let b0 = _mm512_loadu_ps(b.add(p * COLS));
            let b1 = _mm512_loadu_ps(b.add(p * COLS + 16));
            for (r, acc) in acc.iter_mut().enumerate() {
                let v = _mm512_set1_ps(*a.add(r * lda + p));
                acc[0] = _mm512_fmadd_ps(v, b0, acc[0]);
                acc[1] = _mm512_fmadd_ps(v, b1, acc[1]);
            }
        }
    }
    for (out, acc) in out.iter_mut().zip(&acc) {
        // SAFETY: a row of a tile has COLS = 32 numbers.
        unsafe {
            _mm512_storeu_ps(out.as_mut_ptr(), acc[0]);
            _mm512_storeu_ps(out.as_mut_ptr().add(16), acc[1]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
pub(super) fn i8_avx512(
    a: QuantisedRows<'_>,
    rows: usize,
    panel: &PanelI8<'_>,
    ahead: Ahead,
    out: &mut TileF32,
) {
    by_rows!(rows, i8_avx512_rows(a, panel, ahead, out), [1 2 3 4 5 6 7 8 9 10 11 12])
}

#[expect(unsafe_code, reason = "reads and writes whole registers through pointers")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn i8_avx512_rows<const R: usize>(
    rows: QuantisedRows<'_>,
    panel: &PanelI8<'_>,
    ahead: Ahead,
    out: &mut TileF32,
) {
    let (lda, steps) = (rows.stride, panel.steps);
    assert!(panel.data.len() / (4 * COLS) >= steps);
    assert!(R <= ROWS && rows_fit(rows.q.len(), R, lda, 4 * steps));
    let mut acc = [[_mm512_setzero_si512(); 2]; R];
    let (a, b) = (rows.q.as_ptr(), panel.data.as_ptr());
    for p in 0..steps {
        // SAFETY: by the assertions above, row r < R of the left side has four bytes for each step
        // p < steps, and the panel 4 * COLS. A hint may name any address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(ahead.from.wrapping_add(p * ahead.stride).cast());
            let b0 = _mm512_loadu_si512(b.add(p * COLS * 4).cast());
            let b1 = _mm512_loadu_si512(b.add(p * COLS * 4 + 64).cast());
            for (r, acc) in acc.iter_mut().enumerate() {
                let v = _mm512_set1_epi32(a.add(r * lda + 4 * p).cast::<i32>().read_unaligned());
                acc[0] = _mm512_dpbusd_epi32(acc[0], v, b0);
                acc[1] = _mm512_dpbusd_epi32(acc[1], v, b1);
            }
        }
    }
    for half in 0..2 {
        // SAFETY: columns and rows of a tile have COLS = 32 numbers, of which a half is 16.
        unsafe {
            let scales = _mm512_loadu_ps(panel.scales.as_ptr().add(16 * half));
            let offsets = _mm512_loadu_ps(panel.offsets.as_ptr().add(16 * half));
            let bias = _mm512_loadu_ps(panel.bias.as_ptr().add(16 * half));
            for (r, acc) in acc.iter().enumerate() {
                let (scale, minimum) =
                    (_mm512_set1_ps(rows.scale[r]), _mm512_set1_ps(rows.minimum[r]));
                let product =
                    _mm512_mul_ps(_mm512_cvtepi32_ps(acc[half]), _mm512_mul_ps(scale, scales));
                let constant = _mm512_add_ps(_mm512_mul_ps(minimum, offsets), bias);
                _mm512_storeu_ps(
                    out[r].as_mut_ptr().add(16 * half),
                    _mm512_add_ps(product, constant),
                );
            }
        }
    }
}

/// The rows and columns of the sub-tiles that fit into the sixteen registers of AVX2.
const ROWS_AVX2: usize = 6;
const COLS_AVX2: usize = 16;

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn f32_avx2(
    a: &[f32],
    lda: usize,
    rows: usize,
    panel: &[f32],
    bias: &Columns,
    out: &mut TileF32,
) {
    for first in (0..rows).step_by(ROWS_AVX2) {
        let (a, out) = (&a[first * lda..], &mut out[first..]);
        for col in [0, COLS_AVX2] {
            by_rows!(
                (rows - first).min(ROWS_AVX2),
                f32_avx2_rows(a, lda, panel, bias, col, out),
                [1 2 3 4 5 6]
            )
        }
    }
}

#[expect(unsafe_code, reason = "reads and writes whole registers through pointers")]
#[target_feature(enable = "avx2,fma")]
fn f32_avx2_rows<const R: usize>(
    a: &[f32],
    lda: usize,
    panel: &[f32],
    bias: &Columns,
    col: usize,
    out: &mut [Columns],
) {
    let k = panel.len() / COLS;
    assert!(rows_fit(a.len(), R, lda, k) && col + COLS_AVX2 <= COLS);
    let start = &bias[col..col + COLS_AVX2];
    // SAFETY: the slice has 16 numbers.
    let start =
        unsafe { [_mm256_loadu_ps(start.as_ptr()), _mm256_loadu_ps(start.as_ptr().add(8))] };
    let mut acc = [start; R];
    let (a, b) = (a.as_ptr(), panel.as_ptr());
    for p in 0..k {
        // SAFETY: by the assertion above, row r < R of the left side has k numbers; the panel has
        // k rows of COLS.
        unsafe {
            let b0 = _mm256_loadu_ps(b.add(p * COLS + col));
            let b1 = _mm256_loadu_ps(b.add(p * COLS + col + 8));
            for (r, acc) in acc.iter_mut().enumerate() {
                let v = _mm256_set1_ps(*a.add(r * lda + p));
                acc[0] = _mm256_fmadd_ps(v, b0, acc[0]);
                acc[1] = _mm256_fmadd_ps(v, b1, acc[1]);
            }
        }
    }
    for (out, acc) in out.iter_mut().zip(&acc) {
        let out = &mut out[col..col + COLS_AVX2];
        // SAFETY: the slice has 16 numbers.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), acc[0]);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), acc[1]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn i8_avx2(a: QuantisedRows<'_>, rows: usize, panel: &PanelI8<'_>, out: &mut TileF32) {
    for first in (0..rows).step_by(4) {
        let (a, out) = (a.from(first), &mut out[first..]);
        for col in [0, COLS_AVX2] {
            by_rows!((rows - first).min(4), i8_avx2_rows(a, panel, col, out), [1 2 3 4])
        }
    }
}

/// `vpmaddubsw` saturates at 16 bits. The left side is therefore moved to -128..=127, and its sign
/// is given to the weights: the sum of two products of at most 128 * 127 stays below 32,768, so
/// that every sum is exact. The move is undone with the sums of the columns, and the result is that
/// of `vpdpbusd` to the bit.
#[expect(unsafe_code, reason = "reads and writes whole registers through pointers")]
#[target_feature(enable = "avx2,fma")]
fn i8_avx2_rows<const R: usize>(
    rows: QuantisedRows<'_>,
    panel: &PanelI8<'_>,
    col: usize,
    out: &mut [Columns],
) {
    let (lda, steps) = (rows.stride, panel.steps);
    assert!(panel.data.len() / (4 * COLS) >= steps);
    assert!(rows_fit(rows.q.len(), R, lda, 4 * steps) && col + COLS_AVX2 <= COLS);
    let mut acc = [[_mm256_setzero_si256(); 2]; R];
    let (a, b) = (rows.q.as_ptr(), panel.data.as_ptr());
    let (ones, middle) = (_mm256_set1_epi16(1), _mm256_set1_epi8(-128));
    for p in 0..steps {
        // SAFETY: by the assertions above, row r < R of the left side has four bytes for each step
        // p < steps, and the panel 4 * COLS, of which 64 from `col` on are read.
        unsafe {
            let b0 = _mm256_loadu_si256(b.add((p * COLS + col) * 4).cast());
            let b1 = _mm256_loadu_si256(b.add((p * COLS + col) * 4 + 32).cast());
            for (r, acc) in acc.iter_mut().enumerate() {
                let v = _mm256_set1_epi32(a.add(r * lda + 4 * p).cast::<i32>().read_unaligned());
                let v = _mm256_xor_si256(v, middle);
                let size = _mm256_abs_epi8(v);
                let s0 = _mm256_maddubs_epi16(size, _mm256_sign_epi8(b0, v));
                let s1 = _mm256_maddubs_epi16(size, _mm256_sign_epi8(b1, v));
                acc[0] = _mm256_add_epi32(acc[0], _mm256_madd_epi16(s0, ones));
                acc[1] = _mm256_add_epi32(acc[1], _mm256_madd_epi16(s1, ones));
            }
        }
    }
    for half in 0..2 {
        let at = col + 8 * half;
        // SAFETY: columns and rows of a tile have COLS = 32 numbers, and at + 8 is at most
        // col + 16, which the assertion above compares with COLS.
        unsafe {
            let shift =
                _mm256_slli_epi32(_mm256_loadu_si256(panel.sums.as_ptr().add(at).cast()), 7);
            let scales = _mm256_loadu_ps(panel.scales.as_ptr().add(at));
            let offsets = _mm256_loadu_ps(panel.offsets.as_ptr().add(at));
            let bias = _mm256_loadu_ps(panel.bias.as_ptr().add(at));
            for (r, acc) in acc.iter().enumerate() {
                let (scale, minimum) =
                    (_mm256_set1_ps(rows.scale[r]), _mm256_set1_ps(rows.minimum[r]));
                let sum = _mm256_cvtepi32_ps(_mm256_add_epi32(acc[half], shift));
                let product = _mm256_mul_ps(sum, _mm256_mul_ps(scale, scales));
                let constant = _mm256_add_ps(_mm256_mul_ps(minimum, offsets), bias);
                _mm256_storeu_ps(out[r].as_mut_ptr().add(at), _mm256_add_ps(product, constant));
            }
        }
    }
}
