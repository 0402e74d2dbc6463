//! WordPiece as BERT uses it: a word is cut into the longest pieces that the vocabulary has.

use super::Token;
use super::added::{AddedTokens, Found};
use super::normalise::{Normaliser, Word};
use std::collections::HashMap;

/// A WordPiece tokeniser with BERT's normaliser and pre-tokeniser.
#[derive(Clone, Debug)]
pub(super) struct WordPiece {
    /// Pieces that begin a word.
    pub(super) heads: HashMap<Box<str>, u32>,
    /// Pieces that continue a word, without the `##`.
    pub(super) tails: HashMap<Box<str>, u32>,
    /// Texts that are one token wherever they occur.
    pub(super) added: AddedTokens,
    pub(super) normaliser: Normaliser,
    pub(super) unknown: u32,
    pub(super) longest_word: usize,
    /// The number of characters in the longest piece. No longer ones are tried.
    pub(super) longest_piece: usize,
}

impl WordPiece {
    /// The pieces of `text`, without special tokens.
    pub(super) fn tokenize(&self, text: &str) -> Vec<Token> {
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

    /// The id of a piece, written as in the vocabulary.
    pub(super) fn id(&self, piece: &str) -> Option<u32> {
        match piece.strip_prefix("##").and_then(|tail| self.tails.get(tail)) {
            Some(&id) => Some(id),
            None => self.heads.get(piece).copied(),
        }
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
