//! BLEURT with a tiny model: scores equal those that `transformers` gives
//! (`tools/neural_fixtures_bleurt.py`).

use std::fs;
use std::path::Path;

use crate::scoring::{pair, score};
use crate::support::{A, B, C, write_encoder_only, write_label_model, write_masked_model};
use serde_json::Value;
use storymeter_core::Story;

/// Pairs of the fixture, and the scores of both limits.
fn cases() -> Vec<(Story, [f64; 2])> {
    let fixture: Value = serde_json::from_str(include_str!("../fixtures/bleurt.json")).unwrap();
    let case = |case: &Value| {
        let text = |field: &str| case[field].as_str().unwrap();
        let story = pair(text("story"), &[text("reference")]);
        (story, ["512", "128"].map(|limit| case[limit].as_f64().unwrap()))
    };
    fixture["cases"].as_array().unwrap().iter().map(case).collect()
}

#[test]
fn scores_equal_those_of_transformers() {
    let folder = tempfile::tempdir().unwrap();
    write_label_model(folder.path(), "bert", 1);
    let (stories, expected): (Vec<Story>, Vec<[f64; 2]>) = cases().into_iter().unzip();
    let typed = ["bleurt", "bleurt:128", "bleurt:512"];
    let scored = score(&typed, folder.path(), &stories, 3).unwrap();
    for (key, which) in [("bleurt", 0), ("bleurt:128", 1), ("bleurt:512", 0)] {
        for (found, expected) in scored.column(key).iter().zip(&expected) {
            let expected = expected[which];
            assert!((found - expected).abs() < 1e-5, "{key}: {found} is not {expected}");
        }
    }
    assert_eq!(scored.truncated, [2, 2, 2], "the two pairs of long texts are cut");
    assert!(scored.signatures[1].contains("|long:cut-128|"), "{}", scored.signatures[1]);
}

#[test]
fn a_converted_checkpoint_of_bleurt_is_read_under_its_own_names() {
    let (bert, bleurt) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_label_model(bert.path(), "bert", 1);
    write_label_model(bleurt.path(), "bleurt", 1);
    let stories = [pair(A, &[C])];
    let scores = [bert.path(), bleurt.path()]
        .map(|folder| score(&["bleurt"], folder, &stories, 1).unwrap().values);
    assert_eq!(scores[0], scores[1]);
    // BLEURT-20 has narrow word embeddings.
    let path = bleurt.path().join("config.json");
    let config = fs::read_to_string(&path).unwrap();
    fs::write(&path, config.replacen('{', "{\"embedding_size\": 16, ", 1)).unwrap();
    let error = score(&["bleurt"], bleurt.path(), &stories, 1).err().unwrap();
    let said = format!("{error:?}");
    assert!(said.contains("embedding_size") && said.contains("not supported"), "{said}");
}

#[test]
fn the_best_reference_counts_and_there_must_be_one() {
    let folder = tempfile::tempdir().unwrap();
    write_label_model(folder.path(), "bert", 1);
    let stories = [pair(A, &[C]), pair(A, &[B]), pair(A, &[B, C])];
    let together = score(&["bleurt"], folder.path(), &stories, 3).unwrap().values;
    let number = |story: usize| together[story][0].clone().unwrap();
    assert_eq!(number(2), number(0).max(number(1)));
    assert_ne!(number(0), number(1));
    let alone = score(&["bleurt"], folder.path(), &stories, 1).unwrap().values;
    assert_eq!(together, alone, "scores do not depend on the other stories of a batch");
    let error = score(&["bleurt"], folder.path(), &[pair(A, &[])], 1).err().unwrap().to_string();
    assert!(error.contains("a reference, and there is none"), "{error}");
}

#[test]
fn the_length_of_training_is_the_default() {
    let folder = tempfile::tempdir().unwrap();
    write_label_model(folder.path(), "bert", 1);
    let path = folder.path().join("config.json");
    let config = fs::read_to_string(&path).unwrap();
    let trained = r#"{"task_specific_params": {"bleurt": {"max_tokens": 128}}, "#;
    fs::write(&path, config.replacen('{', trained, 1)).unwrap();
    let (story, [_, expected]) = cases().swap_remove(3);
    let scored = score(&["bleurt", "bleurt:512"], folder.path(), &[story], 1).unwrap();
    let [default, long] = ["bleurt", "bleurt:512"].map(|key| scored.column(key)[0]);
    assert!((default - expected).abs() < 1e-5, "{default} is not {expected}");
    assert_ne!(default, long);
}

#[test]
fn models_without_the_head_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |folder: &Path| {
        let name = folder.file_stem().and_then(|name| name.to_str()).unwrap();
        let error = score(&["bleurt"], folder, &[], 1).err().unwrap().to_string();
        error.replace(name, "M")
    };
    write_masked_model(folder.path());
    let said = "metric \"bleurt\": the model M does not fit: ";
    assert_eq!(refused(folder.path()), format!("{said}it has no pooler"));
    write_encoder_only(folder.path());
    assert_eq!(refused(folder.path()), format!("{said}it has no pooler"));
    write_label_model(folder.path(), "bert", 2);
    let why = "its head gives 2 numbers, and a score is one";
    assert_eq!(refused(folder.path()), format!("{said}{why}"));
}
