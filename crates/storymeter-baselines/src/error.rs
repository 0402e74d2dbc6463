//! The errors of this crate: one variant for each thing that can go wrong.

use std::path::PathBuf;

use storymeter_core::configuration::Fault;

/// Everything that can go wrong while a baseline is trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The encoder reported a problem: with its files, with a batch, or with the device it runs on.
    #[error(transparent)]
    Encoder(#[from] storymeter_encoder::Error),
    /// A file could not be read or written, or its content is wrong at a known place.
    #[error(transparent)]
    File(#[from] storymeter_core::Error),
    /// A setting has a value that cannot be used.
    #[error("training: {field} {problem}")]
    Setting {
        /// The name of the setting.
        field: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// A model folder, or a file in it, is not what it should be.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The folder or the file.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// A story lacks something that is learned from.
    #[error("training: story {number} (id {id}) {problem}")]
    Story {
        /// The number of the story in the input, from 1.
        number: usize,
        /// Its id, in quotation marks.
        id: String,
        /// What it lacks.
        problem: String,
    },
    /// Sets of rated stories do not fit together, or do not have what was asked for.
    #[error("training: {problem}")]
    Ratings {
        /// What is wrong with them.
        problem: String,
    },
    /// A learned model reported a problem.
    #[error(transparent)]
    Learned(#[from] storymeter_union::Error),
    /// There are too few examples to train on.
    #[error(
        "training: there are {train} examples to learn from and {dev} to choose the best epoch by; \
         both must be more than {least}"
    )]
    TooFew {
        /// The number of examples to learn from.
        train: usize,
        /// The number of examples to choose the best epoch by.
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
    /// The checkpoint in the output folder belongs to another run, so this run cannot go on from
    /// it.
    #[error("training: the checkpoint in {} belongs to a run with {difference}", folder.display())]
    OtherRun {
        /// The output folder.
        folder: PathBuf,
        /// What the other run has: "other settings", "other stories" and so on.
        difference: String,
    },
}

impl From<Fault> for Error {
    fn from(Fault { field, problem }: Fault) -> Self {
        Self::Setting { field, problem }
    }
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
