//! Relatedness: the events have nothing to do with the story.
//!
//! - `words`: every noun and verb becomes, with probability one third, a word with the same tag
//!   from one other story, if at least four words change.
//! - `sentence`: otherwise a random sentence becomes a random sentence of another story.
//!
//! The released code has one quarter and three words, and any sentence. That leaves stories which
//! still make sense, so here more words change, and the foreign sentence has at least three
//! keywords, none of which is in the story. Names stay, because they tell who acts.

use storymeter_core::Story;
use storymeter_text::tagger::Tag;

use super::consistency::with_article;
use super::passage::Passage;
use super::{Plan, Sources};
use crate::draft::Change;
use crate::draw::Draw;
use crate::style::match_case;
use crate::substitution::keyword_lemma;
use crate::words::words as words_of;

/// The smallest number of words that change.
const FEWEST: usize = 4;

/// The smallest number of keywords in a foreign sentence.
const FEWEST_KEYWORDS: usize = 3;

/// How often another story is drawn until one differs from this one.
const ATTEMPTS: usize = 30;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    words(passage, draw, sources).or_else(|| sentence(passage, draw, sources))
}

fn is_open_class(tag: Tag) -> bool {
    tag.is_verb() || matches!(tag, Tag::Nn | Tag::Nns)
}

fn words(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let donor = sources.donors.story(passage.style, draw)?;
    let other = Story::from(sources.donors.text(donor));
    let foreign = Passage::new(&other, sources.tagger);
    if foreign.text == passage.text {
        return None;
    }
    let mut foreign_words: Vec<(Tag, &str)> = Vec::new();
    for at in 0..foreign.len() {
        let tokens = foreign.tokens(at);
        for (i, token) in tokens.tokens.iter().enumerate() {
            let word = tokens.word(i);
            if is_open_class(token.tag) && keyword_lemma(sources.lexicon, word, token.tag).is_some()
            {
                foreign_words.push((token.tag, word));
            }
        }
    }
    let mut changes: Vec<Change> = Vec::new();
    for sentence in passage.open() {
        let tokens = passage.tokens(sentence);
        for (at, token) in tokens.tokens.iter().enumerate() {
            let word = tokens.word(at);
            let fits = is_open_class(token.tag)
                && keyword_lemma(sources.lexicon, word, token.tag).is_some()
                && draw.chance(1.0 / 3.0);
            if !fits {
                continue;
            }
            let same: Vec<&str> = foreign_words
                .iter()
                .filter(|(tag, other)| *tag == token.tag && !other.eq_ignore_ascii_case(word))
                .map(|(_, other)| *other)
                .collect();
            if let Some(other) = draw.pick(&same) {
                let after = match_case(&other.to_lowercase(), word);
                changes.push(with_article(&tokens, sentence, at, after));
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

/// Whether a sentence has enough keywords, and none that is in the story.
fn is_foreign(passage: &Passage<'_>, sentence: &str, sources: &Sources<'_>) -> bool {
    let mut keywords = 0;
    for word in words_of(sentence).iter().map(|word| word.of(sentence)) {
        if sources.lexicon.is_keyword_word(word) {
            keywords += 1;
            let own =
                |text: &str| words_of(text).iter().any(|w| w.of(text).eq_ignore_ascii_case(word));
            if own(passage.text) {
                return false;
            }
        }
    }
    keywords >= FEWEST_KEYWORDS
}
