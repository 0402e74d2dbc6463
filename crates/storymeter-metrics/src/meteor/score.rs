//! The score of an alignment in METEOR 1.5 (Denkowski and Lavie 2014, section 2), with the
//! parameters for English.
//!
//! A match of stage i weighs `w_i`, a content word `delta` and a function word `1 - delta`. They
//! give the weighted precision P and recall R, and `F = 1 / ((1 - alpha) / P + alpha / R)`. The
//! penalty is `gamma * (chunks / matches)^beta`, and the score `F * (1 - penalty)`.

use super::beam::align;
use super::stages::{Matches, STAGES};
use super::tables::Tables;
use super::words::Word;

pub(crate) const ALPHA: f64 = 0.85;
pub(crate) const BETA: f64 = 0.2;
pub(crate) const GAMMA: f64 = 0.6;
pub(crate) const DELTA: f64 = 0.75;
/// The weights of exact, stem, synonym and paraphrase matches.
pub(crate) const WEIGHTS: [f64; STAGES] = [1.0, 0.6, 0.8, 0.6];

/// The number of numbers in a [`Side`].
const SIDE: usize = 2 + 2 * STAGES;

/// The number of numbers in [`Counts`].
pub(crate) const WIDTH: usize = 2 * SIDE + 1;

/// The counts of one text of a pair.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Side {
    words: f64,
    function_words: f64,
    /// The matched content words and function words, by stage.
    content: [f64; STAGES],
    function: [f64; STAGES],
}

/// The counts from which the score of a pair, or of many pairs together, is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Counts {
    story: Side,
    reference: Side,
    chunks: f64,
}

impl Side {
    fn new(words: &[&Word], tables: &Tables) -> (Self, Vec<bool>) {
        let function: Vec<bool> =
            words.iter().map(|word| tables.function_words.contains(&*word.text)).collect();
        let count = function.iter().filter(|function| **function).count();
        (
            Self { words: words.len() as f64, function_words: count as f64, ..Self::default() },
            function,
        )
    }

    fn add(&mut self, stage: u8, function: &[bool]) {
        for &function in function {
            let by_stage = if function { &mut self.function } else { &mut self.content };
            by_stage[usize::from(stage)] += 1.0;
        }
    }

    fn matches(&self) -> f64 {
        (0..STAGES).map(|stage| self.content[stage] + self.function[stage]).sum()
    }

    /// The weighted share of words that are matched.
    fn share(&self) -> f64 {
        let weighted = |matches: &[f64; STAGES], weight: f64| {
            matches.iter().zip(WEIGHTS).map(move |(n, w)| n * w * weight).collect::<Vec<_>>()
        };
        let length =
            DELTA * (self.words - self.function_words) + (1.0 - DELTA) * self.function_words;
        let content = weighted(&self.content, DELTA);
        content.into_iter().chain(weighted(&self.function, 1.0 - DELTA)).sum::<f64>() / length
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        [self.words, self.function_words].into_iter().chain(self.content).chain(self.function)
    }

    fn from_numbers(numbers: &[f64]) -> Self {
        let stages = |from: usize| std::array::from_fn(|stage| numbers[from + stage]);
        Self {
            words: numbers[0],
            function_words: numbers[1],
            content: stages(2),
            function: stages(2 + STAGES),
        }
    }
}

impl Counts {
    /// Aligns a story with a reference and counts the matches.
    pub fn aligned(story: &[&Word], reference: &[&Word], tables: &Tables) -> Self {
        let (mut one, story_function) = Side::new(story, tables);
        let (mut other, reference_function) = Side::new(reference, tables);
        let mut chunks = 0.0;
        // Where the last match ended in both texts.
        let mut last = None;
        for found in align(&Matches::find(story, reference, tables)) {
            one.add(found.stage, &story_function[found.story_places()]);
            other.add(found.stage, &reference_function[found.reference_places()]);
            if last != Some((found.start, found.story_start)) {
                chunks += 1.0;
            }
            last = Some((found.start + found.length, found.story_start + found.story_length));
        }
        let counts = Self { story: one, reference: other, chunks };
        // A story that equals its reference has no penalty, and adds none to a sum of counts.
        if counts.is_whole() { Self { chunks: 0.0, ..counts } } else { counts }
    }

    /// Whether every word is matched, in one run.
    fn is_whole(&self) -> bool {
        let all = |side: &Side| side.matches() == side.words;
        all(&self.story) && all(&self.reference) && self.chunks == 1.0
    }

    /// The score, which is 0 if nothing matches.
    pub fn score(&self) -> f64 {
        let (precision, recall) = (self.story.share(), self.reference.share());
        let mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall);
        let (matches, reference_matches) = (self.story.matches(), self.reference.matches());
        let fragmentation =
            if self.is_whole() { 0.0 } else { self.chunks / ((matches + reference_matches) / 2.0) };
        let score = mean * (1.0 - GAMMA * fragmentation.powf(BETA));
        if score.is_nan() { 0.0 } else { score.max(0.0) }
    }

    /// Writes the counts into a row. Rows may be added up over stories.
    pub fn write(&self, row: &mut [f64]) {
        let numbers = self.story.numbers().chain(self.reference.numbers()).chain([self.chunks]);
        row.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
    }

    /// Reads the counts from a row.
    pub fn read(row: &[f64]) -> Self {
        Self {
            story: Side::from_numbers(&row[..SIDE]),
            reference: Side::from_numbers(&row[SIDE..]),
            chunks: row[2 * SIDE],
        }
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::TextCache;

    use super::*;
    use crate::meteor::words::MeteorWords;

    fn counts(story: &str, reference: &str) -> Counts {
        let tables = Tables::built_in();
        let [story, reference] =
            [story, reference].map(|text| TextCache::new(text).view::<MeteorWords>());
        let (story, reference) =
            (story.resolve(&tables.abbreviations), reference.resolve(&tables.abbreviations));
        Counts::aligned(&story, &reference, &tables)
    }

    #[test]
    fn equal_texts_score_one_and_strangers_zero() {
        assert_eq!(counts("The lamp went out.", "the lamp went out.").score(), 1.0);
        assert_eq!(counts("abc", "xyz").score(), 0.0);
        assert_eq!(counts("", "xyz").score(), 0.0);
    }

    #[test]
    fn whole_matches_add_no_chunk_to_a_sum() {
        let mut row = [0.0; WIDTH];
        counts("The lamp went out.", "The lamp went out.").write(&mut row);
        let twice = row.map(|number| 2.0 * number);
        assert_eq!(Counts::read(&twice).score(), 1.0);
    }

    #[test]
    fn a_row_holds_the_counts() {
        let counts = counts("The lamps went out again", "A lamp left and went out");
        let mut row = [0.0; WIDTH];
        counts.write(&mut row);
        assert_eq!(Counts::read(&row), counts);
    }

    #[test]
    fn matches_with_a_gap_in_either_text_are_chunks_of_their_own() {
        assert_eq!(counts("one two three four", "one two x three four").chunks, 2.0);
    }
}
