//! `storymeter score` with the learned metric. The model is tiny and random: its numbers mean nothing, and stay.

use storymeter::union::StoredModel;

use crate::sandbox::Sandbox;
use crate::tiny_model::write_model;

const STORIES: &str = "{\"id\": \"a\", \"story\": \"Mira lost her red kite. She looked in the old barn.\"}\n\
                       {\"id\": \"b\", \"story\": \"\"}\n\
                       {\"id\": \"c\", \"story\": \"The baker burned the bread.\"}\n";

/// A sandbox with `model/` and `in.jsonl`.
fn with_model() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", STORIES);
    std::fs::create_dir(sandbox.path("model")).unwrap();
    write_model(&sandbox.path("model"));
    sandbox
}

#[test]
fn union_is_the_metric_where_none_is_named() {
    let sandbox = with_model();
    sandbox.run("score in.jsonl --model model -o out.jsonl").succeeds();
    let lines: Vec<serde_json::Value> =
        sandbox.read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        let score = line["scores"]["union"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score), "{line}");
    }
    sandbox.run("score in.jsonl --model model --metric union,text-length -o both.jsonl").succeeds();
    assert!(sandbox.read("both.jsonl").contains("\"text-length\""));
}

#[test]
fn scores_do_not_depend_on_threads_or_on_what_is_scored_together() {
    let sandbox = with_model();
    sandbox.run("score in.jsonl --model model --threads 1 -o one.jsonl").succeeds();
    sandbox.run("score in.jsonl --model model --threads 7 -o seven.jsonl").succeeds();
    assert_eq!(sandbox.read("one.jsonl"), sandbox.read("seven.jsonl"));
    let mut single = String::new();
    for line in STORIES.lines() {
        sandbox.write("single.jsonl", line);
        single.push_str(sandbox.run("score single.jsonl --model model --format jsonl").succeeds().stdout());
    }
    assert_eq!(single, sandbox.read("one.jsonl"));
}

#[test]
fn the_signature_names_the_weights() {
    let run = with_model().run("score in.jsonl --model model --precision f32").succeeds();
    assert!(run.stdout().contains("union|model:unnamed|weights:"), "{}", run.stdout());
    assert!(run.stdout().contains("precision:f32"), "{}", run.stdout());
}

#[test]
fn an_explanation_is_shown_and_written() {
    let sandbox = with_model();
    let shown = sandbox.run("score in.jsonl --model model --explain").succeeds();
    assert!(shown.stdout().contains("a: union 0."), "{}", shown.stdout());
    assert!(shown.stdout().contains("wrong order"), "{}", shown.stdout());
    sandbox.run("score in.jsonl --model model --explain -o out.jsonl").succeeds();
    let first: serde_json::Value =
        serde_json::from_str(sandbox.read("out.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(first["explanation"]["sentences"].as_array().unwrap().len(), 2);
    assert_eq!(first["explanation"]["union"], first["scores"]["union"]);
}

#[test]
fn a_missing_or_broken_model_is_explained() {
    let sandbox = with_model();
    if StoredModel::embedded().is_err() {
        sandbox.run("score in.jsonl").fails_with("this build has no embedded model");
    }
    sandbox.run("score in.jsonl --model nowhere").fails_with("nowhere");
    sandbox.write("model/heads.safetensors", "short");
    sandbox.run("score in.jsonl --model model -o out.jsonl").fails_with("heads.safetensors");
    assert!(!sandbox.path("out.jsonl").exists());
    sandbox.run("score in.jsonl --model model --device cuda").fails_with("--device cuda");
}
