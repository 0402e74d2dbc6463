//! Trains the baselines of Table 5 of the UNION paper (Guan and Huang, EMNLP 2020), and models that
//! predict what readers say about a story.
//!
//! - [`bleurt`] fine-tunes BERT on stories with references and human ratings.
//! - [`criteria`] trains one head for each criterion that readers have rated, on sets of any scale.
//! - [`ruber`] trains the head of RUBER-BERT's unreferenced score.
//! - [`mod@fine_tune`] is the training loop of the baselines that fine-tune a whole network.
//! - [`configuration`] reads and writes their settings as TOML files that explain every field.
//! - [`folder`] writes model folders, with a record of the training.
//! - [`language_model`] fine-tunes a causal language model on stories.
#![forbid(unsafe_code)]

pub mod bleurt;
pub mod configuration;
pub mod criteria;
mod device;
mod error;
pub mod fine_tune;
pub mod folder;
pub mod language_model;
pub mod ruber;

#[cfg(feature = "cuda")]
pub use device::Activations;
pub use device::Device;
pub use error::{Error, Result};
