//! Matrix products over packed right-hand sides, tile by tile, with the next step of the network
//! fused to each tile.
//!
//! The right side is packed once into panels of [`COLS`] columns, in the same layout for every
//! instruction level. The left side is read where it lies. Every element of the result is one chain
//! along `k` in a fixed order, so that the bytes of a row do not depend on the rows around it:
//! scores are the same for any batch and any number of threads.

use super::aligned::{Aligned, ReusedBuffer};
use super::quantised::{QuantisedRows, RightI8};
use super::{Isa, Level};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// The rows of a tile.
pub(crate) const ROWS: usize = 12;
/// The columns of a tile and of a packed panel.
pub(crate) const COLS: usize = 32;

/// A tile of the product. It begins at a cache line, so that no register is written to two of them.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct TileF32([Columns; ROWS]);

impl Deref for TileF32 {
    type Target = [Columns; ROWS];

    #[inline(always)]
    fn deref(&self) -> &[Columns; ROWS] {
        &self.0
    }
}

impl DerefMut for TileF32 {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Columns; ROWS] {
        &mut self.0
    }
}

/// One number for each column of a panel.
pub(crate) type Columns = [f32; COLS];

/// What is done with a finished tile.
pub(crate) trait Epilogue {
    /// Where the tile at `row` and `col` is written: to `spare`, unless the epilogue has a place
    /// for it.
    #[inline(always)]
    fn place<'t>(
        &'t mut self,
        _row: usize,
        _col: usize,
        spare: &'t mut TileF32,
    ) -> &'t mut TileF32 {
        spare
    }

    /// Takes rows `row..row + rows` and columns `col..col + cols` of the product.
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32);
}

/// How many numbers a packed right side of `k` rows and `n` columns has.
pub(crate) fn packed_len(k: usize, n: usize) -> usize {
    n.div_ceil(COLS) * COLS * k
}

/// Packs the `k` x `n` matrix whose element (p, j) is `b[p * ldb + j]`.
pub(crate) fn pack_rows(b: &[f32], ldb: usize, k: usize, n: usize, out: &mut [f32]) {
    for (panel, out) in out[..packed_len(k, n)].chunks_exact_mut(k * COLS).enumerate() {
        let (col, cols) = (panel * COLS, COLS.min(n - panel * COLS));
        for (p, out) in out.chunks_exact_mut(COLS).enumerate() {
            out[..cols].copy_from_slice(&b[p * ldb + col..][..cols]);
            out[cols..].fill(0.0);
        }
    }
}

/// Packs the transpose: the `k` x `n` matrix whose element (p, j) is `b[j * ldb + p]`.
pub(crate) fn pack_columns(b: &[f32], ldb: usize, k: usize, n: usize, out: &mut [f32]) {
    for (panel, out) in out[..packed_len(k, n)].chunks_exact_mut(k * COLS).enumerate() {
        let (col, cols) = (panel * COLS, COLS.min(n - panel * COLS));
        if cols < COLS {
            out.fill(0.0);
        }
        // Sixteen steps at a time: the cache lines that are written stay in the first cache while
        // all columns are read.
        for first in (0..k).step_by(16) {
            let last = (first + 16).min(k);
            for j in 0..cols {
                let column = &b[(col + j) * ldb..][first..last];
                for (out, &v) in out[first * COLS..].chunks_exact_mut(COLS).zip(column) {
                    out[j] = v;
                }
            }
        }
    }
}

/// One panel of quantised weights.
///
/// For the integer `sum`, the product of quantised row `r` with column `j` is
///
/// ```text
/// sum * (scale[r] * scales[j]) + (minimum[r] * offsets[j] + bias[j])
/// ```
///
/// in this order of operations and without fused multiply-adds, so that every instruction level
/// gives the same bytes.
pub(crate) struct PanelI8<'a> {
    pub(crate) data: &'a [i8],
    pub(crate) steps: usize,
    pub(crate) sums: &'a [i32; COLS],
    pub(crate) scales: &'a Columns,
    pub(crate) offsets: &'a Columns,
    pub(crate) bias: Columns,
}

/// What a tile asks the memory for while it is computed: its share of the next panel.
///
/// A model is larger than the caches, so that the first tile of each panel would otherwise wait for
/// the memory.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    /// Where the share begins.
    pub(super) from: *const u8,
    /// How many bytes of it belong to each step along `k`, which is [`STEP_BYTES`] of this panel.
    pub(super) stride: usize,
}

/// See [`Ahead::of`].
const FEW_TILES: usize = 4;
const FIRST_CACHE: usize = 32 << 10;

/// The bytes of a panel that a step along `k` reads.
pub(super) const STEP_BYTES: usize = 4 * COLS;

impl Ahead {
    /// For the tile at `row` of `m` rows. The next panel follows `panel`. (After the last one lies
    /// something else or nothing: asking for it does no harm.)
    ///
    /// For few tiles there is no time to ask in. Panels that do not fit into the first cache are
    /// read along by every tile, which the processor foresees by itself. Then nothing new is asked
    /// for.
    #[inline(always)]
    fn of<T>(panel: &[T], row: usize, m: usize) -> Ahead {
        let (bytes, tiles) = (size_of_val(panel), m.div_ceil(ROWS));
        let from = panel.as_ptr().cast::<u8>();
        if tiles < FEW_TILES || bytes > FIRST_CACHE {
            return Ahead { from, stride: 0 };
        }
        let stride = STEP_BYTES.div_ceil(tiles);
        let first = row / ROWS * (bytes / STEP_BYTES) * stride;
        Ahead { from: from.wrapping_add(bytes + first), stride }
    }
}

/// The biases of the columns of a panel, or zeros if there are none.
#[inline(always)]
fn columns(bias: &[f32], col: usize, n: usize) -> Columns {
    let mut columns = [0.0; COLS];
    if !bias.is_empty() {
        let cols = COLS.min(n - col);
        columns[..cols].copy_from_slice(&bias[col..][..cols]);
    }
    columns
}

/// Both sides of a product in f32: `m` rows of `a` (with stride `lda`), a packed right side of `k`
/// x `n`, and the bias of each column (or none), from which each sum starts.
#[derive(Clone, Copy)]
pub(crate) struct SidesF32<'a> {
    pub(crate) a: &'a [f32],
    pub(crate) lda: usize,
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) b: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// Whether `rows` rows of `width` numbers, `stride` numbers apart, are within `len` numbers. What
/// the kernels that read through pointers rest on.
#[inline(always)]
pub(super) fn rows_fit(len: usize, rows: usize, stride: usize, width: usize) -> bool {
    let last = rows.checked_sub(1).and_then(|before| before.checked_mul(stride));
    last.and_then(|last| last.checked_add(width)).is_some_and(|end| end <= len)
}

/// Rows that are this many bytes apart, or a multiple of it, share the same few places of the first
/// cache, and those of one tile would drive each other out.
const CACHE_WAY: usize = 4096;

thread_local! {
    /// A left side whose rows are further apart.
    static SPREAD: RefCell<Aligned<f32>> = RefCell::default();
}

/// `a * b + bias`.
pub(crate) fn gemm_f32<E: Epilogue>(isa: Isa, sides: SidesF32<'_>, epilogue: &mut E) {
    let SidesF32 { a, lda, m, k, n, .. } = sides;
    // For few rows or columns, copying would take longer than it saves.
    if !(lda * size_of::<f32>()).is_multiple_of(CACHE_WAY) || m < ROWS || n < 4 * COLS {
        return gemm_f32_in_place(isa, sides, epilogue);
    }
    SPREAD.with_borrow_mut(|spread| {
        // One cache line more: the rows of a tile then begin at different places.
        let apart = k.next_multiple_of(16) + 16;
        let spread = spread.room(m * apart);
        for (to, from) in spread.chunks_exact_mut(apart).zip(a.chunks(lda)) {
            to[..k].copy_from_slice(&from[..k]);
        }
        gemm_f32_in_place(isa, SidesF32 { a: spread, lda: apart, ..sides }, epilogue);
    });
}

/// The same, with the left side where it is.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls functions for instructions that were found")
)]
fn gemm_f32_in_place<E: Epilogue>(isa: Isa, sides: SidesF32<'_>, epilogue: &mut E) {
    #[inline(always)]
    fn drive<E: Epilogue>(
        SidesF32 { a, lda, m, k, n, b, bias }: SidesF32<'_>,
        epilogue: &mut E,
        product: impl Fn(&[f32], usize, usize, &[f32], &Columns, Ahead, &mut TileF32),
    ) {
        let mut tile = TileF32::default();
        let panels = b[..packed_len(k, n)].chunks_exact(k * COLS);
        for (panel, b) in panels.enumerate() {
            let col = panel * COLS;
            let bias = columns(bias, col, n);
            for row in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - row);
                let ahead = Ahead::of(b, row, m);
                let out = epilogue.place(row, col, &mut tile);
                product(&a[row * lda..], lda, rows, b, &bias, ahead, out);
                epilogue.tile(row, rows, col, COLS.min(n - col), &mut tile);
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
    fn avx512<E: Epilogue>(sides: SidesF32<'_>, epilogue: &mut E) {
        drive(sides, epilogue, |a, lda, rows, b, bias, ahead, out| {
            super::x86::f32_avx512(a, lda, rows, b, bias, ahead, out)
        });
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2<E: Epilogue>(sides: SidesF32<'_>, epilogue: &mut E) {
        drive(sides, epilogue, |a, lda, rows, b, bias, _, out| {
            super::x86::f32_avx2(a, lda, rows, b, bias, out)
        });
    }
    match isa.level() {
        // SAFETY: an `Isa` of this level exists only if the processor has AVX-512 VNNI and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(sides, epilogue) },
        // SAFETY: an `Isa` of this level exists only if the processor has AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(sides, epilogue) },
        _ => drive(sides, epilogue, |a, lda, rows, b, bias, _, out| {
            super::portable::f32_tile(a, lda, rows, b, bias, out)
        }),
    }
}

/// `a * b + bias` for `m` quantised rows and quantised weights.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls functions for instructions that were found")
)]
pub(crate) fn gemm_i8<E: Epilogue>(
    isa: Isa,
    a: QuantisedRows<'_>,
    m: usize,
    b: RightI8<'_>,
    bias: &[f32],
    epilogue: &mut E,
) {
    type Sides<'a> = (QuantisedRows<'a>, usize, RightI8<'a>, &'a [f32]);
    #[inline(always)]
    fn drive<E: Epilogue>(
        (a, m, b, bias): Sides<'_>,
        epilogue: &mut E,
        product: impl Fn(QuantisedRows<'_>, usize, &PanelI8<'_>, Ahead, &mut TileF32),
    ) {
        let steps = b.k.div_ceil(4);
        let mut tile = TileF32::default();
        for (panel, data) in b.data.chunks_exact(steps * COLS * 4).enumerate() {
            let col = panel * COLS;
            let panel = PanelI8 {
                data,
                steps,
                sums: b.sums[col..].first_chunk().expect("padded to whole panels"),
                scales: b.scales[col..].first_chunk().expect("padded to whole panels"),
                offsets: b.offsets[col..].first_chunk().expect("padded to whole panels"),
                bias: columns(bias, col, b.n),
            };
            for row in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - row);
                let ahead = Ahead::of(data, row, m);
                product(a.from(row), rows, &panel, ahead, epilogue.place(row, col, &mut tile));
                epilogue.tile(row, rows, col, COLS.min(b.n - col), &mut tile);
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
    fn avx512<E: Epilogue>(sides: Sides<'_>, epilogue: &mut E) {
        drive(sides, epilogue, |a, rows, panel, ahead, out| {
            super::x86::i8_avx512(a, rows, panel, ahead, out)
        });
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2<E: Epilogue>(sides: Sides<'_>, epilogue: &mut E) {
        drive(sides, epilogue, |a, rows, panel, _, out| super::x86::i8_avx2(a, rows, panel, out));
    }
    let sides = (a, m, b, bias);
    match isa.level() {
        // SAFETY: an `Isa` of this level exists only if the processor has AVX-512 VNNI and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(sides, epilogue) },
        // SAFETY: an `Isa` of this level exists only if the processor has AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(sides, epilogue) },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => drive(sides, epilogue, |a, rows, panel, _, out| {
            super::neon::i8_tile(a, rows, panel, out)
        }),
        _ => drive(sides, epilogue, |a, rows, panel, _, out| {
            super::portable::i8_tile(a, rows, panel, out)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::quantised::{PackedI8, RowBuffer};
    use super::super::steps::Store;
    use super::*;

    /// Numbers between -1 and 1 that look random.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    const SHAPES: [(usize, usize, usize); 7] = [
        (1, 1, 1),
        (12, 32, 32),
        (13, 33, 31),
        (5, 7, 65),
        (25, 70, 36),
        (3, 384, 96),
        (13, 1024, 130),
    ];

    #[test]
    fn products_in_f32_are_right_on_every_level_and_for_both_ways_of_packing() {
        for (m, k, n) in SHAPES {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let transposed: Vec<f32> = (0..n * k).map(|i| b[i % k * n + i / k]).collect();
            for isa in Isa::available() {
                for by_columns in [false, true] {
                    let mut packed = vec![f32::NAN; packed_len(k, n)];
                    if by_columns {
                        pack_columns(&transposed, k, k, n, &mut packed);
                    } else {
                        pack_rows(&b, n, k, n, &mut packed);
                    }
                    let mut out = vec![f32::NAN; m * n];
                    let bias = numbers(n, 5);
                    let sides = SidesF32 { a: &a, lda: k, m, k, n, b: &packed, bias: &bias };
                    gemm_f32(isa, sides, &mut Store { out: &mut out, stride: n, activation: None });
                    for (place, &got) in out.iter().enumerate() {
                        let (i, j) = (place / n, place % n);
                        let exact: f64 =
                            (0..k).map(|p| f64::from(a[i * k + p]) * f64::from(b[p * n + j])).sum();
                        let error = (f64::from(got) - exact - f64::from(bias[j])).abs();
                        // Each of k roundings is at most half a unit in the last place of a sum of
                        // a few units.
                        let bound = 1e-6 + 1e-7 * k as f64;
                        assert!(
                            error < bound,
                            "{} {m}x{k}x{n} at {i},{j}: off by {error}",
                            isa.name()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn rows_fit_if_the_last_one_ends_in_time_and_nothing_overflows() {
        assert!(rows_fit(27, 3, 10, 7) && !rows_fit(26, 3, 10, 7));
        assert!(rows_fit(7, 1, usize::MAX, 7), "one row needs no stride");
        assert!(!rows_fit(usize::MAX, 3, usize::MAX, 7) && !rows_fit(100, 0, 10, 7));
    }

    #[test]
    #[should_panic(expected = "rows_fit")]
    #[cfg(target_arch = "x86_64")]
    fn a_left_side_that_is_too_short_panics_before_it_is_read() {
        let Some(isa) = Isa::named("avx2") else {
            panic!("rows_fit cannot be tested without AVX2")
        };
        let (k, packed) = (40, vec![0.0; packed_len(40, 32)]);
        let a = vec![0.0; 3 * k - 1];
        let sides = SidesF32 { a: &a, lda: k, m: 3, k, n: 32, b: &packed, bias: &[] };
        let mut out = vec![0.0; 3 * 32];
        gemm_f32(isa, sides, &mut Store { out: &mut out, stride: 32, activation: None });
    }

    #[test]
    fn products_in_int8_are_the_same_bytes_on_every_level_even_at_the_extremes() {
        for (m, k, n) in SHAPES {
            let (a, w) = (numbers(m * k, 3), numbers(n * k, 4));
            // All weights at one end and all activations at the other would overflow a careless
            // 16-bit sum.
            let extreme = (vec![1.0; m * k], vec![-1.0; n * k]);
            for (mut a, w) in [(a, w), extreme] {
                a[0] = 0.0;
                let (packed, bias) = (PackedI8::pack(&w, n, k), numbers(n, 6));
                let results: Vec<Vec<f32>> = Isa::available()
                    .into_iter()
                    .map(|isa| {
                        let mut buffer = RowBuffer::default();
                        let rows = buffer.quantise(isa, &a, (k, 1), m, k);
                        let mut out = vec![f32::NAN; m * n];
                        let mut store = Store { out: &mut out, stride: n, activation: None };
                        gemm_i8(isa, rows, m, packed.right(), &bias, &mut store);
                        out
                    })
                    .collect();
                for result in &results {
                    assert_eq!(result, &results[0], "{m}x{k}x{n}");
                }
                for (place, &got) in results[0].iter().enumerate() {
                    let (i, j) = (place / n, place % n);
                    let exact: f32 =
                        bias[j] + (0..k).map(|p| a[i * k + p] * w[j * k + p]).sum::<f32>();
                    // The worst case is half a step of 1/127 in each weight and of 2/255 in each
                    // activation, k times.
                    assert!(
                        (got - exact).abs() < 0.01 * k as f32,
                        "{m}x{k}x{n} at {i},{j}: {got} for {exact}"
                    );
                }
            }
        }
    }
}
