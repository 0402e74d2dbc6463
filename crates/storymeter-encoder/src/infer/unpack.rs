//! The weights of an int8 encoder as floats again, for devices that compute with those.

use super::Cpu;
use super::net::{Linear, Norm, Stack, Weights};
use super::words::Words;
use crate::parameters::{Layout, Pair, Parameters, Tensor};
use crate::relative;

impl Cpu {
    /// The weights in single precision: for each one the number that its eight bits stand for.
    /// Returns `None` unless this is an int8 encoder.
    pub(crate) fn parameters(&self) -> Option<Parameters> {
        self.config.check_encoder().ok()?;
        let layout = Layout::of(&self.config);
        let tensor = |(name, shape): &(String, Vec<usize>)| Tensor {
            name: name.clone(),
            shape: shape.clone(),
            data: vec![0.0; shape.iter().product()],
        };
        let mut tensors: Vec<Tensor> = layout.expected.iter().map(tensor).collect();
        let Words::I8 { rows, scales } = &self.net.words else { return None };
        let Stack { positions, norm, relative, blocks, .. } = &self.net.encoder;
        let width = self.config.hidden;
        let rows = rows.chunks_exact(width).zip(scales);
        tensors[layout.words].data =
            rows.flat_map(|(row, scale)| row.iter().map(move |q| f32::from(*q) * scale)).collect();
        tensors[layout.positions?].data.clone_from(positions);
        put_norm(&mut tensors, layout.norm?, norm.as_ref()?);
        for (place, block) in layout.layers.iter().zip(blocks) {
            put_linear(&mut tensors, &[place.query, place.key, place.value], &block.qkv)?;
            put_linear(&mut tensors, &[place.output], &block.output)?;
            put_linear(&mut tensors, &[place.up], &block.up)?;
            put_linear(&mut tensors, &[place.down], &block.down)?;
            put_norm(&mut tensors, place.attention_norm, &block.attention_norm);
            put_norm(&mut tensors, place.output_norm, &block.output_norm);
        }
        if let (Some(place), Some(table)) = (layout.relative, relative) {
            let (heads, longest) = (self.config.heads, self.config.max_tokens());
            let span = 2 * longest - 1;
            // The packed table has one number per head and distance. Here there is one row per
            // bucket, and any of its distances will do.
            for at in 0..span {
                let bucket = relative::bucket(
                    at as isize - (longest as isize - 1),
                    self.config.relative_buckets,
                );
                for head in 0..heads {
                    tensors[place].data[bucket * heads + head] = table[head * span + at];
                }
            }
        }
        Some(Parameters { tensors })
    }
}

fn put_norm(tensors: &mut [Tensor], place: Pair, norm: &Norm) {
    tensors[place.weight].data.clone_from(&norm.gain);
    if let Some(shift) = place.bias {
        tensors[shift].data = norm.shift.clone().unwrap_or_default();
    }
}

/// Copies the channels of a linear map to one or more tensors that follow each other in it.
fn put_linear(tensors: &mut [Tensor], places: &[Pair], linear: &Linear) -> Option<()> {
    let Weights::I8(packed) = &linear.weights else { return None };
    let (weights, mut bias) = (packed.unpack(), linear.bias.as_slice());
    let mut weights = weights.as_slice();
    for place in places {
        for (tensor, from) in [(Some(place.weight), &mut weights), (place.bias, &mut bias)] {
            let Some(tensor) = tensor else { continue };
            let (here, rest) = from.split_at(tensors[tensor].data.len());
            tensors[tensor].data.copy_from_slice(here);
            *from = rest;
        }
    }
    Some(())
}
