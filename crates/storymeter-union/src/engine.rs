//! What a model computes with: this machine's processor, or a GPU.

use std::borrow::Cow;
#[cfg(feature = "cuda")]
use std::sync::Arc;

#[cfg(feature = "cuda")]
use half::{bf16, f16};
#[cfg(feature = "cuda")]
use rayon::prelude::*;
#[cfg(feature = "cuda")]
use storymeter_encoder::cuda::{CudaEncoder, Vectors};
use storymeter_encoder::{Batch, Config, Encoder, Precision, Workspace};
#[cfg(feature = "cuda")]
use storymeter_encoder::{Isa, Parameters};

use crate::Result;
#[cfg(feature = "cuda")]
use crate::{Error, Pooling};

/// How a GPU multiplies when it scores.
#[cfg(feature = "cuda")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GpuPrecision {
    /// Eight-bit integers, rounded as the CPU rounds them: the CPU's scores, byte for byte.
    #[default]
    Int8,
    /// Sixteen bits, eleven of them for precision: as fast as bf16 and eight times as exact.
    F16,
    /// Sixteen bits, eight of them for precision, with single precision's range.
    Bf16,
    /// Single precision.
    F32,
}

/// An encoder where it is.
pub(crate) enum Engine {
    Cpu(Encoder, Precision),
    #[cfg(feature = "cuda")]
    Cuda {
        encoder: CudaEncoder,
        precision: GpuPrecision,
        words: Words,
    },
}

/// The word embeddings on the host, for a reconstruction head that is tied to them.
#[cfg(feature = "cuda")]
pub(crate) enum Words {
    /// One row a word; empty without such a head.
    Floats(Vec<f32>),
    /// Those of the encoder that was taken to the GPU.
    Int8(Arc<Encoder>),
}

/// The last hidden states of a batch.
pub(crate) struct States<'a> {
    numbers: Cow<'a, [f32]>,
    batch: &'a Batch,
    width: usize,
}

impl States<'_> {
    /// Those of one story's tokens.
    pub fn story(&self, story: usize) -> &[f32] {
        let span = self.batch.span(story);
        &self.numbers[span.start * self.width..span.end * self.width]
    }
}

impl Engine {
    /// Takes an int8 encoder to a GPU, as it is or, in other precisions, as the numbers its weights stand for; `tied` keeps
    /// the word embeddings here too.
    #[cfg(feature = "cuda")]
    pub fn cuda_of(
        encoder: Encoder,
        tied: bool,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        if precision == GpuPrecision::Int8 {
            return Self::int8_on_gpu(encoder, gpu);
        }
        // An int8 encoder has them.
        let parameters = encoder.parameters().unwrap_or_default();
        Self::cuda((encoder.config().clone(), parameters), tied, gpu, precision)
    }

    /// Takes weights to a GPU; `tied` keeps the word embeddings here too.
    #[cfg(feature = "cuda")]
    pub fn cuda(
        (config, parameters): (Config, Parameters),
        tied: bool,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        // The table of words is an encoder's first tensor.
        let table = parameters.tensors.first().filter(|_| tied && precision != GpuPrecision::Int8);
        let words = table.map_or(Vec::new(), |words| words.data.clone());
        let encoder = match precision {
            GpuPrecision::Int8 => {
                let encoder = Encoder::new(config, &parameters, Precision::Int8, Isa::detect());
                return Self::int8_on_gpu(encoder, gpu);
            }
            GpuPrecision::F16 => CudaEncoder::new::<f16>(gpu, config, parameters)?,
            GpuPrecision::Bf16 => CudaEncoder::new::<bf16>(gpu, config, parameters)?,
            GpuPrecision::F32 => CudaEncoder::new::<f32>(gpu, config, parameters)?,
        };
        Ok(Self::Cuda { encoder, precision, words: Words::Floats(words) })
    }

    /// Takes an int8 encoder to a GPU as it is.
    #[cfg(feature = "cuda")]
    fn int8_on_gpu(encoder: Encoder, gpu: usize) -> Result<Self> {
        let words = Arc::new(encoder);
        let encoder = CudaEncoder::int8(gpu, Arc::clone(&words))?;
        Ok(Self::Cuda { encoder, precision: GpuPrecision::Int8, words: Words::Int8(words) })
    }

    pub fn config(&self) -> &Config {
        match self {
            Self::Cpu(encoder, _) => encoder.config(),
            #[cfg(feature = "cuda")]
            Self::Cuda { encoder, .. } => encoder.config(),
        }
    }

    /// The last hidden state of every token.
    pub fn states<'a>(&self, batch: &'a Batch, workspace: &'a mut Workspace) -> Result<States<'a>> {
        let numbers = match self {
            Self::Cpu(encoder, _) => Cow::Borrowed(encoder.encode(batch, workspace)?.states()),
            #[cfg(feature = "cuda")]
            Self::Cuda { encoder, .. } => {
                Cow::Owned(self.finite(encoder.submit(batch.clone(), Vectors::States)?.wait()?)?)
            }
        };
        Ok(States { numbers, batch, width: self.config().hidden })
    }

    /// What came from a GPU, unless its precision was too small for the model.
    #[cfg(feature = "cuda")]
    pub fn finite(&self, numbers: Vec<f32>) -> Result<Vec<f32>> {
        if numbers.iter().all(|x| x.is_finite()) {
            return Ok(numbers);
        }
        Err(Error::Overflow { precision: self.precision() })
    }

    /// For each of some states its products with the embeddings of all vocabulary entries.
    pub fn word_products(&self, states: &[f32]) -> Vec<Vec<f32>> {
        match self {
            Self::Cpu(encoder, _) => encoder.word_products(states),
            #[cfg(feature = "cuda")]
            Self::Cuda { words: Words::Int8(encoder), .. } => encoder.word_products(states),
            #[cfg(feature = "cuda")]
            Self::Cuda { words: Words::Floats(words), .. } => {
                let width = self.config().hidden;
                let product =
                    |row: &[f32], state: &[f32]| row.iter().zip(state).map(|(w, x)| w * x).sum();
                let of = |state: &[f32]| {
                    words.chunks_exact(width).map(|row| product(row, state)).collect()
                };
                states.par_chunks_exact(width).map(of).collect()
            }
        }
    }

    /// The precision, as a signature names it.
    pub fn precision(&self) -> &'static str {
        match self {
            Self::Cpu(_, Precision::F32) => "f32",
            Self::Cpu(_, Precision::Int8) => "int8",
            #[cfg(feature = "cuda")]
            Self::Cuda { precision: GpuPrecision::Int8, .. } => "int8",
            #[cfg(feature = "cuda")]
            Self::Cuda { precision: GpuPrecision::F16, .. } => "f16",
            #[cfg(feature = "cuda")]
            Self::Cuda { precision: GpuPrecision::Bf16, .. } => "bf16",
            #[cfg(feature = "cuda")]
            Self::Cuda { precision: GpuPrecision::F32, .. } => "f32",
        }
    }

    /// The kind of instructions, where the last digits of a score depend on it: int8 gives the same
    /// scores with all of them.
    pub fn instructions(&self) -> Option<&'static str> {
        match self {
            Self::Cpu(_, Precision::Int8) => None,
            #[cfg(feature = "cuda")]
            Self::Cuda { precision: GpuPrecision::Int8, .. } => None,
            Self::Cpu(encoder, Precision::F32) => Some(encoder.isa().name()),
            #[cfg(feature = "cuda")]
            Self::Cuda { .. } => Some("cuda"),
        }
    }
}

/// The vectors a GPU pools by itself.
#[cfg(feature = "cuda")]
pub(crate) fn pooled_by(pooling: Pooling) -> Vectors {
    match pooling {
        Pooling::Cls => Vectors::Firsts,
        Pooling::Mean => Vectors::Means,
    }
}
