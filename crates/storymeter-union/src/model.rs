//! A model as a folder: training writes it, and scoring reads it.
//!
//! | file | content |
//! |---|---|
//! | `config.json`, `model.safetensors` | the encoder, in the layout of Hugging Face |
//! | `tokenizer.json` or `vocab.txt`, `tokenizer_config.json` | the tokeniser, in the same layout |
//! | `heads.safetensors` | the heads ([`Heads`]) |
//! | `storymeter.json` | everything else ([`Card`]) |

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use sha2::{Digest, Sha256};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::{Config, Parameters, load_parameters, save_parameters};

use crate::{Card, Error, Heads, Result};

/// The files that belong to the tokeniser. They are copied without changes.
const TOKENIZER_FILES: [&str; 4] =
    ["tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"];

/// A model in memory.
#[derive(Debug, Clone)]
pub struct Model {
    /// The configuration of the encoder.
    pub config: Config,
    /// The weights of the encoder.
    pub parameters: Parameters,
    /// The heads.
    pub heads: Heads,
    /// The card, which holds everything else.
    pub card: Card,
    /// The names and contents of the tokeniser's files.
    pub tokenizer_files: Vec<(&'static str, Vec<u8>)>,
}

impl Model {
    /// Reads a model from a folder.
    ///
    /// # Errors
    /// If a file is missing, incomplete or damaged, or does not fit the others.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join("storymeter.json");
        let bytes = read(&path)?;
        let card: Card = serde_json::from_slice(&bytes)
            .map_err(|e| Error::Model { path: path.clone(), problem: e.to_string() })?;
        let config = Config::load(folder)?;
        if let Some(problem) = card.problem(&config) {
            return Err(Error::Model { path, problem });
        }
        let parameters = load_parameters(folder, &config)?;
        let path = folder.join("heads.safetensors");
        let heads = Heads::read(&read(&path)?, &path, &card, config.hidden, config.vocabulary)?;
        Ok(Self { config, parameters, heads, card, tokenizer_files: tokenizer_files(folder)? })
    }

    /// Writes the model into an existing folder. Every file is either complete or not there, and
    /// `storymeter.json` comes last.
    ///
    /// The heads and the card are written to temporary files before the encoder is replaced, and
    /// are renamed after it. So a full disk leaves the previous model as it was, and an
    /// interruption can hardly leave parts of two models.
    ///
    /// # Errors
    /// If a file cannot be written, for example because the disk is full or the folder is missing.
    pub fn save(&self, folder: &Path) -> Result<()> {
        for (name, bytes) in &self.tokenizer_files {
            written(&folder.join(name), bytes)?.commit()?;
        }
        let path = folder.join("heads.safetensors");
        let heads =
            self.heads.to_bytes(&path, &self.card, self.config.hidden, self.config.vocabulary)?;
        let heads = written(&path, &heads)?;
        let path = folder.join("storymeter.json");
        let card = serde_json::to_vec_pretty(&self.card)
            .map_err(|e| Error::Model { path: path.clone(), problem: e.to_string() })?;
        let card = written(&path, &card)?;
        save_parameters(folder, &self.config, &self.parameters)?;
        heads.commit()?;
        Ok(card.commit()?)
    }

    /// The weights of the encoder as scoring uses them: rounded to the grid if the card has one.
    pub(crate) fn scoring_parameters(&self) -> Cow<'_, Parameters> {
        match self.card.grid {
            Some(grid) => Cow::Owned(self.parameters.rounded(&self.config, grid)),
            None => Cow::Borrowed(&self.parameters),
        }
    }

    /// The first 12 hexadecimal digits of the SHA-256 of all weights and the calibration.
    /// Signatures name the model by it.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        // Many numbers are hashed together, because every call of the hash has a cost.
        let numbers = |hash: &mut Sha256, data: &[f32]| {
            for chunk in data.chunks(1 << 14) {
                hash.update(chunk.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
            }
        };
        for tensor in &self.parameters.tensors {
            hash.update(tensor.name.as_bytes());
            numbers(&mut hash, &tensor.data);
        }
        for head in [&self.heads.score, &self.heads.diagnosis, &self.heads.diagnosis_bias] {
            numbers(&mut hash, head);
        }
        hash.update(self.heads.score_bias.to_le_bytes());
        self.card.hash_calibration(&mut hash);
        if let Some(grid) = self.card.grid {
            [grid.layers, grid.words].iter().for_each(|step| hash.update(step.to_le_bytes()));
        }
        hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Reads the tokeniser's files in a folder.
///
/// # Errors
/// If a file is there but cannot be read.
pub(crate) fn tokenizer_files(folder: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let existing = TOKENIZER_FILES.into_iter().filter(|name| folder.join(name).exists());
    existing.map(|name| Ok((name, read(&folder.join(name))?))).collect()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| storymeter_core::Error::io(Place::file(path), e).into())
}

/// Writes a temporary file with this content. It gets its name when it is committed.
fn written(path: &Path, bytes: &[u8]) -> Result<AtomicFile> {
    let mut file = AtomicFile::create(path)?;
    let done = file.write_all(bytes).and_then(|()| file.flush());
    done.map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
    Ok(file)
}
