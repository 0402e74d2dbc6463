//! Repetition: the share of the story's n-grams that occur more than once.
//!
//! Definition: `|n-grams that occur twice or more in S| / |n-grams of S|`, where S is the story.
//! Each different n-gram counts once. Tokens are those of spaCy's English tokeniser, with their
//! case. The number in the id is n: `repetition-1` is about single tokens, `repetition-3` about
//! sequences of three.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0, as for every story without n-grams of that order.
//!
//! Reading the score: long stories repeat more single tokens than short ones, whatever their
//! quality. Repeated sequences of three tokens are a better sign of a text that turns in circles.
//!
//! Source: HANNA (Chhun et al., COLING 2022), which took it from the data statistics of SummEval
//! (Fabbri et al., TACL 2021).
//!
//! Checked against: spaCy 3.8.18 (blank English pipeline), every token of 41,536 texts. HANNA's
//! published values: 528 of 528 stories equal for `repetition-1`, 527 for `repetition-2` and
//! `repetition-3`. For the other story HANNA has one token less than spaCy 3.8.18 finds.

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{self, Fraction, SPACY_CHOICES};
use crate::tokenize::{Indexed, Tokenizer};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["repetition-1", "repetition-2", "repetition-3"],
    choices: SPACY_CHOICES,
    direction: Direction::Lower,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("repetition.rs"),
    build: ratio::build::<Repetition>,
};

struct Repetition;

impl Fraction for Repetition {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, order: usize) -> (f64, f64) {
        let index = story.text.view::<Indexed<T, 3>>();
        let counts = index.counts(order);
        (counts.iter().filter(|&&count| count > 1).count() as f64, counts.len() as f64)
    }
}
