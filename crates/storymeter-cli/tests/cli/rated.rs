//! `storymeter train --rated` with a tiny encoder, from the ratings to predicted ratings.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, repository};

const TRAIN: &str = "train --rated shop.jsonl school.jsonl --criteria map.toml --init encoder \
                     --sentences encoder --config run.toml";

/// A sandbox with `encoder/`, `run.toml`, `map.toml`, and two sets of rated stories with different
/// scales and names of criteria.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("encoder")).unwrap();
    for file in ["config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"] {
        let from = repository("crates/storymeter-encoder/tests/fixtures/bert").join(file);
        std::fs::copy(from, sandbox.path("encoder").join(file)).unwrap();
    }
    for (name, criterion, scale) in [("shop", "coherence", 4.0), ("school", "sense", 90.0)] {
        let story = |i: usize| {
            let who = ["Mira", "Ana", "Zoe", "her brother"][i % 4];
            let (story, good) = match i % 2 {
                0 => (format!("{who} lost her red kite. They flew it again."), 1.0),
                _ => (format!("{who} burned the old bread. No one came to the cafe."), 0.0),
            };
            let rating = 1.0 + scale * (0.2 + 0.6 * good + 0.02 * (i % 5) as f64);
            let line = json!({
                "id": format!("{name}-{i}"), "item": (i / 2).to_string(), "story": story,
                "prompt": "The lost kite.", "human": {criterion: [rating, rating]},
            });
            format!("{line}\n")
        };
        sandbox.write(&format!("{name}.jsonl"), (0..80).map(story).collect::<String>());
    }
    sandbox.write("map.toml", "[school]\nsense = \"coherence\"\n");
    sandbox.write("run.toml", "epochs = 3\nbatch = 8\nlearning_rate = 3e-3\nmax_tokens = 40\n");
    sandbox
}

#[test]
fn ratings_become_a_model_that_predicts_them_on_the_scale_of_a_set() {
    let sandbox = sandbox();
    let run = sandbox.run(&format!("{TRAIN} --fold 1/4 -o fold")).succeeds();
    assert!(run.stdout().contains("storymeter score FILE --metric criteria --model fold"));
    assert!(run.stderr().contains(" 40 left out"), "{}", run.stderr());
    let pack = "model pack fold --calibrate-ratings fold/held-out.jsonl --calibrate-set shop";
    sandbox.run(&format!("{pack} -o shop.smq")).succeeds();
    sandbox.run("score shop.jsonl --model shop.smq -o scores.jsonl").succeeds();
    let scores: Vec<f64> = sandbox
        .read("scores.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["scores"]["criteria/coherence"].as_f64().unwrap())
        .collect();
    let mean = |odd: usize| scores.iter().skip(odd).step_by(2).sum::<f64>() / 40.0;
    assert!(mean(0) > 3.5 && mean(1) < 2.5, "{} {}", mean(0), mean(1));
    assert!(scores.iter().all(|score| (1.0..=5.0).contains(score)));
}

#[test]
fn a_wrong_set_criterion_or_fold_is_named() {
    let sandbox = sandbox();
    sandbox.run(&format!("{TRAIN} --leave-out shopp -o m")).fails_with("there is no set \"shopp\"");
    sandbox.run(&format!("{TRAIN} --fold 5/4 -o m")).fails_with("a fold is I/N");
    sandbox.write("map.toml", "[school]\nlogic = \"coherence\"\n");
    sandbox.run(&format!("{TRAIN} -o m")).fails_with("\"logic\"");
    sandbox.write("map.toml", "[school]\nsense = 3\n");
    sandbox.run(&format!("{TRAIN} -o m")).fails_with("map.toml:2");
    sandbox.write("map.toml", "");
    sandbox.write("school.jsonl", "{\"id\": \"7\", \"story\": \"Ken woke up.\"}\n");
    sandbox.run(&format!("{TRAIN} -o m")).fails_with("story 1 (id \"7\") has no rating");
    assert!(!sandbox.path("m/storymeter.json").exists());
    let run = sandbox.run("train --kind criteria --print-config").succeeds();
    assert!(run.stdout().contains("\nunion_share_overall = 0.0\n"), "{}", run.stdout());
}
