//! Consistency: events contradict each other.
//!
//! - `denied`: the next sentence becomes the opposite of a sentence. "She bought a lamp. She did
//!   not buy a lamp."
//! - `negation`: a verb that brings something into the story is negated. "She did not buy a lamp.
//!   She plugged it in."
//! - `prefix`: how it all ended becomes its opposite by a prefix, such as "happy" and "unhappy".
//!
//! The three are tried in random order. The rules of negation are those of [`crate::negation`];
//! only the main verb is negated, and not where a negation would concern an amount ("did not spend
//! a lot").
//!
//! The released code negates any clause and replaces any word by an opposite. Read one by one, a
//! third of such twins contradict nothing: who did not wave goodbye may still have left. That is
//! why a sentence is denied outright here, and why the other two rules are narrow. A metric that
//! counts repeated words sees a part of `denied` too.

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
    let mut rules = [Rule::Denied, Rule::Negation, Rule::Prefix];
    draw.shuffle(&mut rules);
    rules.into_iter().find_map(|rule| match rule {
        Rule::Denied => denied(passage, draw),
        Rule::Negation => negated(passage, draw),
        Rule::Prefix => prefixed(passage, draw, sources),
    })
}

/// The rules, in an order that is drawn.
enum Rule {
    Denied,
    Negation,
    Prefix,
}

/// The change that reverses the main verb of a sentence.
fn reversal(passage: &Passage<'_>, sentence: usize, draw: &mut Draw) -> Option<(usize, Change)> {
    let words = passage.tokens(sentence);
    let verb = main_verb(&words)?;
    let spans: Vec<Span> = words.tokens.iter().map(|token| token.span).collect();
    let tags: Vec<Tag> = words.tokens.iter().map(|token| token.tag).collect();
    let place = words.span(verb);
    let found = alterations(passage.text, &spans, &tags, passage.style.spaced)
        .into_iter()
        .find(|found| found.span.start <= place.start && place.end <= found.span.end)?;
    let short = found.short.filter(|_| draw.chance(0.5));
    let after = short.unwrap_or(found.plain);
    Some((verb, Change { sentence, span: found.span, after }))
}

fn denied(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    // Denying the last sentence of the context leaves the context as it is.
    let first = passage.open().start.saturating_sub(1);
    let mut sentences: Vec<usize> = (first..passage.len().saturating_sub(1)).collect();
    draw.shuffle(&mut sentences);
    let (sentence, change) = sentences.into_iter().find_map(|sentence| {
        reversal(passage, sentence, draw).map(|(_, change)| (sentence, change))
    })?;
    let whole = passage.span(sentence);
    let denial = format!(
        "{}{}{}",
        &passage.text[whole.start..change.span.start],
        change.after,
        &passage.text[change.span.end..whole.end]
    );
    Some(Plan::new("denied", vec![passage.putting(sentence + 1, &denial)]))
}

fn negated(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let mut found = Vec::new();
    for sentence in passage.open().rev().skip(1).rev() {
        if let Some((verb, change)) = reversal(passage, sentence, draw)
            && is_needed_later(passage, sentence, verb)
        {
            found.push(change);
        }
    }
    let change = (!found.is_empty()).then(|| found.swap_remove(draw.below(found.len())))?;
    Some(Plan::new("negation", vec![change]))
}

/// Whether the story depends on what the verb at a place says: it brings something into the story
/// ("a lamp", "two tickets") that is there later, as "it" in the next sentence or by its name.
fn is_needed_later(passage: &Passage<'_>, sentence: usize, verb: usize) -> bool {
    let words = passage.tokens(sentence);
    let main = (verb..words.len())
        .find(|&at| words.keyword(at).is_some_and(|keyword| keyword.pos == PartOfSpeech::Verb));
    let Some(main) = main.filter(|&main| main <= verb + 2) else { return false };
    let is_new = words.is(main + 1, &["a", "an", "some"]) || words.tag(main + 1) == Some(Tag::Cd);
    if words.is(main, HARMLESS) || !is_new {
        return false;
    }
    let object = (main + 2..words.len())
        .take_while(|&at| matches!(words.tag(at), Some(Tag::Jj | Tag::Nn | Tag::Nns)))
        .filter(|&at| matches!(words.tag(at), Some(Tag::Nn | Tag::Nns)))
        .last();
    let Some(object) = object else { return false };
    let next = passage.tokens(sentence + 1);
    let is_it = (0..next.len()).any(|at| next.is(at, &["it", "them"]));
    is_it
        || (sentence + 1..passage.len()).any(|later| {
            let words_later = passage.tokens(later);
            (1..words_later.len()).any(|at| {
                words_later.is(at - 1, &["the", "her", "his", "their", "my", "our"])
                    && words_later.keyword(at).is_some()
                    && words_later.keyword(at) == words.keyword(object)
            })
        })
}

/// Verbs that may as well be negated, because nothing follows from them for certain.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "agreed", "asked", "asks", "begged", "brought", "changed", "collected", "collects",
    "considered", "decided", "drove", "enjoyed", "expected", "fibbed", "forgot", "gathered",
    "gave", "had", "has", "have", "heard", "helped", "hoped", "learned", "liked", "looked",
    "looks", "loved", "made", "needed", "needs", "noticed", "offered", "planned", "played",
    "practiced", "prepared", "remembered", "started", "stirred", "thought", "tried", "use",
    "used", "wanted", "wants", "watched", "wished", "worked",
];

/// The first verb with a tense, if it belongs to the main clause of a statement.
fn main_verb(words: &Words<'_>) -> Option<usize> {
    let all = 0..words.len();
    let hinders = |at: usize| {
        words.is(at, POLAR) || matches!(words.word(at), "?" | "\"" | "“" | "”" | "``" | "''")
    };
    if all.clone().any(hinders) {
        return None;
    }
    let verb = words.finite_verb(all)?;
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
    "again", "all", "almost", "already", "also", "any", "anybody", "anymore", "anyone",
    "anything", "anywhere", "barely", "bit", "both", "by", "each", "either", "enough", "entire",
    "even", "eventually", "ever", "every", "everyone", "everything", "everywhere", "few",
    "finally", "first", "fortunately", "hard", "hardly", "instead", "just", "longer", "lot",
    "lots", "luckily", "mainly", "many", "may", "might", "more", "most", "mostly", "much", "must",
    "neither", "never", "no", "nobody", "none", "nor", "nothing", "often", "only", "really",
    "sadly", "should", "so", "still", "suddenly", "than", "together", "too", "unfortunately",
    "unless", "until", "usually", "very", "well", "whole", "would", "yet",
];

/// Words that open a clause other than the main one.
#[rustfmt::skip]
const SUBORDINATE: &[&str] = &[
    "when", "because", "if", "while", "after", "before", "that", "who", "which", "as", "since",
    "although", "though", "where", "what", "how", "why", "whenever", "once", "unless", "whose",
    "but",
];

fn prefixed(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let sentence = passage.open().next_back()?;
    let words = passage.tokens(sentence);
    let mut found: Vec<Change> = Vec::new();
    for at in 0..words.len() {
        if let Some(opposite) = opposite(&words, at, sources) {
            let after = match_case(&opposite, words.word(at));
            found.push(with_article(&words, sentence, at, after));
        }
    }
    let change = (!found.is_empty()).then(|| found.swap_remove(draw.below(found.len())))?;
    Some(Plan::new("prefix", vec![change]))
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

/// The opposite of an adjective by a prefix, if it says how somebody or something is.
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
    let is_negated =
        (at.saturating_sub(4)..at).any(|i| words.is(i, &["not", "n't", "never", "so"]));
    let stands_alone = words.is_end(at + 1)
        || words.is_mark(at + 1)
        || words.is(at + 1, &["to", "that", "when", "and", "with", "about", "because", "for"]);
    if words.tag(at)? != Tag::Jj
        || !says_how
        || !stands_alone
        || is_negated
        || words.is(at, NO_OPPOSITES)
    {
        return None;
    }
    let word = words.lower(at);
    let opposites = sources.lexicon.antonyms(&word, PartOfSpeech::Adjective);
    let &opposite = opposites.first()?;
    let back = sources.lexicon.antonyms(opposite, PartOfSpeech::Adjective);
    // Both must name each other first, which leaves out opposites of rare meanings.
    let usual = back.first() == Some(&word.as_ref());
    // WordNet also has opposites that nobody uses, such as "unangry".
    let uses = sources.lexicon.senses(opposite, PartOfSpeech::Adjective);
    let is_used = uses.iter().any(|sense| sense.count > 0);
    let by_prefix = opposite.ends_with(word.as_ref()) || word.ends_with(opposite);
    (usual && is_used && by_prefix).then(|| opposite.to_owned())
}

/// Adjectives whose opposite in WordNet is another thing than a story means.
#[rustfmt::skip]
const NO_OPPOSITES: &[&str] = &[
    "able", "due", "back", "front", "only", "own", "same", "main", "live", "right", "left",
    "next", "last", "first", "second", "other", "many", "few", "gross", "white", "black", "sure",
    "red", "ready", "proud",
];
