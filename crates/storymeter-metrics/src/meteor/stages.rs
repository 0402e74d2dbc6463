//! Every possible match between the words of two texts, in four stages: exact, stem, synonym and
//! paraphrase.
//!
//! The order in which the matches of a place are found decides between alignments that are
//! otherwise equal. It is therefore that of METEOR 1.5: by stage, then from left to right in the
//! story.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use super::paraphrases::{Paraphrases, UNKNOWN};
use super::tables::Tables;
use super::words::Word;

/// The number of stages.
pub(crate) const STAGES: usize = 4;

/// The stages, in their order.
pub(crate) const EXACT: u8 = 0;
const STEM: u8 = 1;
const SYNONYM: u8 = 2;
const PARAPHRASE: u8 = 3;

/// Words of the reference that match words of the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    /// The stage that found it.
    pub stage: u8,
    /// Where it begins in the reference, and how many words it has there.
    pub start: u32,
    pub length: u32,
    /// Where it begins in the story, and how many words it has there.
    pub story_start: u32,
    pub story_length: u32,
}

impl Match {
    /// Its places in the reference.
    pub fn reference_places(&self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }

    /// Its places in the story.
    pub fn story_places(&self) -> Range<usize> {
        self.story_start as usize..(self.story_start + self.story_length) as usize
    }
}

/// All matches of a pair of texts.
pub(crate) struct Matches {
    /// The matches that begin at each word of the reference.
    pub at: Vec<Vec<Match>>,
    /// The number of matches that cover each word of the reference, and of the story.
    pub reference_cover: Vec<u32>,
    pub story_cover: Vec<u32>,
}

type Places<K> = HashMap<K, Vec<u32>, FxBuildHasher>;

impl Matches {
    /// Finds all matches of a story and a reference.
    pub fn find(story: &[&Word], reference: &[&Word], tables: &Tables) -> Self {
        let mut matches = Self {
            at: vec![Vec::new(); reference.len()],
            reference_cover: vec![0; reference.len()],
            story_cover: vec![0; story.len()],
        };
        matches.by_key(story, reference, EXACT, |word| word.key);
        // Equal texts need only their exact matches.
        if !story.iter().map(|word| word.key).eq(reference.iter().map(|word| word.key)) {
            matches.by_key(story, reference, STEM, |word| word.stem);
            matches.by_synonym(story, reference, tables);
            if let Some(paraphrases) = &tables.paraphrases {
                matches.by_paraphrase(story, reference, paraphrases);
            }
        }
        matches
    }

    fn push(&mut self, found: Match) {
        self.story_cover[found.story_places()].iter_mut().for_each(|count| *count += 1);
        self.reference_cover[found.reference_places()].iter_mut().for_each(|count| *count += 1);
        self.at[found.start as usize].push(found);
    }

    fn push_word(&mut self, stage: u8, start: u32, story_start: u32) {
        self.push(Match { stage, start, length: 1, story_start, story_length: 1 });
    }

    fn push_phrase(&mut self, reference: Phrase, story: Phrase) {
        let (start, length) = reference;
        let (story_start, story_length) = story;
        self.push(Match { stage: PARAPHRASE, start, length, story_start, story_length });
    }

    /// Matches words with equal keys. After the first stage, only words that are not equal match.
    fn by_key(&mut self, story: &[&Word], reference: &[&Word], stage: u8, key: fn(&Word) -> i32) {
        let mut places: Places<i32> = HashMap::default();
        for (at, word) in (0..).zip(story) {
            places.entry(key(word)).or_default().push(at);
        }
        for (start, word) in (0..).zip(reference) {
            for &at in places.get(&key(word)).into_iter().flatten() {
                if stage == EXACT || story[at as usize].key != word.key {
                    self.push_word(stage, start, at);
                }
            }
        }
    }

    /// Matches different words that share a set of synonyms.
    fn by_synonym(&mut self, story: &[&Word], reference: &[&Word], tables: &Tables) {
        let story = Distinct::new(story);
        let reference = Distinct::new(reference);
        let mut members: Places<u32> = HashMap::default();
        for (kind, word) in (0..).zip(&story.words) {
            for set in tables.synonyms.sets(&word.text) {
                members.entry(set).or_default().push(kind);
            }
        }
        let partners: Vec<Vec<u32>> = reference
            .words
            .iter()
            .map(|word| {
                let sets = tables.synonyms.sets(&word.text);
                let mut kinds: Vec<u32> =
                    sets.iter().filter_map(|set| members.get(set)).flatten().copied().collect();
                kinds.sort_unstable();
                kinds.dedup();
                kinds.retain(|&kind| story.words[kind as usize].key != word.key);
                let mut places: Vec<u32> =
                    kinds.iter().flat_map(|&kind| &story.places[kind as usize]).copied().collect();
                places.sort_unstable();
                places
            })
            .collect();
        for (start, &kind) in (0..).zip(&reference.kinds) {
            for &at in &partners[kind as usize] {
                self.push_word(SYNONYM, start, at);
            }
        }
    }

    /// Matches phrases of the reference that have a paraphrase in the story, and then phrases of
    /// the story that have one in the reference.
    fn by_paraphrase(&mut self, story: &[&Word], reference: &[&Word], table: &Paraphrases) {
        let numbers =
            |words: &[&Word]| words.iter().map(|word| table.word(&word.text)).collect::<Vec<u32>>();
        let (story, reference) = (numbers(story), numbers(reference));
        for_each_paraphrase(table, &reference, &story, |from, to| self.push_phrase(from, to));
        for_each_paraphrase(table, &story, &reference, |from, to| self.push_phrase(to, from));
    }
}

/// The different words of a text.
struct Distinct<'a> {
    words: Vec<&'a Word>,
    places: Vec<Vec<u32>>,
    /// The number of each word of the text among the different ones.
    kinds: Vec<u32>,
}

impl<'a> Distinct<'a> {
    fn new(text: &[&'a Word]) -> Self {
        let mut numbers: HashMap<&str, u32, FxBuildHasher> = HashMap::default();
        let mut distinct =
            Self { words: Vec::new(), places: Vec::new(), kinds: Vec::with_capacity(text.len()) };
        for (at, &word) in (0..).zip(text) {
            let kind = *numbers.entry(&word.text).or_insert_with(|| {
                distinct.words.push(word);
                distinct.places.push(Vec::new());
                distinct.words.len() as u32 - 1
            });
            distinct.places[kind as usize].push(at);
            distinct.kinds.push(kind);
        }
        distinct
    }
}

/// A phrase of a text: its place and its length.
type Phrase = (u32, u32);

/// Calls `found` for each phrase of `from` that has a paraphrase in `to`, with both phrases.
fn for_each_paraphrase(
    table: &Paraphrases,
    from: &[u32],
    to: &[u32],
    mut found: impl FnMut(Phrase, Phrase),
) {
    // Most paraphrases begin with a word that the other text does not have. One bit per word says
    // whether it does.
    let mut present = vec![0_u64; table.vocabulary().div_ceil(64)];
    let mut places: Places<u32> = HashMap::default();
    for (at, &word) in (0..).zip(to).filter(|&(_, &word)| word != UNKNOWN) {
        present[word as usize / 64] |= 1 << (word % 64);
        places.entry(word).or_default().push(at);
    }
    for start in 0..from.len() {
        for (length, phrase) in table.at_start(&from[start..]) {
            let Some(&first) = phrase.first() else { continue };
            if present[first as usize / 64] >> (first % 64) & 1 == 0 {
                continue;
            }
            for &at in &places[&first] {
                if to[at as usize..].starts_with(phrase) {
                    found((start as u32, length as u32), (at, phrase.len() as u32));
                }
            }
        }
    }
}
