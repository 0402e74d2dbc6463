//! InfoLM on the tiny model. The golden numbers come from the released code and torchmetrics 1.9,
//! which compute in f32. storymeter-checks compares it with its definition in f64.

use crate::scoring::{Scored, pair, score, score_with};
use crate::support::{A, B, C, write_masked_model, write_masked_model_of};
use storymeter_core::{Precision, Settings, Story};
use tempfile::TempDir;

fn model() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_masked_model(folder.path());
    folder
}

fn golden_pairs() -> [Story; 2] {
    [pair(A, &[C]), pair(B, &[A])]
}

/// The values of the only column.
fn values(typed: &str, model: &TempDir, stories: &[Story]) -> Vec<f64> {
    let scored = score(&[typed], model.path(), stories, 8).unwrap();
    scored.column(&scored.keys[0])
}

/// The probabilities that PyTorch computes in f32 add up to 1.0000016, which moves the golden
/// numbers by up to 1.7e-5.
const SINGLE: f64 = 2e-5;

fn close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < tolerance;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{what}: {found:?}, not {expected:?}");
}

#[test]
fn fisher_rao_at_two_temperatures_with_and_without_idf() {
    let model = model();
    for (typed, expected) in [
        ("infolm", [0.6145733595, 0.5747047663]),
        ("infolm:temperature-100", [0.1580587775, 0.1604194194]),
        ("infolm:no-idf", [0.3769296408, 0.4632928371]),
        ("infolm:no-idf+temperature-100", [0.1285987645, 0.1442156583]),
    ] {
        close(&values(typed, &model, &golden_pairs()), &expected, SINGLE, typed);
    }
}

/// The released code gives `kl`, `r_kl` and `alpha` the opposite sign.
#[test]
fn the_other_measures() {
    let goldens = [
        ("infolm:kl", [0.2112209797, 0.1875619292]),
        ("infolm:r-kl", [0.1808206290, 0.1551276594]),
        ("infolm:alpha", [0.1873688698, 0.1640095711]),
        ("infolm:renyi", [0.0959496498, 0.0837333947]),
        ("infolm:l1", [0.4510013461, 0.4131402969]),
        ("infolm:l2", [0.0649829283, 0.0456906408]),
        ("infolm:linf", [0.0348458849, 0.0304307789]),
        ("infolm:beta", [0.1890802383, 0.0987505913]),
        ("infolm:r-beta", [0.1651434898, 0.0954723358]),
        ("infolm:ab", [0.2218093872, 0.2742424011]),
    ];
    let typed: Vec<&str> = goldens.iter().map(|(typed, _)| *typed).collect();
    let scored = score(&typed, model().path(), &golden_pairs(), 8).unwrap();
    for (typed, expected) in goldens {
        let name = typed.split_once(':').unwrap().1;
        close(&scored.column(&format!("{typed}/{name}")), &expected, SINGLE, typed);
    }
}

#[test]
fn the_columns_are_called_after_the_measure_and_the_signature_says_everything() {
    let scored = score(&["infolm", "infolm:hanna"], model().path(), &golden_pairs(), 8).unwrap();
    assert_eq!(
        scored.keys,
        [
            "infolm/fisher-rao",
            "infolm:hanna/fisher-rao",
            "infolm:hanna/r-fisher-rao",
            "infolm:hanna/sim-fisher-rao"
        ]
    );
    let first = scored.column("infolm/fisher-rao");
    scored.keys.iter().for_each(|key| assert_eq!(scored.column(key), first, "{key}"));
    let signature = &scored.signatures[0];
    for part in [
        "infolm|model:",
        "|precision:f32|",
        "|measure:fisher-rao|temperature:0.25|idf:stories[2]+references[2]|long:cut-512",
    ] {
        assert!(signature.contains(part), "{signature} lacks {part}");
    }
}

#[test]
fn scores_do_not_depend_on_batches_and_threads() {
    let model = model();
    let stories = [pair(A, &[C]), pair(B, &[A]), pair(C, &[A, B]), pair(B, &[C])];
    let bits = |scored: Scored| -> Vec<u64> {
        scored.column("infolm/fisher-rao").into_iter().map(f64::to_bits).collect()
    };
    let all = bits(score(&["infolm"], model.path(), &stories, 8).unwrap());
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let one_by_one = pool.install(|| score(&["infolm"], model.path(), &stories, 1).unwrap());
        assert_eq!(bits(one_by_one), all, "{threads} threads");
    }
    // Without idf, other stories do not matter either.
    let alone = values("infolm:no-idf", &model, &stories[..1]);
    assert_eq!(alone[0], values("infolm:no-idf", &model, &stories)[0]);
}

#[test]
fn eight_bits_give_nearly_the_same_and_the_signature_says_so() {
    let model = model();
    let weights = [("infolm".to_owned(), model.path().to_owned())].into();
    let settings = Settings { weights, precision: Some(Precision::Int8), ..Settings::default() };
    let scored = score_with(&["infolm"], settings, &golden_pairs(), 8).unwrap();
    assert!(scored.signatures[0].contains("|precision:int8|"), "{}", scored.signatures[0]);
    close(&scored.column("infolm/fisher-rao"), &[0.6145733595, 0.5747047663], 0.02, "int8");
}

#[test]
fn the_nearest_reference_counts() {
    let model = model();
    let distance = |references: &[&str]| values("infolm:no-idf", &model, &[pair(A, references)])[0];
    let (far, near) = (distance(&[B]), distance(&[C]));
    assert!(near < far, "{near} {far}");
    assert_eq!(distance(&[B, C]), near);
}

#[test]
fn a_story_that_equals_its_reference_has_distance_0() {
    let model = model();
    for typed in ["infolm:no-idf", "infolm:no-idf+kl", "infolm:no-idf+ab", "infolm:no-idf+linf"] {
        let found = values(typed, &model, &[pair(A, &[A])])[0];
        assert!((0.0..1e-9).contains(&found), "{typed}: {found}");
    }
    assert_eq!(values("infolm:no-idf", &model, &[pair(A, &[A])]), [0.0]);
}

#[test]
fn texts_without_a_distribution_are_absent_with_the_reason() {
    let model = model();
    let reasons = |typed: &str, stories: &[Story]| -> Vec<String> {
        let scored = score(&[typed], model.path(), stories, 8).unwrap();
        scored.values.iter().map(|row| row[0].clone().unwrap_err().to_string()).collect()
    };
    assert_eq!(
        reasons("infolm", &[pair(A, &[C])]),
        ["all tokens of the story have an idf of 0: every story has them"],
        "a single pair"
    );
    assert_eq!(
        reasons("infolm", &[pair(A, &[C]), pair(B, &[C])]),
        ["all tokens of the reference have an idf of 0: every reference has them"; 2],
        "one reference for all"
    );
    assert_eq!(reasons("infolm:no-idf", &[pair("", &[C])]), ["the story has no tokens"]);
    assert_eq!(
        reasons("infolm:no-idf", &[pair(A, &["\u{200b}"])]),
        ["the reference has no tokens"]
    );
}

#[test]
fn one_word_and_stop_words_are_texts_like_others() {
    let model = model();
    for story in ["Lighthouse", "the and of was to a it", "!", "Zylinderkopfdichtung"] {
        let found = values("infolm:no-idf", &model, &[pair(story, &[A])])[0];
        assert!((0.05..3.2).contains(&found), "{story}: {found}");
    }
}

#[test]
fn long_texts_are_cut_and_counted_or_read_whole() {
    // 32 positions instead of 512, so that the texts above are long.
    let folder = tempfile::tempdir().unwrap();
    write_masked_model_of(folder.path(), 24_200, 32);
    let stories = [pair(A, &[C]), pair("A ship.", &["A lamp."])];
    let cut = score(&["infolm:no-idf"], folder.path(), &stories, 8).unwrap();
    assert_eq!(cut.truncated, [1]);
    // Only the first 30 tokens count.
    let end = A.find(" the tiny").unwrap();
    let changed = [pair(&format!("{} door night key", &A[..end]), &[C])];
    let again = score(&["infolm:no-idf"], folder.path(), &changed, 8).unwrap();
    let key = "infolm:no-idf/fisher-rao";
    assert_eq!(cut.column(key)[0], again.column(key)[0]);

    let typed = "infolm:no-idf+whole";
    let whole = score(&[typed], folder.path(), &stories, 8).unwrap();
    assert_eq!(whole.truncated, [0]);
    assert!(whole.signatures[0].contains("|long:windows-32"), "{}", whole.signatures[0]);
    let key = format!("{typed}/fisher-rao");
    assert_ne!(whole.column(&key)[0], cut.column("infolm:no-idf/fisher-rao")[0]);
    assert_eq!(whole.column(&key)[1], cut.column("infolm:no-idf/fisher-rao")[1], "a short pair");
}

#[test]
fn fifty_thousand_words_are_cut() {
    let model = model();
    let long = "the lamp went dark and a ship found its way home ".repeat(4600);
    let scored = score(&["infolm:no-idf"], model.path(), &[pair(&long, &[A])], 8).unwrap();
    assert_eq!(scored.truncated, [1]);
    assert!((0.05..3.2).contains(&scored.column("infolm:no-idf/fisher-rao")[0]));
}

#[test]
fn a_model_without_the_head_is_refused() {
    let folder = model();
    // Without its head, the file is that of a plain encoder.
    crate::support::write_encoder_only(folder.path());
    let Err(error) = score(&["infolm"], folder.path(), &golden_pairs(), 8) else {
        panic!("a model without the head gave scores");
    };
    assert!(error.to_string().contains("cannot predict hidden words"), "{error}");
    let Err(error) = score(&["infolm:temperature-0"], model().path(), &golden_pairs(), 8) else {
        panic!("a temperature of 0 gave scores");
    };
    assert!(error.to_string().contains("temperature of 0"), "{error}");
}
