//! BERT-family encoders (BERT, MiniLM, DistilBERT, MPNet) on the CPU.
//!
//! A model is a Hugging Face style folder: `config.json`, `model.safetensors` (f32, f16 or bf16) and `tokenizer.json` or
//! `vocab.txt`. Stories are packed one after the other, with no padding anywhere. The matrix products, and what is fused
//! to them, are our own, for AVX-512 VNNI, AVX2, NEON and plain Rust, chosen at run time.
//!
//! ```
//! use storymeter_encoder::{Batch, Config, Encoder, Precision, Tokenizer, Workspace};
//!
//! # fn main() -> storymeter_encoder::Result<()> {
//! # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
//! let encoder = Encoder::load(&folder, Precision::Int8)?;
//! let tokenizer = Tokenizer::load(&folder, encoder.config())?;
//!
//! let mut batch = Batch::new();
//! for story in ["Mira lost her red kite.", "The baker burned the bread."] {
//!     let (ids, left_out) = tokenizer.encode(story, encoder.config().max_tokens());
//!     assert_eq!(left_out, 0);
//!     batch.push(&ids);
//! }
//! let mut workspace = Workspace::new();
//! let hidden = encoder.encode(&batch, &mut workspace)?;
//! let first_token_of_second_story = &hidden.story(1)[..hidden.width()];
//! assert_eq!(first_token_of_second_story.len(), encoder.config().hidden);
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
mod grid;
mod infer;
mod kernel;
mod parameters;
mod random;
mod rans;
mod relative;
mod tokenizer;
#[cfg(feature = "train")]
pub mod train;

pub use batch::Batch;
pub use checkpoint::{load_parameters, save_parameters};
pub use config::{Config, Family};
pub use error::{DeviceError, Error, Result};
pub use grid::{Grid, Rounded};
pub use infer::{Encoder, Hidden, Precision, Workspace};
pub use kernel::{Activation, Isa};
pub use parameters::{Parameters, Tensor};
pub use random::Stream;
pub use tokenizer::{Token, Tokenizer};
