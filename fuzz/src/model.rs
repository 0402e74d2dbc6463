//! The files of models and of training.

use std::path::Path;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};
use storymeter_core::Story;
use storymeter_encoder::{Config, Parameters, Tokenizer};
use storymeter_union::train::{Checkpoint, Settings};
use storymeter_union::{Card, Heads, Model, Precision, StoredModel, UnionScorer};

use crate::{FOLDER, parts, written};

const NAME: &str = "fuzz";

/// A tiny encoder and its parts. `examples/seeds.rs` makes them.
pub const CONFIG: &[u8] = include_bytes!("../tiny/config.json");
pub const WEIGHTS: &[u8] = include_bytes!("../tiny/model.safetensors");
const HEADS: &[u8] = include_bytes!("../tiny/heads.safetensors");
const CARD: &[u8] = include_bytes!("../tiny/storymeter.json");
const VOCABULARY: &[u8] = include_bytes!("../tiny/vocab.txt");

pub static TINY: LazyLock<Config> =
    LazyLock::new(|| Config::from_bytes(Path::new(NAME), CONFIG).unwrap());
static TINY_CARD: LazyLock<Card> = LazyLock::new(|| serde_json::from_slice(CARD).unwrap());

static STORIES: LazyLock<[Story; 2]> = LazyLock::new(|| {
    ["mia lost the kite . it rained .", "It rained — again; and \"again\"."].map(|text| Story {
        id: "1".to_owned(),
        text: text.to_owned(),
        ..Story::default()
    })
});

/// Every score of a model that was accepted is a probability. It is not a number if the weights are
/// so large that the network overflows.
fn score(scorer: &UnionScorer) {
    let stories: Vec<&Story> = STORIES.iter().collect();
    for score in scorer.score(&stories).unwrap() {
        let score = score.probability;
        assert!(score.is_nan() || (0.0..=1.0).contains(&score), "{score}");
    }
}

/// A model file. Length and checksum are made right, because they would keep all damage away from
/// the parser.
pub fn model_file(bytes: &[u8]) {
    let _ = StoredModel::from_bytes(Path::new(NAME), bytes.to_vec());
    let mut bytes = bytes.to_vec();
    if bytes.len() < 56 {
        return;
    }
    let length = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let sum = Sha256::digest(&bytes[56..]);
    bytes[24..56].copy_from_slice(&sum);
    let Ok(stored) = StoredModel::from_bytes(Path::new(NAME), bytes) else { return };
    if let Ok(scorer) = UnionScorer::from_stored(&stored) {
        score(&scorer);
    }
}

/// `config.json` is written and read back.
pub fn config(bytes: &[u8]) {
    let Ok(config) = Config::from_bytes(Path::new(NAME), bytes) else { return };
    assert!(config.hidden % config.heads == 0);
    let again = config.to_bytes(Path::new(NAME)).unwrap();
    let again = Config::from_bytes(Path::new(NAME), &again).unwrap();
    assert_eq!((again.hidden, again.layers), (config.hidden, config.layers));
    // A file of a few bytes can ask for a large network, but only its weights take memory.
    let _ = Parameters::from_bytes(Path::new(NAME), WEIGHTS, &config);
}

/// Weights are written and read back.
pub fn weights(bytes: &[u8]) {
    let Ok(parameters) = Parameters::from_bytes(Path::new(NAME), bytes, &TINY) else { return };
    let again = parameters.to_bytes(Path::new(NAME)).unwrap();
    let again = Parameters::from_bytes(Path::new(NAME), &again, &TINY).unwrap();
    assert_eq!(again.count(), parameters.count());
}

/// `heads.safetensors`.
pub fn heads(bytes: &[u8]) {
    let Ok(heads) = Heads::from_bytes(Path::new(NAME), bytes, &TINY_CARD, &TINY) else { return };
    assert_eq!(heads.score.len(), TINY.hidden);
}

/// `storymeter.json` in a folder whose other files are right. The model scores.
pub fn card(bytes: &[u8]) {
    for (name, content) in [
        ("config.json", CONFIG),
        ("model.safetensors", WEIGHTS),
        ("heads.safetensors", HEADS),
        ("vocab.txt", VOCABULARY),
        ("storymeter.json", bytes),
    ] {
        written(name, content);
    }
    if Model::load(&FOLDER).is_ok()
        && let Ok(scorer) = UnionScorer::load(&FOLDER, Precision::F32)
    {
        score(&scorer);
    }
}

/// `tokenizer.json` or, if the input begins with `v`, `vocab.txt`. `tokenizer_config.json` follows
/// after a zero byte. Every id of a text is in the vocabulary.
pub fn vocabulary(bytes: &[u8]) {
    let [Some(first), settings] = parts(bytes) else { return };
    let first = match first.strip_prefix(b"v") {
        Some(lines) => ("vocab.txt", lines),
        None => ("tokenizer.json", first),
    };
    let second = settings.map(|settings| ("tokenizer_config.json", settings));
    let files: Vec<(&str, &[u8])> = [first].into_iter().chain(second).collect();
    let Ok(tokenizer) = Tokenizer::from_files(&files, Path::new(NAME), &TINY) else { return };
    for story in STORIES.iter() {
        let (ids, _) = tokenizer.encode(&story.text, 16);
        assert!(ids.iter().all(|id| (*id as usize) < TINY.vocabulary));
    }
}

/// Training settings are printed and read back unchanged.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(settings) = Settings::from_text(Path::new(NAME), text, None) else { return };
    let again = settings.to_toml();
    assert_eq!(Settings::from_text(Path::new(NAME), &again, None).unwrap().to_toml(), again);
}

/// The checkpoint of a training run.
pub fn checkpoint(bytes: &[u8]) {
    if let Ok(checkpoint) = Checkpoint::from_bytes(Path::new(NAME), bytes) {
        assert!(checkpoint.epochs_done() < 1 << 40);
    }
}
