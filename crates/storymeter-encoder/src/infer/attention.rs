//! Attention for the rows of one thread, story by story and head by head.
//!
//! In f32 the formula is computed as it is written. In int8 everything runs on bytes: queries are
//! quantised like every other left side, keys have one scale per key, probabilities are two bytes
//! of which the largest is 65,280, and values have one scale per channel. Integers have the same
//! sum in any order, so that int8 gives the same bytes on every instruction level.

use super::net::{BLOCK, Net, Scratch};
use crate::Precision;
use crate::kernel::Isa;
use crate::kernel::gemm::{
    COLS, ROWS, SidesF32, TileF32, gemm_f32, gemm_i8, pack_columns, pack_rows, packed_len,
};
use crate::kernel::heads::{Shape, StoryI8};
use crate::kernel::quantised::{QuantisedRows, room};
use crate::kernel::softmax::{AddPairs, KeepTiles, RelativeBias, softmax_bytes, softmax_rows};
use crate::kernel::steps::{ScaleRows, Store};
use std::ops::Range;

/// The buffers of one thread, for either precision.
#[derive(Default)]
pub(super) struct Heads {
    f32: BuffersF32,
    i8: BuffersI8,
}

#[derive(Default)]
struct BuffersF32 {
    keys: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<f32>,
    inverse: Vec<f32>,
}

#[derive(Default)]
struct BuffersI8 {
    story: StoryI8,
    scores: Vec<TileF32>,
    probabilities: Vec<u8>,
}

/// Rows `first..first + count` of a story, which attend to all of its rows.
struct Asking<'a> {
    isa: Isa,
    shape: Shape,
    first: usize,
    count: usize,
    /// The queries, keys and values of all rows of the story, side by side.
    qkv: &'a [f32],
    /// The relative position biases, head by head, and how many there are for each head.
    relative: Option<(&'a [f32], usize)>,
}

impl<'a> Asking<'a> {
    fn bias(&self, head: usize) -> Option<RelativeBias<'a>> {
        self.relative.map(|(table, span)| RelativeBias {
            table: &table[head * span..][..span],
            centre: span / 2,
        })
    }

    fn scale(&self) -> f32 {
        1.0 / (self.shape.width as f32).sqrt()
    }

    /// The queries of the attending rows, then the keys and the values of all rows.
    fn parts(&self) -> [&'a [f32]; 3] {
        let hidden = self.shape.heads * self.shape.width;
        [&self.qkv[self.first * self.shape.stride..], &self.qkv[hidden..], &self.qkv[2 * hidden..]]
    }
}

impl Heads {
    /// Makes room for `rows` rows of stories of at most `longest` tokens.
    pub(super) fn fit(&mut self, net: &Net, rows: usize, longest: usize) {
        let width = net.hidden() / net.heads;
        match net.precision() {
            Precision::F32 | Precision::F16 | Precision::Bf16 => {
                let BuffersF32 { keys, values, scores, inverse } = &mut self.f32;
                room(keys, packed_len(width, longest));
                room(values, packed_len(longest, width));
                room(scores, BLOCK.min(rows) * longest);
                room(inverse, BLOCK);
            }
            Precision::Int8 => {
                let BuffersI8 { story, scores, probabilities } = &mut self.i8;
                story.fit(
                    Shape { heads: net.heads, width, len: longest, stride: 0 },
                    rows.min(longest),
                );
                let panels = longest.div_ceil(COLS);
                room(scores, panels);
                room(probabilities, 2 * ROWS * panels * COLS);
            }
        }
    }
}

impl Net {
    /// Computes attention for rows `rows` into `scratch.attention`.
    pub(super) fn attention(
        &self,
        bounds: &[usize],
        rows: Range<usize>,
        qkv: &[f32],
        scratch: &mut Scratch,
    ) {
        let h = self.hidden();
        let Scratch { attention, heads, .. } = scratch;
        let attention = room(attention, rows.len() * h);
        for story in bounds.windows(2) {
            let (from, to) = (story[0].max(rows.start), story[1].min(rows.end));
            if from >= to {
                continue;
            }
            let shape = Shape {
                heads: self.heads,
                width: h / self.heads,
                len: story[1] - story[0],
                stride: 3 * h,
            };
            let asking = Asking {
                isa: self.isa,
                shape,
                first: from - story[0],
                count: to - from,
                qkv: &qkv[story[0] * 3 * h..],
                relative: self
                    .parts()
                    .relative
                    .as_deref()
                    .map(|table| (table, 2 * self.longest - 1)),
            };
            let out = &mut attention[(from - rows.start) * h..(to - rows.start) * h];
            match self.precision() {
                Precision::Int8 => heads.i8.attend(&asking, out),
                _ => heads.f32.attend(&asking, out),
            }
        }
    }
}

impl BuffersF32 {
    fn attend(&mut self, asking: &Asking<'_>, out: &mut [f32]) {
        let BuffersF32 { keys, values, scores, inverse } = self;
        let &Asking { isa, shape: Shape { heads, width, len, stride }, .. } = asking;
        let (keys, values) =
            (room(keys, packed_len(width, len)), room(values, packed_len(len, width)));
        for head in 0..heads {
            let [q, k, v] = asking.parts().map(|part| &part[head * width..]);
            pack_columns(k, stride, width, len, keys);
            pack_rows(v, stride, len, width, values);
            let bias = asking.bias(head);
            for first in (0..asking.count).step_by(BLOCK) {
                let count = BLOCK.min(asking.count - first);
                let (scores, inverse) = (room(scores, count * len), room(inverse, count));
                let a = &q[first * stride..];
                let sides =
                    SidesF32 { a, lda: stride, m: count, k: width, n: len, b: keys, bias: &[] };
                gemm_f32(isa, sides, &mut Store { out: scores, stride: len, activation: None });
                softmax_rows(isa, scores, len, asking.scale(), bias, asking.first + first, inverse);
                let out = &mut out[first * heads * width + head * width..];
                let sides = SidesF32 {
                    a: scores,
                    lda: len,
                    m: count,
                    k: len,
                    n: width,
                    b: values,
                    bias: &[],
                };
                gemm_f32(
                    isa,
                    sides,
                    &mut ScaleRows { out, stride: heads * width, factors: inverse },
                );
            }
        }
    }
}

impl BuffersI8 {
    /// Works on one tile of query rows at a time, so that their scores stay in the first cache.
    fn attend(&mut self, asking: &Asking<'_>, out: &mut [f32]) {
        let BuffersI8 { story, scores, probabilities } = self;
        let &Asking { isa, shape: Shape { heads, width, len, .. }, .. } = asking;
        let [q, k, v] = asking.parts();
        story.fill(isa, asking.shape, (q, asking.count), k, v);
        let panels = len.div_ceil(COLS);
        let scores = room(scores, panels);
        let mut inverse = [0.0; 2 * ROWS];
        for head in 0..heads {
            let (keys, values, bias) = (story.keys(head), story.values(head), asking.bias(head));
            for first in (0..asking.count).step_by(ROWS) {
                let count = ROWS.min(asking.count - first);
                story.queries(head, first, count, |queries| {
                    gemm_i8(isa, queries, count, keys, &[], &mut KeepTiles(scores));
                });
                let q = room(probabilities, 2 * count * panels * COLS);
                let token = asking.first + first;
                softmax_bytes(
                    isa,
                    scores,
                    count,
                    len,
                    asking.scale(),
                    bias,
                    token,
                    q,
                    &mut inverse,
                );
                let a = QuantisedRows {
                    q,
                    stride: panels * COLS,
                    scale: &inverse,
                    minimum: &[0.0; 2 * ROWS],
                };
                let out = &mut out[first * heads * width + head * width..];
                gemm_i8(
                    isa,
                    a,
                    2 * count,
                    values,
                    &[],
                    &mut AddPairs { out, stride: heads * width },
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_in_bytes_is_close_to_f32_and_the_same_on_every_instruction_level() {
        let shapes = [(1, 5, 1), (2, 32, 31), (3, 40, 33), (1, 64, 70), (2, 16, 131)];
        for (heads, width, len) in shapes {
            let hidden = heads * width;
            let qkv: Vec<f32> =
                (0..len * 3 * hidden).map(|i| (i as f32 * 0.7).sin() * 1.5).collect();
            let span = 2 * len + 9;
            let table: Vec<f32> = (0..heads * span).map(|i| (i as f32 * 0.3).cos()).collect();
            for (relative, first) in [(None, 0), (Some((table.as_slice(), span)), len / 3)] {
                let outputs = |isa: Isa| {
                    let shape = Shape { heads, width, len, stride: 3 * hidden };
                    let asking =
                        Asking { isa, shape, first, count: len - first, qkv: &qkv, relative };
                    let (mut f32, mut i8) = (vec![f32::NAN; (len - first) * hidden], vec![]);
                    i8.clone_from(&f32);
                    let mut buffers = BuffersI8::default();
                    // What a longer story left in the buffers must not show.
                    buffers.story.fit(Shape { len: len + 40, ..shape }, len + 40);
                    BuffersF32::default().attend(&asking, &mut f32);
                    buffers.attend(&asking, &mut i8);
                    (f32, i8)
                };
                let expected = outputs(Isa::detect());
                for isa in Isa::available() {
                    let (f32, i8) = outputs(isa);
                    assert_eq!(
                        i8,
                        expected.1,
                        "{heads} heads of {width}, {len} tokens, {}",
                        isa.name()
                    );
                    let worst = f32.iter().zip(&i8).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    assert!(worst < 0.03, "{heads} heads of {width}, {len} tokens: off by {worst}");
                }
            }
        }
    }
}
