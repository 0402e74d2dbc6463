//! METEOR against the values that HANNA published, the jar and NLTK.

use serde_json::Value;
use storymeter_checks::hanna_metrics::{METEOR, compare};
use storymeter_checks::pairs::{peer_rows, story_pairs};
use storymeter_checks::{Result, meteor_settings, present, score, shared};
use storymeter_core::read::Record;
use storymeter_core::{Place, Settings, Story};

fn values_equal_those_hanna_published() -> Result {
    let rows = compare(&shared("data/annotated/hanna/stories_first48.jsonl.gz")?, &[METEOR])?;
    assert_eq!((rows[0].stories, rows[0].equal), (528, 528), "{}", rows[0].largest);
    Ok(())
}

/// The largest difference over all pairs. The column is the peer's in the fixture.
fn largest_difference(metric: &str, settings: Settings, column: usize) -> Result<f64> {
    let (_, ours) = score(&[metric], settings, &story_pairs()?)?;
    let theirs = peer_rows("meteor.csv.gz")?;
    assert_eq!(theirs.len(), 2328);
    let mut largest = 0.0f64;
    for (pair, numbers) in theirs {
        largest = largest.max((present(ours.values(pair))?[0] - numbers[column]).abs());
    }
    Ok(largest)
}

fn the_jar_agrees_to_a_billionth_on_2328_pairs() -> Result {
    let largest = largest_difference("meteor", meteor_settings()?, 0)?;
    assert!(largest < 1e-9, "{largest}");
    Ok(())
}

fn nltk_agrees_to_a_billionth_on_2328_pairs() -> Result {
    let largest = largest_difference("meteor:nltk", Settings::default(), 1)?;
    assert!(largest < 1e-9, "{largest}");
    Ok(())
}

/// The texts that are made to trip a tokeniser, as in `nasty_pairs.rs` of storymeter-metrics, which
/// compares ROUGE and NLTK's METEOR. Where the jar has no number, ours must be 0.
fn the_jar_agrees_to_a_billionth_on_nasty_texts() -> Result {
    let settings = meteor_settings()?;
    let fixture = include_str!("../../../storymeter-metrics/tests/fixtures/nasty_pairs.json");
    let fixture: Value = serde_json::from_str(fixture)?;
    let cases = fixture["pairs"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let record = |(number, case): (u64, &Value)| {
        let times = case["times"].as_u64().expect("a number") as usize;
        let references = case["references"].as_array().expect("a list").iter().map(text).collect();
        let text = text(&case["story"]).repeat(times);
        let story = Story { text, references, ..Story::default() };
        Record { story, number, place: Place::default() }
    };
    let records: Vec<Record> = (0..).zip(cases).map(record).collect();
    assert!(records.len() > 35, "{} cases", records.len());
    let (_, ours) = score(&["meteor:1.5"], settings, &records)?;
    for (at, case) in cases.iter().enumerate() {
        let ours = present(ours.values(at))?[0];
        let theirs = case["meteor:1.5"].as_f64().unwrap_or(0.0);
        assert!((ours - theirs).abs() < 1e-9, "{}: {ours} and {theirs}", case["name"]);
    }
    Ok(())
}

storymeter_checks::checks!(
    values_equal_those_hanna_published,
    the_jar_agrees_to_a_billionth_on_2328_pairs,
    nltk_agrees_to_a_billionth_on_2328_pairs,
    the_jar_agrees_to_a_billionth_on_nasty_texts,
);
