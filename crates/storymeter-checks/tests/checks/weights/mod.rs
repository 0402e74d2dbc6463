//! Metrics and readers with the weights of real models, which `tools/test_weights.py` fetches.
//! `STORYMETER_TEST_WEIGHTS` names their folder.

mod bertscore;
mod embedding;
mod glove;
mod infolm;
mod perplexity;
#[path = "../../../../storymeter-neural/tests/neural/scoring.rs"]
mod scoring;
mod sentences;
mod smollm2;
mod supert;
#[path = "../../../../storymeter-neural/tests/neural/support.rs"]
mod support;

use std::path::{Path, PathBuf};

use storymeter_checks::Check;

/// All checks of this folder, by file.
pub const CHECKS: &[(&str, &[Check])] = &[
    ("bertscore", bertscore::CHECKS),
    ("embedding", embedding::CHECKS),
    ("glove", glove::CHECKS),
    ("infolm", infolm::CHECKS),
    ("perplexity", perplexity::CHECKS),
    ("sentences", sentences::CHECKS),
    ("smollm2", smollm2::CHECKS),
    ("supert", supert::CHECKS),
];

fn neural() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-neural")
}

/// A fixture of storymeter-neural.
fn fixture(name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(neural().join("tests/fixtures").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The project's own stories, by id.
fn examples() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(neural().join("../../examples/stories.jsonl")).unwrap();
    let story = |line: &str| {
        let story: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| story[name].as_str().unwrap().to_owned();
        (field("id"), field("story"))
    };
    text.lines().map(story).collect()
}
