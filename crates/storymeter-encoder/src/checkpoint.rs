//! Reads and writes the weights that training begins with and ends in: `model.safetensors`.

use crate::config::Config;
use crate::file::read_tensor_file;
use crate::parameters::{Layout, Parameters};
use crate::source::{Content, Named, Safetensors, Tensors};
use crate::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensorError, TensorView};
use std::collections::HashMap;
use std::path::Path;

/// Reads the tensors of the encoder from a model folder (`model.safetensors`, in f32, f16 or bf16).
///
/// # Errors
/// Returns an error if the file is missing or not a complete safetensors file, or if a tensor is
/// missing, has the wrong shape or type, or holds NaN or infinity.
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
        Parameters::of(config, &Safetensors::open(Content::from_bytes(path, bytes))?)
    }

    /// Takes the tensors of an encoder out of others.
    ///
    /// # Errors
    /// Returns an error if the architecture cannot be trained, or if a tensor is missing, has the
    /// wrong shape or cannot be read.
    pub(crate) fn of(config: &Config, tensors: &dyn Tensors) -> Result<Parameters> {
        config.check_encoder()?;
        let (layout, architecture) = (Layout::of(config), config.family.architecture());
        let named = Named::new(tensors, architecture.words);
        named.check_layers(architecture.encoder.before, config.layers)?;
        let tensor = |(name, shape): &(String, Vec<usize>)| named.tensor(name, shape);
        Ok(Parameters { tensors: layout.expected.iter().map(tensor).collect::<Result<_>>()? })
    }

    /// The content of a `model.safetensors` with these tensors in f32, which `transformers` can
    /// read too. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if the numbers of a tensor are not as many as its shape says.
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
