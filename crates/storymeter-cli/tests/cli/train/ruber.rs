//! `storymeter train --kind ruber`, from stories to scores.

use super::{log, of_kind, with_stories};

const TRAIN: &str = "train --kind ruber --stories stories.tsv more.jsonl --init encoder";

#[test]
fn a_trained_folder_scores_and_is_not_overwritten_by_mistake() {
    let sandbox = with_stories(120);
    sandbox.write("run.toml", "epochs = 3\nlearning_rate = 1e-3\nbatch = 16\n");
    let run = sandbox.run(&format!("{TRAIN} --config run.toml -o ruber")).succeeds();
    let table = run.stdout();
    assert!(table.starts_with("epoch  train loss  dev loss  accuracy\n"), "{table}");
    let hint = "storymeter score FILE --metric ruber --weights ruber=ruber\n";
    assert!(table.ends_with(hint), "{table}");
    assert!(run.stderr().contains("stories to learn from"), "{}", run.stderr());
    let lines = log(&sandbox, "ruber/train.jsonl");
    assert_eq!(lines[0]["event"], "start");
    assert_eq!(lines[0]["settings"]["batch"], 16);
    let epochs = of_kind(&lines, "epoch");
    assert_eq!(epochs.len(), 3);
    assert!(epochs[0]["dev"]["loss"].is_f64() && epochs[0]["train"]["loss"].is_f64());
    assert_eq!(lines.last().unwrap()["event"], "end");
    sandbox.run("report ruber/train.jsonl -o page.html").succeeds();

    let story = serde_json::json!({
        "story": "Mira lost her old kite. They flew it again.",
        "reference": "Zoe lost her odd kite. It hung in the barn.",
    });
    sandbox.write("in.jsonl", format!("{story}\n{{\"story\": \"They flew it again.\"}}\n"));
    let run = sandbox.run("score in.jsonl --metric ruber --weights ruber=ruber --format jsonl");
    let first: serde_json::Value =
        serde_json::from_str(run.succeeds().stdout().lines().next().unwrap()).unwrap();
    for column in ["ruber/r", "ruber/u", "ruber/hybrid"] {
        assert!(first["scores"][column].is_f64(), "{first}");
    }

    sandbox.write("union.toml", "max_tokens = 48\n");
    sandbox.run(&format!("{TRAIN} -o ruber")).fails_with("the folder already has a model");
    sandbox
        .run("train --stories stories.tsv --init encoder --config union.toml -o ruber")
        .fails_with("the folder already has a model");
    sandbox.run(&format!("{TRAIN} -o ruber --epochs 1 --overwrite")).succeeds();
    assert_eq!(of_kind(&log(&sandbox, "ruber/train.jsonl"), "epoch").len(), 1);
}

#[test]
fn settings_are_printed_with_their_meaning_and_errors_name_the_place() {
    let sandbox = with_stories(60);
    let run = sandbox.run("train --kind ruber --print-config --seed 7").succeeds();
    let printed = run.stdout();
    assert!(printed.contains("seed = 7\n\n# The largest number of passes"), "{printed}");
    assert!(printed.contains("pooling = \"max\"\n"), "{printed}");
    let fails = |config: &str, message: &str| {
        sandbox.write("run.toml", config);
        sandbox.run(&format!("{TRAIN} --config run.toml -o ruber")).fails_with(message);
    };
    fails("seed = 1\nepoch = 3\n", "run.toml:2: field \"epoch\": unknown field `epoch`");
    fails("clip = -1.0\n", "run.toml:1: field \"clip\": must be from 0.000001 to 1000000");
    fails("pooling = \"min\"\n", "field \"pooling\": must be \"max\" or \"mean\"");
    assert!(!sandbox.path("ruber").exists(), "nothing is left");
}

#[test]
fn what_ruber_does_not_have_is_refused() {
    let sandbox = with_stories(60);
    let fails = |more: &str, message: &str| {
        sandbox.run(&format!("{TRAIN} -o ruber {more}")).fails_with(message);
    };
    fails("--resume", "it keeps no checkpoints, and always starts anew");
    fails("--preset paper", "--kind ruber has no option --preset");
    fails("--without-technique negation", "--kind ruber has no option --without-technique");
    fails("--device cuda --devices 0,1", "trained on one GPU");
    fails("--log ruber/ruber.json", "the model has a file of this name");
    let few = with_stories(5);
    few.run("train --kind ruber --stories stories.tsv --init encoder -o ruber")
        .fails_with("examples to learn from and 0 to choose the best epoch by");
    assert!(!few.path("ruber").exists(), "nothing is left");
}
