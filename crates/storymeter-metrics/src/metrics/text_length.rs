//! Text length: the number of tokens of the story.
//!
//! Definition: `|S|`, the number of tokens of the story as spaCy's English tokeniser cuts it.
//! Punctuation marks are tokens. White space other than a single blank is a token as well.
//!
//! Many stories: the mean of their lengths.
//!
//! Empty story: 0. With the preset `hanna` it is 1, the newline.
//!
//! Reading the score: length is a property of a story and not a virtue. It is here because many
//! other metrics depend on it: one that correlates with ratings only as well as the length does has
//! measured little else.
//!
//! Source: HANNA (Chhun et al., COLING 2022), which took it from the data statistics of SummEval
//! (Fabbri et al., TACL 2021).
//!
//! Checked against: spaCy 3.8.18 (blank English pipeline), every token of 41,536 texts. HANNA's
//! published values: 527 of 528 stories equal. For the other story HANNA has one token less than
//! spaCy 3.8.18 finds.

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{self, Fraction, SPACY_CHOICES};
use crate::tokenize::{Tokenised, Tokenizer};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["text-length"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::STORY,
    source: include_str!("text_length.rs"),
    build: ratio::build::<TextLength>,
};

struct TextLength;

impl Fraction for TextLength {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, _: usize) -> (f64, f64) {
        (story.text.view::<Tokenised<T>>().len() as f64, 1.0)
    }
}
