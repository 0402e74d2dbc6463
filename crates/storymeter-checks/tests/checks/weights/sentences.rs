//! The similarity of a prompt and a story by MiniLM, against PyTorch and transformers
//! (`sentences.json` of storymeter-union, made by `tools/sentence_fixtures.py`).

use serde_json::Value;
use storymeter_checks::{Result, weights};
use storymeter_core::Story;
use storymeter_union::Precision;
use storymeter_union::criteria::SentenceModel;

fn rounding_the_weights_changes_similarities_little() -> Result {
    let model = SentenceModel::load(&weights("minilm")?)?;
    let path = super::neural().join("../storymeter-union/tests/fixtures/sentences.json");
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let text = |pair: &Value, name: &str| pair[name].as_str().unwrap().to_owned();
    let stories: Vec<Story> = fixture["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| Story {
            prompt: Some(text(pair, "prompt")),
            ..Story::from(text(pair, "story"))
        })
        .collect();
    let stories: Vec<&Story> = stories.iter().collect();
    let expected: Vec<f64> = serde_json::from_value(fixture["minilm"].clone())?;
    for precision in [Precision::F32, Precision::Int8] {
        let found = model.scorer(precision)?.similarities(&stories)?;
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(&expected) {
            let far = (found.unwrap() - expected).abs();
            assert!(far < 0.06, "{precision:?}: {far}");
        }
    }
    Ok(())
}

storymeter_checks::checks!(rounding_the_weights_changes_similarities_little);
