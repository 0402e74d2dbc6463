//! The state of a run after an epoch, in one file that is either complete or not there.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::read_tensor_file;
use storymeter_encoder::train::{SavedState, SavedTensors, Skipped};
use storymeter_text::lexicon::Lexicon;

use super::{EpochReport, Settings, Spent};
use crate::error::brief;
use crate::model::missing;
use crate::{Error, Result};

/// The name of the file in the model folder.
pub(super) const FILE: &str = "training.safetensors";

/// Everything that a run needs to continue as if it had not stopped. Random numbers follow from the
/// seed, so they have no state.
pub struct Checkpoint {
    pub(super) state: RunState,
    pub(super) tensors: SavedTensors,
}

/// The part of a checkpoint that is not a tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunState {
    pub settings: Settings,
    /// The SHA-256 of the stories.
    pub data: String,
    /// Where antonyms and keywords come from. Checkpoints of older versions, which had no other
    /// choice than WordNet, do not have it.
    #[serde(default = "wordnet")]
    pub lexicon: String,
    /// The SHA-256 of the weights from which training started.
    pub init: String,
    /// The fingerprints of the teachers.
    pub teachers: Vec<String>,
    pub reports: Vec<EpochReport>,
    pub steps: u64,
    /// The steps that were skipped. Checkpoints of older versions did not count them.
    #[serde(default)]
    pub skipped: Skipped,
    pub spent: Spent,
    /// The temperature of the last epoch, with which its model is saved. Checkpoints of older
    /// versions do not have it.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// The SHA-256 of all numbers in the file, so that a damaged checkpoint is not trained on.
    /// Checkpoints of older versions have none.
    #[serde(default)]
    pub sha256: Option<String>,
}

fn wordnet() -> String {
    Lexicon::embedded().description()
}

impl Checkpoint {
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let state = |sha256: String| {
            let state = RunState { sha256: Some(sha256), ..self.state.clone() };
            serde_json::to_string(&state).unwrap_or_default()
        };
        let bytes = self.tensors.to_bytes(&path, state)?;
        let mut file = AtomicFile::create(&path)?;
        file.write_all(&bytes).map_err(|e| storymeter_core::Error::io(Place::file(&path), e))?;
        Ok(file.commit()?)
    }

    /// Reads the checkpoint in a folder, or returns `None` if there is none.
    pub(super) fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        Self::from_bytes(&path, &read_tensor_file(&path).map_err(missing)?).map(Some)
    }

    /// The number of epochs that were finished.
    pub fn epochs_done(&self) -> u64 {
        self.state.reports.len() as u64
    }

    /// Reads the content of a checkpoint. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if it is not a complete checkpoint.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::Model { path: path.to_owned(), problem };
        let (tensors, SavedState { text, sha256 }) = SavedTensors::from_bytes(path, bytes)?;
        let state: RunState = serde_json::from_str(&text).map_err(|e| wrong(brief(e)))?;
        if state.sha256.as_ref().is_some_and(|said| *said != sha256) {
            return Err(wrong("the checkpoint is damaged: its checksum does not match".to_owned()));
        }
        Ok(Self { state, tensors })
    }
}
