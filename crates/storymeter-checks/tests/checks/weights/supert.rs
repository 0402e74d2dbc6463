//! SUPERT with MiniLM, against its formulas in PyTorch.

use storymeter_checks::{Result, weights};
use storymeter_core::{Settings, Story, Value};

use super::scoring::{pair, prompted, score_with};
use super::support::{A, B, C, Q};

/// The values of stories that are scored together.
fn score(typed: &str, stories: &[Story]) -> Result<Vec<Vec<Value>>> {
    let mut named = vec![("supert".to_owned(), weights("minilm")?)];
    if typed.ends_with("hanna") {
        named.push(("supert-stop-words".to_owned(), weights("stopwords")?));
    }
    let settings = Settings { weights: named.into_iter().collect(), ..Settings::default() };
    Ok(score_with(&[typed], settings, stories, stories.len())?.values)
}

fn close(found: &Value, expected: f64) {
    let found = found.clone().expect("present");
    assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
}

fn scores_equal_the_formulas_in_pytorch() -> Result {
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[])];
    let values = score("supert", &stories)?;
    close(&values[0][0], 0.3994560054);
    close(&values[0][1], 0.3994560054);
    close(&values[0][2], 0.6898686981);
    close(&values[1][0], 0.2697008034);
    Ok(())
}

fn hannas_preset_drops_the_stop_words_of_all_languages() -> Result {
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[])];
    let values = score("supert:hanna", &stories)?;
    close(&values[0][0], 0.4387138469);
    close(&values[0][2], 0.7185026278);
    close(&values[1][0], 0.3169059727);
    Ok(())
}

fn hannas_preset_asks_for_the_list() -> Result {
    let error = score_with(&["supert:hanna"], Settings::default(), &[], 1).err().expect("no list");
    let expected = "metric \"supert:hanna\" needs the stop words of all languages";
    assert!(error.to_string().starts_with(expected), "{error}");
    Ok(())
}

fn columns_that_lack_their_text_are_absent_with_the_reason() -> Result {
    let stories = [pair(A, &[C]), prompted(Q, "", &[C]), prompted("to be", A, &["And it."])];
    let values = score("supert", &stories)?;
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
    Ok(())
}

fn only_the_first_fifteen_sentences_of_a_source_count() -> Result {
    let start = "The lamp went out. ".repeat(15);
    let long = format!("{start}{B}");
    let stories = [prompted(Q, &long, &[]), prompted(Q, &start, &[])];
    let values = score("supert", &stories)?;
    assert_eq!(values[0][0], values[1][0], "as a source");
    assert_ne!(values[0][1], values[1][1], "as a summary");
    Ok(())
}

fn scores_do_not_depend_on_the_other_stories_of_a_batch() -> Result {
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[A]), prompted(B, C, &[C])];
    let together = score("supert", &stories)?;
    for (alone, expected) in stories.iter().zip(&together) {
        let alone = score("supert", std::slice::from_ref(alone))?;
        assert_eq!(&alone[0], expected);
    }
    close(&together[2][2], 1.0);
    Ok(())
}

storymeter_checks::checks!(
    scores_equal_the_formulas_in_pytorch,
    hannas_preset_drops_the_stop_words_of_all_languages,
    hannas_preset_asks_for_the_list,
    columns_that_lack_their_text_are_absent_with_the_reason,
    only_the_first_fifteen_sentences_of_a_source_count,
    scores_do_not_depend_on_the_other_stories_of_a_batch,
);
