//! What can go wrong when a baseline is trained.

use std::path::PathBuf;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The encoder reported a problem: with its files, with a batch, or with the device it runs on.
    #[error(transparent)]
    Encoder(#[from] storymeter_encoder::Error),
    /// A file could not be read or written, or its content is wrong at a known place.
    #[error(transparent)]
    File(#[from] storymeter_core::Error),
    /// A file of a model folder is not what it should be.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// A setting has a value that cannot be used.
    #[error("training: {field} {problem}")]
    Setting {
        /// The name of the setting.
        field: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// There are too few examples to train on.
    #[error(
        "training: {stories} stories give {train} to learn from and {dev} to choose the best epoch \
         by; both must be more than {least}"
    )]
    TooFewStories {
        /// All stories that can be used.
        stories: usize,
        /// Those in the training part.
        train: usize,
        /// Those in the dev part.
        dev: usize,
        /// Each part must have more than this.
        least: usize,
    },
    /// Too many stories go on alike, so that there are no wrong continuations.
    #[error("training: too many of the {stories} stories have the same words after their context")]
    SameContinuations {
        /// The number of stories that can be used.
        stories: usize,
    },
    /// The loss is infinite or not a number.
    #[error("training: the loss of epoch {epoch} is {loss}; try a smaller learning rate")]
    Diverged {
        /// The epoch, from 1.
        epoch: u64,
        /// The loss.
        loss: f64,
    },
    /// Whoever watches the run stopped it.
    #[error("training was stopped: {reason}")]
    Stopped {
        /// Why.
        reason: String,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
