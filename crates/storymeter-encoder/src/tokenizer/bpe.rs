//! Byte-pair encoding: of bytes, as GPT-2, RoBERTa, BART and Llama 3 use it, or of characters, as
//! SentencePiece does it for Llama 2.
//!
//! A text is cut into words. A word begins as its bytes or characters, and the pair of neighbours
//! that stands first in the list of merges is joined until no pair of the word is in that list.

use super::Token;
use super::added::AddedTokens;
use super::split::Splitter;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc, is_nfc_quick};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A step from a text to its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Split(Splitter),
    /// Puts a blank before a piece that does not begin with one.
    PrefixBlank,
}

/// Where an added token may be found, and what belongs to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Flags {
    /// Not within a word.
    pub(super) single_word: bool,
    /// White space before it is a part of it.
    pub(super) strip_left: bool,
    /// White space after it is a part of it.
    pub(super) strip_right: bool,
}

/// What is done to a text before it is cut into words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Preparation {
    #[default]
    Nothing,
    /// It is normalised to NFC.
    Nfc,
    /// Blanks become [`BLANK`], and one is put first if `prefix` says so.
    MarkBlanks { prefix: bool },
}

/// The character that SentencePiece writes for a blank.
const BLANK: char = '▁';

/// A tokeniser that joins pairs.
#[derive(Clone, Debug)]
pub(super) struct BytePairs {
    /// The ids of characters as pieces of their own, if words do not begin as bytes.
    pub(super) characters: FxHashMap<char, u32>,
    /// The id of every byte as a piece of its own. A byte without one is left out.
    pub(super) bytes: Box<[Option<u32>; 256]>,
    /// The rank and the result of every pair that is joined.
    pub(super) merges: FxHashMap<(u32, u32), (u32, u32)>,
    /// Whole words that are not built from pairs, if the model looks for them first.
    pub(super) words: HashMap<Box<[u8]>, u32>,
    pub(super) steps: Vec<Step>,
    pub(super) preparation: Preparation,
    /// Texts that are one token wherever they occur in the text as it is.
    pub(super) added: AddedTokens,
    /// Texts that are one token wherever they occur in the normalised text.
    pub(super) added_normalised: AddedTokens,
    /// What belongs to each added token.
    pub(super) flags: HashMap<u32, Flags>,
}

/// The longest word whose pieces are kept for the next time that it occurs in a text.
const LONGEST_KEPT: usize = 48;

/// Longer words are cut, so that places fit 32 bits.
const LONGEST_WORD: usize = 1 << 30;

/// What is used again for every word of a text.
#[derive(Default)]
struct Work {
    symbols: Vec<Symbol>,
    queue: Queue,
    /// The places of the pieces of words in `pieces`.
    known: FxHashMap<Box<[u8]>, (usize, usize)>,
    /// The pieces of all known words: an id, and the bytes of the word that it stands for.
    pieces: Vec<(u32, u32, u32)>,
    /// How many of the pieces belong to words that are known.
    kept: usize,
}

/// The pairs that are still to be joined. All places of one pair are kept together, so that a word
/// of a million letters takes hardly longer than its letters in shorter words.
#[derive(Default)]
struct Queue {
    /// The ranks of the waiting pairs, each once.
    ranks: BinaryHeap<Reverse<u32>>,
    places: FxHashMap<u32, Places>,
    /// Lists that are used again.
    spare: Vec<Places>,
}

/// The places at which one pair begins.
#[derive(Default)]
struct Places {
    list: Vec<u32>,
    /// How many of them have been looked at.
    done: usize,
    is_sorted: bool,
}

impl Queue {
    fn push(&mut self, rank: u32, place: u32) {
        let places = self.places.entry(rank).or_insert_with(|| {
            self.ranks.push(Reverse(rank));
            self.spare.pop().unwrap_or_default()
        });
        places.list.push(place);
        places.is_sorted = false;
    }

    /// The next place of the pair with the lowest rank, and that rank. Places of one pair come from
    /// left to right.
    fn pop(&mut self) -> Option<(u32, u32)> {
        let Reverse(rank) = *self.ranks.peek()?;
        let places = self.places.get_mut(&rank)?;
        if !places.is_sorted {
            places.list[places.done..].sort_unstable();
            places.is_sorted = true;
        }
        let place = places.list[places.done];
        places.done += 1;
        if places.done == places.list.len() {
            self.ranks.pop();
            if let Some(mut places) = self.places.remove(&rank) {
                places.list.clear();
                places.done = 0;
                self.spare.push(places);
            }
        }
        Some((rank, place))
    }
}

/// A part of a word: a byte, or what has been joined.
#[derive(Clone, Copy)]
struct Symbol {
    /// The id, or [`GONE`] if it was joined to the symbol before it.
    id: u32,
    start: u32,
    end: u32,
    previous: u32,
    next: u32,
}

const GONE: u32 = u32::MAX;
const NOWHERE: u32 = u32::MAX;

/// A part of the text, of which a normalised copy is cut.
struct Section<'a> {
    /// The whole text.
    text: &'a str,
    /// Where each part of the copy began in the text. Empty if the copy is the same.
    map: &'a [(usize, usize)],
    /// The first byte of the section in the text.
    start: usize,
    /// One past the last byte.
    end: usize,
}

impl Section<'_> {
    /// The bytes of the text, in whole characters, for bytes of the copy.
    fn span(&self, start: usize, end: usize) -> (usize, usize) {
        let (mut start, mut end) = if self.map.is_empty() {
            (self.start + start, self.start + end)
        } else {
            let part = |at: usize| self.map.partition_point(|(copied, _)| *copied <= at);
            let first = part(start).saturating_sub(1);
            let last = part(end.max(start + 1) - 1);
            (self.map[first].1, self.map.get(last).map_or(self.end, |(_, origin)| *origin))
        };
        // A blank that is not in the text stands for the character after it.
        end = end.max(start + 1).min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        (start, end)
    }
}

impl BytePairs {
    /// The pieces of `text`, without special tokens.
    pub(super) fn tokenize(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
        let mut work = Work::default();
        for (part, id) in self.found(&self.added, text) {
            let (start, end) = part;
            match id {
                Some(id) => tokens.push(Token { id, start, end }),
                None => self.tokenize_section(text, start, end, &mut work, &mut tokens),
            }
        }
        tokens
    }

    /// Cuts a text at added tokens, as Hugging Face's `AddedVocabulary::find_matches`.
    fn found(&self, added: &AddedTokens, text: &str) -> Vec<((usize, usize), Option<u32>)> {
        let mut parts = Vec::new();
        let (mut from, mut done) = (0, 0);
        while let Some(found) = added.find(text, from) {
            from = found.end;
            let flags = self.flags.get(&found.id).copied().unwrap_or_default();
            let (before, after) = (&text[..found.start], &text[found.end..]);
            if flags.single_word
                && (before.chars().next_back().is_some_and(is_word)
                    || after.chars().next().is_some_and(is_word))
            {
                continue;
            }
            let (mut start, mut end) = (found.start, found.end);
            if flags.strip_left {
                start = text[done.min(start)..start].trim_end().len() + done.min(start);
            }
            if flags.strip_right {
                end += after.len() - after.trim_start().len();
            }
            if done < start {
                parts.push(((done, start), None));
            }
            parts.push(((start, end), Some(found.id)));
            done = end;
        }
        if done < text.len() {
            parts.push(((done, text.len()), None));
        }
        parts
    }

    /// Cuts a part of the text that has no added tokens.
    fn tokenize_section(
        &self,
        text: &str,
        start: usize,
        end: usize,
        work: &mut Work,
        tokens: &mut Vec<Token>,
    ) {
        let mut section = Section { text, map: &[], start, end };
        let part = &text[start..end];
        let (copy, map) = match self.preparation {
            Preparation::Nfc if !is_nfc(part) => compose(part, start),
            Preparation::MarkBlanks { prefix } => mark_blanks(part, start, prefix),
            _ => return self.tokenize_copy(part, &section, work, tokens),
        };
        section.map = &map;
        self.tokenize_copy(&copy, &section, work, tokens);
    }

    fn tokenize_copy(
        &self,
        copy: &str,
        section: &Section<'_>,
        work: &mut Work,
        tokens: &mut Vec<Token>,
    ) {
        for ((start, end), id) in self.found(&self.added_normalised, copy) {
            if let Some(id) = id {
                let (start, end) = section.span(start, end);
                tokens.push(Token { id, start, end });
                continue;
            }
            words(&self.steps, &copy[start..end], start, 0, &mut |word, at, blanks| {
                let mut done = 0;
                while done < word.len() {
                    let mut end = word.len().min(done + LONGEST_WORD);
                    while !word.is_char_boundary(end) {
                        end -= 1;
                    }
                    for piece in self.pieces(&word[done..end], work) {
                        let place = |byte: u32| at + (done + byte as usize).saturating_sub(blanks);
                        let (start, end) = section.span(place(piece.1), place(piece.2));
                        tokens.push(Token { id: piece.0, start, end });
                    }
                    done = end;
                }
            });
        }
    }

    /// The pieces of a word: an id each, and the bytes of the word that it stands for.
    fn pieces<'w>(&self, word: &str, work: &'w mut Work) -> &'w [(u32, u32, u32)] {
        if let Some(&(from, to)) = work.known.get(word.as_bytes()) {
            return &work.pieces[from..to];
        }
        // The room of the last word is used again if that word was too long to be kept.
        work.pieces.truncate(work.kept);
        let from = work.kept;
        match self.words.get(word.as_bytes()) {
            Some(&id) => work.pieces.push((id, 0, word.len() as u32)),
            None => self.merge(word, work),
        }
        let place = (from, work.pieces.len());
        if word.len() <= LONGEST_KEPT {
            work.known.insert(word.as_bytes().into(), place);
            work.kept = place.1;
        }
        &work.pieces[place.0..place.1]
    }

    /// Joins pairs, the one with the lowest rank first and of equal pairs the leftmost. The queue
    /// may hold pairs that are gone; they are passed over.
    fn merge(&self, word: &str, work: &mut Work) {
        let Work { symbols, queue, pieces, .. } = work;
        symbols.clear();
        let mut add = |id: u32, start: usize, end: usize| {
            let place = symbols.len() as u32;
            let (previous, next) = (place.wrapping_sub(1), place + 1);
            symbols.push(Symbol { id, start: start as u32, end: end as u32, previous, next });
        };
        let add_bytes = |add: &mut dyn FnMut(u32, usize, usize), from: usize, to: usize| {
            for (at, byte) in word.as_bytes()[from..to].iter().enumerate() {
                if let Some(id) = self.bytes[usize::from(*byte)] {
                    add(id, from + at, from + at + 1);
                }
            }
        };
        if self.characters.is_empty() {
            add_bytes(&mut add, 0, word.len());
        } else {
            for (at, c) in word.char_indices() {
                match self.characters.get(&c) {
                    Some(id) => add(*id, at, at + c.len_utf8()),
                    None => add_bytes(&mut add, at, at + c.len_utf8()),
                }
            }
        }
        if let Some(last) = symbols.last_mut() {
            last.next = NOWHERE;
        }
        for (place, pair) in symbols.windows(2).enumerate() {
            if let Some(&(rank, _)) = self.merges.get(&(pair[0].id, pair[1].id)) {
                queue.push(rank, place as u32);
            }
        }
        while let Some((rank, place)) = queue.pop() {
            self.join(place, rank, symbols, queue);
        }
        let whole = symbols.iter().filter(|symbol| symbol.id != GONE);
        pieces.extend(whole.map(|symbol| (symbol.id, symbol.start, symbol.end)));
    }

    /// Joins the symbol at `place` to the next one, if the two are still the pair of this rank.
    fn join(&self, place: u32, rank: u32, symbols: &mut [Symbol], queue: &mut Queue) {
        let left = symbols[place as usize];
        if left.id == GONE || left.next == NOWHERE {
            return;
        }
        let right = symbols[left.next as usize];
        let Some(&(found, joined)) = self.merges.get(&(left.id, right.id)) else { return };
        if found != rank {
            return;
        }
        symbols[left.next as usize].id = GONE;
        symbols[place as usize] = Symbol { id: joined, end: right.end, next: right.next, ..left };
        if right.next != NOWHERE {
            symbols[right.next as usize].previous = place;
            let after = symbols[right.next as usize].id;
            if let Some(&(rank, _)) = self.merges.get(&(joined, after)) {
                queue.push(rank, place);
            }
        }
        if left.previous != NOWHERE {
            let before = symbols[left.previous as usize].id;
            if let Some(&(rank, _)) = self.merges.get(&(before, joined)) {
                queue.push(rank, left.previous);
            }
        }
    }
}

/// Cuts a text by one step after the other. `each` is called with every word, its place, and the
/// number of bytes at its beginning that were put there by a step.
fn words(
    steps: &[Step],
    text: &str,
    at: usize,
    blanks: usize,
    each: &mut dyn FnMut(&str, usize, usize),
) {
    match steps {
        [] if text.is_empty() => {}
        [] => each(text, at, blanks),
        [Step::PrefixBlank, later @ ..] => {
            if text.is_empty() || text.starts_with(' ') {
                words(later, text, at, blanks, each);
            } else {
                words(later, &format!(" {text}"), at, blanks + 1, each);
            }
        }
        [Step::Split(splitter), later @ ..] => {
            let mut from = 0;
            while from < text.len() {
                let end = from + splitter.first(&text[from..]);
                let blanks_here = if from == 0 { blanks } else { 0 };
                let place = at + from.saturating_sub(blanks);
                words(later, &text[from..end], place, blanks_here, each);
                from = end;
            }
        }
    }
}

/// The NFC of a text, and for each part of it that was composed alone, where the part begins in the
/// result and in the text, to which `offset` is added.
fn compose(text: &str, offset: usize) -> (String, Vec<(usize, usize)>) {
    // Nothing is ever composed across the beginning of a character whose decomposition begins so.
    let is_boundary = |c: char| {
        std::iter::once(c).nfd().next().is_some_and(|first| {
            canonical_combining_class(first) == 0
                && is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes
        })
    };
    let mut starts: Vec<usize> =
        text.char_indices().filter(|(_, c)| is_boundary(*c)).map(|(at, _)| at).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let mut copy = String::with_capacity(text.len());
    let mut map = Vec::with_capacity(starts.len());
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.len());
        map.push((copy.len(), offset + start));
        copy.extend(text[*start..end].nfc());
    }
    (copy, map)
}

/// A text with marks for its blanks, and where each part of the result begins in the result and in
/// the text, to which `offset` is added.
fn mark_blanks(text: &str, offset: usize, prefix: bool) -> (String, Vec<(usize, usize)>) {
    let mut copy = String::with_capacity(text.len() + text.len() / 2 + 3);
    let mut map = Vec::with_capacity(text.len() + 1);
    if prefix {
        map.push((0, offset));
        copy.push(BLANK);
    }
    for (at, c) in text.char_indices() {
        map.push((copy.len(), offset + at));
        copy.push(if c == ' ' { BLANK } else { c });
    }
    (copy, map)
}

/// Whether a character can be a part of a word, as `\w` of regular expressions.
fn is_word(c: char) -> bool {
    c.is_alphabetic()
        || c.general_category_group() == GeneralCategoryGroup::Mark
        || matches!(
            c.general_category(),
            GeneralCategory::DecimalNumber | GeneralCategory::ConnectorPunctuation
        )
        || matches!(c, '\u{200c}' | '\u{200d}')
}

/// The character that stands for a byte in the vocabularies of GPT-2: bytes that print stand for
/// themselves, and the others for the characters from U+0100 on.
pub(super) fn byte_characters() -> [char; 256] {
    let prints = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut others = 0x100..;
    std::array::from_fn(|byte| {
        let byte = byte as u8;
        let code = if prints(byte) { u32::from(byte) } else { others.next().unwrap_or(0) };
        char::from_u32(code).unwrap_or('\0')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_do_not_print_have_characters_of_their_own() {
        let characters = byte_characters();
        assert_eq!(characters[usize::from(b'A')], 'A');
        assert_eq!(characters[usize::from(b' ')], 'Ġ');
        assert_eq!(characters[usize::from(b'\n')], 'Ċ');
        let distinct: std::collections::BTreeSet<char> = characters.into();
        assert_eq!(distinct.len(), 256);
    }

    #[test]
    fn composing_in_parts_is_composing_at_once() {
        for text in [
            "e\u{301}a\u{323}\u{307}",
            "\u{1112}\u{1161}\u{11ab}x",
            "\u{301}a",
            "a\u{301}",
            "\u{212b}\u{323} \u{212b}",
            "\u{1100}\u{ac00}\u{11a8}\u{1161}",
            "\u{9c7}\u{9be}\u{9c7}\u{9d7}",
            "\u{fb2a}\u{5c1}\u{5bc}",
        ] {
            let (copy, map) = compose(text, 10);
            assert_eq!(copy, text.nfc().collect::<String>(), "{text:?}");
            assert_eq!(map[0], (0, 10));
        }
        assert_eq!(compose("xe\u{301}y", 0), ("xéy".into(), vec![(0, 0), (1, 1), (3, 4)]));
    }
}
