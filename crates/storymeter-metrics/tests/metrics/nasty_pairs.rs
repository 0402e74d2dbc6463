//! ROUGE and METEOR on texts that are difficult for tokenisers, compared with other programs.
//!
//! `tools/rouge_meteor_fixtures.py` writes `fixtures/nasty_pairs.json`.

use std::sync::Arc;

use serde_json::Value;
use storymeter_core::read::Record;
use storymeter_core::{Place, Resources, Story};
use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;

fn cases() -> Vec<Value> {
    let fixture: Value =
        serde_json::from_str(include_str!("../fixtures/nasty_pairs.json")).expect("JSON");
    fixture["pairs"].as_array().expect("a list").clone()
}

fn record(case: &Value) -> Record {
    let texts = |value: &Value| value.as_str().expect("a text").to_owned();
    let times = case["times"].as_u64().expect("a number") as usize;
    let references = case["references"].as_array().expect("a list").iter().map(texts).collect();
    let story = Story { text: texts(&case["story"]).repeat(times), references, ..Story::default() };
    Record { story, number: 0, place: Place::default() }
}

/// Compares every case with the numbers of another program. If that has none, all of ours must be
/// 0.
fn check(id: &str, resources: Resources) {
    let scorer = MetricSet::new(&[id], &catalogue(), Arc::new(resources)).expect("a known metric");
    let mut checked = 0;
    for case in cases() {
        let rows = scorer.batch(&[record(&case)]).expect("all have references");
        let ours: Vec<f64> =
            rows.values(0).iter().map(|value| value.clone().expect("present")).collect();
        let theirs: Vec<f64> = match &case[id] {
            Value::Array(numbers) => {
                numbers.iter().map(|number| number.as_f64().expect("a number")).collect()
            }
            Value::Number(number) => vec![number.as_f64().expect("a number")],
            _ => vec![0.0; ours.len()],
        };
        assert_eq!(ours.len(), theirs.len(), "{id}");
        for (column, (ours, theirs)) in scorer.columns().iter().zip(ours.iter().zip(&theirs)) {
            assert!(
                (ours - theirs).abs() < 1e-9,
                "{}, {}: {ours} and {theirs}",
                column.key,
                case["name"]
            );
        }
        checked += 1;
    }
    assert!(checked > 35);
}

#[test]
fn rouge_155_prints_what_the_perl_program_prints() {
    check("rouge:155", Resources::default());
}

#[test]
fn google_rouge_equals_rouge_score() {
    check("rouge:google", Resources::default());
    check("rouge:google-stem", Resources::default());
}

#[test]
fn meteor_1_0_equals_nltk() {
    check("meteor:nltk", Resources::default());
}
