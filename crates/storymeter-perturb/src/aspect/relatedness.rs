//! Relatedness: the events have nothing to do with the story.
//!
//! - `words`: nouns become nouns from one other story, each with probability three quarters, if at
//!   least three change.
//! - `sentence`: a random sentence becomes a random sentence of another story.
//!
//! Each rule is tried first with probability one half. The released code replaces every fourth noun
//! and verb by any word with the same tag, and takes any sentence. That leaves stories which still
//! make sense, or only wrong grammar. Here only nouns with a meaning of their own change, and the
//! foreign sentence has at least three keywords, two of them such nouns, none of which is in the
//! story, and does not begin with a pronoun that could mean somebody of the story. Names stay,
//! because they tell who acts.

use storymeter_core::Story;
use storymeter_text::tagger::Tag;

use super::consistency::with_article;
use super::passage::{Passage, Words};
use super::pronoun::{Group, pronoun};
use super::{Plan, Sources};
use crate::draft::Change;
use crate::draw::Draw;
use crate::style::match_case;

/// The smallest number of words that change.
const FEWEST: usize = 3;

/// The smallest number of keywords in a foreign sentence, and of nouns among them.
const FEWEST_KEYWORDS: (usize, usize) = (3, 2);

/// How often another sentence is drawn until one is foreign enough.
const ATTEMPTS: usize = 20;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    if draw.chance(0.5) {
        words(passage, draw, sources).or_else(|| sentence(passage, draw, sources))
    } else {
        sentence(passage, draw, sources).or_else(|| words(passage, draw, sources))
    }
}

/// Whether the token at a place is a noun with a meaning of its own: no name, no part of a
/// compound, and no word such as "day" or "thing" that fits everywhere.
fn is_telling_noun(words: &Words<'_>, at: usize) -> bool {
    let is_noun = |tag: Option<Tag>| tag.is_some_and(Tag::is_noun);
    matches!(words.tag(at), Some(Tag::Nn | Tag::Nns))
        && words.keyword(at).is_some_and(|keyword| !LIGHT.contains(&keyword.lemma.as_str()))
        && !is_noun(words.tag(at + 1))
        && !is_noun(words.tag_before(at))
        && !matches!(words.word(at + 1), "-" | "'s" | "’s")
}

fn words(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let donor = sources.donors.story(passage.style, draw)?;
    let other = Story::from(sources.donors.text(donor));
    let foreign = Passage::new(&other, sources.tagger, sources.lexicon);
    let mut nouns: Vec<(Tag, String)> = Vec::new();
    for sentence in 0..foreign.len() {
        let words = foreign.tokens(sentence);
        for at in 0..words.len() {
            let (Some(tag), Some(keyword)) = (words.tag(at), words.keyword(at)) else { continue };
            if is_telling_noun(&words, at) && !passage.mentions(0..passage.len(), keyword) {
                let noun = (tag, words.word(at).to_lowercase());
                if !nouns.contains(&noun) {
                    nouns.push(noun);
                }
            }
        }
    }
    draw.shuffle(&mut nouns);
    let mut changes: Vec<Change> = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            if !is_telling_noun(&words, at) || !draw.chance(0.75) {
                continue;
            }
            let same = nouns.iter().position(|(tag, _)| Some(*tag) == words.tag(at));
            if let Some((_, noun)) = same.map(|found| nouns.swap_remove(found)) {
                let after = match_case(&noun, words.word(at));
                changes.push(with_article(&words, sentence, at, after));
            }
        }
    }
    (changes.len() >= FEWEST).then(|| Plan::new("words", changes))
}

fn sentence(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let open = passage.open();
    let target = open.start + draw.below(open.len());
    for _ in 0..ATTEMPTS {
        let donor = sources.donors.story(passage.style, draw)?;
        let content = sources.donors.sentence(donor, draw);
        if sources.donors.text(donor) != passage.text && is_foreign(passage, content, sources) {
            return Some(Plan::new("sentence", vec![passage.putting(target, content)]));
        }
    }
    None
}

/// Whether a sentence has enough keywords and nouns, and none that is in the story.
fn is_foreign(passage: &Passage<'_>, sentence: &str, sources: &Sources<'_>) -> bool {
    let story =
        Story { sentences: std::iter::once(0..sentence.len()).collect(), ..Story::from(sentence) };
    let foreign = Passage::new(&story, sources.tagger, sources.lexicon);
    let words = foreign.tokens(0);
    // "He" would be somebody of the story.
    if let Some((group, _)) = pronoun(&words, 0)
        && has_pronoun(passage, group)
    {
        return false;
    }
    let (mut keywords, mut nouns) = (0, 0);
    for at in 0..words.len() {
        let Some(keyword) = words.keyword(at) else { continue };
        if passage.mentions(0..passage.len(), keyword) {
            return false;
        }
        keywords += 1;
        nouns += usize::from(is_telling_noun(&words, at));
    }
    keywords >= FEWEST_KEYWORDS.0 && nouns >= FEWEST_KEYWORDS.1
}

fn has_pronoun(passage: &Passage<'_>, group: Group) -> bool {
    (0..passage.len()).any(|sentence| {
        let words = passage.tokens(sentence);
        (0..words.len()).any(|at| pronoun(&words, at).is_some_and(|(own, _)| own == group))
    })
}

/// Nouns that fit into nearly every story.
#[rustfmt::skip]
const LIGHT: &[&str] = &[
    "afternoon", "bit", "boy", "child", "city", "couple", "day", "end", "evening", "everything",
    "family", "food", "friend", "fun", "game", "girl", "group", "guy", "home", "hour", "house", "idea", "job",
    "kid", "kind", "life", "lot", "man", "mind", "minute", "moment", "money", "month", "morning",
    "night", "number", "one", "order", "part", "people", "person", "place", "problem", "reason",
    "room", "rest", "school", "second", "side", "thing", "time", "today", "town", "trip", "way",
    "week", "weekend", "woman", "work", "world", "year", "yesterday",
];
