//! Runs the encoder of a model on the CPU or on a GPU.

#[cfg(feature = "cuda")]
use std::sync::Arc;

#[cfg(feature = "cuda")]
use half::{bf16, f16};
#[cfg(feature = "cuda")]
use storymeter_encoder::cuda::{CudaEncoder, Vectors};
use storymeter_encoder::{Batch, Config, ForwardPass, Model, Outputs, Precision};
#[cfg(feature = "cuda")]
use storymeter_encoder::{Device, PackedRows, Parameters};

use crate::{Pooling, Result};

/// The precision in which a GPU computes scores.
#[cfg(feature = "cuda")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GpuPrecision {
    /// Eight-bit integers, rounded as on the CPU: the scores are the CPU's, byte for byte.
    #[default]
    Int8,
    /// Sixteen bits with eleven bits of precision: as fast as bf16 and eight times as exact.
    F16,
    /// Sixteen bits with eight bits of precision and the range of single precision.
    Bf16,
    /// Single precision.
    F32,
}

/// An encoder on the device on which it computes.
pub(crate) enum Engine {
    Cpu(Model),
    #[cfg(feature = "cuda")]
    Cuda {
        encoder: CudaEncoder,
        precision: GpuPrecision,
        words: Words,
    },
}

/// The word embeddings in the memory of the host, for a reconstruction head that is tied to them.
#[cfg(feature = "cuda")]
pub(crate) enum Words {
    /// One row per word. It is empty if there is no such head.
    Floats(PackedRows),
    /// The int8 encoder that was copied to the GPU.
    Int8(Arc<Model>),
}

/// The last hidden states of a batch.
pub(crate) enum States {
    Cpu {
        run: ForwardPass,
        layer: usize,
    },
    #[cfg(feature = "cuda")]
    Cuda {
        numbers: Vec<f32>,
        bounds: Vec<usize>,
        width: usize,
    },
}

impl States {
    /// The states of the tokens of one story.
    pub fn story(&self, story: usize) -> &[f32] {
        match self {
            Self::Cpu { run, layer } => run.layer(*layer).sequence(story),
            #[cfg(feature = "cuda")]
            Self::Cuda { numbers, bounds, width } => {
                &numbers[bounds[story] * width..bounds[story + 1] * width]
            }
        }
    }
}

impl Engine {
    /// Copies an int8 encoder to a GPU. In other precisions the numbers are copied that its weights
    /// stand for. With `tied`, the word embeddings are kept in the host's memory too.
    #[cfg(feature = "cuda")]
    pub fn cuda_of(
        encoder: Model,
        tied: bool,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        if precision == GpuPrecision::Int8 {
            return Self::int8_on_gpu(encoder, gpu);
        }
        // Every int8 encoder has parameters.
        let parameters = encoder.parameters().unwrap_or_default();
        Self::cuda((encoder.config().clone(), parameters), tied, gpu, precision)
    }

    /// Copies weights to a GPU. With `tied`, the word embeddings are kept in the host's memory too.
    #[cfg(feature = "cuda")]
    pub fn cuda(
        (config, parameters): (Config, Parameters),
        tied: bool,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        // The first tensor of an encoder holds the word embeddings.
        let table = parameters.tensors.first().filter(|_| tied && precision != GpuPrecision::Int8);
        let words = PackedRows::new(table.map_or(&[], |words| &words.data), config.hidden);
        let encoder = match precision {
            GpuPrecision::Int8 => {
                let (device, precision) = (Device::Cpu, Precision::Int8);
                let encoder = Model::from_tensors(config, &parameters, device, precision)?;
                return Self::int8_on_gpu(encoder, gpu);
            }
            GpuPrecision::F16 => CudaEncoder::new::<f16>(gpu, config, parameters)?,
            GpuPrecision::Bf16 => CudaEncoder::new::<bf16>(gpu, config, parameters)?,
            GpuPrecision::F32 => CudaEncoder::new::<f32>(gpu, config, parameters)?,
        };
        Ok(Self::Cuda { encoder, precision, words: Words::Floats(words) })
    }

    /// Copies an int8 encoder to a GPU without changes.
    #[cfg(feature = "cuda")]
    fn int8_on_gpu(encoder: Model, gpu: usize) -> Result<Self> {
        let words = Arc::new(encoder);
        let encoder = CudaEncoder::int8(gpu, Arc::clone(&words))?;
        Ok(Self::Cuda { encoder, precision: GpuPrecision::Int8, words: Words::Int8(words) })
    }

    pub fn config(&self) -> &Config {
        match self {
            Self::Cpu(model) => model.config(),
            #[cfg(feature = "cuda")]
            Self::Cuda { encoder, .. } => encoder.config(),
        }
    }

    /// The last hidden state of every token.
    pub fn states(&self, batch: &Batch) -> Result<States> {
        match self {
            Self::Cpu(model) => {
                let layer = model.config().layers;
                Ok(States::Cpu { run: model.run(batch, &Outputs::new().layers([layer]))?, layer })
            }
            #[cfg(feature = "cuda")]
            Self::Cuda { encoder, .. } => {
                let numbers = encoder.submit(batch.clone(), Vectors::States)?.wait()?;
                let (bounds, width) = (batch.bounds().to_vec(), self.config().hidden);
                Ok(States::Cuda { numbers: self.finite(numbers)?, bounds, width })
            }
        }
    }

    /// Checks the numbers that came from a GPU.
    ///
    /// # Errors
    /// Returns [`storymeter_encoder::Error::Overflow`] if one of them is not finite: the precision
    /// was too small for the model.
    #[cfg(feature = "cuda")]
    pub fn finite(&self, numbers: Vec<f32>) -> Result<Vec<f32>> {
        if numbers.iter().all(|x| x.is_finite()) {
            return Ok(numbers);
        }
        Err(storymeter_encoder::Error::Overflow { precision: self.precision() }.into())
    }

    /// The products of each state with the embeddings of all vocabulary entries: one vector per
    /// state.
    pub fn word_products(&self, states: &[f32]) -> Vec<Vec<f32>> {
        match self {
            Self::Cpu(model) => model.word_products(states),
            #[cfg(feature = "cuda")]
            Self::Cuda { words: Words::Int8(encoder), .. } => encoder.word_products(states),
            #[cfg(feature = "cuda")]
            Self::Cuda { words: Words::Floats(words), .. } => {
                let width = self.config().hidden;
                let mut products = vec![0.0; states.len() / width * words.len()];
                words.products(states, &mut products);
                products.chunks_exact(words.len().max(1)).map(<[f32]>::to_vec).collect()
            }
        }
    }

    /// The precision, as a signature names it.
    pub fn precision(&self) -> &'static str {
        match self {
            Self::Cpu(model) => model.precision().name(),
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

    /// The instruction set, if the last digits of a score depend on it. In int8 they do not.
    pub fn instructions(&self) -> Option<&'static str> {
        match self {
            Self::Cpu(model) => match model.precision() {
                Precision::Int8 => None,
                _ => Some(model.isa().name()),
            },
            #[cfg(feature = "cuda")]
            Self::Cuda { precision: GpuPrecision::Int8, .. } => None,
            #[cfg(feature = "cuda")]
            Self::Cuda { .. } => Some("cuda"),
        }
    }
}

/// The vectors of a batch for this pooling, as the CPU gives them.
pub(crate) fn pooled(pooling: Pooling) -> Outputs {
    Outputs::new().pooled(match pooling {
        Pooling::Cls | Pooling::Pooler => storymeter_encoder::Pooling::First,
        Pooling::Mean => storymeter_encoder::Pooling::Mean,
    })
}

/// Which vectors the GPU returns for this pooling.
#[cfg(feature = "cuda")]
pub(crate) fn pooled_by(pooling: Pooling) -> Vectors {
    match pooling {
        Pooling::Cls | Pooling::Pooler => Vectors::Firsts,
        Pooling::Mean => Vectors::Means,
    }
}
