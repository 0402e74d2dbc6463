//! The one type for inference: a model that is ready to run on a device.

mod outputs;

pub use outputs::{Outputs, Pooling, Run, States};

use crate::batch::Batch;
use crate::config::Config;
use crate::infer::{Encoder, Workspace};
use crate::kernel::Isa;
use crate::parameters::Parameters;
use crate::source::{self, Tensors};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Where a model computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Device {
    /// On the processor, with the threads of the current rayon pool.
    #[default]
    Cpu,
    /// On the NVIDIA GPU with this number, counted from 0.
    Cuda(usize),
}

/// How a model multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Eight-bit integers. Weights have one scale per output channel, activations have one scale
    /// and one offset per token.
    Int8,
    /// Sixteen bits with eleven bits of precision. Only on GPUs.
    F16,
    /// Sixteen bits with eight bits of precision and the range of single precision. Only on GPUs.
    Bf16,
    /// Single precision.
    F32,
}

impl Precision {
    /// The name of the precision, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Int8 => "int8",
            Precision::F16 => "f16",
            Precision::Bf16 => "bf16",
            Precision::F32 => "f32",
        }
    }
}

/// What can be predicted from hidden states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    /// The word at a masked token: one logit per vocabulary entry.
    MaskedWord,
    /// The next token: one logit per vocabulary entry.
    NextToken,
    /// Whether an answer starts and ends at a token, as in SQuAD: two logits.
    Answer,
}

impl Head {
    /// The head as a part of a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Head::MaskedWord => "head for masked words",
            Head::NextToken => "head for the next token",
            Head::Answer => "head for answers",
        }
    }
}

/// A model that is ready to run.
///
/// ```
/// use storymeter_encoder::{Batch, Device, Model, Outputs, Pooling, Precision};
///
/// # fn main() -> storymeter_encoder::Result<()> {
/// # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
/// let model = Model::open(&folder, Device::Cpu, Precision::F32)?;
/// let (ids, left_out) = model.tokenizer()?.encode("Mira lost her kite.", 512);
/// let mut batch = Batch::new();
/// batch.push(&ids);
///
/// let run = model.run(&batch, &Outputs::new().layers([0, 2]).pooled(Pooling::Mean))?;
/// let states = run.layer(2);
/// assert_eq!(states.sequence(0).len(), ids.len() * states.width());
/// assert_eq!((run.pooled(0).len(), left_out), (states.width(), 0));
/// # Ok(())
/// # }
/// ```
pub struct Model {
    engine: Engine,
    /// The tokeniser, or why there is none.
    tokenizer: Result<Tokenizer>,
    fingerprint: String,
}

/// The model on the device on which it computes.
enum Engine {
    Cpu {
        encoder: Encoder,
        /// Work buffers that no run uses at the moment.
        idle: Mutex<Vec<Workspace>>,
    },
}

impl Model {
    /// Opens a folder in Hugging Face's layout.
    ///
    /// # Errors
    /// If a file is missing or broken, if the architecture is not supported, and if the device
    /// cannot be used or does not have this precision. A missing tokeniser is no error here.
    pub fn open(path: &Path, device: Device, precision: Precision) -> Result<Model> {
        let opened = source::open(path)?;
        let config = Config::from_fields(opened.config, opened.config_path)?;
        let tokenizer = opened.tokenizer.load(&config);
        let model = Model::from_tensors(config, &*opened.tensors, device, precision)?;
        Ok(Model { tokenizer, fingerprint: opened.fingerprint, ..model })
    }

    /// Makes a model of tensors in memory. It has no tokeniser and no fingerprint.
    ///
    /// # Errors
    /// If a tensor is missing or does not have the shape that the configuration says, and if the
    /// device cannot be used or does not have this precision.
    pub fn from_tensors(
        config: Config,
        tensors: &dyn Tensors,
        device: Device,
        precision: Precision,
    ) -> Result<Model> {
        let engine = match device {
            Device::Cpu => {
                Encoder::refuse(precision)?;
                let parameters = Parameters::of(&config, tensors)?;
                let encoder = Encoder::new(config, &parameters, precision, Isa::detect());
                Engine::Cpu { encoder, idle: Mutex::default() }
            }
            Device::Cuda(_) => return Err(Error::NoOutput("cannot run on a GPU yet".into())),
        };
        let path = PathBuf::from(tensors.path());
        let tokenizer = Err(Error::Tokenizer { path, problem: "has no tokeniser".into() });
        Ok(Model { engine, tokenizer, fingerprint: String::new() })
    }

    /// The sizes and choices of the model.
    pub fn config(&self) -> &Config {
        match &self.engine {
            Engine::Cpu { encoder, .. } => encoder.config(),
        }
    }

    /// The tokeniser.
    ///
    /// # Errors
    /// If the model came without one, or if it is broken or of an unknown kind.
    pub fn tokenizer(&self) -> Result<&Tokenizer> {
        self.tokenizer.as_ref().map_err(Error::again)
    }

    /// The first eight hexadecimal digits of the SHA-256 of the file of weights. Empty for a model
    /// that did not come from a file.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Whether the model has the weights of a head.
    pub fn has(&self, _head: Head) -> bool {
        false
    }

    /// Computes what `outputs` names, for all sequences of `batch`.
    ///
    /// The numbers of a sequence depend on that sequence alone: they are the same bytes for any
    /// batch, any order and any number of threads.
    ///
    /// # Errors
    /// If a sequence is too long or has a token that is not in the vocabulary, and if the model has
    /// no such output.
    pub fn run(&self, batch: &Batch, outputs: &Outputs) -> Result<Run> {
        batch.check(self.config())?;
        let config = self.config();
        let deepest = outputs.layers.last().copied();
        if let Some(layer) = deepest.filter(|layer| *layer > config.layers) {
            let problem =
                format!("has {} layers, so that there is no layer {layer}", config.layers);
            return Err(Error::NoOutput(problem));
        }
        if let Some((head, _)) = &outputs.logits {
            return Err(Error::NoOutput(format!("has no {}", head.name())));
        }
        if outputs.likelihoods {
            return Err(Error::NoOutput(format!("has no {}", Head::NextToken.name())));
        }
        let last = deepest.unwrap_or(config.layers);
        let layers = if outputs.layers.is_empty() { &[last][..] } else { &outputs.layers };
        let mut run = Run::new(batch, config.hidden, layers);
        match &self.engine {
            Engine::Cpu { encoder, idle } => {
                let lock = || idle.lock().expect("no thread panics while it holds the lock");
                let mut workspace = lock().pop().unwrap_or_default();
                run.states = encoder.layers(batch, layers, &mut workspace)?;
                lock().push(workspace);
            }
        }
        if let Some(pooling) = outputs.pooled {
            run.pooled = pooled(&run, batch, last, pooling);
        }
        Ok(run)
    }
}

/// One vector per sequence.
fn pooled(run: &Run, batch: &Batch, layer: usize, pooling: Pooling) -> Vec<f32> {
    let (states, width) = (run.layer(layer), run.width);
    let mut pooled = vec![0.0; batch.len() * width];
    for (i, out) in pooled.chunks_exact_mut(width).enumerate() {
        let states = states.sequence(i);
        let states = &states[..batch.readings()[i].attended * width];
        match pooling {
            _ if states.is_empty() => {}
            Pooling::First => out.copy_from_slice(&states[..width]),
            Pooling::Mean => {
                let mut sums = vec![0f64; width];
                for state in states.chunks_exact(width) {
                    sums.iter_mut().zip(state).for_each(|(sum, x)| *sum += f64::from(*x));
                }
                let count = (states.len() / width) as f64;
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = (sum / count) as f32);
            }
        }
    }
    pooled
}
