//! Sentences as NLTK splits them.

use storymeter_text::sentence::{PunktQuotes, split_like_punkt};

/// The text is written with a bar where a sentence ends.
fn splits(marked: &str, quotes: PunktQuotes) {
    let text = marked.replace('|', "");
    let found = split_like_punkt(&text, quotes);
    let found: Vec<&str> = found.iter().map(|s| s.of(&text)).collect();
    let expected: Vec<&str> = marked.split('|').map(str::trim).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_end_mark_ends_a_sentence_whatever_comes_next() {
    splits("\"Stop!\"| he said.| \"Why?\"| she asked.", PunktQuotes::All);
    splits("(It was dark.)| she ran. '| Where to?'", PunktQuotes::All);
    splits("he left .| she stayed .| What?!| I did n't.| And you?", PunktQuotes::All);
    splits("A title without a mark\n\nThe story begins.", PunktQuotes::All);
}

#[test]
fn full_stops_of_abbreviations_initials_and_numbers_do_not() {
    splits("Mr. Hill saw J. R. Smith at 5 p.m. She left.| It was I.| She knew.", PunktQuotes::All);
    splits("He came at 5 p.m.| He left in 1990.| Then he was 3. years old.", PunktQuotes::All);
}

#[test]
fn dots_in_a_row_end_a_sentence_before_a_few_words() {
    splits("He waited...| The lamp went out... Then it rained... again.", PunktQuotes::All);
    splits("He waited .| .| .| Then he left.", PunktQuotes::All);
    splits("What?...| Nothing.", PunktQuotes::All);
}

#[test]
fn typographic_quotation_marks_hide_the_end_from_older_versions() {
    splits("“Go.”| She went.| He stayed.", PunktQuotes::All);
    splits("“Go.” She went.| He stayed.", PunktQuotes::Straight);
}

#[test]
fn no_text_is_too_odd() {
    for text in ["", " ", ".", "...", "?! !?", "\u{a0}.\u{a0}é.", "a.b.c", ".\"", "». «"] {
        let spans = split_like_punkt(text, PunktQuotes::All);
        assert!(spans.is_sorted_by(|a, b| a.end <= b.start), "{text:?}");
    }
    // Linear time: one word with many marks, and many marks.
    for unit in [".", "? ", ".'", "a. "] {
        assert!(!split_like_punkt(&unit.repeat(200_000), PunktQuotes::All).is_empty());
    }
}
