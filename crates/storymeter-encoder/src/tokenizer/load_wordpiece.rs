//! Loads a WordPiece tokeniser from `tokenizer.json` or `vocab.txt`.

use super::added::AddedTokens;
use super::load::{Source, SpecialNames};
use super::normalise::Normaliser;
use super::wordpiece::WordPiece;
use super::{Model, Special, Tokenizer};
use crate::Result;
use crate::config::{Config, Family};
use crate::error::excerpt;
use serde_json::Value;
use std::collections::HashMap;

/// The longest word that is cut into pieces, unless the file sets another limit.
const LONGEST_WORD: usize = 100;

/// How many more entries a model may have than its tokeniser. Tables are often padded to a multiple
/// of 64 or 128.
const PADDED_ENTRIES: usize = 127;

/// The names of the special tokens, and the switches of `tokenizer_config.json`.
pub(super) struct Settings {
    start: String,
    end: String,
    padding: String,
    unknown: String,
    mask: String,
    /// The tokens for the beginning and the end of a text, which BERT does not have.
    first: Option<String>,
    last: Option<String>,
    normaliser: Normaliser,
}

impl Settings {
    pub(super) fn of(names: &SpecialNames, family: Family) -> Settings {
        let mpnet = family == Family::Mpnet;
        let name = |field: &str, bert: &str, mpnet_name: &str| {
            let default = if mpnet { mpnet_name } else { bert };
            names.of_config(field).unwrap_or(default).to_owned()
        };
        let lowercase = names.switch("do_lower_case").unwrap_or(true);
        Settings {
            start: name("cls_token", "[CLS]", "<s>"),
            end: name("sep_token", "[SEP]", "</s>"),
            padding: name("pad_token", "[PAD]", "<pad>"),
            unknown: name("unk_token", "[UNK]", "[UNK]"),
            mask: name("mask_token", "[MASK]", "<mask>"),
            first: names.of_config("bos_token").map(str::to_owned),
            last: names.of_config("eos_token").map(str::to_owned),
            normaliser: Normaliser {
                clean_text: true,
                handle_chinese_chars: names.switch("tokenize_chinese_chars").unwrap_or(true),
                strip_accents: names.switch("strip_accents").unwrap_or(lowercase),
                lowercase,
            },
        }
    }
}

/// The content of a file, before the tokeniser is built from it.
pub(super) struct WordPieceParts {
    entries: Vec<(String, u32)>,
    added: Vec<(String, u32)>,
    normaliser: Normaliser,
    prefix: String,
    unknown: String,
    longest_word: usize,
}

impl WordPieceParts {
    pub(super) fn build(
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
        file.check_vocabulary(largest as usize + 1, PADDED_ENTRIES, config)?;
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
        if padding as usize != config.padding {
            return Err(file.error(format!(
                "the padding token has the id {padding}, but pad_token_id in config.json is {}: \
                 they belong to different models",
                config.padding
            )));
        }
        let (unknown, start, end) =
            (special(&self.unknown)?, special(&settings.start)?, special(&settings.end)?);
        let find = |name: &Option<String>| heads.get(name.as_deref()?).copied();
        let special = Special {
            before: vec![start],
            after: vec![end],
            bos: find(&settings.first),
            eos: find(&settings.last),
            cls: Some(start),
            sep: Some(end),
            pad: Some(padding),
            unk: Some(unknown),
            mask: heads.get(settings.mask.as_str()).copied(),
        };
        let model = WordPiece {
            heads,
            tails,
            added: AddedTokens::new(self.added),
            normaliser: self.normaliser,
            unknown,
            longest_word: self.longest_word,
            longest_piece,
        };
        Ok(Tokenizer { names, model: Model::WordPiece(model), special })
    }

    /// Reads a `tokenizer.json`.
    pub(super) fn of_json(
        file: &Source<'_>,
        json: &Value,
        settings: &Settings,
    ) -> Result<WordPieceParts> {
        let kind = |part: &str| json.get(part).and_then(|v| v.get("type")).and_then(Value::as_str);
        for (part, wanted, or) in [
            ("model", "WordPiece", " or BPE"),
            ("normalizer", "BertNormalizer", ""),
            ("pre_tokenizer", "BertPreTokenizer", ""),
        ] {
            if kind(part) != Some(wanted) {
                let found = excerpt(kind(part).unwrap_or("nothing"));
                return Err(file.error(format!("{part} is {found}, expected {wanted}{or}")));
            }
        }
        let (model, normalizer) = (&json["model"], &json["normalizer"]);
        let switch = |field: &str, default: bool| normalizer[field].as_bool().unwrap_or(default);
        let lowercase = switch("lowercase", true);
        let added = json["added_tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(WordPieceParts {
            entries: file.entries(&model["vocab"])?,
            added: added
                .iter()
                .filter(|token| token["content"].as_str().is_some_and(|text| !text.is_empty()))
                .map(|token| {
                    file.entry(token["content"].as_str().unwrap_or_default(), &token["id"])
                })
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

    /// Reads one piece per line of a `vocab.txt`. The number of the line is its id.
    pub(super) fn of_lines(file: &Source<'_>, settings: &Settings) -> Result<WordPieceParts> {
        let text = file.text()?;
        let entries: Vec<_> = text
            .lines()
            .enumerate()
            .map(|(number, line)| (line.trim_end_matches('\r').to_owned(), number as u32))
            .collect();
        let special =
            [&settings.start, &settings.end, &settings.padding, &settings.unknown, &settings.mask];
        Ok(WordPieceParts {
            added: entries.iter().filter(|(piece, _)| special.contains(&piece)).cloned().collect(),
            entries,
            normaliser: settings.normaliser,
            prefix: "##".into(),
            unknown: settings.unknown.clone(),
            longest_word: LONGEST_WORD,
        })
    }
}
