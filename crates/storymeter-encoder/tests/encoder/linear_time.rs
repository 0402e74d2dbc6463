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
/// takes a hundred times. Less than five milliseconds say little. A busy machine gets several
/// attempts.
fn assert_linear(tokenizer: &Tokenizer, unit: &str) {
    let text = |bytes: usize| unit.repeat(bytes / unit.len());
    let (short, long) = (text(100_000), text(1_000_000));
    let mut attempts = (0..8).map(|_| (time(tokenizer, &short), time(tokenizer, &long)));
    let is_linear =
        |(short, long): (Duration, Duration)| long < 30 * short.max(Duration::from_millis(5));
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

/// A byte-level tokeniser of the fixtures, with some fields of its file changed.
fn byte_level(layout: &str, changes: &[(&str, serde_json::Value)]) -> Tokenizer {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let json = std::fs::read(fixtures.join("bpe").join(layout).join("tokenizer.json")).unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    for (field, value) in changes {
        json[*field] = value.clone();
    }
    let json = serde_json::to_vec(&json).unwrap();
    let config = Config { vocabulary: 501, ..Config::load(&folder()).unwrap() };
    Tokenizer::from_files(&[("tokenizer.json", &json)], Path::new(layout), &config).unwrap()
}

#[test]
fn byte_pairs_are_merged_in_linear_time() {
    let lines = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let llama3 = serde_json::json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": lines}, "behavior": "Isolated"},
        {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]});
    let composed = ("normalizer", serde_json::json!({"type": "NFC"}));
    for tokenizer in
        [byte_level("roberta", &[]), byte_level("gpt2", &[("pre_tokenizer", llama3), composed])]
    {
        for unit in ["the", "lighthouse ", "'", "1", " ", " \n", "e\u{301}", "\u{301}", "東"] {
            assert_linear(&tokenizer, unit);
        }
        for unit in ["<mask>", "   <mask> ", "<|endoftext|>", "<|endoftext"] {
            assert_linear(&tokenizer, unit);
        }
    }
}
