//! Finds the files of a tokeniser and their kind, and checks it against the configuration.

use super::Tokenizer;
use super::load_bpe::BpeParts;
use super::load_wordpiece::{Settings, WordPieceParts};
use crate::config::Config;
use crate::error::excerpt;
use crate::file::read_model_file;
use crate::{Error, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The names of the files of a model folder that belong to a WordPiece tokeniser. Byte-level
/// tokenisers may have `vocab.json` and `merges.txt` instead of the first two.
pub const TOKENIZER_FILES: [&str; 4] =
    ["tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"];

/// The most bytes that one file of a tokeniser may have. Those of the largest vocabularies
/// have 20 MB.
pub const LARGEST_TOKENIZER_FILE: u64 = 1 << 25;

/// Reads the tokeniser's files in a folder.
///
/// # Errors
/// Returns an error if a file is there but cannot be read.
pub fn tokenizer_files(folder: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let existing = TOKENIZER_FILES.into_iter().filter(|name| folder.join(name).exists());
    let read = |name| Ok((name, read_model_file(&folder.join(name), LARGEST_TOKENIZER_FILE)?));
    existing.map(read).collect()
}

impl Tokenizer {
    /// Reads the tokeniser of a model folder from `tokenizer.json` or, if there is none, from
    /// `vocab.json` and `merges.txt` or from `vocab.txt`.
    ///
    /// # Errors
    /// Returns an error if the files cannot be read, are a tokeniser of an unknown kind, or belong
    /// to another model.
    pub fn load(folder: &Path, config: &Config) -> Result<Tokenizer> {
        Tokenizer::build(config, |name| Source { path: folder.join(name), given: None })
    }

    /// Reads the tokeniser from the contents of files, given with their names. Errors name `path`.
    ///
    /// # Errors
    /// As for [`Tokenizer::load`].
    pub fn from_files(files: &[(&str, &[u8])], path: &Path, config: &Config) -> Result<Tokenizer> {
        Tokenizer::build(config, |name| {
            let found = files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes);
            Source { path: path.to_owned(), given: Some(found) }
        })
    }

    fn build<'a>(config: &Config, source: impl Fn(&str) -> Source<'a>) -> Result<Tokenizer> {
        let names = SpecialNames::load(
            &source("tokenizer_config.json"),
            &source("special_tokens_map.json"),
        )?;
        let json = source("tokenizer.json");
        if json.exists() {
            let content = json.json()?;
            if content["model"]["type"] == "BPE" {
                return BpeParts::of_json(&json, &content, &names, config)?.build(&json, config);
            }
            let settings = Settings::of(&names, config.family);
            let parts = WordPieceParts::of_json(&json, &content, &settings)?;
            return parts.build(&json, &settings, config);
        }
        let vocabulary = source("vocab.json");
        if vocabulary.exists() {
            let parts = BpeParts::of_lists(&vocabulary, &source("merges.txt"), &names, config)?;
            return parts.build(&vocabulary, config);
        }
        let lines = source("vocab.txt");
        let settings = Settings::of(&names, config.family);
        let parts = WordPieceParts::of_lines(&lines, &settings)?;
        parts.build(&lines, &settings, config)
    }
}

/// What `tokenizer_config.json` and `special_tokens_map.json` say.
pub(super) struct SpecialNames {
    config: Value,
    map: Value,
}

impl SpecialNames {
    fn load(config: &Source<'_>, map: &Source<'_>) -> Result<SpecialNames> {
        let read = |file: &Source<'_>| if file.exists() { file.json() } else { Ok(Value::Null) };
        Ok(SpecialNames { config: read(config)?, map: read(map)? })
    }

    /// The name of a special token and its flags, if they are written down. The field is a name, or
    /// an object with a name and flags.
    pub(super) fn get(&self, field: &str) -> Option<(&str, &Value)> {
        [&self.config, &self.map].into_iter().find_map(|file| {
            let value = file.get(field)?;
            let name = value.as_str().or_else(|| value.get("content")?.as_str())?;
            Some((name, value))
        })
    }

    /// The name of a special token of `tokenizer_config.json`, on which the BERT family depends.
    pub(super) fn of_config(&self, field: &str) -> Option<&str> {
        let value = self.config.get(field)?;
        value.as_str().or_else(|| value.get("content")?.as_str())
    }

    /// A switch of `tokenizer_config.json`.
    pub(super) fn switch(&self, field: &str) -> Option<bool> {
        self.config.get(field).and_then(Value::as_bool)
    }

    /// The added tokens of `tokenizer_config.json`, by their ids.
    pub(super) fn added(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.config.get("added_tokens_decoder").and_then(Value::as_object).into_iter().flatten()
    }
}

/// A file, which errors name.
pub(super) struct Source<'a> {
    pub(super) path: PathBuf,
    /// The content, if it is not read from `path`. The inner `None` means that there is no such
    /// file.
    pub(super) given: Option<Option<&'a [u8]>>,
}

impl Source<'_> {
    pub(super) fn error(&self, problem: String) -> Error {
        Error::Tokenizer { path: self.path.clone(), problem }
    }

    pub(super) fn exists(&self) -> bool {
        self.given.map_or_else(|| self.path.exists(), |content| content.is_some())
    }

    fn read(&self) -> Result<Vec<u8>> {
        let read = match self.given {
            None => return read_model_file(&self.path, LARGEST_TOKENIZER_FILE),
            Some(Some(bytes)) => Ok(bytes.to_vec()),
            Some(None) => Err(std::io::Error::other("there is no tokenizer in it")),
        };
        read.map_err(|source| Error::Io { path: self.path.clone(), source })
    }

    pub(super) fn text(&self) -> Result<String> {
        String::from_utf8(self.read()?).map_err(|error| {
            self.error(format!("not UTF-8 after byte {}", error.utf8_error().valid_up_to()))
        })
    }

    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.read()?)
            .map_err(|source| Error::Json { path: self.path.clone(), source })
    }

    /// A piece with its id, which must be a whole number.
    pub(super) fn entry(&self, piece: &str, id: &Value) -> Result<(String, u32)> {
        match id.as_u64().and_then(|id| u32::try_from(id).ok()) {
            Some(id) => Ok((piece.to_owned(), id)),
            None => {
                let (piece, id) = (excerpt(piece), excerpt(&id.to_string()));
                Err(self.error(format!("the id of {piece:?} is {id}, expected a whole number")))
            }
        }
    }

    /// The entries of a vocabulary.
    pub(super) fn entries(&self, vocabulary: &Value) -> Result<Vec<(String, u32)>> {
        let Some(vocabulary) = vocabulary.as_object() else {
            return Err(self.error("the vocabulary is not an object of pieces and ids".into()));
        };
        vocabulary.iter().map(|(piece, id)| self.entry(piece, id)).collect()
    }

    /// Refuses the tokeniser of another model, whose ids would mean something else. `padded` is how
    /// many more entries a model may have than its tokeniser.
    pub(super) fn check_vocabulary(
        &self,
        here: usize,
        padded: usize,
        config: &Config,
    ) -> Result<()> {
        let there = config.vocabulary;
        if here > there || there - here > padded {
            return Err(self.error(format!(
                "the vocabulary has {here} entries, but vocab_size in config.json is {there}: \
                 they belong to different models"
            )));
        }
        Ok(())
    }
}
