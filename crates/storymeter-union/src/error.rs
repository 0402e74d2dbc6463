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
    /// The program was built without a model.
    #[error(
        "this build has no embedded model (models/union-compact.smq was absent when it was built)"
    )]
    NoEmbedded,
    /// A model of this name is neither a path nor installed.
    #[error("there is no model {name:?}: no such folder or file, and {known}")]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// What there is instead, in words.
        known: String,
    },
    /// A model file can only compute as it was stored.
    #[error("{}: its weights are stored in int8, so it cannot compute in f32", path.display())]
    OnlyInt8 {
        /// The file.
        path: PathBuf,
    },
    /// A model cannot read windows of this size.
    #[error("the window: {0}")]
    Window(String),
    /// A training run cannot start or go on.
    #[error("training: {0}")]
    Training(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
