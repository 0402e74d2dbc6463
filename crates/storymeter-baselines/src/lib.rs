//! Trains the baselines of Table 5 of the UNION paper (Guan and Huang, EMNLP 2020).
//!
//! - [`mod@fine_tune`] is the training loop of the baselines that fine-tune a whole network.
//! - [`folder`] writes model folders, with a record of the training.
//! - [`language_model`] fine-tunes a causal language model on stories.
#![forbid(unsafe_code)]

mod device;
mod error;
pub mod fine_tune;
pub mod folder;
pub mod language_model;

#[cfg(feature = "cuda")]
pub use device::Activations;
pub use device::Device;
pub use error::{Error, Result};
