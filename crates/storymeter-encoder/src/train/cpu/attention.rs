//! Attention within one story, forward and backward. The probabilities are computed again in the
//! backward pass instead of being kept: a story of l tokens would need l * l numbers per head.

use super::products::transpose;
use crate::kernel::Isa;
use crate::kernel::gemm::{SidesF32, gemm_f32, pack_columns, pack_rows, packed_len};
use crate::kernel::softmax::{RelativeBias, softmax_rows};
use crate::kernel::steps::{Store, sum};
use crate::train::backend::{Attention, Dropout};

/// The queries, keys and values of a story, and where its rows are in the batch.
#[derive(Clone, Copy)]
pub(super) struct Story<'a> {
    pub(super) query: &'a [f32],
    pub(super) key: &'a [f32],
    pub(super) value: &'a [f32],
    /// The row of its first token in the batch, because dropout goes by place.
    pub(super) first: usize,
}

/// What stays the same for all stories of a batch.
#[derive(Clone, Copy)]
pub(super) struct Heads<'a> {
    pub(super) isa: Isa,
    pub(super) shape: Attention,
    /// The bias of every distance, head by head (see [`crate::relative::bias_table`]).
    pub(super) bias: Option<&'a [f32]>,
}

impl Heads<'_> {
    fn head_width(&self) -> usize {
        self.shape.width / self.shape.heads
    }

    fn scale(&self) -> f32 {
        1.0 / (self.head_width() as f32).sqrt()
    }

    /// `a * b^T` for two matrices of `len` rows and the columns of one head.
    fn outer(&self, a: &[f32], b: &[f32], len: usize, packed: &mut Vec<f32>, out: &mut [f32]) {
        let (stride, width) = (self.shape.width, self.head_width());
        packed.resize(packed_len(width, len), 0.0);
        pack_columns(b, stride, width, len, packed);
        let sides = SidesF32 { a, lda: stride, m: len, k: width, n: len, b: packed, bias: &[] };
        gemm_f32(self.isa, sides, &mut Store { out, stride: len, activation: None });
    }

    /// `p * b` for a square `p` and a matrix with the columns of one head. The result is such a
    /// matrix.
    fn mix(&self, p: &[f32], b: &[f32], len: usize, packed: &mut Vec<f32>, out: &mut [f32]) {
        let (stride, width) = (self.shape.width, self.head_width());
        packed.resize(packed_len(len, width), 0.0);
        pack_rows(b, stride, len, width, packed);
        let sides = SidesF32 { a: p, lda: len, m: len, k: len, n: width, b: packed, bias: &[] };
        gemm_f32(self.isa, sides, &mut Store { out, stride, activation: None });
    }

    /// The probabilities of one head.
    fn probabilities(
        &self,
        story: Story<'_>,
        head: usize,
        len: usize,
        packed: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let column = head * self.head_width();
        self.outer(&story.query[column..], &story.key[column..], len, packed, out);
        let span = 2 * self.shape.longest - 1;
        let bias = self.bias.map(|table| RelativeBias {
            table: &table[head * span..][..span],
            centre: self.shape.longest - 1,
        });
        let mut inverse = vec![0.0; len];
        let causal = self.shape.causal;
        softmax_rows(self.isa, out, len, self.scale(), bias, 0, causal, &mut inverse);
        for (row, inverse) in out.chunks_exact_mut(len).zip(inverse) {
            row.iter_mut().for_each(|p| *p *= inverse);
        }
    }

    /// Applies dropout to the probabilities of one head, or to their gradient.
    fn drop_out(&self, p: &mut [f32], first: usize, head: usize, len: usize) {
        let Dropout { rate, .. } = self.shape.dropout;
        if rate > 0.0 {
            for (i, row) in p.chunks_exact_mut(len).enumerate() {
                let place = ((first + i) * self.shape.heads + head) * self.shape.longest;
                for (j, p) in row.iter_mut().enumerate() {
                    *p *= self.shape.dropout.factor((place + j) as u64);
                }
            }
        }
    }

    pub(super) fn forward(&self, story: Story<'_>, out: &mut [f32]) {
        let len = story.query.len() / self.shape.width;
        if len == 0 {
            return;
        }
        let (mut p, mut packed) = (vec![0.0; len * len], Vec::new());
        for head in 0..self.shape.heads {
            let column = head * self.head_width();
            self.probabilities(story, head, len, &mut packed, &mut p);
            self.drop_out(&mut p, story.first, head, len);
            self.mix(&p, &story.value[column..], len, &mut packed, &mut out[column..]);
        }
    }

    /// Writes the gradients of the rows of the story. Returns the gradient of the bias by head and
    /// distance, if there is one.
    pub(super) fn backward(&self, story: Story<'_>, d_out: &[f32], d: [&mut [f32]; 3]) -> Vec<f32> {
        let len = story.query.len() / self.shape.width;
        if len == 0 {
            return Vec::new();
        }
        let [d_query, d_key, d_value] = d;
        let (mut p, mut d_p, mut turned) =
            (vec![0.0; len * len], vec![0.0; len * len], vec![0.0; len * len]);
        let mut packed = Vec::new();
        let span = 2 * len - 1;
        let mut d_bias = vec![0.0; if self.bias.is_some() { self.shape.heads * span } else { 0 }];
        for head in 0..self.shape.heads {
            let column = head * self.head_width();
            self.probabilities(story, head, len, &mut packed, &mut p);
            // Through the product with the values.
            self.outer(&d_out[column..], &story.value[column..], len, &mut packed, &mut d_p);
            let mut dropped = p.clone();
            self.drop_out(&mut dropped, story.first, head, len);
            transpose(&dropped, len, len, &mut turned);
            self.mix(&turned, &d_out[column..], len, &mut packed, &mut d_value[column..]);
            // Through dropout and softmax: d_s = p * (d_p - sum(d_p * p)).
            self.drop_out(&mut d_p, story.first, head, len);
            for (i, (d, p)) in d_p.chunks_exact_mut(len).zip(p.chunks_exact(len)).enumerate() {
                for (t, (d, p)) in turned.iter_mut().zip(d.iter().zip(p)) {
                    *t = d * p;
                }
                let total = sum(&turned[..len]);
                for (d, p) in d.iter_mut().zip(p) {
                    *d = p * (*d - total);
                }
                if self.bias.is_some() {
                    let by_distance = &mut d_bias[head * span + len - 1 - i..][..len];
                    by_distance.iter_mut().zip(d.iter()).for_each(|(b, d)| *b += d);
                }
                let scale = self.scale();
                d.iter_mut().for_each(|d| *d *= scale);
            }
            // Through the product of queries and keys.
            self.mix(&d_p, &story.key[column..], len, &mut packed, &mut d_query[column..]);
            transpose(&d_p, len, len, &mut turned);
            self.mix(&turned, &story.query[column..], len, &mut packed, &mut d_key[column..]);
        }
        d_bias
    }
}
