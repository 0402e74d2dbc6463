//! The weights of an int8 encoder as named parts, packed as the kernels read them. This is what a
//! model in one file holds.
//!
//! | part | numbers |
//! |---|---|
//! | `words`, `words.scales` | word embeddings, i8, with one scale per word |
//! | `positions` | position plus segment 0, f32 |
//! | `norm` | gain, then shift, f32 |
//! | `relative` | MPNet's bias by head and distance, f32 |
//! | `layer.N.{qkv,output,up,down}` | weights, i8, in panels of 32 output channels by four inputs |
//! | `….scales`, `….bias` | one number per channel, f32 |
//! | `layer.N.{attention_norm,output_norm}` | gain, then shift, f32 |

use super::Cpu;
use super::head::Heads;
use super::net::{Block, Linear, Net, Norm, Shape, Stack, Weights};
use super::words::Words;
use crate::config::Config;
use crate::kernel::Isa;
use crate::kernel::quantised::PackedI8;
use crate::model::Find;
use crate::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

impl Cpu {
    /// The weights as named parts in little-endian bytes; `None` unless this is an int8 encoder.
    pub(crate) fn parts(&self) -> Option<Vec<(String, Vec<u8>)>> {
        self.config.check_encoder().ok()?;
        let Words::I8 { rows, scales } = &self.net.words else { return None };
        let Stack { positions, norm, relative, blocks, .. } = &self.net.encoder;
        let mut parts = vec![
            ("words".to_owned(), bytemuck::cast_slice(rows).to_vec()),
            ("words.scales".to_owned(), bytes(scales)),
            ("positions".to_owned(), bytes(positions)),
            ("norm".to_owned(), norm_bytes(norm.as_ref()?)),
        ];
        parts.extend(relative.iter().map(|table| ("relative".to_owned(), bytes(table))));
        for (number, block) in blocks.iter().enumerate() {
            let Block { qkv, output, attention_norm, up, down, output_norm, .. } = block;
            for (name, linear) in [("qkv", qkv), ("output", output), ("up", up), ("down", down)] {
                let Weights::I8(packed) = &linear.weights else { return None };
                let name = format!("layer.{number}.{name}");
                parts.push((format!("{name}.scales"), bytes(packed.scales())));
                parts.push((format!("{name}.bias"), bytes(&linear.bias)));
                parts.push((name, bytemuck::cast_slice(packed.data()).to_vec()));
            }
            for (name, norm) in [("attention_norm", attention_norm), ("output_norm", output_norm)] {
                parts.push((format!("layer.{number}.{name}"), norm_bytes(norm)));
            }
        }
        Some(parts)
    }

    /// Makes an int8 encoder from the parts that [`Cpu::parts`] gave.
    ///
    /// # Errors
    /// Returns an error if a part is missing, does not have the size that `config` says, or holds
    /// NaN or infinity. Errors name `path`.
    pub(crate) fn from_parts(config: Config, find: Find<'_>, path: &Path, isa: Isa) -> Result<Cpu> {
        config.check_encoder()?;
        let (hidden, intermediate) = (config.hidden, config.intermediate);
        let source = Source { find, path };
        let block = |number: usize| {
            let linear = |name: &str, inputs: usize, outputs: usize| {
                source.linear(&format!("layer.{number}.{name}"), inputs, outputs)
            };
            let norm = |name: &str| source.norm(&format!("layer.{number}.{name}"), hidden);
            Ok(Block {
                qkv: linear("qkv", hidden, 3 * hidden)?,
                output: linear("output", hidden, hidden)?,
                attention_norm: norm("attention_norm")?,
                cross: None,
                gate: None,
                up: linear("up", hidden, intermediate)?,
                down: linear("down", intermediate, hidden)?,
                output_norm: norm("output_norm")?,
            })
        };
        let distances = config.heads * (2 * config.max_tokens() - 1);
        let words = Words::I8 {
            rows: source.integers("words", config.vocabulary * hidden)?,
            scales: source.numbers("words.scales", config.vocabulary)?,
        };
        let encoder = Stack {
            shape: Shape::encoder(&config, true),
            positions: source.numbers("positions", config.positions * hidden)?,
            second: Vec::new(),
            norm: Some(source.norm("norm", hidden)?),
            relative: match config.relative_buckets {
                0 => None,
                _ => Some(source.numbers("relative", distances)?),
            },
            blocks: (0..config.layers).map(block).collect::<Result<_>>()?,
            last_norm: None,
        };
        let heads = Heads::default();
        Ok(Cpu::of(config, Net { isa, words, encoder, decoder: None, heads }))
    }
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn norm_bytes(norm: &Norm) -> Vec<u8> {
    [bytes(&norm.gain), bytes(norm.shift.as_deref().unwrap_or_default())].concat()
}

/// Finds parts by name, with errors that say what is wrong with which part.
pub(super) struct Source<'a> {
    pub(super) find: Find<'a>,
    pub(super) path: &'a Path,
}

impl Source<'_> {
    pub(super) fn error(&self, name: &str, problem: String) -> Error {
        Error::Tensor { path: self.path.into(), name: name.into(), problem }
    }

    /// A part of any length.
    pub(super) fn bytes(&self, name: &str) -> Result<Cow<'static, [u8]>> {
        (self.find)(name).ok_or_else(|| Error::MissingTensor {
            path: self.path.into(),
            name: name.into(),
            shape: None,
        })
    }

    pub(super) fn part(&self, name: &str, len: usize) -> Result<Cow<'static, [u8]>> {
        let part = self.bytes(name)?;
        if part.len() != len {
            return Err(self.error(name, format!("has {} bytes, expected {len}", part.len())));
        }
        Ok(part)
    }

    fn integers(&self, name: &str, count: usize) -> Result<Cow<'static, [i8]>> {
        Ok(match self.part(name, count)? {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytemuck::cast_slice(bytes)),
            Cow::Owned(bytes) => Cow::Owned(bytes.into_iter().map(u8::cast_signed).collect()),
        })
    }

    fn numbers(&self, name: &str, count: usize) -> Result<Vec<f32>> {
        let part = self.part(name, 4 * count)?;
        let numbers: Vec<f32> = part.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        match numbers.iter().position(|x| !x.is_finite()) {
            Some(place) => Err(self.error(name, format!("number {place} is {}", numbers[place]))),
            None => Ok(numbers),
        }
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm> {
        let mut gain = self.numbers(name, 2 * width)?;
        let shift = gain.split_off(width);
        Ok(Norm { gain, shift: Some(shift) })
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear> {
        let data = self.integers(name, PackedI8::data_len(outputs, inputs))?;
        let scales = self.numbers(&format!("{name}.scales"), outputs)?;
        let weights = Weights::I8(PackedI8::from_packed(data, &scales, inputs));
        Ok(Linear {
            inputs,
            outputs,
            weights,
            bias: self.numbers(&format!("{name}.bias"), outputs)?,
        })
    }
}
