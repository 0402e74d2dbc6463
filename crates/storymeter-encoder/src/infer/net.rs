//! The network with its weights packed for inference.

use super::head::Heads;
use super::words::Words;
use crate::config::Config;
use crate::family::{self, Order};
use crate::kernel::aligned::Aligned;
use crate::kernel::gemm::{Epilogue, SidesF32, gemm_f32, gemm_i8};
use crate::kernel::norm::{add_rows, rms_rows};
use crate::kernel::quantised::{PackedI8, RowBuffer};
use crate::kernel::steps::{Store, add_norm_rows};
use crate::kernel::{Activation, Isa};

/// Packed weights of a model.
pub(super) struct Net {
    pub(super) isa: Isa,
    pub(super) words: Words,
    /// The blocks that read the sequences.
    pub(super) encoder: Stack,
    /// The blocks that read the targets.
    pub(super) decoder: Option<Stack>,
    pub(super) heads: Heads,
}

/// Blocks that follow each other, and what comes before and after them.
pub(super) struct Stack {
    pub(super) shape: Shape,
    /// The position plus segment 0, which are always added together. Empty if positions are
    /// rotary.
    pub(super) positions: Vec<f32>,
    /// What segment 1 adds to that. Empty if there is no such segment.
    pub(super) second: Vec<f32>,
    /// The norm of the embeddings.
    pub(super) norm: Option<Norm>,
    /// The relative position biases, by head and distance.
    pub(super) relative: Option<Vec<f32>>,
    pub(super) blocks: Vec<Block>,
    /// The norm after all blocks.
    pub(super) last_norm: Option<Norm>,
}

/// The sizes and choices of a stack.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) hidden: usize,
    pub(super) heads: usize,
    /// The number of heads that have keys and values of their own.
    pub(super) key_heads: usize,
    pub(super) head_width: usize,
    pub(super) intermediate: usize,
    pub(super) activation: Activation,
    pub(super) eps: f32,
    pub(super) order: Order,
    pub(super) causal: bool,
    /// The most tokens of a sequence.
    pub(super) longest: usize,
    /// The row of the position of the first token.
    pub(super) first_position: usize,
    pub(super) int8: bool,
}

impl Shape {
    /// The shape of the encoder of a model.
    pub(super) fn encoder(config: &Config, int8: bool) -> Shape {
        let architecture = config.family.architecture();
        Shape {
            hidden: config.hidden,
            heads: config.heads,
            key_heads: config.heads / config.shared_heads,
            head_width: config.head_width(),
            intermediate: config.intermediate,
            activation: config.activation,
            eps: config.norm_eps,
            order: architecture.order,
            causal: architecture.encoder.causal,
            longest: config.max_tokens(),
            first_position: config.first_position,
            int8,
        }
    }

    /// The shape of a decoder.
    pub(super) fn decoder(
        config: &Config,
        decoder: &crate::config::Decoder,
        stack: &family::Stack,
        int8: bool,
    ) -> Shape {
        Shape {
            heads: decoder.heads,
            key_heads: decoder.heads,
            head_width: config.hidden / decoder.heads,
            intermediate: decoder.intermediate,
            causal: stack.causal,
            ..Shape::encoder(config, int8)
        }
    }

    /// How many numbers the queries of a token have.
    pub(super) fn queries(&self) -> usize {
        self.heads * self.head_width
    }

    /// How many numbers the keys of a token have, and the values too.
    pub(super) fn keys(&self) -> usize {
        self.key_heads * self.head_width
    }

    /// How many numbers queries, keys and values of a token have together.
    pub(super) fn qkv(&self) -> usize {
        self.queries() + 2 * self.keys()
    }
}

pub(super) struct Block {
    /// Queries, keys and values side by side.
    pub(super) qkv: Linear,
    pub(super) output: Linear,
    pub(super) attention_norm: Norm,
    pub(super) cross: Option<Cross>,
    pub(super) gate: Option<Linear>,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) output_norm: Norm,
}

/// Attention to what the encoder made of the sequence.
pub(super) struct Cross {
    pub(super) query: Linear,
    /// Keys and values side by side.
    pub(super) memory: Linear,
    pub(super) output: Linear,
    pub(super) norm: Norm,
}

/// A linear map, packed.
pub(super) struct Linear {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weights: Weights,
    /// Empty if there is none.
    pub(super) bias: Vec<f32>,
}

pub(super) enum Weights {
    F32(Aligned<f32>),
    I8(PackedI8),
}

impl Linear {
    /// Writes the map of the rows of `x` to `out`.
    pub(super) fn apply(
        &self,
        isa: Isa,
        x: &[f32],
        activation: Option<Activation>,
        out: &mut [f32],
        quantised: &mut RowBuffer,
    ) {
        let mut store = Store { out, stride: self.outputs, activation };
        self.product(isa, x, &self.bias, &mut store, quantised);
    }

    /// Hands the product of the rows of `x` plus `bias` over to `epilogue`.
    pub(super) fn product<E: Epilogue>(
        &self,
        isa: Isa,
        x: &[f32],
        bias: &[f32],
        epilogue: &mut E,
        quantised: &mut RowBuffer,
    ) {
        let (k, n) = (self.inputs, self.outputs);
        let m = x.len() / k;
        match &self.weights {
            Weights::F32(b) => {
                gemm_f32(isa, SidesF32 { a: x, lda: k, m, k, n, b, bias }, epilogue);
            }
            Weights::I8(packed) => {
                let a = quantised.quantise(isa, x, (k, 1), m, k);
                gemm_i8(isa, a, m, packed.right(), bias, epilogue);
            }
        }
    }
}

/// The gain and shift of a layer norm, or the gain of an RMS norm.
pub(super) struct Norm {
    pub(super) gain: Vec<f32>,
    pub(super) shift: Option<Vec<f32>>,
}

impl Norm {
    /// Replaces the rows of `x` by the norm of `x + added`. `added` may be empty.
    pub(super) fn apply(&self, isa: Isa, x: &mut [f32], added: &[f32], eps: f32) {
        match &self.shift {
            Some(shift) => add_norm_rows(isa, x, added, &self.gain, shift, eps),
            None => {
                add_rows(isa, x, added);
                rms_rows(isa, x, &self.gain, eps);
            }
        }
    }
}
