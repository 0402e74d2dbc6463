//! Compression: the length of the prompt divided by the length of the story.
//!
//! Definition: `|P| / |S|`, the number of tokens of the prompt over the number of tokens of the
//! story, as spaCy's English tokeniser cuts them.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0. With the preset `hanna` its length is 1, the newline.
//!
//! Reading the score: the metric was made for summaries, where the article is longer than the
//! summary. For a story it says how much was made of how short a prompt: 0.1 means that the story
//! is ten times as long as the prompt.
//!
//! Source: Grusky et al., NAACL 2018 (Newsroom), for a summary and its article. HANNA (Chhun et
//! al., COLING 2022) takes the prompt for the article.
//!
//! Checked against: spaCy 3.8.18 (blank English pipeline), every token of 41,536 texts. HANNA's
//! published values: 527 of 528 stories equal. For the other story HANNA has one token less than
//! spaCy 3.8.18 finds.

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{self, Fraction, SPACY_CHOICES};
use crate::tokenize::{Tokenised, Tokenizer};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["compression"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::PROMPT,
    source: include_str!("compression.rs"),
    build: ratio::build::<Compression>,
};

struct Compression;

impl Fraction for Compression {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, _: usize) -> (f64, f64) {
        let prompt = story.prompt.as_ref().map_or(0, |prompt| prompt.view::<Tokenised<T>>().len());
        (prompt as f64, story.text.view::<Tokenised<T>>().len() as f64)
    }
}
