//! Distinct-n: different n-grams divided by all n-grams of the story.
//!
//! Definition: `|different n-grams of S| / |n-grams of S|`, where S is the story and every
//! occurrence counts in the denominator. Tokens are those of spaCy's English tokeniser, with their
//! case. The number in the id is n: `distinct-1` is about single tokens, `distinct-4` about
//! sequences of four.
//!
//! Many stories: the mean of their scores. It therefore does not fall with the number of stories,
//! as the score of all texts in one piece would.
//!
//! Empty story: 0, as for every story without n-grams of that order.
//!
//! Reading the score: 1 means that no n-gram occurs twice. Longer stories score lower, so compare
//! stories of similar length.
//!
//! Source: Li et al., NAACL 2016.
//!
//! Checked against: spaCy 3.8.18 (blank English pipeline), every token of 41,536 texts. The
//! fraction itself has no peer to compare with.

use storymeter_core::{Choice, Direction, Entry, Needs, Prepared, Range};

use super::ratio::{self, Fraction};
use crate::tokenize::{Indexed, Tokenised, Tokenizer};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["distinct-1", "distinct-2", "distinct-3", "distinct-4"],
    choices: &[Choice::preset("spacy", "the text as it is (the default)")],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("distinct.rs"),
    build: ratio::build::<Distinct>,
};

struct Distinct;

impl Fraction for Distinct {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, order: usize) -> (f64, f64) {
        let different = if order <= 3 {
            // The same view that novelty and repetition look at.
            story.text.view::<Indexed<T, 3>>().counts(order).len()
        } else {
            story.text.view::<Indexed<T, 4>>().counts(order).len()
        };
        let all = (story.text.view::<Tokenised<T>>().len() + 1).saturating_sub(order);
        (different as f64, all as f64)
    }
}
