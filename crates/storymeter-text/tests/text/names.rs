//! Masking and restoring names.

use proptest::prelude::*;
use storymeter_text::names::{Delexicaliser, Gender};

fn mask(text: &str) -> String {
    Delexicaliser::embedded().delexicalise(text).text
}

#[test]
fn first_names_become_placeholders_and_surnames_stay() {
    assert_eq!(mask("Susan met James Smith."), "[FEMALE] met [MALE] Smith.");
    assert_eq!(mask("Casey's dog bit Leslie!"), "[NEUTRAL]'s dog bit [NEUTRAL]!");
    assert_eq!(mask("JAMES, come here"), "[MALE], come here");
}

#[test]
fn a_name_that_is_a_word_needs_a_capital_inside_a_sentence() {
    assert_eq!(mask("They will ask Will."), "They will ask [MALE].");
    assert_eq!(mask("We hope that Hope comes."), "We hope that [FEMALE] comes.");
    assert_eq!(mask("She paid the bill for Bill."), "She paid the bill for [MALE].");
}

#[test]
fn at_the_beginning_of_a_sentence_a_word_is_a_name_where_the_text_shows_it() {
    assert_eq!(mask("Mark was angry."), "[MALE] was angry.");
    assert_eq!(mask("Mark your calendar."), "Mark your calendar.");
    assert_eq!(mask("Will you come?"), "Will you come?");
    assert_eq!(mask("Hope was lost."), "Hope was lost.");
    assert_eq!(
        mask("Hope was late. We waited for Hope."),
        "[FEMALE] was late. We waited for [FEMALE]."
    );
    assert_eq!(
        mask("Summer came. \"Grace walks,\" he said."),
        "Summer came. \"[FEMALE] walks,\" he said."
    );
}

#[test]
fn months_and_places_are_no_names_behind_words_of_time_and_place() {
    assert_eq!(mask("They met in May and asked May."), "They met in May and asked [FEMALE].");
    assert_eq!(mask("He came on a cold April 5."), "He came on a cold April 5.");
    assert_eq!(mask("She flew to Paris with Charlotte."), "She flew to Paris with [FEMALE].");
    assert_eq!(
        mask("They live in San Jose near Lake Charles."),
        "They live in San Jose near Lake Charles."
    );
}

#[test]
fn a_text_without_capitals_masks_only_names_that_are_nothing_else() {
    assert_eq!(mask("susan asked mark to wait ."), "[FEMALE] asked mark to wait .");
    assert_eq!(mask("Then susan left."), "Then susan left.");
}

#[test]
fn parts_of_other_things_are_left_alone() {
    for text in
        ["@Susan", "susan_7", "Susan.com", "O'Neil", "Susan7", "[MALE] met [FEMALE].", "", "é"]
    {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn the_census_tells_the_gender() {
    let names = Delexicaliser::embedded();
    assert_eq!(names.gender("tom"), Some(Gender::Male));
    assert_eq!(names.gender("Mary"), Some(Gender::Female));
    assert_eq!(names.gender("Jamie"), Some(Gender::Neutral));
    assert_eq!(names.gender("So"), None);
}

proptest! {
    #[test]
    fn restoring_gives_the_text_back_byte_for_byte(
        words in prop::collection::vec(
            prop_oneof![
                Just("Susan".to_owned()), Just("Will".to_owned()), Just("May".to_owned()), Just("[MALE]".to_owned()),
                Just("Mark was".to_owned()), Just("Mr.".to_owned()), Just("tom".to_owned()), "\\PC{0,6}", "[.,!?\"' \n]{1,3}",
            ],
            0..20,
        ),
        space in prop_oneof![Just(" "), Just("")],
    ) {
        let text = words.join(space);
        let masked = Delexicaliser::embedded().delexicalise(&text);
        prop_assert_eq!(masked.restore(), text);
        for (span, name) in &masked.names {
            prop_assert!(["[MALE]", "[FEMALE]", "[NEUTRAL]"].contains(&span.of(&masked.text)));
            prop_assert!(Delexicaliser::embedded().gender(name).is_some());
        }
    }
}
