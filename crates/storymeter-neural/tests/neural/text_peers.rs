//! What the metrics take from texts, against the programs that the released metrics use: sentences
//! of NLTK's Punkt and entities of spaCy. The fixtures are on texts of the project.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use storymeter_text::sentence::{PunktQuotes, split_like_punkt};
use storymeter_text::{entities, sentence};

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn sentences_are_nearly_always_those_of_punkt() {
    let fixture = fixture(include_str!("../fixtures/punkt.json"));
    let texts = fixture["texts"].as_array().expect("a list");
    let mut different = Vec::new();
    for entry in texts {
        let text = entry["text"].as_str().expect("a text");
        let ours = split_like_punkt(text, PunktQuotes::All);
        let ours: Vec<&str> = ours.iter().map(|span| span.of(text)).collect();
        let theirs: Vec<&str> = entry["sentences"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s.as_str().unwrap().trim())
            .collect();
        if ours != theirs {
            different.push((theirs, ours));
        }
    }
    // Two of them are about single letters, and one is marks without words.
    assert!(texts.len() >= 57 && different.len() <= 3, "{different:#?}");
}

#[test]
fn entities_are_mostly_those_of_spacy() {
    let fixture = fixture(include_str!("../fixtures/spacy_entities.json"));
    let stories: BTreeMap<String, String> = include_str!("../../../../examples/stories.jsonl")
        .lines()
        .map(|line| {
            let story: Value = serde_json::from_str(line).expect("a story");
            (story["id"].as_str().unwrap().to_owned(), story["story"].as_str().unwrap().to_owned())
        })
        .collect();
    let (mut equal, mut ours, mut theirs) = (0, 0, 0);
    for entry in fixture["stories"].as_array().expect("a list") {
        let text = &stories[entry["story"].as_str().expect("an id")];
        let characters = |at: usize| text[..at].chars().count() as u64;
        let found = entities::find(text);
        let found: BTreeSet<(u64, u64)> =
            found.iter().map(|e| (characters(e.span.start), characters(e.span.end))).collect();
        let expected: BTreeSet<(u64, u64)> = entry["entities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entity| (entity[0].as_u64().unwrap(), entity[1].as_u64().unwrap()))
            .collect();
        equal += found.intersection(&expected).count();
        ours += found.len();
        theirs += expected.len();
    }
    let (precision, recall) = (equal as f64 / ours as f64, equal as f64 / theirs as f64);
    assert!(precision > 0.7 && recall > 0.7, "precision {precision}, recall {recall}");
}

#[test]
fn odd_texts_have_entities_or_none_and_never_fail() {
    for text in
        ["", " ", "\u{0}", "$", "the", "a", "1/2/3 %", "The The The", "é".repeat(50).as_str()]
    {
        entities::find(text);
    }
    let text =
        "On July 4, 1990 Anna Hill paid $ 5 for 20 miles at 7:30 pm in New York . ".repeat(200);
    let found = entities::find(&text);
    assert!(found.is_sorted_by(|a, b| a.span.end <= b.span.start));
    let sentences = sentence::split(&text);
    assert!(found.iter().all(|entity| sentences.contains(&entity.sentence)));
    let first: Vec<(&str, &str)> =
        found.iter().take(6).map(|e| (e.span.of(&text), e.label.as_str())).collect();
    assert_eq!(
        first,
        [
            ("July 4, 1990", "DATE"),
            ("Anna Hill", "PERSON"),
            ("$ 5", "MONEY"),
            ("20 miles", "QUANTITY"),
            ("7:30 pm", "TIME"),
            ("New York", "GPE"),
        ]
    );
}
