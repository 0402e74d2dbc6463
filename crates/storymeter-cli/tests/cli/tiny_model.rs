//! A tiny model with random weights. Its scores mean nothing, but they are always the same.

use std::path::Path;

use storymeter::encoder::{Config, Stream, load_parameters};
use storymeter::union::{Card, Heads, Model, Reconstruction};

use crate::sandbox::repository;

/// Writes the model to a folder.
pub fn write_model(folder: &Path) {
    let encoder = repository("crates/storymeter-encoder/tests/fixtures/bert");
    let config = Config::load(&encoder).unwrap();
    let parameters = load_parameters(&encoder, &config).unwrap();
    let random = |seed, count: usize| {
        let stream = Stream::new(seed);
        (0..count as u64).map(|i| stream.normal(i)).collect::<Vec<f32>>()
    };
    let heads = Heads {
        score: random(1, config.hidden),
        diagnosis: random(2, 4 * config.hidden),
        diagnosis_bias: random(3, 4),
        reconstruction_bias: random(5, config.vocabulary),
        ..Heads::default()
    };
    let card = Card { max_tokens: 64, reconstruction: Reconstruction::Tied, ..Card::default() };
    let tokenizer_files = vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt")).unwrap())];
    Model { config, parameters, heads, card, tokenizer_files, sentences: None }
        .save(folder)
        .unwrap();
}
