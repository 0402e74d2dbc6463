//! Novelty: the share of the story's n-grams that the prompt does not have.
//!
//! Definition: `|n-grams of S not in P| / |n-grams of S|`, each different n-gram counted once, on the tokens of spaCy's
//! English tokeniser, not lower-cased. `novelty-1`, `novelty-2` and `novelty-3` are n = 1, 2 and 3.
//!
//! Presets:
//! - `spacy` (default): the texts as they are;
//! - `hanna`: each text with a trailing newline, as in HANNA's published values.
//!
//! Source: See et al., ACL 2017; HANNA (Chhun et al., COLING 2022), there from SummEval's data statistics.
//!
//! Direction: none. Range: 0 to 1. A story without n-grams of that order scores 0.

use storymeter_core::{Direction, Entry, Needs, Prepared, Range};

use super::ratio::{SPACY_CHOICES, ratio};
use crate::tokenize::{Indexed, Spacy, Tokenised, Tokenizer, WithNewline};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["novelty-1", "novelty-2", "novelty-3"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::UNIT,
    needs: Needs::PROMPT,
    source: include_str!("novelty.rs"),
    build: |request| {
        let measure =
            if request.has("hanna") { novel::<WithNewline<Spacy>> } else { novel::<Spacy> };
        ratio(request, measure)
    },
};

fn novel<T: Tokenizer>(story: &Prepared<'_>, order: usize) -> (f64, f64) {
    let different = story.text.view::<Indexed<T, 3>>().counts(order).len() as f64;
    let mut shared = [0.0; 3];
    if let Some(prompt) = &story.prompt {
        prompt.view::<Indexed<T, 3>>().shared(&story.text.view::<Tokenised<T>>(), &mut shared);
    }
    (different - shared[order - 1], different)
}
