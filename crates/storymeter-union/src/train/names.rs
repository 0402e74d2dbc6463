//! Makes the placeholders of masked names single tokens.
//!
//! `[MALE]`, `[FEMALE]` and `[NEUTRAL]` would be three pieces each. The vocabularies of BERT and
//! MPNet have entries `[unusedN]` for such needs. The first three of them are taken, and start as
//! the mean of some names for which they stand.

use std::collections::BTreeMap;

use storymeter_encoder::Tokenizer;
use storymeter_text::names::Gender;

/// Names that are one piece in every vocabulary made from English text.
const KNOWN: [(Gender, [&str; 6]); 3] = [
    (Gender::Male, ["john", "james", "tom", "robert", "michael", "david"]),
    (Gender::Female, ["mary", "anna", "sarah", "jane", "emily", "lisa"]),
    (Gender::Neutral, ["alex", "sam", "taylor", "jordan", "chris", "pat"]),
];

/// The placeholders and their vocabulary entries. The map is empty if the vocabulary has too few
/// unused entries.
pub fn entries(tokenizer: &Tokenizer) -> BTreeMap<String, u32> {
    let unused = (0..tokenizer.vocabulary() as u32)
        .filter(|id| tokenizer.piece(*id).is_some_and(|piece| piece.starts_with("[unused")));
    let found: BTreeMap<String, u32> = KNOWN
        .iter()
        .zip(unused)
        .map(|((gender, _), id)| (gender.placeholder().to_owned(), id))
        .collect();
    if found.len() == KNOWN.len() { found } else { BTreeMap::new() }
}

/// Sets the embeddings of the placeholders to the mean of the names for which they stand.
pub fn start(
    entries: &BTreeMap<String, u32>,
    tokenizer: &Tokenizer,
    words: &mut [f32],
    width: usize,
) {
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

#[cfg(test)]
mod tests {
    use storymeter_encoder::Config;

    use super::*;

    fn tokenizer(pieces: &[&str]) -> Tokenizer {
        let folder = tempfile::tempdir().unwrap();
        let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
        let vocabulary = [&special, pieces].concat();
        std::fs::write(folder.path().join("vocab.txt"), vocabulary.join("\n")).unwrap();
        let config = serde_json::json!({
            "model_type": "bert", "vocab_size": vocabulary.len(), "hidden_size": 2, "num_hidden_layers": 1,
            "num_attention_heads": 1, "intermediate_size": 2, "max_position_embeddings": 16, "pad_token_id": 0,
        });
        std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        Tokenizer::load(folder.path(), &Config::load(folder.path()).unwrap()).unwrap()
    }

    #[test]
    fn unused_entries_become_names_and_start_as_their_mean() {
        let tokenizer =
            tokenizer(&["[unused0]", "[unused1]", "kite", "[unused7]", "tom", "john", "mary"]);
        let found = entries(&tokenizer);
        let expected = [("[MALE]", 5), ("[FEMALE]", 6), ("[NEUTRAL]", 8)];
        assert_eq!(found, expected.map(|(name, id)| (name.to_owned(), id)).into());
        let mut words: Vec<f32> = (0..24).map(|i| i as f32).collect();
        start(&found, &tokenizer, &mut words, 2);
        // The vocabulary has the male names tom (9) and john (10), and no neutral name.
        assert_eq!(
            (&words[10..12], &words[12..14], &words[16..18]),
            (&[19.0, 20.0][..], &[22.0, 23.0][..], &[16.0, 17.0][..])
        );
    }

    #[test]
    fn a_vocabulary_without_unused_entries_has_no_name_tokens() {
        assert!(entries(&tokenizer(&["[unused0]", "kite"])).is_empty());
    }
}
