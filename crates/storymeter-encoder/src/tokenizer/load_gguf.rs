//! Loads a tokeniser from the header of a GGUF file: byte-level pairs, or SentencePiece's pairs of
//! characters.

use super::bpe::{Flags, Preparation, Step};
use super::load::Source;
use super::load_bpe::{Added, BpeParts, pair};
use super::split::Splitter;
use super::{Special, Tokenizer};
use crate::Result;
use crate::config::Config;
use crate::error::excerpt;
use crate::source::{Fact, GgufVocabulary};
use std::collections::{HashMap, HashSet};

/// The types of entries that are found in the text as they are: control tokens, and those that
/// users defined.
const ADDED_TYPES: [i64; 2] = [3, 4];

/// The longest piece that is made by joining others. Those of Llama have 48 bytes.
const LONGEST_PIECE: usize = 256;

/// The most ways to make pieces from two others. Llama 2 has 60,000 and Gemma ten times as many.
const MOST_MERGES: usize = 1 << 20;

impl Tokenizer {
    /// Reads the tokeniser of a GGUF file.
    ///
    /// # Errors
    /// Returns an error if the tokeniser is of an unknown kind, is broken, or does not belong to
    /// the configuration.
    pub(crate) fn from_gguf(vocabulary: &GgufVocabulary, config: &Config) -> Result<Tokenizer> {
        let file = Source { path: vocabulary.path.clone(), given: None };
        Facts { file: &file, vocabulary }.all()?.build(&file, config)
    }

    /// The tokeniser of a GGUF file as the files of a model folder, with their names.
    ///
    /// # Errors
    /// As for [`Tokenizer::from_gguf`], and if the tokeniser cannot be written in this form.
    #[cfg(feature = "train")]
    pub(crate) fn files_of_gguf(
        vocabulary: &GgufVocabulary,
        config: &Config,
    ) -> Result<Vec<(String, Vec<u8>)>> {
        let file = Source { path: vocabulary.path.clone(), given: None };
        let parts = Facts { file: &file, vocabulary }.all()?;
        Ok(parts.to_files(&vocabulary.path, config)?.into())
    }
}

struct Facts<'a> {
    file: &'a Source<'a>,
    vocabulary: &'a GgufVocabulary,
}

impl Facts<'_> {
    /// Everything that a tokeniser is built from.
    fn all(&self) -> Result<BpeParts> {
        match self.text("model")? {
            Some("gpt2") => self.bpe(),
            Some("llama") => self.sentencepiece(),
            Some(other) => Err(self.file.error(format!(
                "the tokenizer is of the kind {:?}, expected gpt2 or llama",
                excerpt(other)
            ))),
            None => Err(self.file.error("tokenizer.ggml.model is missing".into())),
        }
    }

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

    fn switch(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            Some(Fact::Switch(wanted)) => *wanted,
            _ => default,
        }
    }

    /// What both kinds of tokenisers have.
    fn parts(&self, adds_bos: bool) -> Result<BpeParts> {
        let pieces = self.texts("tokens")?;
        let count = pieces.len();
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
        let before = special.bos.filter(|_| self.switch("add_bos_token", adds_bos));
        let after = special.eos.filter(|_| self.switch("add_eos_token", false));
        Ok(BpeParts {
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
            special: Special {
                before: before.into_iter().collect(),
                after: after.into_iter().collect(),
                ..special
            },
            ..BpeParts::default()
        })
    }

    fn bpe(&self) -> Result<BpeParts> {
        let words = self.text("pre")?.unwrap_or("default");
        let (splitters, nfc, whole_words) = rules(words).ok_or_else(|| {
            let problem = format!("tokenizer.ggml.pre is {:?}, which is unknown", excerpt(words));
            self.file.error(problem)
        })?;
        let mut steps = Vec::new();
        if self.switch("add_space_prefix", false) {
            steps.push(Step::PrefixBlank);
        }
        steps.extend(splitters.iter().map(|splitter| Step::Split(*splitter)));
        let lines = self.texts("merges")?.iter();
        Ok(BpeParts {
            merges: lines.map(|line| pair(self.file, line)).collect::<Result<_>>()?,
            ignore_merges: whole_words,
            preparation: if nfc { Preparation::Nfc } else { Preparation::Nothing },
            steps,
            ..self.parts(whole_words)?
        })
    }

    /// SentencePiece joins the two neighbours that make the piece with the highest score, so its
    /// merges are all ways to make a piece from two others, in the order of the scores.
    fn sentencepiece(&self) -> Result<BpeParts> {
        let prefix = self.switch("add_space_prefix", true);
        let mut parts = self.parts(true)?;
        let scores = match self.get("scores") {
            Some(Fact::Floats(scores)) if scores.len() == parts.entries.len() => scores,
            _ => {
                let problem = "tokenizer.ggml.scores is not a list with a score for each token";
                return Err(self.file.error(problem.into()));
            }
        };
        let known: HashMap<&str, u32> = parts.entries.iter().map(|(p, id)| (&p[..], *id)).collect();
        let control: HashSet<u32> = parts.added.iter().map(|added| added.id).collect();
        // Of equal pieces, one counts; control tokens are not made of text.
        let is_made = |(piece, id): &&(String, u32)| {
            piece.len() <= LONGEST_PIECE
                && known.get(&piece[..]) == Some(id)
                && !control.contains(id)
        };
        let mut merges = Vec::new();
        for (piece, id) in parts.entries.iter().filter(is_made) {
            if merges.len() > MOST_MERGES {
                return Err(self.file.error("the vocabulary has too many merges".into()));
            }
            for (at, _) in piece.char_indices().skip(1) {
                let (left, right) = piece.split_at(at);
                if known.contains_key(left) && known.contains_key(right) {
                    merges.push((scores[*id as usize], *id, (left.to_owned(), right.to_owned())));
                }
            }
        }
        merges.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        parts.merges = merges.into_iter().map(|(_, _, pair)| pair).collect();
        parts.preparation = Preparation::MarkBlanks { prefix };
        parts.has_characters = true;
        Ok(parts)
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
