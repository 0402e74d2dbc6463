//! Repetition: the share of the story's n-grams that it has more than once.
//!
//! Definition: `|n-grams of S that occur twice or more| / |n-grams of S|`, each different n-gram counted once, on the
//! tokens of spaCy's English tokeniser, not lower-cased. `repetition-1`, `repetition-2`, `repetition-3` are n = 1, 2, 3.
//!
//! Presets:
//! - `spacy` (default): the text as it is;
//! - `hanna`: the text with a trailing newline, as in HANNA's published values.
//!
//! Source: HANNA (Chhun et al., COLING 2022), there from SummEval's data statistics (Fabbri et al., TACL 2021).
//!
//! Direction: lower is better. Range: 0 to 1. A story without n-grams of that order scores 0.

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{SPACY_CHOICES, ratio};
use crate::tokenize::{Indexed, Spacy, Tokenizer, WithNewline};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["repetition-1", "repetition-2", "repetition-3"],
    choices: SPACY_CHOICES,
    direction: Direction::Lower,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("repetition.rs"),
    build: |request| {
        let measure =
            if request.has("hanna") { repeated::<WithNewline<Spacy>> } else { repeated::<Spacy> };
        ratio(request, measure)
    },
};

fn repeated<T: Tokenizer>(story: &Prepared<'_>, order: usize) -> (f64, f64) {
    let index = story.text.view::<Indexed<T, 3>>();
    let counts = index.counts(order);
    (counts.iter().filter(|&&count| count > 1).count() as f64, counts.len() as f64)
}
