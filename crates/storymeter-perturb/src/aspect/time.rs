//! Time: the order of time is broken.
//!
//! - `then`: a sentence that begins with "then" changes places with the sentence before it, and
//!   "then" stays between them, if it takes up the other with "it" or "them".
//! - `word`: a word of time becomes one of another time. "Two weeks later" becomes "two weeks
//!   earlier", "minutes" become "centuries", "never again" becomes "always again", "after years of"
//!   becomes "before years of".
//!
//! Each rule is tried first with probability one half. The classes are those of the released code,
//! of which two are misspelt and never found, with "earlier" and "afterwards" added; words that have
//! other meanings too ("second", "once", "when", "past") are changed only where they speak of time.
//! That code changes all of them at once; here one is enough. Words that leave the story as plausible
//! as before, such as "after the game" or "always", stay, and lengths of time change to those that
//! are farthest away.

use storymeter_text::Span;
use storymeter_text::tagger::Tag;

use super::Plan;
use super::consistency::with_article;
use super::passage::{Passage, Words};
use crate::draft::Change;
use crate::draw::Draw;
use crate::style::match_case;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    if draw.chance(0.5) {
        then(passage).or_else(|| time_words(passage, draw))
    } else {
        time_words(passage, draw).or_else(|| then(passage))
    }
}

/// "A. Then B." becomes "B. Then A."
fn then(passage: &Passage<'_>) -> Option<Plan> {
    for sentence in passage.open().skip(1) {
        let words = passage.tokens(sentence);
        let by = usize::from(words.is(0, &["by", "since", "until", "till", "only", "and", "just"]));
        if !words.is(by, &["then"]) {
            continue;
        }
        let after_then = by + 1 + usize::from(words.word(by + 1) == ",");
        if words.is_end(after_then) || !words.has_finite_verb(after_then..words.len()) {
            continue;
        }
        let earlier = sentence - 1;
        let lead = passage.tokens(earlier);
        let tag = lead.tag(0)?;
        // Quoted speech and sentences that lean on the one before them cannot simply move.
        let leans = |words: &Words<'_>, at: usize| {
            matches!(words.word(at), "\"" | "“" | "'" | "‘" | "``")
                || words.is(at, &["but", "and", "so", "then", "however", "finally", "because"])
        };
        let takes_up = (after_then..words.len()).any(|at| words.is(at, &["it", "them"]));
        let speaks = (0..words.len()).any(|at| words.is(at, &["said", "told", "asked"]));
        if leans(&lead, 0) || leans(&words, after_then) || !takes_up || speaks {
            continue;
        }
        let start = words.span(after_then).start;
        let end = passage.span(sentence).end;
        let moved = passage.as_beginning(&passage.text[start..end]);
        let other = passage.as_inside(passage.sentence(earlier), tag);
        let ends_alike = crate::style::is_terminated(&moved) == crate::style::is_terminated(&other);
        if !ends_alike {
            continue;
        }
        return Some(Plan::new(
            "then",
            vec![
                passage.putting(earlier, &moved),
                Change { sentence, span: Span::new(start, end), after: other },
            ],
        ));
    }
    None
}

fn time_words(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let mut changes = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            if let Some(other) = other_time(&words, at) {
                let after = match_case(other, words.word(at));
                changes.push(with_article(&words, sentence, at, after));
            }
        }
    }
    let change = (!changes.is_empty()).then(|| changes.swap_remove(draw.below(changes.len())))?;
    Some(Plan::new("word", vec![change]))
}

/// The word of another time that can stand for the word at a place.
fn other_time(words: &Words<'_>, at: usize) -> Option<&'static str> {
    let tag = words.tag(at)?;
    let word = words.lower(at);
    // "A few years later" becomes "a few years earlier", and that is enough.
    let is_measured = !words.is(at + 1, &["later", "earlier", "afterwards", "before", "after"])
        && (words.tag_before(at) == Some(Tag::Cd)
            || words.is_before(at, &["a", "an", "few", "several", "many", "half"])
            || words.is_before(at, &["of"]) && at > 1 && words.is(at - 2, &["couple"])
            || words.is(at + 1, &["ago"]))
        && !words.is(at + 1, &["-", "old", "of"]);
    match word.as_ref() {
        // A "second helping" is no time.
        "second" | "minute" | "hour" if tag == Tag::Nn && is_measured => Some("century"),
        "seconds" | "minutes" | "hours" if tag == Tag::Nns && is_measured => Some("centuries"),
        "year" | "month" if tag == Tag::Nn && is_measured => Some("second"),
        "years" | "months" if tag == Tag::Nns && is_measured => Some("seconds"),
        "never"
            if words.tag(at + 1).is_some_and(Tag::is_verb)
                && (at..words.len()).any(|i| words.is(i, &["again", "back"])) =>
        {
            Some("always")
        }
        "later" if is_later(words, at) => Some("earlier"),
        "earlier" if words.tag_before(at).is_some_and(|tag| tag == Tag::Nns || tag == Tag::Nn) => {
            Some("later")
        }
        "afterwards" | "afterward" if at == 0 => Some("beforehand"),
        "after" if is_after_efforts(words, at) => Some("before"),
        _ => None,
    }
}

/// Whether "later" says when something happened: "a week later". "Later that week" may begin a
/// memory.
fn is_later(words: &Words<'_>, at: usize) -> bool {
    !words.is(at + 1, &["than"])
        && words.tag_before(at).is_some_and(|tag| matches!(tag, Tag::Nn | Tag::Nns))
}

/// Whether "after" follows on long efforts: "after years of trying". "After work" and "after the
/// game" may as well be before.
fn is_after_efforts(words: &Words<'_>, at: usize) -> bool {
    words.is(at + 1, &["years", "weeks", "months", "hours", "days"]) && words.is(at + 2, &["of"])
        || words.is(at + 1, &["many", "several", "much"]) && words.tag(at + 2) == Some(Tag::Nns)
}
