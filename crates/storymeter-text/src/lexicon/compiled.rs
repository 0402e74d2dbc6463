//! Reads the embedded lexicon: words are found by their hash, and records are decoded in place.

use super::PartOfSpeech;
use super::format::{HEADER_BYTES, MAGIC, hash, read_u24, read_u32, read_varint, unfold_sign};

static BYTES: &[u8] = include_bytes!("../../data/lexicon.bin");

/// One word of the embedded file.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Where the mask of the record is.
    mask_at: usize,
}

/// What the file says about a word as a lemma of one part of speech.
struct LemmaSection {
    usage: u8,
    synsets: List,
    counts: List,
    antonyms: List,
}

/// Numbers or records stored as a list in the file.
#[derive(Clone)]
pub(crate) struct List {
    left: u32,
    at: usize,
}

impl List {
    const EMPTY: Self = Self { left: 0, at: 0 };

    fn at(at: &mut usize) -> Self {
        let left = read_varint(BYTES, at);
        Self { left, at: *at }
    }

    fn skip(self, at: &mut usize) {
        *at = self.at;
        for _ in 0..self.left {
            read_varint(BYTES, at);
        }
    }

    /// The words that a list of records refers to.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> + Clone {
        self.map(|record| word_at(record as usize))
    }

    /// The words that a list of records refers to, with their entries.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'static str, Entry)> {
        self.map(|record| {
            let word = word_at(record as usize);
            (word, Entry { mask_at: record as usize + 1 + word.len() })
        })
    }

    /// The synset numbers that are stored as differences, in WordNet's order.
    pub(crate) fn synsets(self) -> impl Iterator<Item = u32> + Clone {
        self.scan(0_u32, |last, step| {
            *last = last.wrapping_add_signed(unfold_sign(step));
            Some(*last)
        })
    }
}

impl Iterator for List {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        Some(read_varint(BYTES, &mut self.at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

fn word_at(record: usize) -> &'static str {
    let length = usize::from(BYTES[record]);
    std::str::from_utf8(&BYTES[record + 1..record + 1 + length]).unwrap_or_default()
}

/// The entry of a word in lower case.
pub(crate) fn find(word: &str) -> Option<Entry> {
    debug_assert_eq!(BYTES[..MAGIC.len()], *MAGIC);
    let slots = read_u32(BYTES, MAGIC.len()) as usize;
    let table = read_u32(BYTES, MAGIC.len() + 8) as usize;
    let mut slot = hash(word) as usize & (slots - 1);
    loop {
        let record = read_u24(BYTES, table + 3 * slot);
        if record < HEADER_BYTES {
            return None;
        }
        let length = usize::from(BYTES[record]);
        if BYTES[record + 1..record + 1 + length] == *word.as_bytes() {
            return Some(Entry { mask_at: record + 1 + length });
        }
        slot = (slot + 1) & (slots - 1);
    }
}

/// All words of the file, in byte order.
pub(crate) fn words() -> impl Iterator<Item = (&'static str, Entry)> {
    let end = read_u32(BYTES, MAGIC.len() + 12) as usize;
    let mut record = HEADER_BYTES;
    std::iter::from_fn(move || {
        if record >= end {
            return None;
        }
        let word = word_at(record);
        let entry = Entry { mask_at: record + 1 + word.len() };
        record = entry.sections_before(8);
        Some((word, entry))
    })
}

/// The members of a synset that several words share; empty for any other synset.
pub(crate) fn members(synset: u32) -> List {
    if synset >= read_u32(BYTES, MAGIC.len() + 4) {
        return List::EMPTY;
    }
    let table = read_u32(BYTES, MAGIC.len() + 12) as usize;
    let mut at = read_u24(BYTES, table + 3 * synset as usize);
    List::at(&mut at)
}

impl Entry {
    fn mask(self) -> u8 {
        BYTES[self.mask_at]
    }

    /// Whether the word is a lemma of the part of speech.
    pub(crate) fn is_lemma(self, pos: PartOfSpeech) -> bool {
        self.mask() & (1 << pos as u8) != 0
    }

    /// Whether the word is a lemma of any part of speech.
    pub(crate) fn is_any_lemma(self) -> bool {
        self.mask() & 0x0f != 0
    }

    /// Where the section of a bit of the mask starts: after the sections of the lower bits.
    fn sections_before(self, bit: u8) -> usize {
        let mut at = self.mask_at + 1;
        for earlier in (0..bit).filter(|earlier| self.mask() & (1 << earlier) != 0) {
            if earlier < 4 {
                at += 1;
                List::at(&mut at).skip(&mut at);
                List::at(&mut at).skip(&mut at);
            }
            List::at(&mut at).skip(&mut at);
        }
        at
    }

    /// The section of a lemma.
    fn lemma(self, pos: PartOfSpeech) -> Option<LemmaSection> {
        if !self.is_lemma(pos) {
            return None;
        }
        let mut at = self.sections_before(pos as u8);
        let usage = BYTES[at];
        at += 1;
        let synsets = List::at(&mut at);
        synsets.clone().skip(&mut at);
        let counts = List::at(&mut at);
        counts.clone().skip(&mut at);
        Some(LemmaSection { usage, synsets, counts, antonyms: List::at(&mut at) })
    }

    /// How often the lemma occurs in WordNet's sense-tagged texts, as 8 log2(1 + count), rounded
    /// up.
    pub(crate) fn usage(self, pos: PartOfSpeech) -> u8 {
        self.lemma(pos).map_or(0, |lemma| lemma.usage)
    }

    /// The synsets of the lemma, in WordNet's order.
    pub(crate) fn synsets(self, pos: PartOfSpeech) -> List {
        self.lemma(pos).map_or(List::EMPTY, |lemma| lemma.synsets)
    }

    /// The synsets of the lemma in WordNet's order, each with how often the lemma means it in
    /// WordNet's sense-tagged texts.
    pub(crate) fn senses(self, pos: PartOfSpeech) -> impl Iterator<Item = (u32, u32)> {
        let (synsets, counts) = self
            .lemma(pos)
            .map_or((List::EMPTY, List::EMPTY), |lemma| (lemma.synsets, lemma.counts));
        synsets.synsets().zip(counts.chain(std::iter::repeat(0)))
    }

    /// The antonyms of the lemma, those of its most usual sense first.
    pub(crate) fn antonyms(self, pos: PartOfSpeech) -> List {
        self.lemma(pos).map_or(List::EMPTY, |lemma| lemma.antonyms)
    }

    /// The lemmas of an irregular form: "mouse" for "mice".
    pub(crate) fn exceptions(self, pos: PartOfSpeech) -> List {
        let bit = 4 + pos as u8;
        if self.mask() & (1 << bit) == 0 {
            return List::EMPTY;
        }
        let mut at = self.sections_before(bit);
        List::at(&mut at)
    }
}
