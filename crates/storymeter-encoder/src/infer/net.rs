//! The network with its weights packed for inference, and the way of one thread through a layer.

use crate::config::Config;
use crate::infer::Precision;
use crate::infer::attention::Heads;
use crate::infer::words::Words;
use crate::kernel::aligned::Aligned;
use crate::kernel::gemm::{ROWS, SidesF32, gemm_f32, gemm_i8, pack_columns, packed_len};
use crate::kernel::quantised::{PackedI8, RowBuffer, room};
use crate::kernel::steps::{Store, add_norm_rows};
use crate::kernel::{Activation, Isa};
use crate::parameters::{Layout, Pair, Parameters};
use crate::relative;
use std::ops::Range;

/// How many rows go through the feed-forward part together. Its wide rows then stay in the second
/// cache.
pub(super) const BLOCK: usize = 96;

/// How many of `rows` rows go through it together: as few blocks as [`BLOCK`] allows, all of about
/// the same size in whole tiles. A last block of few rows would read all weights for little work.
fn block(rows: usize) -> usize {
    rows.div_ceil(rows.div_ceil(BLOCK).max(1)).next_multiple_of(ROWS).max(ROWS)
}

/// A linear map, packed.
pub(super) struct Linear {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weights: Weights,
    pub(super) bias: Vec<f32>,
}

pub(super) enum Weights {
    F32(Aligned<f32>),
    I8(PackedI8),
}

/// The gain and shift of a layer norm.
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
    pub(super) heads: usize,
    pub(super) longest: usize,
    intermediate: usize,
    first_position: usize,
    eps: f32,
    activation: Activation,
    parts: Parts,
}

/// The weights of a [`Net`].
pub(super) struct Parts {
    pub(super) words: Words,
    /// The position plus segment 0, which are always added together.
    pub(super) positions: Vec<f32>,
    pub(super) norm: Norm,
    pub(super) relative: Option<Vec<f32>>,
    pub(super) layers: Vec<Layer>,
}

/// The buffers of one thread. They grow to the largest need seen and are then kept.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) attention: Vec<f32>,
    pub(super) heads: Heads,
    wide: Aligned<f32>,
    narrow: Aligned<f32>,
    quantised: RowBuffer,
}

impl Scratch {
    /// Makes room for `rows` rows of stories of at most `longest` tokens, so that nothing grows
    /// later.
    pub(super) fn fit(&mut self, net: &Net, rows: usize, longest: usize) {
        room(&mut self.attention, rows * net.hidden);
        room(&mut self.wide, BLOCK * net.intermediate);
        room(&mut self.narrow, BLOCK * net.hidden);
        self.quantised.fit(BLOCK, net.hidden.max(net.intermediate));
        self.heads.fit(net, rows, longest);
    }
}

impl Net {
    pub(super) fn new(
        config: &Config,
        parameters: &Parameters,
        precision: Precision,
        isa: Isa,
    ) -> Net {
        let words = parameters.data(Layout::of(config).words);
        let words = match precision {
            Precision::F32 => Words::F32(words.to_vec()),
            Precision::Int8 => Words::quantise(words, config.hidden),
        };
        let weights = |tensors: &[usize], inputs: usize| {
            let rows: Vec<f32> =
                tensors.iter().flat_map(|tensor| parameters.data(*tensor)).copied().collect();
            let outputs = rows.len() / inputs;
            match precision {
                Precision::F32 => {
                    let mut packed = Aligned::zeros(packed_len(inputs, outputs));
                    pack_columns(&rows, inputs, inputs, outputs, &mut packed);
                    Weights::F32(packed)
                }
                Precision::Int8 => Weights::I8(PackedI8::pack(&rows, outputs, inputs)),
            }
        };
        Net::of(config, parameters, words, &weights, isa)
    }

    /// Puts the network together from these word embeddings, from matrices that `weights` packs
    /// (given their tensors, which follow each other, and the number of their inputs), and from all
    /// other parameters.
    pub(super) fn of(
        config: &Config,
        parameters: &Parameters,
        words: Words,
        weights: &dyn Fn(&[usize], usize) -> Weights,
        isa: Isa,
    ) -> Net {
        let layout = Layout::of(config);
        let linear = |pairs: &[Pair], inputs: usize| {
            let tensors: Vec<usize> = pairs.iter().map(|pair| pair.weight).collect();
            let bias: Vec<f32> =
                pairs.iter().flat_map(|pair| parameters.data(pair.bias)).copied().collect();
            Linear { inputs, outputs: bias.len(), weights: weights(&tensors, inputs), bias }
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
                qkv: linear(&[layer.query, layer.key, layer.value], hidden),
                output: linear(&[layer.output], hidden),
                attention_norm: norm(layer.attention_norm),
                up: linear(&[layer.up], hidden),
                down: linear(&[layer.down], intermediate),
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
        let parts = Parts {
            words,
            positions,
            norm: norm(layout.norm),
            relative: layout.relative.map(|place| {
                relative::bias_table(parameters.data(place), config.heads, config.max_tokens())
            }),
            layers,
        };
        Net::from_parts(config, parts, isa)
    }

    /// Puts the network together from weights that are packed already.
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

    pub(super) fn precision(&self) -> Precision {
        match self.parts.layers.first().map(|layer| &layer.qkv.weights) {
            Some(Weights::F32(_)) => Precision::F32,
            _ => Precision::Int8,
        }
    }

    pub(super) fn layers(&self) -> usize {
        self.parts.layers.len()
    }

    pub(super) fn hidden(&self) -> usize {
        self.hidden
    }

    /// Writes rows `rows` of the embeddings of packed stories into `x`, and their queries, keys and
    /// values into `qkv`.
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
                let position =
                    &self.parts.positions[(self.first_position + row - story[0]) * h..][..h];
                let x = &mut x[(row - rows.start) * h..][..h];
                self.parts.words.add(ids[row], position, x);
            }
        }
        add_norm_rows(self.isa, x, &[], &self.parts.norm.gain, &self.parts.norm.shift, self.eps);
        let block = block(x.len() / h);
        for (x, qkv) in x.chunks(block * h).zip(qkv.chunks_mut(block * 3 * h)) {
            self.linear(&self.parts.layers[0].qkv, x, None, qkv, &mut scratch.quantised);
        }
    }

    /// Takes rows `rows` through layer `layer`: `x` changes in place, from the `qkv` of all rows.
    /// The queries, keys and values of the next layer go into `next`, which is empty after the last
    /// layer.
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
        let Scratch { attention, wide, narrow, quantised, .. } = scratch;
        let Layer { output, attention_norm, up, down, output_norm, .. } = &self.parts.layers[layer];
        let attention = &attention[..x.len()];
        let wide = room(wide, BLOCK * self.intermediate);
        let narrow = room(narrow, BLOCK * h);
        let block = block(x.len() / h);
        let mut next = next.chunks_mut(block * 3 * h);
        for (x, attention) in x.chunks_mut(block * h).zip(attention.chunks(block * h)) {
            let narrow = &mut narrow[..x.len()];
            let wide = &mut wide[..x.len() / h * self.intermediate];
            self.linear(output, attention, None, narrow, quantised);
            add_norm_rows(
                self.isa,
                x,
                narrow,
                &attention_norm.gain,
                &attention_norm.shift,
                self.eps,
            );
            self.linear(up, x, Some(self.activation), wide, quantised);
            self.linear(down, wide, None, narrow, quantised);
            add_norm_rows(self.isa, x, narrow, &output_norm.gain, &output_norm.shift, self.eps);
            if let Some(next) = next.next() {
                self.linear(&self.parts.layers[layer + 1].qkv, x, None, next, quantised);
            }
        }
    }

    fn linear(
        &self,
        linear: &Linear,
        x: &[f32],
        activation: Option<Activation>,
        out: &mut [f32],
        quantised: &mut RowBuffer,
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
                let a = quantised.quantise(self.isa, x, (k, 1), rows, k);
                gemm_i8(self.isa, a, rows, packed.right(), bias, &mut store);
            }
        }
    }
}
