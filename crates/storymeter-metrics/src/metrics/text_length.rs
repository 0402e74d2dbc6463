//! Text length: the number of tokens of the story.
//!
//! Definition: `|S|`, the tokens of the story, punctuation included, as spaCy's English tokeniser cuts it.
//!
//! Presets:
//! - `spacy` (default): the text as it is;
//! - `hanna`: the text with a trailing newline, which is one token more, as in HANNA's published values.
//!
//! Source: HANNA (Chhun et al., COLING 2022), there from SummEval's data statistics (Fabbri et al., TACL 2021).
//!
//! Direction: none. Range: 0 and up. An empty story scores 0 (`hanna`: 1).

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{SPACY_CHOICES, ratio};
use crate::tokenize::{Spacy, Tokenised, Tokenizer, WithNewline};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["text-length"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::STORY,
    source: include_str!("text_length.rs"),
    build: |request| {
        let measure =
            if request.has("hanna") { length::<WithNewline<Spacy>> } else { length::<Spacy> };
        ratio(request, measure)
    },
};

fn length<T: Tokenizer>(story: &Prepared<'_>, _: usize) -> (f64, f64) {
    (story.text.view::<Tokenised<T>>().len() as f64, 1.0)
}
