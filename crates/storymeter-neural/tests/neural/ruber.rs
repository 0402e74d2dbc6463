//! RUBER-BERT with a tiny BERT and a head whose weights follow from a formula.

use std::fs;
use std::path::Path;

use crate::scoring::{pair, prompted, score};
use crate::support::{A, B, C, Q, filled, write_masked_model_of};
use storymeter_core::{Story, Value};
use storymeter_encoder::{Device, Model, Precision};
use storymeter_neural::ruber::{CARD, Card, HEAD, Head, Pool};

/// Writes a folder as training saves it, with the head of the formula.
fn write_ruber(folder: &Path, pooling: Pool, mask: bool, positions: usize) {
    write_masked_model_of(folder, crate::support::VOCABULARY, positions);
    let model = Model::open(folder, Device::Cpu, Precision::F32).unwrap();
    let width = model.config().hidden;
    let mut head = Head::zeros(width);
    let shape = |name: &str| match name {
        "bilinear.weight" => vec![width, width],
        "dense.weight" => vec![width, 2 * width + 1],
        "dense.bias" => vec![width],
        "output.weight" => vec![2, width],
        _ => vec![2],
    };
    let shapes = Head::NAMES.iter().map(|name| ((*name).to_owned(), shape(name))).collect();
    let tensors = filled(shapes);
    for (name, to) in Head::NAMES.iter().zip(head.tensors_mut()) {
        let from = tensors.iter().find(|tensor| tensor.name == *name).unwrap();
        to.copy_from_slice(&from.data);
    }
    let bytes = head.to_bytes().unwrap();
    let card = Card {
        format: 0,
        encoder: "tiny".to_owned(),
        encoder_weights: model.fingerprint().to_owned(),
        width,
        pooling,
        delexicalise: mask,
        max_tokens: 500,
        head_sha256: String::new(),
        training: serde_json::Value::Null,
    };
    fs::write(folder.join(HEAD), &bytes).unwrap();
    fs::write(folder.join(CARD), serde_json::to_vec(&card.sealed(&bytes)).unwrap()).unwrap();
}

fn golden(name: &str) -> Vec<f64> {
    let fixture: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/ruber.json")).unwrap();
    match &fixture[name] {
        serde_json::Value::Array(list) => list.iter().map(|x| x.as_f64().unwrap()).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn close(found: &Value, expected: f64) {
    let found = found.clone().expect("present");
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

fn reason(value: &Value) -> String {
    value.clone().expect_err("absent").to_string()
}

#[test]
fn scores_equal_those_of_pytorch() {
    let folder = tempfile::tempdir().unwrap();
    write_ruber(folder.path(), Pool::Max, false, 512);
    let stories = [pair(A, &[C]), prompted(Q, B, &[C])];
    let found = score(&["ruber"], folder.path(), &stories, 2).unwrap();
    assert_eq!(found.keys, ["ruber/r", "ruber/u", "ruber/hybrid"]);
    let (r, first, prompt) = (golden("r"), golden("u_first_sentence")[0], golden("u_prompt")[0]);
    close(&found.values[0][0], r[0]);
    close(&found.values[0][1], first);
    close(&found.values[0][2], (r[0] + first) / 2.0);
    close(&found.values[1][0], r[1]);
    close(&found.values[1][1], prompt);
    let alone = score(&["ruber"], folder.path(), &stories, 1).unwrap();
    assert_eq!(alone.values, found.values, "scores do not depend on the batch");
    let signature = &found.signatures[0];
    for part in ["pooling:max", "names:kept", "long:cut-500", "refs:max", "scale:raw"] {
        assert!(signature.contains(part), "{part} in {signature}");
    }
    write_ruber(folder.path(), Pool::Mean, false, 512);
    let mean = score(&["ruber"], folder.path(), &stories, 2).unwrap();
    close(&mean.values[1][1], golden("u_prompt_mean")[0]);
    assert_eq!(mean.values[1][0], found.values[1][0], "r has its own pooling");
}

#[test]
fn the_preset_union_scales_both_halves_over_the_input() {
    let folder = tempfile::tempdir().unwrap();
    write_ruber(folder.path(), Pool::Max, false, 512);
    let stories = [pair(A, &[C]), prompted(Q, B, &[C]), pair(C, &[A, C]), pair(B, &[])];
    let raw = score(&["ruber"], folder.path(), &stories, 4).unwrap();
    let scaled = score(&["ruber:union"], folder.path(), &stories, 4).unwrap();
    for column in 0..2 {
        let numbers = |values: &[Vec<Value>]| -> Vec<f64> {
            values.iter().filter_map(|row| row[column].clone().ok()).collect()
        };
        let raw = numbers(&raw.values);
        let (low, high) =
            (raw.iter().copied().fold(1.0, f64::min), raw.iter().copied().fold(-1.0, f64::max));
        for (raw, scaled) in raw.iter().zip(numbers(&scaled.values)) {
            assert!(((raw - low) / (high - low) - scaled).abs() < 1e-9);
        }
    }
    close(&raw.values[2][0], 1.0);
    close(&scaled.values[2][0], 1.0);
    let [r, u, hybrid] = [0, 1, 2].map(|column| scaled.values[0][column].clone().unwrap());
    assert!((hybrid - (r + u) / 2.0).abs() < 1e-12);
    assert!(scaled.signatures[0].contains("scale:min-max[4]"), "{}", scaled.signatures[0]);
    let alone = score(&["ruber:union"], folder.path(), &stories, 1).unwrap();
    assert_eq!(alone.values, scaled.values);
}

#[test]
fn what_a_story_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    write_ruber(folder.path(), Pool::Max, true, 512);
    let stories = [
        Story::from(A),
        Story::from("Only one sentence."),
        pair("", &[C]),
        pair(A, &["  "]),
        prompted(Q, "One sentence.", &["", C]),
    ];
    let found = score(&["ruber"], folder.path(), &stories, 5).unwrap().values;
    assert_eq!(reason(&found[0][0]), "the story has no reference");
    assert!(found[0][1].is_ok());
    assert_eq!(reason(&found[0][2]), "the story has no reference");
    assert_eq!(
        reason(&found[1][1]),
        "the story has neither a prompt nor a second sentence, so nothing continues a context"
    );
    for value in &found[2] {
        assert_eq!(reason(value), "the story is empty");
    }
    assert_eq!(reason(&found[3][0]), "the reference is empty");
    assert!(found[4].iter().all(Result::is_ok), "the empty one of two references is not compared");
}

#[test]
fn names_are_masked_if_they_were_in_training() {
    let folder = tempfile::tempdir().unwrap();
    let stories = [pair("Susan saw a ship. Robert came home.", &[C])];
    let masked = [pair("[FEMALE] saw a ship. [MALE] came home.", &[C])];
    let score = |stories: &[Story]| score(&["ruber"], folder.path(), stories, 1).unwrap().values;
    write_ruber(folder.path(), Pool::Max, true, 512);
    assert_eq!(score(&stories), score(&masked));
    write_ruber(folder.path(), Pool::Max, false, 512);
    assert_ne!(score(&stories), score(&masked));
}

#[test]
fn texts_that_are_too_long_are_cut_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    write_ruber(folder.path(), Pool::Max, false, 32);
    let cut = score(&["ruber"], folder.path(), &[pair(A, &[C]), Story::from("A ship. A key.")], 2);
    assert_eq!(cut.unwrap().truncated, [1]);
}

#[test]
fn a_folder_that_is_no_trained_ruber_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_ruber(folder.path(), Pool::Max, false, 512);
    fs::remove_file(folder.path().join(CARD)).unwrap();
    let error = |expected: &str| {
        let error = score(&["ruber"], folder.path(), &[Story::from(A)], 1).err().unwrap();
        assert!(error.to_string().contains(expected), "{error}");
    };
    error("its folder has no ruber.json, which training RUBER writes");
    fs::write(folder.path().join(CARD), "{\"format\": 1}").unwrap();
    error("ruber.json: ");
    write_ruber(folder.path(), Pool::Min, false, 512);
    error("max_tokens or pooling has a value that cannot be used");
}
