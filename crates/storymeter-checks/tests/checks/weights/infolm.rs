//! InfoLM on a tiny model, against its definition in f64 (`infolm.json` of storymeter-neural, made
//! by `tools/neural_fixtures_masked.py`).

use std::path::Path;

use serde_json::Value;
use storymeter_checks::{Result, weights};
use storymeter_core::Story;

use super::scoring::{pair, score};
use super::support::write_masked_model;
use super::{examples, fixture};

fn close(found: &[f64], expected: &[f64], what: &str) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-6;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{what}: {found:?}, not {expected:?}");
}

/// A text by its name in the fixtures: one of bertscore.json, an example story, or the sound ones
/// among these in a row.
fn text(name: &str) -> String {
    if let Some(text) = fixture("bertscore.json")["texts"][name].as_str() {
        return text.to_owned();
    }
    let is_wanted = |id: &str| if name == "long" { id.ends_with("-sound") } else { id == name };
    let found: Vec<String> =
        examples().into_iter().filter(|(id, _)| is_wanted(id)).map(|(_, text)| text).collect();
    assert!(!found.is_empty(), "no text {name}");
    found.join(" ")
}

/// Compares all measures of some pairs with what the fixture has.
fn check_fixture(model: &Path, pairs: &str, values: &str) {
    let fixture = fixture("infolm.json");
    let names = fixture[pairs].as_array().unwrap();
    let name = |pair: &Value, side: usize| text(pair[side].as_str().unwrap());
    let stories: Vec<Story> =
        names.iter().map(|names| pair(&name(names, 0), &[&name(names, 1)])).collect();
    let rows = fixture[values].as_array().unwrap();
    assert_eq!(rows.len(), 44);
    let typed = |row: &Value| {
        let measure = row["measure"].as_str().unwrap().replace('_', "-");
        let temperature = (row["temperature"].as_f64().unwrap() * 100.0) as usize;
        let idf = if row["idf"] == true { "" } else { "+no-idf" };
        (format!("infolm:{measure}+temperature-{temperature}{idf}"), measure)
    };
    let all: Vec<String> = rows.iter().map(|row| typed(row).0).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let scored = score(&all, model, &stories, 3).unwrap();
    for row in rows {
        let (typed, measure) = typed(row);
        // The released code negates some measures.
        let sign = if ["kl", "r-kl", "alpha"].contains(&measure.as_str()) { -1.0 } else { 1.0 };
        let expected = row["values"].as_array().unwrap().iter();
        let expected: Vec<f64> = expected.map(|value| sign * value.as_f64().unwrap()).collect();
        close(&scored.column(&format!("{typed}/{measure}")), &expected, &typed);
    }
}

fn all_measures_follow_their_definition_to_the_sixth_digit() -> Result {
    let model = tempfile::tempdir()?;
    write_masked_model(model.path());
    check_fixture(model.path(), "golden_pairs", "golden_values");
    Ok(())
}

/// These texts need the whole vocabulary of BERT, which is that of MiniLM.
fn difficult_texts_follow_the_definition_too() -> Result {
    let model = tempfile::tempdir()?;
    write_masked_model(model.path());
    std::fs::copy(weights("minilm")?.join("vocab.txt"), model.path().join("vocab.txt"))?;
    check_fixture(model.path(), "pairs", "values");
    Ok(())
}

storymeter_checks::checks!(
    all_measures_follow_their_definition_to_the_sixth_digit,
    difficult_texts_follow_the_definition_too,
);
