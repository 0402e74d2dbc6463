//! The errors of this crate: one variant for each thing that can go wrong.

use std::path::PathBuf;

use crate::Kind;

/// Everything that can go wrong while a model is found, loaded, used or trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The encoder reported a problem: with its files, with a batch, or with the device it runs on.
    #[error(transparent)]
    Encoder(#[from] storymeter_encoder::Error),
    /// A file could not be read or written, or its content is wrong at a known place.
    #[error(transparent)]
    File(#[from] storymeter_core::Error),
    /// A file of a model folder, or a model file, is not what it should be.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
    /// A file of a model folder is not the one that was saved with the others.
    #[error(
        "{}: the file does not belong to the model of this folder (its SHA-256 is not the one in \
         storymeter.json): it was changed, or saving was interrupted and left files of two models; \
         save the model again, or resume the training that was interrupted",
        file.display()
    )]
    Mixture {
        /// The file.
        file: PathBuf,
    },
    /// No model of this name was found.
    #[error("{}", missing(name, searched, installed))]
    MissingModel {
        /// The name or path that was asked for.
        name: String,
        /// The folders in which the file `NAME.smq` and the folder `NAME` were looked for, in
        /// order.
        searched: Vec<PathBuf>,
        /// The names of the models that are installed.
        installed: Vec<String>,
    },
    /// The model cannot be written as a model file.
    #[error("the model cannot be packed: {problem}")]
    Pack {
        /// What is wrong with its card.
        problem: String,
    },
    /// A model file was asked to compute in f32 on the CPU. Its weights are stored in eight bits.
    #[error("{}: its weights are stored in int8, so it cannot compute in f32", path.display())]
    OnlyInt8 {
        /// The file.
        path: PathBuf,
    },
    /// The encoder cannot read windows of this size.
    #[error("a window of {tokens} tokens is not possible: the encoder reads 8 to {longest}")]
    Window {
        /// The size that was asked for, in tokens.
        tokens: usize,
        /// The largest size that the encoder can read.
        longest: usize,
    },
    /// The models cannot be averaged.
    #[error("cannot average: {problem}")]
    Average {
        /// How the models differ.
        problem: String,
    },
    /// The model cannot be calibrated on these stories.
    #[error(
        "the model cannot be calibrated on {pairs} pairs of a human and a damaged story: there are \
         too few, or it does not score human stories higher"
    )]
    Calibration {
        /// The number of pairs.
        pairs: usize,
    },
    /// The model cannot be calibrated on these ratings.
    #[error("the model cannot be calibrated on these ratings: {problem}")]
    Ratings {
        /// What is wrong with them.
        problem: String,
    },
    /// A training setting has a value that cannot be used.
    #[error("training: {field} {problem}")]
    Setting {
        /// The field of `train::Settings`.
        field: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// There are too few stories to train on.
    #[error(
        "training: {stories} stories give {train} to learn from and {dev_examples} examples to \
         choose the best epoch by; both must be more than 0"
    )]
    TooFewStories {
        /// All stories that were given.
        stories: usize,
        /// Those in the training part.
        train: usize,
        /// Examples made from the dev part.
        dev_examples: usize,
    },
    /// The model is there, but for another metric.
    #[error(
        "the model was trained for the metric \"{}\", not for \"{}\"",
        .found.metric(),
        .wanted.metric()
    )]
    OtherKind {
        /// What the model was trained for.
        found: Kind,
        /// What it was opened for.
        wanted: Kind,
    },
    /// A criteria model counts the score of another UNION model than the embedded one.
    #[error(
        "the criteria model counts the score of the UNION model with the weights {wanted}, but the \
         embedded one has {found}"
    )]
    OtherUnion {
        /// The fingerprint of the UNION model that it was trained with.
        wanted: String,
        /// The fingerprint of the embedded one.
        found: String,
    },
    /// No training story could be damaged, so there is nothing to tell apart.
    #[error("training: none of the {stories} training stories can be damaged")]
    NothingToLearn {
        /// The number of training stories.
        stories: usize,
    },
    /// The loss is infinite or not a number.
    #[error(
        "training: the loss of epoch {epoch} near step {step} is {loss}; try a smaller learning \
         rate"
    )]
    Diverged {
        /// The epoch, from 1.
        epoch: u64,
        /// The step within the epoch.
        step: u64,
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
    /// A thread that makes training examples panicked. The epoch it worked on is not finished, and
    /// nothing of it was saved.
    #[error("training: the thread that {work} panicked: {message}")]
    LostThread {
        /// What the thread does: "damages stories" or "makes batches".
        work: &'static str,
        /// The message of the panic.
        message: String,
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

/// What a parser says, cut to a few lines. It may repeat the text of a file, which has any length.
pub(crate) fn brief(said: impl std::fmt::Display) -> String {
    const MOST: usize = 1500;
    let said = said.to_string();
    match said.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &said[..end]),
        None => said,
    }
}

/// The message for a model that was not found: where it was looked for, and what there is instead.
fn missing(name: &str, searched: &[PathBuf], installed: &[String]) -> String {
    let folders: Vec<String> = searched.iter().map(|path| path.display().to_string()).collect();
    let place = match folders.as_slice() {
        [] => "this system has no folder for installed models".to_owned(),
        folders => format!("{name}.smq is not in {}", folders.join(" or ")),
    };
    let others = match installed {
        [] => "no model is installed".to_owned(),
        names => format!("installed models: {}", names.join(", ")),
    };
    format!("there is no model {name:?}: it is not a path, and {place}; {others}")
}
