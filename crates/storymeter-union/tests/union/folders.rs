//! Model folders are one unit, and no file of a model takes more memory than it should.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::ZlibEncoder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storymeter_core::Story;
use storymeter_encoder::{Config, Grid, load_parameters};
use storymeter_union::{
    Card, Error, Heads, MODEL_FILES, Model, Precision, Reconstruction, StoredModel, UnionScorer,
};

/// A tiny model. Models of different numbers have different weights and heads.
fn tiny(number: u8) -> Model {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let encoder = root.join("../storymeter-encoder/tests/fixtures/bert");
    let config = Config::load(&encoder).unwrap();
    let mut parameters = load_parameters(&encoder, &config).unwrap();
    parameters.tensors[0].data[0] += f32::from(number);
    let score = vec![0.1 * f32::from(number); config.hidden];
    let card = Card {
        max_tokens: 32,
        diagnosis: false,
        reconstruction: Reconstruction::None,
        ..Card::default()
    };
    let vocabulary = std::fs::read(encoder.join("vocab.txt")).unwrap();
    let tokenizer_files = vec![("vocab.txt", vocabulary)];
    let heads = Heads { score, ..Heads::default() };
    Model { config, parameters, heads, card, tokenizer_files, sentences: None }
}

fn saved(number: u8) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    tiny(number).save(folder.path()).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path, file: &str) {
    std::fs::copy(from.join(file), to.join(file)).unwrap();
}

/// Removes the checksums, as models of older versions have none.
fn unseal(folder: &Path) {
    let path = folder.join("storymeter.json");
    let mut card: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    card.as_object_mut().unwrap().remove("files").expect("it has checksums");
    std::fs::write(path, card.to_string()).unwrap();
}

#[test]
fn a_folder_with_files_of_two_models_is_refused() {
    for file in ["model.safetensors", "heads.safetensors", "storymeter.json"] {
        let (old, new) = (saved(1), saved(2));
        copy(new.path(), old.path(), file);
        let error = UnionScorer::load(old.path(), Precision::Int8).err().expect("a mixture");
        assert!(matches!(error, Error::Mixture { .. }), "{error}");
        let odd = if file == "model.safetensors" { file } else { "heads.safetensors" };
        assert!(
            error
                .to_string()
                .contains(&format!("{odd}: the file does not belong to the model of this folder")),
            "{error}"
        );
        // Saving the model again heals the folder.
        tiny(2).save(old.path()).unwrap();
        assert_eq!(Model::load(old.path()).unwrap().fingerprint(), tiny(2).fingerprint());
    }
    let folder = saved(1);
    let mut vocabulary = std::fs::read(folder.path().join("vocab.txt")).unwrap();
    vocabulary[0] ^= 1;
    std::fs::write(folder.path().join("vocab.txt"), vocabulary).unwrap();
    assert!(matches!(Model::load(folder.path()), Err(Error::Mixture { .. })));
}

#[test]
fn a_folder_from_before_there_were_checksums_loads() {
    let folder = saved(1);
    unseal(folder.path());
    assert_eq!(Model::load(folder.path()).unwrap().fingerprint(), tiny(1).fingerprint());
}

#[test]
fn a_saved_model_leaves_nothing_else_in_its_folder_and_is_its_only_card() {
    let folder = saved(1);
    let all = names(folder.path());
    assert_eq!(
        all,
        ["config.json", "heads.safetensors", "model.safetensors", "storymeter.json", "vocab.txt"]
    );
    assert!(all.iter().all(|name| MODEL_FILES.contains(&name.as_str())));
    // The vocabulary cannot be replaced by a file. By then nothing else may have changed.
    let before: BTreeMap<String, Vec<u8>> = all
        .iter()
        .filter(|name| *name != "vocab.txt")
        .map(|name| (name.clone(), std::fs::read(folder.path().join(name)).unwrap()))
        .collect();
    std::fs::remove_file(folder.path().join("vocab.txt")).unwrap();
    std::fs::create_dir(folder.path().join("vocab.txt")).unwrap();
    assert!(tiny(2).save(folder.path()).is_err());
    assert_eq!(names(folder.path()), all);
    for (name, bytes) in before {
        assert!(std::fs::read(folder.path().join(&name)).unwrap() == bytes, "{name}");
    }
}

/// A model file whose header is changed, with the right length and checksum.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let (header, payload) = bytes[56..].split_at(length);
    let mut header: Value = serde_json::from_slice(header).unwrap();
    change(&mut header);
    let header = header.to_string();
    let content = [header.as_bytes(), payload].concat();
    let mut changed = bytes[..12].to_vec();
    changed.extend((header.len() as u32).to_le_bytes());
    changed.extend((56 + content.len() as u64).to_le_bytes());
    changed.extend(Sha256::digest(&content));
    changed.extend(content);
    changed
}

/// The bytes of a model file.
fn stored(grid: Option<Grid>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let mut model = tiny(1);
    model.card.grid = grid;
    let path = folder.path().join("tiny.smq");
    model.store(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// The error of making a model file ready to score.
fn complaint(bytes: Vec<u8>) -> String {
    let stored = match StoredModel::from_bytes(Path::new("tiny.smq"), bytes) {
        Ok(stored) => stored,
        Err(error) => return error.to_string(),
    };
    UnionScorer::from_stored(&stored).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn parts_that_share_their_bytes_are_refused() {
    let good = stored(None);
    assert_eq!(complaint(with_header(&good, |_| {})), "");
    let all_alike = with_header(&good, |header| {
        let parts = header["parts"].as_array_mut().unwrap();
        let end = parts.iter().map(|part| part[1]["end"].as_u64().unwrap()).max().unwrap();
        parts.iter_mut().for_each(|part| part[1] = json!({"start": 0, "end": end}));
    });
    assert_eq!(complaint(all_alike), "tiny.smq: it has more parts than the file can hold");
    let many = with_header(&good, |header| {
        let parts = header["parts"].as_array_mut().unwrap();
        parts.extend((0..40_000).map(|i| json!([format!("{i}"), {"start": 0, "end": 0}])));
    });
    assert_eq!(complaint(many), "tiny.smq: it has more parts than the file can hold");
}

#[test]
fn a_vocabulary_that_unpacks_to_gigabytes_is_refused() {
    let mut bomb = ZlibEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'\n'; 1 << 20];
    (0..64).for_each(|_| bomb.write_all(&zeros).unwrap());
    let bomb = bomb.finish().unwrap();
    let good = stored(None);
    let end = good.len() as u64;
    let length = u32::from_le_bytes(good[12..16].try_into().unwrap()) as u64;
    let start = end - 56 - length;
    let forged = with_header(&[good, bomb.clone()].concat(), |header| {
        let parts = header["parts"].as_array_mut().unwrap();
        parts.retain(|part| part[0] != "zlib.vocab.txt");
        parts.push(json!(["zlib.vocab.txt", {"start": start, "end": start + bomb.len() as u64}]));
    });
    assert_eq!(complaint(forged), "tiny.smq: vocab.txt: has more than 33554432 bytes");
}

#[test]
fn a_grid_that_claims_more_weights_than_the_file_can_hold_is_refused_before_it_is_unpacked() {
    let good = stored(Some(Grid { layers: 0.7, words: 0.9 }));
    assert_eq!(complaint(good.clone()), "");
    // The largest sizes that a configuration may have: 2^48 words.
    let forged = with_header(&good, |header| header["config"]["vocab_size"] = json!(1 << 24));
    let error = complaint(forged);
    assert!(error.starts_with("tiny.smq: "), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_device_is_not_a_model() {
    let error = StoredModel::open(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(error, "/dev/zero: not a model file of storymeter");
    for file in ["storymeter.json", "heads.safetensors", "vocab.txt", "model.safetensors"] {
        let folder = saved(1);
        std::fs::remove_file(folder.path().join(file)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(file)).unwrap();
        let error = Model::load(folder.path()).unwrap_err().to_string();
        let problem = format!("{file}: this is a device or a pipe, not an ordinary file");
        assert!(error.ends_with(&problem), "{error}");
    }
}

#[test]
fn a_card_that_does_not_fit_is_the_fault_of_the_file_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let bad = with_header(&stored(None), |header| header["card"]["max_tokens"] = json!(9999));
    std::fs::write(path("bad.smq"), bad).unwrap();
    let model = StoredModel::open(&path("bad.smq")).unwrap();
    let error = model.store_with(model.card().clone(), &path("out.smq")).unwrap_err().to_string();
    assert!(error.contains("bad.smq: max_tokens is 9999") && !error.contains("out.smq"), "{error}");
    let mut model = tiny(1);
    model.card.max_tokens = 9999;
    let error = model.store(&path("out.smq")).unwrap_err();
    assert!(matches!(error, Error::Pack { .. }), "{error}");
}

#[test]
fn a_loaded_model_still_scores() {
    let folder = saved(1);
    let story = Story { text: "the kite was red.".into(), ..Story::default() };
    let scores =
        UnionScorer::load(folder.path(), Precision::F32).unwrap().score(&[&story]).unwrap();
    assert!(scores[0].probability > 0.0);
}

#[test]
fn a_missing_model_is_named_with_the_folders_and_the_alternatives() {
    let error = |searched: &[&str], installed: &[&str]| {
        Error::MissingModel {
            name: "tiny".to_owned(),
            searched: searched.iter().map(PathBuf::from).collect(),
            installed: installed.iter().map(|name| (*name).to_owned()).collect(),
        }
        .to_string()
    };
    assert_eq!(
        error(&["cache", "bin"], &["small", "base"]),
        "there is no model \"tiny\": it is not a path, and tiny.smq is not in cache or bin; \
         installed models: small, base"
    );
    assert_eq!(
        error(&[], &[]),
        "there is no model \"tiny\": it is not a path, and this system has no folder for \
         installed models; no model is installed"
    );
}
