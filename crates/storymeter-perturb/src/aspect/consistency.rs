//! Consistency: events contradict each other.
//!
//! - `negation removed`: "did not know" becomes "knew".
//! - `negation added`: "knew" becomes "did not know".
//! - `antonym`, `prefix`: words become their opposites, such as "cold" and "hot", or "happy" and
//!   "unhappy".
//!
//! Opposites and negations are tried first with probability one half each (the released code has one
//! quarter for opposites); of negations, first one that is there, else a new one. The rules of
//! negation are those of [`crate::negation`].
//!
//! The story must contradict what is reversed, so only such sentences count whose verb or objects
//! come up again later, to which the next sentence refers with "it" or "them", or in which another
//! deed follows ("did not load the truck and moved downtown"). Only the main verb is negated, and
//! not where a negation would concern an amount ("did not spend a lot") or nothing in particular
//! ("did not have to call"). Of adjectives, only those that say how somebody or something is ("She
//! was happy") become their opposites.

use std::ops::Range;

use storymeter_text::Span;
use storymeter_text::lexicon::PartOfSpeech;
use storymeter_text::tagger::Tag;

use super::passage::{Passage, Words};
use super::{Plan, Sources};
use crate::draft::Change;
use crate::draw::Draw;
use crate::negation::alterations;
use crate::style::match_case;
use crate::substitution::starts_with_a_vowel;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    if draw.chance(0.5) {
        opposites(passage, draw, sources).or_else(|| negations(passage, draw))
    } else {
        negations(passage, draw).or_else(|| opposites(passage, draw, sources))
    }
}

fn negations(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for sentence in passage.open().rev().skip(1).rev() {
        let words = passage.tokens(sentence);
        let Some(verb) = main_verb(&words) else { continue };
        let spans: Vec<Span> = words.tokens.iter().map(|token| token.span).collect();
        let tags: Vec<Tag> = words.tokens.iter().map(|token| token.tag).collect();
        let place = words.span(verb);
        if !is_needed_later(passage, sentence, verb) {
            continue;
        }
        for found in alterations(passage.text, &spans, &tags, passage.style.spaced) {
            let concerns_it = found.span.start <= place.start && place.end <= found.span.end;
            if !concerns_it {
                continue;
            }
            let short = found.short.clone().filter(|_| draw.chance(0.5));
            let after = short.unwrap_or(found.plain);
            let change = Change { sentence, span: found.span, after };
            if found.removes { &mut removed } else { &mut added }.push(change);
        }
    }
    let (rule, mut changes) =
        if removed.is_empty() { ("negation added", added) } else { ("negation removed", removed) };
    let change = (!changes.is_empty()).then(|| changes.swap_remove(draw.below(changes.len())))?;
    Some(Plan::new(rule, vec![change]))
}

/// Whether the story depends on what the verb at a place says.
fn is_needed_later(passage: &Passage<'_>, sentence: usize, verb: usize) -> bool {
    let words = passage.tokens(sentence);
    let later = sentence + 1..passage.len();
    let comes_up = (verb..words.len())
        .filter(|&at| words.tag(at).is_some_and(|tag| tag.is_verb() || tag.is_noun()))
        .filter_map(|at| words.keyword(at))
        .any(|keyword| passage.mentions(later.clone(), keyword));
    let next = passage.tokens(sentence + 1);
    let referred_to = (0..next.len()).any(|at| next.is(at, &["it", "them", "this"]));
    let another_deed = (verb + 1..words.len()).any(|at| {
        words.is(at, &["and"]) && matches!(words.tag(at + 1), Some(Tag::Vbd | Tag::Vbz | Tag::Vbp))
    });
    comes_up || referred_to || another_deed
}

/// The first verb with a tense, if it belongs to the main clause of a statement.
fn main_verb(words: &Words<'_>) -> Option<usize> {
    let all = 0..words.len();
    let hinders = |at: usize| {
        words.is(at, POLAR) || matches!(words.word(at), "?" | "\"" | "“" | "”" | "``" | "''")
    };
    if all.clone().any(hinders) {
        return None;
    }
    let verb = all
        .clone()
        .find(|&at| matches!(words.tag(at), Some(Tag::Vbd | Tag::Vbz | Tag::Vbp | Tag::Md)))?;
    let is_clause = |range: Range<usize>| range.into_iter().any(|at| words.is(at, SUBORDINATE));
    let has_subject = verb > 0
        && (0..verb).any(|at| {
            words.tag(at).is_some_and(|tag| tag.is_noun() || matches!(tag, Tag::Prp | Tag::Ex))
        });
    let usable = has_subject
        && !is_clause(0..verb)
        && !words.word(verb).starts_with(['\'', '’'])
        && !words
            .is(verb, &["thanked", "used", "thank", "said", "says", "told", "tells", "thought"])
        && !words.is(verb + 1, &["to", "up", "then", "when"]);
    usable.then_some(verb)
}

/// Words that a change of polarity would leave without sense.
#[rustfmt::skip]
const POLAR: &[&str] = &[
    "any", "anymore", "anyone", "anybody", "anything", "anywhere", "ever", "yet", "either",
    "neither", "nor", "never", "no", "nobody", "nothing", "none", "hardly", "barely", "until",
    "already", "still", "even", "only", "just", "too", "also", "finally", "enough", "unless",
    "than", "much", "longer", "almost", "so", "suddenly", "luckily", "fortunately",
    "unfortunately", "eventually", "instead", "again", "sadly", "lot", "lots", "all",
    "everything", "everyone", "many", "most", "more", "very", "well", "really", "every", "each",
    "few", "hard", "whole", "entire", "both",
];

/// Words that open a clause other than the main one.
#[rustfmt::skip]
const SUBORDINATE: &[&str] = &[
    "when", "because", "if", "while", "after", "before", "that", "who", "which", "as", "since",
    "although", "though", "where", "what", "how", "why", "whenever", "once", "unless", "whose",
    "but",
];

fn opposites(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let mut found: Vec<(bool, Change)> = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            if let Some(opposite) = opposite(&words, at, sources) {
                let after = match_case(&opposite, words.word(at));
                let lower = words.lower(at);
                let prefix = opposite.ends_with(lower.as_ref()) || lower.ends_with(&opposite);
                found.push((prefix, with_article(&words, sentence, at, after)));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let certain = draw.below(found.len());
    let mut at = 0;
    found.retain(|_| {
        at += 1;
        at == certain + 1 || draw.chance(0.5)
    });
    let rule = if found.iter().all(|(prefix, _)| *prefix) { "prefix" } else { "antonym" };
    Some(Plan::new(rule, found.into_iter().map(|(_, change)| change).collect()))
}

/// The change that writes a word in place of another one, with the article that it needs.
pub fn with_article(words: &Words<'_>, sentence: usize, at: usize, after: String) -> Change {
    let span = words.span(at);
    if words.is_before(at, &["a", "an"]) {
        let old = words.word(at - 1);
        let article = if starts_with_a_vowel(&after) { "an" } else { "a" };
        if !article.eq_ignore_ascii_case(old) {
            let between = Span::new(words.span(at - 1).end, span.start).of(words.text);
            let after = format!("{}{between}{after}", match_case(article, old));
            return Change { sentence, span: Span::new(words.span(at - 1).start, span.end), after };
        }
    }
    Change { sentence, span, after }
}

/// The usual opposite of an adjective.
fn opposite(words: &Words<'_>, at: usize, sources: &Sources<'_>) -> Option<String> {
    let says_how = (1..=3).any(|back| {
        at >= back
            && words.is(
                at - back,
                &[
                    "was", "were", "is", "are", "felt", "feels", "became", "be", "am", "been",
                    "looked", "seemed", "'s", "'re", "'m",
                ],
            )
            && (at - back + 1..at).all(|i| words.tag(i).is_some_and(Tag::is_adverb))
    });
    let stands_alone = words.tag(at + 1).is_none_or(|tag| !tag.is_noun() && tag != Tag::Jj);
    if words.tag(at)? != Tag::Jj || !says_how || !stands_alone || words.is(at, NO_OPPOSITES) {
        return None;
    }
    let word = words.lower(at);
    let opposites = sources.lexicon.antonyms(&word, PartOfSpeech::Adjective);
    let &opposite = opposites.first()?;
    let back = sources.lexicon.antonyms(opposite, PartOfSpeech::Adjective);
    // Both must name each other first, which leaves out opposites of rare meanings.
    let usual = back.first() == Some(&word.as_ref());
    (usual && opposite.chars().all(char::is_alphabetic)).then(|| opposite.to_owned())
}

/// Adjectives whose opposite in WordNet is another thing than a story means.
#[rustfmt::skip]
const NO_OPPOSITES: &[&str] = &[
    "able", "due", "back", "front", "only", "own", "same", "main", "live", "right", "left",
    "next", "last", "first", "second", "other", "many", "few", "gross", "white", "black", "sure",
    "red", "ready", "proud",
];
