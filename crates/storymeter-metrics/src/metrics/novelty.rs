//! Novelty: the share of the story's n-grams that the prompt does not have.
//!
//! Definition: `|n-grams of S that are not in P| / |n-grams of S|`, where S is the story and P the
//! prompt. Each different n-gram counts once. Tokens are those of spaCy's English tokeniser, with
//! their case. The number in the id is n: `novelty-1` is about single tokens, `novelty-3` about
//! sequences of three.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0, as for every story without n-grams of that order.
//!
//! Reading the score: 0 means that everything in the story was copied from the prompt, 1 that
//! nothing was.
//!
//! Source: See et al., ACL 2017. HANNA (Chhun et al., COLING 2022) took it from the data statistics
//! of SummEval (Fabbri et al., TACL 2021).
//!
//! Checked against: spaCy 3.8.18 (blank English pipeline), every token of 41,536 texts. HANNA's
//! published values of `novelty-1`, `novelty-2` and `novelty-3`: 528 of 528 stories equal.

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{self, Fraction, SPACY_CHOICES};
use crate::tokenize::{Indexed, Tokenised, Tokenizer};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["novelty-1", "novelty-2", "novelty-3"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::UNIT,
    needs: Needs::PROMPT,
    source: include_str!("novelty.rs"),
    build: ratio::build::<Novelty>,
};

struct Novelty;

impl Fraction for Novelty {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, order: usize) -> (f64, f64) {
        let different = story.text.view::<Indexed<T, 3>>().counts(order).len() as f64;
        let mut shared = [0.0; 3];
        if let Some(prompt) = &story.prompt {
            prompt.view::<Indexed<T, 3>>().shared(&story.text.view::<Tokenised<T>>(), &mut shared);
        }
        (different - shared[order - 1], different)
    }
}
