//! Every step takes time in proportion to the length of the text, whatever the text is.

use std::hint::black_box;
use std::time::{Duration, Instant};

use storymeter_text::names::Delexicaliser;
use storymeter_text::tagger::Tagger;
use storymeter_text::{Span, flags, sentence, treebank};

/// What the hostile texts repeat: long runs without spaces, marks that may end a sentence, names.
const UNITS: [&str; 24] = [
    "\"",
    "'",
    "`",
    "’",
    "“",
    "”",
    "[",
    "]",
    "(",
    ".",
    ". ",
    "! ",
    ".' ",
    "Susan",
    "Susan ",
    "May , ",
    "a.",
    "'em",
    "n't",
    "\n",
    "a\n\n",
    "\". ",
    "[MALE]",
    "“Will! ” he said. ",
];

fn text_of(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

fn time(run: &dyn Fn(&str), text: &str) -> Duration {
    let start = Instant::now();
    run(text);
    start.elapsed()
}

/// Compares 100 KB with 1 MB. Ten times the text may take thirty times as long; quadratic work
/// takes a hundred times. A busy machine gets several attempts.
fn check(step: &str, run: &dyn Fn(&str)) {
    for unit in UNITS {
        let (short, long) = (text_of(unit, 100_000), text_of(unit, 1_000_000));
        let mut attempts = (0..8).map(|_| (time(run, &short), time(run, &long)));
        let is_linear =
            |(short, long): (Duration, Duration)| long < 30 * short.max(Duration::from_millis(1));
        assert!(attempts.any(is_linear), "{step} of {unit:?} takes more than thirty times as long");
    }
}

fn tokens(text: &str) -> Vec<Vec<&str>> {
    let sentences = sentence::split(text).into_iter();
    let tokens = sentences.map(|sentence| treebank::tokenize_sentence(text, sentence));
    tokens.map(|tokens| tokens.iter().map(|token| token.text(text)).collect()).collect()
}

#[test]
fn splitting_into_sentences_is_linear() {
    check("splitting", &|text| drop(black_box(sentence::split(text))));
}

#[test]
fn tokenising_one_long_sentence_is_linear() {
    let whole = |text: &str| treebank::tokenize_sentence(text, Span::new(0, text.len()));
    check("tokenising", &|text| drop(black_box(whole(text))));
}

#[test]
fn tokenising_and_writing_the_tokens_as_text_again_is_linear() {
    check("detokenising", &|text| {
        tokens(text).iter().for_each(|sentence| drop(black_box(treebank::detokenize(sentence))));
    });
}

#[test]
fn tagging_is_linear() {
    let tagger = Tagger::embedded();
    check("tagging", &|text| {
        tokens(text).iter().for_each(|sentence| drop(black_box(tagger.tag(sentence))));
    });
}

#[test]
fn finding_flags_is_linear() {
    check("finding flags", &|text| drop(black_box(flags::find(text, Some("Tell me a story.")))));
    for unit in ["<s>", "Sure! ", "Story: ", "---\n", "# a\n", "*a* ", "**a* ", "The End. ", "<|a"]
    {
        let (short, long) = (text_of(unit, 50_000), text_of(unit, 500_000));
        let run = |text: &str| drop(black_box(flags::find(text, None)));
        let mut attempts = (0..8).map(|_| (time(&run, &short), time(&run, &long)));
        assert!(attempts.any(|(short, long)| long < 30 * short), "{unit:?}");
    }
}

#[test]
fn masking_names_is_linear() {
    let names = Delexicaliser::embedded();
    check("masking", &|text| drop(black_box(names.delexicalise(text).restore())));
}
