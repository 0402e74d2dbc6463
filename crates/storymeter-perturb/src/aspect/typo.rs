//! Typos: a few letters are mistyped, and a reader still knows every word.
//!
//! - `letters`: one letter in fifty, at least one, is exchanged with the next one (with
//!   probability one half), doubled or left out (one quarter each).
//!
//! The released code mistypes any character, blanks and marks too. Here only letters inside words
//! of four letters or more are mistyped, at most once per word, and the first letter stays. Only
//! words of the lexicon are mistyped, because a mistyped name is another name, and the result is
//! never another word of English: "form" for "from" would change the meaning.

use std::collections::BTreeMap;

use storymeter_text::Span;
use storymeter_text::tagger::Tag;

use super::passage::Passage;
use super::{Plan, Sources};
use crate::draft::Change;
use crate::draw::Draw;

/// The share of characters that are mistyped at most.
const SHARE: f64 = 0.02;

/// The length in characters of the part that may be changed, below which there is only one typo.
const SHORT: usize = 150;

/// The number of letters in the shortest word that is mistyped.
const SHORTEST_WORD: usize = 4;

/// How often a place is drawn for each typo.
const ATTEMPTS: usize = 20;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let mut words: Vec<(usize, Span)> = Vec::new();
    let mut length = 0;
    for sentence in passage.open() {
        length += passage.sentence(sentence).chars().count();
        let tokens = passage.tokens(sentence);
        words.extend(tokens.tokens.iter().filter_map(|token| {
            let word = token.span.of(passage.text);
            let is_placeholder = passage.text[..token.span.start].ends_with('[');
            let fits = word.chars().count() >= SHORTEST_WORD
                && word.chars().all(char::is_alphabetic)
                && !is_placeholder
                && !matches!(token.tag, Tag::Add | Tag::Nnp | Tag::Nnps)
                && is_word(word, sources);
            fits.then_some((sentence, token.span))
        }));
    }
    let most = ((SHARE * length as f64) as usize).max(2) - 1;
    let count = if length < SHORT { 1 } else { draw.between(1, most) };
    // In the order of the text, and one typo per word.
    let mut made: BTreeMap<usize, Change> = BTreeMap::new();
    for _ in 0..count {
        for _ in 0..ATTEMPTS {
            let &(sentence, span) = draw.pick(&words)?;
            if made.contains_key(&span.start) {
                continue;
            }
            let word = span.of(passage.text);
            let after = mistyped(word, draw);
            if after != word && !is_word(&after, sources) {
                made.insert(span.start, Change { sentence, span, after });
                break;
            }
        }
    }
    (!made.is_empty()).then(|| Plan::new("letters", made.into_values().collect()))
}

fn mistyped(word: &str, draw: &mut Draw) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    // The first letter stays, and the last one has no next one to change places with.
    let at = draw.between(1, letters.len() - 2);
    match draw.below(4) {
        0 | 1 => letters.swap(at, at + 1),
        // A letter less is hard to guess in a short word.
        _ if letters.len() == SHORTEST_WORD => letters.insert(at, letters[at]),
        2 => letters.insert(at, letters[at]),
        _ => {
            letters.remove(at);
        }
    }
    letters.into_iter().collect()
}

fn is_word(word: &str, sources: &Sources<'_>) -> bool {
    sources.lexicon.is_known_form(word)
}
