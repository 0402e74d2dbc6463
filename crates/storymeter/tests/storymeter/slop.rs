//! The metric `slop` as a library is asked for it: columns with the levels of human stories, and
//! hits whose places are in the text that was scored.

use std::fs;

use serde_json::{Value, json};
use storymeter::input::{Inputs, ReadOptions};
use storymeter::{Depth, Progress, ScoreSink, Scored, Scorer};

const STORY: &str = "Élodie’s dress was a tapestry of grief.";

#[test]
fn columns_know_what_human_stories_get() {
    let table = Scorer::new().metrics(["slop"]).run([STORY, "The dog ate the bread."]).unwrap();
    let keys = ["slop/score", "slop/words", "slop/phrases", "slop/contrast"];
    for key in keys {
        let column = table.column(key).unwrap();
        assert_eq!(column.values()[1], Ok(0.0), "{key}");
        assert!(column.validity.is_some(), "{key}");
    }
    let score = table.column("slop/score").unwrap().values()[0].clone().unwrap();
    assert!((score - 900.0 / 7.0).abs() < 1e-9, "{score}");
}

#[test]
fn hits_are_in_the_text_that_was_scored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stories.jsonl");
    let story = format!("Sure, here is your story:\n\n{STORY}");
    fs::write(&path, format!("{}\n", json!({"id": "a", "story": story}))).unwrap();
    let scorer = Scorer::new().metrics(["slop"]).clean(true).explain(Depth::Weakest);
    let mut explained = Vec::new();
    let mut keep = |scored: Scored| {
        let rationale = scored.rationales[0].as_ref().expect("an explanation");
        let json: Value = serde_json::from_str(&rationale.to_json()).expect("JSON");
        explained.push((scored.records[0].story.text.clone(), json));
        Ok(())
    };
    let inputs = Inputs::new(vec![path], ReadOptions::default());
    let sink = ScoreSink::nowhere().each(&mut keep);
    scorer.build().unwrap().write_scores(&inputs, sink, &Progress::unwatched()).unwrap();
    let (text, json) = &explained[0];
    assert_eq!((text.as_str(), &json["text"]), (STORY, &json!(STORY)));
    let place = |hit: &Value, end: &str| hit[end].as_u64().unwrap() as usize;
    let hits = json["hits"].as_array().unwrap().iter();
    let found: Vec<&str> = hits.map(|it| &text[place(it, "start")..place(it, "end")]).collect();
    assert_eq!(found, ["a tapestry of", "grief"]);
}
