//! Numbers in eight bits: weights are packed once, activations as they come.
//!
//! The right side of a product is signed and has one scale per column. The left side is unsigned
//! and has one scale and one offset per row. Nothing here is fused into one rounding, so that every
//! instruction level gives the same bytes.

use super::aligned::{Aligned, ReusedBuffer, is_aligned};
use super::gemm::COLS;
use super::steps::{fold, larger, smaller};
use super::{Isa, vectorised};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Deref;

/// Adding this to a number below 2^22 leaves the nearest integer in its low bits, which avoids a
/// slow conversion.
const MAGIC: f32 = 12_582_912.0;

/// The integer that is nearest to a small number.
#[inline(always)]
pub(super) fn nearest(v: f32) -> i32 {
    ((v + MAGIC).to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32)
}

/// Makes a kept buffer at least `len` long, and returns that part of it.
pub(crate) fn room<B: ReusedBuffer>(buffer: &mut B, len: usize) -> &mut [B::Item] {
    buffer.room(len)
}

/// A quantised right side of `k` x `n`. It has one scale per column (output channel or key), panels
/// of four rows by [`COLS`] columns, and everything is padded to whole panels.
#[derive(Clone, Copy)]
pub(crate) struct RightI8<'a> {
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) data: &'a [i8],
    /// The sum of the quantised numbers of each column.
    pub(crate) sums: &'a [i32],
    /// What one step of the numbers of each column is worth.
    pub(crate) scales: &'a [f32],
    /// The sum of the quantised numbers of each column, times its scale.
    pub(crate) offsets: &'a [f32],
}

/// Quantised weights with one scale per output channel.
pub(crate) struct PackedI8 {
    k: usize,
    n: usize,
    data: Panels,
    sums: Vec<i32>,
    scales: Vec<f32>,
    offsets: Vec<f32>,
}

/// The panels of quantised weights, which begin at a cache line.
enum Panels {
    /// They are in a file in memory, and stay there.
    Borrowed(&'static [i8]),
    Owned(Aligned<i8>),
}

impl Deref for Panels {
    type Target = [i8];

    fn deref(&self) -> &[i8] {
        match self {
            Panels::Borrowed(data) => data,
            Panels::Owned(data) => data,
        }
    }
}

impl From<Cow<'static, [i8]>> for Panels {
    fn from(data: Cow<'static, [i8]>) -> Panels {
        match data {
            Cow::Borrowed(data) if is_aligned(data) => Panels::Borrowed(data),
            data => Panels::Owned(Aligned::from(&*data)),
        }
    }
}

/// How many bytes a quantised row of `k` numbers has: whole groups of four.
pub(crate) fn quantised_len(k: usize) -> usize {
    k.div_ceil(4) * 4
}

/// What one of 127 steps is worth for the largest of these weights.
pub(crate) fn step_of(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0f32, |m, v| m.max(v.abs()));
    if largest > 0.0 { largest / 127.0 } else { 1.0 }
}

impl PackedI8 {
    /// Quantises and packs `w`, which has `n` rows (output channels) of `k` weights each.
    pub(crate) fn pack(w: &[f32], n: usize, k: usize) -> PackedI8 {
        let steps = k.div_ceil(4);
        let mut data = Aligned::zeros(PackedI8::data_len(n, k));
        let mut scales = Vec::with_capacity(n);
        for (j, row) in w.chunks_exact(k).enumerate() {
            let scale = step_of(row);
            let panel = &mut data[j / COLS * COLS * steps * 4..];
            for (p, &v) in row.iter().enumerate() {
                panel[(p / 4 * COLS + j % COLS) * 4 + p % 4] = (v / scale).round() as i8;
            }
            scales.push(scale);
        }
        PackedI8::new(Panels::Owned(data), &scales, k)
    }

    /// Packs rows that have eight bits per weight: [`COLS`] of them side by side, four weights of
    /// each at a time.
    pub(crate) fn of_rows(rows: &[&[i8]], scales: &[f32], k: usize) -> PackedI8 {
        let mut data = Aligned::zeros(PackedI8::data_len(rows.len(), k));
        let panels = data.par_chunks_exact_mut(COLS * quantised_len(k));
        panels.zip(rows.par_chunks(COLS)).for_each(|(panel, rows)| {
            for (column, row) in rows.iter().enumerate() {
                for (step, four) in row.chunks(4).enumerate() {
                    panel[(step * COLS + column) * 4..][..four.len()].copy_from_slice(four);
                }
            }
        });
        PackedI8::new(Panels::Owned(data), scales, k)
    }

    /// How many bytes the packed weights of `n` output channels of `k` weights each have.
    pub(crate) fn data_len(n: usize, k: usize) -> usize {
        n.div_ceil(COLS) * COLS * quantised_len(k)
    }

    /// Takes weights that were packed before: the panels as [`PackedI8::data`] gave them, and one
    /// scale per channel.
    pub(crate) fn from_packed(data: Cow<'static, [i8]>, scales: &[f32], k: usize) -> PackedI8 {
        PackedI8::new(data.into(), scales, k)
    }

    fn new(data: Panels, scales: &[f32], k: usize) -> PackedI8 {
        let n = scales.len();
        let (steps, padded) = (k.div_ceil(4), n.div_ceil(COLS) * COLS);
        let mut sums = vec![0; padded];
        for (panel, sums) in data.chunks_exact(steps * COLS * 4).zip(sums.chunks_exact_mut(COLS)) {
            for step in panel.chunks_exact(COLS * 4) {
                for (sum, four) in sums.iter_mut().zip(step.as_chunks::<4>().0) {
                    *sum += four.iter().map(|q| i32::from(*q)).sum::<i32>();
                }
            }
        }
        let mut padded_scales = scales.to_vec();
        padded_scales.resize(padded, 0.0);
        let offsets =
            padded_scales.iter().zip(&sums).map(|(scale, sum)| scale * *sum as f32).collect();
        PackedI8 { k, n, data, sums, scales: padded_scales, offsets }
    }

    /// The weights as [`PackedI8::pack`] takes them: for each one the number that its eight bits
    /// stand for.
    pub(crate) fn unpack(&self) -> Vec<f32> {
        let rows = self.rows(self.k);
        let rows = rows.chunks_exact(self.k.max(1)).zip(&self.scales);
        rows.flat_map(|(row, scale)| row.iter().map(move |q| f32::from(*q) * scale)).collect()
    }

    /// The eight bits themselves, channel by channel, each padded with zeros up to `stride`.
    pub(crate) fn rows(&self, stride: usize) -> Vec<i8> {
        let panel = COLS * quantised_len(self.k);
        let mut rows = vec![0; self.n * stride];
        for (j, row) in rows.chunks_exact_mut(stride.max(1)).enumerate() {
            for (p, q) in row[..self.k].iter_mut().enumerate() {
                *q = self.data[j / COLS * panel + (p / 4 * COLS + j % COLS) * 4 + p % 4];
            }
        }
        rows
    }

    /// Sets `out` to the numbers that the weights of channel `j` stand for.
    pub(crate) fn copy_row(&self, j: usize, out: &mut [f32]) {
        let panel = &self.data[j / COLS * COLS * quantised_len(self.k)..];
        for (p, out) in out.iter_mut().enumerate() {
            *out = f32::from(panel[(p / 4 * COLS + j % COLS) * 4 + p % 4]) * self.scales[j];
        }
    }

    /// The panels.
    pub(crate) fn data(&self) -> &[i8] {
        &self.data
    }

    /// One scale per channel.
    pub(crate) fn scales(&self) -> &[f32] {
        &self.scales[..self.n]
    }

    /// The weights as the right side of a product.
    pub(crate) fn right(&self) -> RightI8<'_> {
        let PackedI8 { k, n, ref data, ref sums, ref scales, ref offsets } = *self;
        RightI8 { k, n, data, sums, scales, offsets }
    }
}

/// Quantised rows: row `r` is `minimum[r] + scale[r] * q[r * stride + p]`.
#[derive(Clone, Copy)]
pub(crate) struct QuantisedRows<'a> {
    pub(crate) q: &'a [u8],
    pub(crate) stride: usize,
    pub(crate) scale: &'a [f32],
    pub(crate) minimum: &'a [f32],
}

impl<'a> QuantisedRows<'a> {
    #[inline(always)]
    pub(super) fn from(self, row: usize) -> QuantisedRows<'a> {
        QuantisedRows {
            q: &self.q[row * self.stride..],
            scale: &self.scale[row..],
            minimum: &self.minimum[row..],
            ..self
        }
    }
}

/// Rows that are quantised as they come, in buffers that are kept.
#[derive(Default)]
pub(crate) struct RowBuffer {
    q: Vec<u8>,
    scale: Vec<f32>,
    minimum: Vec<f32>,
}

impl RowBuffer {
    /// Makes room for `rows` rows of `width` numbers.
    pub(crate) fn fit(&mut self, rows: usize, width: usize) {
        room(&mut self.q, rows * quantised_len(width));
        room(&mut self.scale, rows);
        room(&mut self.minimum, rows);
    }

    /// Quantises `rows` rows of `width` numbers. `group.1` rows follow each other directly; the
    /// next group begins `group.0` numbers after the last one began.
    pub(crate) fn quantise(
        &mut self,
        isa: Isa,
        x: &[f32],
        group: (usize, usize),
        rows: usize,
        width: usize,
    ) -> QuantisedRows<'_> {
        let q = room(&mut self.q, rows * quantised_len(width));
        let (scale, minimum) = (room(&mut self.scale, rows), room(&mut self.minimum, rows));
        quantise_rows(isa, x, group, width, q, scale, minimum);
        self.rows(width)
    }

    /// The rows that were quantised last.
    pub(crate) fn rows(&self, width: usize) -> QuantisedRows<'_> {
        QuantisedRows {
            q: &self.q,
            stride: quantised_len(width),
            scale: &self.scale,
            minimum: &self.minimum,
        }
    }
}

vectorised! {
    /// Quantises rows to 0..=255 between their own smallest and largest value: `x = minimum + scale
    /// * q`.
    fn quantise_rows(
        x: &[f32],
        group: (usize, usize),
        width: usize,
        q: &mut [u8],
        scale: &mut [f32],
        minimum: &mut [f32],
    ) {
        let (stride, count) = group;
        let rows = q.chunks_exact_mut(quantised_len(width)).zip(scale).zip(minimum);
        for (r, ((q, scale), minimum)) in rows.enumerate() {
            let row = &x[r / count * stride + r % count * width..][..width];
            let low = fold(row, f32::INFINITY, smaller, smaller);
            let high = fold(row, f32::NEG_INFINITY, larger, larger);
            let range = high - low;
            let steps = if range > 0.0 { 255.0 / range } else { 0.0 };
            *scale = range / 255.0;
            *minimum = low;
            for (q, &v) in q.iter_mut().zip(row) {
                *q = nearest((v - low) * steps) as u8;
            }
            q[width..].fill(0);
        }
    }
}
