//! SUPERT with MiniLM, where its weights are at hand (`STORYMETER_TEST_WEIGHTS`).

use std::path::PathBuf;
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Catalogue, Place, Resources, Settings, Story, Value};
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
const Q: &str = "Write about a lighthouse keeper who saves a ship in a storm.";

/// A folder of the weights for tests.
fn weights(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("STORYMETER_TEST_WEIGHTS")?).join(name);
    folder.is_dir().then_some(folder)
}

fn story(text: &str, prompt: Option<&str>, references: &[&str]) -> Story {
    Story {
        prompt: prompt.map(str::to_owned),
        references: references.iter().map(|&text| text.to_owned()).collect(),
        ..Story::from(text)
    }
}

/// The values of stories that are scored together; `None` without weights.
fn score(typed: &str, stories: &[Story]) -> Option<Vec<Vec<Value>>> {
    let mut named = vec![("supert".to_owned(), weights("minilm")?)];
    if typed.ends_with("hanna") {
        named.push(("supert-stop-words".to_owned(), weights("stopwords")?));
    }
    let settings = Settings { weights: named.into_iter().collect(), ..Settings::default() };
    let catalogue = Catalogue::new(storymeter_neural::entries());
    let set = MetricSet::new(&[typed], &catalogue, Arc::new(Resources::new(settings)))
        .expect("a known metric");
    let record =
        |story: &Story| Record { story: story.clone(), number: 0, place: Place::default() };
    let records: Vec<Record> = stories.iter().map(record).collect();
    let batch = set.batch(&records).expect("nothing is missing");
    Some((0..stories.len()).map(|at| batch.values(at).to_vec()).collect())
}

fn close(found: &Value, expected: f64) {
    let found = found.clone().expect("present");
    assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
}

#[test]
fn scores_equal_the_formulas_in_pytorch() {
    let stories = [story(A, Some(Q), &[C]), story(B, Some(Q), &[])];
    let Some(values) = score("supert", &stories) else { return };
    close(&values[0][0], 0.3994560054);
    close(&values[0][1], 0.3994560054);
    close(&values[0][2], 0.6898686981);
    close(&values[1][0], 0.2697008034);
}

#[test]
fn hannas_preset_drops_the_stop_words_of_all_languages() {
    let stories = [story(A, Some(Q), &[C]), story(B, Some(Q), &[])];
    let Some(values) = score("supert:hanna", &stories) else { return };
    close(&values[0][0], 0.4387138469);
    close(&values[0][2], 0.7185026278);
    close(&values[1][0], 0.3169059727);
}

#[test]
fn columns_that_lack_their_text_are_absent_with_the_reason() {
    let stories =
        [story(A, None, &[C]), story("", Some(Q), &[C]), story(A, Some("to be"), &["And it."])];
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
    let long = format!("{}{B}", "The lamp went out. ".repeat(15));
    let start = "The lamp went out. ".repeat(15);
    let stories = [story(&long, Some(Q), &[]), story(&start, Some(Q), &[])];
    let Some(values) = score("supert", &stories) else { return };
    assert_eq!(values[0][0], values[1][0], "as a source");
    assert_ne!(values[0][1], values[1][1], "as a summary");
}

#[test]
fn scores_do_not_depend_on_the_other_stories_of_a_batch() {
    let stories = [story(A, Some(Q), &[C]), story(B, Some(Q), &[A]), story(C, Some(B), &[C])];
    let Some(together) = score("supert", &stories) else { return };
    for (alone, expected) in stories.iter().zip(&together) {
        let alone = score("supert", std::slice::from_ref(alone)).expect("weights");
        assert_eq!(&alone[0], expected);
    }
    close(&together[2][2], 1.0);
}
