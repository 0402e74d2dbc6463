//! Tokenising takes time in proportion to the length of the text, whatever the text is.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use storymeter_encoder::{Config, Tokenizer};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert")
}

/// A tokeniser with many added tokens that begin alike.
fn tokenizer() -> Tokenizer {
    let config = Config::load(&folder()).unwrap();
    let mut tokenizer = Tokenizer::load(&folder(), &config).unwrap();
    for number in 0..50 {
        assert!(tokenizer.add_token(&format!("[NAME{number}]"), number));
    }
    tokenizer
}

fn time(tokenizer: &Tokenizer, text: &str) -> Duration {
    let start = Instant::now();
    black_box(tokenizer.tokenize(text));
    start.elapsed()
}

/// Compares 100 KB with 1 MB. Ten times the text may take thirty times as long; quadratic work
/// takes a hundred times. A busy machine gets several attempts.
fn assert_linear(tokenizer: &Tokenizer, unit: &str) {
    let text = |bytes: usize| unit.repeat(bytes / unit.len());
    let (short, long) = (text(100_000), text(1_000_000));
    let mut attempts = (0..8).map(|_| (time(tokenizer, &short), time(tokenizer, &long)));
    let is_linear =
        |(short, long): (Duration, Duration)| long < 30 * short.max(Duration::from_millis(1));
    assert!(attempts.any(is_linear), "{unit:?} takes more than thirty times as long");
}

#[test]
fn tokenising_is_linear_in_the_text() {
    let tokenizer = tokenizer();
    for unit in ["[MASK]", "[NAME7] ", "[NAME", "[", "\"", "'", "Susan ", "susan", "é", "e\u{301}"]
    {
        assert_linear(&tokenizer, unit);
    }
    // A run of marks upon one letter is one word.
    assert_linear(&tokenizer, "\u{301}");
}

#[test]
fn a_long_word_is_cut_into_pieces_in_linear_time_where_the_model_sets_no_limit() {
    let json = std::fs::read_to_string(folder().join("tokenizer.json")).unwrap();
    let limit = "\"max_input_chars_per_word\":100";
    assert!(json.contains(limit), "the fixture has a limit to lift");
    let json = json.replace(limit, "\"max_input_chars_per_word\":1000000000");
    let config = Config::load(&folder()).unwrap();
    let files = [("tokenizer.json", json.as_bytes())];
    let tokenizer = Tokenizer::from_files(&files, Path::new("unlimited"), &config).unwrap();
    let pieces = tokenizer.tokenize(&"a".repeat(5000)).len();
    assert!(pieces > 1, "the word is not unknown as a whole");
    assert_linear(&tokenizer, "a");
}
