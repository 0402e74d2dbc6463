//! A model as a folder: what `train` writes and `score` reads.
//!
//! | file | what |
//! |---|---|
//! | `config.json`, `model.safetensors`, `tokenizer.json` or `vocab.txt`, `tokenizer_config.json` | the encoder, as Hugging Face lays it out |
//! | `heads.safetensors` | the heads ([`Heads`]) |
//! | `storymeter.json` | everything else ([`Card`]) |

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use sha2::{Digest, Sha256};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::{Config, Parameters, load_parameters, save_parameters};

use crate::{Card, Error, Heads, Result};

/// Files of a folder that belong to the tokeniser; copied as they are.
const TOKENIZER_FILES: [&str; 4] =
    ["tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"];

/// A model in memory.
#[derive(Debug, Clone)]
pub struct Model {
    /// The encoder's configuration.
    pub config: Config,
    /// The encoder's weights.
    pub parameters: Parameters,
    /// The heads.
    pub heads: Heads,
    /// Everything else.
    pub card: Card,
    /// The tokeniser's files, by name.
    pub tokenizer_files: Vec<(&'static str, Vec<u8>)>,
}

impl Model {
    /// Reads a folder.
    ///
    /// # Errors
    /// Where a file is missing, cut short, damaged, or does not fit the others.
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

    /// Writes a folder, which must exist. Each file is complete or not there, and `storymeter.json` comes last.
    ///
    /// Heads and card are written before the encoder takes its place, and only get their names after it: a full disk
    /// leaves the model that was there, and there is hardly a moment in which a kill could leave parts of two.
    ///
    /// # Errors
    /// What the system says: a full disk, a missing folder.
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

    /// The encoder's weights as they are to be computed with: rounded where the card says so.
    pub(crate) fn scoring_parameters(&self) -> Cow<'_, Parameters> {
        match self.card.grid {
            Some(grid) => Cow::Owned(self.parameters.rounded(&self.config, grid)),
            None => Cow::Borrowed(&self.parameters),
        }
    }

    /// The first 12 hexadecimal digits of the SHA-256 of all weights: the model's name in signatures.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        // Many numbers at a time: a hash is slow to start.
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

/// The tokeniser's files of a folder.
///
/// # Errors
/// Where one is there and cannot be read.
pub(crate) fn tokenizer_files(folder: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let there = TOKENIZER_FILES.into_iter().filter(|name| folder.join(name).exists());
    there.map(|name| Ok((name, read(&folder.join(name))?))).collect()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| storymeter_core::Error::io(Place::file(path), e).into())
}

/// A file with all its content, which has yet to get its name.
fn written(path: &Path, bytes: &[u8]) -> Result<AtomicFile> {
    let mut file = AtomicFile::create(path)?;
    let done = file.write_all(bytes).and_then(|()| file.flush());
    done.map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
    Ok(file)
}
