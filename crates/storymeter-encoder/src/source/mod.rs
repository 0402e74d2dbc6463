//! Where weights come from: the tensors of a file by their Hugging Face names, with the
//! configuration that belongs to them.
//!
//! A folder in Hugging Face's layout has `model.safetensors` or `pytorch_model.bin`, in one piece
//! or in several with an index. A GGUF file is a whole model.

mod content;
mod gguf;
mod pickle;
mod safetensors;
mod shards;
mod torch;
mod zip;

pub(crate) use content::Content;
pub(crate) use gguf::Fact;
pub(crate) use safetensors::Safetensors;

use crate::config::Config;
use crate::error::excerpt;
use crate::file::{LARGEST_CONFIG, read_model_file};
use crate::parameters::{Parameters, Tensor};
use crate::tokenizer::Tokenizer;
#[cfg(feature = "train")]
use crate::tokenizer::{LARGEST_TOKENIZER_FILE, TOKENIZER_FILES};
use crate::{Error, Result};
use content::fingerprint;
use gguf::GgufFile;
use serde_json::{Map, Value};
use shards::Shards;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use torch::TorchFile;

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
    /// Returns an error if the tensor cannot be decoded, or holds NaN or infinity.
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

/// The files that byte-level tokenisers have beside [`TOKENIZER_FILES`].
#[cfg(feature = "train")]
const BYTE_LEVEL_FILES: [&str; 3] = ["vocab.json", "merges.txt", "added_tokens.json"];

/// Where the tokeniser of a model is.
#[derive(Debug)]
pub enum TokenizerSource {
    /// In the files of this folder.
    Folder(PathBuf),
    /// In the header of a GGUF file.
    Gguf(GgufVocabulary),
}

/// What the header of a GGUF file says about the tokeniser.
#[derive(Debug)]
pub struct GgufVocabulary {
    pub(crate) path: PathBuf,
    pub(crate) facts: BTreeMap<String, Fact>,
}

impl TokenizerSource {
    /// Reads the tokeniser.
    ///
    /// # Errors
    /// Returns an error if its files are missing or broken, or do not belong to this configuration.
    pub fn load(&self, config: &Config) -> Result<Tokenizer> {
        match self {
            TokenizerSource::Folder(folder) => Tokenizer::load(folder, config),
            TokenizerSource::Gguf(vocabulary) => Tokenizer::from_gguf(vocabulary, config),
        }
    }

    /// The names and contents of the files of the tokeniser, for another folder.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or if the tokeniser of a GGUF file cannot be
    /// written as a `tokenizer.json`.
    #[cfg(feature = "train")]
    pub fn files(&self, config: &Config) -> Result<Vec<(String, Vec<u8>)>> {
        let folder = match self {
            TokenizerSource::Folder(folder) => folder,
            TokenizerSource::Gguf(vocabulary) => {
                return Tokenizer::files_of_gguf(vocabulary, config);
            }
        };
        let mut files = Vec::new();
        for name in TOKENIZER_FILES.iter().chain(&BYTE_LEVEL_FILES) {
            let path = folder.join(name);
            if path.exists() {
                files.push(((*name).into(), read_model_file(&path, LARGEST_TOKENIZER_FILE)?));
            }
        }
        Ok(files)
    }
}

/// Opens a folder in Hugging Face's layout, a GGUF file, or a folder with one GGUF file.
///
/// Of a folder with several files of weights, `model.safetensors` is read first, then
/// `pytorch_model.bin`, each in one piece or in several with an index.
///
/// # Errors
/// Returns an error if a file is missing, or is not what such a folder has.
pub fn open(path: &Path) -> Result<Opened> {
    if path.is_dir() {
        return open_folder(path);
    }
    open_gguf(Content::open(path)?)
}

/// Opens the content of a GGUF file that is in memory. Errors name `path`.
///
/// # Errors
/// As for [`open`].
pub fn open_gguf_bytes(path: &Path, bytes: Vec<u8>) -> Result<Opened> {
    open_gguf(Content::from_bytes(path, bytes))
}

/// Reads the tensors of a `pytorch_model.bin` that is in memory, of which nothing is run. Errors
/// name `path`.
///
/// # Errors
/// Returns an error if PyTorch did not write the file, or if it asks for anything that does not
/// make tensors.
pub fn open_torch_bytes(path: &Path, bytes: Vec<u8>) -> Result<Box<dyn Tensors + Send + Sync>> {
    Ok(Box::new(TorchFile::open(Content::from_bytes(path, bytes))?))
}

fn open_gguf(content: Content<'static>) -> Result<Opened> {
    let file = GgufFile::open(content)?;
    let path = file.path().to_owned();
    Ok(Opened {
        config: file.config().clone(),
        config_path: path.clone(),
        tokenizer: TokenizerSource::Gguf(GgufVocabulary { path, facts: file.tokenizer_facts() }),
        fingerprint: fingerprint(file.content())?,
        tensors: Box::new(file),
    })
}

fn open_folder(path: &Path) -> Result<Opened> {
    let layout = Layout::find(path);
    if layout.is_none()
        && let Some(file) = only_gguf(path)?
    {
        return open_gguf(Content::open(&file)?);
    }
    let config_path = path.join("config.json");
    let config = read_model_file(&config_path, LARGEST_CONFIG)?;
    let config = serde_json::from_slice(&config)
        .map_err(|source| Error::Json { path: config_path.clone(), source })?;
    let layout = layout.unwrap_or(Layout { kind: WeightKind::Safetensors, is_sharded: false });
    let (tensors, fingerprint) = layout.open(path)?;
    let tokenizer = TokenizerSource::Folder(path.to_owned());
    Ok(Opened { config, config_path, tensors, tokenizer, fingerprint })
}

/// The kinds of files of weights in a folder of Hugging Face.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WeightKind {
    Safetensors,
    Torch,
}

/// Which files of weights a folder has.
struct Layout {
    kind: WeightKind,
    is_sharded: bool,
}

type OpenedTensors = (Box<dyn Tensors + Send + Sync>, String);

impl Layout {
    fn find(folder: &Path) -> Option<Layout> {
        let layouts = [WeightKind::Safetensors, WeightKind::Torch]
            .into_iter()
            .flat_map(|kind| [false, true].map(|is_sharded| Layout { kind, is_sharded }));
        layouts.into_iter().find(|layout| folder.join(layout.name()).exists())
    }

    fn name(&self) -> &'static str {
        match (self.kind, self.is_sharded) {
            (WeightKind::Safetensors, false) => "model.safetensors",
            (WeightKind::Safetensors, true) => "model.safetensors.index.json",
            (WeightKind::Torch, false) => "pytorch_model.bin",
            (WeightKind::Torch, true) => "pytorch_model.bin.index.json",
        }
    }

    fn open(&self, folder: &Path) -> Result<OpenedTensors> {
        let path = folder.join(self.name());
        if self.is_sharded {
            let (shards, fingerprint) = Shards::open(&path, |content| self.kind.open(content))?;
            return Ok((Box::new(shards), fingerprint));
        }
        let content = Content::open(&path)?;
        let tensors = self.kind.open(content)?;
        // The file is opened twice, so that it is read to its end only if its header is sound.
        Ok((tensors, fingerprint(&Content::open(&path)?)?))
    }
}

impl WeightKind {
    fn open(self, content: Content<'static>) -> Result<Box<dyn Tensors + Send + Sync>> {
        Ok(match self {
            WeightKind::Safetensors => Box::new(Safetensors::open(content)?),
            WeightKind::Torch => Box::new(TorchFile::open(content)?),
        })
    }
}

/// The GGUF file of a folder, if there is one.
fn only_gguf(folder: &Path) -> Result<Option<PathBuf>> {
    let failed = |source| Error::reading(folder, source);
    let mut found = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf")) {
            found.push(path);
        }
    }
    if found.len() > 1 {
        let problem = format!("the folder has {} GGUF files: name one of them", found.len());
        return Err(Error::Weights { path: folder.into(), problem });
    }
    Ok(found.pop())
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
    names: Arc<BTreeSet<String>>,
    prefix: &'static str,
}

/// What may stand before a name if the file holds a model with heads.
const PREFIXES: [&str; 8] =
    ["", "bert.", "bleurt.", "distilbert.", "mpnet.", "roberta.", "transformer.", "model."];

impl<'a> Named<'a> {
    /// Finds what stands before the names by looking for one of `known`, which every file must
    /// have.
    pub(crate) fn new(tensors: &'a dyn Tensors, known: &[&str]) -> Named<'a> {
        let names: BTreeSet<String> = tensors.names().into_iter().collect();
        let is_there =
            |prefix: &&str| known.iter().any(|name| names.contains(&format!("{prefix}{name}")));
        let prefix = PREFIXES.into_iter().find(is_there).unwrap_or("");
        Named { tensors, names: Arc::new(names), prefix }
    }

    /// The same tensors by their whole names, for the heads.
    pub(crate) fn whole(&self) -> Named<'a> {
        Named { tensors: self.tensors, names: Arc::clone(&self.names), prefix: "" }
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(&format!("{}{name}", self.prefix))
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
        let known = if !self.has(name) && self.has(&old) { &old } else { name };
        self.tensors.get(&format!("{}{known}", self.prefix))
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
        for name in &*self.names {
            let numbered =
                name.strip_prefix(self.prefix).and_then(|name| name.strip_prefix(before));
            let number = numbered.and_then(|name| name.split('.').next()?.parse::<usize>().ok());
            if number.is_some_and(|number| number >= layers) {
                let problem = format!("config.json has only {layers} layers (0 to {})", layers - 1);
                return Err(self.error(name, problem));
            }
        }
        Ok(())
    }
}
