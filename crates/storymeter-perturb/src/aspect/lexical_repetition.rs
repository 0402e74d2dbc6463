//! Lexical repetition: the same words again.
//!
//! - `phrase`: four words are said again right after themselves, with "and" between, unless they
//!   begin with "and".
//! - `sentence`: a sentence is copied over a later one.
//!
//! Each is tried first with probability one half. As in the released code, the four words are
//! purely alphabetic and only blanks stand between them.

use storymeter_text::Span;

use super::Plan;
use super::passage::Passage;
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
    let mut phrases: Vec<(usize, Span)> = Vec::new();
    for sentence in passage.open() {
        let start = passage.span(sentence).start;
        let found = words(passage.sentence(sentence));
        let whole = found
            .windows(WORDS)
            .map(|gram| (sentence, Span::new(gram[0].start, gram[WORDS - 1].end).shifted(start)));
        phrases.extend(whole.filter(|(_, span)| {
            span.of(passage.text).chars().all(|c| c.is_alphabetic() || c == ' ')
        }));
    }
    let &(sentence, span) = draw.pick(&phrases)?;
    let text = span.of(passage.text);
    // "He" of "He went home and" begins a sentence only once.
    let tag = passage.tokens(sentence).tag(0)?;
    let begins = span.start == passage.span(sentence).start;
    let again = if begins { passage.as_inside(text, tag) } else { text.to_owned() };
    let and = if text.to_lowercase().starts_with("and ") { "" } else { "and " };
    let after = format!("{text} {and}{again}");
    Some(Plan::new("phrase", vec![Change { sentence, span, after }]))
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
