//! Transformers for inference and training: BERT, MiniLM, RoBERTa, DistilBERT, MPNet, GPT-2,
//! Llama-type models and BART.
//!
//! A model is a folder as Hugging Face writes it. [`Model`] opens it on a device and computes what
//! [`Outputs`] names: hidden states of chosen layers, vectors of whole sequences, logits of heads,
//! and probabilities of tokens. An architecture is a description in data; one forward pass runs all
//! of them.
//!
//! The sequences of a [`Batch`] are packed one after the other, so that no time is spent on
//! padding, and none of them influences another. The matrix products and the steps that are fused
//! to them have kernels for AVX-512 VNNI, AVX2, NEON and plain Rust, of which the best one is
//! chosen at run time.
//!
//! # Features
//!
//! - By default there is inference on the CPU, in f32 and int8.
//! - `train` adds the module `train`: forward and backward passes, losses and AdamW.
//! - `cuda` adds the module `cuda`: training and inference on NVIDIA GPUs. It includes `train`, and
//!   needs nothing of CUDA to build.
//!
//! # Unsafe code
//!
//! `unsafe` code is denied in this crate, except in functions that ask for it with a reason. There
//! are three kinds: the inner loops of the CPU kernels, the calls of functions that were compiled
//! for instructions which the processor was found to have, and, with the feature `cuda`, the calls
//! of CUDA's libraries, the memory that is shared with them, and the launches of kernels.
//!
//! # Example
//!
//! ```
//! use storymeter_encoder::{Batch, Device, Model, Outputs, Precision};
//!
//! # fn main() -> storymeter_encoder::Result<()> {
//! # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
//! let model = Model::open(&folder, Device::Cpu, Precision::Int8)?;
//! let mut batch = Batch::new();
//! for story in ["Mira lost her red kite.", "The baker burned the bread."] {
//!     let (ids, left_out) = model.tokenizer()?.encode(story, model.config().max_tokens());
//!     assert_eq!(left_out, 0);
//!     batch.push(&ids);
//! }
//! let run = model.run(&batch, &Outputs::new().layers([1, 2]))?;
//! let states = run.layer(1);
//! let first_token_of_second_story = &states.sequence(1)[..states.width()];
//! assert_eq!(first_token_of_second_story.len(), model.config().hidden);
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

mod batch;
mod checkpoint;
mod config;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
mod family;
mod fields;
mod file;
mod grid;
mod infer;
mod kernel;
mod label;
mod model;
mod parameters;
mod product;
mod random;
mod rans;
mod relative;
mod rope;
pub mod source;
mod tokenizer;
#[cfg(feature = "train")]
pub mod train;

pub use batch::{Batch, portions};
pub use checkpoint::load_parameters;
pub use config::{Config, Decoder};
pub use error::{DeviceError, Error, Result};
pub use family::Family;
pub use file::{LARGEST_CONFIG, read_model_file, read_tensor_file};
pub use grid::{Grid, Rounded};
pub use kernel::{Activation, Isa};
pub use label::{LabelParts, LabelWeights, LinearWeights};
pub use model::{Device, Find, ForwardPass, Head, Model, Outputs, Pooling, Precision, States};
pub use parameters::{Parameters, Tensor};
pub use product::PackedRows;
pub use random::Stream;
pub use rope::{Rope, RopeScaling};
pub use source::Tensors;
pub use tokenizer::{
    LARGEST_TOKENIZER_FILE, TOKENIZER_FILES, TextPair, Token, Tokenizer, tokenizer_files,
};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
