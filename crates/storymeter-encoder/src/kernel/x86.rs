//! The inner loops of the matrix products with AVX2 and AVX-512 VNNI.
//!
//! One of the two modules with `unsafe` code. A call computes one tile: up to [`ROWS`] rows of the left side times one
//! packed panel of [`COLS`] columns, each element one unbroken chain of multiply-adds along `k`. So an element's
//! bytes depend on its row and column alone, never on how many rows the call has.
#![allow(unsafe_code)]

use super::gemm::{COLS, ROWS, TileF32, TileI32};
use std::arch::x86_64::*;

/// Calls `$f::<R>` for the number of rows at hand.
macro_rules! by_rows {
    ($rows:expr, $f:ident $args:tt, [$($n:literal)*]) => {
        match $rows { $($n => $f::<$n>$args,)* _ => unreachable!("a tile has 1 to ROWS rows") }
    };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
pub(super) fn f32_avx512(a: &[f32], lda: usize, rows: usize, panel: &[f32], k: usize, out: &mut TileF32) {
    by_rows!(rows, f32_avx512_rows(a, lda, panel, k, out), [1 2 3 4 5 6 7 8 9 10 11 12])
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn f32_avx512_rows<const R: usize>(a: &[f32], lda: usize, panel: &[f32], k: usize, out: &mut TileF32) {
    assert!(R <= ROWS && a.len() >= (R - 1) * lda + k && panel.len() >= k * COLS);
    let mut acc = [[_mm512_setzero_ps(); 2]; R];
    let (a, b) = (a.as_ptr(), panel.as_ptr());
    for p in 0..k {
        // SAFETY: the assertion above bounds every row r < R and step p < k of both sides.
        unsafe {
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
        // SAFETY: a tile row has COLS = 32 elements.
        unsafe {
            _mm512_storeu_ps(out.as_mut_ptr(), acc[0]);
            _mm512_storeu_ps(out.as_mut_ptr().add(16), acc[1]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
pub(super) fn i8_avx512(a: &[u8], lda: usize, rows: usize, panel: &[i8], steps: usize, out: &mut TileI32) {
    by_rows!(rows, i8_avx512_rows(a, lda, panel, steps, out), [1 2 3 4 5 6 7 8 9 10 11 12])
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn i8_avx512_rows<const R: usize>(a: &[u8], lda: usize, panel: &[i8], steps: usize, out: &mut TileI32) {
    assert!(R <= ROWS && a.len() >= (R - 1) * lda + 4 * steps && panel.len() >= steps * COLS * 4);
    let mut acc = [[_mm512_setzero_si512(); 2]; R];
    let (a, b) = (a.as_ptr(), panel.as_ptr());
    for p in 0..steps {
        // SAFETY: the assertion above bounds every row r < R and step p < steps of both sides.
        unsafe {
            let b0 = _mm512_loadu_si512(b.add(p * COLS * 4).cast());
            let b1 = _mm512_loadu_si512(b.add(p * COLS * 4 + 64).cast());
            for (r, acc) in acc.iter_mut().enumerate() {
                let v = _mm512_set1_epi32(a.add(r * lda + 4 * p).cast::<i32>().read_unaligned());
                acc[0] = _mm512_dpbusd_epi32(acc[0], v, b0);
                acc[1] = _mm512_dpbusd_epi32(acc[1], v, b1);
            }
        }
    }
    for (out, acc) in out.iter_mut().zip(&acc) {
        // SAFETY: a tile row has COLS = 32 elements.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().cast(), acc[0]);
            _mm512_storeu_si512(out.as_mut_ptr().add(16).cast(), acc[1]);
        }
    }
}

/// Rows and columns of the sub-tiles that fit the sixteen registers of AVX2.
const ROWS_AVX2: usize = 6;
const COLS_AVX2: usize = 16;

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn f32_avx2(a: &[f32], lda: usize, rows: usize, panel: &[f32], k: usize, out: &mut TileF32) {
    for first in (0..rows).step_by(ROWS_AVX2) {
        let (a, out) = (&a[first * lda..], &mut out[first..]);
        for col in [0, COLS_AVX2] {
            by_rows!((rows - first).min(ROWS_AVX2), f32_avx2_rows(a, lda, panel, col, k, out), [1 2 3 4 5 6])
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn f32_avx2_rows<const R: usize>(
    a: &[f32],
    lda: usize,
    panel: &[f32],
    col: usize,
    k: usize,
    out: &mut [[f32; COLS]],
) {
    assert!(a.len() >= (R - 1) * lda + k && panel.len() >= k * COLS && col + COLS_AVX2 <= COLS);
    let mut acc = [[_mm256_setzero_ps(); 2]; R];
    let (a, b) = (a.as_ptr(), panel.as_ptr());
    for p in 0..k {
        // SAFETY: the assertion above bounds every row r < R and step p < k of both sides.
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
        // SAFETY: the slice above has 16 elements.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), acc[0]);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), acc[1]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn i8_avx2(
    a: &[u8],
    lda: usize,
    rows: usize,
    panel: &[i8],
    sums: &[i32],
    steps: usize,
    out: &mut TileI32,
) {
    for first in (0..rows).step_by(4) {
        let (a, out) = (&a[first * lda..], &mut out[first..]);
        for col in [0, COLS_AVX2] {
            by_rows!((rows - first).min(4), i8_avx2_rows(a, lda, panel, sums, col, steps, out), [1 2 3 4])
        }
    }
}

/// `vpmaddubsw` saturates at 16 bits, so the left side is moved to -128..=127 and its sign given to the weights:
/// two products of at most 128 * 127 stay below 32,768 and every sum is exact. The move is undone with the
/// columns' sums, and the result is the one of `vpdpbusd` to the bit.
#[target_feature(enable = "avx2,fma")]
fn i8_avx2_rows<const R: usize>(
    a: &[u8],
    lda: usize,
    panel: &[i8],
    sums: &[i32],
    col: usize,
    steps: usize,
    out: &mut [[i32; COLS]],
) {
    assert!(a.len() >= (R - 1) * lda + 4 * steps && panel.len() >= steps * COLS * 4);
    assert!(col + COLS_AVX2 <= COLS && sums.len() >= COLS);
    let mut acc = [[_mm256_setzero_si256(); 2]; R];
    let (a, b) = (a.as_ptr(), panel.as_ptr());
    let (ones, middle) = (_mm256_set1_epi16(1), _mm256_set1_epi8(-128));
    for p in 0..steps {
        // SAFETY: the assertions above bound every row r < R and step p < steps of both sides.
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
    for (out, acc) in out.iter_mut().zip(&acc) {
        let (out, sums) = (&mut out[col..col + COLS_AVX2], &sums[col..col + COLS_AVX2]);
        // SAFETY: both slices above have 16 elements.
        unsafe {
            for (half, acc) in acc.iter().enumerate() {
                let shift = _mm256_slli_epi32(_mm256_loadu_si256(sums.as_ptr().add(8 * half).cast()), 7);
                let sum = _mm256_add_epi32(*acc, shift);
                _mm256_storeu_si256(out.as_mut_ptr().add(8 * half).cast(), sum);
            }
        }
    }
}
