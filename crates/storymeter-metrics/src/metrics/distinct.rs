//! Distinct-n: the share of the story's n-grams that are different ones.
//!
//! Definition: `|different n-grams of S| / |n-grams of S|`, on the tokens of spaCy's English tokeniser, not
//! lower-cased. `distinct-1` to `distinct-4` are n = 1 to 4. The score of many stories is the mean of theirs: it
//! does not fall with the size of the corpus.
//!
//! Presets:
//! - `spacy` (default): the text as it is.
//!
//! Source: Li et al., NAACL 2016.
//!
//! Direction: higher is better. Range: 0 to 1. A story without n-grams of that order scores 0.

use storymeter_core::{Choice, Direction, Entry, Needs, Prepared, Range};

use super::ratio::ratio;
use crate::tokenize::{Indexed, Spacy, Tokenised};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["distinct-1", "distinct-2", "distinct-3", "distinct-4"],
    choices: &[Choice::preset("spacy", "the text as it is (the default)")],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("distinct.rs"),
    build: |request| ratio(request, different),
};

fn different(story: &Prepared<'_>, order: usize) -> (f64, f64) {
    let different = if order <= 3 {
        // The same view that novelty and repetition look at.
        story.text.view::<Indexed<Spacy, 3>>().counts(order).len()
    } else {
        story.text.view::<Indexed<Spacy, 4>>().counts(order).len()
    };
    let all = (story.text.view::<Tokenised<Spacy>>().len() + 1).saturating_sub(order);
    (different as f64, all as f64)
}
