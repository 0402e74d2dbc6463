//! Loads a tokeniser from `tokenizer.json` or `vocab.txt`, and checks it against the configuration.

use super::{AddedTokens, Normaliser, Tokenizer};
use crate::config::{Config, Family};
use crate::error::excerpt;
use crate::file::read_model_file;
use crate::{Error, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The longest word that is cut into pieces, unless the file sets another limit.
const LONGEST_WORD: usize = 100;

/// How many more entries a model may have than its tokeniser. Tables are often padded to a multiple
/// of 64 or 128.
const PADDED_ENTRIES: usize = 127;

/// The names of the files of a model folder that belong to its tokeniser.
pub const TOKENIZER_FILES: [&str; 4] =
    ["tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"];

/// The most bytes that one of the [`TOKENIZER_FILES`] may have. Those of the largest WordPiece
/// vocabularies have 3 MB.
pub const LARGEST_TOKENIZER_FILE: u64 = 1 << 25;

impl Tokenizer {
    /// Reads the tokeniser of a model folder from `tokenizer.json`, or from `vocab.txt` if there is
    /// none.
    ///
    /// # Errors
    /// If the files cannot be read, are not a WordPiece tokeniser, or belong to another model.
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
        let settings = Settings::load(&source("tokenizer_config.json"), config.family)?;
        let json = source("tokenizer.json");
        let (file, parts) = if json.exists() {
            let parts = json.tokenizer_json(&settings)?;
            (json, parts)
        } else {
            let file = source("vocab.txt");
            let parts = file.vocabulary_lines(&settings)?;
            (file, parts)
        };
        parts.build(&file, &settings, config)
    }
}

/// The names of the special tokens, and the switches of `tokenizer_config.json`.
struct Settings {
    start: String,
    end: String,
    padding: String,
    unknown: String,
    mask: String,
    normaliser: Normaliser,
}

impl Settings {
    fn load(file: &Source<'_>, family: Family) -> Result<Settings> {
        let json = if file.exists() { file.json()? } else { Value::Null };
        let mpnet = family == Family::Mpnet;
        let name = |field: &str, bert: &str, mpnet_name: &str| {
            // The field is a name, or an object with a name and flags.
            let value = json.get(field);
            let named = value.and_then(|v| v.as_str().or_else(|| v.get("content")?.as_str()));
            named.unwrap_or(if mpnet { mpnet_name } else { bert }).to_owned()
        };
        let switch = |field: &str| json.get(field).and_then(Value::as_bool);
        let lowercase = switch("do_lower_case").unwrap_or(true);
        Ok(Settings {
            start: name("cls_token", "[CLS]", "<s>"),
            end: name("sep_token", "[SEP]", "</s>"),
            padding: name("pad_token", "[PAD]", "<pad>"),
            unknown: name("unk_token", "[UNK]", "[UNK]"),
            mask: name("mask_token", "[MASK]", "<mask>"),
            normaliser: Normaliser {
                clean_text: true,
                handle_chinese_chars: switch("tokenize_chinese_chars").unwrap_or(true),
                strip_accents: switch("strip_accents").unwrap_or(lowercase),
                lowercase,
            },
        })
    }
}

/// The content of a file, before the tokeniser is built from it.
struct Parts {
    entries: Vec<(String, u32)>,
    added: Vec<(String, u32)>,
    normaliser: Normaliser,
    prefix: String,
    unknown: String,
    longest_word: usize,
}

impl Parts {
    fn build(
        mut self,
        file: &Source<'_>,
        settings: &Settings,
        config: &Config,
    ) -> Result<Tokenizer> {
        // Of two added tokens with one id, the last in this order gives the id its name.
        self.added.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        self.added.dedup();
        let largest = self.entries.iter().chain(&self.added).map(|(_, id)| *id).max();
        let Some(largest) = largest.filter(|id| *id < 0x100_0000) else {
            return Err(file.error("the vocabulary is empty, or an id in it is too large".into()));
        };
        // This comes first, because a small file can name a large id.
        file.check_vocabulary(largest as usize + 1, config)?;
        let mut names: Vec<Option<Box<str>>> = vec![None; largest as usize + 1];
        let mut heads: HashMap<Box<str>, u32> = HashMap::new();
        let mut tails: HashMap<Box<str>, u32> = HashMap::new();
        for (piece, id) in &self.entries {
            if let Some(other) = names[*id as usize].replace(piece.as_str().into()) {
                let (other, piece) = (excerpt(&other), excerpt(piece));
                return Err(file.error(format!("{other:?} and {piece:?} have the same id {id}")));
            }
            match piece.strip_prefix(self.prefix.as_str()).filter(|tail| !tail.is_empty()) {
                Some(tail) => tails.insert(tail.into(), *id),
                None => heads.insert(piece.as_str().into(), *id),
            };
        }
        for (piece, id) in &self.added {
            names[*id as usize] = Some(piece.as_str().into());
            heads.insert(piece.as_str().into(), *id);
        }
        let special = |name: &str| {
            let id = heads.get(name).copied();
            id.ok_or_else(|| {
                let name = excerpt(name);
                file.error(format!("the vocabulary lacks the special token {name:?}"))
            })
        };
        let pieces = heads.keys().chain(tails.keys());
        let longest_piece = pieces.map(|piece| piece.chars().count()).max().unwrap_or(0);
        let padding = special(&settings.padding)?;
        file.check_padding(padding, config)?;
        Ok(Tokenizer {
            unknown: special(&self.unknown)?,
            start: special(&settings.start)?,
            end: special(&settings.end)?,
            padding,
            mask: heads.get(settings.mask.as_str()).copied(),
            heads,
            tails,
            names,
            added: AddedTokens::new(self.added),
            normaliser: self.normaliser,
            longest_word: self.longest_word,
            longest_piece,
        })
    }
}

/// A file, which errors name.
struct Source<'a> {
    path: PathBuf,
    /// The content, if it is not read from `path`. The inner `None` means that there is no such
    /// file.
    given: Option<Option<&'a [u8]>>,
}

impl Source<'_> {
    fn error(&self, problem: String) -> Error {
        Error::Tokenizer { path: self.path.clone(), problem }
    }

    fn exists(&self) -> bool {
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

    fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.read()?)
            .map_err(|source| Error::Json { path: self.path.clone(), source })
    }

    fn tokenizer_json(&self, settings: &Settings) -> Result<Parts> {
        let json = self.json()?;
        let kind = |part: &str| json.get(part).and_then(|v| v.get("type")).and_then(Value::as_str);
        for (part, wanted) in [
            ("model", "WordPiece"),
            ("normalizer", "BertNormalizer"),
            ("pre_tokenizer", "BertPreTokenizer"),
        ] {
            if kind(part) != Some(wanted) {
                let found = excerpt(kind(part).unwrap_or("nothing"));
                return Err(self.error(format!("{part} is {found}, expected {wanted}")));
            }
        }
        let (model, normalizer) = (&json["model"], &json["normalizer"]);
        let switch = |field: &str, default: bool| normalizer[field].as_bool().unwrap_or(default);
        let lowercase = switch("lowercase", true);
        let Some(vocabulary) = model["vocab"].as_object() else {
            return Err(self.error("model.vocab is not an object of pieces and ids".into()));
        };
        let id = |piece: &str, id: &Value| match id.as_u64().and_then(|id| u32::try_from(id).ok()) {
            Some(id) => Ok((piece.to_owned(), id)),
            None => {
                let (piece, id) = (excerpt(piece), excerpt(&id.to_string()));
                Err(self.error(format!("the id of {piece:?} is {id}, expected a whole number")))
            }
        };
        let added = json["added_tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(Parts {
            entries: vocabulary
                .iter()
                .map(|(piece, value)| id(piece, value))
                .collect::<Result<_>>()?,
            added: added
                .iter()
                .filter(|token| token["content"].as_str().is_some_and(|text| !text.is_empty()))
                .map(|token| id(token["content"].as_str().unwrap_or_default(), &token["id"]))
                .collect::<Result<_>>()?,
            normaliser: Normaliser {
                clean_text: switch("clean_text", true),
                handle_chinese_chars: switch("handle_chinese_chars", true),
                strip_accents: switch("strip_accents", lowercase),
                lowercase,
            },
            prefix: model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned(),
            unknown: model["unk_token"].as_str().unwrap_or(&settings.unknown).to_owned(),
            longest_word: model["max_input_chars_per_word"]
                .as_u64()
                .map_or(LONGEST_WORD, |n| n as usize),
        })
    }

    /// Reads one piece per line. The number of the line is its id.
    fn vocabulary_lines(&self, settings: &Settings) -> Result<Parts> {
        let text = String::from_utf8(self.read()?).map_err(|error| {
            self.error(format!("not UTF-8 after byte {}", error.utf8_error().valid_up_to()))
        })?;
        let entries: Vec<_> = text
            .lines()
            .enumerate()
            .map(|(number, line)| (line.trim_end_matches('\r').to_owned(), number as u32))
            .collect();
        let special =
            [&settings.start, &settings.end, &settings.padding, &settings.unknown, &settings.mask];
        Ok(Parts {
            added: entries.iter().filter(|(piece, _)| special.contains(&piece)).cloned().collect(),
            entries,
            normaliser: settings.normaliser,
            prefix: "##".into(),
            unknown: settings.unknown.clone(),
            longest_word: LONGEST_WORD,
        })
    }

    /// Refuses the tokeniser of another model, whose ids would mean something else.
    fn check_vocabulary(&self, here: usize, config: &Config) -> Result<()> {
        let there = config.vocabulary;
        if here > there || there - here > PADDED_ENTRIES {
            return Err(self.error(format!(
                "the vocabulary has {here} entries, but vocab_size in config.json is {there}: \
                 they belong to different models"
            )));
        }
        Ok(())
    }

    /// Refuses a tokeniser whose padding is another token than that of the model.
    fn check_padding(&self, padding: u32, config: &Config) -> Result<()> {
        if padding as usize != config.padding {
            return Err(self.error(format!(
                "the padding token has the id {padding}, but pad_token_id in config.json is {}: \
                 they belong to different models",
                config.padding
            )));
        }
        Ok(())
    }
}
