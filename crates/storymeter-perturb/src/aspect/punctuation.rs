//! Punctuation: the marks inside sentences are missing, and the words are the same.
//!
//! - `no marks`: all punctuation goes but the marks that end sentences (`. ! ; ?`), if at least
//!   three marks go.
//!
//! Apostrophes and hyphens inside words stay, and so do the marks of numbers.

use storymeter_text::Span;
use storymeter_text::tagger::Tag;

use super::Plan;
use super::passage::Passage;
use crate::draft::Change;

/// The smallest number of marks that go, as in the released code for ROCStories.
const FEWEST: usize = 3;

pub fn plan(passage: &Passage<'_>) -> Option<Plan> {
    let mut changes: Vec<Change> = Vec::new();
    let mut marks = 0;
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            let word = words.word(at);
            let is_mark = word.chars().all(|c| {
                matches!(
                    c,
                    ',' | ':'
                        | '"'
                        | '“'
                        | '”'
                        | '\''
                        | '‘'
                        | '’'
                        | '`'
                        | '('
                        | ')'
                        | '-'
                        | '–'
                        | '—'
                        | '«'
                        | '»'
                )
            });
            // The apostrophes of "the boys' room" and of "it ' s" are parts of words.
            let in_word = words.tag(at) == Some(Tag::Pos)
                || matches!(word, "'" | "’")
                    && words.is(at + 1, &["s", "t", "d", "m", "re", "ve", "ll"]);
            if !is_mark || word.is_empty() || in_word {
                continue;
            }
            marks += 1;
            let Span { start, end } = words.span(at);
            let before = passage.text[..start].chars().next_back();
            let after = passage.text[end..].chars().next();
            let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
            // A mark between two blanks takes one of them along, and a mark between two words
            // leaves one.
            let (span, kept) = match (is_blank(before), is_blank(after)) {
                (true, true) if before == Some(' ') && start > passage.span(sentence).start => {
                    (Span::new(start - 1, end), "")
                }
                (true, true) if after == Some(' ') && end < passage.span(sentence).end => {
                    (Span::new(start, end + 1), "")
                }
                (false, false)
                    if before.is_some_and(char::is_alphanumeric)
                        && after.is_some_and(char::is_alphanumeric) =>
                {
                    (Span::new(start, end), " ")
                }
                _ => (Span::new(start, end), ""),
            };
            match changes.last_mut() {
                // Two marks side by side, such as a comma and a quotation mark.
                Some(last) if span.start <= last.span.end && last.sentence == sentence => {
                    last.span.end = last.span.end.max(span.end);
                    last.after = if last.after.is_empty() { kept } else { " " }.to_owned();
                }
                _ => changes.push(Change { sentence, span, after: kept.to_owned() }),
            }
        }
    }
    (marks >= FEWEST).then(|| Plan::new("no marks", changes))
}
