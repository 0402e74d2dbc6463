//! Reads and writes the weights in `model.safetensors`.

use crate::config::Config;
use crate::error::excerpt;
use crate::file::read_tensor_file;
use crate::parameters::{Layout, Parameters, Tensor};
use crate::{Error, Result};
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use std::collections::HashMap;
use std::path::Path;

/// What may stand before a name if the file holds a model with heads.
const PREFIXES: [&str; 4] = ["", "bert.", "distilbert.", "mpnet."];

/// Reads the tensors of the encoder from a model folder (`model.safetensors`, in f32, f16 or bf16).
///
/// # Errors
/// If the file is missing or not a complete safetensors file, or if a tensor is missing, has the
/// wrong shape or type, or holds NaN or infinity.
pub fn load_parameters(folder: &Path, config: &Config) -> Result<Parameters> {
    let path = folder.join("model.safetensors");
    Parameters::from_bytes(&path, &read_tensor_file(&path)?, config)
}

impl Parameters {
    /// Reads the tensors from the content of a `model.safetensors`. Errors name `path`.
    ///
    /// # Errors
    /// As for [`load_parameters`].
    pub fn from_bytes(path: &Path, bytes: &[u8], config: &Config) -> Result<Parameters> {
        let file = Checkpoint { path, bytes };
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

    /// The content of a `model.safetensors` with these tensors in f32, which `transformers` can
    /// read too. Errors name `path`.
    ///
    /// # Errors
    /// If the numbers of a tensor are not as many as its shape says.
    pub fn to_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let bytes: Vec<Vec<u8>> = self
            .tensors
            .iter()
            .map(|tensor| tensor.data.iter().flat_map(|v| v.to_le_bytes()).collect())
            .collect();
        let odd = |problem: SafeTensorError| Error::Safetensors {
            path: path.into(),
            problem: problem.to_string(),
        };
        let mut views = Vec::with_capacity(bytes.len());
        for (tensor, bytes) in self.tensors.iter().zip(&bytes) {
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).map_err(odd)?;
            views.push((tensor.name.as_str(), view));
        }
        let mark = HashMap::from([("format".to_owned(), "pt".to_owned())]);
        safetensors::serialize(views, Some(mark)).map_err(odd)
    }
}

/// The prefix of the names, found by looking for the word embeddings.
fn prefix(tensors: &SafeTensors<'_>, layout: &Layout) -> Option<&'static str> {
    let words = &layout.expected[layout.words].0;
    PREFIXES.into_iter().find(|prefix| tensors.tensor(&format!("{prefix}{words}")).is_ok())
}

/// A file of tensors in memory.
struct Checkpoint<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl<'a> Checkpoint<'a> {
    fn open(&self) -> Result<SafeTensors<'a>> {
        SafeTensors::deserialize(self.bytes).map_err(|problem| Error::Safetensors {
            path: self.path.into(),
            problem: format!("{} ({} bytes)", excerpt(&problem.to_string()), self.bytes.len()),
        })
    }

    fn error(&self, name: &str, problem: String) -> Error {
        Error::Tensor { path: self.path.into(), name: excerpt(name), problem }
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
            let (path, name) = (self.path.into(), name.into());
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
