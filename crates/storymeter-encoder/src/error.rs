//! The errors of this crate. Each variant is one thing that a caller may want to handle.

use std::path::{Path, PathBuf};

/// What went wrong with a model folder, a batch or a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model folder lacks a file that it must have.
    #[error(
        "{}: this file is missing (a model folder has config.json, model.safetensors and \
         tokenizer.json or vocab.txt)",
        path.display()
    )]
    MissingFile {
        /// Where the file should be.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file does not hold the JSON that it should hold.
    #[error("{}: not valid JSON for this file: {}", path.display(), cut(&source.to_string(), 400))]
    Json {
        /// The file.
        path: PathBuf,
        /// Where the JSON breaks off, and why.
        source: serde_json::Error,
    },
    /// The configuration asks for something that is not supported, or contradicts itself.
    #[error("{}: {field}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The field of `config.json`.
        field: String,
        /// What is wrong with the field.
        problem: String,
    },
    /// The tokenizer is of an unknown kind, is broken, or does not belong to the configuration.
    #[error("{}: {problem}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong with the tokenizer.
        problem: String,
    },
    /// The file of weights is truncated, corrupt or not a safetensors file at all.
    #[error("{}: not a complete safetensors file: {problem}", path.display())]
    Safetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        problem: String,
    },
    /// A file of weights in another format, such as that of PyTorch or GGUF, cannot be read.
    #[error("{}: these weights cannot be read: {problem}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        problem: String,
    },
    /// The file of an interrupted training run is damaged, or is another file.
    #[error("{}: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file of weights lacks a tensor that the configuration asks for.
    #[error(
        "{}: tensor {name}: is missing{}",
        path.display(),
        shape.as_ref().map(|shape| format!(" (expected shape {shape:?})")).unwrap_or_default()
    )]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The name of the tensor.
        name: String,
        /// The shape that the configuration asks for, where the file keeps shapes.
        shape: Option<Vec<usize>>,
    },
    /// A tensor has the wrong shape or type, or holds NaN or infinity.
    #[error("{}: tensor {name}: {problem}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The name of the tensor.
        name: String,
        /// What is wrong with the tensor, and what was expected.
        problem: String,
    },
    /// Weights, or the state of an optimiser, do not belong to the network they were given to.
    #[error("{0}")]
    Mismatch(String),
    /// A batch holds a token or a length that the model has no entry for.
    #[error("story {story} of the batch: {problem}")]
    Batch {
        /// The place of the story in the batch, counted from 0.
        story: usize,
        /// What is wrong with the story.
        problem: String,
    },
    /// The precision is one that only GPUs have.
    #[error("{precision} needs a GPU; on the CPU a model computes in f32 or int8")]
    CpuPrecision {
        /// The precision.
        precision: &'static str,
    },
    /// An error that was met before.
    #[error("{0}")]
    Repeated(String),
    /// The model has no such output.
    #[error("the model {0}")]
    NoOutput(String),
    /// A GPU cannot be used, or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The gradients of many steps of training in a row were not finite.
    #[error(
        "training: the gradients of {steps} steps in a row were not finite, so that nothing was \
         learned from them; try a smaller learning rate"
    )]
    GradientsNotFinite {
        /// The number of these steps.
        steps: u64,
    },
    /// The hidden states of a model left the range of the precision it was computed in.
    #[error(
        "{precision} on the GPU overflows with this model: use a precision with a larger range \
         (bf16 or f32)"
    )]
    Overflow {
        /// The precision.
        precision: &'static str,
    },
}

impl Error {
    /// The same error once more, for a caller who asks again.
    pub(crate) fn again(&self) -> Error {
        Error::Repeated(self.to_string())
    }

    /// The error of reading a file that a model folder must have.
    pub(crate) fn reading(path: &Path, source: std::io::Error) -> Error {
        match source.kind() {
            std::io::ErrorKind::NotFound => Error::MissingFile { path: path.into() },
            _ => Error::Io { path: path.into(), source },
        }
    }
}

/// The beginning of a text from a file, so that no message has more than a line of it.
pub(crate) fn excerpt(text: &str) -> String {
    cut(text, 80)
}

/// The first characters of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Why a GPU cannot be used, or what made it fail.
///
/// A GPU that has failed stays failed: every later operation gives the same error again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The program was built without support for GPUs.
    #[error("this program was built without support for GPUs")]
    NotBuilt,
    /// No CUDA driver is installed.
    #[error("no CUDA driver was found (libcuda.so.1): is this a machine with an NVIDIA GPU?")]
    NoDriver,
    /// There is no GPU of this number.
    #[error("there is no GPU number {ordinal}; {count} found")]
    NoGpu {
        /// The number that was asked for, counted from 0.
        ordinal: usize,
        /// How many GPUs there are.
        count: usize,
    },
    /// The driver or the GPU is older than what the kernels need.
    #[error("{what} {found}; {needed} or later is needed")]
    TooOld {
        /// The driver or the GPU, as a part of a sentence.
        what: String,
        /// Its version.
        found: String,
        /// The oldest version that will do.
        needed: &'static str,
    },
    /// A library of CUDA is not installed, or is not where the system looks for libraries.
    #[error("{library} was not found; add its folder to LD_LIBRARY_PATH")]
    MissingLibrary {
        /// The library.
        library: &'static str,
    },
    /// The memory of the GPU is used up.
    #[error(
        "{gpu}: out of memory: {:.2} GiB more asked for with {:.2} of {:.2} GiB in use; a batch of \
         {tokens} tokens is too large, at most about {fits} would fit",
        gib(*asked),
        gib(*used),
        gib(*total)
    )]
    OutOfMemory {
        /// The name of the GPU.
        gpu: String,
        /// The bytes that could not be had.
        asked: usize,
        /// The bytes that were in use.
        used: usize,
        /// The bytes that the GPU has.
        total: usize,
        /// The tokens of the batch.
        tokens: usize,
        /// About how many tokens would fit.
        fits: usize,
    },
    /// The kernels do not support a network of this shape.
    #[error("the GPU {0}")]
    Unsupported(String),
    /// Arguments of an operation do not fit together: a mistake in the calling program.
    #[error("operation on the GPU: {0}")]
    Mismatch(String),
    /// The kernels could not be compiled.
    #[error("the CUDA kernels could not be compiled: {0}")]
    Compile(String),
    /// A call of the driver or of one of its libraries failed.
    #[error("{action}: {message}")]
    Driver {
        /// What was to be done.
        action: String,
        /// The message of the driver or the library.
        message: String,
    },
    /// The text is not the meeting point of GPUs that train together.
    #[error("a meeting point has 256 hexadecimal digits")]
    BadMeetingPoint,
    /// The thread that works with the GPU has ended early.
    #[error("the thread that works with the GPU has ended")]
    Ended,
}

fn gib(bytes: usize) -> f64 {
    bytes as f64 / (1u64 << 30) as f64
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::{DeviceError, Error};

    #[test]
    fn running_out_of_memory_says_how_much_would_fit() {
        let error = Error::from(DeviceError::OutOfMemory {
            gpu: "H200".into(),
            asked: 3 << 29,
            used: 138 << 30,
            total: 139 << 30,
            tokens: 5000,
            fits: 2500,
        });
        assert_eq!(
            error.to_string(),
            "H200: out of memory: 1.50 GiB more asked for with 138.00 of 139.00 GiB in use; a \
             batch of 5000 tokens is too large, at most about 2500 would fit"
        );
    }
}
