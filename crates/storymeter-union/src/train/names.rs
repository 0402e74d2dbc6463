//! Masked names as single tokens.
//!
//! `[MALE]`, `[FEMALE]` and `[NEUTRAL]` would be three pieces each. BERT's vocabularies, and MPNet's after them, keep entries
//! `[unusedN]` for such needs; the first three of them are taken, and start as the mean of some names they stand for.

use std::collections::BTreeMap;

use storymeter_encoder::Tokenizer;
use storymeter_text::names::Gender;

/// Names that every vocabulary made from English text has as one piece.
const KNOWN: [(Gender, [&str; 6]); 3] = [
    (Gender::Male, ["john", "james", "tom", "robert", "michael", "david"]),
    (Gender::Female, ["mary", "anna", "sarah", "jane", "emily", "lisa"]),
    (Gender::Neutral, ["alex", "sam", "taylor", "jordan", "chris", "pat"]),
];

/// The texts that are one token, and their entries; empty where the vocabulary has too few unused ones.
pub(super) fn entries(tokenizer: &Tokenizer) -> BTreeMap<String, u32> {
    let unused = (0..tokenizer.vocabulary() as u32)
        .filter(|id| tokenizer.piece(*id).is_some_and(|piece| piece.starts_with("[unused")));
    let found: BTreeMap<String, u32> =
        KNOWN.iter().zip(unused).map(|((gender, _), id)| (gender.placeholder().to_owned(), id)).collect();
    if found.len() == KNOWN.len() { found } else { BTreeMap::new() }
}

/// Sets the entries' embeddings to the mean of the names they stand for.
pub(super) fn start(entries: &BTreeMap<String, u32>, tokenizer: &Tokenizer, words: &mut [f32], width: usize) {
    for (gender, names) in KNOWN {
        let Some(entry) = entries.get(gender.placeholder()) else { continue };
        let ids: Vec<u32> = names.iter().filter_map(|name| tokenizer.id(name)).collect();
        if ids.is_empty() {
            continue;
        }
        for column in 0..width {
            let sum: f32 = ids.iter().map(|id| words[*id as usize * width + column]).sum();
            words[*entry as usize * width + column] = sum / ids.len() as f32;
        }
    }
}
