//! What can go wrong.

use std::path::PathBuf;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The encoder's part of a model folder.
    #[error(transparent)]
    Encoder(#[from] storymeter_encoder::Error),
    /// Reading or writing a file of a model folder.
    #[error(transparent)]
    File(#[from] storymeter_core::Error),
    /// `storymeter.json` or `heads.safetensors` is not what it should be.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// A training run cannot start or go on.
    #[error("training: {0}")]
    Training(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
