//! Lexical repetition: the same words again.
//!
//! - `phrase`: four words are said again right after themselves, with "and" between, unless they
//!   begin with "and".
//! - `sentence`: a sentence is copied over a later one.
//!
//! Each is tried first with probability one half. As in the released code, the four words are
//! purely alphabetic and only blanks stand between them. That code takes any four words ("died at a
//! young and died at a young age"); here they must be a phrase, so that repetition is all that is
//! wrong.

use storymeter_text::tagger::Tag;

use super::Plan;
use super::passage::{Passage, Words};
use crate::draft::Change;
use crate::draw::Draw;
use crate::words::words;

/// The number of words in a phrase.
const WORDS: usize = 4;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    if draw.chance(0.5) {
        phrase(passage, draw).or_else(|| sentence(passage, draw))
    } else {
        sentence(passage, draw).or_else(|| phrase(passage, draw))
    }
}

fn phrase(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let mut phrases: Vec<(usize, usize)> = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        let starts = 0..(words.len() + 1).saturating_sub(WORDS);
        phrases.extend(starts.filter(|&at| is_phrase(&words, at)).map(|at| (sentence, at)));
    }
    let &(sentence, start) = draw.pick(&phrases)?;
    let words = passage.tokens(sentence);
    let span = words.span_of(start..start + WORDS);
    let text = span.of(passage.text);
    // "He" of "He went home and" begins a sentence only once.
    let again = match start {
        0 => passage.as_inside(text, words.tag(0)?),
        _ => text.to_owned(),
    };
    let after = format!("{text} and {again}");
    Some(Plan::new("phrase", vec![Change { sentence, span, after }]))
}

/// Whether the words from a place on are a phrase that can be said twice.
fn is_phrase(words: &Words<'_>, start: usize) -> bool {
    let end = start + WORDS;
    let span = words.span_of(start..end);
    let begins = match words.tag(start) {
        Some(Tag::In) => !words.is(start, &["of", "that", "if", "than"]),
        // "Went", but not "been" of "had been".
        Some(Tag::Vbd | Tag::Vb | Tag::Vbz | Tag::Vbp) => true,
        Some(Tag::Prp | Tag::Nnp | Tag::Dt | Tag::Prps) => {
            start == 0 || words.is_mark(start - 1) || words.tag(start - 1) == Some(Tag::Cc)
        }
        _ => false,
    };
    let ends =
        matches!(words.tag(end - 1), Some(Tag::Nn | Tag::Nns | Tag::Nnp | Tag::Prp | Tag::Rp));
    let stops = end == words.len()
        || words.is_mark(end)
        || matches!(words.tag(end), Some(Tag::Cc | Tag::To))
        || words.tag(end) == Some(Tag::In) && !words.is(end, &["of", "that"]);
    let verbs = (start..end).any(|at| words.tag(at).is_some_and(Tag::is_verb));
    let apart = !(start + 1..end).any(|at| words.tag(at) == Some(Tag::Cc));
    // A stretch that begins with a preposition has its own noun and no verb.
    let is_one = if words.tag(start) == Some(Tag::In) { !verbs } else { verbs };
    begins
        && ends
        && stops
        && apart
        && is_one
        && span.of(words.text).chars().all(|c| c.is_alphabetic() || c == ' ')
}

fn sentence(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    // Copying the last sentence of the context leaves the context as it is.
    let first = passage.open().start.saturating_sub(1);
    let sources: Vec<usize> = (first..passage.len().saturating_sub(1)).collect();
    let &source = draw.pick(&sources)?;
    let targets: Vec<usize> = (source + 1..passage.len()).collect();
    let &target = draw.pick(&targets)?;
    let content = passage.sentence(source);
    if content == passage.sentence(target) || words(content).is_empty() {
        return None;
    }
    Some(Plan::new("sentence", vec![passage.putting(target, content)]))
}
