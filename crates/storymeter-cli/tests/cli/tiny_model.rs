//! A tiny model with random weights. Its scores mean nothing, but they are always the same.

use std::path::{Path, PathBuf};

use storymeter_encoder::{Config, Stream, load_parameters};
use storymeter_union::criteria::{CriteriaCard, Criterion, RatedSet, SentenceModel};
use storymeter_union::{Card, Heads, Kind, Model, Pooling, Reconstruction};

use crate::sandbox::repository;

/// Writes a model for the metric union to a folder.
pub fn write_model(folder: &Path) {
    let card = Card { max_tokens: 64, reconstruction: Reconstruction::Tied, ..Card::default() };
    let heads = |hidden, vocabulary| Heads {
        score: random(1, hidden),
        diagnosis: random(2, 4 * hidden),
        diagnosis_bias: random(3, 4),
        reconstruction_bias: random(5, vocabulary),
        ..Heads::default()
    };
    model(card, heads).save(folder).unwrap();
}

/// Writes a model for the metric criteria to a folder. It predicts relevance and coherence, has a
/// tiny sentence encoder, and is not calibrated.
pub fn write_criteria_model(folder: &Path) {
    let criterion = |name: &str| Criterion { name: name.to_owned(), ..Criterion::default() };
    let criteria = CriteriaCard {
        heads: vec![criterion("relevance"), criterion("coherence")],
        training: vec![RatedSet {
            name: "rated".to_owned(),
            stories: 40,
            items: 8,
            criteria: vec!["relevance".to_owned(), "coherence".to_owned()],
            raters: 3.0,
        }],
        ..CriteriaCard::default()
    };
    let card = Card {
        kind: Kind::Criteria,
        pooling: Pooling::Mean,
        reconstruction: Reconstruction::None,
        diagnosis: false,
        max_tokens: 64,
        criteria: Some(criteria),
        ..Card::default()
    };
    let heads = |hidden, _| Heads {
        criteria: random(6, 2 * hidden),
        criteria_bias: random(7, 2),
        ..Heads::default()
    };
    let sentences = SentenceModel::load(&encoder()).unwrap();
    Model { sentences: Some(sentences), ..model(card, heads) }.save(folder).unwrap();
}

fn random(seed: u64, count: usize) -> Vec<f32> {
    let stream = Stream::new(seed);
    (0..count as u64).map(|i| stream.normal(i)).collect()
}

pub fn encoder() -> PathBuf {
    repository("crates/storymeter-encoder/tests/fixtures/bert")
}

/// A model whose heads are made for the width of the encoder and the size of its vocabulary.
fn model(card: Card, heads: impl Fn(usize, usize) -> Heads) -> Model {
    let encoder = encoder();
    let config = Config::load(&encoder).unwrap();
    let parameters = load_parameters(&encoder, &config).unwrap();
    let heads = heads(config.hidden, config.vocabulary);
    let tokenizer_files = vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt")).unwrap())];
    Model { config, parameters, heads, card, tokenizer_files, sentences: None }
}
