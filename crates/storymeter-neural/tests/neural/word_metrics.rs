//! ROUGE-WE and S3 on small tables that are written here.

use std::path::{Path, PathBuf};

use crate::scoring::{pair, score_with};
use storymeter_core::Settings;

/// The values of a story, one per column.
fn values(
    typed: &str,
    weights: &[(&str, &Path)],
    story: &str,
    references: &[&str],
) -> Result<Vec<f64>, String> {
    let named = weights.iter().map(|&(name, path)| (name.to_owned(), path.to_owned()));
    let settings = Settings { weights: named.collect(), ..Settings::default() };
    let typed: Vec<&str> = typed.split(' ').collect();
    let scored = score_with(&typed, settings, &[pair(story, references)], 1);
    let scored = scored.map_err(|error| error.to_string())?;
    Ok(scored.values[0].iter().map(|value| value.clone().expect("present")).collect())
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

/// All pairs of 10,000 and 10,000 n-grams.
#[test]
fn long_texts_are_compared_in_reasonable_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.txt");
    let number = |word: u64, at: u64| {
        let mixed = (word * 50 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 40) as f64 / 2f64.powi(24) - 0.5).to_string()
    };
    let line = |word: u64| {
        let numbers: Vec<String> = (0..50).map(|at| number(word, at)).collect();
        format!("w{word} {}\n", numbers.join(" "))
    };
    std::fs::write(&path, (0..2000).map(line).collect::<String>()).unwrap();
    let text = |step: u64| -> String {
        (0..10_000u64).map(|at| format!("w{} ", (at * at + at * step) % 2003)).collect()
    };
    let weights: [(&str, &Path); 1] = [("word-vectors", &path)];
    let found = values("rouge-we-3", &weights, &text(7), &[&text(11)]).unwrap();
    assert!(found.iter().all(|value| (0.0..=1.0).contains(value)), "{found:?}");
    let same = values("rouge-we-3", &weights, &text(7), &[&text(7)]).unwrap();
    assert_eq!(same, [1.0; 3]);
}
