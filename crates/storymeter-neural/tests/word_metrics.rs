//! ROUGE-WE and S3 on small tables that are written here, and on GloVe's vectors where they are at
//! hand (`STORYMETER_TEST_WEIGHTS`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Catalogue, Place, Resources, Settings, Story};
use storymeter_metrics::MetricSet;

const A: &str = "The old lighthouse keeper climbed the stairs every night. One stormy evening the \
                 lamp went dark, and he lit a small candle instead. A lost ship saw the tiny flame \
                 and found its way home.";
const B: &str = "Mara found a rusty key on the beach. She tried it on every door in the village, \
                 but nothing opened. At last it fitted the lighthouse, where an old man was waiting \
                 for her.";
const C: &str = "A keeper of the lighthouse walked up the steps each night. During a storm the \
                 light failed, so he used a candle. A ship that had lost its way saw the flame and \
                 came home safely.";

/// The values of a story, one per column.
fn values(
    typed: &str,
    weights: &[(&str, &Path)],
    story: &str,
    references: &[&str],
) -> Result<Vec<f64>, String> {
    let named = weights.iter().map(|&(name, path)| (name.to_owned(), path.to_owned()));
    let settings = Settings { weights: named.collect(), ..Settings::default() };
    let catalogue = Catalogue::new(storymeter_neural::entries());
    let set = MetricSet::new(&[typed], &catalogue, Arc::new(Resources::new(settings)))
        .map_err(|e| e.to_string())?;
    let references = references.iter().map(|&text| text.to_owned()).collect();
    let story = Story { references, ..Story::from(story) };
    let record = Record { story, number: 0, place: Place::default() };
    let batch = set.batch(&[record]).map_err(|e| e.to_string())?;
    Ok(batch.values(0).iter().map(|value| value.clone().expect("present")).collect())
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= tolerance;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{found:?} is not {expected:?}");
}

/// A table in which "lamp" and "light" are similar (0.96) and "rain" is something else.
fn small_table(folder: &Path) -> PathBuf {
    let path = folder.join("small.txt");
    std::fs::write(&path, "lamp 1 0 0\nlight 0.96 0.28 0\nrain 0 0 1\nfell 0 1 0\n").unwrap();
    path
}

/// Two support vectors: the score is 1 + 2 exp(-|x|^2 / 6).
fn small_s3(folder: &Path) -> PathBuf {
    for name in ["s3_svr_pyr.tsv", "s3_svr_resp.tsv"] {
        let table = "# small\nintercept\t1\ncoef\ta\n2\t0\t0\t0\t0\t0\t0\n";
        std::fs::write(folder.join(name), table).unwrap();
    }
    folder.to_owned()
}

#[test]
fn similar_words_match_and_each_ngram_of_the_reference_is_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let table = small_table(folder.path());
    let score = |id: &str, story: &str, references: &[&str]| {
        values(id, &[("word-vectors", &table)], story, references).unwrap()
    };
    close(&score("rouge-we-1", "Light", &["lamp"]), &[1.0, 1.0, 1.0], 0.0);
    // The lamp takes the light, and the rain is no match for anything.
    close(&score("rouge-we-1", "lamp rain", &["light fell"]), &[0.5, 0.5, 0.5], 0.0);
    // "lamp" occurs twice in the story and takes the only "light"; "lamps" has no vector.
    close(&score("rouge-we-1", "lamp lamp lamps", &["light"]), &[1.0, 1.0 / 3.0, 0.5], 1e-15);
    // A word without a vector matches itself.
    close(&score("rouge-we-1", "lamps", &["lamps"]), &[1.0, 1.0, 1.0], 0.0);
    // The similarity of "rain lamp" and "rain light" is 1.96 / sqrt(2 * 2) = 0.98.
    close(&score("rouge-we-2", "rain lamp", &["rain light"]), &[1.0, 1.0, 1.0], 0.0);
    // The same words in another order are as good as equal.
    close(&score("rouge-we-3", "rain lamp fell", &["fell rain lamp"]), &[1.0, 1.0, 1.0], 0.0);
    // With a word that has no vector, the order counts.
    close(&score("rouge-we-2", "the lamp", &["lamp the"]), &[0.0, 0.0, 0.0], 0.0);
    // Two references: one match of two n-grams, and P is divided by two.
    close(&score("rouge-we-1", "lamp", &["light", "rain"]), &[0.5, 0.5, 0.5], 0.0);
}

#[test]
fn the_most_similar_ngram_that_is_left_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wheel.txt");
    // Directions at 0, 10, 20 and 30 degrees.
    let direction = |degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        format!("{cos} {sin}")
    };
    let words = [("north", 0.0), ("a", 10.0), ("b", 20.0), ("c", 30.0), ("d", 45.0)];
    let table: String = words.iter().map(|(w, at)| format!("{w} {}\n", direction(*at))).collect();
    std::fs::write(&path, table).unwrap();
    let score = |story: &str, reference: &str| {
        values("rouge-we-1", &[("rouge-we", &path)], story, &[reference]).unwrap()[0]
    };
    // "north" takes "a", so that "d" (35 degrees from it) finds "c" only.
    assert_eq!(score("north d", "c a"), 1.0);
    // "b" takes "a" (the first of two at the same distance), and "north" is too far from "d".
    assert_eq!(score("b north", "d a"), 0.5);
    assert_eq!(score("north d", "d d"), 0.5);
}

#[test]
fn texts_without_ngrams_score_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let table = small_table(folder.path());
    for (story, reference) in [("", "lamp"), ("...", "lamp"), ("lamp", "."), ("lamp rain", "a b c")]
    {
        let found = values("rouge-we-3", &[("word-vectors", &table)], story, &[reference]).unwrap();
        assert_eq!(found, [0.0; 3], "{story} against {reference}");
    }
}

#[test]
fn missing_tables_are_named_with_the_places_where_they_were_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let table = small_table(folder.path());
    let error = values("rouge-we-3", &[("rouge-we", folder.path())], "a", &["a"]).unwrap_err();
    assert!(error.starts_with("metric \"rouge-we-3\" needs a table of word vectors"), "{error}");
    assert!(error.contains("deps.words"), "{error}");
    let error = values("s3", &[("s3", &table), ("s3-tables", &table)], "a", &["a"]).unwrap_err();
    assert!(error.contains("small.txt:1"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = values("s3", &[("s3-tables", empty.path())], "a", &["a"]).unwrap_err();
    assert!(error.contains("s3_svr_pyr.tsv and s3_svr_resp.tsv"), "{error}");
}

#[test]
fn s3_adds_up_its_support_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let (table, tables) = (small_table(folder.path()), small_s3(folder.path()));
    let weights = [("s3", table.as_path()), ("s3-tables", tables.as_path())];
    // Identical texts have the features (0, 0, 1, 1, 1, 1).
    let same = values("s3", &weights, "Rain fell.", &["rain fell"]).unwrap();
    let expected = 1.0 + 2.0 * (-4.0f64 / 6.0).exp();
    close(&same, &[expected, expected], 1e-15);
    // An empty story has (ln 2, ln 2, 0, 0, 0, 0).
    let empty = values("s3", &weights, "", &["rain fell"]).unwrap();
    let ln_2 = std::f64::consts::LN_2;
    let expected = 1.0 + 2.0 * (-2.0 * ln_2 * ln_2 / 6.0).exp();
    close(&empty, &[expected, expected], 1e-15);
}

/// The file of GloVe's vectors of 50 numbers, if weights for tests are at hand.
fn glove() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("STORYMETER_TEST_WEIGHTS")?).join("glove");
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.into_iter().find(|path| path.to_string_lossy().contains("50"))
}

#[test]
fn rouge_we_equals_the_reference_with_glove() {
    let Some(glove) = glove() else { return };
    let check = |id: &str, story: &str, precision: f64, recall: f64| {
        let found = values(id, &[("word-vectors", &glove)], story, &[C]).unwrap();
        let f = 2.0 * precision * recall / (precision + recall);
        close(&found, &[recall, precision, f], 1e-9);
    };
    check("rouge-we-1", A, 0.6571428571, 0.6388888889);
    check("rouge-we-2", A, 0.7941176471, 0.7714285714);
    check("rouge-we-3", A, 0.9090909091, 0.8823529412);
    check("rouge-we-1", B, 0.5882352941, 0.5555555556);
    check("rouge-we-2", B, 0.7272727273, 0.6857142857);
    check("rouge-we-3", B, 0.9375, 0.8823529412);
}
