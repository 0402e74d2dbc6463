//! Reads and writes the weights in `model.safetensors`.

use crate::config::Config;
use crate::parameters::{Layout, Parameters, Tensor};
use crate::{Error, Result};
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What may stand before a name if the file holds a model with heads.
const PREFIXES: [&str; 4] = ["", "bert.", "distilbert.", "mpnet."];

/// Reads the tensors of the encoder from a model folder (`model.safetensors`, in f32, f16 or bf16).
///
/// # Errors
/// If the file is missing or not a complete safetensors file, or if a tensor is missing, has the
/// wrong shape or type, or holds NaN or infinity.
pub fn load_parameters(folder: &Path, config: &Config) -> Result<Parameters> {
    let file = Checkpoint::read(&folder.join("model.safetensors"))?;
    let layout = Layout::of(config);
    let tensors = file.open()?;
    let prefix = prefix(&tensors, &layout).unwrap_or("");
    file.check_layers(&tensors, prefix, &layout, config)?;
    let tensors = layout
        .expected
        .iter()
        .map(|(name, shape)| file.tensor(&tensors, prefix, name, shape))
        .collect::<Result<_>>()?;
    Ok(Parameters { tensors })
}

/// Writes `config.json` and `model.safetensors` (f32) of a model folder, which `transformers` can
/// read too.
///
/// Each file is written beside its place, flushed to the disk and then moved there. If the disk is
/// full or the process is killed, the folder holds the last good file or none, but never half of
/// one.
///
/// # Errors
/// If a file cannot be written.
pub fn save_parameters(folder: &Path, config: &Config, parameters: &Parameters) -> Result<()> {
    let bytes: Vec<Vec<u8>> = parameters
        .tensors
        .iter()
        .map(|tensor| tensor.data.iter().flat_map(|v| v.to_le_bytes()).collect())
        .collect();
    let path = folder.join("model.safetensors");
    let odd = |problem: SafeTensorError| Error::Safetensors {
        path: path.clone(),
        problem: problem.to_string(),
    };
    let mut views = Vec::with_capacity(bytes.len());
    for (tensor, bytes) in parameters.tensors.iter().zip(&bytes) {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).map_err(odd)?;
        views.push((tensor.name.as_str(), view));
    }
    let mark = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    let weights = safetensors::serialize(views, Some(mark)).map_err(odd)?;
    let source = |source| Error::Json { path: folder.join("config.json"), source };
    let fields = serde_json::to_vec_pretty(&config.source).map_err(source)?;
    replace(&folder.join("config.json"), &fields)?;
    replace(&path, &weights)
}

/// Replaces a file by a complete new one, or leaves it as it is.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_extension("new");
    let write = || {
        let mut file = std::fs::File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&new, path)
    };
    write().map_err(|source| {
        // The rest of the new file is of no use. The error that matters is the first one.
        let _ = std::fs::remove_file(&new);
        Error::Io { path: path.into(), source }
    })
}

/// The prefix of the names, found by looking for the word embeddings.
fn prefix(tensors: &SafeTensors<'_>, layout: &Layout) -> Option<&'static str> {
    let words = &layout.expected[layout.words].0;
    PREFIXES.into_iter().find(|prefix| tensors.tensor(&format!("{prefix}{words}")).is_ok())
}

/// A file of tensors, read as a whole.
struct Checkpoint {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Checkpoint {
    fn read(path: &Path) -> Result<Checkpoint> {
        let bytes = std::fs::read(path).map_err(|source| Error::reading(path, source))?;
        Ok(Checkpoint { path: path.into(), bytes })
    }

    fn open(&self) -> Result<SafeTensors<'_>> {
        SafeTensors::deserialize(&self.bytes).map_err(|problem| Error::Safetensors {
            path: self.path.clone(),
            problem: format!("{problem} ({} bytes)", self.bytes.len()),
        })
    }

    fn error(&self, name: &str, problem: String) -> Error {
        Error::Tensor { path: self.path.clone(), name: name.into(), problem }
    }

    /// Refuses a file with more layers than the configuration: it belongs to another one.
    fn check_layers(
        &self,
        tensors: &SafeTensors<'_>,
        prefix: &str,
        layout: &Layout,
        config: &Config,
    ) -> Result<()> {
        for name in tensors.names() {
            let numbered =
                name.strip_prefix(prefix).and_then(|name| name.strip_prefix(layout.layer_prefix));
            let number = numbered.and_then(|name| name.split('.').next()?.parse::<usize>().ok());
            if number.is_some_and(|number| number >= config.layers) {
                let problem = format!(
                    "config.json has only {} layers (0 to {})",
                    config.layers,
                    config.layers - 1
                );
                return Err(self.error(name, problem));
            }
        }
        Ok(())
    }

    fn tensor(
        &self,
        file: &SafeTensors<'_>,
        prefix: &str,
        name: &str,
        shape: &[usize],
    ) -> Result<Tensor> {
        // Files that were converted from the first TensorFlow code call the gain and shift of a
        // layer norm gamma and beta.
        let old = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        let view = file
            .tensor(&format!("{prefix}{name}"))
            .or_else(|_| file.tensor(&format!("{prefix}{old}")));
        let Ok(view) = view else {
            let (path, name) = (self.path.clone(), name.into());
            return Err(Error::MissingTensor { path, name, shape: Some(shape.into()) });
        };
        if view.shape() != shape {
            let problem =
                format!("has shape {:?}, expected {shape:?} by config.json", view.shape());
            return Err(self.error(name, problem));
        }
        let data = self.numbers(name, &view)?;
        if let Some(place) = data.iter().position(|v| !v.is_finite()) {
            let count = data.iter().filter(|v| !v.is_finite()).count();
            let problem = format!(
                "{count} of {} numbers are not finite, first {} at {place}",
                data.len(),
                data[place]
            );
            return Err(self.error(name, problem));
        }
        Ok(Tensor { name: name.into(), shape: shape.into(), data })
    }

    fn numbers(&self, name: &str, view: &TensorView<'_>) -> Result<Vec<f32>> {
        let bytes = view.data();
        match view.dtype() {
            Dtype::F32 => Ok(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
            Dtype::F16 => {
                Ok(bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect())
            }
            Dtype::BF16 => {
                Ok(bytes.as_chunks().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32()).collect())
            }
            other => {
                Err(self.error(name, format!("has type {other:?}, expected F32, F16 or BF16")))
            }
        }
    }
}
