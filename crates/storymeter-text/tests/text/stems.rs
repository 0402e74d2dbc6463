//! Stems of words.

use storymeter_text::stem::porter::{nltk, rouge};
use storymeter_text::stem::porter2;

#[test]
fn the_examples_of_the_paper_come_out() {
    for (word, stem) in [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("electricity", "electr"),
        ("adjustment", "adjust"),
        ("controlling", "control"),
    ] {
        assert_eq!(rouge(word), stem, "{word}");
        assert_eq!(nltk(word), stem, "{word}");
    }
}

#[test]
fn the_dialects_part_where_their_authors_said() {
    // Perl first, NLTK second.
    for (word, perl, nltk_stem) in [
        ("ties", "ti", "tie"),
        ("enjoy", "enjoi", "enjoy"),
        ("dying", "dy", "die"),
        ("spied", "spi", "spi"),
    ] {
        assert_eq!((rouge(word).as_str(), nltk(word).as_str()), (perl, nltk_stem), "{word}");
    }
}

#[test]
fn empty_and_one_letter_words_stay_as_they_are() {
    for word in ["", "s", "y", "é", "ss", "ed"] {
        assert_eq!(rouge(word), word);
        assert_eq!(nltk(word), word);
    }
}

#[test]
fn the_examples_of_the_definition_come_out() {
    for (word, expected) in [
        ("consistency", "consist"),
        ("knightly", "knight"),
        ("generously", "generous"),
        ("hopping", "hop"),
        ("hoping", "hope"),
        ("ties", "tie"),
        ("cries", "cri"),
        ("gas", "gas"),
        ("gaps", "gap"),
        ("cry", "cri"),
        ("say", "say"),
        ("by", "by"),
        ("youth", "youth"),
        ("skies", "sky"),
        ("herring", "herring"),
        ("luxuriated", "luxuri"),
    ] {
        assert_eq!(porter2::stem(word), expected, "{word}");
    }
}

#[test]
fn apostrophes_go() {
    for (word, expected) in
        [("'cause", "caus"), ("dog's", "dog"), ("dogs'", "dog"), ("'s", "'s"), ("'''", "'")]
    {
        assert_eq!(porter2::stem(word), expected, "{word}");
    }
}
