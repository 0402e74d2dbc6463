//! The one type for inference: a model that is ready to run on a device.

mod outputs;

pub use outputs::{ForwardPass, Outputs, Pooling, States};

use crate::batch::Batch;
use crate::config::Config;
#[cfg(feature = "cuda")]
use crate::cuda::CudaModel;
use crate::grid::Grid;
use crate::infer::Cpu;
#[cfg(feature = "cuda")]
use crate::infer::eight_bits::EightBits;
use crate::kernel::Isa;
use crate::parameters::Parameters;
use crate::source::{self, Tensors};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

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
    ///
    /// The values of a head have one scale per channel of the whole sequence. In a causal model,
    /// where a token does not see those after it, these still set how its numbers are rounded.
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
    Cpu(Box<Cpu>),
    #[cfg(feature = "cuda")]
    Cuda(Box<CudaModel>),
}

impl Model {
    /// Opens a folder in Hugging Face's layout.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, if the architecture is not supported, and
    /// if the device cannot be used or does not have this precision. A missing tokeniser is no
    /// error here.
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
    /// Returns an error if a tensor is missing or does not have the shape that the configuration
    /// says, and if the device cannot be used or does not have this precision.
    pub fn from_tensors(
        config: Config,
        tensors: &dyn Tensors,
        device: Device,
        precision: Precision,
    ) -> Result<Model> {
        match device {
            Device::Cpu => Model::on_cpu(config, tensors, precision, Isa::detect()),
            #[cfg(feature = "cuda")]
            Device::Cuda(ordinal) => {
                let model = CudaModel::open(ordinal, config, tensors, precision)?;
                Ok(Model::of(Engine::Cuda(Box::new(model)), tensors.path()))
            }
            #[cfg(not(feature = "cuda"))]
            Device::Cuda(_) => Err(crate::DeviceError::NotBuilt.into()),
        }
    }

    /// As [`Model::from_tensors`] on the CPU, but with chosen instructions. In int8 they change
    /// nothing, in f32 the last digits.
    ///
    /// # Errors
    /// As [`Model::from_tensors`].
    pub fn on_cpu(
        config: Config,
        tensors: &dyn Tensors,
        precision: Precision,
        isa: Isa,
    ) -> Result<Model> {
        let cpu = Cpu::new(config, tensors, precision, isa)?;
        Ok(Model::of(Engine::Cpu(Box::new(cpu)), tensors.path()))
    }

    /// A model without tokeniser and fingerprint. Errors name `path`.
    fn of(engine: Engine, path: &Path) -> Model {
        let problem = "has no tokeniser".into();
        Model {
            engine,
            tokenizer: Err(Error::Tokenizer { path: path.into(), problem }),
            fingerprint: String::new(),
        }
    }

    /// The model on the CPU, if it is there.
    fn cpu(&self) -> Option<&Cpu> {
        match &self.engine {
            Engine::Cpu(cpu) => Some(cpu),
            #[cfg(feature = "cuda")]
            Engine::Cuda(_) => None,
        }
    }

    /// The sizes and choices of the model.
    pub fn config(&self) -> &Config {
        match &self.engine {
            Engine::Cpu(cpu) => &cpu.config,
            #[cfg(feature = "cuda")]
            Engine::Cuda(model) => model.config(),
        }
    }

    /// The tokeniser.
    ///
    /// # Errors
    /// Returns an error if the model came without one, or if it is broken or of an unknown kind.
    pub fn tokenizer(&self) -> Result<&Tokenizer> {
        self.tokenizer.as_ref().map_err(Error::again)
    }

    /// The first eight hexadecimal digits of the SHA-256 of the file of weights. Empty for a model
    /// that did not come from a file.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How the model multiplies.
    pub fn precision(&self) -> Precision {
        match &self.engine {
            Engine::Cpu(cpu) => cpu.precision(),
            #[cfg(feature = "cuda")]
            Engine::Cuda(model) => model.precision(),
        }
    }

    /// The instructions of the processor that are used, or would be on the CPU.
    pub fn isa(&self) -> Isa {
        self.cpu().map_or_else(Isa::detect, Cpu::isa)
    }

    /// Whether the model has the weights of a head.
    pub fn has(&self, head: Head) -> bool {
        match &self.engine {
            Engine::Cpu(cpu) => cpu.has(head),
            #[cfg(feature = "cuda")]
            Engine::Cuda(model) => model.has(head),
        }
    }

    /// Computes what `outputs` names, for all sequences of `batch`.
    ///
    /// The numbers of a sequence depend on that sequence alone: they are the same bytes for any
    /// batch, any order and any number of threads.
    ///
    /// # Errors
    /// Returns an error if a sequence is too long or has a token that is not in the vocabulary, and
    /// if the model has no such output.
    pub fn run(&self, batch: &Batch, outputs: &Outputs) -> Result<ForwardPass> {
        let segments = match &self.engine {
            Engine::Cpu(cpu) => cpu.segments(),
            #[cfg(feature = "cuda")]
            Engine::Cuda(model) => model.config().segments,
        };
        batch.check_for(self.config(), segments)?;
        self.check(batch, outputs)?;
        match &self.engine {
            Engine::Cpu(cpu) => Ok(cpu.run(batch, outputs)),
            #[cfg(feature = "cuda")]
            Engine::Cuda(model) => model.run(batch, outputs),
        }
    }

    /// Checks that the model has what is asked for.
    fn check(&self, batch: &Batch, outputs: &Outputs) -> Result<()> {
        let config = self.config();
        if let Some(layer) = outputs.layers.last().filter(|layer| **layer > config.layers) {
            let layers = config.layers;
            let problem = format!("has {layers} layers, so that there is no layer {layer}");
            return Err(Error::NoOutput(problem));
        }
        let heads = outputs.logits.iter().map(|(head, _)| *head);
        let heads = heads.chain(outputs.likelihoods.then_some(Head::NextToken));
        if let Some(head) = heads.into_iter().find(|head| !self.has(*head)) {
            return Err(Error::NoOutput(format!("has no {}", head.name())));
        }
        if let Some((head, positions)) = &outputs.logits {
            let targets = config.has_decoder() && *head == Head::NextToken;
            let (count, bounds) = match targets {
                true => (batch.targets(), batch.target_bounds()),
                false => (batch.len(), batch.bounds()),
            };
            let there = |&(story, token): &(usize, usize)| {
                story < count && token < bounds[story + 1] - bounds[story]
            };
            if let Some((story, token)) = positions.iter().find(|position| !there(position)) {
                let problem = format!("it has no token {token}");
                return Err(Error::Batch { story: *story, problem });
            }
        }
        Ok(())
    }
}

/// What UNION's own model files and heads need of an int8 encoder.
impl Model {
    /// For each of some states (rows of the hidden width), its products with the embeddings of all
    /// vocabulary entries. They are the logits of a head that is tied to the word embeddings. There
    /// are none unless the model is on the CPU.
    pub fn word_products(&self, states: &[f32]) -> Vec<Vec<f32>> {
        self.cpu().map_or_else(Vec::new, |cpu| cpu.word_products(states))
    }

    /// The weights as named parts in little-endian bytes; `None` unless this is an int8 encoder on
    /// the CPU.
    pub fn parts(&self) -> Option<Vec<(String, Vec<u8>)>> {
        self.cpu()?.parts()
    }

    /// The weights in single precision: for each one the number that its eight bits stand for.
    /// Returns `None` unless this is an int8 encoder on the CPU.
    ///
    /// Packing adds the first segment to every position, so that the segments are zero here.
    pub fn parameters(&self) -> Option<Parameters> {
        self.cpu()?.parameters()
    }

    /// Makes an int8 encoder from the parts that [`Model::parts`] gave, with the same hidden
    /// states, bit for bit. Borrowed weights stay where they are.
    ///
    /// # Errors
    /// Returns an error if a part is missing, does not have the size that `config` says, or holds
    /// NaN or infinity. Errors name `path`.
    pub fn from_parts(config: Config, find: Find<'_>, path: &Path) -> Result<Model> {
        let cpu = Cpu::from_parts(config, find, path, Isa::detect())?;
        Ok(Model::of(Engine::Cpu(Box::new(cpu)), path))
    }

    /// Makes an int8 encoder from the bytes that [`Parameters::packed`] gave. Its hidden states
    /// are, bit for bit, those of [`Parameters::rounded`].
    ///
    /// # Errors
    /// Returns an error if a tensor is missing, does not have the size that `config` says, or holds
    /// NaN or infinity. Errors name `path`.
    pub fn from_packed(config: Config, grid: Grid, find: Find<'_>, path: &Path) -> Result<Model> {
        let cpu = Cpu::from_packed(config, grid, find, path, Isa::detect())?;
        Ok(Model::of(Engine::Cpu(Box::new(cpu)), path))
    }

    /// The weights for a device that multiplies in eight bits itself, with rows padded to
    /// multiples of `multiple`; `None` unless this is an int8 encoder.
    #[cfg(feature = "cuda")]
    pub(crate) fn eight_bits(&self, multiple: usize) -> Option<EightBits<'_>> {
        self.cpu()?.eight_bits(multiple)
    }
}

/// Finds the bytes of a part by its name.
pub type Find<'a> = &'a dyn Fn(&str) -> Option<Cow<'static, [u8]>>;
