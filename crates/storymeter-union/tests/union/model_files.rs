//! Models in folders and files: what is damaged is refused, and what is stored scores as before.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use storymeter_core::Story;
use storymeter_encoder::Grid;
use storymeter_union::{
    Card, EMBEDDED_NAME, Error, HAS_EMBEDDED, Model, Precision, Reconstruction, StoredModel,
    UnionScorer,
};

use crate::scoring::{card, repository, stories, story, write_model};

#[test]
fn a_damaged_folder_is_refused_with_the_file_and_the_reason() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 5] = [
        ("storymeter.json", |folder| std::fs::remove_file(folder.join("storymeter.json")).unwrap()),
        ("storymeter.json", |folder| std::fs::write(folder.join("storymeter.json"), "{").unwrap()),
        ("heads.safetensors", |folder| {
            let bytes = std::fs::read(folder.join("heads.safetensors")).unwrap();
            std::fs::write(folder.join("heads.safetensors"), &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("model.safetensors", |folder| {
            std::fs::write(folder.join("model.safetensors"), "no").unwrap()
        }),
        ("vocab.txt", |folder| std::fs::write(folder.join("vocab.txt"), "[PAD]\n[UNK]\n").unwrap()),
    ];
    for (file, damage) in cases {
        let folder = tempfile::tempdir().unwrap();
        write_model(folder.path(), card());
        damage(folder.path());
        let error =
            UnionScorer::load(folder.path(), Precision::F32).err().expect("a damaged folder");
        assert!(error.to_string().contains(file), "{file}: {error}");
    }
}

#[test]
fn heads_of_another_shape_or_with_nan_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), card());
    let mut model = Model::load(folder.path()).unwrap();
    model.heads.score[3] = f32::NAN;
    model.save(folder.path()).unwrap();
    let error = Model::load(folder.path()).unwrap_err();
    assert!(
        matches!(&error, Error::Model { .. })
            && error.to_string().contains("score.weight: number 3 is NaN")
    );

    write_model(folder.path(), Card { diagnosis: false, ..card() });
    let text = std::fs::read_to_string(folder.path().join("storymeter.json")).unwrap();
    std::fs::write(
        folder.path().join("storymeter.json"),
        text.replace("\"diagnosis\": false", "\"diagnosis\": true"),
    )
    .unwrap();
    let error = Model::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("diagnosis.weight is missing"), "{error}");
}

#[test]
fn a_model_file_scores_exactly_like_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let card = Card { reconstruction: Reconstruction::Tied, normalise: true, ..card() };
    write_model(folder.path(), card.clone());
    let file = folder.path().join("tiny.smq");
    let size = Model::load(folder.path()).unwrap().store(&file).unwrap();
    assert_eq!(size as u64, file.metadata().unwrap().len());

    let (from_folder, from_file) = (
        UnionScorer::load(folder.path(), Precision::Int8).unwrap(),
        UnionScorer::load(&file, Precision::Int8).unwrap(),
    );
    let stories = stories();
    let all: Vec<&Story> = stories.iter().collect();
    assert_eq!(from_folder.score(&all).unwrap(), from_file.score(&all).unwrap());
    assert_eq!(from_folder.signature().to_string(), from_file.signature().to_string());
    let example = story("Mira lost her red kite. The baker burned the bread.");
    assert_eq!(from_folder.explain(&example).unwrap(), from_file.explain(&example).unwrap());
    assert_eq!(StoredModel::open(&file).unwrap().card(), &card);
    let error = UnionScorer::load(&file, Precision::F32).err().unwrap();
    assert!(matches!(error, Error::OnlyInt8 { .. }), "{error}");
}

#[test]
fn a_model_file_that_was_changed_anywhere_or_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), Card { reconstruction: Reconstruction::None, ..card() });
    let file = folder.path().join("tiny.smq");
    Model::load(folder.path()).unwrap().store(&file).unwrap();
    let good = std::fs::read(&file).unwrap();
    let complaint = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        StoredModel::open(&file).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(complaint(&good), "");
    for length in [0, 7, 55, 56, 57, good.len() / 2, good.len() - 1] {
        let said = complaint(&good[..length]);
        assert!(said.contains("tiny.smq: "), "{length}: {said}");
    }
    for at in (0..good.len()).step_by(97).chain([0, 8, 12, 16, 24, 55, 56, good.len() - 1]) {
        let mut bad = good.clone();
        bad[at] ^= 0x20;
        assert!(complaint(&bad).contains("tiny.smq: "), "byte {at}");
    }
    let mut newer = good.clone();
    newer[8] = 2;
    assert!(complaint(&newer).ends_with("layout 2 is unknown; this version reads layout 1"));
}

/// A model file with other bytes from `at` on, and with the right length and checksum.
fn forged(good: &[u8], at: usize, bytes: &[u8], length: usize) -> Vec<u8> {
    let mut forged = good[..length].to_vec();
    for (old, new) in forged[at.min(length)..].iter_mut().zip(bytes) {
        *old = *new;
    }
    let sum = Sha256::digest(&forged[56..]);
    forged[16..24].copy_from_slice(&(length as u64).to_le_bytes());
    forged[24..56].copy_from_slice(&sum);
    forged
}

/// A model file with eight bits per weight, and one with weights on a grid.
static TINY_FILES: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    [None, Some(Grid { layers: 0.7, words: 0.9 })].map(|grid| {
        let folder = tempfile::tempdir().unwrap();
        write_model(folder.path(), Card { reconstruction: Reconstruction::Tied, grid, ..card() });
        let file = folder.path().join("tiny.smq");
        Model::load(folder.path()).unwrap().store(&file).unwrap();
        std::fs::read(&file).unwrap()
    })
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    /// Most changes are in the header, where another digit means another size, place or number of
    /// layers.
    #[test]
    fn a_model_file_that_was_forged_with_its_checksum_is_refused_or_scores_and_never_panics(
        at in prop_oneof![4 => 56usize..2000, 1 => 56usize..1_000_000],
        bytes in prop_oneof![4 => "[0-9]{1,4}".prop_map(String::into_bytes), 1 => prop::collection::vec(any::<u8>(), 1..9)],
        cut in prop_oneof![3 => Just(0usize), 1 => 0usize..100_000],
        which in 0usize..2,
    ) {
        let good = TINY_FILES[which].as_slice();
        let length = good.len().saturating_sub(cut).max(64);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("forged.smq");
        std::fs::write(&file, forged(good, at.min(good.len() - 1), &bytes, length)).unwrap();
        if let Ok(scorer) = UnionScorer::load(&file, Precision::Int8) {
            let example = story("Mira lost her red kite. The baker burned the bread.");
            let _ = scorer.score(&[&example]);
            let _ = scorer.explain(&example);
        }
    }
}

#[test]
fn a_matrix_of_its_own_is_not_stored_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), card());
    let error =
        Model::load(folder.path()).unwrap().store(&folder.path().join("x.smq")).unwrap_err();
    assert!(error.to_string().contains("its own reconstruction matrix"), "{error}");
    assert!(!folder.path().join("x.smq").exists());
}

#[test]
fn the_embedded_model_is_the_file_in_the_repository_undamaged_and_small_enough() {
    let file = repository("models/union-compact.smq");
    let stored = StoredModel::open(&file).unwrap();
    assert!(stored.size() <= 30_000_000, "{} bytes", stored.size());
    assert_eq!(stored.card().about.name, EMBEDDED_NAME);
    let about = &stored.card().about;
    assert!(
        !about.sources.is_empty() && !about.agreement.is_empty(),
        "a card with data and figures"
    );
    assert!(!about.limits.is_empty() && !about.not_for.is_empty(), "a card with limits");
    // A build can embed another file, or none.
    if HAS_EMBEDDED && std::env::var_os("STORYMETER_EMBEDDED_MODEL").is_none() {
        assert_eq!(StoredModel::embedded().unwrap().fingerprint(), stored.fingerprint());
    }
}
