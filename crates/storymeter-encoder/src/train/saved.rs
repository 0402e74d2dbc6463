//! The tensors of an interrupted run as the bytes of one file.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

use super::backend::Backend;
use super::network::Network;
use super::optimiser::{Optimiser, OptimiserState};
use crate::{Error, Result, Tensor};

/// The most characters of a message of the parser, which may repeat the text of a file.
const LONGEST_MESSAGE: usize = 1500;

/// The weights of a network and the means of its optimiser, to continue a run later.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SavedTensors {
    /// All tensors in the order of the optimiser: those of the encoder, then those of the heads.
    pub weights: Vec<Vec<f32>>,
    /// The mean of the gradient and the mean of its square for each tensor.
    pub means: Vec<(Vec<f32>, Vec<f32>)>,
}

/// What a file of tensors has besides them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavedState {
    /// The text that was saved with the tensors.
    pub text: String,
    /// The SHA-256 of all numbers in the file.
    pub sha256: String,
}

impl SavedTensors {
    /// Copies everything that a run needs from the device.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn of<B: Backend>(network: &Network<B>, optimiser: &Optimiser) -> Result<SavedTensors> {
        let tensors = network.parameters()?.tensors.into_iter().chain(network.heads()?);
        let OptimiserState { means, .. } = optimiser.state(network)?;
        Ok(SavedTensors { weights: tensors.map(|tensor| tensor.data).collect(), means })
    }

    /// Moves the saved weights to the tensors of an encoder and its heads, in this order.
    ///
    /// # Errors
    /// Returns an error that says how the saved network differs from this one.
    pub fn put_into(&mut self, encoder: &mut [Tensor], heads: &mut [Tensor]) -> Result<(), String> {
        if encoder.len() + heads.len() != self.weights.len() {
            return Err("another number of tensors".to_owned());
        }
        for (tensor, weight) in encoder.iter_mut().chain(heads).zip(&mut self.weights) {
            if tensor.data.len() != weight.len() {
                return Err(format!("another size of {}", tensor.name));
            }
            tensor.data = std::mem::take(weight);
        }
        Ok(())
    }

    /// The bytes of a file with these tensors and with the text that `state` makes of their
    /// SHA-256. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if a header of this size cannot be written.
    pub fn to_bytes(&self, path: &Path, state: impl FnOnce(String) -> String) -> Result<Vec<u8>> {
        let wrong = |e: safetensors::SafeTensorError| invalid(path, e.to_string());
        let mut named: Vec<(String, Vec<u8>)> = Vec::new();
        let mut add = |kind: &str, i: usize, data: &[f32]| {
            named.push((format!("{kind}.{i}"), little_endian(data)));
        };
        self.weights.iter().enumerate().for_each(|(i, data)| add("weight", i, data));
        self.means.iter().enumerate().for_each(|(i, (mean, _))| add("mean", i, mean));
        self.means.iter().enumerate().for_each(|(i, (_, square))| add("square", i, square));
        let sha256 = checksum(named.iter().map(|(_, bytes)| bytes.as_slice()));
        let views = named.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            view.map(|view| (name.as_str(), view)).map_err(wrong)
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let text = HashMap::from([("state".to_owned(), state(sha256))]);
        safetensors::serialize(views, Some(text)).map_err(wrong)
    }

    /// Reads the bytes of a file. Errors name `path`.
    ///
    /// Whether the SHA-256 is the one that was saved is left to the caller, who knows where the
    /// text has it.
    ///
    /// # Errors
    /// Returns an error if these are not the bytes of a complete file of a run.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<(SavedTensors, SavedState)> {
        let broken = |e: safetensors::SafeTensorError| {
            let said: String = e.to_string().chars().take(LONGEST_MESSAGE).collect();
            invalid(path, format!("not a complete checkpoint: {said}"))
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let text = header.metadata().as_ref().and_then(|fields| fields.get("state"));
        let text =
            text.ok_or_else(|| invalid(path, "not a checkpoint of a training run".to_owned()))?;
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        let kinds = ["weight", "mean", "square"].into_iter();
        let all: Vec<TensorView<'_>> = kinds.flat_map(|kind| tensors(&file, kind)).collect();
        let sha256 = checksum(all.iter().map(|tensor| tensor.data()));
        let list = |kind: &'static str| -> Vec<Vec<f32>> {
            tensors(&file, kind)
                .map(|t| t.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
                .collect()
        };
        let means = list("mean").into_iter().zip(list("square")).collect();
        let saved = SavedTensors { weights: list("weight"), means };
        Ok((saved, SavedState { text: text.clone(), sha256 }))
    }
}

fn invalid(path: &Path, problem: String) -> Error {
    Error::Checkpoint { path: path.to_owned(), problem }
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
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn little_endian(numbers: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * numbers.len()];
    bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(four, x)| *four = x.to_le_bytes());
    bytes
}
