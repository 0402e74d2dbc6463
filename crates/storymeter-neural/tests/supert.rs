//! SUPERT with MiniLM, where its weights are at hand (`STORYMETER_TEST_WEIGHTS`).

#[path = "support/scoring.rs"]
mod scoring;
mod support;

use std::path::PathBuf;

use scoring::{pair, prompted, score_with};
use storymeter_core::{Settings, Story, Value};
use support::{A, B, C, Q};

/// A folder of the weights for tests.
fn weights(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("STORYMETER_TEST_WEIGHTS")?).join(name);
    folder.is_dir().then_some(folder)
}

/// The values of stories that are scored together; `None` without weights.
fn score(typed: &str, stories: &[Story]) -> Option<Vec<Vec<Value>>> {
    let mut named = vec![("supert".to_owned(), weights("minilm")?)];
    if typed.ends_with("hanna") {
        named.push(("supert-stop-words".to_owned(), weights("stopwords")?));
    }
    let settings = Settings { weights: named.into_iter().collect(), ..Settings::default() };
    Some(score_with(&[typed], settings, stories, stories.len()).expect("all is there").values)
}

fn close(found: &Value, expected: f64) {
    let found = found.clone().expect("present");
    assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
}

#[test]
fn scores_equal_the_formulas_in_pytorch() {
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[])];
    let Some(values) = score("supert", &stories) else { return };
    close(&values[0][0], 0.3994560054);
    close(&values[0][1], 0.3994560054);
    close(&values[0][2], 0.6898686981);
    close(&values[1][0], 0.2697008034);
}

#[test]
fn hannas_preset_drops_the_stop_words_of_all_languages() {
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[])];
    let Some(values) = score("supert:hanna", &stories) else { return };
    close(&values[0][0], 0.4387138469);
    close(&values[0][2], 0.7185026278);
    close(&values[1][0], 0.3169059727);
}

#[test]
fn hannas_preset_asks_for_the_list() {
    let error = score_with(&["supert:hanna"], Settings::default(), &[], 1).err().expect("no list");
    let expected = "metric \"supert:hanna\" needs the stop words of all languages";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn columns_that_lack_their_text_are_absent_with_the_reason() {
    let stories = [pair(A, &[C]), prompted(Q, "", &[C]), prompted("to be", A, &["And it."])];
    let Some(values) = score("supert", &stories) else { return };
    let reason = |value: &Value| value.clone().expect_err("absent").to_string();
    assert_eq!(reason(&values[0][0]), "the story has no prompt");
    assert_eq!(reason(&values[0][1]), "the story has no prompt");
    close(&values[0][2], 0.6898686981);
    for value in &values[1] {
        assert_eq!(reason(value), "the story has no word besides stop words");
    }
    assert_eq!(reason(&values[2][0]), "the prompt has no word besides stop words");
    // The full stop is a token of the reference, as it is of every text.
    assert!(values[2][2].is_ok());
}

#[test]
fn only_the_first_fifteen_sentences_of_a_source_count() {
    let start = "The lamp went out. ".repeat(15);
    let long = format!("{start}{B}");
    let stories = [prompted(Q, &long, &[]), prompted(Q, &start, &[])];
    let Some(values) = score("supert", &stories) else { return };
    assert_eq!(values[0][0], values[1][0], "as a source");
    assert_ne!(values[0][1], values[1][1], "as a summary");
}

#[test]
fn scores_do_not_depend_on_the_other_stories_of_a_batch() {
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[A]), prompted(B, C, &[C])];
    let Some(together) = score("supert", &stories) else { return };
    for (alone, expected) in stories.iter().zip(&together) {
        let alone = score("supert", std::slice::from_ref(alone)).expect("weights");
        assert_eq!(&alone[0], expected);
    }
    close(&together[2][2], 1.0);
}
