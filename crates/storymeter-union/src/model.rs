//! A model as a folder: training writes it, and scoring reads it.
//!
//! | file | content |
//! |---|---|
//! | `config.json`, `model.safetensors` | the encoder, in the layout of Hugging Face |
//! | `tokenizer.json` or `vocab.txt`, `tokenizer_config.json` | the tokeniser, in the same layout |
//! | `heads.safetensors` | the heads ([`Heads`]) |
//! | `sentences/` | the sentence encoder, if there is one ([`SentenceModel`]) |
//! | `storymeter.json` | everything else ([`Card`]), and the checksums of the other files |

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use storymeter_core::file::uninterrupted;
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::{
    Config, LARGEST_CONFIG, LARGEST_TOKENIZER_FILE, Parameters, TOKENIZER_FILES, Tokenizer,
    read_model_file, read_tensor_file, tokenizer_files,
};

use crate::criteria::SentenceModel;
use crate::criteria::sentences::{self, Files, SentenceCard};
use crate::error::brief;
use crate::{Card, Error, Heads, Kind, Result};

/// The file that makes a folder a model. It is written last.
const CARD: &str = "storymeter.json";
const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const HEADS: &str = "heads.safetensors";

/// The most bytes of a card. A hundred thousand epochs, which it has a record of, take less.
const LARGEST_CARD: usize = 1 << 26;

/// The names that a model folder can have for its files. `storymeter.json` is the last.
pub const MODEL_FILES: [&str; 14] = {
    let [json, vocabulary, settings, special] = TOKENIZER_FILES;
    let [s1, s2, s3, s4, s5, s6] = sentences::FILES;
    [CONFIG, WEIGHTS, HEADS, json, vocabulary, settings, special, s1, s2, s3, s4, s5, s6, CARD]
};

/// The content of `storymeter.json`: the card, and the SHA-256 of every other file of the model.
/// So a folder that was left with files of two models, because saving was interrupted, is noticed.
#[derive(Serialize)]
struct Sealed<'a> {
    #[serde(flatten)]
    card: &'a Card,
    #[serde(skip_serializing_if = "Option::is_none")]
    sentences: Option<&'a SentenceCard>,
    files: BTreeMap<&'a str, String>,
}

/// The checksums in a `storymeter.json`. Models from before there were any have none.
#[derive(Deserialize)]
struct Seal {
    sentences: Option<SentenceCard>,
    files: Option<BTreeMap<String, String>>,
}

/// The part of a `storymeter.json` that says what the model was trained for.
#[derive(Deserialize)]
pub(crate) struct KindOfCard {
    #[serde(default)]
    pub kind: Kind,
}

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
    /// The sentence encoder of a criteria model that compares stories with prompts.
    pub sentences: Option<SentenceModel>,
}

impl Model {
    /// Reads a model from a folder.
    ///
    /// # Errors
    /// Returns [`Error::Mixture`] if a file is not the one that was saved with the others. Other
    /// errors if a file is missing, incomplete or damaged, or does not fit the others.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(CARD);
        let bytes = read(&path, LARGEST_CARD as u64)?;
        let wrong = |e: serde_json::Error| Error::Model { path: path.clone(), problem: brief(e) };
        let card: Card = serde_json::from_slice(&bytes).map_err(wrong)?;
        let seal: Seal = serde_json::from_slice(&bytes).map_err(wrong)?;
        let [config_path, weights_path, heads_path] =
            [CONFIG, WEIGHTS, HEADS].map(|name| folder.join(name));
        let config = read_model_file(&config_path, LARGEST_CONFIG)?;
        seal.check(folder, CONFIG, &config)?;
        let config = Config::from_bytes(&config_path, &config)?;
        let problem = card.problem(&config);
        if let Some(problem) = problem.or(card.sentences_problem(seal.sentences.is_some())) {
            return Err(Error::Model { path, problem });
        }
        let heads = read_tensor_file(&heads_path).map_err(missing)?;
        seal.check(folder, HEADS, &heads)?;
        let heads = Heads::from_bytes(&heads_path, &heads, &card, &config)?;
        let tokenizer_files = match &seal.files {
            Some(files) => {
                let own = TOKENIZER_FILES.into_iter().filter(|name| files.contains_key(*name));
                own.map(|name| Ok((name, read(&folder.join(name), LARGEST_TOKENIZER_FILE)?)))
                    .collect::<Result<_>>()?
            }
            None => tokenizer_files(folder)?,
        };
        for (name, bytes) in &tokenizer_files {
            seal.check(folder, name, bytes)?;
        }
        let weights = read_tensor_file(&weights_path)?;
        let (checked, parameters) = rayon::join(
            || seal.check(folder, WEIGHTS, &weights),
            || Parameters::from_bytes(&weights_path, &weights, &config),
        );
        checked?;
        let sentences = seal.sentences.as_ref().map(|own| seal.sentence_model(folder, own));
        let sentences = sentences.transpose()?;
        Ok(Self { config, parameters: parameters?, heads, card, tokenizer_files, sentences })
    }

    /// What the model of a folder was trained for.
    pub(crate) fn kind_of(folder: &Path) -> Result<Kind> {
        let path = folder.join(CARD);
        let card: KindOfCard = serde_json::from_slice(&read(&path, LARGEST_CARD as u64)?)
            .map_err(|e| Error::Model { path, problem: brief(e) })?;
        Ok(card.kind)
    }

    /// Writes the model into an existing folder. Every file is either complete or not there.
    ///
    /// All files are written under temporary names first, so that a full disk leaves the previous
    /// model as it was. `storymeter.json` gets its name last. It has the checksums of the others,
    /// so that an interruption cannot leave parts of two models that look like one.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, for example because the disk is full or the
    /// folder is missing.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let Some(sentences) = &self.sentences else { return self.write(folder, Vec::new()) };
        let path = folder.join(sentences::FOLDER);
        if !path.is_dir() {
            std::fs::create_dir(&path)
                .map_err(|e| storymeter_core::Error::io(Place::file(&path), e))?;
        }
        let written = sentences.files(folder).and_then(|files| self.write(folder, files));
        if written.is_err() {
            // Only an empty folder can be removed like this: the one that was just made.
            let _ = std::fs::remove_dir(path);
        }
        written
    }

    /// Writes the model, and these files of its sentence encoder.
    fn write(&self, folder: &Path, sentences: Files<'_>) -> Result<()> {
        let at = |name: &str| folder.join(name);
        let wrong = |problem: String| Error::Model { path: at(CARD), problem };
        // What could not be read back is not written.
        let problem = self.card.problem(&self.config);
        if let Some(problem) = problem.or(self.card.sentences_problem(self.sentences.is_some())) {
            return Err(wrong(problem));
        }
        let mut files = vec![
            (CONFIG, Cow::Owned(self.config.to_bytes(&at(CONFIG))?)),
            (WEIGHTS, Cow::Owned(self.parameters.to_bytes(&at(WEIGHTS))?)),
            (HEADS, Cow::Owned(self.heads.to_bytes(&at(HEADS), &self.card, &self.config)?)),
        ];
        files.extend(self.tokenizer_files.iter().map(|(name, bytes)| (*name, bytes.into())));
        files.extend(sentences);
        let sums = files.iter().map(|(name, bytes)| (*name, hexadecimal(&Sha256::digest(bytes))));
        let card = self.sentences.as_ref().map(SentenceModel::card);
        let sealed = Sealed { card: &self.card, sentences: card, files: sums.collect() };
        let card = serde_json::to_vec_pretty(&sealed).map_err(|e| wrong(brief(e)))?;
        if card.len() > LARGEST_CARD {
            return Err(wrong(format!("the card would have more than {LARGEST_CARD} bytes")));
        }
        let card = AtomicFile::holding(&at(CARD), &card)?;
        let written = files.iter().map(|(name, bytes)| AtomicFile::holding(&at(name), bytes));
        let files = written.collect::<storymeter_core::Result<Vec<_>>>()?;
        uninterrupted(|| {
            remove_unsealed(&at(CARD))?;
            for file in files {
                file.commit()?;
            }
            Ok(card.commit()?)
        })
    }

    /// The tokeniser, which also knows the model's own tokens. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if the tokeniser's files do not belong to this encoder.
    pub fn tokenizer(&self, path: &Path) -> Result<Tokenizer> {
        let files: Vec<(&str, &[u8])> =
            self.tokenizer_files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        Ok(Tokenizer::from_files(&files, path, &self.config)?)
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
        // Empty in models from before there were such heads, which keep their fingerprint.
        let Heads { criteria, criteria_bias, sentence, sentence_bias, .. } = &self.heads;
        for head in [criteria, criteria_bias, sentence, sentence_bias] {
            numbers(&mut hash, head);
        }
        if let Some(sentences) = &self.sentences {
            sentences.hash(&mut hash);
        }
        self.card.hash_calibration(&mut hash);
        if let Some(grid) = self.card.grid {
            [grid.layers, grid.words].iter().for_each(|step| hash.update(step.to_le_bytes()));
        }
        hexadecimal(&hash.finalize()[..6])
    }
}

impl Seal {
    /// Reads the sentence encoder of a model folder.
    fn sentence_model(&self, folder: &Path, card: &SentenceCard) -> Result<SentenceModel> {
        let has = |name: &str| match &self.files {
            Some(files) => files.contains_key(name),
            None => folder.join(name).exists(),
        };
        SentenceModel::read(folder, card.clone(), has, |name, bytes| {
            self.check(folder, name, bytes)
        })
    }

    /// Checks that a file is the one that was saved with the others.
    fn check(&self, folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
        let expected = self.files.as_ref().map(|files| files.get(name).map(String::as_str));
        match expected {
            Some(sum) if sum != Some(hexadecimal(&Sha256::digest(bytes)).as_str()) => {
                Err(Error::Mixture { file: folder.join(name) })
            }
            _ => Ok(()),
        }
    }
}

/// Removes a card without checksums before the files beside it are replaced. It would accept any
/// files, also those of two models.
fn remove_unsealed(path: &Path) -> Result<()> {
    let sealed = |bytes: Vec<u8>| {
        serde_json::from_slice::<Seal>(&bytes).is_ok_and(|seal| seal.files.is_some())
    };
    if path.is_file() && !read(path, LARGEST_CARD as u64).is_ok_and(sealed) {
        std::fs::remove_file(path).map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
    }
    Ok(())
}

/// Reads a file that folders of encoders do not have.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_model_file(path, most).map_err(missing)
}

/// The error for a file that folders of encoders need not have.
pub(crate) fn missing(error: storymeter_encoder::Error) -> Error {
    match error {
        storymeter_encoder::Error::MissingFile { path } => {
            let missing = std::io::ErrorKind::NotFound.into();
            storymeter_core::Error::io(Place::file(path), missing).into()
        }
        other => other.into(),
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_card_without_checksums_is_removed_before_the_files_beside_it_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CARD);
        remove_unsealed(&path).unwrap();
        for (card, stays) in
            [("{\"format\": 1}", false), ("{", false), ("{\"format\": 1, \"files\": {}}", true)]
        {
            std::fs::write(&path, card).unwrap();
            remove_unsealed(&path).unwrap();
            assert_eq!(path.exists(), stays, "{card}");
        }
    }
}
