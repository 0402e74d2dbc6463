//! The way of one thread through the blocks, whatever they are made of.

use super::attention::{Asking, Buffers};
use super::net::{Block, Norm, Stack};
use super::words::Words;
use crate::batch::Reading;
use crate::family::Order;
use crate::kernel::Isa;
use crate::kernel::aligned::Aligned;
use crate::kernel::gemm::ROWS;
use crate::kernel::heads::{Shape, Side};
use crate::kernel::norm::{Multiply, add_rows};
use crate::kernel::quantised::{RowBuffer, room};
use crate::kernel::rotary::Angles;
use std::ops::Range;

/// How many rows go through the feed-forward part together. Its wide rows then stay in the second
/// cache.
pub(super) const BLOCK: usize = 96;

/// How many of `rows` rows go through it together: as few blocks as [`BLOCK`] allows, all of about
/// the same size in whole tiles. A last block of few rows would read all weights for little work.
fn size_of_blocks(rows: usize) -> usize {
    rows.div_ceil(rows.div_ceil(BLOCK).max(1)).next_multiple_of(ROWS).max(ROWS)
}

/// Sequences on their way through a stack.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) isa: Isa,
    pub(super) words: &'a Words,
    pub(super) stack: &'a Stack,
    pub(super) angles: &'a Angles,
    pub(super) ids: &'a [u32],
    /// Where each sequence begins, and where the last one ends.
    pub(super) bounds: &'a [usize],
    pub(super) readings: &'a [Reading],
}

/// What the encoder made of the sequences that a decoder writes about.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    /// The keys and values of one block, side by side.
    pub(super) numbers: &'a [f32],
    /// The rows of each target.
    pub(super) rows: &'a [Range<usize>],
}

/// The buffers of one thread. They grow to the largest need seen and are then kept.
#[derive(Default)]
pub(super) struct Scratch {
    attention: Vec<f32>,
    buffers: Buffers,
    /// The queries of attention to the encoder.
    queries: Vec<f32>,
    wide: Aligned<f32>,
    narrow: Aligned<f32>,
    normed: Aligned<f32>,
    quantised: RowBuffer,
}

impl Scratch {
    /// Makes room for `rows` rows of sequences of at most `longest` tokens, so that nothing grows
    /// later.
    pub(super) fn fit(&mut self, stack: &Stack, rows: usize, longest: usize) {
        let shape = &stack.shape;
        room(&mut self.attention, rows * shape.queries());
        room(&mut self.wide, BLOCK * shape.intermediate);
        room(&mut self.narrow, BLOCK * shape.hidden);
        if shape.order == Order::Before {
            room(&mut self.normed, BLOCK * shape.hidden);
        }
        let widest = shape.hidden.max(shape.intermediate).max(shape.queries());
        self.quantised.fit(BLOCK, widest);
        self.buffers.fit(shape, rows, longest);
    }
}

impl Pass<'_> {
    /// Writes rows `rows` of the embeddings into `x`, and their queries, keys and values for the
    /// first block into `qkv`.
    pub(super) fn embed(
        &self,
        rows: Range<usize>,
        x: &mut [f32],
        qkv: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let Pass { isa, words, stack, .. } = *self;
        let h = stack.shape.hidden;
        self.each_row(rows.clone(), |row, sequence, place| {
            let x = &mut x[(row - rows.start) * h..][..h];
            words.copy(self.ids[row], x);
            if !stack.positions.is_empty() {
                let position = (stack.shape.first_position + place) * h;
                add_rows(isa, x, &stack.positions[position..][..h]);
            }
            let Reading { second, attended } = self.readings[sequence];
            if (second..attended).contains(&place) {
                add_rows(isa, x, &stack.second);
            }
        });
        if let Some(norm) = &stack.norm {
            norm.apply(isa, x, &[], stack.shape.eps);
        }
        let Scratch { normed, quantised, .. } = scratch;
        let size = size_of_blocks(x.len() / h);
        for (x, qkv) in x.chunks(size * h).zip(qkv.chunks_mut(size * stack.shape.qkv())) {
            let x = self.input(&stack.blocks[0].attention_norm, x, normed);
            stack.blocks[0].qkv.apply(isa, x, None, qkv, quantised);
        }
        self.turn(rows, qkv);
    }

    /// Takes rows `rows` through block `number`: `x` changes in place, from the `qkv` of all rows.
    /// The queries, keys and values of the next block go into `next`, which is empty after the last
    /// block.
    pub(super) fn block(
        &self,
        number: usize,
        rows: Range<usize>,
        x: &mut [f32],
        (qkv, memory): (&[f32], Option<Memory<'_>>),
        next: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let Pass { isa, stack, .. } = *self;
        let shape = &stack.shape;
        let (h, queries) = (shape.hidden, shape.queries());
        let block = &stack.blocks[number];
        let size = size_of_blocks(rows.len());
        self.attend(rows.clone(), qkv, scratch);
        let (mut output, mut norm) = (&block.output, &block.attention_norm);
        if let (Some(cross), Some(memory)) = (&block.cross, memory) {
            let Scratch { attention, queries: asked, narrow, normed, quantised, .. } = scratch;
            let asked = room(asked, rows.len() * queries);
            let parts = x.chunks_mut(size * h).zip(attention.chunks(size * queries));
            for ((x, attention), asked) in parts.zip(asked.chunks_mut(size * queries)) {
                let narrow = room(narrow, x.len());
                output.apply(isa, &attention[..x.len() / h * queries], None, narrow, quantised);
                self.finish(norm, x, narrow);
                let x = self.input(&cross.norm, x, normed);
                cross.query.apply(isa, x, None, asked, quantised);
            }
            self.attend_to_memory(rows.clone(), memory, scratch);
            (output, norm) = (&cross.output, &cross.norm);
        }
        let Scratch { attention, wide, narrow, normed, quantised, .. } = scratch;
        let mut after = next.chunks_mut(size * shape.qkv());
        for (x, attention) in x.chunks_mut(size * h).zip(attention.chunks(size * queries)) {
            let rows = x.len() / h;
            let (narrow, wide) = (room(narrow, x.len()), room(wide, rows * shape.intermediate));
            output.apply(isa, &attention[..rows * queries], None, narrow, quantised);
            self.finish(norm, x, narrow);
            let input = self.input(&block.output_norm, x, normed);
            self.feed_forward(block, input, wide, quantised);
            block.down.apply(isa, wide, None, narrow, quantised);
            self.finish(&block.output_norm, x, narrow);
            if let Some(qkv) = after.next() {
                let following = &stack.blocks[number + 1];
                let x = self.input(&following.attention_norm, x, normed);
                following.qkv.apply(isa, x, None, qkv, quantised);
            }
        }
        self.turn(rows, next);
        if let Some(norm) = stack.last_norm.as_ref().filter(|_| number + 1 == stack.blocks.len()) {
            norm.apply(isa, x, &[], shape.eps);
        }
    }

    /// The wide rows of the feed-forward part.
    fn feed_forward(&self, block: &Block, x: &[f32], wide: &mut [f32], quantised: &mut RowBuffer) {
        let activation = Some(self.stack.shape.activation);
        match &block.gate {
            None => block.up.apply(self.isa, x, activation, wide, quantised),
            Some(gate) => {
                gate.apply(self.isa, x, activation, wide, quantised);
                let mut multiply = Multiply { out: wide, stride: block.up.outputs };
                block.up.product(self.isa, x, &block.up.bias, &mut multiply, quantised);
            }
        }
    }

    /// What a part of a block reads: `x` itself, or its norm.
    fn input<'x>(&self, norm: &Norm, x: &'x [f32], normed: &'x mut Aligned<f32>) -> &'x [f32] {
        match self.stack.shape.order {
            Order::After => x,
            Order::Before => {
                let normed = room(normed, x.len());
                normed.copy_from_slice(x);
                norm.apply(self.isa, normed, &[], self.stack.shape.eps);
                normed
            }
        }
    }

    /// Adds the result of a part of a block to `x`.
    fn finish(&self, norm: &Norm, x: &mut [f32], result: &[f32]) {
        match self.stack.shape.order {
            Order::After => norm.apply(self.isa, x, result, self.stack.shape.eps),
            Order::Before => add_rows(self.isa, x, result),
        }
    }

    /// Turns queries and keys, where positions are rotary.
    fn turn(&self, rows: Range<usize>, qkv: &mut [f32]) {
        if self.stack.positions.is_empty() && !qkv.is_empty() {
            let (wide, turned) =
                (self.stack.shape.qkv(), self.stack.shape.qkv() - self.stack.shape.keys());
            self.each_row(rows.clone(), |row, _, place| {
                let heads = &mut qkv[(row - rows.start) * wide..][..turned];
                self.angles.turn(self.isa, heads, place);
            });
        }
    }

    /// Computes attention of rows `rows` to their own sequences.
    fn attend(&self, rows: Range<usize>, qkv: &[f32], scratch: &mut Scratch) {
        let shape = &self.stack.shape;
        let (stride, width) = (shape.qkv(), shape.head_width);
        let side = |row: usize, column: usize, heads: usize, len: usize| Side {
            numbers: &qkv[row * stride + column..],
            shape: Shape { heads, width, len, stride },
        };
        let out = room(&mut scratch.attention, rows.len() * shape.queries());
        for (story, reading) in self.bounds.windows(2).zip(self.readings) {
            let (from, to) = (story[0].max(rows.start), story[1].min(rows.end));
            if from >= to {
                continue;
            }
            let key = |column: usize| side(story[0], column, shape.key_heads, reading.attended);
            let asking = Asking {
                isa: self.isa,
                queries: side(from, 0, shape.heads, to - from),
                keys: key(shape.queries()),
                values: key(shape.queries() + shape.keys()),
                first: from - story[0],
                causal: shape.causal,
                relative: self
                    .stack
                    .relative
                    .as_deref()
                    .map(|table| (table, 2 * shape.longest - 1)),
            };
            let out = &mut out[(from - rows.start) * shape.queries()..];
            scratch.buffers.attend(&asking, shape.int8, out);
        }
    }

    /// Computes attention of rows `rows` to what the encoder made of their sequences.
    fn attend_to_memory(&self, rows: Range<usize>, memory: Memory<'_>, scratch: &mut Scratch) {
        let shape = &self.stack.shape;
        let (width, queries, keys) = (shape.head_width, shape.queries(), shape.keys());
        let out = room(&mut scratch.attention, rows.len() * queries);
        for (story, source) in self.bounds.windows(2).zip(memory.rows) {
            let (from, to) = (story[0].max(rows.start), story[1].min(rows.end));
            if from >= to {
                continue;
            }
            let key = |column: usize| Side {
                numbers: &memory.numbers[source.start * 2 * keys + column..],
                shape: Shape { heads: shape.key_heads, width, len: source.len(), stride: 2 * keys },
            };
            let asking = Asking {
                isa: self.isa,
                queries: Side {
                    numbers: &scratch.queries[(from - rows.start) * queries..],
                    shape: Shape { heads: shape.heads, width, len: to - from, stride: queries },
                },
                keys: key(0),
                values: key(keys),
                first: from - story[0],
                causal: false,
                relative: None,
            };
            let out = &mut out[(from - rows.start) * queries..];
            scratch.buffers.attend(&asking, shape.int8, out);
        }
    }

    /// Calls `work` with every row of `rows`, its sequence, and its place in that.
    fn each_row(&self, rows: Range<usize>, mut work: impl FnMut(usize, usize, usize)) {
        for (sequence, bounds) in self.bounds.windows(2).enumerate() {
            for row in bounds[0].max(rows.start)..bounds[1].min(rows.end) {
                work(row, sequence, row - bounds[0]);
            }
        }
    }
}
