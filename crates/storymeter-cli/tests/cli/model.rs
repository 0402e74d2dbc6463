//! `storymeter model`: pack, list, show, average and pull from a folder.

mod pull;
mod safety;

use crate::sandbox::Sandbox;
use crate::tiny_model::write_model;

const ABOUT: &str = r#"{
  "name": "tiny", "summary": "A model for tests.", "licence": "MIT", "recipe": "none",
  "sources": [{"name": "nothing", "licence": "free", "note": "Random weights."}],
  "notes": ["Figures made up for a test."], "limits": ["It knows nothing."],
  "not_for": ["Anything."]
}"#;

const FIGURES: &str = r#"{"signature": "x",
  "agreement": [{"set": "no set", "criterion": "none", "level": "pooled", "metric": "union", "n": 3,
    "pearson": {"value": 0.5, "low": 0.25, "high": 0.75},
    "spearman": {"value": 0.5, "low": 0.25, "high": 0.75},
    "kendall": {"value": 0.5, "low": 0.25, "high": 0.75}}],
  "diagnosis": [{"output": "repetition", "error": "repeated plots", "positives": 2, "auc": 0.9,
  "auc_reasonable": 0.95}]}"#;

/// A sandbox with a trained folder `model`, a source `shop` with the packed `tiny.smq`, and
/// `in.jsonl`.
fn with_shop() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "in.jsonl",
        "{\"story\": \"Mira lost her red kite. She looked in the old barn.\"}\n",
    );
    sandbox.write("about.json", ABOUT);
    sandbox.write("figures.json", FIGURES);
    for folder in ["model", "shop", "installed"] {
        std::fs::create_dir(sandbox.path(folder)).unwrap();
    }
    write_model(&sandbox.path("model"));
    sandbox
        .run("model pack model --about about.json --figures figures.json -o shop/tiny.smq")
        .succeeds();
    sandbox.run("model manifest shop").succeeds();
    sandbox
}

#[test]
fn a_packed_model_scores_like_its_folder_and_shows_its_card() {
    let sandbox = with_shop();
    let scores = |model: &str| {
        let line = format!("score in.jsonl --model {model} --format jsonl");
        sandbox.run(&line).succeeds().stdout().to_owned()
    };
    assert_eq!(scores("model"), scores("shop/tiny.smq"));
    let shown = sandbox.run("model show shop/tiny.smq").succeeds();
    // The first line has the fingerprint and the size, which depend on the weights.
    let shown = shown.stdout().lines().skip(1).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown);
    let json = sandbox.run("model show shop/tiny.smq --format json").succeeds();
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["card"]["about"]["name"], "tiny");
    assert_eq!(json["card"]["about"]["diagnosis"][0]["auc"], 0.9);
}

#[test]
fn a_model_that_is_pulled_is_listed_and_scores_by_its_name() {
    let sandbox = with_shop();
    let place = [("STORYMETER_MODELS", "installed")];
    sandbox.run_with("model show tiny", &place).fails_with("there is no model \"tiny\"");
    sandbox.run_with("model pull tiny --from shop", &place).succeeds();
    assert_eq!(bytes(&sandbox, "installed/tiny.smq"), bytes(&sandbox, "shop/tiny.smq"));
    let list = sandbox.run_with("model list", &place).succeeds();
    assert!(list.stdout().contains("tiny"), "{}", list.stdout());
    assert!(
        list.stdout().contains("no set: r 0.500, rho 0.500, tau 0.500 (n = 3)"),
        "{}",
        list.stdout()
    );
    let json = sandbox.run_with("model list --format json", &place).succeeds();
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    let names: Vec<&str> =
        json.as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["union-compact", "criteria", "tiny"]);
    let embedded = json.as_array().unwrap().iter().map(|model| model["embedded"].clone());
    assert_eq!(embedded.collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(json[2]["metric"], "union");
    let scored = sandbox.run_with("score in.jsonl --model tiny", &place).succeeds();
    assert!(scored.stdout().contains("union|model:tiny|weights:"), "{}", scored.stdout());
    let again = sandbox.run_with("model pull tiny --from shop", &place).succeeds();
    assert!(again.stdout().contains("is up to date"), "{}", again.stdout());
}

#[test]
fn what_cannot_be_pulled_is_explained_and_nothing_is_installed() {
    let sandbox = with_shop();
    let place = [("STORYMETER_MODELS", "installed")];
    let refused = |line: &str, message: &str| {
        sandbox.run_with(line, &place).fails_with(message);
        assert!(!sandbox.path("installed/tiny.smq").exists());
    };
    refused("model pull tiny", "there is no public source of models yet");
    refused("model pull large --from shop", "has no model \"large\"; it has: tiny");
    refused("model pull tiny --from nowhere", "nowhere/manifest.json");
    refused("model pull tiny --from ftp://shop", "ftp is not supported; use file, http or https");
    // No server listens at port 1 of this machine.
    refused(
        "model pull tiny --from http://127.0.0.1:1",
        "http://127.0.0.1:1/manifest.json: cannot be reached",
    );

    let mut file = bytes(&sandbox, "shop/tiny.smq");
    let last = file.len() - 1;
    file[last] ^= 1;
    sandbox.write("shop/tiny.smq", &file);
    refused("model pull tiny --from shop", "but the manifest says");
    assert_eq!(std::fs::read_dir(sandbox.path("installed")).unwrap().count(), 0, "no rest stays");
    sandbox.write("shop/tiny.smq", &file[..last]);
    let sizes = format!("it has {last} bytes, but the manifest says {}", last + 1);
    refused("model pull tiny --from shop", &sizes);
    sandbox.write("shop/tiny.smq", "");
    refused("model pull tiny --from shop", "shop/tiny.smq: it has 0 bytes");
    assert_eq!(std::fs::read_dir(sandbox.path("installed")).unwrap().count(), 0, "no rest stays");
    sandbox.write(
        "shop/manifest.json",
        r#"{"format": 1, "models": [{"name": "tiny", "file": "../in.jsonl",
        "bytes": 1, "sha256": "00"}]}"#,
    );
    refused("model pull tiny --from shop", "is not a plain name");
    sandbox.write("shop/manifest.json", "[]");
    refused("model pull tiny --from shop", "not a manifest");
}

#[test]
fn a_damaged_model_file_is_refused_by_score() {
    let sandbox = with_shop();
    let file = bytes(&sandbox, "shop/tiny.smq");
    sandbox.write("cut.smq", &file[..file.len() / 2]);
    sandbox.run("score in.jsonl --model cut.smq").fails_with("it was cut short or changed");
    sandbox.write(
        "other.smq",
        "something else entirely, which is no model at all, and long enough to have a head",
    );
    sandbox
        .run("score in.jsonl --model other.smq")
        .fails_with("other.smq: not a model file of storymeter");
    sandbox
        .run("score in.jsonl --model shop/tiny.smq --precision f32")
        .fails_with("cannot compute in f32");
    sandbox.run("model pack nowhere -o x.smq").fails_with("nowhere");
    assert!(!sandbox.path("x.smq").exists());
}

fn bytes(sandbox: &Sandbox, name: &str) -> Vec<u8> {
    std::fs::read(sandbox.path(name)).unwrap()
}

#[test]
fn the_mean_of_models_is_a_model_and_only_alike_ones_have_one() {
    let sandbox = with_shop();
    let made = sandbox.run("model average model model -o mean").succeeds();
    assert!(made.stdout().contains("mean: the mean of 2 models, weights "), "{}", made.stdout());
    // The mean of a model and itself is the model.
    let weights = |folder: &str| bytes(&sandbox, &format!("{folder}/model.safetensors"));
    assert!(weights("mean") == weights("model"));
    sandbox
        .run("model average model model -o mean")
        .fails_with("mean: the folder already has a model");
    let card = String::from_utf8(bytes(&sandbox, "mean/storymeter.json")).unwrap();
    sandbox.write(
        "mean/storymeter.json",
        card.replace("\"pooling\": \"cls\"", "\"pooling\": \"mean\""),
    );
    let error = "the models read stories in different ways, or have different heads";
    sandbox.run("model average model mean -o other").fails_with(error);
    assert!(!sandbox.path("other").exists());
    sandbox
        .run("model pack model --temperature 0 -o t.smq")
        .fails_with("the temperature must be a positive number");
    sandbox.run("model pack model --temperature 3 -o t.smq").succeeds();
    let json = sandbox.run("model show t.smq --format json").succeeds();
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["card"]["temperature"], 3.0);
}

#[test]
fn a_model_file_can_be_packed_again_and_calibrated_on_stories() {
    let sandbox = with_shop();
    let shown = |file: &str| -> serde_json::Value {
        let run = sandbox.run(&format!("model show {file} --format json")).succeeds();
        serde_json::from_str(run.stdout()).unwrap()
    };
    sandbox.run("model pack shop/tiny.smq --figures figures.json -o same.smq").succeeds();
    let (old, same) = (shown("shop/tiny.smq"), shown("same.smq"));
    assert_eq!(old["fingerprint"], same["fingerprint"], "the scores are the same");
    assert_ne!(old["card"]["about"]["agreement"], same["card"]["about"]["agreement"]);

    // Calibrated again on other stories, the embedded model gets a similar temperature.
    let mut stories = String::new();
    for i in 0..30 {
        for line in examples().lines() {
            let mut story: serde_json::Value = serde_json::from_str(line).unwrap();
            if story["system"] == "author" {
                story["id"] = format!("{i}-{}", story["id"]).into();
                stories += &format!("{story}\n");
            }
        }
    }
    sandbox.write("human.jsonl", stories);
    let root =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/union-compact.smq");
    sandbox.write("small.smq", std::fs::read(root).unwrap());
    sandbox.run("model pack small.smq --calibrate human.jsonl -o again.smq").succeeds();
    let (old, new) = (shown("small.smq"), shown("again.smq"));
    let temperature = |model: &serde_json::Value| model["card"]["temperature"].as_f64().unwrap();
    assert!(
        (temperature(&new) / temperature(&old)).ln().abs() < 1.5,
        "{} {}",
        old["card"],
        new["card"]
    );
    assert_ne!(old["fingerprint"], new["fingerprint"], "the scores differ");
    sandbox
        .run("model pack small.smq --repetition -1 -o none.smq")
        .fails_with("unexpected argument");
    sandbox
        .run("model pack small.smq --repetition nan -o none.smq")
        .fails_with("--repetition NaN: the weight of repetition must be 0 or more");
    sandbox.run("model pack small.smq --repetition 5 -o strict.smq").succeeds();
    assert_ne!(shown("strict.smq")["fingerprint"], old["fingerprint"], "the scores differ");
    // The temperature can be softened, and the windows can have another size.
    sandbox.run("model pack small.smq --calibrate human.jsonl --soften 3 -o soft.smq").succeeds();
    assert_eq!(temperature(&shown("soft.smq")), 3.0 * temperature(&new));
    sandbox
        .run("model pack small.smq --calibrate human.jsonl --soften 0 -o none.smq")
        .fails_with("--soften 0: the factor must be a positive number");
    sandbox.run("model pack small.smq --window 64 -o narrow.smq").succeeds();
    assert_eq!(shown("narrow.smq")["card"]["max_tokens"], 64);
    assert_eq!(
        shown("narrow.smq")["fingerprint"],
        old["fingerprint"],
        "the window stands in signatures by itself"
    );
    sandbox
        .run("model pack small.smq --window 9999 -o none.smq")
        .fails_with("the encoder reads 8 to 512 tokens");
    sandbox
        .run("model pack small.smq --calibrate in.jsonl -o none.smq")
        .fails_with("cannot be calibrated");
    assert!(!sandbox.path("none.smq").exists());
}

fn examples() -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("examples/stories.jsonl")).unwrap()
}
