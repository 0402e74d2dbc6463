//! The steps between the matrix products: layer norm, activations and products with words.
//!
//! Every sum runs over sixteen interleaved partial sums, whatever the instruction level, so that
//! every level and every batch gives the same bytes.

use super::gemm::{COLS, Epilogue, TileF32};
use super::math::{self, Activation};
use super::vectorised;

/// The number of partial sums that are kept apart until the end.
pub(super) const LANES: usize = 16;

/// Folds a row into sixteen partial results, then these and the end of the row into one, in a fixed
/// order.
#[inline(always)]
pub(crate) fn fold(
    row: &[f32],
    start: f32,
    each: impl Fn(f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, &v) in lanes.iter_mut().zip(chunk) {
            *lane = each(*lane, v);
        }
    }
    rest.iter().fold(join_lanes(lanes, join), |sum, &v| each(sum, v))
}

/// Maps a row in place and folds the new numbers on the way, in the order of [`fold`].
#[inline(always)]
pub(super) fn map_fold(
    row: &mut [f32],
    map: impl Fn(f32) -> f32,
    start: f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let (whole, rest) = row.as_chunks_mut::<LANES>();
    for chunk in whole {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            *v = map(*v);
            *lane = join(*lane, *v);
        }
    }
    let mut total = join_lanes(lanes, &join);
    for v in rest {
        *v = map(*v);
        total = join(total, *v);
    }
    total
}

#[inline(always)]
pub(super) fn join_lanes(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = join(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
pub(crate) fn sum(row: &[f32]) -> f32 {
    fold(row, 0.0, |s, v| s + v, |a, b| a + b)
}

/// Comparisons instead of `f32::max`, whose care for NaN costs instructions. A NaN shows up in the
/// sums anyway.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The mean and `1 / sqrt(variance + eps)` of a row.
#[inline(always)]
pub(crate) fn moments(row: &[f32], eps: f32) -> (f32, f32) {
    let mean = sum(row) / row.len() as f32;
    let squares = fold(row, 0.0, |s, v| s + (v - mean) * (v - mean), |a, b| a + b);
    (mean, 1.0 / (squares / row.len() as f32 + eps).sqrt())
}

vectorised! {
    /// Replaces the rows of `x` by `norm(x + added) * gain + shift`. `added` may be empty.
    pub(crate) fn add_norm_rows(
        x: &mut [f32],
        added: &[f32],
        gain: &[f32],
        shift: &[f32],
        eps: f32,
    ) {
        let width = gain.len();
        for (r, row) in x.chunks_exact_mut(width).enumerate() {
            if !added.is_empty() {
                for (x, &a) in row.iter_mut().zip(&added[r * width..][..width]) {
                    *x += a;
                }
            }
            let (mean, scale) = moments(row, eps);
            for ((x, &g), &b) in row.iter_mut().zip(gain).zip(shift) {
                *x = (*x - mean) * scale * g + b;
            }
        }
    }
}

/// The number of states that are multiplied with a row together, so that a row is read once for all
/// of them.
pub(crate) const STATES: usize = 8;

vectorised! {
    /// The products of rows with [`STATES`] states of `width` numbers: for each row, one number per
    /// state.
    pub(crate) fn products_f32(
        rows: &[f32],
        width: usize,
        states: &[f32],
        out: &mut [[f32; STATES]],
    ) {
        for (row, out) in rows.chunks_exact(width).zip(out) {
            *out = products(row, states, |w| w);
        }
    }
}

vectorised! {
    /// The same for quantised rows, each of which has a scale of its own.
    pub(crate) fn products_i8(
        rows: &[i8],
        scales: &[f32],
        width: usize,
        states: &[f32],
        out: &mut [[f32; STATES]],
    ) {
        for ((row, scale), out) in rows.chunks_exact(width).zip(scales).zip(out) {
            *out = products(row, states, f32::from).map(|sum| scale * sum);
        }
    }
}

/// For each state sixteen interleaved partial sums, then their sum, then the end of the row, in a
/// fixed order.
#[inline(always)]
fn products<T: Copy>(row: &[T], states: &[f32], number: impl Fn(T) -> f32) -> [f32; STATES] {
    let width = row.len();
    let mut lanes = [[0f32; LANES]; STATES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for (place, chunk) in whole.iter().enumerate() {
        let numbers: [f32; LANES] = std::array::from_fn(|i| number(chunk[i]));
        for (s, lanes) in lanes.iter_mut().enumerate() {
            let Some(state) = states[s * width + place * LANES..].first_chunk::<LANES>() else {
                continue;
            };
            for ((lane, w), x) in lanes.iter_mut().zip(numbers).zip(state) {
                *lane += w * x;
            }
        }
    }
    let first = width - rest.len();
    std::array::from_fn(|s| {
        let state = &states[s * width + first..][..rest.len()];
        let sum = join_lanes(lanes[s], |a, b| a + b);
        rest.iter().zip(state).fold(sum, |sum, (w, x)| sum + number(*w) * x)
    })
}

/// Writes tiles into a matrix, through the activation if there is one.
pub(crate) struct Store<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
    pub(crate) activation: Option<Activation>,
}

impl Epilogue for Store<'_> {
    #[inline(always)]
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32) {
        if let Some(activation) = self.activation {
            activate(&mut tile.as_flattened_mut()[..rows * COLS], activation);
        }
        for (r, tile) in tile[..rows].iter().enumerate() {
            let out = &mut self.out[(row + r) * self.stride + col..];
            match out.first_chunk_mut::<COLS>().filter(|_| cols == COLS) {
                Some(out) => *out = *tile,
                None => out[..cols].copy_from_slice(&tile[..cols]),
            }
        }
    }
}

impl Activation {
    /// Applies the activation to every number.
    pub fn apply(self, numbers: &mut [f32]) {
        activate(numbers, self);
    }
}

/// Applies the activation to every number.
///
/// The loops are loops, and not `for_each`, which the compiler may compile on its own and without
/// the instructions of the function around it.
#[inline(always)]
pub(crate) fn activate(x: &mut [f32], activation: Activation) {
    match activation {
        Activation::GeluErf => {
            let (many, rest) = x.as_chunks_mut::<{ 4 * COLS }>();
            for x in many {
                *x = math::gelu_erf(x);
            }
            let (some, rest) = rest.as_chunks_mut::<COLS>();
            for x in some {
                *x = math::gelu_erf(x);
            }
            for x in rest {
                [*x] = math::gelu_erf(&[*x]);
            }
        }
        Activation::GeluTanh => {
            for x in x {
                *x = math::gelu_tanh(*x);
            }
        }
        Activation::Relu => {
            for x in x {
                *x = if *x > 0.0 { *x } else { 0.0 };
            }
        }
        Activation::Silu => {
            for x in x {
                *x = math::silu(*x);
            }
        }
        Activation::Tanh => {
            for x in x {
                *x = math::tanh(*x);
            }
        }
    }
}

/// Writes tiles into a matrix, with each row multiplied by a number of its own.
pub(crate) struct ScaleRows<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
    pub(crate) factors: &'a [f32],
}

impl Epilogue for ScaleRows<'_> {
    #[inline(always)]
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32) {
        for (r, tile) in tile[..rows].iter().enumerate() {
            let factor = self.factors[row + r];
            let out = &mut self.out[(row + r) * self.stride + col..][..cols];
            for (o, &v) in out.iter_mut().zip(tile) {
                *o = v * factor;
            }
        }
    }
}
