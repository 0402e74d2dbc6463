//! How much of a prompt's rare words a story takes up.
//!
//! A sentence vector says what a text is about, but not in which words. A story that names the
//! prompt's own things, again and again, is about it even where the vectors differ. On the rated
//! stories this adds to the cosine (docs/experiments.md, section 8).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;
use storymeter_core::Story;

use super::read::{Reading, as_story, prompt_of};
use super::similarity::{Comparer, SentenceScorer, Similarity};
use crate::Result;
use crate::opened::Opened;

/// How much the cover counts beside the cosine.
const SHARE: f64 = 0.3;

/// The vocabularies of BERT and its kin begin with about 2,000 entries that are not words. The
/// words after them are sorted by frequency.
const FIRST_WORD: u32 = 2000;

/// A word counts if more words than this are more frequent.
const FREQUENT: f64 = 148.0;

/// More mentions of a word than this count as this many.
const MOST_MENTIONS: u32 = 3;

impl SentenceScorer {
    /// How close each story is to its prompt: the [similarity](SentenceScorer::similarities) of the
    /// two, plus 0.3 times the cover, which says how often the story mentions the rare words of the
    /// prompt. `None` where there is no similarity.
    ///
    /// # Errors
    /// As [`SentenceScorer::similarities`].
    pub fn closeness(&self, stories: &[&Story]) -> Result<Vec<Option<f64>>> {
        let similarities = self.similarities(stories)?;
        Ok(covered(&self.model, stories, &similarities))
    }
}

/// The closeness of stories to their prompts, from their similarities.
pub(super) fn covered(
    model: &Opened,
    stories: &[&Story],
    similarities: &[Option<f64>],
) -> Vec<Option<f64>> {
    // Stories of one prompt share its words.
    let prompts: BTreeSet<&str> = stories.iter().filter_map(|story| prompt_of(story)).collect();
    let prompts: Vec<&str> = prompts.into_iter().collect();
    let weights: Vec<BTreeMap<u32, f64>> =
        prompts.par_iter().map(|prompt| weights_of(model, prompt)).collect();
    let weights: BTreeMap<&str, BTreeMap<u32, f64>> = prompts.into_iter().zip(weights).collect();
    let close = |(similarity, story): (&Option<f64>, &&Story)| {
        let (similarity, weights) = ((*similarity)?, weights.get(prompt_of(story)?)?);
        Some(similarity + SHARE * words_of(model, story, weights.clone()).cover(None))
    };
    similarities.par_iter().zip(stories).map(close).collect()
}

impl Comparer<'_> {
    /// The closeness of a story and its prompt, and what each sentence does to it. The sentences
    /// are ranges of the story's bytes. The cover has no parts that add up, so it belongs to no
    /// sentence, but a sentence can have an effect on it.
    pub fn weigh_closeness(
        self,
        story: &Story,
        sentences: &[Range<usize>],
    ) -> Result<Option<Similarity>> {
        let Some(mut own) = self.weigh(story, sentences)? else { return Ok(None) };
        let weights = prompt_of(story).map(|prompt| weights_of(self.model, prompt));
        let words = words_of(self.model, story, weights.unwrap_or_default());
        let cover = words.cover(None);
        own.value += SHARE * cover;
        own.rest += SHARE * cover;
        for (without, sentence) in own.without.iter_mut().zip(sentences) {
            *without += SHARE * words.cover(Some(sentence));
        }
        Ok(Some(own))
    }
}

/// The rare words of a prompt, and how much they count.
fn weights_of(model: &Opened, prompt: &str) -> BTreeMap<u32, f64> {
    let pieces = pieces(model, &as_story(prompt));
    let wanted: BTreeSet<u32> = pieces.into_iter().map(|(_, id)| id).collect();
    wanted.into_iter().map(|id| (id, weight(id))).filter(|(_, weight)| *weight > 0.0).collect()
}

fn words_of(model: &Opened, story: &Story, weights: BTreeMap<u32, f64>) -> Words {
    let mut mentions = pieces(model, story);
    mentions.retain(|(_, id)| weights.contains_key(id));
    Words { weights, mentions }
}

/// The tokens of a text, and where they are in it.
fn pieces(model: &Opened, story: &Story) -> Vec<(usize, u32)> {
    let reading = Reading::new(&model.tokenizer, &model.card, story);
    // Windows share sentences, so a piece may be in two of them.
    let windows = reading.windows.iter().flat_map(|window| &window.pieces);
    let places: BTreeMap<usize, u32> = windows.map(|piece| (piece.start, piece.id)).collect();
    let place = |at: usize| reading.origin.old_range(at..at + 1).start;
    places.into_iter().map(|(at, id)| (place(at), id)).collect()
}

/// The rare words of a prompt, and where a story mentions them.
#[derive(Default)]
struct Words {
    weights: BTreeMap<u32, f64>,
    mentions: Vec<(usize, u32)>,
}

impl Words {
    /// The weighted mean over the words of `ln(1 + mentions)`. Mentions within `left_out` do not
    /// count. It is 0 if the prompt has no rare words.
    fn cover(&self, left_out: Option<&Range<usize>>) -> f64 {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for (place, id) in &self.mentions {
            if left_out.is_none_or(|range| !range.contains(place)) {
                *counts.entry(*id).or_default() += 1;
            }
        }
        let total: f64 = self.weights.values().sum();
        let found = self.weights.iter().map(|(id, weight)| {
            let count = counts.get(id).copied().unwrap_or_default().min(MOST_MENTIONS);
            weight * f64::from(count).ln_1p()
        });
        if total > 0.0 { found.sum::<f64>() / total } else { 0.0 }
    }
}

/// How much a word counts: the logarithm of its rank among the words, beyond that of frequent
/// words.
fn weight(id: u32) -> f64 {
    let rank = f64::from(id.saturating_sub(FIRST_WORD)).max(1.0);
    (rank.ln() - FREQUENT.ln()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_and_frequent_ones_do_not() {
        assert_eq!(weight(1_500), 0.0, "no word");
        assert_eq!(weight(2_100), 0.0, "a frequent word");
        assert!(0.0 < weight(4_000) && weight(4_000) < weight(20_000));
    }

    #[test]
    fn the_cover_grows_with_mentions_up_to_three() {
        let words = |mentions: &[(usize, u32)]| Words {
            weights: BTreeMap::from([(7, 1.0), (8, 3.0)]),
            mentions: mentions.to_vec(),
        };
        assert_eq!(words(&[]).cover(None), 0.0);
        assert_eq!(words(&[(0, 8)]).cover(None), 0.75 * 2f64.ln());
        let often: Vec<(usize, u32)> = (0..9).map(|at| (at, 7)).collect();
        assert_eq!(words(&often).cover(None), 0.25 * 4f64.ln());
        assert_eq!(words(&often).cover(Some(&(1..9))), 0.25 * 2f64.ln());
        assert_eq!(Words::default().cover(None), 0.0);
    }
}
