use std::path::PathBuf;

/// What can go wrong with a model folder or a batch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not the JSON it should be.
    #[error("{}: not valid JSON for this file: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The configuration asks for something we do not know, or contradicts itself.
    #[error("{}: {field}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The field of `config.json`.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The tokenizer is of another kind, broken, or does not belong to the configuration.
    #[error("{}: {problem}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file of weights is truncated, corrupt or not safetensors at all.
    #[error("{}: not a complete safetensors file: {problem}", path.display())]
    Safetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A tensor is missing, has another shape or type, or holds NaN or infinity.
    #[error("{}: tensor {name}: {problem}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// A device that cannot be used, failed, or was given tensors that do not fit together.
    #[error("{0}")]
    Device(String),
    /// A batch holds a token or a length the model has no entry for.
    #[error("story {story} of the batch: {problem}")]
    Batch {
        /// 0-based place in the batch.
        story: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
