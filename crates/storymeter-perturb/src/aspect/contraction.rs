//! Contraction: "did not" for "didn't", or the other way round.
//!
//! - `expanded`: all contractions are written out, if there are any.
//! - `contracted`: otherwise, full forms are contracted.
//!
//! The released code reads every "'s" as "is" and every "'d" as "would". Here the next word
//! decides, possessives stay as they are, and where both readings are possible nothing is changed.

use storymeter_text::tagger::Tag;

use super::Plan;
use super::passage::{Passage, Words};
use crate::draft::Change;
use crate::style::match_case;

pub fn plan(passage: &Passage<'_>) -> Option<Plan> {
    let all = |rule, change: fn(&Passage<'_>, usize, usize) -> Option<Change>| {
        let mut changes: Vec<Change> = Vec::new();
        for sentence in passage.open() {
            for at in 0..passage.tokens(sentence).len() {
                let made = change(passage, sentence, at);
                // "He'd've" has two contractions that share a word.
                let apart = |new: &Change| {
                    changes.last().is_none_or(|last| last.span.end <= new.span.start)
                };
                if let Some(made) = made.filter(apart) {
                    changes.push(made);
                }
            }
        }
        (!changes.is_empty()).then(|| Plan::new(rule, changes))
    };
    all("expanded", expanding).or_else(|| all("contracted", contracting))
}

/// The change that writes out the contraction whose second part is at a place.
fn expanding(passage: &Passage<'_>, sentence: usize, at: usize) -> Option<Change> {
    let words = passage.tokens(sentence);
    let (first, second) = (words.lower(at.checked_sub(1)?), words.lower(at));
    let next = words.tag(next_word(&words, at));
    let whole = match second.as_ref() {
        // "Didn't he go?" would become "Did not he go?".
        "n't" if next == Some(Tag::Prp) || next == Some(Tag::Dt) && is_question(&words) => {
            return None;
        }
        "n't" => match first.as_ref() {
            "ca" => "cannot".to_owned(),
            "wo" => "will not".to_owned(),
            "sha" => "shall not".to_owned(),
            "ai" => return None,
            auxiliary => format!("{auxiliary} not"),
        },
        "'m" => format!("{first} am"),
        "'re" => format!("{first} are"),
        "'ve" => format!("{first} have"),
        "'ll" => format!("{first} will"),
        "'d" => format!("{first} {}", had_or_would(&words, at)?),
        "'s" if first == "let" => "let us".to_owned(),
        "'s" => format!("{first} {}", is_or_has(&words, at, &first)?),
        _ => return None,
    };
    // "i" is a word of its own in texts with capitals.
    let written = words.word(at - 1);
    let whole = match whole.strip_prefix(first.as_ref()) {
        Some(rest) => format!("{written}{rest}"),
        None => match_case(&whole, written),
    };
    Some(Change { sentence, span: words.span_of(at - 1..at + 1), after: whole })
}

/// The next token that is not an adverb.
fn next_word(words: &Words<'_>, at: usize) -> usize {
    let is_adverb = |i: &usize| words.tag(*i).is_some_and(Tag::is_adverb);
    (at + 1..words.len()).find(|i| !is_adverb(i)).unwrap_or(words.len())
}

fn is_question(words: &Words<'_>) -> bool {
    words.word(words.len() - 1) == "?"
}

fn had_or_would(words: &Words<'_>, at: usize) -> Option<&'static str> {
    if words.is(at + 1, &["better", "been"]) {
        return Some("had");
    }
    match words.tag(next_word(words, at))? {
        Tag::Vb => Some("would"),
        Tag::Vbn => Some("had"),
        _ => None,
    }
}

/// What "'s" stands for after a pronoun. After a noun it may be a possessive that was tagged
/// wrongly, so it is left alone.
fn is_or_has(words: &Words<'_>, at: usize, first: &str) -> Option<&'static str> {
    let pronoun = matches!(
        first,
        "he" | "she"
            | "it"
            | "that"
            | "there"
            | "what"
            | "who"
            | "where"
            | "here"
            | "how"
            | "everything"
            | "this"
    );
    if !pronoun || words.tag(at) == Some(Tag::Pos) && !matches!(first, "it" | "that" | "there") {
        return None;
    }
    let next = next_word(words, at);
    match words.tag(next)? {
        Tag::Vbn if words.is(next, &["been", "got", "become", "had", "taken", "seen"]) => {
            Some("has")
        }
        // "He's gone" can be both.
        Tag::Vbn => None,
        Tag::Vbg
        | Tag::Jj
        | Tag::Jjr
        | Tag::Dt
        | Tag::In
        | Tag::Prps
        | Tag::Rb
        | Tag::Cd
        | Tag::To
        | Tag::Nn
        | Tag::Nnp => Some("is"),
        _ => None,
    }
}

/// The change that contracts the full form whose second part is at a place.
fn contracting(passage: &Passage<'_>, sentence: usize, at: usize) -> Option<Change> {
    let words = passage.tokens(sentence);
    let (first, second) = (words.lower(at.checked_sub(1)?), words.lower(at));
    // "Yes, he is." cannot be contracted, and neither can what begins a question.
    let ends = words.is_end(at + 1) || words.is_mark(at + 1);
    let blank = if passage.style.spaced { " " } else { "" };
    let next = words.tag(next_word(&words, at));
    let pronoun = matches!(first.as_ref(), "i" | "you" | "he" | "she" | "it" | "we" | "they");
    let short = match second.as_ref() {
        "not" if !ends => {
            let stem = match first.as_ref() {
                "can" => "ca",
                "will" => "wo",
                "could" | "would" | "should" | "do" | "does" | "did" | "is" | "are" | "was"
                | "were" | "has" | "have" | "had" => first.as_ref(),
                _ => return None,
            };
            format!("{}{blank}n't", match_case(stem, words.word(at - 1)))
        }
        _ if ends || !pronoun => return None,
        // Subjects only: "I gave her is" does not occur, "to him is" may.
        "am" if first == "i" => format!("{}{blank}'m", words.word(at - 1)),
        "are" if matches!(first.as_ref(), "you" | "we" | "they") => {
            format!("{}{blank}'re", words.word(at - 1))
        }
        "is" if matches!(first.as_ref(), "he" | "she" | "it") => {
            format!("{}{blank}'s", words.word(at - 1))
        }
        "will" if next == Some(Tag::Vb) => format!("{}{blank}'ll", words.word(at - 1)),
        "would" if next == Some(Tag::Vb) && first != "it" => {
            format!("{}{blank}'d", words.word(at - 1))
        }
        "have"
            if next == Some(Tag::Vbn) && matches!(first.as_ref(), "i" | "you" | "we" | "they") =>
        {
            format!("{}{blank}'ve", words.word(at - 1))
        }
        "had" if next == Some(Tag::Vbn) && first != "it" => {
            format!("{}{blank}'d", words.word(at - 1))
        }
        _ => return None,
    };
    Some(Change { sentence, span: words.span_of(at - 1..at + 1), after: short })
}
