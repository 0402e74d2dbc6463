//! Attention for the rows of one thread, sequence by sequence and head by head.
//!
//! In f32 the formula is computed as it is written. In int8 everything runs on bytes: queries are
//! quantised like every other left side, keys have one scale per key, probabilities are two bytes
//! of which the largest is 65,280, and values have one scale per channel. Integers have the same
//! sum in any order, so that int8 gives the same bytes on every instruction level.

use super::block::BLOCK;
use super::net::Shape;
use crate::kernel::Isa;
use crate::kernel::aligned::Aligned;
use crate::kernel::gemm::{
    COLS, ROWS, SidesF32, TileF32, gemm_f32, gemm_i8, pack_columns, pack_rows, packed_len,
};
use crate::kernel::heads::{self, Side, StoryI8};
use crate::kernel::quantised::{QuantisedRows, room};
use crate::kernel::softmax::{AddPairs, KeepTiles, RelativeBias, softmax_bytes, softmax_rows};
use crate::kernel::steps::{ScaleRows, Store};

/// The buffers of one thread, for either precision.
#[derive(Default)]
pub(super) struct Buffers {
    f32: BuffersF32,
    i8: BuffersI8,
}

#[derive(Default)]
struct BuffersF32 {
    keys: Aligned<f32>,
    values: Aligned<f32>,
    scores: Vec<f32>,
    inverse: Vec<f32>,
}

#[derive(Default)]
struct BuffersI8 {
    story: StoryI8,
    scores: Vec<TileF32>,
    probabilities: Vec<u8>,
}

/// Queries of one sequence, and the keys and values that they attend to.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) isa: Isa,
    pub(super) queries: Side<'a>,
    /// Keys have the same shape as values. Several heads of queries may share one of theirs.
    pub(super) keys: Side<'a>,
    pub(super) values: Side<'a>,
    /// The place of the first query in its sequence.
    pub(super) first: usize,
    /// Whether a query sees only the keys up to its own place.
    pub(super) causal: bool,
    /// The relative position biases, head by head, and how many there are for each head.
    pub(super) relative: Option<(&'a [f32], usize)>,
}

impl<'a> Asking<'a> {
    fn bias(&self, head: usize) -> Option<RelativeBias<'a>> {
        self.relative.map(|(table, span)| RelativeBias {
            table: &table[head * span..][..span],
            centre: span / 2,
        })
    }

    fn scale(&self) -> f32 {
        1.0 / (self.queries.shape.width as f32).sqrt()
    }

    /// How many heads of queries share the keys and values of one head.
    fn sharing(&self) -> usize {
        self.queries.shape.heads / self.keys.shape.heads
    }
}

impl Buffers {
    /// Makes room for `rows` rows of sequences of at most `longest` tokens.
    pub(super) fn fit(&mut self, shape: &Shape, rows: usize, longest: usize) {
        let width = shape.head_width;
        if shape.int8 {
            let BuffersI8 { story, scores, probabilities } = &mut self.i8;
            let queries =
                heads::Shape { heads: shape.heads, width, len: rows.min(longest), stride: 0 };
            let keys = heads::Shape { heads: shape.key_heads, width, len: longest, stride: 0 };
            story.fit(queries, keys);
            let panels = longest.div_ceil(COLS);
            room(scores, panels);
            room(probabilities, 2 * ROWS * panels * COLS);
        } else {
            let BuffersF32 { keys, values, scores, inverse } = &mut self.f32;
            room(keys, packed_len(width, longest));
            room(values, packed_len(longest, width));
            room(scores, BLOCK.min(rows) * longest);
            room(inverse, BLOCK);
        }
    }

    /// Writes what the queries get, one row each, to `out`.
    pub(super) fn attend(&mut self, asking: &Asking<'_>, int8: bool, out: &mut [f32]) {
        if int8 { self.i8.attend(asking, out) } else { self.f32.attend(asking, out) }
    }
}

impl BuffersF32 {
    fn attend(&mut self, asking: &Asking<'_>, out: &mut [f32]) {
        let BuffersF32 { keys, values, scores, inverse } = self;
        let &Asking { isa, causal, .. } = asking;
        let heads::Shape { heads, width, len: count, stride } = asking.queries.shape;
        let len = asking.keys.shape.len;
        let (keys, values) =
            (room(keys, packed_len(width, len)), room(values, packed_len(len, width)));
        for head in 0..heads {
            let shared = head / asking.sharing();
            if head % asking.sharing() == 0 {
                let [k, v] =
                    [asking.keys, asking.values].map(|side| &side.numbers[shared * width..]);
                pack_columns(k, asking.keys.shape.stride, width, len, keys);
                pack_rows(v, asking.values.shape.stride, len, width, values);
            }
            for first in (0..count).step_by(BLOCK) {
                let (m, query) = (BLOCK.min(count - first), asking.first + first);
                // No row of this block sees a later key.
                let seen = if causal { len.min(query + m) } else { len };
                let (scores, inverse) = (room(scores, m * seen), room(inverse, m));
                let a = &asking.queries.numbers[first * stride + head * width..];
                let sides = SidesF32 { a, lda: stride, m, k: width, n: seen, b: keys, bias: &[] };
                gemm_f32(isa, sides, &mut Store { out: scores, stride: seen, activation: None });
                let (scale, bias) = (asking.scale(), asking.bias(head));
                softmax_rows(isa, scores, seen, scale, bias, query, causal, inverse);
                let out = &mut out[first * heads * width + head * width..];
                for (panel, values) in values.chunks_exact(len * COLS).enumerate() {
                    let (col, b) = (panel * COLS, &values[..seen * COLS]);
                    let n = COLS.min(width - col);
                    let sides = SidesF32 { a: scores, lda: seen, m, k: seen, n, b, bias: &[] };
                    let (out, stride) = (&mut out[col..], heads * width);
                    gemm_f32(isa, sides, &mut ScaleRows { out, stride, factors: inverse });
                }
            }
        }
    }
}

impl BuffersI8 {
    /// Works on one tile of query rows at a time, so that their scores stay in the first cache.
    fn attend(&mut self, asking: &Asking<'_>, out: &mut [f32]) {
        let BuffersI8 { story, scores, probabilities } = self;
        let &Asking { isa, causal, .. } = asking;
        let heads::Shape { heads, width, len: count, .. } = asking.queries.shape;
        let len = asking.keys.shape.len;
        story.fill(isa, asking.queries, asking.keys, asking.values);
        let panels = len.div_ceil(COLS);
        let scores = room(scores, panels);
        let mut inverse = [0.0; 2 * ROWS];
        for head in 0..heads {
            let shared = head / asking.sharing();
            let (keys, values, bias) =
                (story.keys(shared), story.values(shared), asking.bias(head));
            for first in (0..count).step_by(ROWS) {
                let m = ROWS.min(count - first);
                story.queries(head, first, m, |queries| {
                    gemm_i8(isa, queries, m, keys, &[], &mut KeepTiles(scores));
                });
                let q = room(probabilities, 2 * m * panels * COLS);
                let (scale, query) = (asking.scale(), asking.first + first);
                softmax_bytes(isa, scores, m, len, scale, bias, query, causal, q, &mut inverse);
                let a = QuantisedRows {
                    q,
                    stride: panels * COLS,
                    scale: &inverse,
                    minimum: &[0.0; 2 * ROWS],
                };
                let out = &mut out[first * heads * width + head * width..];
                let mut pairs = AddPairs { out, stride: heads * width };
                gemm_i8(isa, a, 2 * m, values, &[], &mut pairs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_in_bytes_is_close_to_f32_and_the_same_on_every_instruction_level() {
        let shapes =
            [(1, 1, 5, 1), (2, 2, 32, 31), (3, 1, 40, 33), (1, 1, 64, 70), (4, 2, 16, 131)];
        for (heads, key_heads, width, len) in shapes {
            let stride = (heads + 2 * key_heads) * width;
            let qkv: Vec<f32> = (0..len * stride).map(|i| (i as f32 * 0.7).sin() * 1.5).collect();
            let span = 2 * len + 9;
            let table: Vec<f32> = (0..heads * span).map(|i| (i as f32 * 0.3).cos()).collect();
            let ways = [
                (None, 0, false),
                (Some((table.as_slice(), span)), len / 3, false),
                (None, len / 2, true),
            ];
            for (relative, first, causal) in ways {
                let outputs = |isa: Isa| {
                    let side = |from: usize, heads: usize, len: usize| Side {
                        numbers: &qkv[from..],
                        shape: heads::Shape { heads, width, len, stride },
                    };
                    let queries = side(first * stride, heads, len - first);
                    let keys = side(heads * width, key_heads, len);
                    let values = side((heads + key_heads) * width, key_heads, len);
                    let asking = Asking { isa, queries, keys, values, first, causal, relative };
                    let (mut f32, mut i8) = (vec![f32::NAN; (len - first) * heads * width], vec![]);
                    i8.clone_from(&f32);
                    let mut buffers = BuffersI8::default();
                    // What a longer sequence left in the buffers must not show.
                    let longer = |shape| heads::Shape { len: len + 40, ..shape };
                    buffers.story.fit(longer(queries.shape), longer(keys.shape));
                    BuffersF32::default().attend(&asking, &mut f32);
                    buffers.attend(&asking, &mut i8);
                    (f32, i8)
                };
                let expected = outputs(Isa::detect());
                for isa in Isa::available() {
                    let (f32, i8) = outputs(isa);
                    let case = format!("{heads} heads of {width}, {len} tokens, {}", isa.name());
                    assert_eq!(i8, expected.1, "{case}");
                    let worst = f32.iter().zip(&i8).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    assert!(worst < 0.03, "{case}: off by {worst}");
                }
            }
        }
    }
}
