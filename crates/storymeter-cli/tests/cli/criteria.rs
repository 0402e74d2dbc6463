//! `storymeter score --metric criteria`, and what packs, averages and shows its models.

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};
use crate::tiny_model::{write_criteria_model, write_model};

/// Three stories: with a prompt, without one, and without words.
const STORIES: &str = r#"{"id": "a", "story": "Mira lost her red kite. She looked in the old barn. It hung there.", "prompt": "The lost kite."}
{"id": "b", "story": "Mira lost her red kite. She looked in the old barn. It hung there."}
{"id": "c", "story": "?! ...", "prompt": "The lost kite."}
"#;

/// Lines of held-out stories whose ratings follow outputs and cosine.
fn held_out(stories: std::ops::Range<usize>) -> String {
    let line = |n: usize| {
        let (raw, cosine) = ((n % 7) as f64 - 3.0, (n % 5) as f64 / 5.0);
        let rating = 3.0 + 0.05 * raw + 0.5 * cosine + 0.1 * (n % 3) as f64;
        let line = json!({
            "set": "rated", "id": n.to_string(), "item": (n % 8).to_string(), "system": null,
            "raw": {"relevance": raw, "coherence": raw},
            "cosine": cosine,
            "rating": {"relevance": rating, "coherence": rating},
        });
        format!("{line}\n")
    };
    stories.map(line).collect()
}

/// A sandbox with the folder `rated`, the packed and calibrated `rated.smq`, and `in.jsonl`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", STORIES);
    sandbox.write("one.jsonl", held_out(0..60));
    sandbox.write("two.jsonl", held_out(60..105));
    for folder in ["rated", "union", "installed"] {
        std::fs::create_dir(sandbox.path(folder)).unwrap();
    }
    write_criteria_model(&sandbox.path("rated"));
    write_model(&sandbox.path("union"));
    let packed = sandbox
        .run("model pack rated --calibrate-ratings one.jsonl two.jsonl -o rated.smq")
        .succeeds();
    assert!(
        packed.stderr().contains("calibrated on 105 stories of rated: relevance, coherence"),
        "{}",
        packed.stderr()
    );
    sandbox
}

fn lines(run: &Run) -> Vec<Value> {
    run.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_criterion_is_a_column_and_relevance_needs_the_prompt() {
    let sandbox = sandbox();
    let run = sandbox.run("score in.jsonl --model rated.smq --format jsonl").succeeds();
    let lines = lines(&run);
    for column in ["criteria/relevance", "criteria/coherence"] {
        let rating = lines[0]["scores"][column].as_f64().unwrap();
        assert!((1.0..=5.0).contains(&rating), "{rating}");
    }
    assert_eq!(lines[1]["scores"]["criteria/coherence"], lines[0]["scores"]["criteria/coherence"]);
    assert_eq!(lines[1]["scores"]["criteria/relevance"], Value::Null);
    assert_eq!(lines[1]["absent"], json!({"criteria/relevance": "the story has no prompt"}));
    let empty = "the text is empty";
    assert_eq!(
        lines[2]["absent"],
        json!({"criteria/relevance": empty, "criteria/coherence": empty})
    );
}

#[test]
fn the_option_interval_adds_its_ends() {
    let sandbox = sandbox();
    let run = sandbox
        .run("score in.jsonl --metric criteria:interval --model rated.smq -o out.jsonl")
        .succeeds();
    assert!(run.stdout().contains("criteria:interval/coherence-high"), "{}", run.stdout());
    let header: Value = serde_json::from_str(&sandbox.read("out.jsonl.meta.json")).unwrap();
    let keys: Vec<&str> = header["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["key"].as_str().unwrap())
        .collect();
    let expected = [
        "relevance",
        "relevance-low",
        "relevance-high",
        "coherence",
        "coherence-low",
        "coherence-high",
    ]
    .map(|name| format!("criteria:interval/{name}"));
    assert_eq!(keys, expected);
    assert_eq!(header["columns"][0]["range"], json!({"low": 1.0, "high": 5.0}));
    let first: Value =
        serde_json::from_str(sandbox.read("out.jsonl").lines().next().unwrap()).unwrap();
    let scores: Vec<f64> =
        keys[3..].iter().map(|key| first["scores"][key].as_f64().unwrap()).collect();
    assert!(scores[1] < scores[0] && scores[0] < scores[2], "{scores:?}");
}

#[test]
fn a_folder_and_its_file_score_alike() {
    let sandbox = sandbox();
    sandbox.run("model pack rated -o plain.smq").succeeds();
    let scores = |model: &str| {
        let line = format!("score in.jsonl --model {model} --format jsonl");
        sandbox.run(&line).succeeds().stdout().to_owned()
    };
    assert_eq!(scores("rated"), scores("plain.smq"));
    // A file that is packed again with ratings is the same as the folder packed with them.
    sandbox
        .run("model pack plain.smq --calibrate-ratings one.jsonl two.jsonl -o again.smq")
        .succeeds();
    assert_eq!(scores("again.smq"), scores("rated.smq"));
}

#[test]
fn a_model_is_used_by_the_metric_that_it_was_trained_for() {
    let sandbox = sandbox();
    let run = sandbox.run("score in.jsonl --metric union,criteria --model rated.smq").succeeds();
    assert!(run.stdout().contains("criteria|model:unnamed|weights:"), "{}", run.stdout());
    assert!(run.stdout().contains("union|model:union-compact|"), "{}", run.stdout());
    sandbox
        .run("score in.jsonl --metric criteria --weights criteria=rated.smq")
        .succeeds()
        .prints("criteria/relevance");
    sandbox.run("score in.jsonl --metric union --model rated.smq").fails_with(
        "--model rated.smq: none of the metrics reads this model; add criteria to --metric",
    );
    sandbox.run("score in.jsonl --metric distinct-1 --explain --model rated.smq").fails_with(
        "--model rated.smq: none of the metrics reads this model; add criteria to --metric",
    );
    let error = sandbox.run("score in.jsonl --metric criteria --weights criteria=union");
    let error = error.fails_with("was trained for the metric \"union\", not for \"criteria\"");
    assert!(error.stderr().contains("--metric union reads such a model"), "{}", error.stderr());
}

#[test]
fn a_program_without_the_model_says_where_it_was_looked_for() {
    let sandbox = sandbox();
    let place = [("STORYMETER_MODELS", "installed")];
    let line = "score in.jsonl --metric criteria --format jsonl";
    if storymeter_union::EmbeddedModel::Criteria.is_included() {
        let run = sandbox.run_with(line, &place).succeeds();
        assert_eq!(lines(&run)[0]["scores"].as_object().unwrap().len(), 7);
        return;
    }
    sandbox.run_with(line, &place).fails_with("criteria.smq is not in installed");
    std::fs::copy(sandbox.path("rated.smq"), sandbox.path("installed/criteria.smq")).unwrap();
    let run = sandbox.run_with(line, &place).succeeds();
    assert_eq!(lines(&run)[0]["scores"].as_object().unwrap().len(), 2);
}

#[test]
fn an_explanation_shows_intervals_and_leaves_sentences_to_programs() {
    let sandbox = sandbox();
    let run = sandbox.run("score in.jsonl --explain --model rated.smq").succeeds();
    let shown = run.stdout();
    assert!(shown.starts_with("How to read this: each criterion has the rating"), "{shown}");
    assert!(shown.contains("\na: criteria\n"), "{shown}");
    assert!(shown.contains("  relevance  absent: the story has no prompt\n"), "{shown}");
    assert!(shown.contains("\nc: no score, because the text is empty\n"), "{shown}");
    assert!(shown.contains("  (80% of such stories: "), "{shown}");

    let explained =
        sandbox.run("score in.jsonl --explain --model rated.smq --format jsonl").succeeds();
    let plain = sandbox.run("score in.jsonl --model rated.smq --format jsonl").succeeds();
    for (explained, plain) in lines(&explained).iter().zip(lines(&plain)) {
        assert_eq!(explained["scores"], plain["scores"]);
    }
    let first = &lines(&explained)[0]["explanation"]["criteria"];
    let coherence = &first["predictions"][1];
    assert_eq!(coherence["name"], "coherence");
    let quoted = coherence["lowers"]["text"].as_str().unwrap();
    assert!(STORIES.contains(quoted), "{quoted}");
    let sentences = first["sentences"].as_array().unwrap();
    assert_eq!(sentences.len(), 3);
    let parts: f64 = sentences.iter().map(|one| one["contributions"][1].as_f64().unwrap()).sum();
    let whole = coherence["base"].as_f64().unwrap() + parts;
    assert!((whole - coherence["prediction"].as_f64().unwrap()).abs() < 1e-5);
}

#[test]
fn union_and_criteria_explain_together() {
    let sandbox = sandbox();
    let line = "score in.jsonl --metric union,criteria --weights union=union --weights \
                criteria=rated.smq --explain";
    let run = sandbox.run(line).succeeds();
    assert!(run.stdout().contains("a: union 0."), "{}", run.stdout());
    assert!(run.stdout().contains("\ncriteria\n"), "{}", run.stdout());
    assert!(run.stdout().contains("\n  relevance  3."), "{}", run.stdout());
    let run = sandbox.run(&format!("{line} --format jsonl")).succeeds();
    let explanation = &lines(&run)[0]["explanation"];
    assert!(explanation["union"].is_number() && explanation["sentences"].is_array());
    assert_eq!(explanation["criteria"]["predictions"][0]["name"], "relevance");
}

#[test]
fn a_card_shows_criteria_calibration_and_training() {
    let sandbox = sandbox();
    let shown = sandbox.run("model show rated.smq").succeeds();
    // The first line has the fingerprint and the size, which depend on the weights.
    insta::assert_snapshot!(shown.stdout().lines().skip(1).collect::<Vec<_>>().join("\n"));
    sandbox
        .run("model show rated")
        .succeeds()
        .prints("  coherence    none     output, not calibrated\n");
    let json = sandbox.run("model show rated.smq --format json").succeeds();
    let json: Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["card"]["kind"], "criteria");
    assert_eq!(json["card"]["criteria"]["calibrated_on"]["stories"], 105);
    assert_eq!(json["sentences"]["name"], "bert");
    std::fs::rename(sandbox.path("rated.smq"), sandbox.path("installed/mine.smq")).unwrap();
    let list = sandbox.run_with("model list", &[("STORYMETER_MODELS", "installed")]).succeeds();
    let line = list.stdout().lines().find(|line| line.starts_with("mine ")).unwrap();
    assert!(line.ends_with("  criteria  no figures in its card"), "{line}");
}

#[test]
fn a_mean_of_criteria_models_must_be_calibrated_again() {
    let sandbox = sandbox();
    sandbox.run("model average rated rated -o mean").succeeds();
    sandbox.run("model show mean").succeeds().prints("not calibrated");
    sandbox.run("model pack mean --calibrate-ratings one.jsonl two.jsonl -o mean.smq").succeeds();
    let scores = |model: &str| {
        let line = format!("score in.jsonl --model {model} --format jsonl");
        sandbox.run(&line).succeeds().stdout().to_owned()
    };
    assert_eq!(scores("mean.smq"), scores("rated.smq"));
    sandbox
        .run("model average rated union -o other")
        .fails_with("the models read stories in different ways, or have different heads");
}

#[test]
fn what_cannot_be_calibrated_is_refused_before_anything_is_written() {
    let sandbox = sandbox();
    let refused = |options: &str, message: &str| {
        sandbox.run(&format!("model pack {options} -o out.smq")).fails_with(message);
        assert!(!sandbox.path("out.smq").exists());
    };
    refused(
        "union --calibrate-ratings one.jsonl",
        "--calibrate-ratings: union is for the metric union, which predicts no ratings",
    );
    refused("rated --calibrate in.jsonl", "was trained on ratings, and the calibration is for");
    refused("rated --temperature 2", "--temperature: rated predicts ratings");
    refused("rated --calibrate-ratings nowhere.jsonl", "nowhere.jsonl");
    refused("rated --calibrate-ratings one.jsonl --calibrate-set rate", "did you mean \"rated\"?");
    refused("rated --calibrate-ratings one.jsonl --scale 1,2", "is not on the scale 1 to 2");
    refused("rated --calibrate-ratings one.jsonl --scale 5,1", "the lower one first: 1,5");
    sandbox.write("few.jsonl", held_out(0..19));
    refused("rated --calibrate-ratings few.jsonl", "there are 19 rated stories with a prompt");
    sandbox.write("bad.jsonl", format!("{}{{\"set\": 3}}\n", held_out(0..30)));
    refused("rated --calibrate-ratings bad.jsonl", "bad.jsonl:31: this is not a held-out story");
    sandbox.write("empty.jsonl", "\n");
    refused("rated --calibrate-ratings empty.jsonl", "there is no held-out story");
    sandbox
        .run("model pack rated --calibrate-ratings one.jsonl -o one.jsonl")
        .fails_with("writing it would destroy the input");
}

#[test]
fn hostile_stories_get_a_prediction_or_a_reason() {
    let sandbox = sandbox();
    let long = "the kite was red and Mira lost it. ".repeat(6250);
    let story =
        |text: &str, prompt: &str| format!("{}\n", json!({"story": text, "prompt": prompt}));
    let input = [
        story("", ""),
        story("\u{1f327}\u{1f327}", "\u{1f327}"),
        story("\u{1b}[2J kite", "\u{202e}kite"),
        story(&long, " "),
        story("kite", &long),
        story(&"kite".repeat(10_000), "a"),
    ];
    sandbox.write("hostile.jsonl", input.concat());
    let run = sandbox.run("score hostile.jsonl --model rated.smq --format jsonl").succeeds();
    let lines = lines(&run);
    assert_eq!(lines.len(), 6);
    for line in &lines {
        for key in ["criteria/relevance", "criteria/coherence"] {
            let value = &line["scores"][key];
            assert!(value.is_number() || line["absent"][key].is_string(), "{line}");
        }
    }
    assert!(lines[3]["scores"]["criteria/coherence"].is_number());
    assert!(lines[4]["scores"]["criteria/relevance"].is_number());
    let one_thread =
        sandbox.run("score hostile.jsonl --model rated.smq --format jsonl --threads 1").succeeds();
    assert_eq!(one_thread.stdout(), run.stdout());
    let shown = sandbox.run("score hostile.jsonl --model rated.smq --explain").succeeds();
    assert!(!shown.stdout().contains('\u{1b}'));
}

#[test]
fn a_damaged_model_is_refused() {
    let sandbox = sandbox();
    let file = std::fs::read(sandbox.path("rated.smq")).unwrap();
    sandbox.write("cut.smq", &file[..file.len() / 2]);
    sandbox.run("score in.jsonl --model cut.smq").fails_with("it was cut short or changed");
    std::fs::remove_file(sandbox.path("rated/heads.safetensors")).unwrap();
    sandbox.run("score in.jsonl --model rated").fails_with("heads.safetensors");
}
