//! Difficult texts, compared with the values of sacrebleu, NLTK, pycocoevalcap and spaCy.
//!
//! `tools/metrics_fixtures.py` writes `fixtures/nasty.json` and names the versions.

use serde_json::Value;
use storymeter_core::read::Record;
use storymeter_core::{Place, Story};
use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;
use storymeter_metrics::tokenize::{Spacy, Tokenizer};

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/nasty.json")).expect("the fixture is JSON")
}

/// A text of the fixture. It is given as it is, or as a unit and the number of its repetitions.
fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let times = value["times"].as_u64().expect("a number") as usize;
            vec![value["unit"].as_str().expect("a text"); times].join(" ")
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[test]
fn every_value_equals_the_peers_to_a_billionth() {
    let mut compared = 0;
    for group in list(&fixture()["groups"]) {
        let pairs = list(&group["pairs"]);
        let keys: Vec<String> =
            pairs[0]["expected"].as_object().expect("values").keys().cloned().collect();
        let records: Vec<Record> = (0..)
            .zip(pairs)
            .map(|(number, pair)| {
                let references = list(&pair["references"]).iter().map(text).collect();
                let story = Story {
                    id: number.to_string(),
                    text: text(&pair["story"]),
                    references,
                    ..Story::default()
                };
                Record { story, number, place: Place::default() }
            })
            .collect();
        let scorer =
            MetricSet::new(&keys, &catalogue(), Default::default()).expect("known metrics");
        let survey = scorer.survey();
        survey.batch(&records).expect("fits in memory");
        let scorer = scorer.surveyed(survey).expect("no files needed");
        let rows = scorer.batch(&records).expect("all have references");
        let mut agree = |what: &str, key: &str, ours: f64, theirs: &Value| {
            let Some(theirs) = theirs.as_f64() else { return };
            assert!(
                (ours - theirs).abs() <= 1e-9,
                "{key} of {what}: ours {ours}, the peer's {theirs}"
            );
            compared += 1;
        };
        for (at, pair) in pairs.iter().enumerate() {
            let what: String = format!("{:?}", pair["story"]).chars().take(60).collect();
            for (key, ours) in keys.iter().zip(rows.values(at)) {
                let ours = ours.clone().expect("present");
                agree(&what, key, ours, &pair["expected"][key]);
            }
        }
        let stats: Vec<&[f64]> = (0..records.len()).map(|at| rows.stats(at)).collect();
        for (key, ours) in keys.iter().zip(scorer.aggregate(&stats)) {
            let ours = ours.expect("present");
            agree("the corpus", key, ours, &group["corpus"][key]);
        }
    }
    assert!(compared > 600, "only {compared} values were compared");
}

#[test]
fn tokens_are_those_of_spacy() {
    let mut compared = 0;
    for case in list(&fixture()["spacy"]) {
        let tokens = Spacy::tokenize(case["text"].as_str().expect("a text"));
        let theirs: Vec<&str> =
            list(&case["tokens"]).iter().map(|token| token.as_str().expect("a token")).collect();
        assert_eq!(tokens.iter().collect::<Vec<_>>(), theirs);
        compared += 1;
    }
    assert!(compared > 20, "only {compared} texts were compared");
}
