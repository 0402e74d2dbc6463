//! Where weights come from: the tensors of a file by their Hugging Face names, with the
//! configuration that belongs to them.

mod safetensors;

pub(crate) use safetensors::Safetensors;

use crate::config::Config;
use crate::error::excerpt;
use crate::file::{LARGEST_CONFIG, read_model_file, read_tensor_file};
use crate::parameters::{Parameters, Tensor};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Tensors that can be found by name.
///
/// Names and layouts are those of Hugging Face's files, whatever the file itself uses.
pub trait Tensors {
    /// The file or folder that errors name.
    fn path(&self) -> &Path;

    /// The names of all tensors, in any order.
    fn names(&self) -> Vec<String>;

    /// A tensor in single precision; `None` if there is none of this name.
    ///
    /// # Errors
    /// If the tensor cannot be decoded, or holds NaN or infinity.
    fn get(&self, name: &str) -> Result<Option<Tensor>>;
}

/// A model as it was found: everything that is needed to make it ready.
pub struct Opened {
    /// The fields of `config.json`.
    pub config: Map<String, Value>,
    /// The file that errors about the configuration name.
    pub config_path: PathBuf,
    /// The weights.
    pub tensors: Box<dyn Tensors + Send + Sync>,
    /// Where the tokeniser is.
    pub tokenizer: TokenizerSource,
    /// The first eight hexadecimal digits of the SHA-256 of the weights.
    pub fingerprint: String,
}

/// Where the tokeniser of a model is.
pub enum TokenizerSource {
    /// In the files of this folder.
    Folder(PathBuf),
}

impl TokenizerSource {
    /// Reads the tokeniser.
    ///
    /// # Errors
    /// If its files are missing or broken, or do not belong to this configuration.
    pub fn load(&self, config: &Config) -> Result<Tokenizer> {
        match self {
            TokenizerSource::Folder(folder) => Tokenizer::load(folder, config),
        }
    }
}

/// Opens a folder in Hugging Face's layout: `config.json` and `model.safetensors`.
///
/// # Errors
/// If a file is missing, or is not what such a folder has.
pub fn open(path: &Path) -> Result<Opened> {
    let config_path = path.join("config.json");
    let config = read_model_file(&config_path, LARGEST_CONFIG)?;
    let config = serde_json::from_slice(&config)
        .map_err(|source| Error::Json { path: config_path.clone(), source })?;
    let weights = path.join("model.safetensors");
    let bytes = read_tensor_file(&weights)?;
    let fingerprint = fingerprint(&bytes);
    Ok(Opened {
        config,
        config_path,
        tensors: Box::new(Safetensors::new(&weights, bytes)?),
        tokenizer: TokenizerSource::Folder(path.to_owned()),
        fingerprint,
    })
}

/// The first eight hexadecimal digits of the SHA-256 of the weights.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Tensors for Parameters {
    fn path(&self) -> &Path {
        Path::new("weights in memory")
    }

    fn names(&self) -> Vec<String> {
        self.tensors.iter().map(|tensor| tensor.name.clone()).collect()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        Ok(self.tensors.iter().find(|tensor| tensor.name == name).cloned())
    }
}

/// Tensors whose names are looked up without what may stand before them.
pub(crate) struct Named<'a> {
    tensors: &'a dyn Tensors,
    prefix: &'static str,
}

/// What may stand before a name if the file holds a model with heads.
const PREFIXES: [&str; 7] =
    ["", "bert.", "distilbert.", "mpnet.", "roberta.", "transformer.", "model."];

impl<'a> Named<'a> {
    /// Finds what stands before the names by looking for one of `known`, which every file must
    /// have.
    pub(crate) fn new(tensors: &'a dyn Tensors, known: &[&str]) -> Named<'a> {
        let names = tensors.names();
        let is_there = |prefix: &&str| {
            let mut bare = names.iter().filter_map(|name| name.strip_prefix(prefix));
            bare.any(|name| known.contains(&name))
        };
        Named { tensors, prefix: PREFIXES.into_iter().find(is_there).unwrap_or("") }
    }

    /// The same tensors by their whole names, for the heads.
    pub(crate) fn whole(&self) -> Named<'a> {
        Named { tensors: self.tensors, prefix: "" }
    }

    pub(crate) fn error(&self, name: &str, problem: String) -> Error {
        Error::Tensor { path: self.tensors.path().into(), name: excerpt(name), problem }
    }

    /// The tensor of this name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Tensor>> {
        // Files that were converted from the first TensorFlow code call the gain and shift of a
        // layer norm gamma and beta.
        let old = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        for name in [name, &old] {
            if let Some(found) = self.tensors.get(&format!("{}{name}", self.prefix))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The tensor of this name, which must have this shape.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let Some(found) = self.find(name)? else {
            let (path, name) = (self.tensors.path().into(), name.into());
            return Err(Error::MissingTensor { path, name, shape: Some(shape.into()) });
        };
        if found.shape != shape {
            let problem = format!("has shape {:?}, expected {shape:?} by config.json", found.shape);
            return Err(self.error(name, problem));
        }
        Ok(Tensor { name: name.into(), ..found })
    }

    /// Refuses weights with more layers than the configuration: they belong to another one.
    pub(crate) fn check_layers(&self, before: &str, layers: usize) -> Result<()> {
        for name in self.tensors.names() {
            let numbered =
                name.strip_prefix(self.prefix).and_then(|name| name.strip_prefix(before));
            let number = numbered.and_then(|name| name.split('.').next()?.parse::<usize>().ok());
            if number.is_some_and(|number| number >= layers) {
                let problem = format!("config.json has only {layers} layers (0 to {})", layers - 1);
                return Err(self.error(&name, problem));
            }
        }
        Ok(())
    }
}
