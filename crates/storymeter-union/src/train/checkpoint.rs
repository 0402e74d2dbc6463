//! The state of a run after an epoch, in one file that is either complete or not there.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::read_tensor_file;
use storymeter_encoder::train::OptimiserState;

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
}

impl Checkpoint {
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let wrong = |problem: String| Error::Model { path: path.clone(), problem };
        let state = serde_json::to_string(&self.state).map_err(|e| wrong(e.to_string()))?;
        let means = self.optimiser.means.iter();
        let named = self.weights.iter().enumerate().map(|(i, data)| (format!("weight.{i}"), data));
        let named = named
            .chain(means.clone().enumerate().map(|(i, (mean, _))| (format!("mean.{i}"), mean)));
        let named =
            named.chain(means.enumerate().map(|(i, (_, square))| (format!("square.{i}"), square)));
        let bytes: Vec<(String, Vec<u8>)> =
            named.map(|(name, data)| (name, little_endian(data))).collect();
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
        let list = |kind: &str| -> Vec<Vec<f32>> {
            let tensors = (0..).map_while(|i| file.tensor(&format!("{kind}.{i}")).ok());
            tensors
                .map(|t| t.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
                .collect()
        };
        let means = list("mean").into_iter().zip(list("square")).collect();
        let optimiser = OptimiserState { steps: state.steps, means };
        Ok(Self { weights: list("weight"), optimiser, state })
    }
}

fn little_endian(numbers: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * numbers.len()];
    bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(four, x)| *four = x.to_le_bytes());
    bytes
}
