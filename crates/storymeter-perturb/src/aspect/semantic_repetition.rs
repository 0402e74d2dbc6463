//! Semantic repetition: the same event again, in other words.
//!
//! - `paraphrase`: the paraphrase of a sentence, from the user's table, replaces the next sentence.
//!
//! As in the released code, the sentence has five tokens or more. That code replaces any later
//! sentence, where "she" and "it" may mean somebody and something else. The sentence that is said
//! again may be the last one of the context, because it stays as it is.

use super::paraphrase::SHORTEST;
use super::passage::Passage;
use super::{Plan, Sources};
use crate::draw::Draw;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let table = sources.paraphrases?;
    let first = passage.open().start.saturating_sub(1);
    let known: Vec<(usize, &str)> = (first..passage.len().saturating_sub(1))
        .filter(|&sentence| passage.tokens(sentence).len() >= SHORTEST)
        .flat_map(|at| table.of(passage.sentence(at)).iter().map(move |text| (at, text.as_str())))
        .collect();
    let &(source, paraphrase) = draw.pick(&known)?;
    Some(Plan::new("paraphrase", vec![passage.putting(source + 1, paraphrase)]))
}
