//! BLANC on the tiny model, whose golden numbers come from blanc 0.3.4.

use crate::scoring::{Scored, pair, prompted, score, score_with};
use crate::support::{A, B, C, Q, write_masked_model};
use storymeter_core::{Settings, Story};
use tempfile::TempDir;

fn model() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_masked_model(folder.path());
    folder
}

fn reasons(scored: &Scored) -> Vec<Option<String>> {
    scored.values[0].iter().map(|value| value.clone().err().map(|gap| gap.to_string())).collect()
}

#[test]
fn help_guesses_nothing_with_random_weights() {
    // 0 of 20 words with blanc 0.3.4.
    let scored = score(&["blanc:help"], model().path(), &[prompted(Q, A, &[])], 8).unwrap();
    assert_eq!(scored.keys, ["blanc:help/help-ps", "blanc:help/help-ss"]);
    assert_eq!(scored.values, [[Ok(0.0), Ok(0.0)]]);
    assert_eq!(scored.truncated, [0]);
}

#[test]
fn all_columns_and_their_signature() {
    let scored = score(&["blanc"], model().path(), &[prompted(Q, A, &[C])], 8).unwrap();
    assert_eq!(
        scored.keys,
        ["blanc/help-ps", "blanc/help-ss", "blanc/tune-ps", "blanc/tune-ss", "blanc/golden"]
    );
    for value in &scored.values[0] {
        assert!((-1.0..=1.0).contains(value.as_ref().unwrap()), "{value:?}");
    }
    assert!(scored.signatures[0].ends_with("|batch:1|seed:0"), "{}", scored.signatures[0]);
    let hanna = score(&["blanc:hanna"], model().path(), &[prompted(Q, A, &[C])], 8).unwrap();
    assert!(hanna.signatures[0].ends_with("|batch:24|seed:0"), "{}", hanna.signatures[0]);
    let help = score(&["blanc:help"], model().path(), &[prompted(Q, A, &[C])], 8).unwrap();
    assert!(!help.signatures[0].contains("seed"), "{}", help.signatures[0]);
}

#[test]
fn a_cell_lacks_what_the_story_lacks() {
    let model = model();
    let no_prompt = Some("the story has no prompt".to_owned());
    let no_reference = Some("the story has no reference".to_owned());
    let scored = score(&["blanc"], model.path(), &[Story::from("Lighthouse.")], 8).unwrap();
    let prompt = || no_prompt.clone();
    assert_eq!(reasons(&scored), [prompt(), prompt(), prompt(), prompt(), no_reference]);
    let scored = score(&["blanc:tune"], model.path(), &[pair("Ship.", &["Lighthouse."])], 8);
    assert_eq!(reasons(&scored.unwrap()), [prompt(), prompt(), None]);
}

#[test]
fn a_text_without_long_words_cannot_be_guessed() {
    let model = model();
    let nothing = Some("the text to guess has no word of at least four letters".to_owned());
    let scored = score(&["blanc:help"], model.path(), &[prompted("", A, &[])], 8).unwrap();
    assert_eq!(reasons(&scored), [None, nothing.clone()]);
    assert_eq!(scored.values[0][0], Ok(0.0), "an empty prompt does not help");
    let stops = prompted(Q, "It was the and of to a.", &["It was."]);
    let scored = score(&["blanc"], model.path(), std::slice::from_ref(&stops), 8).unwrap();
    assert_eq!(reasons(&scored), [nothing.clone(), None, nothing.clone(), None, nothing]);
    assert_eq!(scored.values[0][3], Ok(0.0), "nothing can be learnt from short words");
    let hanna = score(&["blanc:hanna"], model.path(), &[stops], 8).unwrap();
    assert_eq!(hanna.values[0][0], Ok(0.0), "as the released code has it");
}

#[test]
fn an_empty_and_a_one_word_story_have_values_or_reasons() {
    let model = model();
    for story in ["", "Lighthouse"] {
        let scored = score(&["blanc"], model.path(), &[prompted(Q, story, &[C])], 8).unwrap();
        let found = reasons(&scored);
        assert_eq!(found[0].is_some(), story.is_empty(), "{story:?}: {found:?}");
        assert_eq!((found[1].clone(), found[3].clone()), (None, None));
    }
}

#[test]
fn scores_depend_on_the_texts_and_the_seed_alone() {
    let model = model();
    let stories = [prompted(Q, A, &[C]), prompted(Q, B, &[C]), prompted(Q, C, &[C, A])];
    let run = |stories: &[Story], batch| {
        score(&["blanc:tune"], model.path(), stories, batch).unwrap().values
    };
    let together = run(&stories, 8);
    assert_eq!(together, run(&stories, 1), "in batches of one");
    assert_eq!(together[2], run(&stories[2..], 8)[0], "alone");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(together, pool.install(|| run(&stories, 8)), "on one thread");
}

/// Learning is gentle: the tiny model, which knows nothing, has to read two words very often until
/// it guesses them.
#[test]
fn a_learnt_text_is_guessed_better() {
    let model = model();
    let weights = [("blanc".to_owned(), model.path().to_owned())].into();
    let settings = Settings { weights, seed: 7, ..Settings::default() };
    let text = "lighthouse keeper lighthouse keeper lighthouse keeper. ".repeat(200);
    let short = "lighthouse keeper lighthouse keeper.";
    let scored = score_with(&["blanc:tune"], settings, &[pair(&text, &[short])], 8).unwrap();
    let golden = *scored.values[0][2].as_ref().unwrap();
    assert!(golden >= 0.5, "{golden}");
    assert!(scored.signatures[0].ends_with("|seed:7"), "{}", scored.signatures[0]);
}

#[test]
fn what_does_not_fit_is_cut_and_counted() {
    let model = model();
    // 50,000 words, of which only one in twelve is hidden.
    let long = "A key was on it and he lit a lamp for her. ".repeat(4200);
    let scored = score(&["blanc:help"], model.path(), &[prompted(Q, &long, &[])], 8).unwrap();
    assert_eq!(scored.truncated, [1], "the story before the words of the prompt");
    assert_eq!(scored.values, [[Ok(0.0), Ok(0.0)]]);
}
