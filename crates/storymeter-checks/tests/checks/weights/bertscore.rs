//! BERTScore against bert-score 0.3.13, on texts with everything that tokenisers stumble over. The
//! numbers are in `bertscore.json` of storymeter-neural, which says how they were made.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use storymeter_checks::{Result, weights};
use storymeter_core::{Catalogue, Prepared, Resources, Settings, Story, Value};

use super::scoring::pair;
use super::{examples, fixture};

const TOLERANCE: f64 = 2e-5;

/// The texts of the fixture by name.
fn texts(fixture: &Json) -> BTreeMap<String, String> {
    let sound: Vec<String> = examples()
        .into_iter()
        .filter(|(id, _)| id.ends_with("-sound"))
        .map(|(_, text)| text)
        .collect();
    let long = sound.join(" ");
    let mut texts: BTreeMap<String, String> = examples().into_iter().collect();
    let backwards: Vec<&str> = long.split(' ').rev().collect();
    texts.insert("long_backwards".to_owned(), backwards.join(" "));
    texts.insert("long".to_owned(), long);
    for (name, text) in fixture["texts"].as_object().unwrap() {
        texts.insert(name.clone(), text.as_str().unwrap().to_owned());
    }
    texts
}

/// The stories of a list of pairs. The second of a pair is a reference or several of them.
fn stories(pairs: &Json, texts: &BTreeMap<String, String>) -> Vec<Story> {
    let text = |name: &Json| texts[name.as_str().unwrap()].as_str();
    let story = |one: &Json| {
        let references: Vec<&str> = match &one[1] {
            Json::Array(names) => names.iter().map(text).collect(),
            name => vec![text(name)],
        };
        pair(text(&one[0]), &references)
    };
    pairs.as_array().unwrap().iter().map(story).collect()
}

/// Scores without the check that no reference is empty, because bert-score has none.
fn scored(typed: &str, settings: Settings, stories: &[Story]) -> Vec<Vec<Value>> {
    let resources = Resources::new(settings);
    let catalogue = Catalogue::new(storymeter_neural::entries());
    let metric = catalogue.build(typed, &resources).unwrap();
    let prepared: Vec<Prepared<'_>> =
        (0u64..).zip(stories).map(|(number, story)| Prepared::new(number, story)).collect();
    let metric = match metric.survey() {
        Some(survey) => {
            survey.add(&prepared).unwrap();
            survey.finish().unwrap()
        }
        None => metric,
    };
    let rows = metric.rows(&prepared, &resources).unwrap();
    (0..stories.len())
        .map(|story| {
            let mut values = vec![Ok(0.0); metric.description().columns.len()];
            metric.values(rows.row(story), &mut values);
            values
        })
        .collect()
}

#[track_caller]
fn assert_same(found: &[Vec<Value>], expected: &Json, what: &str) {
    for (at, (found, expected)) in found.iter().zip(expected.as_array().unwrap()).enumerate() {
        for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
            let (found, expected) = (found.clone().unwrap(), expected.as_f64().unwrap());
            let error = (found - expected).abs();
            assert!(error <= TOLERANCE, "{what}, pair {at}: {found} for {expected}: {error:e}");
        }
    }
}

/// Compares every layer and option of a model that the fixture has.
fn check(model: &str) -> Result {
    let model_folder = weights(model)?;
    let fixture = fixture("bertscore.json");
    let texts = texts(&fixture);
    let pairs = stories(&fixture["pairs"], &texts);
    let several = stories(&fixture["pairs_with_several_references"], &texts);
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("baseline.tsv");
    let mut lines = "LAYER,P,R,F\n".to_owned();
    for (layer, numbers) in fixture["baseline"].as_array().unwrap().iter().enumerate() {
        lines += &format!("{layer},{},{},{}\n", numbers[0], numbers[1], numbers[2]);
    }
    std::fs::write(&baseline, lines).unwrap();
    let settings = || {
        let weights = [("bertscore", &model_folder), ("bertscore-baseline", &baseline)]
            .map(|(name, path)| (name.to_owned(), path.clone()));
        Settings { weights: weights.into(), ..Settings::default() }
    };
    let parts = |kind: &str| -> Vec<&Json> {
        fixture[kind].as_array().unwrap().iter().filter(|part| part["model"] == model).collect()
    };
    for part in parts("plain") {
        let typed = format!("bertscore:layer-{}", part["layer"]);
        assert_same(&scored(&typed, settings(), &pairs), &part["scores"], &typed);
    }
    for part in parts("options") {
        for (name, options, stories) in [
            ("idf", "+idf", &pairs),
            ("rescaled", "+rescale", &pairs),
            ("idf_rescaled", "+idf+rescale", &pairs),
            ("several", "", &several),
            ("several_idf", "+idf", &several),
        ] {
            let typed = format!("bertscore:layer-{}{options}", part["layer"]);
            assert_same(&scored(&typed, settings(), stories), &part[name], &typed);
        }
    }
    Ok(())
}

fn minilm_is_scored_as_by_bert_score() -> Result {
    check("minilm")
}

fn mpnet_is_scored_as_by_bert_score() -> Result {
    check("mpnet")
}

storymeter_checks::checks!(minilm_is_scored_as_by_bert_score, mpnet_is_scored_as_by_bert_score);
