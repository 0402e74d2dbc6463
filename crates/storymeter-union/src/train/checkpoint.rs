//! The state of a run after an epoch, in one file that is either complete or not there.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::read_tensor_file;
use storymeter_encoder::train::OptimiserState;
use storymeter_text::lexicon::Lexicon;

use super::{EpochReport, Settings, Spent};
use crate::error::brief;
use crate::model::{hexadecimal, missing};
use crate::{Error, Result};

/// The name of the file in the model folder.
pub(super) const FILE: &str = "training.safetensors";

/// Everything that a run needs to continue as if it had not stopped. Random numbers follow from the
/// seed, so they have no state.
pub struct Checkpoint {
    pub(super) state: RunState,
    /// All tensors in the order of the optimiser: those of the encoder, then those of the heads.
    pub(super) weights: Vec<Vec<f32>>,
    pub(super) optimiser: OptimiserState,
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
        let wrong = |problem: String| Error::Model { path: path.clone(), problem };
        let means = self.optimiser.means.iter();
        let named = self.weights.iter().enumerate().map(|(i, data)| (format!("weight.{i}"), data));
        let named = named
            .chain(means.clone().enumerate().map(|(i, (mean, _))| (format!("mean.{i}"), mean)));
        let named =
            named.chain(means.enumerate().map(|(i, (_, square))| (format!("square.{i}"), square)));
        let bytes: Vec<(String, Vec<u8>)> =
            named.map(|(name, data)| (name, little_endian(data))).collect();
        let sha256 = Some(checksum(bytes.iter().map(|(_, bytes)| bytes.as_slice())));
        let state = RunState { sha256, ..self.state.clone() };
        let state = serde_json::to_string(&state).map_err(|e| wrong(e.to_string()))?;
        let views = bytes.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            view.map(|view| (name.as_str(), view)).map_err(|e| wrong(e.to_string()))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let mark = HashMap::from([("state".to_owned(), state)]);
        let bytes = safetensors::serialize(views, Some(mark)).map_err(|e| wrong(e.to_string()))?;
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
    /// [`Error::Model`] if it is not a complete checkpoint.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::Model { path: path.to_owned(), problem };
        let broken = |e: safetensors::SafeTensorError| {
            wrong(format!("not a complete checkpoint: {}", brief(e)))
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let state = header.metadata().as_ref().and_then(|fields| fields.get("state"));
        let state = state.ok_or_else(|| wrong("not a checkpoint of a training run".to_owned()))?;
        let state: RunState = serde_json::from_str(state).map_err(|e| wrong(brief(e)))?;
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        let kinds = ["weight", "mean", "square"].into_iter();
        let all = kinds.flat_map(|kind| tensors(&file, kind)).collect::<Vec<_>>();
        let sum = || checksum(all.iter().map(|tensor| tensor.data()));
        if state.sha256.as_ref().is_some_and(|said| *said != sum()) {
            return Err(wrong("the checkpoint is damaged: its checksum is another".to_owned()));
        }
        let list = |kind: &'static str| -> Vec<Vec<f32>> {
            tensors(&file, kind)
                .map(|t| t.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
                .collect()
        };
        let means = list("mean").into_iter().zip(list("square")).collect();
        let optimiser = OptimiserState { steps: state.steps, means };
        Ok(Self { weights: list("weight"), optimiser, state })
    }
}

/// The tensors of a kind, in their order.
fn tensors<'a>(
    file: &'a SafeTensors<'a>,
    kind: &'static str,
) -> impl Iterator<Item = TensorView<'a>> {
    (0..).map_while(move |i| file.tensor(&format!("{kind}.{i}")).ok())
}

fn checksum<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    parts.for_each(|part| digest.update(part));
    hexadecimal(&digest.finalize())
}

fn little_endian(numbers: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * numbers.len()];
    bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(four, x)| *four = x.to_le_bytes());
    bytes
}
