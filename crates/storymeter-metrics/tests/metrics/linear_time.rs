//! Cutting a text into tokens takes time in proportion to its length, also for hostile texts.

use std::hint::black_box;
use std::time::{Duration, Instant};

use storymeter_metrics::tokenize::{
    International, Mteval13a, Spacy, Tokenizer, Whitespace, WordRuns,
};

/// Texts that tempt a tokeniser to read a long word once for every mark in it.
fn hostile(length: usize) -> Vec<(String, String)> {
    let units =
        ["\"", "'", "’", "“", "[", "]", "!", ".'", ":)", "%", "'s", "Susan", "5km", "a.", "a@"];
    let filled = |unit: &str, length: usize| unit.repeat(length / unit.len());
    units
        .iter()
        .flat_map(|unit| {
            let half = filled("a", length / 2) + &filled(unit, length / 2);
            let ends_in_dot = filled(unit, length) + ".b";
            [
                (format!("{unit} alone"), filled(unit, length)),
                (format!("{unit} after a long word"), half),
                (format!("{unit} before a full stop"), ends_in_dot),
            ]
        })
        .collect()
}

fn time<T: Tokenizer>(text: &str) -> Duration {
    let start = Instant::now();
    black_box(T::tokenize(text));
    start.elapsed()
}

/// Compares 20 KB with 200 KB. Ten times the text may take up to thirty times as long, while
/// quadratic work takes a hundred times as long. A busy machine gets several attempts.
fn check<T: Tokenizer>(name: &str) {
    let mut seen = 0;
    for ((unit, short), (_, long)) in hostile(20_000).into_iter().zip(hostile(200_000)) {
        let mut attempts = (0..8).map(|_| (time::<T>(&short), time::<T>(&long)));
        let is_linear =
            |(short, long): (Duration, Duration)| long < 30 * short.max(Duration::from_millis(1));
        assert!(attempts.any(is_linear), "{name}, {unit}: takes more than thirty times as long");
        seen += 1;
    }
    assert_eq!(seen, 45);
}

#[test]
fn every_tokeniser_is_linear_in_the_text() {
    check::<Spacy>("spacy");
    check::<Mteval13a>("13a");
    check::<International>("intl");
    check::<WordRuns>("words");
    check::<Whitespace>("whitespace");
}
