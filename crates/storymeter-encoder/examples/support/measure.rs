//! What a processor can do at most, and what the products of this crate do: work of known size.
//!
//! The peak is that of multiply-adds between registers, in so many independent chains that no
//! result is waited for: no product can be faster.

use crate::kernel::aligned::Aligned;
use crate::kernel::gemm::{SidesF32, gemm_f32, gemm_i8, pack_columns, packed_len};
use crate::kernel::quantised::{PackedI8, RowBuffer};
use crate::kernel::steps::Store;
use crate::kernel::{Activation, Isa, Level};
use std::hint::black_box;

/// Work that can be repeated.
pub trait Work: Send {
    /// Does it once.
    fn run(&mut self);

    /// The number of multiplications and additions of one run.
    fn operations(&self) -> f64;
}

/// A multiplication and an addition.
const MULTIPLY_ADD: f64 = 2.0;

/// How often a chain of [`Peak`] goes round.
const ROUNDS: usize = 4096;

/// Multiply-adds between registers, in f32 or int8.
pub struct Peak {
    isa: Isa,
    int8: bool,
}

impl Peak {
    /// The peak at the level of `isa`; `None` if that level has no instruction of its own for it.
    pub fn new(isa: Isa, int8: bool) -> Option<Peak> {
        let peak = Peak { isa, int8 };
        (peak.lanes() > 0).then_some(peak)
    }

    /// How many multiply-adds one step of all chains is.
    fn lanes(&self) -> usize {
        match self.isa.level() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => chains::COUNT_AVX512 * if self.int8 { 64 } else { 16 },
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if !self.int8 => chains::COUNT_AVX2 * 8,
            _ => 0,
        }
    }
}

impl Work for Peak {
    #[cfg_attr(
        target_arch = "x86_64",
        expect(unsafe_code, reason = "calls functions for instructions that were found")
    )]
    fn run(&mut self) {
        match (self.isa.level(), self.int8) {
            // SAFETY: an `Isa` of this level exists only if the processor has AVX-512 VNNI and FMA.
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, true) => unsafe { chains::i8_avx512(ROUNDS) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, false) => unsafe { chains::f32_avx512(ROUNDS) },
            // SAFETY: an `Isa` of this level exists only if the processor has AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2, false) => unsafe { chains::f32_avx2(ROUNDS) },
            _ => {}
        }
    }

    fn operations(&self) -> f64 {
        (self.lanes() * ROUNDS) as f64 * MULTIPLY_ADD
    }
}

#[cfg(target_arch = "x86_64")]
mod chains {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    /// As many chains as a tile has registers for sums.
    pub(super) const COUNT_AVX512: usize = 24;
    pub(super) const COUNT_AVX2: usize = 12;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
    pub(super) fn i8_avx512(rounds: usize) {
        let (a, b) = (black_box(_mm512_set1_epi8(1)), black_box(_mm512_set1_epi8(-1)));
        let mut sums = [_mm512_setzero_si512(); COUNT_AVX512];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = _mm512_dpbusd_epi32(*sum, a, b);
            }
        }
        black_box(sums);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
    pub(super) fn f32_avx512(rounds: usize) {
        let (a, b) = (black_box(_mm512_set1_ps(0.9)), black_box(_mm512_set1_ps(0.1)));
        let mut sums = [_mm512_setzero_ps(); COUNT_AVX512];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(a, b, *sum);
            }
        }
        black_box(sums);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn f32_avx2(rounds: usize) {
        let (a, b) = (black_box(_mm256_set1_ps(0.9)), black_box(_mm256_set1_ps(0.1)));
        let mut sums = [_mm256_setzero_ps(); COUNT_AVX2];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(a, b, *sum);
            }
        }
        black_box(sums);
    }
}

/// The size of a product, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The rows of the left side: tokens.
    pub m: usize,
    /// The columns of the left side: inputs.
    pub k: usize,
    /// The columns of the right side: outputs.
    pub n: usize,
    /// The function that the results go through.
    pub activation: Option<Activation>,
    /// How many right sides take turns. With many of them, each comes from memory and not from a
    /// cache, as in a model with many layers.
    pub rights: usize,
}

/// Numbers between -1 and 1 without a visible order.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0)
        .collect()
}

/// A product with a bias in f32, from rows in memory to rows in memory.
pub struct ProductF32 {
    isa: Isa,
    shape: Shape,
    a: Vec<f32>,
    b: Vec<Aligned<f32>>,
    bias: Vec<f32>,
    out: Aligned<f32>,
}

impl ProductF32 {
    /// A product of this shape.
    pub fn new(isa: Isa, shape: Shape) -> ProductF32 {
        let Shape { m, k, n, .. } = shape;
        let mut b = Aligned::zeros(packed_len(k, n));
        pack_columns(&numbers(k * n), k, k, n, &mut b);
        let b = (0..shape.rights).map(|_| Aligned::from(&*b)).collect();
        let out = Aligned::zeros(m * n);
        ProductF32 { isa, shape, a: numbers(m * k), b, bias: numbers(n), out }
    }
}

impl Work for ProductF32 {
    fn run(&mut self) {
        let Shape { m, k, n, activation, .. } = self.shape;
        self.b.rotate_left(1);
        let sides = SidesF32 { a: &self.a, lda: k, m, k, n, b: &self.b[0], bias: &self.bias };
        gemm_f32(self.isa, sides, &mut Store { out: &mut self.out, stride: n, activation });
        black_box(&self.out);
    }

    fn operations(&self) -> f64 {
        (self.shape.m * self.shape.k * self.shape.n) as f64 * MULTIPLY_ADD
    }
}

/// A product with a bias in int8, from rows of f32 to rows of f32.
pub struct ProductI8 {
    isa: Isa,
    shape: Shape,
    /// Whether the left side is quantised anew in every run.
    quantise: bool,
    a: Vec<f32>,
    rows: RowBuffer,
    b: Vec<PackedI8>,
    bias: Vec<f32>,
    out: Aligned<f32>,
}

impl ProductI8 {
    /// A product of this shape. With `quantise`, the time to quantise the rows of the left side is
    /// measured too.
    pub fn new(isa: Isa, shape: Shape, quantise: bool) -> ProductI8 {
        let Shape { m, k, n, .. } = shape;
        let (a, mut rows) = (numbers(m * k), RowBuffer::default());
        rows.quantise(isa, &a, (k, 1), m, k);
        let weights = numbers(k * n);
        let b = (0..shape.rights).map(|_| PackedI8::pack(&weights, n, k)).collect();
        let out = Aligned::zeros(m * n);
        ProductI8 { isa, shape, quantise, a, rows, b, bias: numbers(n), out }
    }
}

impl Work for ProductI8 {
    fn run(&mut self) {
        let Shape { m, k, n, activation, .. } = self.shape;
        self.b.rotate_left(1);
        let rows = if self.quantise {
            self.rows.quantise(self.isa, &self.a, (k, 1), m, k)
        } else {
            self.rows.rows(k)
        };
        let mut store = Store { out: &mut self.out, stride: n, activation };
        gemm_i8(self.isa, rows, m, self.b[0].right(), &self.bias, &mut store);
        black_box(&self.out);
    }

    fn operations(&self) -> f64 {
        (self.shape.m * self.shape.k * self.shape.n) as f64 * MULTIPLY_ADD
    }
}
