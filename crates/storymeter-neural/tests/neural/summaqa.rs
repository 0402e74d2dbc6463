//! SummaQA with a tiny model: scores equal those that `transformers` and the formulas give
//! (`tools/neural_fixtures_summaqa.py`).

use std::path::Path;

use crate::scoring::{pair, score};
use crate::support::{A, B, C, write_answer_model, write_masked_model};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn scores_equal_those_of_transformers() {
    let folder = tempfile::tempdir().unwrap();
    write_answer_model(folder.path());
    let fixture: Value = serde_json::from_str(include_str!("../fixtures/summaqa.json")).unwrap();
    let reference = fixture["reference"].as_str().unwrap();
    for case in fixture["cases"].as_array().unwrap() {
        let story = pair(case["story"].as_str().unwrap(), &[reference]);
        let typed = ["summaqa", "summaqa:f", "summaqa:hanna"];
        let scored = score(&typed, folder.path(), &[story], 1).unwrap();
        let questions = case["questions"].as_array().unwrap();
        for (key, field) in typed.into_iter().zip(["probability", "f", "padded"]) {
            let sum: f64 = questions.iter().map(|question| number(&question[field])).sum();
            let (found, expected) = (scored.column(key)[0], sum / questions.len() as f64);
            assert!((found - expected).abs() < 1e-6, "{key}: {found} is not {expected}");
        }
        let is_long = case["story"].as_str().unwrap().len() > 1000;
        assert_eq!(scored.truncated, [u64::from(is_long); 3]);
    }
}

#[test]
fn a_reference_without_entities_has_no_value_and_zero_as_published() {
    let folder = tempfile::tempdir().unwrap();
    write_answer_model(folder.path());
    let stories = [pair(A, &["The lamp went dark."]), pair("", &["Mara saw the lamp."])];
    let scored = score(&["summaqa", "summaqa:hanna"], folder.path(), &stories, 2).unwrap();
    let reason = scored.values[0][0].clone().unwrap_err().to_string();
    assert_eq!(reason, "the reference has no entity to ask about");
    assert_eq!(scored.values[0][1], Ok(0.0));
    // An empty story has no answer.
    assert_eq!(scored.values[1][0], Ok(0.0));
}

#[test]
fn scores_do_not_depend_on_the_other_stories_of_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    write_answer_model(folder.path());
    let stories = [pair(A, &[B]), pair(C, &[B, A]), pair(&A.repeat(20), &[B]), pair(B, &[B])];
    let typed = ["summaqa", "summaqa:hanna"];
    let together = score(&typed, folder.path(), &stories, 4).unwrap();
    let alone = score(&typed, folder.path(), &stories, 1).unwrap();
    assert_eq!(together.values, alone.values);
    assert!(together.values.iter().flatten().all(|value| value.is_ok()), "{:?}", together.values);
}

#[test]
fn a_model_without_the_head_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_masked_model(folder.path());
    let error = score(&["summaqa"], folder.path(), &[], 1).err().unwrap().to_string();
    let name = folder.path().file_stem().and_then(|name| name.to_str()).unwrap();
    let expected = format!("metric \"summaqa\": the model {name} has no head for answers");
    assert_eq!(error, expected);
    let error = score(&["summaqa"], Path::new("/nowhere"), &[], 1).err().unwrap().to_string();
    assert!(error.starts_with("metric \"summaqa\" needs a folder with config.json"), "{error}");
}
