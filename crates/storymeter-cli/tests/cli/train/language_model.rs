//! `storymeter train --kind language-model` with a tiny GPT-2, whose tokens are bytes.

use super::*;

const CONFIG: &str = "epochs = 3\nlearning_rate = 2e-2\nmax_tokens = 100\nwarm_up = 0.1\n";
const TRAIN: &str =
    "train --kind language-model --stories stories.tsv --init gpt2 --config lm.toml -o lm";

/// A sandbox with `gpt2/`, `stories.tsv`, `lm.toml` and the held-out stories `held.jsonl`.
fn with_gpt2() -> Sandbox {
    let sandbox = with_stories(120);
    std::fs::create_dir(sandbox.path("gpt2")).unwrap();
    for file in ["config.json", "model.safetensors", "vocab.json", "merges.txt"] {
        let from = repository("crates/storymeter-encoder/tests/fixtures/gpt2").join(file);
        std::fs::copy(from, sandbox.path("gpt2").join(file)).unwrap();
    }
    sandbox.write("lm.toml", CONFIG);
    let held = |text: &str| format!("{}\n", serde_json::json!({ "story": text }));
    let stories =
        ["Zoe lost her old kite. It hung in the barn.", "They flew it again. Ana helped her."];
    sandbox.write("held.jsonl", stories.map(held).concat());
    sandbox
}

/// The mean perplexity of the held-out stories by a model.
fn perplexity(sandbox: &Sandbox, model: &str) -> f64 {
    let run = format!(
        "score held.jsonl --metric perplexity --weights perplexity={model} -o {model}.jsonl"
    );
    sandbox.run(&run).succeeds();
    let scores = log(sandbox, &format!("{model}.jsonl"));
    let scores: Vec<f64> =
        scores.iter().map(|line| line["scores"]["perplexity"].as_f64().unwrap()).collect();
    assert_eq!(scores.len(), 2);
    scores.iter().sum::<f64>() / 2.0
}

#[test]
fn a_language_model_is_fine_tuned_and_knows_such_stories_better_than_before() {
    let sandbox = with_gpt2();
    let run = sandbox.run(TRAIN).succeeds();
    let table: Vec<&str> = run.stdout().lines().collect();
    assert_eq!(table[0], "epoch  train loss  dev loss  perplexity");
    assert_eq!(
        table[4],
        "lm has the model of epoch 3: storymeter score FILE --metric perplexity --weights \
         perplexity=lm"
    );
    let (before, after) = (perplexity(&sandbox, "gpt2"), perplexity(&sandbox, "lm"));
    assert!(before > 100.0, "an untrained model guesses among 257 tokens: {before}");
    assert!(after < before / 5.0, "{before} before, {after} after");

    let log = log(&sandbox, "lm/train.jsonl");
    let epochs = of_kind(&log, "epoch");
    assert_eq!(epochs.len(), 3);
    assert!(epochs[2]["dev"]["perplexity"].as_f64() < epochs[0]["dev"]["perplexity"].as_f64());
    let start = of_kind(&log, "start")[0];
    assert_eq!(start["kind"], "language-model");
    assert_eq!(start["settings"]["epochs"], 3);

    // The folder is not overwritten by mistake, and the run can be continued.
    sandbox.run(TRAIN).fails_with("lm: the folder already has a model");
    let bytes = std::fs::read(sandbox.path("lm/model.safetensors")).unwrap();
    sandbox.run(&format!("{TRAIN} --resume")).succeeds();
    assert!(bytes == std::fs::read(sandbox.path("lm/model.safetensors")).unwrap());
}

#[test]
fn settings_are_explained_and_what_does_not_fit_is_refused() {
    let sandbox = with_gpt2();
    let run = sandbox.run("train --kind language-model --print-config --epochs 4").succeeds();
    assert!(run.stdout().contains("\nlearning_rate = 0.00005\n"), "{}", run.stdout());
    assert!(run.stdout().contains("\nepochs = 4\n"), "{}", run.stdout());
    let explained = "# The largest number of tokens in a story, the token that begins it included.";
    assert!(run.stdout().contains(explained), "{}", run.stdout());

    sandbox
        .run(&TRAIN.replace("--init gpt2", "--init encoder"))
        .fails_with("encoder: a model of the type bert is not a causal language model");
    sandbox
        .run(&format!("{TRAIN} --teacher gpt2"))
        .fails_with("--kind language-model has no option --teacher");
    sandbox.write("lm.toml", "learning_rate = 0\n");
    sandbox.run(TRAIN).fails_with("lm.toml:1: field \"learning_rate\": must be from");
}
