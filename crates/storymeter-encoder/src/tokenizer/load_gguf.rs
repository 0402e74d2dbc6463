//! Loads a byte-level tokeniser from the header of a GGUF file.

use super::bpe::{Flags, Step};
use super::load::Source;
use super::load_bpe::{Added, BpeParts, pair};
use super::split::Splitter;
use super::{Special, Tokenizer};
use crate::Result;
use crate::config::Config;
use crate::error::excerpt;
use crate::source::{Fact, GgufVocabulary};

/// The types of entries that are found in the text as they are: control tokens, and those that
/// users defined.
const ADDED_TYPES: [i64; 2] = [3, 4];

impl Tokenizer {
    /// Reads the tokeniser of a GGUF file.
    ///
    /// # Errors
    /// If the tokeniser is of an unknown kind, is broken, or does not belong to the configuration.
    pub(crate) fn from_gguf(vocabulary: &GgufVocabulary, config: &Config) -> Result<Tokenizer> {
        let file = Source { path: vocabulary.path.clone(), given: None };
        let facts = Facts { file: &file, vocabulary };
        match facts.text("model")? {
            Some("gpt2") => facts.bpe()?.build(&file, config),
            Some(other) => Err(file.error(format!(
                "the tokenizer is of the kind {:?}, expected gpt2 (byte-level pairs)",
                excerpt(other)
            ))),
            None => Err(file.error("tokenizer.ggml.model is missing".into())),
        }
    }
}

struct Facts<'a> {
    file: &'a Source<'a>,
    vocabulary: &'a GgufVocabulary,
}

impl Facts<'_> {
    fn get(&self, name: &str) -> Option<&Fact> {
        self.vocabulary.facts.get(&format!("tokenizer.ggml.{name}"))
    }

    fn text(&self, name: &str) -> Result<Option<&str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Fact::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.file.error(format!("tokenizer.ggml.{name} is not a text"))),
        }
    }

    fn texts(&self, name: &str) -> Result<&[String]> {
        match self.get(name) {
            Some(Fact::Texts(texts)) => Ok(texts),
            _ => {
                let problem = format!("tokenizer.ggml.{name} is missing or not a list of texts");
                Err(self.file.error(problem))
            }
        }
    }

    /// The id of a special token, which must be in the vocabulary.
    fn id(&self, name: &str, count: usize) -> Result<Option<u32>> {
        match self.get(name) {
            None => Ok(None),
            Some(Fact::Whole(id)) if (0..count as i64).contains(id) => Ok(Some(*id as u32)),
            Some(_) => {
                let problem = format!("tokenizer.ggml.{name} is not the id of an entry");
                Err(self.file.error(problem))
            }
        }
    }

    fn bpe(&self) -> Result<BpeParts> {
        let pieces = self.texts("tokens")?;
        let count = pieces.len();
        let words = self.text("pre")?.unwrap_or("default");
        let (splitters, nfc, whole_words) = rules(words).ok_or_else(|| {
            let problem = format!("tokenizer.ggml.pre is {:?}, which is unknown", excerpt(words));
            self.file.error(problem)
        })?;
        let types = match self.get("token_type") {
            Some(Fact::Wholes(types)) => types.as_slice(),
            _ => &[],
        };
        let is_added = |place: usize| types.get(place).is_some_and(|t| ADDED_TYPES.contains(t));
        let entries: Vec<(String, u32)> = pieces.iter().cloned().zip(0..).collect();
        let special = Special {
            bos: self.id("bos_token_id", count)?,
            eos: self.id("eos_token_id", count)?,
            cls: self.id("cls_token_id", count)?,
            // The name of the field is misspelt in the format.
            sep: self.id("seperator_token_id", count)?,
            pad: self.id("padding_token_id", count)?,
            unk: self.id("unknown_token_id", count)?,
            mask: self.id("mask_token_id", count)?,
            ..Special::default()
        };
        let wants = |name: &str, default: bool| match self.get(name) {
            Some(Fact::Switch(wanted)) => *wanted,
            _ => default,
        };
        let before = special.bos.filter(|_| wants("add_bos_token", whole_words));
        let after = special.eos.filter(|_| wants("add_eos_token", false));
        let mut steps = Vec::new();
        if wants("add_space_prefix", false) {
            steps.push(Step::PrefixBlank);
        }
        steps.extend(splitters.iter().map(|splitter| Step::Split(*splitter)));
        Ok(BpeParts {
            merges: self
                .texts("merges")?
                .iter()
                .map(|line| pair(self.file, line))
                .collect::<Result<_>>()?,
            added: entries
                .iter()
                .filter(|(text, id)| is_added(*id as usize) && !text.is_empty())
                .map(|(text, id)| Added {
                    text: text.clone(),
                    id: *id,
                    flags: Flags::default(),
                    normalised: false,
                })
                .collect(),
            entries,
            unknown: None,
            ignore_merges: whole_words,
            nfc,
            steps,
            special: Special {
                before: before.into_iter().collect(),
                after: after.into_iter().collect(),
                ..special
            },
        })
    }
}

/// How texts are cut into words by the name that llama.cpp gives the rule, whether they are
/// normalised to NFC first, and whether the tokeniser is that of Llama 3, which looks for whole
/// words first and puts its first token before every text.
fn rules(name: &str) -> Option<(&'static [Splitter], bool, bool)> {
    const DIGITS: Splitter = Splitter::Digits { individual: true };
    Some(match name {
        "gpt-2" | "default" | "roberta-bpe" | "phi-2" | "olmo" | "mpt" | "jina-es" | "jina-de"
        | "jina-v1-en" | "jina-v2-es" | "jina-v2-de" | "gigachat" => {
            (&[Splitter::Gpt2], false, false)
        }
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "minerva-7b" | "exaone" => {
            (&[DIGITS, Splitter::Gpt2], false, false)
        }
        "llama-bpe" | "llama3" | "llama-v3" => (&[Splitter::Llama3 { digits: 3 }], false, true),
        "qwen2" | "deepseek-r1-qwen" => (&[Splitter::Llama3 { digits: 1 }], true, false),
        _ => return None,
    })
}
