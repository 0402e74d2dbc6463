//! Tokens as the models of Hugging Face make them: WordPiece for the BERT family, and byte-level
//! byte-pair encoding for RoBERTa, BART, GPT-2 and models of Llama's type.
//!
//! A text becomes a list of pieces. Each has its id in the vocabulary, and the bytes of the text
//! that it stands for.

mod added;
mod bpe;
mod load;
mod load_bpe;
mod load_gguf;
mod load_wordpiece;
mod normalise;
mod pair;
#[cfg(feature = "train")]
mod save_bpe;
mod split;
mod wordpiece;

pub use load::{LARGEST_TOKENIZER_FILE, TOKENIZER_FILES, tokenizer_files};
pub use pair::TextPair;

use bpe::BytePairs;
use std::collections::HashMap;
use wordpiece::WordPiece;

/// One piece of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The index of the piece in the vocabulary.
    pub id: u32,
    /// The first byte of the text that it stands for.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A tokeniser: WordPiece or byte-level byte-pair encoding.
///
/// The pieces of the latter include the blank before a word. Where a character is cut into several
/// pieces, each of them stands for the whole character.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    /// The piece of every id, as the vocabulary writes it.
    names: Vec<Option<Box<str>>>,
    model: Model,
    special: Special,
}

#[derive(Clone, Debug)]
enum Model {
    WordPiece(WordPiece),
    BytePairs {
        pairs: BytePairs,
        /// The id of every piece.
        ids: HashMap<Box<str>, u32>,
    },
}

/// The tokens that are not text, as far as the vocabulary has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Special {
    /// What every text begins with.
    before: Vec<u32>,
    /// What every text ends with.
    after: Vec<u32>,
    bos: Option<u32>,
    eos: Option<u32>,
    cls: Option<u32>,
    sep: Option<u32>,
    pad: Option<u32>,
    unk: Option<u32>,
    mask: Option<u32>,
}

impl Tokenizer {
    /// The pieces of `text`, without special tokens. Up to a logarithm, the time is linear in the
    /// length of the text.
    pub fn tokenize(&self, text: &str) -> Vec<Token> {
        match &self.model {
            Model::WordPiece(model) => model.tokenize(text),
            Model::BytePairs { pairs, .. } => pairs.tokenize(text),
        }
    }

    /// The ids of `text` with the special tokens of the model around it (`[CLS] text [SEP]` for
    /// BERT, nothing for GPT-2), cut to at most `limit` tokens, and the number of pieces that were
    /// left out.
    pub fn encode(&self, text: &str, limit: usize) -> (Vec<u32>, usize) {
        let tokens = self.tokenize(text);
        let Special { before, after, .. } = &self.special;
        let kept = tokens.len().min(limit.saturating_sub(before.len() + after.len()));
        let mut ids = Vec::with_capacity(before.len() + kept + after.len());
        ids.extend(before);
        ids.extend(tokens[..kept].iter().map(|token| token.id));
        ids.extend(after);
        (ids, tokens.len() - kept)
    }

    /// The ids of `text` alone.
    pub fn encode_plain(&self, text: &str) -> Vec<u32> {
        self.tokenize(text).into_iter().map(|token| token.id).collect()
    }

    /// Makes `text` a single token with this id wherever it occurs, before any normalisation.
    ///
    /// This is for the placeholders `[MALE]`, `[FEMALE]` and `[NEUTRAL]` of masked names, which
    /// otherwise become three pieces each. An empty text or an id outside the vocabulary changes
    /// nothing and gives `false`.
    pub fn add_token(&mut self, text: &str, id: u32) -> bool {
        if text.is_empty() || id as usize >= self.names.len() {
            return false;
        }
        let added = match &mut self.model {
            Model::WordPiece(model) => &mut model.added,
            Model::BytePairs { pairs, .. } => &mut pairs.added,
        };
        *added = added.with(text, id);
        true
    }

    /// The number of ids: one more than the largest id.
    pub fn vocabulary(&self) -> usize {
        self.names.len()
    }

    /// The piece with this id, as the vocabulary writes it: WordPiece marks a piece that continues
    /// a word with `##`, and byte-level vocabularies write a blank as `Ġ`.
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.names.get(id as usize)?.as_deref()
    }

    /// The id of a piece, written as in the vocabulary.
    pub fn id(&self, piece: &str) -> Option<u32> {
        match &self.model {
            Model::WordPiece(model) => model.id(piece),
            Model::BytePairs { ids, .. } => ids.get(piece).copied(),
        }
    }

    /// The token that [`Tokenizer::encode`] puts before every text: `[CLS]` for BERT, `<s>` for
    /// MPNet, RoBERTa and BART, none for GPT-2.
    pub fn start(&self) -> Option<u32> {
        self.special.before.first().copied()
    }

    /// The token that [`Tokenizer::encode`] puts after every text: `[SEP]` for BERT, `</s>` for
    /// MPNet, RoBERTa and BART, none for GPT-2.
    pub fn end(&self) -> Option<u32> {
        self.special.after.last().copied()
    }

    /// The token for the beginning of a text, if the vocabulary has one.
    pub fn bos(&self) -> Option<u32> {
        self.special.bos
    }

    /// The token for the end of a text, if the vocabulary has one.
    pub fn eos(&self) -> Option<u32> {
        self.special.eos
    }

    /// The token for a whole text, if the vocabulary has one: `[CLS]` for BERT.
    pub fn cls(&self) -> Option<u32> {
        self.special.cls
    }

    /// The token between two texts, if the vocabulary has one: `[SEP]` for BERT.
    pub fn sep(&self) -> Option<u32> {
        self.special.sep
    }

    /// The token that fills up rectangular batches, if the vocabulary has one. This crate itself
    /// needs no padding.
    pub fn pad(&self) -> Option<u32> {
        self.special.pad
    }

    /// The token for an unknown word, if the vocabulary has one.
    pub fn unk(&self) -> Option<u32> {
        self.special.unk
    }

    /// The token for a hidden piece, if the vocabulary has one.
    pub fn mask(&self) -> Option<u32> {
        self.special.mask
    }
}
