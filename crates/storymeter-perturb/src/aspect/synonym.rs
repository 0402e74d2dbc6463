//! Synonym: words are replaced by synonyms.
//!
//! - `synonym`: the first words that win a coin toss, two of them in a short story and up to five
//!   in a long one, become another word for the same thing, in the same form.
//!
//! The released code takes any synonym of any sense that occurs in SemCor, and so gets "the bank of
//! the river" wrong. Here a word is replaced only where both words nearly always have the meaning
//! that they share; [`Lexicon::close_synonyms`](storymeter_text::lexicon::Lexicon::close_synonyms)
//! has the rule.

use storymeter_text::lexicon::PartOfSpeech;
use storymeter_text::morphology::noun;
use storymeter_text::morphology::verb::{self, VerbForm};
use storymeter_text::tagger::Tag;

use super::consistency::with_article;
use super::passage::{Passage, Words};
use super::{Plan, Sources};
use crate::draw::Draw;
use crate::style::match_case;

/// The number of words that are replaced in a story of up to [`SHORT`] sentences.
const FEW: usize = 2;
/// The number of words that are replaced in a longer story.
const MANY: usize = 5;
/// The number of sentences in a short story.
const SHORT: usize = 8;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let most = if passage.len() <= SHORT { FEW } else { MANY };
    let mut found = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            let synonyms = synonyms(&words, at, sources);
            if !synonyms.is_empty() {
                found.push((sentence, at, synonyms));
            }
        }
    }
    // A story with few candidates keeps the last of them, so that a coin cannot lose all pairs.
    let mut changes = Vec::new();
    let count = found.len();
    for (number, (sentence, at, synonyms)) in found.into_iter().enumerate() {
        let is_last_chance = changes.is_empty() && number + 1 == count;
        if changes.len() < most && (draw.chance(0.5) || is_last_chance) {
            let words = passage.tokens(sentence);
            let synonym = draw.pick(&synonyms)?;
            changes.push(with_article(&words, sentence, at, match_case(synonym, words.word(at))));
        }
    }
    (!changes.is_empty()).then(|| Plan::new("synonym", changes))
}

/// The close synonyms of the word at a place, in its form.
fn synonyms(words: &Words<'_>, at: usize, sources: &Sources<'_>) -> Vec<String> {
    let (Some(tag), Some(keyword)) = (words.tag(at), words.keyword(at)) else { return Vec::new() };
    let pos = keyword.pos;
    // Parts of compounds have no synonyms of their own: "car seat", "fell asleep".
    let in_compound = pos == PartOfSpeech::Noun
        && (words.tag(at + 1).is_some_and(Tag::is_noun)
            || words.tag_before(at).is_some_and(Tag::is_noun))
        || pos == PartOfSpeech::Verb && words.tag(at + 1) == Some(Tag::Rp)
        // Fixed phrases such as "far and wide".
        || words.is_before(at, &["and", "or"]) && at > 1 && words.tag(at - 2) == Some(tag)
        || words.is(at + 1, &["and", "or"]) && words.tag(at + 2) == Some(tag)
        || words.word(at + 1) == "-"
        || at > 0 && words.word(at - 1) == "-";
    // "Begin a motorcycle" is no English.
    let needs_a_verb = ["start", "begin"].contains(&keyword.lemma.as_str())
        && !matches!(words.tag(at + 1), Some(Tag::To | Tag::Vbg));
    if in_compound || needs_a_verb || matches!(tag, Tag::Jjr | Tag::Jjs | Tag::Rbr | Tag::Rbs) {
        return Vec::new();
    }
    let inflected = |synonym: &str| match (tag, VerbForm::from_penn(tag.as_str())) {
        (Tag::Nns, _) => noun::plural(synonym),
        (_, Some(form)) => verb::inflect(synonym, form),
        _ => synonym.to_owned(),
    };
    let own = words.lower(at);
    let close = sources.lexicon.close_synonyms(&keyword.lemma, pos);
    close.into_iter().map(inflected).filter(|synonym| *synonym != own).collect()
}
