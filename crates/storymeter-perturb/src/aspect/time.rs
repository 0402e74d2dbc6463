//! Time: the order of time is broken.
//!
//! - `word`: a word of time becomes one of another time. "Two weeks later" becomes "two weeks
//!   earlier", "minutes" become "centuries", "never again" becomes "always again", "after years of"
//!   becomes "before years of".
//!
//! The words are those of the released code, two of which are misspelt there and never found, with
//! "earlier" and "afterwards" added. Words that have other meanings too ("a second helping") change
//! only where they speak of time. That code changes all of them at once; here one is enough. Words
//! that leave the story as plausible as before, such as "after the game" or "always", stay, and
//! lengths of time change to those that are farthest away. That code also lets a sentence with
//! "then" change places with the one before it; read one by one, most such twins are as good as the
//! story.

use storymeter_text::tagger::Tag;

use super::Plan;
use super::consistency::with_article;
use super::passage::{Passage, Words};
use crate::draw::Draw;
use crate::style::match_case;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
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
}
