//! `slop` beside the judgements of readers, on the half of the shared sets that its list was not
//! made from. `tools/slop_measure.py` prints the same and more.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use storymeter_checks::{Result, present, score, shared};
use storymeter_core::read::Record;
use storymeter_core::{Place, Settings, Story};

/// A story with what is known about it, and its `slop/score`.
struct Judged {
    facts: Value,
    score: f64,
}

/// The stories of a set whose items the list was not made from, scored.
fn measuring_half(set: &str) -> Result<Vec<Judged>> {
    let path = shared(&format!("data/annotated/modern/{set}.jsonl.gz"))?;
    let lines = BufReader::new(MultiGzDecoder::new(std::fs::File::open(path)?)).lines();
    let mut facts = Vec::new();
    for line in lines {
        let value: Value = serde_json::from_str(&line?)?;
        let item = value["item"].as_str().expect("an item");
        // As `is_making` of tools/slop_lists.py.
        if Sha256::digest(format!("{set}/{item}"))[0] % 2 == 1 {
            facts.push(value);
        }
    }
    let record = |(number, value): (u64, &Value)| {
        let story = Story::from(value["story"].as_str().expect("a story"));
        Record { story, number, place: Place::default() }
    };
    let records: Vec<Record> = (0..).zip(&facts).map(record).collect();
    let (_, batch) = score(&["slop"], Settings::default(), &records)?;
    let judged = facts.into_iter().enumerate().map(|(at, facts)| {
        let score = present(batch.values(at))?[0];
        Ok(Judged { facts, score })
    });
    judged.collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn systems_of_the_arena_with_more_slop_have_lower_scores() -> Result {
    let mut systems: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for story in measuring_half("arena")? {
        let system = story.facts["system"].as_str().expect("a system").to_owned();
        let judged = story.facts["judge"]["arena"].as_f64().expect("a score of the arena");
        systems.entry(system).or_default().push((story.score, judged));
    }
    assert_eq!(systems.len(), 24);
    let slop: Vec<f64> = systems.values().map(|own| mean(own.iter().map(|it| it.0))).collect();
    let arena: Vec<f64> = systems.values().map(|own| mean(own.iter().map(|it| it.1))).collect();
    let correlation = storymeter_stats::spearman(&slop, &arena)?.coefficient;
    println!("slop/score with the arena's scores, 24 systems: {correlation:.3}");
    assert!(correlation <= -0.65, "{correlation}");
    Ok(())
}

fn writers_prefer_the_version_with_less_slop() -> Result {
    let mut texts: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for story in measuring_half("lamp")? {
        let item = story.facts["item"].as_str().expect("an item").to_owned();
        let ranks = story.facts["human"]["preference"].as_array().expect("preferences");
        let liked = ranks.iter().map(|rank| rank.as_f64().expect("a number")).sum();
        texts.entry(item).or_default().push((story.score, liked));
    }
    let (mut pairs, mut right) = (0.0, 0.0);
    for versions in texts.values() {
        for (at, one) in versions.iter().enumerate() {
            for two in versions[..at].iter().filter(|two| two.1 != one.1) {
                pairs += 1.0;
                let agrees = (one.0 < two.0) == (one.1 > two.1);
                right += if one.0 == two.0 { 0.5 } else { f64::from(u8::from(agrees)) };
            }
        }
    }
    let share = right / pairs;
    println!("slop/score with the preferences of writers: {share:.3} of {pairs} pairs");
    assert!(pairs >= 100.0 && share >= 0.58, "{share} of {pairs}");
    Ok(())
}

storymeter_checks::checks!(
    systems_of_the_arena_with_more_slop_have_lower_scores,
    writers_prefer_the_version_with_less_slop,
);
