//! Paraphrase: one sentence says the same in other words.
//!
//! - `paraphrase`: a random sentence becomes its paraphrase from the user's table.
//!
//! The released code takes back-translations whose similarity to the sentence is between 0.4 and
//! 0.7, of sentences of five tokens or more.

use super::passage::Passage;
use super::{Plan, Sources};
use crate::draw::Draw;

/// The number of tokens in the shortest sentence that is replaced.
pub const SHORTEST: usize = 5;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let table = sources.paraphrases?;
    let known: Vec<(usize, &str)> = passage
        .open()
        .filter(|&sentence| passage.tokens(sentence).len() >= SHORTEST)
        .flat_map(|at| table.of(passage.sentence(at)).iter().map(move |text| (at, text.as_str())))
        .collect();
    let &(sentence, paraphrase) = draw.pick(&known)?;
    Some(Plan::new("paraphrase", vec![passage.putting(sentence, paraphrase)]))
}
