//! The network with its weights packed for inference, and one thread's walk through a layer.

use crate::config::Config;
use crate::infer::Precision;
use crate::infer::words::Words;
use crate::kernel::gemm::{
    PackedI8, QuantisedRows, SidesF32, gemm_f32, gemm_i8, pack_columns, pack_rows, packed_len, quantised_len,
};
use crate::kernel::steps::{RelativeBias, ScaleRows, Store, add_norm_rows, quantise_rows, softmax_rows};
use crate::kernel::{Activation, Isa};
use crate::parameters::{Layout, Pair, Parameters};
use crate::relative;
use std::ops::Range;

/// Rows that go through the feed-forward part together: its wide rows then stay in the second cache.
const BLOCK: usize = 96;

/// A linear map, packed.
pub(super) struct Linear {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weights: Weights,
    pub(super) bias: Vec<f32>,
}

pub(super) enum Weights {
    F32(Vec<f32>),
    I8(PackedI8),
}

/// Gain and shift of a layer norm.
pub(super) struct Norm {
    pub(super) gain: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

pub(super) struct Layer {
    /// Query, key and value side by side.
    pub(super) qkv: Linear,
    pub(super) output: Linear,
    pub(super) attention_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) output_norm: Norm,
}

/// Packed weights of an encoder.
pub(super) struct Net {
    pub(super) isa: Isa,
    hidden: usize,
    heads: usize,
    longest: usize,
    intermediate: usize,
    first_position: usize,
    eps: f32,
    activation: Activation,
    parts: Parts,
}

/// The weights of a [`Net`].
pub(super) struct Parts {
    pub(super) words: Words,
    /// Position plus segment 0: they are always added together.
    pub(super) positions: Vec<f32>,
    pub(super) norm: Norm,
    pub(super) relative: Option<Vec<f32>>,
    pub(super) layers: Vec<Layer>,
}

/// Buffers of one thread. They grow to the largest need seen and are then kept.
#[derive(Default)]
pub(super) struct Scratch {
    attention: Vec<f32>,
    wide: Vec<f32>,
    narrow: Vec<f32>,
    scores: Vec<f32>,
    inverse: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    quantised: Vec<u8>,
    scale: Vec<f32>,
    minimum: Vec<f32>,
}

impl Scratch {
    /// Makes room for `rows` rows of stories of at most `longest` tokens, so that nothing grows later.
    pub(super) fn fit(&mut self, net: &Net, rows: usize, longest: usize) {
        let (h, width, block) = (net.hidden, net.hidden / net.heads, BLOCK.min(rows));
        let widest = quantised_len(h.max(net.intermediate));
        room(&mut self.attention, rows * h);
        room(&mut self.wide, BLOCK * net.intermediate);
        room(&mut self.narrow, BLOCK * h);
        room(&mut self.scores, block * longest);
        room(&mut self.keys, packed_len(width, longest));
        room(&mut self.values, packed_len(longest, width));
        for buffer in [&mut self.inverse, &mut self.scale, &mut self.minimum] {
            room(buffer, BLOCK);
        }
        room(&mut self.quantised, BLOCK * widest);
    }
}

/// At least `len` elements of a kept buffer.
pub(super) fn room<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
    &mut buffer[..len]
}

impl Net {
    pub(super) fn new(config: &Config, parameters: &Parameters, precision: Precision, isa: Isa) -> Net {
        let layout = Layout::of(config);
        let pack = |parts: &[Pair], inputs: usize| {
            let mut weights = Vec::new();
            let mut bias = Vec::new();
            for part in parts {
                weights.extend_from_slice(parameters.data(part.weight));
                bias.extend_from_slice(parameters.data(part.bias));
            }
            let outputs = bias.len();
            let weights = match precision {
                Precision::F32 => {
                    let mut packed = vec![0.0; packed_len(inputs, outputs)];
                    pack_columns(&weights, inputs, inputs, outputs, &mut packed);
                    Weights::F32(packed)
                }
                Precision::Int8 => Weights::I8(PackedI8::pack(&weights, outputs, inputs)),
            };
            Linear { inputs, outputs, weights, bias }
        };
        let norm = |pair: Pair| Norm {
            gain: parameters.data(pair.weight).to_vec(),
            shift: parameters.data(pair.bias).to_vec(),
        };
        let (hidden, intermediate) = (config.hidden, config.intermediate);
        let layers = layout
            .layers
            .iter()
            .map(|layer| Layer {
                qkv: pack(&[layer.query, layer.key, layer.value], hidden),
                output: pack(&[layer.output], hidden),
                attention_norm: norm(layer.attention_norm),
                up: pack(&[layer.up], hidden),
                down: pack(&[layer.down], intermediate),
                output_norm: norm(layer.output_norm),
            })
            .collect();
        let mut positions = parameters.data(layout.positions).to_vec();
        if let Some(segments) = layout.segments {
            let segment = &parameters.data(segments)[..hidden];
            for row in positions.chunks_exact_mut(hidden) {
                row.iter_mut().zip(segment).for_each(|(p, s)| *p += s);
            }
        }
        let words = parameters.data(layout.words);
        let parts = Parts {
            words: match precision {
                Precision::F32 => Words::F32(words.to_vec()),
                Precision::Int8 => Words::quantise(words, hidden),
            },
            positions,
            norm: norm(layout.norm),
            relative: layout
                .relative
                .map(|place| relative::bias_table(parameters.data(place), config.heads, config.max_tokens())),
            layers,
        };
        Net::from_parts(config, parts, isa)
    }

    /// The network of weights that are packed already.
    pub(super) fn from_parts(config: &Config, parts: Parts, isa: Isa) -> Net {
        Net {
            isa,
            hidden: config.hidden,
            heads: config.heads,
            longest: config.max_tokens(),
            intermediate: config.intermediate,
            first_position: config.first_position,
            eps: config.norm_eps,
            activation: config.activation,
            parts,
        }
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(super) fn layers(&self) -> usize {
        self.parts.layers.len()
    }

    pub(super) fn hidden(&self) -> usize {
        self.hidden
    }

    /// Rows `rows` of the embeddings of packed stories into `x`, and their queries, keys and values into `qkv`.
    pub(super) fn embed(
        &self,
        ids: &[u32],
        bounds: &[usize],
        rows: Range<usize>,
        x: &mut [f32],
        qkv: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let h = self.hidden;
        for story in bounds.windows(2) {
            for row in story[0].max(rows.start)..story[1].min(rows.end) {
                let position = &self.parts.positions[(self.first_position + row - story[0]) * h..][..h];
                let x = &mut x[(row - rows.start) * h..][..h];
                self.parts.words.add(ids[row], position, x);
            }
        }
        add_norm_rows(self.isa, x, &[], &self.parts.norm.gain, &self.parts.norm.shift, self.eps);
        for (x, qkv) in x.chunks(BLOCK * h).zip(qkv.chunks_mut(BLOCK * 3 * h)) {
            self.linear(
                &self.parts.layers[0].qkv,
                x,
                None,
                qkv,
                &mut scratch.quantised,
                &mut scratch.scale,
                &mut scratch.minimum,
            );
        }
    }

    /// Takes rows `rows` through layer `layer`: `x` in place, from `qkv` of all rows; the next layer's queries, keys
    /// and values into `next` (empty after the last layer).
    #[allow(clippy::too_many_arguments)]
    pub(super) fn layer(
        &self,
        layer: usize,
        bounds: &[usize],
        rows: Range<usize>,
        x: &mut [f32],
        qkv: &[f32],
        next: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let h = self.hidden;
        self.attention(bounds, rows, qkv, scratch);
        let Scratch { attention, wide, narrow, quantised, scale, minimum, .. } = scratch;
        let Layer { output, attention_norm, up, down, output_norm, .. } = &self.parts.layers[layer];
        let attention = &attention[..x.len()];
        let wide = room(wide, BLOCK * self.intermediate);
        let narrow = room(narrow, BLOCK * h);
        let mut next = next.chunks_mut(BLOCK * 3 * h);
        for (x, attention) in x.chunks_mut(BLOCK * h).zip(attention.chunks(BLOCK * h)) {
            let narrow = &mut narrow[..x.len()];
            let wide = &mut wide[..x.len() / h * self.intermediate];
            self.linear(output, attention, None, narrow, quantised, scale, minimum);
            add_norm_rows(self.isa, x, narrow, &attention_norm.gain, &attention_norm.shift, self.eps);
            self.linear(up, x, Some(self.activation), wide, quantised, scale, minimum);
            self.linear(down, wide, None, narrow, quantised, scale, minimum);
            add_norm_rows(self.isa, x, narrow, &output_norm.gain, &output_norm.shift, self.eps);
            if let Some(next) = next.next() {
                self.linear(&self.parts.layers[layer + 1].qkv, x, None, next, quantised, scale, minimum);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn linear(
        &self,
        linear: &Linear,
        x: &[f32],
        activation: Option<Activation>,
        out: &mut [f32],
        quantised: &mut Vec<u8>,
        scale: &mut Vec<f32>,
        minimum: &mut Vec<f32>,
    ) {
        let (k, n) = (linear.inputs, linear.outputs);
        let rows = x.len() / k;
        let mut store = Store { out, stride: n, activation };
        let bias = &linear.bias;
        match &linear.weights {
            Weights::F32(b) => {
                gemm_f32(self.isa, SidesF32 { a: x, lda: k, m: rows, k, n, b, bias }, &mut store)
            }
            Weights::I8(packed) => {
                let stride = quantised_len(k);
                let q = room(quantised, rows * stride);
                let (scale, minimum) = (room(scale, rows), room(minimum, rows));
                quantise_rows(self.isa, x, k, q, scale, minimum);
                let a = QuantisedRows { q, stride, scale, minimum };
                gemm_i8(self.isa, a, rows, packed, bias, &mut store);
            }
        }
    }

    /// Attention of rows `rows` into `scratch.attention`, story by story and head by head.
    fn attention(&self, bounds: &[usize], rows: Range<usize>, qkv: &[f32], scratch: &mut Scratch) {
        let (h, width) = (self.hidden, self.hidden / self.heads);
        let scale = 1.0 / (width as f32).sqrt();
        let Scratch { attention, scores, inverse, keys, values, .. } = scratch;
        let attention = room(attention, rows.len() * h);
        for story in bounds.windows(2) {
            let (start, len) = (story[0], story[1] - story[0]);
            let (from, to) = (start.max(rows.start), story[1].min(rows.end));
            if from >= to {
                continue;
            }
            let keys = room(keys, packed_len(width, len));
            let values = room(values, packed_len(len, width));
            for head in 0..self.heads {
                let column = |part: usize| start * 3 * h + part * h + head * width;
                pack_columns(&qkv[column(1)..], 3 * h, width, len, keys);
                pack_rows(&qkv[column(2)..], 3 * h, len, width, values);
                let bias = self.parts.relative.as_ref().map(|table| RelativeBias {
                    table: &table[head * (2 * self.longest - 1)..][..2 * self.longest - 1],
                    centre: self.longest - 1,
                });
                for first in (from..to).step_by(BLOCK) {
                    let count = BLOCK.min(to - first);
                    let scores = room(scores, count * len);
                    let inverse = room(inverse, count);
                    let queries = &qkv[first * 3 * h + head * width..];
                    let sides =
                        SidesF32 { a: queries, lda: 3 * h, m: count, k: width, n: len, b: keys, bias: &[] };
                    gemm_f32(self.isa, sides, &mut Store { out: scores, stride: len, activation: None });
                    softmax_rows(self.isa, scores, len, scale, bias, first - start, inverse);
                    let out = &mut attention[(first - rows.start) * h + head * width..];
                    let sides =
                        SidesF32 { a: scores, lda: len, m: count, k: len, n: width, b: values, bias: &[] };
                    gemm_f32(self.isa, sides, &mut ScaleRows { out, stride: h, factors: inverse });
                }
            }
        }
    }
}
