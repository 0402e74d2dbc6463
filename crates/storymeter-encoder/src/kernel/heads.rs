//! The heads of one story in eight bits: queries, keys and values as the products of attention read
//! them.
//!
//! All heads are quantised in one pass over the rows of a story, which lie one after the other in
//! memory. What a head then reads again and again has a quarter of the size and fits into the
//! second cache.

use super::aligned::Aligned;
use super::gemm::{COLS, ROWS};
use super::quantised::{QuantisedRows, RightI8, RowBuffer, nearest, quantised_len, room};
use super::steps::{fold, larger};
use super::{Isa, vectorised};

/// The shape of the heads of a story.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) heads: usize,
    /// The width of one head.
    pub(crate) width: usize,
    /// The number of tokens of the story.
    pub(crate) len: usize,
    /// The distance of the rows of two tokens, in numbers.
    pub(crate) stride: usize,
}

/// Rows of one kind, of all heads of some tokens.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) numbers: &'a [f32],
    pub(crate) shape: Shape,
}

/// One right side for each head, packed as weights are.
#[derive(Default)]
struct PackedHeads {
    k: usize,
    n: usize,
    data: Aligned<i8>,
    sums: Vec<i32>,
    scales: Vec<f32>,
    offsets: Vec<f32>,
}

impl PackedHeads {
    /// Makes this `heads` right sides of `k` rows and `n` columns. `pack` fills data, scales and
    /// sums.
    fn fill(
        &mut self,
        heads: usize,
        k: usize,
        n: usize,
        pack: impl FnOnce(&mut [i8], &mut [f32], &mut [i32]),
    ) {
        (self.k, self.n) = (k, n);
        let padded = heads * n.div_ceil(COLS) * COLS;
        let (scales, sums) = (room(&mut self.scales, padded), room(&mut self.sums, padded));
        pack(room(&mut self.data, padded * quantised_len(k)), scales, sums);
        for ((offset, scale), sum) in
            room(&mut self.offsets, padded).iter_mut().zip(scales).zip(sums)
        {
            *offset = *scale * *sum as f32;
        }
    }

    fn head(&self, head: usize) -> RightI8<'_> {
        let PackedHeads { k, n, .. } = *self;
        let padded = n.div_ceil(COLS) * COLS;
        let bytes = padded * quantised_len(k);
        let columns = head * padded..(head + 1) * padded;
        RightI8 {
            k,
            n,
            data: &self.data[head * bytes..][..bytes],
            sums: &self.sums[columns.clone()],
            scales: &self.scales[columns.clone()],
            offsets: &self.offsets[columns],
        }
    }
}

/// The heads of a story, in buffers that are kept.
#[derive(Default)]
pub(crate) struct StoryI8 {
    heads: usize,
    width: usize,
    queries: RowBuffer,
    keys: PackedHeads,
    values: PackedHeads,
}

impl StoryI8 {
    /// Makes room for queries and keys of these shapes.
    pub(crate) fn fit(&mut self, queries: Shape, keys: Shape) {
        let Shape { heads, width, len, .. } = keys;
        self.queries.fit(queries.len * queries.heads, width);
        self.keys.fill(heads, width, len, |_, _, _| ());
        self.values.fill(heads, len, width, |_, _, _| ());
    }

    /// Quantises queries, keys and values. Keys and values have the same shape.
    pub(crate) fn fill(&mut self, isa: Isa, queries: Side<'_>, keys: Side<'_>, values: Side<'_>) {
        let Shape { heads, width, len, stride } = queries.shape;
        (self.heads, self.width) = (heads, width);
        self.queries.quantise(isa, queries.numbers, (stride, heads), len * heads, width);
        let Shape { heads, len, .. } = keys.shape;
        self.keys.fill(heads, width, len, |data, scales, sums| {
            pack_keys(isa, keys.numbers, keys.shape, data, scales, sums);
        });
        self.values.fill(heads, len, width, |data, scales, sums| {
            pack_values(isa, values.numbers, values.shape, data, scales, sums);
        });
    }

    /// Calls `work` with rows `first..first + count` of the queries of a head, at most one tile.
    pub(crate) fn queries<R>(
        &self,
        head: usize,
        first: usize,
        count: usize,
        work: impl FnOnce(QuantisedRows<'_>) -> R,
    ) -> R {
        let all = self.queries.rows(self.width);
        let (mut scale, mut minimum) = ([0.0; ROWS], [0.0; ROWS]);
        for r in 0..count {
            let place = (first + r) * self.heads + head;
            (scale[r], minimum[r]) = (all.scale[place], all.minimum[place]);
        }
        let q = &all.q[(first * self.heads + head) * all.stride..];
        work(QuantisedRows { q, stride: self.heads * all.stride, scale: &scale, minimum: &minimum })
    }

    /// The keys of a head, one column per key.
    pub(crate) fn keys(&self, head: usize) -> RightI8<'_> {
        self.keys.head(head)
    }

    /// The values of a head, one column per channel.
    pub(crate) fn values(&self, head: usize) -> RightI8<'_> {
        self.values.head(head)
    }
}

/// What one of 127 steps is worth if `largest` is the largest absolute value, and how many steps
/// make one.
#[inline(always)]
fn signed_scale(largest: f32) -> (f32, f32) {
    (largest / 127.0, if largest > 0.0 { 127.0 / largest } else { 0.0 })
}

vectorised! {
    /// One column per key and head, each with a scale of its own. Columns that pad the last panel
    /// keep what they had.
    fn pack_keys(b: &[f32], shape: Shape, data: &mut [i8], scales: &mut [f32], sums: &mut [i32]) {
        const CHUNK: usize = 16;
        let Shape { heads, width, len, stride } = shape;
        let panel = COLS * quantised_len(width);
        let panels = len.div_ceil(COLS);
        for j in 0..len {
            for (head, column) in b[j * stride..][..heads * width].chunks_exact(width).enumerate() {
                let largest = fold(column, 0.0, |m, v| larger(m, v.abs()), larger);
                let (scale, steps) = signed_scale(largest);
                let mut sum = 0;
                let out = &mut data[(head * panels + j / COLS) * panel..][..panel];
                for (chunk, out) in column.chunks(CHUNK).zip(out.chunks_mut(CHUNK * COLS)) {
                    let mut padded = [0.0; CHUNK];
                    match chunk.first_chunk() {
                        Some(whole) => padded = *whole,
                        None => padded[..chunk.len()].copy_from_slice(chunk),
                    }
                    let q = padded.map(|v| nearest(v * steps));
                    // As in `pack_values`: the sum means nothing if numbers are too large.
                    sum = q.iter().fold(sum, |sum: i32, q| sum.wrapping_add(*q));
                    let groups = out.as_chunks_mut::<4>().0.chunks_exact_mut(COLS);
                    for (out, four) in groups.zip(q.map(|q| q as i8).as_chunks::<4>().0) {
                        out[j % COLS] = *four;
                    }
                }
                let place = head * panels * COLS + j;
                (scales[place], sums[place]) = (scale, sum);
            }
        }
    }
}

vectorised! {
    /// One column per channel and head, four tokens side by side.
    fn pack_values(b: &[f32], shape: Shape, data: &mut [i8], scales: &mut [f32], sums: &mut [i32]) {
        let Shape { width, len, stride, .. } = shape;
        let (groups, panels) = (quantised_len(len) / 4, width.div_ceil(COLS));
        // The largest absolute values come first, in the place where the scales will be.
        scales.fill(0.0);
        sums.fill(0);
        for p in 0..len {
            for (panel, largest) in scales.as_chunks_mut::<COLS>().0.iter_mut().enumerate() {
                let row = channels(&b[p * stride..], panel, width, panels);
                for (m, v) in largest.iter_mut().zip(row) {
                    *m = larger(*m, v.abs());
                }
            }
        }
        for group in 0..groups {
            let tokens = 4 * group..len.min(4 * group + 4);
            let columns = scales.as_chunks::<COLS>().0.iter().zip(sums.as_chunks_mut::<COLS>().0);
            for (panel, (largest, sums)) in columns.enumerate() {
                let steps = largest.map(|largest| signed_scale(largest).1);
                let mut words = [0u32; COLS];
                for (place, p) in tokens.clone().enumerate() {
                    let row = channels(&b[p * stride..], panel, width, panels);
                    for j in 0..COLS {
                        let q = nearest(row[j] * steps[j]);
                        // With weights that make no sense, numbers can be too large. The score
                        // is then not a number, whatever this sum is.
                        sums[j] = sums[j].wrapping_add(q);
                        words[j] |= (q as u32 & 0xff) << (8 * place);
                    }
                }
                let out = &mut data[(panel * groups + group) * COLS * 4..][..COLS * 4];
                for (out, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                    *out = word.to_le_bytes().map(|byte| byte as i8);
                }
            }
        }
        for scale in scales {
            *scale = signed_scale(*scale).0;
        }
    }
}

/// The channels of one token in a panel, of which each head has `panels`, with zeros where a head
/// has fewer channels.
#[inline(always)]
fn channels(row: &[f32], panel: usize, width: usize, panels: usize) -> [f32; COLS] {
    let (head, col) = (panel / panels, panel % panels * COLS);
    let (row, cols) = (&row[head * width + col..], COLS.min(width - col));
    match row.first_chunk().filter(|_| cols == COLS) {
        Some(whole) => *whole,
        None => {
            let mut padded = [0.0; COLS];
            padded[..cols].copy_from_slice(&row[..cols]);
            padded
        }
    }
}
