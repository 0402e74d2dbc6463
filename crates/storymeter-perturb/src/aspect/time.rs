//! Time: the order of time is broken.
//!
//! - `then`: a sentence that begins with "then" changes places with the sentence before it, and
//!   "then" stays between them.
//! - `word`: words of time become words of another time. "Two weeks later" becomes "two weeks
//!   earlier", "minutes" become "years", "always" becomes "never", "after" becomes "before".
//!
//! Each rule is tried first with probability one half. The classes are those of the released code,
//! of which two are misspelt and never found, with "earlier" and "afterwards" added; words that have
//! other meanings too ("second", "once", "when", "past") are changed only where they speak of time.

use storymeter_text::Span;
use storymeter_text::tagger::Tag;

use super::Plan;
use super::passage::{Passage, Words};
use crate::draft::Change;
use crate::draw::Draw;
use crate::style::match_case;
use crate::substitution::starts_with_a_vowel;

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
        if leans(&lead, 0) || leans(&words, after_then) {
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
        let mut at = 0;
        while at < words.len() {
            if let Some((other, tokens)) = other_time(&words, at, draw) {
                let mut span = words.span_of(at..at + tokens);
                let mut after = match_case(other, words.word(at));
                // "an hour" becomes "a year".
                if words.is_before(at, &["a", "an"]) {
                    let article = if starts_with_a_vowel(other) { "an" } else { "a" };
                    let old = words.word(at - 1);
                    after = format!("{} {after}", match_case(article, old));
                    span.start = words.span(at - 1).start;
                }
                changes.push(Change { sentence, span, after });
                at += tokens;
            } else {
                at += 1;
            }
        }
    }
    (!changes.is_empty()).then(|| Plan::new("word", changes))
}

/// The word of another time that can stand for the word at a place, and how many tokens it replaces.
fn other_time(words: &Words<'_>, at: usize, draw: &mut Draw) -> Option<(&'static str, usize)> {
    let tag = words.tag(at)?;
    let word = words.lower(at);
    let mut one = |choices: &[&'static str]| Some((choices[draw.below(choices.len())], 1));
    // "A few years later" becomes "a few years earlier", and that is enough.
    if words.is(at + 1, &["later", "earlier", "afterwards", "before", "after"]) {
        return None;
    }
    let is_measured = words.tag_before(at) == Some(Tag::Cd)
        || words
            .is_before(at, &["a", "an", "few", "several", "many", "couple", "some", "of", "for"])
        || words.is(at + 1, &["ago"]);
    match word.as_ref() {
        // A "second helping" is no time.
        "second" | "minute" | "hour"
            if tag == Tag::Nn && is_measured && !words.is(at + 1, &["-"]) =>
        {
            one(&["year", "century"])
        }
        "seconds" | "minutes" | "hours" if tag == Tag::Nns => one(&["years", "centuries"]),
        "year" | "month" if tag == Tag::Nn && is_measured && !words.is(at + 1, &["-", "old"]) => {
            one(&["second", "minute"])
        }
        "years" | "months" if tag == Tag::Nns && !words.is(at + 1, &["old", "of"]) => {
            one(&["seconds", "minutes"])
        }
        "always" | "often" | "usually" | "frequently" if tag.is_adverb() => one(&["never"]),
        "never" if !words.is(at + 1, &["mind"]) => one(&["always"]),
        "later" if is_later(words, at) => one(&["earlier"]),
        "earlier" if tag != Tag::Jjr || words.is(at + 1, &["that"]) => one(&["later"]),
        "afterwards" | "afterward" | "subsequently" => one(&["beforehand"]),
        "previously" | "beforehand" => one(&["afterwards"]),
        "after" if is_after(words, at) => one(&["before"]),
        "before" if is_before(words, at) => one(&["after"]),
        "beginning" if tag == Tag::Nn && words.is_before(at, &["the"]) => one(&["end"]),
        "past" if tag == Tag::Nn && words.is_before(at, &["the"]) => one(&["future"]),
        "future" if tag == Tag::Nn && words.is_before(at, &["the"]) => one(&["past"]),
        _ => None,
    }
}

/// Whether "later" says when something happened: "a week later", "Later, he slept".
fn is_later(words: &Words<'_>, at: usize) -> bool {
    !words.is(at + 1, &["than"])
        && !words.is_before(at, &["see", "no", "until", "for"])
        && (at == 0
            || words.tag_before(at).is_some_and(|tag| matches!(tag, Tag::Nn | Tag::Nns))
            || words.is(at + 1, &["that", ",", "on", "in"])
            || words.is_before(at, &["much", "shortly", "soon", "moments", "and"]))
}

/// Whether "after" says that something follows: not "named after", "looked after".
fn is_after(words: &Words<'_>, at: usize) -> bool {
    !words.is(at + 1, &["all", "school"])
        && !is_duration(words, at + 1)
        && !words.is_end(at + 1)
        && !words.is_mark(at + 1)
        && !words.is_before(
            at,
            &[
                "look", "looked", "looking", "looks", "named", "name", "take", "takes", "took",
                "ran", "run", "running", "went", "go", "going", "chase", "chased", "chasing",
                "time", "day", "right", "soon", "one", "another", "sought", "came", "year",
                "night", "hour", "ever", "happily",
            ],
        )
}

/// Whether a stretch such as "a few minutes" begins at a place. After it, only the stretch changes,
/// because nobody says "before a few minutes".
fn is_duration(words: &Words<'_>, from: usize) -> bool {
    (from..from + 5).any(|at| {
        words.is(
            at,
            &[
                "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week",
                "weeks", "month", "months", "year", "years", "while",
            ],
        )
    }) && (words.is(from, &["a", "an", "some", "several", "many", "about", "only", "just", "two"])
        || words.tag(from) == Some(Tag::Cd))
}

/// Whether "before" says that something follows: not "never before" or "as before".
fn is_before(words: &Words<'_>, at: usize) -> bool {
    !words.is_end(at + 1)
        && !is_duration(words, at + 1)
        && !words.is_mark(at + 1)
        && !words.is_before(
            at,
            &[
                "never", "ever", "as", "than", "like", "long", "once", "day", "night", "year",
                "week", "just", "right", "even",
            ],
        )
}
