//! Tiny models that need no file: their weights are given by a formula, and what `transformers`
//! computes with them is in `fixtures/tiny_models.json`.

use serde_json::Value;
use std::path::Path;
use storymeter_encoder::{Config, Device, Isa, Model, Parameters, Precision, Tensor};

/// The generator of Steele, Lea and Flood (2014).
fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A model, its weights, and what `transformers` computes with them.
pub struct Tiny {
    pub name: &'static str,
    pub config: Config,
    pub weights: Parameters,
    pub cases: Vec<Value>,
}

/// The model of this name in the fixture.
pub fn tiny(name: &'static str) -> Tiny {
    let all: Value = serde_json::from_str(include_str!("../fixtures/tiny_models.json")).unwrap();
    let model = &all["models"][name];
    let mut config = model["config"].as_object().unwrap().clone();
    let model_type = name.split('_').next().unwrap();
    config.insert("model_type".into(), model_type.into());
    let mut shapes: Vec<(String, Vec<usize>)> =
        serde_json::from_value::<serde_json::Map<String, Value>>(model["parameters"].clone())
            .unwrap()
            .into_iter()
            .map(|(name, shape)| (name, serde_json::from_value(shape).unwrap()))
            .collect();
    shapes.sort();
    let tensors = shapes.into_iter().enumerate().map(|(k, (name, shape))| filled(k, name, shape));
    Tiny {
        name,
        config: Config::from_fields(config, "config.json".into()).unwrap(),
        weights: Parameters { tensors: tensors.collect() },
        cases: model["cases"].as_array().unwrap().clone(),
    }
}

/// Tensor `k` in alphabetical order: element `i` is `0.3 (2u - 1)`, or `1 + 0.1 (2u - 1)` in the
/// gain of a norm, where `u` comes from `k * 2^32 + i`.
fn filled(k: usize, name: String, shape: Vec<usize>) -> Tensor {
    let last = name.rsplit('.').nth(1).unwrap_or_default().to_lowercase();
    let gain = name.ends_with(".weight") && (last.contains("norm") || last.starts_with("ln_"));
    let number = |i: usize| {
        let u = (splitmix64(((k as u64) << 32) + i as u64) >> 11) as f64 / (1u64 << 53) as f64;
        (if gain { 1.0 + 0.1 * (2.0 * u - 1.0) } else { 0.3 * (2.0 * u - 1.0) }) as f32
    };
    let count: usize = shape.iter().product();
    Tensor { name, shape, data: (0..count).map(number).collect() }
}

impl Tiny {
    pub fn model(&self, precision: Precision) -> Model {
        let config = self.config.clone();
        Model::from_tensors(config, &self.weights, Device::Cpu, precision).unwrap()
    }

    pub fn model_on(&self, precision: Precision, isa: Isa) -> Model {
        Model::on_cpu(self.config.clone(), &self.weights, precision, isa).unwrap()
    }

    /// The error of opening the model after a change of its configuration.
    pub fn complaint(&self, field: &str, value: Value) -> String {
        let mut fields = self.config.source.clone();
        fields.insert(field.into(), value);
        let bytes = serde_json::to_vec(&fields).unwrap();
        let opened = Config::from_bytes(Path::new("config.json"), &bytes).and_then(|config| {
            Model::from_tensors(config, &self.weights, Device::Cpu, Precision::F32)
        });
        opened.err().expect("this configuration is wrong").to_string()
    }
}
