//! Common sense: events contradict what everybody knows.
//!
//! - `triples`: a noun or verb that belongs to a fact of the user's table, all of whose words are
//!   in the story, becomes another word of its facts. With the facts "bread AtLocation oven" and
//!   "bread AtLocation shop", a story about bread in the oven is about a shop in the oven.
//!
//! As in the released code, each such word is replaced with probability three quarters by a word of
//! the same part of speech that is not in the story. That code wants three changes in a story of
//! ROCStories; here two are enough, because each of them is already absurd, and tables are small.

use std::collections::BTreeSet;

use storymeter_text::lexicon::PartOfSpeech;
use storymeter_text::morphology::noun;
use storymeter_text::morphology::verb::{self, VerbForm};
use storymeter_text::tagger::Tag;

use super::consistency::with_article;
use super::passage::Passage;
use super::{Plan, Sources};
use crate::draw::Draw;
use crate::style::match_case;
use crate::substitution::keyword_lemma;

/// The smallest number of words that change.
const FEWEST: usize = 2;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let triples = sources.triples?;
    let mut lemmas: BTreeSet<String> = BTreeSet::new();
    let mut candidates = Vec::new();
    for sentence in 0..passage.len() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            let Some(tag) = words.tag(at) else { continue };
            if let Some((lemma, pos)) = keyword_lemma(sources.lexicon, words.word(at), tag) {
                if passage.open().contains(&sentence)
                    && matches!(pos, PartOfSpeech::Noun | PartOfSpeech::Verb)
                {
                    candidates.push((sentence, at, tag, lemma.clone(), pos));
                }
                lemmas.insert(lemma);
            }
        }
    }
    let mut changes = Vec::new();
    for (sentence, at, tag, lemma, pos) in candidates {
        let known = triples.of(&lemma);
        let told = known.iter().any(|other| lemmas.contains(other));
        if !told || !draw.chance(0.75) {
            continue;
        }
        let fits =
            |other: &&String| !lemmas.contains(*other) && sources.lexicon.is_keyword(other, pos);
        let others: Vec<&String> = known.iter().filter(fits).collect();
        let Some(other) = draw.pick(&others) else { continue };
        let form = match (tag, VerbForm::from_penn(tag.as_str())) {
            (Tag::Nns, _) => noun::plural(other),
            (_, Some(form)) => verb::inflect(other, form),
            _ => (*other).clone(),
        };
        let words = passage.tokens(sentence);
        changes.push(with_article(&words, sentence, at, match_case(&form, words.word(at))));
    }
    (changes.len() >= FEWEST).then(|| Plan::new("triples", changes))
}
