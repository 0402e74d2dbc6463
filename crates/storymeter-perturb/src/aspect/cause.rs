//! Cause: cause and effect are exchanged.
//!
//! - `because`, `so`: what stands before and after the word changes places. "She cried because she
//!   fell" becomes "She fell because she cried".
//! - `caused`: becomes "resulted from".
//!
//! The first rule that applies is used, at a random place. The released code looks only at the last
//! such word of a clause, repeats clauses and loses words; here both sides must be whole clauses,
//! so that the twin is a grammatical sentence with the wrong logic. Where "so" says what something
//! is good for ("He saved so he could buy a car"), nothing is exchanged, nor where a clause tells a
//! feeling or an opinion, which may be cause and effect alike. That code also exchanges "reason"
//! and "result", and "because of" and "leading to"; they stay here, because "as a cause" and
//! "leading to his stomach" are not wrong logic but no English.

use std::ops::Range;

use storymeter_text::morphology::verb::{self, VerbForm};
use storymeter_text::tagger::Tag;

use super::Plan;
use super::passage::{Passage, Words};
use crate::draft::Change;
use crate::draw::Draw;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let mut swaps = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            if let Some((rule, left, right)) = sides(&words, at) {
                swaps.push(Plan::new(rule, exchange(passage, sentence, left, right)));
            }
        }
    }
    if !swaps.is_empty() {
        return Some(swaps.swap_remove(draw.below(swaps.len())));
    }
    let mut others = single_words(passage);
    (!others.is_empty()).then(|| others.swap_remove(draw.below(others.len())))
}

/// The clauses before and after the "because" or "so" at a place, if they can change places.
fn sides(words: &Words<'_>, at: usize) -> Option<(&'static str, Range<usize>, Range<usize>)> {
    let rule = match words.lower(at).as_ref() {
        "because" if is_because(words, at) => "because",
        "so" if is_so(words, at) => "so",
        _ => return None,
    };
    let end = words.end_of_words();
    // "Because it rained, he stayed."
    if at == 0 && rule == "because" {
        let comma = (1..end).find(|&i| words.word(i) == ",")?;
        let (left, right) = (1..comma, comma + 1..end);
        return both_whole(words, left, right).map(|(left, right)| (rule, left, right));
    }
    let start = clause_start(words, at)?;
    let before = if words.word(at - 1) == "," { at - 1 } else { at };
    let first_verb = words.finite_verb(at + 1..end)?;
    let (left, right) = (start..before, at + 1..end);
    let opinion = |range: &Range<usize>| range.clone().any(|at| words.is(at, OPINIONS));
    let mood = is_mood(words, left.clone())
        || rule == "because" && is_mood(words, right.clone())
        || opinion(&left)
        || opinion(&right);
    // Habits and traits are causes and effects alike, so one side must tell what happened once.
    let told = |range: &Range<usize>| {
        let verb = words.finite_verb(range.clone());
        verb.is_some_and(|at| matches!(words.tag(at), Some(Tag::Vbd | Tag::Md)))
    };
    let is_habit = rule == "because"
        && (!told(&left)
            || !told(&right)
            || is_state(words, left.clone()) && is_state(words, right.clone()));
    let reports = words.is(left.end - 1, &["said", "told", "asked", "thought"]);
    // "I let him go, so he was not hurt" and "He was leaving, so it was time" make sense.
    let negative =
        |range: &Range<usize>| range.clone().any(|at| words.is(at, &["not", "n't", "no"]));
    let goes_on = (left.start + 1..left.end).any(|at| {
        words.tag(at) == Some(Tag::Vbg) && words.is_before(at, &["was", "were", "is", "are"])
    });
    if mood || is_habit || reports || goes_on || negative(&left) || negative(&right) {
        return None;
    }
    // "He went in, so they laughed" may as well be "They laughed, so he went in".
    let is_exchange = rule == "so"
        && !is_state(words, left.clone())
        && words.lower(left.start) != words.lower(right.start);
    let is_purpose = rule == "so"
        && words.is(first_verb, &["could", "can", "would", "will", "might", "may", "ca"]);
    if is_purpose || is_exchange {
        return None;
    }
    both_whole(words, left, right).map(|(left, right)| (rule, left, right))
}

fn both_whole(
    words: &Words<'_>,
    left: Range<usize>,
    right: Range<usize>,
) -> Option<(Range<usize>, Range<usize>)> {
    (is_whole(words, left.clone()) && is_whole(words, right.clone())).then_some((left, right))
}

/// Whether a stretch is one clause: it has a subject before a verb with a tense, nothing in it
/// belongs to another clause, and it does not lean on what stands before it.
fn is_whole(words: &Words<'_>, range: Range<usize>) -> bool {
    let Some(verb) = words.finite_verb(range.clone()) else { return false };
    let is_subject = |at: usize| {
        matches!(
            words.tag(at),
            Some(Tag::Prp | Tag::Nn | Tag::Nns | Tag::Nnp | Tag::Nnps | Tag::Ex | Tag::Dt)
        )
    };
    let starts_well = matches!(
        words.tag(range.start),
        Some(
            Tag::Prp
                | Tag::Prps
                | Tag::Nn
                | Tag::Nns
                | Tag::Nnp
                | Tag::Nnps
                | Tag::Ex
                | Tag::Dt
                | Tag::Jj
                | Tag::Cd
        )
    ) || words.word(range.start) == "[";
    starts_well
        && !words.is(range.end - 1, &["to", "not", "n't"])
        && (range.start..verb).any(is_subject)
        && !range.clone().any(|at| {
            words.is_mark(at)
                || matches!(words.word(at), "\"" | "“" | "”" | "(" | ")" | "``" | "''")
                || words.is(at, &["because", "so", "if", "but", "although", "though", "unless"])
        })
}

/// Whether a clause tells a feeling. Feelings are causes and effects alike: who is scared because
/// he cannot swim may not swim because he is scared.
fn is_mood(words: &Words<'_>, range: Range<usize>) -> bool {
    range.into_iter().any(|at| words.is(at, MOODS))
}

/// Whether the first verb of a clause tells how things are, and not what somebody does.
fn is_state(words: &Words<'_>, range: Range<usize>) -> bool {
    words.finite_verb(range).is_some_and(|at| words.is(at, STATES))
}

/// Words for feelings.
#[rustfmt::skip]
const MOODS: &[&str] = &[
    "afraid", "angry", "annoyed", "anxious", "ashamed", "bad", "bored", "disappointed",
    "embarrassed", "enjoyed", "excited", "frustrated", "glad", "happy", "hated", "liked", "looked",
    "loved", "mad", "nervous", "proud", "sad", "scared", "stressed", "surprised", "uncomfortable",
    "upset", "worried",
];

/// What somebody thinks of something may be its cause and its effect.
#[rustfmt::skip]
const OPINIONS: &[&str] = &[
    "believe", "best", "better", "enjoy", "enjoys", "famous", "favorite", "favourite", "good",
    "great", "helped", "kind", "knew", "know", "like", "likes", "love", "loves", "mean", "nice",
    "pleased", "popular", "relief", "shy", "smart", "stable", "successful", "think", "thought",
    "want", "wants", "worse", "worst", "wrong",
];

/// Verbs that tell how things are.
#[rustfmt::skip]
const STATES: &[&str] = &[
    "am", "are", "can", "could", "did", "do", "does", "felt", "had", "has", "have", "is", "ca",
    "knew", "liked", "loved", "needed", "wanted", "was", "were", "lost", "forgot",
];

fn is_because(words: &Words<'_>, at: usize) -> bool {
    !words.is(at + 1, &["of"])
        && !words.is_before(
            at,
            &[
                "is", "was", "be", "been", "being", "'s", "are", "were", "just", "only", "simply",
                "but", "and", "not", "partly", "mainly", "probably",
            ],
        )
}

/// Whether "so" joins two clauses: not "so happy", "so that", "I think so".
fn is_so(words: &Words<'_>, at: usize) -> bool {
    let next = words.tag(at + 1);
    at > 0
        && !words.is(at + 1, &["of", "that", "much", "many", "far", "long", "as", "few", "little"])
        && !next.is_none_or(|tag| tag.is_adjective() || tag.is_adverb() || tag == Tag::In)
        && !words.is_mark(at + 1)
        && !words.is_before(
            at,
            &[
                "is", "was", "be", "been", "being", "'s", "are", "were", "do", "did", "does",
                "done", "doing", "think", "thought", "hope", "hoped", "said", "say", "even",
                "ever", "or", "if", "not", "and", "just", "how", "right", "go", "went",
            ],
        )
}

/// Where the clause before a connective begins: after the last comma and conjunction.
fn clause_start(words: &Words<'_>, at: usize) -> Option<usize> {
    let before = if at > 0 && words.word(at - 1) == "," { at - 1 } else { at };
    let mut start = (0..before).rev().find(|&i| words.is_mark(i)).map_or(0, |i| i + 1);
    if words.is(start, &["and", "but", "or", "then", "finally", "eventually", "however"]) {
        start += 1;
    }
    // "He went home and rested because": only a clause with a subject of its own stands alone.
    (start < before).then_some(start)
}

/// The two changes that make stretches of a sentence change places.
fn exchange(
    passage: &Passage<'_>,
    sentence: usize,
    left: Range<usize>,
    right: Range<usize>,
) -> Vec<Change> {
    let words = passage.tokens(sentence);
    let begins = left.start == 0;
    let (first, second) = (words.text_of(left.clone()), words.text_of(right.clone()));
    let (first, second) = if begins {
        let tag = words.tag(left.start).unwrap_or(Tag::Nn);
        (passage.as_inside(first, tag), passage.as_beginning(second))
    } else {
        (first.to_owned(), second.to_owned())
    };
    vec![
        Change { sentence, span: words.span_of(left), after: second },
        Change { sentence, span: words.span_of(right), after: first },
    ]
}

fn single_words(passage: &Passage<'_>) -> Vec<Plan> {
    let mut plans = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 1..words.len() {
            let Some(form) = words.tag(at).and_then(|tag| VerbForm::from_penn(tag.as_str())) else {
                continue;
            };
            // "Caused by" has the cause after the verb already, and "caused it to fall" is another
            // construction.
            let another = words.tag(at + 1) == Some(Tag::Prp)
                || (at + 1..words.len()).any(|i| {
                    words.is(i, &["by"])
                        || words.tag(i).is_some_and(|tag| tag.is_verb() || tag == Tag::To)
                });
            if another || !words.is(at, &["cause", "causes", "caused", "causing"]) {
                continue;
            }
            let after = format!("{} from", verb::inflect("result", form));
            let span = words.span(at);
            plans.push(Plan::new("caused", vec![Change { sentence, span, after }]));
        }
    }
    plans
}
