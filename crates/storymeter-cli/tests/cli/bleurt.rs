//! `storymeter train --kind bleurt` with a tiny encoder, and the metric `bleurt` with its result.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, repository};

const CONFIG: &str = "epochs = 2\nbatch = 8\nlearning_rate = 3e-3\n";
const TRAIN: &str = "train --kind bleurt --rated rated.jsonl --init encoder --config run.toml";

/// A sandbox with `encoder/`, `run.toml`, the stories `rated.jsonl`, the same in UNION's layout
/// without references (`union.txt`), and the references alone (`references.txt`).
fn with_ratings(encoder: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("encoder")).unwrap();
    for file in ["config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"] {
        let from = repository("crates/storymeter-encoder/tests/fixtures").join(encoder).join(file);
        std::fs::copy(from, sandbox.path("encoder").join(file)).unwrap();
    }
    let (mut jsonl, mut union, mut references) = (String::new(), String::new(), String::new());
    for i in 0..60 {
        let who = ["Mira", "Ana", "Zoe", "her brother"][i % 4];
        let how = ["old", "red", "far", "odd"][i / 4 % 4];
        let (story, rating) = match i % 2 {
            0 => (format!("{who} lost her {how} kite. They flew it again."), 1),
            _ => (format!("{who} burned the {how} bread. No one came to the cafe."), 0),
        };
        let reference = format!("{who} looked in the {how} barn. It hung in the barn.");
        let line = json!({
            "id": i.to_string(), "story": story, "reference": reference, "human": {"human": rating},
        });
        jsonl.push_str(&format!("{line}\n"));
        union.push_str(&format!("{i} ||| {story} ||| {rating} {rating}\n"));
        references.push_str(&format!("{reference}\n"));
    }
    sandbox.write("rated.jsonl", jsonl);
    sandbox.write("union.txt", union);
    sandbox.write("references.txt", references);
    sandbox.write("run.toml", CONFIG);
    sandbox
}

/// The files of a model folder and their bytes, without the log, which has times.
fn model_files(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(sandbox.path(folder)).unwrap();
    let entries = entries.map(|entry| entry.unwrap()).map(|entry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    });
    entries.filter(|(name, _)| !name.starts_with("train.jsonl") && !name.starts_with('.')).collect()
}

#[test]
fn a_model_is_trained_and_scores_as_a_metric() {
    let sandbox = with_ratings("bert");
    let run = sandbox.run(&format!("{TRAIN} -o model --seed 3")).succeeds();
    assert!(run.stderr().contains("pairs of a reference and a story to learn from"));
    assert!(run.stderr().contains("the model has no pooler"), "{}", run.stderr());
    let table: Vec<&str> = run.stdout().lines().collect();
    assert_eq!(table[0], "epoch  train loss  dev loss   kendall   pearson");
    let usage = "storymeter score FILE --metric bleurt --weights bleurt=model";
    assert!(table[3].starts_with("model has the model of epoch") && table[3].ends_with(usage));
    let log = sandbox.read("model/train.jsonl");
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "step", "epoch", "step", "epoch", "end"]);
    assert_eq!(events[0]["settings"]["seed"], 3);
    assert!(events[2]["dev"]["kendall"].is_f64() && events[2]["train"]["loss"].is_f64());

    let score = "score rated.jsonl --metric bleurt --weights bleurt=model -o scores.jsonl";
    sandbox.run(score).succeeds();
    let scores: Vec<f64> = sandbox
        .read("scores.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["scores"]["bleurt"].clone())
        .map(|score| score.as_f64().unwrap())
        .collect();
    let mean = |first: usize| scores.iter().skip(first).step_by(2).sum::<f64>() / 30.0;
    assert!(mean(0) > mean(1) + 0.03, "good stories {}, bad ones {}", mean(0), mean(1));
    sandbox.run("report model/train.jsonl -o report.html").succeeds();
    assert!(sandbox.read("report.html").contains("dev.kendall"));
}

#[test]
fn a_resumed_run_gives_the_same_bytes_and_nothing_is_overwritten_by_mistake() {
    let sandbox = with_ratings("bert");
    sandbox.run(&format!("{TRAIN} -o whole")).succeeds();
    sandbox.run(&format!("{TRAIN} -o again")).succeeds();
    let again =
        "the folder already has a model; --resume continues it, and --overwrite starts anew";
    sandbox.run(&format!("{TRAIN} -o again")).fails_with(again);
    let run = sandbox.run(&format!("{TRAIN} -o again --resume")).succeeds();
    assert!(run.stderr().contains("2 epochs are done already"), "{}", run.stderr());
    assert!(model_files(&sandbox, "whole") == model_files(&sandbox, "again"));
    let other = "the checkpoint in again belongs to a run with other settings";
    sandbox.run(&format!("{TRAIN} -o again --resume --seed 9")).fails_with(other);
    sandbox.run(&format!("{TRAIN} -o again --overwrite")).succeeds();
    assert!(model_files(&sandbox, "whole") == model_files(&sandbox, "again"));
}

#[test]
fn references_may_be_a_file_of_their_own() {
    let sandbox = with_ratings("bert");
    sandbox.run(&format!("{TRAIN} -o one --epochs 1")).succeeds();
    let line = "train --kind bleurt --init encoder --config run.toml --epochs 1";
    let rated = "--rated union.txt --input-format union";
    sandbox
        .run(&format!("{line} {rated} -o two"))
        .fails_with("story 1 (id \"0\") has no reference");
    let short = sandbox.read("references.txt").lines().skip(1).collect::<Vec<_>>().join("\n");
    sandbox.write("short.txt", short);
    let few = "short.txt: there are 59 references for 60 rated stories";
    sandbox.run(&format!("{line} {rated} --references short.txt -o two")).fails_with(few);
    sandbox.run(&format!("{line} {rated} --references references.txt -o two")).succeeds();
    let weights = |folder: &str| model_files(&sandbox, folder)["model.safetensors"].clone();
    assert!(weights("one") == weights("two"), "the same stories give the same model");
}

#[test]
fn settings_are_printed_and_explained_and_bad_input_is_named() {
    let sandbox = with_ratings("distilbert");
    let run = sandbox.run("train --kind bleurt --print-config --epochs 7").succeeds();
    assert!(run.stdout().contains("\nepochs = 7\n"), "{}", run.stdout());
    assert!(run.stdout().contains("# The highest learning rate.\nlearning_rate = "));
    sandbox.run(&format!("{TRAIN} -o model")).fails_with("neither a BERT nor an MPNet");
    assert!(!sandbox.path("model/model.safetensors").exists());
    sandbox.write("run.toml", "\nbatch = 0\n");
    let fault = "run.toml:2: field \"batch\": must be from 1 to 65536, but is 0";
    sandbox.run(&format!("{TRAIN} -o model")).fails_with(fault);
    let stories = "--kind bleurt has no option --stories";
    sandbox
        .run("train --kind bleurt --stories rated.jsonl --init encoder -o model")
        .fails_with(stories);
    let rated = "--kind union has no option --rated";
    sandbox.run("train --kind union --rated rated.jsonl --init encoder -o model").fails_with(rated);
    let metric = "score rated.jsonl --metric bleurt --weights bleurt=encoder";
    sandbox.run(metric).fails_with("the model encoder does not fit: it has no pooler");
}
