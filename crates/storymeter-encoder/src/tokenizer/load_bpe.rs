//! Loads a byte-level tokeniser from `tokenizer.json`, or from `vocab.json` and `merges.txt`.

use super::added::AddedTokens;
use super::bpe::{BytePairs, Flags, Preparation, Step, byte_characters};
use super::load::{Source, SpecialNames};
use super::split::Splitter;
use super::{Model, Special, Tokenizer};
use crate::Result;
use crate::config::Config;
use crate::error::excerpt;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::HashMap;

/// How many more entries a model may have than its tokeniser. Qwen 2.5 has 399.
const PADDED_ENTRIES: usize = 1023;

/// The most steps from a text to its words. Real tokenisers have three.
const MOST_STEPS: usize = 8;

/// The content of the files, before the tokeniser is built from it.
#[derive(Default)]
pub(super) struct BpeParts {
    pub(super) entries: Vec<(String, u32)>,
    pub(super) merges: Vec<(String, String)>,
    pub(super) added: Vec<Added>,
    /// The piece for bytes that the vocabulary does not have.
    pub(super) unknown: Option<String>,
    /// Whether words that the vocabulary has as a whole are not built from pairs.
    pub(super) ignore_merges: bool,
    pub(super) preparation: Preparation,
    /// Whether words begin as characters, and only characters that have no piece as bytes, whose
    /// pieces are called `<0x00>` to `<0xFF>`.
    pub(super) has_characters: bool,
    pub(super) steps: Vec<Step>,
    pub(super) special: Special,
}

/// A text that is one token wherever it occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Added {
    pub(super) text: String,
    pub(super) id: u32,
    pub(super) flags: Flags,
    /// Whether it is looked for in the normalised text.
    pub(super) normalised: bool,
}

impl Added {
    fn of_json(file: &Source<'_>, token: &Value, id: &Value) -> Result<Added> {
        let (text, id) = file.entry(token["content"].as_str().unwrap_or_default(), id)?;
        let switch = |field: &str| token[field].as_bool().unwrap_or(false);
        let flags = Flags {
            single_word: switch("single_word"),
            strip_left: switch("lstrip"),
            strip_right: switch("rstrip"),
        };
        Ok(Added { text, id, flags, normalised: switch("normalized") })
    }
}

impl BpeParts {
    /// Reads a `tokenizer.json`.
    pub(super) fn of_json(
        file: &Source<'_>,
        json: &Value,
        names: &SpecialNames,
        config: &Config,
    ) -> Result<BpeParts> {
        let model = &json["model"];
        for field in ["continuing_subword_prefix", "end_of_word_suffix"] {
            if model[field].as_str().is_some_and(|text| !text.is_empty()) {
                return Err(file.error(format!("model.{field} is not supported")));
            }
        }
        if model["byte_fallback"] == true {
            let problem = "the vocabulary is one of SentencePiece, expected bytes (ByteLevel)";
            return Err(file.error(problem.into()));
        }
        let added = json["added_tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut parts = BpeParts {
            entries: file.entries(&model["vocab"])?,
            merges: merges(file, &model["merges"])?,
            added: added
                .iter()
                .map(|token| Added::of_json(file, token, &token["id"]))
                .collect::<Result<_>>()?,
            unknown: model["unk_token"].as_str().map(str::to_owned),
            ignore_merges: model["ignore_merges"] == true,
            preparation: preparation(file, &json["normalizer"])?,
            ..BpeParts::default()
        };
        let mut reader = StepReader { file, steps: Vec::new(), ends_in_bytes: false };
        reader.read(&json["pre_tokenizer"])?;
        if !reader.ends_in_bytes {
            return Err(file.error("pre_tokenizer has no ByteLevel".into()));
        }
        parts.steps = reader.steps;
        if let Some(wanted) = names.switch("add_prefix_space") {
            parts.set_prefix_blank(wanted);
        }
        parts.find_special(names, config);
        let (before, after) = around(file, &json["post_processor"])?;
        (parts.special.before, parts.special.after) = (before, after);
        Ok(parts)
    }

    /// Reads `vocab.json` and `merges.txt`, which say nothing about words and special tokens: these
    /// are as Hugging Face's classes for this type of model have them.
    pub(super) fn of_lists(
        vocabulary: &Source<'_>,
        list: &Source<'_>,
        names: &SpecialNames,
        config: &Config,
    ) -> Result<BpeParts> {
        if !list.exists() {
            return Err(vocabulary.error("merges.txt is missing beside it".into()));
        }
        let lines = list.text()?;
        let merges = lines
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("#version"))
            .map(|line| pair(list, line))
            .collect::<Result<_>>()?;
        let is_qwen = model_type(config) == Some("qwen2");
        let splitter = if is_qwen { Splitter::Llama3 { digits: 1 } } else { Splitter::Gpt2 };
        let mut parts = BpeParts {
            entries: vocabulary.entries(&vocabulary.json()?)?,
            merges,
            preparation: if is_qwen { Preparation::Nfc } else { Preparation::Nothing },
            steps: vec![Step::Split(splitter)],
            ..BpeParts::default()
        };
        parts.set_prefix_blank(names.switch("add_prefix_space").unwrap_or(false));
        for (id, token) in names.added() {
            let id = id.parse::<u32>().map_or(Value::Null, Value::from);
            parts.added.push(Added::of_json(vocabulary, token, &id)?);
        }
        parts.find_special(names, config);
        parts.add_special(names);
        let special = &mut parts.special;
        if let (Some(cls), Some(sep)) = (special.cls, special.sep) {
            (special.before, special.after) = (vec![cls], vec![sep]);
        } else if names.switch("add_bos_token") == Some(true) {
            special.before = special.bos.into_iter().collect();
        }
        Ok(parts)
    }

    /// Whether a blank is put before a text.
    fn set_prefix_blank(&mut self, wanted: bool) {
        self.steps.retain(|step| *step != Step::PrefixBlank);
        if wanted {
            // The blank is put there by the last part, which turns text into bytes, before it cuts
            // words.
            let own = matches!(self.steps.last(), Some(Step::Split(Splitter::Gpt2)));
            let place = self.steps.len() - usize::from(own);
            self.steps.insert(place, Step::PrefixBlank);
        }
    }

    fn id(&self, name: &str) -> Option<u32> {
        let added = self.added.iter().find(|added| added.text == name).map(|added| added.id);
        added.or_else(|| self.entries.iter().find(|(piece, _)| piece == name).map(|(_, id)| *id))
    }

    /// Finds the special tokens by the names that the files give them. Where they give none, the
    /// names are those of GPT-2 or of RoBERTa and BART.
    fn find_special(&mut self, names: &SpecialNames, config: &Config) {
        let fields = SPECIAL_FIELDS.map(|(field, _, _)| names.get(field).map(|(name, _)| name));
        let nameless = fields.iter().all(Option::is_none);
        let is_gpt = model_type(config) == Some("gpt2") || self.id("<s>").is_none();
        let mut ids = [None; 7];
        for (place, (_, roberta, gpt)) in SPECIAL_FIELDS.into_iter().enumerate() {
            let default = Some(if is_gpt { gpt } else { roberta }).filter(|_| nameless);
            ids[place] = fields[place].or(default).and_then(|name| self.id(name));
        }
        let [bos, eos, cls, sep, pad, unk, mask] = ids;
        self.special = Special { bos, eos, cls, sep, pad, unk, mask, ..Special::default() };
    }

    /// Makes the special tokens added tokens. White space before a mask belongs to it, unless the
    /// files say otherwise.
    fn add_special(&mut self, names: &SpecialNames) {
        let Special { bos, eos, cls, sep, pad, unk, mask, .. } = self.special;
        for (place, id) in [bos, eos, cls, sep, pad, unk, mask].into_iter().enumerate() {
            let Some(id) = id.filter(|id| !self.added.iter().any(|added| added.id == *id)) else {
                continue;
            };
            let (field, ..) = SPECIAL_FIELDS[place];
            let written = names.get(field).map(|(_, value)| value).filter(|v| v.is_object());
            let switch = |name: &str, default: bool| {
                written.map_or(default, |value| value[name].as_bool().unwrap_or(false))
            };
            let flags = Flags {
                single_word: switch("single_word", false),
                strip_left: switch("lstrip", field == "mask_token"),
                strip_right: switch("rstrip", false),
            };
            let text = self.entries.iter().find(|(_, known)| *known == id);
            if let Some((text, _)) = text.cloned() {
                self.added.push(Added { text, id, flags, normalised: false });
            }
        }
    }

    /// Builds the tokeniser.
    pub(super) fn build(mut self, file: &Source<'_>, config: &Config) -> Result<Tokenizer> {
        self.leave_out_missing(config);
        let largest = self.entries.iter().map(|(_, id)| *id);
        let largest = largest.chain(self.added.iter().map(|added| added.id)).max();
        let Some(largest) = largest.filter(|id| *id < 0x100_0000) else {
            return Err(file.error("the vocabulary is empty, or an id in it is too large".into()));
        };
        // This comes first, because a small file can name a large id.
        file.check_vocabulary(largest as usize + 1, PADDED_ENTRIES, config)?;
        let around = self.special.before.iter().chain(&self.special.after);
        if around.clone().any(|id| *id > largest) {
            return Err(file.error("a special token has an id that is not in it".into()));
        }
        let mut names: Vec<Option<Box<str>>> = vec![None; largest as usize + 1];
        let mut ids: HashMap<Box<str>, u32> = HashMap::with_capacity(self.entries.len());
        let added = self.added.iter().map(|added| (&added.text, added.id));
        let entries = self.entries.iter().map(|(piece, id)| (piece, *id));
        for (piece, id) in entries.chain(added) {
            names[id as usize] = Some(piece.as_str().into());
            ids.insert(piece.as_str().into(), id);
        }
        let find = |piece: &str| ids.get(piece).copied();
        let unknown = self.unknown.as_deref().and_then(find);
        let letters = byte_characters();
        let mut buffer = [0; 4];
        let own: [Option<u32>; 256] = if self.has_characters {
            std::array::from_fn(|byte| find(&format!("<0x{byte:02X}>")))
        } else {
            letters.map(|c| find(c.encode_utf8(&mut buffer)))
        };
        if own.iter().all(Option::is_none) {
            return Err(file.error("the vocabulary has no pieces for single bytes".into()));
        }
        let mut characters = FxHashMap::default();
        if self.has_characters {
            for (piece, id) in &self.entries {
                let mut chars = piece.chars();
                if let (Some(only), None) = (chars.next(), chars.next()) {
                    characters.insert(only, *id);
                }
            }
        }
        let pairs = BytePairs {
            characters,
            bytes: Box::new(own.map(|id| id.or(unknown))),
            merges: self.ranks(file, &ids)?,
            words: if self.ignore_merges { self.words(&letters) } else { HashMap::new() },
            steps: self.steps,
            preparation: self.preparation,
            added: automaton(&self.added, false),
            added_normalised: automaton(&self.added, true),
            flags: self.added.iter().map(|added| (added.id, added.flags)).collect(),
        };
        let model = Model::BytePairs { pairs, ids };
        Ok(Tokenizer { names, model, special: self.special })
    }

    /// Leaves out special tokens that the model has no row for. BART's models of summaries have no
    /// mask, but their tokeniser has.
    fn leave_out_missing(&mut self, config: &Config) {
        let there = |id: u32| (id as usize) < config.vocabulary;
        let Special { bos, eos, cls, sep, pad, unk, mask, .. } = &mut self.special;
        let mut missing = Vec::new();
        for id in [bos, eos, cls, sep, pad, unk, mask] {
            missing.extend(id.take_if(|id| !there(*id)));
        }
        missing.extend(self.added.iter().map(|added| added.id).filter(|id| !there(*id)));
        self.added.retain(|added| there(added.id));
        self.entries.retain(|(_, id)| !missing.contains(id));
    }

    /// The rank and the result of every pair.
    fn ranks(
        &self,
        file: &Source<'_>,
        ids: &HashMap<Box<str>, u32>,
    ) -> Result<FxHashMap<(u32, u32), (u32, u32)>> {
        let mut ranks = FxHashMap::default();
        let mut joined = String::new();
        for (rank, (left, right)) in self.merges.iter().enumerate() {
            joined.clear();
            joined.push_str(left);
            joined.push_str(right);
            let find = |piece: &str| {
                ids.get(piece).copied().ok_or_else(|| {
                    let piece = excerpt(piece);
                    file.error(format!("a merge needs {piece:?}, which the vocabulary lacks"))
                })
            };
            ranks.insert((find(left)?, find(right)?), (rank as u32, find(&joined)?));
        }
        Ok(ranks)
    }

    /// The bytes of every entry of the vocabulary that consists of characters for bytes.
    fn words(&self, characters: &[char; 256]) -> HashMap<Box<[u8]>, u32> {
        let bytes: HashMap<char, u8> = characters.iter().copied().zip(0..=255).collect();
        let word = |piece: &str| -> Option<Box<[u8]>> {
            piece.chars().map(|c| bytes.get(&c).copied()).collect()
        };
        let entries = self.entries.iter();
        entries.filter_map(|(piece, id)| Some((word(piece)?, *id))).collect()
    }
}

/// The special tokens: the field that names one, its name in RoBERTa and BART, and in GPT-2.
const SPECIAL_FIELDS: [(&str, &str, &str); 7] = [
    ("bos_token", "<s>", "<|endoftext|>"),
    ("eos_token", "</s>", "<|endoftext|>"),
    ("cls_token", "<s>", ""),
    ("sep_token", "</s>", ""),
    ("pad_token", "<pad>", ""),
    ("unk_token", "<unk>", "<|endoftext|>"),
    ("mask_token", "<mask>", ""),
];

fn model_type(config: &Config) -> Option<&str> {
    config.source.get("model_type")?.as_str()
}

fn automaton(added: &[Added], normalised: bool) -> AddedTokens {
    let chosen = added.iter().filter(|added| added.normalised == normalised);
    AddedTokens::new(chosen.map(|added| (added.text.clone(), added.id)).collect())
}

/// The two pieces of a merge, which a blank separates.
pub(super) fn pair(file: &Source<'_>, line: &str) -> Result<(String, String)> {
    match line.split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => {
            Ok((left.to_owned(), right.to_owned()))
        }
        _ => {
            let line = excerpt(line);
            Err(file.error(format!("the merge {line:?} is not two pieces with a blank between")))
        }
    }
}

/// The merges of a `tokenizer.json`: texts with a blank, or lists of two texts.
fn merges(file: &Source<'_>, value: &Value) -> Result<Vec<(String, String)>> {
    let Some(list) = value.as_array() else {
        return Err(file.error("model.merges is not a list".into()));
    };
    let merge = |value: &Value| match value {
        Value::String(line) => pair(file, line),
        Value::Array(pieces) => match &pieces[..] {
            [Value::String(left), Value::String(right)] => Ok((left.clone(), right.clone())),
            _ => Err(file.error("a merge is not a list of two pieces".into())),
        },
        _ => Err(file.error("a merge is neither a text nor a list".into())),
    };
    list.iter().map(merge).collect()
}

/// What the normaliser does: nothing or NFC. Others are refused.
fn preparation(file: &Source<'_>, normalizer: &Value) -> Result<Preparation> {
    if normalizer.is_null() {
        return Ok(Preparation::Nothing);
    }
    match normalizer["type"].as_str() {
        Some("NFC") => Ok(Preparation::Nfc),
        Some("Sequence") => match normalizer["normalizers"].as_array().map(Vec::as_slice) {
            Some([]) => Ok(Preparation::Nothing),
            Some([only]) if only["type"] == "NFC" => Ok(Preparation::Nfc),
            _ => Err(file.error("normalizer is a Sequence, expected NFC or nothing".into())),
        },
        other => {
            let found = excerpt(other.unwrap_or("unknown"));
            Err(file.error(format!("normalizer is {found}, expected NFC or nothing")))
        }
    }
}

/// Reads the steps from a text to its words.
struct StepReader<'a> {
    file: &'a Source<'a>,
    steps: Vec<Step>,
    ends_in_bytes: bool,
}

impl StepReader<'_> {
    fn read(&mut self, value: &Value) -> Result<()> {
        let kind = value["type"].as_str().unwrap_or("nothing");
        if self.ends_in_bytes || self.steps.len() > MOST_STEPS {
            let kind = excerpt(kind);
            return Err(self.file.error(format!("pre_tokenizer has {kind} after its last step")));
        }
        let switch = |field: &str, default: bool| value[field].as_bool().unwrap_or(default);
        match kind {
            "Sequence" => {
                // A sequence within a sequence has no use.
                let list = value["pretokenizers"].as_array().map(Vec::as_slice).unwrap_or_default();
                for inner in list.iter().filter(|inner| inner["type"] != "Sequence") {
                    self.read(inner)?;
                }
            }
            "ByteLevel" => {
                if switch("add_prefix_space", true) {
                    self.steps.push(Step::PrefixBlank);
                }
                if switch("use_regex", true) {
                    self.steps.push(Step::Split(Splitter::Gpt2));
                }
                self.ends_in_bytes = true;
            }
            "Digits" => {
                let individual = switch("individual_digits", false);
                self.steps.push(Step::Split(Splitter::Digits { individual }));
            }
            "Split" => {
                let pattern = value["pattern"]["Regex"].as_str().unwrap_or("a plain text");
                let behaviour = (value["behavior"].as_str(), switch("invert", false));
                let splitter = Splitter::of_pattern(pattern).filter(|_| {
                    // What matches nothing is nowhere, so these two are the same.
                    matches!(behaviour, (Some("Isolated"), false) | (Some("Removed"), true))
                });
                let Some(splitter) = splitter else {
                    let pattern = excerpt(pattern);
                    return Err(self.file.error(format!(
                        "pre_tokenizer splits words by an unknown rule ({pattern}), expected that \
                         of GPT-2, Llama 3 or Qwen 2"
                    )));
                };
                self.steps.push(Step::Split(splitter));
            }
            other => {
                let other = excerpt(other);
                return Err(self
                    .file
                    .error(format!("pre_tokenizer is {other}, expected ByteLevel")));
            }
        }
        Ok(())
    }
}

/// The special tokens before and after every text.
fn around(file: &Source<'_>, processor: &Value) -> Result<(Vec<u32>, Vec<u32>)> {
    if processor.is_null() {
        return Ok((Vec::new(), Vec::new()));
    }
    let id = |value: &Value| file.entry("a special token", value).map(|(_, id)| id);
    match processor["type"].as_str().unwrap_or("nothing") {
        "ByteLevel" => Ok((Vec::new(), Vec::new())),
        "RobertaProcessing" | "BertProcessing" => {
            Ok((vec![id(&processor["cls"][1])?], vec![id(&processor["sep"][1])?]))
        }
        "TemplateProcessing" => {
            let (mut before, mut after, mut is_after) = (Vec::new(), Vec::new(), false);
            let single = processor["single"].as_array().map(Vec::as_slice).unwrap_or_default();
            for item in single {
                let Some(name) = item["SpecialToken"]["id"].as_str() else {
                    is_after = true;
                    continue;
                };
                let ids = processor["special_tokens"][name]["ids"].as_array();
                let ids = ids.map(Vec::as_slice).unwrap_or_default().iter().map(id);
                let side = if is_after { &mut after } else { &mut before };
                side.extend(ids.collect::<Result<Vec<u32>>>()?);
            }
            Ok((before, after))
        }
        "Sequence" => {
            let list = processor["processors"].as_array().map(Vec::as_slice).unwrap_or_default();
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for inner in list.iter().filter(|inner| inner["type"] != "Sequence") {
                let (first, last) = around(file, inner)?;
                before.splice(0..0, first);
                after.extend(last);
            }
            Ok((before, after))
        }
        other => {
            let other = excerpt(other);
            Err(file.error(format!("post_processor is {other}, which is not supported")))
        }
    }
}
