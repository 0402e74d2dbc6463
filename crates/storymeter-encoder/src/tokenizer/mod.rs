//! WordPiece tokens as BERT makes them.
//!
//! A text becomes a list of pieces. Each has its id in the vocabulary, and the bytes of the text
//! that it stands for.

mod added;
mod load;
mod normalise;

pub use load::{LARGEST_TOKENIZER_FILE, TOKENIZER_FILES};

use added::{AddedTokens, Found};
use normalise::{Normaliser, Word};
use std::collections::HashMap;

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

/// A WordPiece tokeniser with BERT's normaliser and pre-tokeniser.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    /// Pieces that begin a word.
    heads: HashMap<Box<str>, u32>,
    /// Pieces that continue a word, without the `##`.
    tails: HashMap<Box<str>, u32>,
    names: Vec<Option<Box<str>>>,
    /// Texts that are one token wherever they occur.
    added: AddedTokens,
    normaliser: Normaliser,
    unknown: u32,
    start: u32,
    end: u32,
    padding: u32,
    mask: Option<u32>,
    longest_word: usize,
    /// The number of characters in the longest piece. No longer ones are tried.
    longest_piece: usize,
}

impl Tokenizer {
    /// The pieces of `text`, without special tokens. The time is linear in the length of the text.
    pub fn tokenize(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
        let mut word = Word::default();
        let mut from = 0;
        while let Some(Found { start, end, id }) = self.added.find(text, from) {
            self.tokenize_plain(text, from, start, &mut word, &mut tokens);
            tokens.push(Token { id, start, end });
            from = end;
        }
        self.tokenize_plain(text, from, text.len(), &mut word, &mut tokens);
        tokens
    }

    /// The ids of `[CLS] text [SEP]`, cut to at most `limit` tokens, and the number of pieces that
    /// were left out.
    pub fn encode(&self, text: &str, limit: usize) -> (Vec<u32>, usize) {
        let tokens = self.tokenize(text);
        let kept = tokens.len().min(limit.saturating_sub(2));
        let mut ids = Vec::with_capacity(kept + 2);
        ids.push(self.start);
        ids.extend(tokens[..kept].iter().map(|token| token.id));
        ids.push(self.end);
        (ids, tokens.len() - kept)
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
        self.added = self.added.with(text, id);
        true
    }

    /// The number of ids: one more than the largest id.
    pub fn vocabulary(&self) -> usize {
        self.names.len()
    }

    /// The piece with this id, as the vocabulary writes it.
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.names.get(id as usize)?.as_deref()
    }

    /// The id of a piece, written as in the vocabulary.
    pub fn id(&self, piece: &str) -> Option<u32> {
        match piece.strip_prefix("##").and_then(|tail| self.tails.get(tail)) {
            Some(&id) => Some(id),
            None => self.heads.get(piece).copied(),
        }
    }

    /// The token that every story begins with: `[CLS]`, or `<s>` for MPNet.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// The token that every story ends with: `[SEP]`, or `</s>` for MPNet.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The token that fills up rectangular batches. This crate itself needs no padding.
    pub fn padding(&self) -> u32 {
        self.padding
    }

    /// The token for an unknown word.
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The token for a hidden piece, if the vocabulary has one.
    pub fn mask(&self) -> Option<u32> {
        self.mask
    }

    fn tokenize_plain(
        &self,
        text: &str,
        from: usize,
        to: usize,
        word: &mut Word,
        tokens: &mut Vec<Token>,
    ) {
        self.normaliser.words(&text[from..to], from, word, &mut |word| self.pieces(word, tokens));
    }

    /// Cuts a word into pieces, taking the longest piece that fits each time. If no piece fits the
    /// remainder, the whole word is unknown.
    fn pieces(&self, word: &Word, tokens: &mut Vec<Token>) {
        let (text, spans) = (word.text.as_str(), &word.spans);
        let whole = Token { id: self.unknown, start: spans[0].0, end: spans[spans.len() - 1].1 };
        if spans.len() > self.longest_word {
            tokens.push(whole);
            return;
        }
        let before = tokens.len();
        let (mut at, mut chars) = (0, 0);
        while at < text.len() {
            let table = if at == 0 { &self.heads } else { &self.tails };
            let longest = text[at..].char_indices().nth(self.longest_piece);
            let mut end = longest.map_or(text.len(), |(length, _)| at + length);
            let mut count = self.longest_piece.min(spans.len() - chars);
            let found = loop {
                if let Some(&id) = table.get(&text[at..end]) {
                    break Some(id);
                }
                match text[at..end].char_indices().next_back() {
                    Some((last, _)) if last > 0 => (end, count) = (at + last, count - 1),
                    _ => break None,
                }
            };
            let Some(id) = found else {
                tokens.truncate(before);
                tokens.push(whole);
                return;
            };
            tokens.push(Token { id, start: spans[chars].0, end: spans[chars + count - 1].1 });
            (at, chars) = (end, chars + count);
        }
    }
}
