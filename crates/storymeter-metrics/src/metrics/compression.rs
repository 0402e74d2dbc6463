//! Compression: how long the prompt is, compared with the story.
//!
//! Definition: `|P| / |S|`, tokens of the prompt over tokens of the story, as spaCy's English tokeniser cuts them.
//!
//! Presets:
//! - `spacy` (default): the texts as they are;
//! - `hanna`: each text with a trailing newline, which is one token more, as in HANNA's published values.
//!
//! Source: Grusky et al., NAACL 2018 (Newsroom), there for a summary and its article; HANNA (Chhun et al., COLING
//! 2022) reads the prompt as the article.
//!
//! Direction: none. Range: 0 and up. An empty story scores 0 (`hanna`: its only token is the newline).

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{SPACY_CHOICES, ratio};
use crate::tokenize::{Spacy, Tokenised, Tokenizer, WithNewline};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["compression"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::PROMPT,
    source: include_str!("compression.rs"),
    build: |request| {
        let measure =
            if request.has("hanna") { lengths::<WithNewline<Spacy>> } else { lengths::<Spacy> };
        ratio(request, measure)
    },
};

fn lengths<T: Tokenizer>(story: &Prepared<'_>, _: usize) -> (f64, f64) {
    let prompt = story.prompt.as_ref().map_or(0, |prompt| prompt.view::<Tokenised<T>>().len());
    (prompt as f64, story.text.view::<Tokenised<T>>().len() as f64)
}
