//! The sentence splitter, case by case: `|` marks where a sentence must end.

use proptest::prelude::*;
use storymeter_text::sentence;

/// Checks that the text without its bars is split exactly at the bars.
#[track_caller]
fn splits(marked: &str) {
    let expected: Vec<&str> = marked.split('|').map(str::trim).collect();
    let text = marked.replace('|', "");
    let found: Vec<&str> = sentence::split(&text).into_iter().map(|s| s.of(&text)).collect();
    assert_eq!(found, expected, "in {text:?}");
}

#[test]
fn ordinary_prose_ends_at_full_stops_and_other_marks() {
    splits("Ann ran home.| She was late!| Was the door open?| It was.");
    splits("What?!| No way!!!| Fine.");
    splits("The last sentence has no mark.| It just stops");
    splits("He paid 3.50 for it.| It weighed 1.5 kg.");
    splits("He was born in 1990.| Then he moved.");
}

#[test]
fn titles_and_linking_abbreviations_go_on() {
    splits("Mr. Hill met Dr. Stone.| Mrs. Hill did not.");
    splits("Fruit, e.g. apples, i.e. food, vs. Sweets.");
    splits("mr. hill met dr. stone .| mrs. hill did not .");
    splits("We saw Gen. Lee and Prof. Moss at St. Mary's.| It rained.");
    splits("See fig. 3 and no. 5.| She said no.| He said yes.");
}

#[test]
fn other_abbreviations_end_a_sentence_only_before_a_word_that_starts_one() {
    splits("She lives in the U.S. with Tom.| He moved to the U.S.| They met there.");
    splits("The U.S. Army came.| It left at 5 p.m.| The town slept.");
    splits("He works for Gold Inc. in town.| He likes cats, dogs, etc.| She likes birds.");
    splits("He came on Jan. 5.| He sat.| Then he left.");
}

#[test]
fn initials_go_on_but_the_pronoun_does_not() {
    splits("J. R. Moss and Ann B. Stone met.| They talked.");
    splits("Nobody was as tired as I.| Still we walked.");
    splits("We had a plan B.| Then it failed.");
}

#[test]
fn closing_quotes_and_brackets_stay_with_their_sentence() {
    splits("\"Stop!\" he said.| \"Why?\" she asked.| \"Because.\"| Nobody spoke.");
    splits("“Stop!” he said.| “I won’t.”| She ran.");
    splits("It was dark (very dark.)| She ran.");
    splits("'Stop.'| She ran.");
    splits("He said \"go home.\"| \"I will,\" she said.");
}

#[test]
fn ellipses_end_a_sentence_only_before_a_capital() {
    splits("He waited... and waited.| Then... nothing.");
    splits("He waited...| Then he left.");
    splits("He waited…| Then he left… at last.");
    splits("He waited . . .| Then he left .");
}

#[test]
fn tokenised_text_ends_at_its_marks() {
    splits("he left .| she stayed .| was it cold ?| it was !");
    splits("`` stop ! '' he said .| `` why ? '' she asked .| nobody spoke .");
    splits("`` I will go . ''| She went .");
    splits("she said \" no . \"| he left .");
    splits("( it was dark . )| she ran .");
    splits("mr. hill paid $ 3.50 .| he left .");
}

#[test]
fn lower_cased_text_ends_at_attached_marks_too() {
    splits("he left.| she stayed.");
    splits("\"stop!\" he said.| \"go home.\"| she ran.");
}

#[test]
fn delexicalised_text_is_text() {
    splits("[MALE] went home .| [FEMALE] was there .| [NEUTRAL] was not .");
    splits("[MALE] met Mr. [NEUTRAL].| [FEMALE] did not.");
    splits("[MALE] left.| [FEMALE] stayed.");
}

#[test]
fn blank_lines_end_sentences_and_single_line_breaks_do_not() {
    splits("A title without a mark\n\n|The story begins\nhere.| It ends.");
    splits("1. Wash the rice.\n|2. Cook it.");
}

#[test]
fn marks_of_other_scripts_do_no_harm() {
    splits("她走了。|他没有。");
    splits("Она ушла.| Он остался.");
    splits("Élan vital.| Übung macht den Meister.");
}

#[test]
fn nothing_and_white_space_have_no_sentences() {
    assert!(sentence::split("").is_empty());
    assert!(sentence::split(" \n\t \u{a0}").is_empty());
}

#[test]
fn web_addresses_and_versions_are_not_split() {
    splits("Read www.example.com today.| Version 2.0.1 is out.");
}

#[test]
fn ten_megabytes_on_one_line_take_linear_time() {
    for unit in ["a.", ". ", "\" ", "(", "--", "a. b \" . ", "''", "`", "i. ", "…\u{a0}"] {
        let text = unit.repeat(10_000_000 / unit.len());
        let sentences = sentence::split(&text);
        assert!(!sentences.is_empty(), "{unit:?}");
    }
}

proptest! {
    #[test]
    fn sentences_are_in_order_trimmed_and_cover_all_that_is_not_blank(
        text in r#"([a-zA-Z .!?"'()…\n]|Mr\. |U\.S\. |\. [A-Z]|\[MALE\]|''|``|é|。|\PC){0,80}"#
    ) {
        let mut end = 0;
        for span in sentence::split(&text) {
            prop_assert!(end <= span.start && span.start < span.end);
            prop_assert!(text[end..span.start].chars().all(char::is_whitespace));
            prop_assert_eq!(span.of(&text).trim(), span.of(&text));
            end = span.end;
        }
        prop_assert!(text[end..].chars().all(char::is_whitespace));
    }
}
