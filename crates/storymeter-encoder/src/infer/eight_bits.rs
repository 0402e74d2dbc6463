//! The weights of an int8 encoder row by row, for a device that multiplies in eight bits itself.

use super::Cpu;
use super::net::{self, Stack, Weights};
use super::words::Words;

/// The weights of an int8 encoder. Each matrix has one row per output.
pub(crate) struct EightBits<'a> {
    pub(crate) words: &'a [i8],
    /// One scale per word.
    pub(crate) word_scales: &'a [f32],
    /// The position plus segment 0.
    pub(crate) positions: &'a [f32],
    pub(crate) norm: Norm<'a>,
    /// One bias per head and distance.
    pub(crate) relative: Option<&'a [f32]>,
    pub(crate) layers: Vec<Layer<'a>>,
}

/// Gain and shift.
pub(crate) type Norm<'a> = [&'a [f32]; 2];

pub(crate) struct Layer<'a> {
    /// Query, key and value side by side.
    pub(crate) qkv: Linear<'a>,
    pub(crate) output: Linear<'a>,
    pub(crate) attention_norm: Norm<'a>,
    pub(crate) up: Linear<'a>,
    pub(crate) down: Linear<'a>,
    pub(crate) output_norm: Norm<'a>,
}

pub(crate) struct Linear<'a> {
    pub(crate) outputs: usize,
    /// The rows of weights, padded with zeros up to the stride that was asked for.
    pub(crate) rows: Vec<i8>,
    /// What one step of the numbers of each row is worth.
    pub(crate) scales: &'a [f32],
    /// The sum of the quantised numbers of each row, times its scale.
    pub(crate) offsets: &'a [f32],
    pub(crate) bias: &'a [f32],
}

impl Cpu {
    /// The weights, with rows padded to multiples of `multiple`; `None` unless this is an int8
    /// encoder.
    pub(crate) fn eight_bits(&self, multiple: usize) -> Option<EightBits<'_>> {
        self.config.check_encoder().ok()?;
        let Words::I8 { rows, scales } = &self.net.words else { return None };
        let Stack { positions, norm, relative, blocks, .. } = &self.net.encoder;
        let layers = blocks.iter().map(|layer| {
            Some(Layer {
                qkv: linear_of(&layer.qkv, multiple)?,
                output: linear_of(&layer.output, multiple)?,
                attention_norm: norm_of(&layer.attention_norm),
                up: linear_of(&layer.up, multiple)?,
                down: linear_of(&layer.down, multiple)?,
                output_norm: norm_of(&layer.output_norm),
            })
        });
        Some(EightBits {
            words: rows,
            word_scales: scales,
            positions,
            norm: norm_of(norm.as_ref()?),
            relative: relative.as_deref(),
            layers: layers.collect::<Option<_>>()?,
        })
    }
}

fn norm_of(norm: &net::Norm) -> Norm<'_> {
    [&norm.gain, norm.shift.as_deref().unwrap_or_default()]
}

fn linear_of(linear: &net::Linear, multiple: usize) -> Option<Linear<'_>> {
    let net::Linear { inputs, outputs, weights: Weights::I8(packed), bias } = linear else {
        return None;
    };
    Some(Linear {
        outputs: *outputs,
        rows: packed.rows(inputs.next_multiple_of(multiple)),
        scales: packed.scales(),
        offsets: &packed.right().offsets[..*outputs],
        bias,
    })
}
