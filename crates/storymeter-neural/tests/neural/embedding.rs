//! BERTScore, MoverScore, BaryScore and DepthScore: difficult texts, batches and missing files,
//! with a tiny model that is written here.

use std::path::Path;

use storymeter_core::{MetricError, Settings, Story};
use tempfile::TempDir;

use crate::scoring::{Scored, pair, score, score_with};
use crate::support::{A, B, C, Q, write_masked_model_of};

/// Two layers of width 32 that read at most 64 tokens. Only the words of the golden texts are in
/// its vocabulary.
fn model() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_masked_model_of(folder.path(), 30522, 64);
    folder
}

const ALL: [&str; 8] = [
    "bertscore:layer-2",
    "bertscore:layer-1+idf",
    "moverscore",
    "moverscore:v1+uniform",
    "baryscore",
    "baryscore:hanna",
    "depthscore",
    "depthscore:symmetric",
];

/// Scores with several metrics, batch by batch, on so many threads.
fn on_threads(threads: usize, model: &Path, stories: &[Story], batch: usize) -> Scored {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| score(&ALL, model, stories, batch).unwrap())
}

#[test]
fn scores_do_not_depend_on_batches_or_threads() {
    let model = model();
    let long = [A, B, C].join(" ");
    let stories: Vec<Story> = [(A, C), (B, C), (Q, A), (C, C), (&long, B), (B, &long), ("", A)]
        .iter()
        .map(|(story, reference)| pair(story, &[reference]))
        .collect();
    let expected = on_threads(1, model.path(), &stories, 1);
    for (threads, batch) in [(1, 7), (3, 2), (4, 7)] {
        let found = on_threads(threads, model.path(), &stories, batch);
        // The same bits, and the same reasons where there is no value.
        assert_eq!(found.values, expected.values, "{threads} threads, batches of {batch}");
    }
    // The two long texts were cut, by every metric.
    assert_eq!(expected.truncated, [2; ALL.len()]);
}

#[test]
fn a_story_is_scored_alike_among_any_others() {
    let model = model();
    let typed = ["bertscore:layer-2", "moverscore:uniform", "baryscore", "depthscore"];
    let alone = score(&typed, model.path(), &[pair(A, &[C])], 8).unwrap();
    let among = [pair("", &[C]), pair(A, &[C]), pair(Q, &[B])];
    let among = score(&typed, model.path(), &among, 8).unwrap();
    assert_eq!(alone.values[0], among.values[1]);
}

/// Every cell has a finite number or a reason.
#[test]
fn nothing_is_ever_not_a_number() {
    let model = model();
    let endless = "the keeper saw a ship ".repeat(12_500);
    let stop_words = "it was the and of to a";
    let unknown = "東京 zzz 😀";
    let stories = [
        pair("", &[C]),
        pair("   \n\t ", &[C]),
        pair("ship", &["ship"]),
        pair("ship", &["lamp"]),
        pair("...", &["!?"]),
        pair(stop_words, &[stop_words]),
        pair(unknown, &[unknown]),
        pair(&endless, &[C]),
        pair(A, &[A]),
        pair(A, &["ship", C, B]),
    ];
    let mut typed = ALL.to_vec();
    typed.extend(["moverscore:hanna", "moverscore:uniform", "moverscore:v1+n-gram-3"]);
    let scored = score(&typed, model.path(), &stories, 4).unwrap();
    for (row, story) in scored.values.iter().zip(&stories) {
        for (value, key) in row.iter().zip(&scored.keys) {
            match value {
                Ok(number) => assert!(number.is_finite(), "{key} of {:.20}", story.text),
                Err(absence) => assert!(!absence.to_string().is_empty()),
            }
        }
    }
    let value = |key: &str, story: usize| {
        let column = scored.keys.iter().position(|known| known == key).unwrap();
        scored.values[story][column].clone()
    };
    let reason = |key: &str, story: usize| value(key, story).unwrap_err().to_string();
    // An empty story.
    assert_eq!(value("bertscore:layer-2/f", 0), Ok(0.0));
    assert_eq!(reason("moverscore", 0), "the story or its reference has no tokens");
    assert_eq!(reason("baryscore/w", 1), "the story or its reference has no tokens");
    assert_eq!(reason("depthscore", 1), "the story or its reference has no tokens");
    // Punctuation and stop words have no mass.
    assert_eq!(reason("moverscore", 4), "no token of the story or of its reference has a weight");
    assert_eq!(
        reason("moverscore:hanna", 5),
        "no token of the story or of its reference has a weight"
    );
    // A story that equals its reference.
    for (key, expected) in [
        ("bertscore:layer-2/f", 1.0),
        ("moverscore:uniform", 1.0),
        ("moverscore:v1+uniform", 1.0),
        ("baryscore/w", 0.0),
        ("depthscore", 0.0),
    ] {
        let found = value(key, 8).unwrap();
        assert!((found - expected).abs() < 1e-5, "{key} of equal texts is {found}");
    }
    // The endless story was cut; no other text has more than 64 tokens.
    assert_eq!(scored.truncated, vec![1; typed.len()]);
}

#[test]
fn whole_texts_are_read_in_windows() {
    let model = model();
    let long = [A, B, C].join(" ");
    let typed = [
        "bertscore:layer-2+whole",
        "moverscore:uniform+whole",
        "baryscore:whole",
        "depthscore:whole",
    ];
    let stories = [pair(&long, &[C]), pair(&long, &[&long]), pair(A, &[C])];
    let scored = score(&typed, model.path(), &stories, 8).unwrap();
    assert_eq!(scored.truncated, [0; 4]);
    assert!(scored.signatures.iter().all(|signature| signature.ends_with("long:windows-64")));
    for (key, expected) in [
        ("bertscore:layer-2+whole/f", 1.0),
        ("moverscore:uniform+whole", 1.0),
        ("baryscore:whole/w", 0.0),
        ("depthscore:whole", 0.0),
    ] {
        let of_equal_texts = scored.column(key)[1];
        assert!((of_equal_texts - expected).abs() < 1e-5, "{key}: {of_equal_texts}");
    }
    // A short text is read as ever, and a long one is read farther than before.
    let cut = score(&["bertscore:layer-2"], model.path(), &stories, 8).unwrap();
    assert_eq!(scored.values[2][..3], cut.values[2][..]);
    assert_ne!(scored.values[0][1], cut.values[0][1]);
}

#[test]
fn a_whole_text_of_50_000_words_has_a_bertscore() {
    let model = model();
    let endless = "the keeper saw a ship ".repeat(10_000);
    let typed = ["bertscore:layer-1+whole"];
    let scored = score(&typed, model.path(), &[pair(&endless, &[C])], 8).unwrap();
    for value in &scored.values[0] {
        assert!(value.as_ref().is_ok_and(|number| number.is_finite()), "{value:?}");
    }
}

#[test]
fn weights_by_document_need_two_documents() {
    let model = model();
    let typed = ["bertscore:layer-2+idf", "moverscore"];
    let scored = score(&typed, model.path(), &[pair(A, &[C])], 8).unwrap();
    let reasons: Vec<String> =
        scored.values[0].iter().map(|value| value.clone().unwrap_err().to_string()).collect();
    let references = "idf weights need at least two references in the input";
    let stories = "idf weights need at least two stories in the input";
    assert_eq!(reasons, [references, references, references, stories]);
}

#[test]
fn several_references_are_the_best_or_the_mean_of_each() {
    let model = model();
    let typed = ["bertscore:layer-2", "moverscore:uniform", "baryscore", "depthscore"];
    let stories = [pair(A, &[B]), pair(A, &[C]), pair(A, &[B, C])];
    let scored = score(&typed, model.path(), &stories, 8).unwrap();
    for (at, key) in scored.keys.iter().enumerate() {
        let [b, c, both] = [0, 1, 2].map(|story| scored.values[story][at].clone().unwrap());
        let expected = match key.split(['/', ':']).next().unwrap() {
            "bertscore" => f64::max(b, c),
            "moverscore" => (b + c) / 2.0,
            _ => f64::min(b, c),
        };
        assert!((both - expected).abs() < 1e-12, "{key}: {both} for {b} and {c}");
    }
}

#[test]
fn signatures_name_the_model_and_everything_that_matters() {
    let folder = model();
    let model = folder.path().join("tiny-bert");
    std::fs::create_dir(&model).unwrap();
    write_masked_model_of(&model, 30522, 64);
    let typed = ["bertscore:layer-2+idf", "moverscore:hanna", "baryscore", "depthscore:layer-1"];
    let scored = score(&typed, &model, &[pair(A, &[C, B]), pair(B, &[C])], 8).unwrap();
    let shown: Vec<String> = scored
        .signatures
        .iter()
        .map(|signature| {
            let kept = signature
                .split('|')
                .filter(|pair| !pair.starts_with("weights:") && !pair.starts_with("isa:"));
            kept.collect::<Vec<_>>().join("|")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "bertscore|model:tiny-bert|precision:f32|layer:2|idf:references[3]|rescale:no|\
             long:cut-64",
            "moverscore|form:v2|model:tiny-bert|precision:f32|layers:2|ngram:1|\
             idf:stories[2]+references[2]|stop:nltk-2018|distance:f32|long:cut-64",
            "baryscore|model:tiny-bert|precision:f32|layers:0-2|barycentre:mean|sinkhorn:log|\
             long:cut-64",
            "depthscore|model:tiny-bert|precision:f32|layer:1|depth:irw|power:5|\
             sign:reference-minus-story|long:cut-64",
        ]
    );
    assert!(scored.signatures[0].contains("|weights:"));
}

#[test]
fn a_layer_must_be_known_and_there() {
    let model = model();
    let refused = |typed: &str| score(&[typed], model.path(), &[], 8).err().unwrap().to_string();
    let unknown = refused("bertscore");
    assert!(unknown.starts_with("metric \"bertscore\": the best layer of the model"), "{unknown}");
    assert!(unknown.ends_with("option layer-N, such as bertscore:layer-9"), "{unknown}");
    let missing = refused("bertscore:layer-3");
    assert!(missing.ends_with("has 2 layers, so there is no layer 3"), "{missing}");
    let clash = refused("moverscore:n-gram-2");
    assert!(clash.ends_with("exclude each other: only v1 moves n-grams"), "{clash}");
}

#[test]
fn a_missing_model_names_its_files_and_all_places() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("nowhere");
    let weights = [("depthscore".to_owned(), missing.clone())].into();
    let settings = Settings { weights, ..Settings::default() };
    match score_with(&["depthscore:symmetric"], settings, &[], 8).err().unwrap() {
        MetricError::NoWeights { metric, files, name, searched } => {
            assert_eq!((metric.as_str(), name.as_str()), ("depthscore:symmetric", "depthscore"));
            assert!(files.contains("config.json, model.safetensors or pytorch_model.bin"));
            assert_eq!(searched[0], missing);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn baselines_are_looked_for_beside_the_model() {
    let model = model();
    let stories = [pair(A, &[C])];
    let error = score(&["bertscore:layer-2+rescale"], model.path(), &stories, 8).err().unwrap();
    let beside = model.path().join("rescale_baseline.tsv");
    match error {
        MetricError::NoWeights { name, searched, .. } => {
            assert_eq!(name, "bertscore-baseline");
            assert_eq!(searched, std::slice::from_ref(&beside))
        }
        other => panic!("{other}"),
    }
    std::fs::write(&beside, "LAYER,P,R,F\n0,0,0,0\n1,0,0,0\n2,0.5,0.25,0.2\n").unwrap();
    let plain = score(&["bertscore:layer-2"], model.path(), &stories, 8).unwrap();
    let rescaled = score(&["bertscore:layer-2+rescale"], model.path(), &stories, 8).unwrap();
    for (at, baseline) in [0.5, 0.25, 0.2].into_iter().enumerate() {
        let plain = plain.values[0][at].clone().unwrap();
        let expected = (plain - baseline) / (1.0 - baseline);
        assert!((rescaled.values[0][at].clone().unwrap() - expected).abs() < 1e-12);
    }
}
