//! Compares the loss of every head and its gradients with PyTorch
//! (`tools/union_objective_fixture.py`).

use std::path::{Path, PathBuf};

use serde_json::Value;
use storymeter_encoder::train::{Alone, Cpu, Network, Rank};
use storymeter_encoder::{Config, load_parameters};

use super::example::Example;
use super::objective::{head_tensors, learn, take_losses};
use super::settings::Settings;
use super::task::Task;
use crate::card::{Pooling, Reconstruction};
use crate::heads::Heads;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn example(value: &Value) -> Example {
    let damage: Vec<bool> = value["damage"].as_array().unwrap().iter().map(|x| x == 1).collect();
    Example {
        ids: ids(&value["ids"]),
        first: value["first"].as_u64().unwrap() as usize,
        targets: ids(&value["targets"]),
        human: value["human"] == 1,
        damage: damage.try_into().unwrap(),
        taught: vec![],
    }
}

#[test]
fn losses_and_gradients_of_every_pooling_and_head_are_pytorch_s() {
    let expected = std::fs::read(fixture("tests/fixtures/objective.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let encoder = fixture("../storymeter-encoder/tests/fixtures/bert");
    let config = Config::load(&encoder).unwrap();
    let parameters = load_parameters(&encoder, &config).unwrap();
    let examples: Vec<Example> =
        expected["examples"].as_array().unwrap().iter().map(example).collect();
    let given = |name: &str| numbers(&expected["heads"][name]);
    let cases = expected["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let own = case["reconstruction"] == "own";
        let settings = Settings {
            pooling: if case["pooling"] == "mean" { Pooling::Mean } else { Pooling::Cls },
            reconstruction: if own { Reconstruction::Own } else { Reconstruction::Tied },
            ..Settings::default()
        };
        let heads = Heads {
            score: given("score"),
            score_bias: given("score_bias")[0],
            diagnosis: given("diagnosis"),
            diagnosis_bias: given("diagnosis_bias"),
            reconstruction: if own { given("reconstruction") } else { Vec::new() },
            reconstruction_bias: given("reconstruction_bias"),
            ..Heads::default()
        };
        let heads = head_tensors(&heads, config.hidden);
        let mut network =
            Network::new(Cpu::default(), config.clone(), &parameters, &heads).unwrap();
        learn(&mut network, &settings, &Task::new(&settings, &examples, Rank::ALONE), None)
            .unwrap();

        let losses = take_losses(&mut network, &Alone).unwrap();
        let found = [losses.score, losses.diagnosis, losses.reconstruction];
        for (found, name) in found.into_iter().zip(["score", "diagnosis", "reconstruction"]) {
            let expected = case["losses"][name].as_f64().unwrap();
            assert!(
                (found - expected).abs() < 1e-4 * expected,
                "{name}: {found}, PyTorch has {expected}"
            );
        }
        let gradients = network.gradients().unwrap();
        let mut compared = 0;
        for tensor in gradients.tensors.iter().filter(|tensor| !tensor.data.is_empty()) {
            let expected = &case["gradients"][&tensor.name];
            let norm = expected["norm"].as_f64().unwrap();
            // The gradient of a key's bias is rounding only, because softmax does not depend on
            // that bias.
            let allowed = 1e-4 * norm.max(1e-2);
            let squares: f64 = tensor.data.iter().map(|x| f64::from(*x).powi(2)).sum();
            assert!((squares.sqrt() - norm).abs() < allowed, "{}: {}", tensor.name, squares.sqrt());
            // A sum with cosines depends on every number and on its place.
            let mixed: f64 = tensor
                .data
                .iter()
                .enumerate()
                .map(|(i, x)| f64::from(*x) * (i as f64 + 1.0).cos())
                .sum();
            let mixed_there = expected["mixed"].as_f64().unwrap();
            assert!((mixed - mixed_there).abs() < allowed, "{}: {mixed}", tensor.name);
            compared += 1;
        }
        assert_eq!(compared, case["gradients"].as_object().unwrap().len());
    }
}
