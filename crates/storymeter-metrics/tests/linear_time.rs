//! Cutting a text into tokens takes time in proportion to its length, whatever the text is.

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

/// The shortest of three runs, so that a busy machine is not mistaken for a slow tokeniser.
fn shortest(run: impl Fn()) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn check<T: Tokenizer>(name: &str) {
    // 20 and 200 KB. Ten times the text may take thirty times as long; quadratic work takes a hundred.
    let mut seen = 0;
    for ((text, short), (_, long)) in hostile(20_000).into_iter().zip(hostile(200_000)) {
        let time = |text: &str| shortest(|| drop(black_box(T::tokenize(text))));
        let (short, long) = (time(&short), time(&long));
        // A millisecond is within the noise of any machine.
        let bound = 30 * short.max(Duration::from_millis(1));
        assert!(long < bound, "{name}, {text}: {short:?} became {long:?}");
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
